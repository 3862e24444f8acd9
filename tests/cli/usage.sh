#!/bin/sh
# What the programs print for wrong command lines: one line with the remedy, and status 2.
. "$(dirname "$0")/../lib.sh"
cd "$work" || exit 1

# wrong NAME PATTERN PROGRAM ARGUMENT...: status 2, and one line on stderr that matches
wrong() {
	name=$1
	pattern=$2
	program=$3
	shift 3
	"$build/$program" "$@" > out 2> err < /dev/null
	is "$?" 2 "$name: status 2"
	is "$(wc -l < err)" 1 "$name: one line"
	like "$(cat err)" "^$program: .*$pattern" "$name: says why"
	is "$(cat out)" "" "$name: nothing on stdout"
}

for program in prof-record prof-report prof-bench; do
	"$build/$program" --help > help 2> err
	is "$?" 0 "$program --help: status 0"
	like "$(head -n 1 help)" "^usage: $program " "$program --help: usage"
	is "$(cat err)" "" "$program --help: nothing on stderr"
	is "$(awk 'length > 120' help)" "" "$program --help: fits a terminal"
	like "$("$build/$program" --version)" "^$program [0-9]+\.[0-9]+" "$program --version"
	wrong "$program --nonsense" "unknown option --nonsense" "$program" --nonsense
done

wrong "a letter nobody knows" "unknown option -Y" prof-record -Y
wrong "a mistyped name" "did you mean --output" prof-record --outptu=x
wrong "a letter of perf" "unknown option -i; the trace is named without it" prof-report -i x.prf
wrong "a name of perf" "unknown option --sort; -f top --by=WHAT" prof-report --sort=dso x.prf
wrong "no target" "(-p|command|COMMAND)" prof-record
wrong "children of nothing" "--children needs -p" prof-record --children -- true
wrong "children of threads" "--children needs -p" prof-record --children -t 1
wrong "-F 0" "-F|--freq" prof-record -F 0 -- true
wrong "-F text" "-F|--freq" prof-record -F many -- true
wrong "-p text" "-p|--pid" prof-record -p me
wrong "-d text" "-d|--duration" prof-record -d soon -- true
wrong "-z 99" "-z" prof-record -z 99 -- true
wrong "-m text" "-m" prof-record -m big -- true
wrong "a note that the recorder makes" "itself notes this key" prof-record -M host=mine -- true
for labels in service =web 'a=b,,c=d' 'a=b,host=mine'; do
	export PROF_LABELS="$labels"
	wrong "PROF_LABELS=$labels" "PROF_LABELS=$labels: (expected KEY=VALUE|the recorder itself)" prof-record -- true
done
unset PROF_LABELS
wrong "-o without FILE" "needs FILE" prof-record -o
wrong "an unknown format" "format|-f" prof-report -f nonsense x.prf
wrong "--normalize alone" "goes with --diff" prof-report --normalize x.prf
wrong "--safe-colors alone" "goes with --diff" prof-report -f html --safe-colors x.prf
wrong "--by of folded stacks" "goes with -f top" prof-report --by=comm x.prf
wrong "--limit of folded stacks" "goes with -f top" prof-report --limit=3 x.prf
wrong "neither kernel nor user" "leave nothing" prof-report --no-kernel --no-user x.prf
wrong "only scripts, and no user functions" "leave nothing" prof-report --script-only --no-user x.prf
wrong "first frames said twice" "go into its list" prof-report --pid --group-by=cpu x.prf
wrong "a list that became a path" "--pid=12" prof-report --pid 12
wrong "a folder that is not there" "--debug-dir ./nowhere: " prof-report --debug-dir=./nowhere x.prf
wrong "a root that is not there" "--sysroot ./nowhere: " prof-report --sysroot=./nowhere x.prf
wrong "too many runs before" "--diff 65: at most 64 runs before can be compared" prof-report $(seq -f --diff=%g 65) x.prf
wrong "too many folders" "--debug-dir 17: at most 16 folders can be searched" prof-report $(seq -f --debug-dir=%g 17) x.prf
wrong "--diff of a format for other programs" "cannot show a difference" prof-report --diff=a.prf -f pprof x.prf
wrong "--fail-on-regression alone" "goes with -f top --diff" prof-report --fail-on-regression=1 x.prf
wrong "--diff by thread" "threads have other numbers" prof-report --diff=a.prf -f top --by thread x.prf
wrong "--csv of a tree" "goes with -f top" prof-report -f tree --csv x.prf

"$build/prof-report" no-such.prf > out 2> err
is "$?" 1 "no such trace: status 1"
like "$(cat err)" "no-such.prf" "no such trace: names it"
: > empty.prf
"$build/prof-report" empty.prf > out 2> err
is "$?" 1 "an empty file: status 1"
like "$(cat err)" "empty.prf" "an empty file: names it"
head -c 4096 /dev/zero > zero.prf
"$build/prof-report" zero.prf > out 2> err
is "$?" 1 "no trace: status 1"
like "$(cat err)" "zero.prf.*not a (prof )?trace" "no trace: says so"
"$build/prof-report" . > out 2> err
is "$?" 1 "a folder: status 1"
like "$(cat err)" "[Dd]irectory" "a folder: says so"
finish
