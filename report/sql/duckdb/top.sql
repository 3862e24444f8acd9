-- What each function took itself, and with all that it called; a recursive one counts once.
-- Variables: event; service, host, since, until; by_weight, to add weights up rather than samples.
WITH stacks AS (
  SELECT names, sum(CASE WHEN getvariable('by_weight') THEN weight ELSE 1 END) AS n
  FROM samples
  WHERE event = getvariable('event')
  AND (getvariable('service') IS NULL OR service = getvariable('service'))
  AND (getvariable('host') IS NULL OR host = getvariable('host'))
  AND (getvariable('since') IS NULL OR time >= getvariable('since')::TIMESTAMP_NS)
  AND (getvariable('until') IS NULL OR time < getvariable('until')::TIMESTAMP_NS)
  GROUP BY names),
selves AS (SELECT names[1] AS name, sum(n) AS self FROM stacks GROUP BY ALL),
totals AS (
  SELECT name, sum(n) AS total
  FROM (SELECT unnest(list_distinct(names)) AS name, n FROM stacks)
  GROUP BY ALL)
SELECT coalesce(self, 0)::BIGINT AS self, total::BIGINT AS total, name
FROM totals LEFT JOIN selves USING (name)
ORDER BY self DESC, total DESC, name
LIMIT 30;
