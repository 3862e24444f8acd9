#!/bin/sh
# What the recipes of bench/ci judge, and how they end, on made-up measurements; tests/slow/ci-recipe.sh runs them
# with real ones.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
recipes=$top/bench/ci
export TESTBED=test MAX_PAIRS=8

# build FOLDER: a build whose prof-bench measures what the file "values" says, lines of a benchmark and a number,
# and whose pairs end with the status in the file "slower", if that is there
build() {
	tools=$1/testdata
	mkdir -p "$tools"
	printf '#!/bin/sh\n' | tee "$1/prof-report" > "$tools/make_trace"
	printf 'common/uleb 100\ndrain/one 2\ndrain/resolve 100\nxdp/classify 100\n' > "$1/values"
	cat > "$1/prof-bench" <<-END
		#!/bin/sh
		case \$1 in
		gate | history) exec "$bench" "\$@" ;;
		ab) echo "\$*" >> "$1/pairs"; [ ! -e "$1/slower" ] || exit 1; exit 0 ;;
		esac
		exec python3 "$work/measure.py" "$1" "\$@"
	END
	chmod +x "$1/prof-bench" "$1/prof-report" "$tools/make_trace"
}
cat > measure.py <<'END'
import json, re, sys
folder, command, *arguments = sys.argv[1:]
values = dict(line.split() for line in open(f"{folder}/values"))
if "--list" in arguments:
    print("\n".join(values))
    sys.exit()
after = dict(zip(arguments, arguments[1:]))
names = [name for name in values if name in arguments] or list(values)
names = [name for name in names if re.search(after.get("--filter", ""), name)]
if "--name" in after or command == "bpf":
    names = [after["--name"]] if "--name" in after else [name for name in values if name.startswith("bpf/")] or ["bpf/x"]
measure = {"heap": "allocated-blocks", "instr": "instructions", "bpf": "verified-instructions",
           "run": "cpu-time" if "--cpu-time" in arguments else "latency"}[command]
with open(after["--bmf"], "w") as file:
    json.dump({name: {measure: {"value": float(values.get(name, 7))}} for name in names}, file)
with open(f"{folder}/measured", "a") as file:
    file.write(f"{command} {' '.join(names)}\n")
END
build "$work/one"

# -------- the main branch
main() { "$recipes/main.sh" history.jsonl "$work/one" x > log 2>&1; }
main
is "$?" 0 "the first run on the main branch begins the history"
like "$(cat log)" '^0 fine, 0 regressed, 0 inconclusive, [0-9]+ without a baseline' "in which nothing is judged"
main
is "$?" 3 "of the second one the times are inconclusive"
like "$(cat log)" 'xdp/classify cpu-time: .*: it takes 7 more' "as there are too few"
like "$(cat log)" '^fine +xdp/classify instructions:' "and the counts are fine"
TESTBED=other main
is "$?" 3 "on another machine nothing is judged, which is not fine"
sed -i 's/^drain.one 2/drain\/one 3/' one/values
: > one/measured
main
is "$?" 1 "an allocation for each sample has regressed"
like "$(cat log)" '^REGRESSED +drain/one allocated-blocks: 3 ' "by the allocations"
is "$(cut -d ' ' -f 1 one/measured | tr '\n' ' ')" "heap run " "before the rest is measured, which may take hours then"
ACCEPT=1 BENCH_NAMES=common/uleb main
is "$?" 3 "which ACCEPT=1 accepts, but not that there are too few times"
like "$(cat log)" '^REGRESSED +drain/one allocated-blocks: 3 ' "it is shown"
like "$(cat log)" '^fine +xdp/classify instructions:' "and all is measured, whatever BENCH_NAMES is"
main
is "$?" 3 "so that it is the baseline"
like "$(cat log)" '^fine +drain/one allocated-blocks: 3 ' "of the next run"
sed -i 's/^drain.one 3/drain\/one 2/' one/values
cat > latency.py <<'END'
import json, sys
for i in range(8):
    print(json.dumps({"time": i, "branch": "main", "hash": "x", "testbed": "test", "results": {
        "drain/one": {"latency": {"value": float(sys.argv[1]) * (1 + i / 100)}, "allocated-blocks": {"value": 2}}}}))
END
python3 latency.py 1.4 > slower.jsonl
"$recipes/main.sh" slower.jsonl "$work/one" x > log 2>&1
like "$(cat log)" '^fine +drain/one latency: 2 ' "a sample on a CPU that takes a third longer has not"
python3 latency.py 0.01 > sleepless.jsonl
"$recipes/main.sh" sleepless.jsonl "$work/one" x > log 2>&1
is "$?" 1 "a sample that takes two hundred times as long has regressed"
like "$(cat log)" '^REGRESSED +drain/one latency: 2 ' "by its elapsed time"

# -------- a candidate
build "$work/two"
explain=
[ "$(id -u)" != 0 ] || explain=" --explain"
candidate() { "$recipes/candidate.sh" "$work/one" "$work/two" > log 2>&1; }
candidate
is "$?" 0 "a candidate that is equal is fine"
like "$(cat two/pairs)" "^ab --max-pairs 8 --noise 30 --benchmark drain/one $work/one/prof-bench $work/two/prof-bench\$" \
	"one sample's elapsed time is compared"
like "$(cat two/pairs)" "^ab --max-pairs 8 --cpu-time --noise 5$explain --benchmark drain/resolve " \
	"and the CPU time of many, without the process around them"
