-- What each function took itself, and with all that it called; a recursive one counts once.
-- Parameters (clickhouse-client --param_NAME=VALUE): event; service and host, '' for all; since and
-- until; by_weight, 1 to add weights up rather than samples, or 0.
WITH stacks AS (
  SELECT names, sum(if({by_weight:UInt8}, weight, 1)) AS n
  FROM samples
  WHERE event = {event:String}
  AND ({service:String} = '' OR service = {service:String})
  AND ({host:String} = '' OR host = {host:String})
  AND time >= {since:DateTime64(9)} AND time < {until:DateTime64(9)}
  GROUP BY names)
SELECT sum(if(name = names[1], n, 0)) AS self, sum(n) AS total, name
FROM stacks ARRAY JOIN arrayDistinct(names) AS name
GROUP BY name
ORDER BY self DESC, total DESC, name
LIMIT 30;
