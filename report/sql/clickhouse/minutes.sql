-- For questions over everything: stacks once each, and how often they were met in each minute. To be
-- made before samples are inserted; wide.sql asks it. `stacks` has no TTL, for a stack is needed as long as
-- any minute has it. It stops growing when a program's stacks are known; those of programs that are no
-- longer there are removed by
--
--     ALTER TABLE stacks DELETE WHERE hash NOT IN (SELECT hash FROM minutes)
--
-- while nothing is inserted.
CREATE TABLE IF NOT EXISTS stacks (
  hash UInt64,
  names Array(LowCardinality(String)) CODEC(ZSTD(3)))
ENGINE = ReplacingMergeTree
ORDER BY hash
SETTINGS non_replicated_deduplication_window = 10000;
CREATE MATERIALIZED VIEW IF NOT EXISTS stacks_of_samples TO stacks AS
SELECT DISTINCT cityHash64(names) AS hash, names FROM samples;
CREATE TABLE IF NOT EXISTS minutes (
  minute DateTime,
  host LowCardinality(String),
  service LowCardinality(String),
  comm LowCardinality(String),
  event LowCardinality(String),
  hash UInt64,
  samples UInt64,
  weight UInt64)
ENGINE = SummingMergeTree((samples, weight))
PARTITION BY toDate(minute)
ORDER BY (service, event, comm, host, minute, hash)
TTL minute + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000;
CREATE MATERIALIZED VIEW IF NOT EXISTS minutes_of_samples TO minutes AS
SELECT toStartOfMinute(fromUnixTimestamp64Nano(time_unix_ns)) AS minute, host, service, comm, event,
       cityHash64(names) AS hash, count() AS samples, sum(weight) AS weight
FROM samples
GROUP BY minute, host, service, comm, event, hash;