is "$(wc -l < two/pairs)" 3 "and that of a report"
sed -i '/common.uleb/d' one/values
sed -i '/xdp.classify/d' two/values
candidate
is "$?" 0 "one with a new benchmark, and without an old one, is fine"
like "$(cat log)" 'it is new, and not judged: common/uleb$' "the new one is named"
like "$(cat log)" 'it was removed, and is not judged: xdp/classify$' "and the one that was removed"
for name in drain/one drain/resolve; do
	build "$work/less"
	grep -v "$name" one/values > less/values
	"$recipes/candidate.sh" "$work/less" "$work/two" > log 2>&1
	is "$?" 3 "one that is compared with a build without $name is not judged"
	like "$(cat log)" "^candidate.sh: $work/less/prof-bench lacks $name, " "as that is named"
done
touch two/slower
: > two/measured
candidate
is "$?" 1 "a slower one has regressed"
is "$(cut -d ' ' -f 1 two/measured | tr '\n' ' ')" "heap run " "before the rest is measured"
rm two/slower
sed -i 's/^drain.resolve 100/drain\/resolve 110/' two/values
candidate
is "$?" 1 "more instructions have regressed, too"
like "$(cat log)" '^REGRESSED +drain/resolve instructions: 110 ' "which are counted"

# -------- a BPF program of another project
build "$work/bpf"
object() { PROF_BENCH=$work/bpf/prof-bench COUNTS=1 "$recipes/bpf-object.sh" bpf.jsonl x.bpf.o > log 2>&1; }
echo 'bpf/x 100' > bpf/values
DRY_RUN=1 object
is "$?" 3 "a candidate before the first run on the main branch is not judged"
object
is "$?" 0 "which begins the history"
echo 'bpf/y 100' >> bpf/values
DRY_RUN=1 object
is "$?" 0 "a candidate that adds a program is fine"
sed -i 's/^bpf.x 100/bpf\/x 110/' bpf/values
DRY_RUN=1 object
is "$?" 1 "one whose other program has more instructions has regressed"
ACCEPT=1 object
is "$?" 0 "which is accepted on the main branch"
object
is "$?" 0 "for later runs, too"

# -------- The history is kept whatever the verdict was: else it would never have enough values for one.
like "$(sed -n '/^  cache:/,/^  script:/p' "$top/.gitlab-ci.yml")" '^    when: always' "GitLab keeps it"
like "$(grep -A 1 'uses: actions/cache/save@' "$recipes/bpf-object.yml")" \
	"^        if: always\(\) && github.event_name != 'pull_request'$" "GitHub does"
unlike "$(cat "$recipes/bpf-object.yml")" 'actions/cache@' "by a step of its own"
for file in .github/workflows/bench.yml bench/ci/bpf-object.yml; do
	like "$(cat "$top/$file")" "ACCEPT=.\{\{ inputs.accept && '1' \|\| '' \}\}" "$file can accept"
done
like "$(cat "$top/.gitlab-ci.yml")" '^  ACCEPT: ' ".gitlab-ci.yml can"

# -------- Bencher: its program gets each file, and has a threshold for each kind of count.
mkdir results bin
touch results/instructions.json results/report-cpp.json results/sleep.json
printf '#!/bin/sh\nprintf "%%s " "$@" > bencher.log\n' > bin/bencher
chmod +x bin/bencher
for side in main candidate; do
	sed -n '/^      - run: |$/,$p' "$recipes/$side-bencher.yml" | sed '1d; s/\${{[^}]*}}/x/g' > step
	holds "the step of $side-bencher.yml runs" env PATH="$work/bin:$PATH" GITHUB_HEAD_REF=x bash -eu step
	like "$(cat bencher.log)" '^run .*--file results/instructions.json --file results/report-cpp.json --file results/sleep.json $' \
		"with all results"
	[ $side = candidate ] || cp bencher.log main.log
done
for measure in $(awk '$1 == "*" && $3 == "percentage" { print $2 }' "$recipes/thresholds.conf" |
	grep -E '^(instructions|allocated|total-blocks|verified|jited|map)'); do
	most=$(awk -v m="$measure" '$2 == m && $3 == "percentage" && $5 > most { most = $5 } END { print most + 0 }' \
		"$recipes/thresholds.conf")
	like "$(cat main.log)" "--threshold-measure $measure --threshold-test percentage --threshold-max-sample-size 1 --threshold-upper-boundary $most(\.0)? " \
		"Bencher judges $measure, and allows what each benchmark may change by"
done

# -------- The operating curve of runs beside their baseline: each verdict has its column.
curve() { "$recipes/operating-curve.py" "$1" --folder curve --equal 2 --slow 1 --loaded; }
mkdir curve
for name in make_trace prof-report-slow; do cp "$work/one/prof-report" "curve/$name"; done
printf '#!/bin/sh\nshift\nexec "%s" run --time 0.05 --warm-up 0.01 --measurements 10 --resamples 200 "$@"\n' "$bench" > curve/prof-bench
chmod +x curve/*
for way in default --cpu-time candidate.sh; do
	printf '{"kind": "calibration", "way": "%s", "rounds": 7}\n' $way
done > curve/tries.jsonl
is "$(curve runs)" "8 more" "runs with and without a slowdown are compared with the one before"
is "$(curve runs)" "0 more" "once"
is "$(curve table | awk -F ' *[|] *' '$2 == "loaded" && $5 == $7 + $8 + $9 + $10 { print $3, $4, $5 }')" "default none 2
default 5 % 1
default 10 % 1
--cpu-time none 2
--cpu-time 5 % 1
--cpu-time 10 % 1" "and each has one verdict"
finish
