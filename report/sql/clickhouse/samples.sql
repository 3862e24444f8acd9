-- The table of all samples, to be made once. What prof-report -f parquet writes goes into it as it is:
--
--     clickhouse-client --query 'INSERT INTO samples FORMAT Parquet' < trace.parquet
--
-- prof-ship repeats an INSERT whose answer it did not see, with the same token: the last setting is how
-- many tokens are remembered. It should be what all hosts that use this server insert in two minutes, when
-- they send what has waited for it.
--
-- Samples of traces without a wall clock, whose time_unix_ns is null, get the time 0 and are removed by the
-- TTL below. prof-record writes no such traces.
--
-- On several servers, make it on each, and before all of them
--
--     CREATE TABLE all_samples AS samples ENGINE = Distributed(CLUSTER, DATABASE, samples, cityHash64(host));
CREATE TABLE IF NOT EXISTS samples (
  time_unix_ns Int64 CODEC(Delta, ZSTD(1)),
  host LowCardinality(String),
  service LowCardinality(String),
  trace LowCardinality(String),
  comm LowCardinality(String),
  pid UInt32,
  tid UInt32,
  cpu UInt16,
  event LowCardinality(String),
  weight UInt64,
  cgroup LowCardinality(String),
  labels Map(LowCardinality(String), String),
  names Array(LowCardinality(String)) CODEC(ZSTD(3)),
  time DateTime64(9) ALIAS fromUnixTimestamp64Nano(time_unix_ns),
  stack String ALIAS arrayStringConcat(arrayPushFront(arrayReverse(names), replaceAll(comm, ' ', '_')), ';'))
ENGINE = MergeTree
PARTITION BY toDate(fromUnixTimestamp64Nano(time_unix_ns))
ORDER BY (service, event, comm, host, time_unix_ns)
TTL toDateTime(fromUnixTimestamp64Nano(time_unix_ns)) + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 10000;
