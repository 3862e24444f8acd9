#!/bin/sh
# prof-bench run, instr, heap and bpf without privileges: what they print, write and refuse.
# No number is expected to have any size; counts are expected to repeat.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
export XDG_CACHE_HOME="$work/cache"
quick="--time 0.05 --warm-up 0.01 --measurements 10 --resamples 200"

names=$("$bench" run --list)
like "$names" '^format/encode$' "--list names benchmarks"
is "$(printf '%s\n' "$names" | sort -u | wc -l)" "$(printf '%s\n' "$names" | wc -l)" "each once"
is "$("$bench" run --list --filter '^xdp/')" "xdp/classify" "--filter chooses"

output=$("$bench" run $quick --bmf one.json xdp/classify common/uleb 2> errors)
is "$?" 0 "benchmarks run"
like "$output" 'xdp/classify +time: +\[[0-9.]+ .s [0-9.]+ .s [0-9.]+ .s\]' "with interval"
like "$output" 'harness overhead .* subtracted; seed 1' "the harness's own cost is shown"
unlike "$output" 'change:' "the first run has nothing to compare with"
is "$(json one.json 'sorted(d)')" "['common/uleb', 'xdp/classify']" "BMF has both"
is "$(json one.json 'all(m["lower_value"] <= m["upper_value"] and m["value"] > 0 for b in d.values() for m in b.values())')" \
	True "with values and bounds"
output=$("$bench" run $quick xdp/classify 2> errors)
like "$output" 'change: \[.*\] \(p = [01]\.[0-9]+ [<>] 0\.05\)' "the second run is compared"
like "$output" '(No change in performance detected|Change within noise threshold|Performance has (improved|regressed)|No verdict: .*)\.' \
	"with a verdict, or why there is none"
sed 's/"reference"/"other"/g' cache/prof/bench.json > without.json
output=$("$bench" run $quick --baseline without.json xdp/classify 2> errors)
like "$output" 'No verdict: the earlier run did not time the reference loop' \
	"a baseline that does not say how fast its machine was gives none"
# baseline FACTOR WAITED: the run before, on a machine that was so many times slower and disturbed
baseline() {
	python3 - cache/prof/bench.json "$@" <<-'END'
		import json, sys
		all = json.load(open(sys.argv[1]))
		for one in all.values():
		    one["reference"] = [float(sys.argv[2]) * ns for ns in one["reference"]]
		    one["ns"] = [1e6 + i for i in range(len(one["ns"]))]
		    one.pop("waited", None)
		    if sys.argv[3:]:
		        one["waited"] = float(sys.argv[3])
		json.dump(all, sys.stdout)
	END
}
baseline 2 0 > slower.json
output=$("$bench" run $quick --baseline slower.json xdp/classify 2> errors)
like "$output" 'No verdict: (the reference loop changed by \[-|other tasks had the CPU)' \
	"nor does one of a slower machine"
like "$output" 'The run before stays the baseline, in slower.json; remove it, or use --baseline, to begin anew' "which stays"
is "$(json slower.json 'd["xdp/classify"]["ns"][1]')" 1000001.0 "so that no regression is lost with it"
baseline 1 0.5 > waiting.json
output=$("$bench" run $quick --baseline waiting.json xdp/classify 2> errors)
like "$output" 'other tasks had the CPU for [0-9.]+% of the time, and for 50.0% in the run before' \
	"nor one that had waited for a CPU"
unlike "$(json waiting.json 'd["xdp/classify"]["ns"][1]')" '^1000001.0$' "that one is replaced"
baseline 1 > unknown.json
output=$("$bench" run $quick --baseline unknown.json xdp/classify 2> errors)
like "$output" 'and for an unknown part in the run before' "nor one of which that is not known"
"$bench" run $quick --bmf - xdp/classify > bmf.json 2> /dev/null
is "$(json bmf.json 'list(d)')" "['xdp/classify']" "with --bmf - stdout is JSON and nothing else"

like "$names" '^report/whole-1e7$' "--list has those that take long"
output=$("$bench" run $quick report/cold-1e4 2>&1)
like "$output" 'report/cold-1e4 +time:|report/cold-1e4 +not available: files in .* stay in memory' \
	"a cold report has a time, or why not"
like "$("$bench" run $quick report/demangle report/lookup 2>&1)" 'report/demangle +time:' "names are read"

# refused STATUS NAME ARG...
refused() {
	name=$1
	shift
	output=$("$bench" "$@" 2>&1)
	is "$?" 2 "$name"
	unlike "$output" '^ *time:' "without a number"
}
refused "no command"
refused "an unknown command" nonsense
refused "an unknown benchmark" run no/such
refused "a filter that matches nothing" run --filter zzz
refused "a bad filter" run --filter '('
refused "one measurement" run --measurements 1 xdp/classify
refused "no time" run --time 0 xdp/classify
echo '{"xdp/classify": {"ns": [1' > corrupt
refused "a corrupt baseline" run $quick --baseline corrupt xdp/classify
refused "nothing counted" instr --iterations 0 xdp/classify
refused "no program" bpf
refused "two programs" bpf --id 1 --name x
refused "a missing object" bpf --object "$work/none.o"
echo "no object" > text.o
refused "a file that is no object" bpf --object text.o
refused "a packet that is not there" bpf --object text.o --test-run --data missing
refused "an option of another command" run --pairs 10 xdp/classify

# A benchmark that cannot write its results has not succeeded.
"$bench" run $quick -q --bmf /nonexistent/x.json xdp/classify 2> errors
is "$?" 2 "results that cannot be written"

if [ -n "${SAN:-}" ]; then
	skip "counts" "valgrind and sanitizers do not go together"
	finish
fi
output=$("$bench" heap xdp/classify 2>&1)
like "$output" 'allocated-blocks +0$' "the own counter counts no allocation where there is none"
output=$(PATH= "$bench" instr xdp/classify 2>&1)
is "$?" 2 "instr without valgrind"
like "$output" 'not available: valgrind is not installed' "says so"
usable=$("$bench" instr xdp/classify 2>&1)
case $usable in *"not available"*) usable= ;; esac
if [ -n "$usable" ]; then
	"$bench" instr -q --bmf a.json xdp/classify common/uleb
	is "$?" 0 "instructions are counted"
	LONGER=$(head -c 3000 /dev/zero | tr '\0' x) "$bench" instr -q --bmf b.json xdp/classify common/uleb
	is "$(cat b.json)" "$(cat a.json)" "and again, with another environment"
	is "$(json a.json 'all(b["instructions"]["value"] > 1000 for b in d.values())')" True "there are some"
	is "$(json a.json 'all(abs(b["estimated-cycles"]["value"] - b["l1-hits"]["value"] - 5 * b["ll-hits"]["value"] - 35 * b["ram-hits"]["value"]) < 1 for b in d.values())')" \
		True "cycles are estimated as cachegrind's users do"
	"$bench" heap -q --iterations 2 --bmf heap.json format/encode
	is "$?" 0 "allocations are counted"
	is "$(json heap.json 'd["format/encode"]["allocated-blocks"]["value"] > 0 and d["format/encode"]["total-blocks"]["value"] > 0')" \
		True "by both counters"
else
	skip "counts" "valgrind is not installed, or cannot read this build"
fi
finish
