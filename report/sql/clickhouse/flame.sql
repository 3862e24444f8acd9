-- Folded stacks, the lines of prof-report -f folded, for prof-report --from-folded and flamegraph.pl.
-- With --format=TSVRaw.
-- Parameters (clickhouse-client --param_NAME=VALUE): event; service and host, '' for all; since and
-- until; by_weight, 1 to add weights up rather than samples, or 0.
SELECT concat(stack, ' ', toString(sum(n))) AS line
FROM (
  -- As text once for each stack, not for each row.
  SELECT arrayStringConcat(arrayPushFront(arrayReverse(names), replaceAll(comm, ' ', '_')), ';') AS stack, n
  FROM (
    SELECT comm, names, sum(if({by_weight:UInt8}, weight, 1)) AS n
    FROM samples
    WHERE event = {event:String}
      AND ({service:String} = '' OR service = {service:String})
      AND ({host:String} = '' OR host = {host:String})
      AND time >= {since:DateTime64(9)} AND time < {until:DateTime64(9)}
    GROUP BY comm, names))
GROUP BY stack
HAVING sum(n) > 0
ORDER BY stack;
