-- The table `samples`, from files of prof-report -f parquet. Before it, say where they are:
--
--     SET VARIABLE files = '/var/lib/prof/*.parquet';
--
-- All other queries of this folder ask it, with variables that stand in their first lines. A variable
-- that was not set does not select.
CREATE OR REPLACE TEMP VIEW samples AS
SELECT *, make_timestamp_ns(time_unix_ns) AS time,
       array_to_string(list_prepend(replace(comm, ' ', '_'), list_reverse(names)), ';') AS stack
FROM read_parquet(getvariable('files'), union_by_name = true);
