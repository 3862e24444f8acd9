#!/bin/sh
# prof-bench gate, history, mock and ab: exit statuses and what they say, on made-up numbers.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1

# results NAME VALUE [MEASURE]
results() { printf '{"b/one": {"%s": {"value": %s}}}\n' "${3:-latency}" "$2" > "$1.json"; }

# gate STATUS NAME ARG...: runs the gate, keeps its output in $output
gate() {
	expected=$1 name=$2
	shift 2
	output=$("$bench" gate --testbed test "$@" 2>&1)
	is "$?" "$expected" "$name"
}

echo '* latency percentage 0.1 0.1 max=3' > thresholds
results ten 10
results eleven 11
results twelve 12
results eight 8
printf '{"other": {"latency": {"value": 10}}, "b/one": {"latency": {"value": 10}}}\n' > both.json

gate 3 "no baseline is inconclusive" --thresholds thresholds --history h ten.json
like "$output" 'no baseline: it takes 1 more' "and says so"
gate 0 "on the limit is fine" --thresholds thresholds --history h eleven.json
gate 1 "above the limit has regressed" --thresholds thresholds --history h --hash bad twelve.json
like "$output" 'REGRESSED +b/one latency: 12 is outside of \[9.45, 11.55\] \(percentage, 2 earlier values' \
	"and shows value and limits"
gate 1 "a refused value is no baseline for the next" --thresholds thresholds --history h twelve.json
gate 1 "below the lower limit too" --thresholds thresholds --history h eight.json
gate 0 "what is back is fine again" --thresholds thresholds --history h ten.json
gate 0 "--accept makes it the baseline" --thresholds thresholds --history h --accept twelve.json
is "$(wc -l < h)" 7 "every run is kept"
gate 0 "--dry-run judges" --thresholds thresholds --history h --dry-run eleven.json
is "$(wc -l < h)" 7 "but keeps nothing"
gate 3 "another machine has no baseline" --testbed other --thresholds thresholds --history h ten.json
gate 3 "also if that is allowed: nothing was judged" --testbed third --thresholds thresholds --history h \
	--allow-missing-baseline ten.json
like "$output" 'nothing was judged, as h holds no value of branch main, testbed third$' "which is said"
gate 0 "the first run of all is fine if that is allowed" --thresholds thresholds --history first --allow-missing-baseline ten.json
like "$output" '0 fine, 0 regressed, 0 inconclusive, 1 without a baseline, 0 without a rule' "but is not counted as judged"
gate 3 "not if it is not kept" --thresholds thresholds --history second --allow-missing-baseline --dry-run ten.json

gate 3 "a branch begins without a baseline" --thresholds thresholds --history h --dry-run --branch f ten.json
gate 0 "its start point gives it one" --thresholds thresholds --history h --dry-run --branch f --start-point main eleven.json
cat > h3 <<'END'
{"time": 1, "branch": "main", "hash": "a", "testbed": "test", "results": {"b/one": {"latency": {"value": 10}}}}
{"time": 2, "branch": "main", "hash": "b", "testbed": "test", "results": {"b/one": {"latency": {"value": 100}}}}
END
gate 0 "the start point's history ends with its hash" --thresholds thresholds --history h3 --dry-run \
	--branch f --start-point main --start-point-hash a ten.json
gate 1 "so what came later does not count" --thresholds thresholds --history h3 --dry-run \
	--branch f --start-point main --start-point-hash a twelve.json
gate 3 "an unknown hash is no baseline" --thresholds thresholds --history h3 --dry-run \
	--branch f --start-point main --start-point-hash zzz ten.json

for i in 1 2 3 4; do
	printf '{"time": %d, "branch": "main", "testbed": "test", "results": {"b/one": {"latency": {"value": 10}}}}\n' $i
