-- Stacks before and after a moment, a deploy perhaps: the lines of prof-report -f folded --diff, for
-- flamegraph.pl. With --format=TSVRaw.
-- Parameters (clickhouse-client --param_NAME=VALUE): event; service and host, '' for all; since and
-- until; by_weight, 1 to add weights up rather than samples, or 0.
-- And deploy, the moment.
SELECT concat(stack, ' ', toString(sumIf(if({by_weight:UInt8}, weight, 1), time < {deploy:DateTime64(9)}) AS before), ' ',
              toString(sumIf(if({by_weight:UInt8}, weight, 1), time >= {deploy:DateTime64(9)}) AS after)) AS line
FROM samples
WHERE event = {event:String}
  AND ({service:String} = '' OR service = {service:String})
  AND ({host:String} = '' OR host = {host:String})
  AND time >= {since:DateTime64(9)} AND time < {until:DateTime64(9)}
GROUP BY stack
HAVING before > 0 OR after > 0
ORDER BY stack;
