#!/bin/sh
# What databases make of -f parquet: folded by SQL, the rows are the lines of -f folded, and the queries
# of report/sql say the same as prof-report. `make deps-fleet` gets the databases.
. "$(dirname "$0")/../lib.sh"
modules=${FLEET_MODULES:-$build/fleet/node_modules}
fleet=$top/tests/fleet
fixtures=$top/testdata/fixtures
cd "$work" || exit 1

# The same for both: `runs NAME ENGINE` runs in.sql, `setting ENGINE NAME VALUE` sets a variable, `load
# ENGINE FILE...` makes the table `samples`, `query ENGINE NAME` is one of ours.
runs() {
	rm -rf data
	case $2 in
	duckdb) node "$fleet/duckdb.mjs" "$modules" ;;
	clickhouse) python3 "$fleet/clickhouse.py" "$modules" "$work/data" ;;
	esac < in.sql > got 2> said
	if [ $? = 0 ]; then ok "$1"; else not_ok "$1" "$(head -n 30 said)"; fi
}
setting() {
	case $1 in
	duckdb) printf "SET VARIABLE %s = '%s';\n" "$2" "$3" ;;
	clickhouse) printf "SET param_%s = '%s';\n" "$2" "$3" ;;
	esac
}
query() {
	echo "$2" >> asked
	cat "$top/report/sql/$1/$2.sql"
}
load() {
	engine=$1
	shift
	if [ "$engine" = duckdb ]; then
		printf "SET VARIABLE files = ['%s'" "$1"
		shift
		[ $# = 0 ] || printf ", '%s'" "$@"
		echo "];"
		query duckdb samples
		echo "SET VARIABLE by_weight = false;"
		return
	fi
	query clickhouse samples
	query clickhouse minutes
	# Tests have samples of last year.
	echo "ALTER TABLE samples REMOVE TTL;"
	echo "ALTER TABLE minutes REMOVE TTL;"
	printf "INSERT INTO samples FROM INFILE '%s' FORMAT Parquet;\n" "$@"
	setting clickhouse service ''
	setting clickhouse host ''
	setting clickhouse since 1970-01-01
	setting clickhouse until 2200-01-01
	setting clickhouse by_weight 0
}

# parquet OUTPUT TRACE...
parquet() {
	output=$1
	shift
	need "$report" -q --no-cache -f parquet "$@" -o "$output"
}

# folds ENGINE TRACE NAME: all its events, by samples and by weight
folds() {
	parquet out.parquet "$2"
	"$report" --info --json "$2" | python3 -c 'import json, sys
for e in json.load(sys.stdin)["events"]: print(e["name"])' > events
	load "$1" out.parquet > in.sql
	: > expected
	while read -r event; do
		for weight in 0 1; do
			value=samples
			[ $weight = 0 ] || value=weight
			setting "$1" event "$event"
			setting "$1" by_weight $weight
			echo "SELECT '== $event by $value';"
			query "$1" flame
			[ "$1" = duckdb ] || query clickhouse wide
			echo "== $event by $value" >> expected
			"$report" -q --no-cache --event="$event" --value=$value "$2" > folded 2> said
			cat folded >> expected
			[ "$1" = duckdb ] || cat folded >> expected
		done
	done < events >> in.sql
	runs "$1: $3: its queries run" "$1"
	holds "$1: $3: folded by SQL it is what prof-report folds" cmp expected got
}

# Samples of two hosts in two services, one later than the other, which has a sample more.
two_hosts() {
	for host in one two; do
		{
			printf 'metadata "host" "%s"\nmetadata "service" "of-%s"\n' $host $host
			echo 'metadata "start_monotonic_ns" "1000000000"'
			case $host in one) start=10 ;; two) start=20 ;; esac
			echo "metadata \"start_time\" \"2026-01-02T03:04:$start.000000000Z\""
			sed '/^finish/d; /"host"/d; /"start_time"/d' "$top/tests/cli/views/views.txt"
			[ $host = two ] || echo 'sample 1500000000 1 0 6 0 1'
			echo finish
		} > $host.txt
		need "$build/testdata/trace_text" $host.txt -o $host.prf
		parquet $host.parquet $host.prf
	done
}

# answers ENGINE: the other queries, over both hosts
answers() {
	load "$1" one.parquet two.parquet > in.sql
	{
		setting "$1" event cpu-clock
		setting "$1" function work
		setting "$1" deploy '2026-01-02 03:04:15'
		for name in top change function; do
			echo "SELECT '== $name';"
			query "$1" $name
		done
		echo "SELECT '== of one service';"
		setting "$1" service of-two
		query "$1" flame
		echo "SELECT '== in a window';"
		setting "$1" service of-one
		setting "$1" since '2026-01-02 03:04:10.001'
		setting "$1" until '2026-01-02 03:04:10.006'
		query "$1" flame
	} >> in.sql
	"$report" -q --no-cache one.prf two.prf > both.folded
	{
		echo "== top"
		python3 - both.folded <<'PYTHON'
import collections, sys
self, total = collections.Counter(), collections.Counter()
for line in open(sys.argv[1], encoding="utf-8"):
    stack, n = line.rstrip("\n").rsplit(" ", 1)
    names = stack.split(";")[1:]
    for name in set(names):
        total[name] += int(n)
    if names:
        self[names[-1]] += int(n)
for name in sorted(total, key=lambda name: (-self[name], -total[name], name.encode()))[:30]:
    print(self[name], total[name], name, sep="\t")
PYTHON
		echo "== change"
		"$report" -q --no-cache --diff one.prf two.prf
		echo "== function"
		for host in one two; do
			printf '%s\tof-%s\t%s\t%s\n' $host $host \
				"$("$report" -q --no-cache $host.prf | awk '/;work/ { n += $NF } END { print n }')" \
				"$("$report" -q --no-cache $host.prf | awk '{ n += $NF } END { print n }')"
		done
		echo "== of one service"
		"$report" -q --no-cache two.prf
		echo "== in a window"
		"$report" -q --no-cache --time=1ms,6ms one.prf
	} > expected
	runs "$1: queries of two hosts run" "$1"
	holds "$1: they say what prof-report says" cmp expected got
}

command -v python3 > /dev/null || skip_all "no python3"
need "$build/testdata/trace_text" "$top/tests/cli/views/views.txt" -o views.prf
need "$build/testdata/trace_text" "$top/testdata/good-empty.txt" -o empty.prf
need "$build/testdata/make_trace" -n 140000 -k 3000 -O "$report" -o many.prf
need "$build/testdata/trace_text" "$top/tests/cli/views/python.txt" -o python.prf
two_hosts
for engine in duckdb clickhouse; do
	case $engine in
	duckdb) module=@duckdb/node-api ;;
	clickhouse) module=@chdb/lib-linux-x64-gnu ;;
	esac
	if [ ! -d "$modules/$module" ] || { [ $engine = duckdb ] && ! command -v node > /dev/null; }; then
		skip "$engine" "make deps-fleet has not installed $module"
		continue
	fi
	folds $engine views.prf "hostile names and waits"
	folds $engine empty.prf "no samples"
	folds $engine "$fixtures/waits.prf" "waits"
	folds $engine python.prf "Python"
	folds $engine "$fixtures/cpp.prf" "C++"
	folds $engine many.prf "two row groups"
	answers $engine
	is "$(sort -u asked)" "$(cd "$top/report/sql/$engine" && ls ./*.sql | sed 's/..//; s/.sql$//' | sort)" \
		"$engine: all queries of report/sql/$engine were asked"
	rm asked
done
finish
