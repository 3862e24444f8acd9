-- Where a function runs: on which hosts, in which services, and in what part of their samples.
-- Variables: those of flame.sql, and function.
SELECT host, service, count(*) FILTER (list_contains(names, getvariable('function'))) AS samples,
       count(*) AS of_all
FROM samples
WHERE event = getvariable('event')
  AND (getvariable('service') IS NULL OR service = getvariable('service'))
  AND (getvariable('host') IS NULL OR host = getvariable('host'))
  AND (getvariable('since') IS NULL OR time >= getvariable('since')::TIMESTAMP_NS)
  AND (getvariable('until') IS NULL OR time < getvariable('until')::TIMESTAMP_NS)
GROUP BY host, service
HAVING samples > 0
ORDER BY samples DESC, host, service;
