-- Where a function runs: on which hosts, in which services, and in what part of their samples.
-- Parameters (clickhouse-client --param_NAME=VALUE): event; service and host, '' for all; since and
-- until; by_weight, 1 to add weights up rather than samples, or 0.
-- And function.
SELECT host, service, countIf(has(names, {function:String})) AS samples, count() AS of_all
FROM samples
WHERE event = {event:String}
  AND ({service:String} = '' OR service = {service:String})
  AND ({host:String} = '' OR host = {host:String})
  AND time >= {since:DateTime64(9)} AND time < {until:DateTime64(9)}
GROUP BY host, service
HAVING samples > 0
ORDER BY samples DESC, host, service;