done > four
echo '* latency percentage - 0.1 max=1' > last
gate 1 "of four values one counts" --thresholds last --history four --dry-run twelve.json
like "$output" '\(percentage, 1 earlier values' "which is what is said"
gate 1 "with -q" -q --thresholds last --history four --dry-run twelve.json
like "$output" '^REGRESSED +b/one latency: 12 is outside' "what regressed is all that is shown"
is "$(printf '%s\n' "$output" | wc -l)" 1 "in one line"
gate 0 "and nothing" -q --thresholds last --history four --dry-run ten.json
is "$output" "" "of what is fine"
echo '* latency t_test - 0.99 min=6' > six
gate 3 "four values where it takes six" --thresholds six --history four --dry-run ten.json
like "$output" 'too few earlier values: it takes 2 more' "lack two"
printf '{"other": {"latency": {"value": 10}}, "b/one": {"latency": {"value": 12}}}\n' > worse.json
cp four accepting
gate 3 "--accept accepts what regressed, not what is inconclusive" --thresholds last --history accepting --accept worse.json
like "$output" '0 fine, 1 regressed, 1 inconclusive' "which is counted"
gate 0 "and both are earlier values then" --thresholds last --history accepting --dry-run worse.json
gate 0 "of a new benchmark that is fine if it is allowed, and another one is judged" --thresholds last --history four --dry-run \
	--allow-missing-baseline both.json

echo '* latency t_test - 0.99 min=2' > by-t
for i in 1 2 3; do
	printf '{"time": %d, "branch": "main", "testbed": "test", "results": {"b/one": {"latency": {"value": 10}}}}\n' $i
done > constant
gate 3 "a constant history under t_test is inconclusive" --thresholds by-t --history constant --dry-run ten.json
like "$output" 'all equal.*use percentage or iqr' "and the remedy is named"
echo '* latency iqr - 3' > by-iqr
gate 0 "iqr judges it" --thresholds by-iqr --history constant --dry-run ten.json
gate 1 "any rise has regressed" --thresholds by-iqr --history constant --dry-run eleven.json
echo '* latency static - 11' > static
gate 0 "static boundaries need no history" --thresholds static --history none --dry-run ten.json
gate 1 "and judge" --thresholds static --history none --dry-run twelve.json

printf '{"other": {"latency": {"value": 10}}}\n' > other.json
gate 3 "a benchmark that vanished is inconclusive" --thresholds thresholds --history h3 --dry-run other.json
like "$output" 'b/one latency: was measured before' "and is named"
gate 0 "two benchmarks" --thresholds thresholds --history vanishing --allow-missing-baseline both.json
gate 3 "one of them vanished" --thresholds thresholds --history vanishing other.json
gate 3 "and is still missing in the next run" --thresholds thresholds --history vanishing other.json
gate 0 "with both again all is fine" --thresholds thresholds --history vanishing both.json
gate 3 "one vanished again" --thresholds thresholds --history vanishing ten.json
gate 0 "which --accept accepts" --thresholds thresholds --history vanishing --accept ten.json
like "$output" '^accepted +other latency: was measured before' "and says so"
gate 0 "for later runs, too" --thresholds thresholds --history vanishing ten.json
is "$("$bench" history --history vanishing | grep -c 'results, incomplete$')" 3 "which the history shows"
gate 2 "a result that is in two files" --thresholds thresholds --history h3 --dry-run twelve.json both.json
like "$output" 'both.json: b/one latency: is in a file before it, too' "is named"
echo '* latency percentage - 0 max=1' > strict
results thirds 7.3333333333333339
gate 0 "a value of many digits" --thresholds strict --history digits --allow-missing-baseline thirds.json
gate 0 "is equal to itself" --thresholds strict --history digits thirds.json

echo '* instructions percentage - 0.01' > unfitting
gate 2 "rules that match nothing are an error" --thresholds unfitting --history h --dry-run ten.json
gate 2 "a missing thresholds file" --thresholds missing --history h ten.json
echo '* latency percentage - -' > toothless
gate 2 "a rule that can never alert" --thresholds toothless --history h ten.json
gate 2 "missing results" --thresholds thresholds --history h missing.json
echo '{"b": {"latency": {"value": null}}}' > null.json
gate 2 "a null value" --thresholds thresholds --history h null.json
echo '{"b": {"latency": {"value": 1, "lower_bound": 0}}}' > bound.json
gate 2 "a bound under its old name" --thresholds thresholds --history h bound.json
echo '{}' > empty.json
gate 2 "no results at all" --thresholds thresholds --history h empty.json
cp h corrupt && echo '{"time": 1, "branch' >> corrupt
gate 2 "a corrupt history" --thresholds thresholds --history corrupt ten.json
like "$output" 'corrupt:10: ' "and its line is named"
gate 2 "no results given" --thresholds thresholds --history h
gate 2 "an option of another command" --thresholds thresholds --history h --pairs 10 ten.json

