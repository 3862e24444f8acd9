#!/bin/sh
# Other people's code under prof-bench: any command, and programs that link libprof_bench. No number
# is expected to have any size.
. "$(dirname "$0")/../lib.sh"

[ -z "${SAN:-}" ] || skip_all "the library of a sanitized build needs its sanitizer"
cd "$work" || exit 1
export XDG_CACHE_HOME="$work/cache"
quick="--time 0.05 --warm-up 0.01 --measurements 10 --resamples 200"

# -------- any command
output=$("$bench" run $quick --bmf one.json -- sleep 0.001 2>&1)
is "$?" 0 "a command is timed"
like "$output" '^sleep 0\.001 +time: +\[' "under its own words"
is "$(json one.json 'sorted(d["sleep 0.001"])')" "['latency', 'peak-bytes', 'system-time', 'user-time']" \
	"with its CPU time and memory"
number "$(json one.json 'd["sleep 0.001"]["latency"]["value"]') >= 1000000" "a sleep of a millisecond takes one"
holds "results are valid BMF" "$top/tests/bmf-valid.py" one.json
# On one CPU with another program: the command gets about half of it, while the one that times it only sleeps.
cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
taskset -c "$cpu" sh -c 'while :; do :; done' &
busy=$!
taskset -c "$cpu" "$bench" run --time 0.5 --warm-up 0.01 --measurements 10 --resamples 200 --baseline shared.json --name shared \
	-- sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done' > shared.txt 2>&1
kill $busy
wait $busy 2> /dev/null
number "$(json shared.json 'd["shared"]["waited"]') > 0.2" "how long a command waited for its CPU is known"
output=$("$bench" run $quick --name napping --bmf two.json -- sleep 0.001 2>&1)
is "$(json two.json 'list(d)')" "['napping']" "--name names it"
output=$("$bench" run $quick --name "$(printf 'a\302\233\342\200\256b')" -- true 2>&1)
like "$output" '^a\\xc2\\x9b\\xe2\\x80\\xaeb ' "what would steer a terminal is escaped in it"
output=$("$bench" run $quick --cpu-time --bmf cpu.json -- sleep 0.01 2>&1)
number "$(json cpu.json 'd["sleep 0.01"]["cpu-time"]["value"]') < 10000000" "--cpu-time does not count sleeping"
output=$("$bench" run $quick -- false 2>&1)
is "$?" 2 "a command that fails has no time"
output=$(timeout 60 "$bench" run $quick --cpu-time -- sh -c '[ ! -e ran ] && : > ran' 2>&1)
is "$?" 2 "nor one that fails later"
like "$output" 'ended with status 1' "which is reported"
output=$("$bench" run $quick -- ./missing 2>&1)
is "$?" 2 "nor one that is not there"
output=$("$bench" run $quick xdp/classify -- true 2>&1)
is "$?" 2 "a benchmark and a command at once"
output=$("$bench" run $quick --name x xdp/classify 2>&1)
is "$?" 2 "a name for what has one"

# -------- a program of somebody's own
cat > sort.c <<'END'
#include <prof_bench.h>
#include <stdlib.h>
#include <string.h>

#define N 1000
struct numbers { int from[N], sorted[N], *kept; };

/* Names that the library has inside, too. */
int buffer_text = 5;
int run_command(void) { return buffer_text; }

static int by_size(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}

static void *make_numbers(uint64_t seed)
{
	struct numbers *n = calloc(1, sizeof(*n));
	for (int i = 0; n && i < N; i++)
		n->from[i] = (int)(seed = seed * 6364136223846793005u + 1442695040888963407u);
	return n;
}

static void sort(void *state, uint64_t iterations)
{
	struct numbers *n = state;
#ifdef SLOWER
	iterations += iterations * SLOWER / 100;
#endif
	while (iterations--) {
		memcpy(n->sorted, n->from, sizeof(n->from));
		qsort(n->sorted, N, sizeof(int), by_size);
		prof_bench_keep(n->sorted);
	}
}

__attribute__((noinline)) static void waste(void *state, uint64_t iterations)
{
	struct numbers *n = state;
	while (iterations--) {
		free(n->kept);
		n->kept = malloc(100000);
		prof_bench_keep(n->kept);
	}
}

static bool is_sorted(void *state)
{
	struct numbers *n = state;
	for (int i = 1; i < N; i++)
		if (n->sorted[i - 1] > n->sorted[i])
			return false;
	return true;
}
static bool never(void *state) { return false; }
static void release(void *state) { struct numbers *n = state; free(n->kept); free(n); }

static const struct prof_benchmark all[] = {
	{ .name = "sort/thousand", .run = sort, .setup = make_numbers, .check = is_sorted,
	  .teardown = release, .unit = "numbers/s", .units = N },
	{ .name = "waste", .run = waste, .setup = make_numbers, .teardown = release },
	{ .name = "wrong", .run = sort, .setup = make_numbers, .check = never, .teardown = release },
};

int main(int argc, char **argv) { return prof_bench_main(all, run_command() - 2, argc, argv); }
END
library="$build/libprof_bench.a -ljansson -lm"
holds "a program in C links the library" ${CC:-cc} -O2 -g -I"$top/bench" sort.c $library -o sort
is "$(nm -g --defined-only "$build/libprof_bench.a" | awk 'NF == 3 { print $3 }')" prof_bench_main \
	"which defines no other name"
