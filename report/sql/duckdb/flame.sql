-- Folded stacks, the lines of prof-report -f folded, for prof-report --from-folded and flamegraph.pl.
-- Variables: event; service, host, since, until; by_weight, to add weights up rather than samples.
SELECT stack || ' ' || sum(CASE WHEN getvariable('by_weight') THEN weight ELSE 1 END)::VARCHAR AS line
FROM samples
WHERE event = getvariable('event')
  AND (getvariable('service') IS NULL OR service = getvariable('service'))
  AND (getvariable('host') IS NULL OR host = getvariable('host'))
  AND (getvariable('since') IS NULL OR time >= getvariable('since')::TIMESTAMP_NS)
  AND (getvariable('until') IS NULL OR time < getvariable('until')::TIMESTAMP_NS)
GROUP BY stack
HAVING sum(CASE WHEN getvariable('by_weight') THEN weight ELSE 1 END) > 0
ORDER BY stack;
