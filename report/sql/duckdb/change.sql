-- Stacks before and after a moment, a deploy perhaps: the lines of prof-report -f folded --diff, for
-- flamegraph.pl.
-- Variables: those of flame.sql, and deploy.
WITH sides AS (
  SELECT stack, sum(CASE WHEN time < getvariable('deploy')::TIMESTAMP_NS THEN n ELSE 0 END) AS before,
         sum(CASE WHEN time < getvariable('deploy')::TIMESTAMP_NS THEN 0 ELSE n END) AS after
  FROM (SELECT *, CASE WHEN getvariable('by_weight') THEN weight ELSE 1 END AS n FROM samples)
  WHERE event = getvariable('event') AND time IS NOT NULL
  AND (getvariable('service') IS NULL OR service = getvariable('service'))
  AND (getvariable('host') IS NULL OR host = getvariable('host'))
  AND (getvariable('since') IS NULL OR time >= getvariable('since')::TIMESTAMP_NS)
  AND (getvariable('until') IS NULL OR time < getvariable('until')::TIMESTAMP_NS)
  GROUP BY stack)
SELECT stack || ' ' || before::VARCHAR || ' ' || after::VARCHAR AS line
FROM sides
WHERE before > 0 OR after > 0
ORDER BY stack;