is "$(./sort run --list | tr '\n' ' ')" "sort/thousand waste wrong " "its benchmarks are listed"
output=$(./sort run $quick --bmf sort.json sort/thousand 2>&1)
is "$?" 0 "and timed"
like "$output" 'thrpt: +\[.*numbers/s\]' "with their throughput"
is "$(json sort.json 'd["sort/thousand"]["latency"]["value"] > 0')" True "also as BMF"
output=$(./sort run $quick wrong 2>&1)
is "$?" 2 "one that is wrong has no time"
unlike "$output" 'wrong +time:' "none at all"
echo '* latency percentage - 9 max=1' > thresholds
holds "results are judged by its gate" ./sort gate --thresholds thresholds --history h --allow-missing-baseline sort.json
./sort ab --pairs 8 --max-pairs 8 --resamples 100 ./sort ./sort -- once sort/thousand > ab.txt 2>&1
unlike "$?" '^2$' "and builds are compared"
${CC:-cc} -O2 -g -DSLOWER=100 -I"$top/bench" sort.c $library -o slower || not_ok "a slower sort is built"
output=$(./sort ab --cpu-time --noise 20 --benchmark sort/thousand ./sort ./slower 2>&1)
is "$?" 1 "by one of their benchmarks: one that takes twice as long is slower"
like "$output" '^sort/thousand: [0-9]+ iterations in each run$' "by some iterations"

cat > more.cpp <<'END'
#include <prof_bench.h>
#include <cstdlib>
#include <vector>
static void push(void *, uint64_t iterations)
{
	while (iterations--) {
		std::vector<int> v;
		for (int i = 0; i < 100; i++)
			v.push_back(i);
		prof_bench_keep(v.data());
	}
}
int main(int argc, char **argv)
{
	prof_benchmark all[2] = {};
	for (prof_benchmark &one : all) {
		one.name = "vector/push";
		one.run = push;
	}
	return prof_bench_main(all, std::getenv("TWICE") ? 2 : 1, argc, argv);
}
END
if command -v g++ > /dev/null; then
	holds "a program in C++ links the library" g++ -O2 -I"$top/bench" more.cpp $library -o more
	holds "and is timed" ./more run $quick
	output=$(TWICE=1 ./more run $quick 2>&1)
	is "$?" 2 "but not if it has two benchmarks of one name"
else
	skip "C++" "there is no g++"
fi

# -------- counts of both
case $("$bench" instr xdp/classify 2>&1) in
*"not available"*) skip "counts" "valgrind is not installed, or cannot read this build"; finish ;;
esac
"$bench" instr -q --bmf instr.json -- ./sort once --iterations 1 sort/thousand
is "$?" 0 "instructions of a command are counted"
"$bench" instr -q --bmf more.json -- ./sort once --iterations 101 sort/thousand
./sort instr -q --bmf own.json sort/thousand
is "$?" 0 "and those of a benchmark alone"
# 100 more iterations of the command are 100 times what the benchmark counts for one.
number "$(json more.json 'list(d.values())[0]["instructions"]["value"]') - $(json instr.json 'list(d.values())[0]["instructions"]["value"]') \
	> 99 * $(json own.json 'd["sort/thousand"]["instructions"]["value"]')" "both count the same"
"$bench" instr -q --bmf shell.json -- sh -c './sort once --iterations 101 sort/thousand; :'
number "$(json shell.json 'list(d.values())[0]["instructions"]["value"]') < $(json instr.json 'list(d.values())[0]["instructions"]["value"]')" \
	"what a command starts is not counted"
# count_report FILE: instructions of a report
count_report() {
	"$bench" instr -q --bmf "$1" -- "$report" -q --no-cache "$top/testdata/fixtures/python.prf"
	json "$1" 'int(list(d.values())[0]["instructions"]["value"])'
}
output=$("$bench" instr -- sh -c 'grep -q vgpreload /proc/$$/maps && exit 3; :' 2>&1)
like "$output" 'under valgrind it ended with status 3' "a command that fails under valgrind has failed, whatever its status"
first=$(count_report report1.json)
number "$first > 100000" "instructions of a report are counted"
is "$(count_report report2.json)" "$first" "no chance is in them: hash tables have the same seed in each run"
unlike "$(PROF_HASH_SEED=2 count_report report3.json)" "^$first\$" "a seed that is set stays"
is "$(PROF_HASH_SEED=x count_report report4.json)" "$first" "unless it is no number"
output=$("$bench" heap --dhat dhat.json -- ./sort once --iterations 3 waste 2>&1)
is "$?" 0 "allocations of a command are counted"
like "$output" '^ +100,000 +[0-9,]+ +0  waste < ' "with who had the most at the peak"
is "$(json dhat.json '[d["dhatFileVersion"], any("waste" in f for f in d["ftbl"])]')" "[2, True]" \
	"DHAT's own file is kept for its viewer"
output=$(./sort heap waste 2>&1)
like "$output" 'total-blocks +1$' "and those of a benchmark, for each iteration"
finish
