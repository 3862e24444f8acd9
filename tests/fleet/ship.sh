#!/bin/sh
# prof-ship and ClickHouse itself: both are killed around each INSERT, and each sample is there once, in
# the table and in those that are made of it. KILLS=20 is how often.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/shipping.sh"
modules=${FLEET_MODULES:-$build/fleet/node_modules}
fleet=$top/tests/fleet
[ -d "$modules/@chdb/lib-linux-x64-gnu" ] || skip_all "make deps-fleet has not installed @chdb/lib-linux-x64-gnu"
need_tools python3 curl flock
cd "$work" || exit 1
PATH=$build:$PATH
mkdir series server
# Tests have samples of last year.
for name in samples minutes; do sed '/^TTL/d' "$top/report/sql/clickhouse/$name.sql" > server/$name.sql; done

begin() {
	rm -f server/port
	serve server "$fleet/clickhouse-http.py" "$modules" "$work/server" server/samples.sql server/minutes.sql 2> server/said
	[ -e server/port ] || { not_ok "ClickHouse begins" "$(cat server/said)"; finish; }
	url=http://127.0.0.1:$port
}
ask() { curl -sS --data-binary "$1" "$url"; }
# ship: as one that begins now; its process is $shipper
ship() {
	sh -c 'echo $$ > shipper; exec "$@"' - "$top/.ci/packaging/prof-ship" --dir="$work/series" --once --timeout=60 "$url" 2>> said
}
left() { find series -type f ! -name lock | wc -l; }

# A trace whose samples are of two days, and one of two row groups.
{
	printf 'metadata "start_monotonic_ns" "1000000000"\nmetadata "start_time" "2026-01-02T23:59:59.990000000Z"\n'
	sed '/"start_time"/d' "$top/tests/cli/views/views.txt"
} > days.txt
need "$build/testdata/trace_text" days.txt -o days.prf
need "$build/testdata/make_trace" -n 140000 -k 3000 -O "$report" -o many.prf
traces=100
put() {
	traces=$((traces + 1))
	cp "$1" "series/trace.prf.20260102T030405.$traces"
}

begin
put days.prf
put many.prf
ship
is "$?:$(cat said):$(left)" "0::0" "two traces are sent"
is "$(ask 'SELECT count(), uniqExact(trace) FROM samples')" "140019	2" "all their samples are there"
is "$(ask "SELECT count() FROM system.parts WHERE table = 'samples' AND level = 0")" 3 "as one part for each day"
ask "SELECT stack FROM samples" | sort | uniq -c | awk '{ n = $1; $1 = ""; print substr($0, 2), n }' | LC_ALL=C sort > got
"$report" -q --no-cache --event=cpu-clock --event=off-cpu --event=page-faults --value=samples days.prf many.prf > expected
holds "folded, they are what prof-report folds" cmp expected got

kills=${KILLS:-20}
i=0
died=0
while [ $i -lt "$kills" ]; do
	i=$((i + 1))
	trace=days.prf
	[ $((i % 4)) != 0 ] || trace=many.prf
	put $trace
	if [ $((i % 2)) = 0 ]; then
		echo "$((i * 3)) self" > server/kill
		ship
	else
		ship &
		n=0
		until [ -s shipper ] || [ $n = 100 ]; do
			n=$((n + 1))
			sleep 0.01
		done
		echo "$((i * 3)) $(cat shipper)" > server/kill
		wait $!
		[ $? != 137 ] || died=$((died + 1))
		rm shipper
	fi
	if ! kill -0 $server 2> /dev/null; then
		wait $server
		died=$((died + 1))
		begin
	fi
done
number "$died > $kills / 4" "$died of $kills times one of them was killed"
n=0
until [ "$(left)" = 0 ] || [ $n = 5 ]; do
	n=$((n + 1))
	ship
done
is "$(left)" 0 "in the end nothing is left"
sent=$((traces - 100)) large=$((1 + kills / 4))
total=$(((sent - large) * 19 + large * 140000))
is "$(ask 'SELECT count(), uniqExact(trace) FROM samples')" "$total	$sent" "rows are samples: none twice, none missing"
is "$(ask 'SELECT DISTINCT count() AS n FROM samples GROUP BY trace ORDER BY n' | xargs)" "19 140000" "of each trace"
is "$(ask 'SELECT sum(samples) FROM minutes')" "$total" "in the table of minutes, too"

# A table that remembers too little gets nothing.
for window in 0 999; do
	ask "ALTER TABLE samples MODIFY SETTING non_replicated_deduplication_window = $window"
	put days.prf
	ship
	is "$?:$(left):$(tail -n 1 said | grep -c 'has no table samples that remembers 1000 tokens')" 1:1:1 "with a memory of $window tokens a file waits"
	rm series/ship/*.parquet
done

# A file whose token is forgotten comes again: the server is asked, if it was tried more than minutes ago.
ask "ALTER TABLE samples MODIFY SETTING non_replicated_deduplication_window = 1000"
put days.prf
again=series/trace.prf.20260102T030405.$traces
ship
i=0
while [ $i -lt 11 ]; do
	i=$((i + 1))
	# Each day's rows are remembered by themselves.
	ask "INSERT INTO samples (trace, time_unix_ns) VALUES $(seq -s, -f "('other$i', %.0f)" 0 86400000000000 8600000000000000)"
done
before=$(ask 'SELECT count() FROM samples')
cp days.prf "$again"
"$top/.ci/packaging/prof-ship" --dir="$work/series" --once http://127.0.0.1:9/ 2> away
for file in series/ship/*.parquet; do echo 1000000000 > "${file%.parquet}.sent"; done
ship
is "$(left):$(($(ask 'SELECT count() FROM samples') - before))" 0:0 "a file that was tried comes again, and is not doubled"
cp days.prf "$again"
ship
is "$(left):$(($(ask 'SELECT count() FROM samples') - before))" 0:19 "although its token was forgotten"
kill -KILL $server
finish
