-- flame.sql over many services or days, of the tables of minutes.sql: whole minutes.
-- Parameters (clickhouse-client --param_NAME=VALUE): event; service and host, '' for all; since and
-- until; by_weight, 1 to add weights up rather than samples, or 0.
SELECT concat(stack, ' ', toString(sum(n))) AS line
FROM (
  SELECT arrayStringConcat(arrayPushFront(arrayReverse(s.names), replaceAll(m.comm, ' ', '_')), ';') AS stack, m.n AS n
  FROM (
    SELECT comm, hash, sum(if({by_weight:UInt8}, weight, samples)) AS n
    FROM minutes
    WHERE event = {event:String}
      AND ({service:String} = '' OR service = {service:String})
      AND ({host:String} = '' OR host = {host:String})
      AND minute >= {since:DateTime64(9)} AND minute < {until:DateTime64(9)}
    GROUP BY comm, hash) AS m
  INNER JOIN (SELECT hash, any(names) AS names FROM stacks GROUP BY hash) AS s ON s.hash = m.hash)
GROUP BY stack
HAVING sum(n) > 0
ORDER BY stack;