# Repeatable, and valid for Bencher: numbers only, known keys only.
"$bench" mock --seed 5 --count 3 --bmf - > one.json 2> /dev/null
"$bench" mock --seed 5 --count 3 --bmf two.json > /dev/null 2>&1
is "$(cat one.json)" "$(cat two.json)" "mock repeats itself by its seed"
is "$(json one.json 'all(set(m) <= {"value", "lower_value", "upper_value"} and all(isinstance(v, (int, float)) for v in m.values()) for b in d.values() for m in b.values()) and len(d)')" \
	3 "BMF holds numbers and nothing else"
holds "history lists" "$bench" history --history h
holds "history draws" "$bench" history --history h --svg trend.svg
holds "and the drawing is XML" python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("trend.svg")'
for i in $(seq 30); do
	printf '{"time": %d, "branch": "main", "hash": "c%d", "testbed": "t", "results": {"b/one": {"latency": {"value": %d}, "instructions": {"value": 7}}}}\n' \
		"$i" "$i" "$(((i > 12 ? 120 : 100) + i % 3))"
done > changing
is "$("$bench" history --history changing --changes)" "b/one latency: 101 to 121 (+19.8020%) at c13
1 changes" "history finds where a measure changed"
is "$("$bench" history --history constant --changes)" "0 changes" "and none where nothing did"
"$bench" history --history missing > /dev/null 2>&1
is "$?" 2 "there is no history to show"

"$bench" ab true false > /dev/null 2>&1
is "$?" 2 "a program that fails has no time"
"$bench" ab ./missing true > /dev/null 2>&1
is "$?" 2 "nor one that is not there"
"$bench" ab true true --pairs 8 --max-pairs 8 --resamples 1000 > ab.txt 2>&1
unlike "$?" '^2$' "two programs that work get a verdict, whatever it is on this machine"
like "$(cat ab.txt)" '^old/old .* of 8 pairs' "the noise is shown"
like "$(cat ab.txt)" '^new/old .* of 8 pairs' "and the difference"

# A benchmark's own time, which these programs make up: one iteration takes NS, beside a start that takes long.
program() { # NAME NS
	cat > "$1" <<-END
		#!/bin/sh
		sleep 0.01
		[ "\$1 \$2 \$4 \$5 \$6" = "once --bmf \$4 --seed=1 sort/thousand" ] || exit 2
		echo "\$4" >> $1.done
		printf '{"sort/thousand": {"cpu-time": {"value": $2}, "latency": {"value": %d}}}' $(($2 * 2)) > "\$3"
	END
	chmod +x "$1"
}
program old 1000
program new 1250
program same 1000
pairs() { "$bench" ab --noise 5 --pairs 8 --resamples 1000 "$@" 2>&1; }
output=$(pairs --benchmark sort/thousand ./old ./new)
is "$?" 1 "a benchmark that takes 25 % more is slower"
like "$output" '^SLOWER by 25\.00% ' "by 25 %"
like "$(tail -n 1 new.done)" '^--iterations=[0-9]{4,5}$' "of many iterations"
is "$(tail -n 1 old.done)" "$(tail -n 1 new.done)" "as many of either"
holds "by CPU time, too" test "$(pairs --cpu-time --benchmark sort/thousand ./old ./new | grep -c '^SLOWER by 25')" = 1
output=$(pairs -q --benchmark sort/thousand ./old ./new)
is "$?" 1 "with -q, too"
like "$output" '^SLOWER by 25\.00% ' "which is shown"
is "$(printf '%s\n' "$output" | wc -l)" 1 "and nothing else"
pairs --benchmark sort/thousand ./old ./same > ab.txt
is "$?" 0 "one that takes as long is not"
output=$(pairs --benchmark other ./old ./new)
is "$?" 2 "a benchmark that there is not"
like "$output" 'ended with status 2.*"./old once other" says why' "is an error"
output=$(pairs --benchmark sort/thousand ./old true)
is "$?" 2 "a program that has none"
output=$(pairs --benchmark sort/thousand ./old ./new -- x)
is "$?" 2 "a benchmark, and arguments"
finish
