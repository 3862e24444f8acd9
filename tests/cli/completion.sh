#!/bin/sh
# Completion in each shell: a line and the tab key are typed, and what became of the line is compared.
. "$(dirname "$0")/../lib.sh"
cd "$work" || exit 1
export PATH="$build:$PATH"
cp "$top/testdata/fixtures/cpp.prf" cpp.prf
mkdir scripts folder
for program in prof-record prof-report prof-bench; do
	need "$build/$program" --completion > scripts/$program
	need "$build/$program" --completion=zsh > scripts/_$program
	need "$build/$program" --completion=fish > scripts/$program.fish
done
is "$("$build/prof-report" --completion=bash)" "$(cat scripts/prof-report)" "bash is what is printed for no shell"
"$build/prof-report" --completion=ksh > out 2>&1
is $? 2 "another shell is refused"

# Every word that is offered for a format is one, and --help names no other.
formats=$(sed -n 's/.*--format=) .*printf "%s\\n" \([a-z ]*\); }.*/\1/p' scripts/prof-report)
is "$("$build/prof-report" --help | sed -n '/--format=FORMAT/,/-o,/p' | grep -oE '(folded|top|tree|annotate|html|pprof|firefox|speedscope|script|jsonl|parquet)' | tr '\n' ' ')" \
	"$formats " "the formats are those of --help"
for format in $formats; do
	holds "-f $format is a format" "$build/prof-report" -f "$format" --version
done

# What is typed, and what it becomes. The lines are as long as the terminal is wide.
cat > lines << END
prof-report -f fo > prof-report -f folded
prof-report --format=fo > prof-report --format=folded
prof-report cpp.prf --comm=cl > prof-report cpp.prf --comm=clang++
prof-report cpp.prf --comm cl > prof-report cpp.prf --comm clang++
prof-report cpp.prf --pid=231 > prof-report cpp.prf --pid=23111
prof-report cpp.prf --event=cpu > prof-report cpp.prf --event=cpu-clock
prof-report --group-by comm,pi > prof-report --group-by comm,pid
prof-report --group-by=comm,pi > prof-report --group-by=comm,pid
prof-report --color=al > prof-report --color=always
prof-report --norm > prof-report --normalize
prof-report cp > prof-report cpp.prf
prof-report -o cp > prof-report -o cpp.prf
prof-report --sysroot=fol > prof-report --sysroot=folder/
prof-bench gat > prof-bench gate
prof-record -p $$ > prof-record -p $$
prof-record --pid=1,$$ > prof-record --pid=1,$$
prof-record -e page-faults,minor > prof-record -e page-faults,minor-faults
prof-record -ecpu-cl > prof-record -ecpu-clock
prof-record --unwind=ta > prof-record --unwind=tables
prof-record -F 9 -- prof-ben > prof-record -F 9 -- prof-bench
prof-record -q prof-ben > prof-record -q prof-bench
prof-record -- cat cp > prof-record -- cat cpp.prf
END

# compare SHELL: the third column of "typed > expected > got"
compare() {
	while IFS= read -r line; do
		typed=${line%% > *}
		expected=${line#* > }
		expected=${expected%% > *}
		got=${line##* > }
		# Where a value or a name in a folder may follow, shells differ in what they leave at the end.
		is "${got%/}" "${expected%/}" "$1: $typed"
	done
}

# A name that the shell would run, and names that CSV has with an apostrophe before them.
cat > evil.txt << 'END'
event 0 "cpu-clock" "samples" 1000 0
object 0 "/bin/it" "" ""
task 100 100 "ev$(id)" "" ""
frame 0 0 0x1000
stack - 0
sample 1000000000 0 0 0 0 1
task 101 101 "+plus" "" ""
sample 1000000001 1 0 0 0 1
task 102 102 "-minus" "" ""
sample 1000000002 2 0 0 0 1
finish
END
need "$build/testdata/trace_text" evil.txt -o evil.prf

for shell in bash zsh; do
	if ! command -v $shell > /dev/null; then
		skip "completion in $shell" "there is no $shell"
		continue
	fi
	sed 's/ > .*//' lines | tr '\n' '\0' | xargs -0 "$top/tests/cli/completion.py" $shell "$work/scripts" > got 2> err
	is "$? $(cat err)" "0 " "$shell answers"
	paste -d '>' lines got | sed 's/>\([^>]*\)$/ > \1/' > all
	compare $shell < all
	is "$("$top/tests/cli/completion.py" $shell "$work/scripts" 'prof-report evil.prf --comm=ev')" \
		'prof-report evil.prf --comm=ev\$\(id\)' "$shell: a name from a trace is quoted"
	for name in +plus -minus; do
		is "$("$top/tests/cli/completion.py" $shell "$work/scripts" "prof-report evil.prf --comm=${name%???}")" \
			"prof-report evil.prf --comm=$name" "$shell: $name"
	done
done
if command -v fish > /dev/null; then
	# fish completes without a terminal: the word that takes the last one's place.
	sed 's/ > .*//' lines | while IFS= read -r line; do
		word=$(HOME=$work XDG_DATA_HOME=$work fish --no-config -c \
			"for f in scripts/*.fish; source \$f; end; complete -C '$line'" < /dev/null | head -n 1 | cut -f 1)
		echo "${line% *} $word"
	done > got
	paste -d '>' lines got | sed 's/>\([^>]*\)$/ > \1/' > all
	compare fish < all
else
	skip "completion in fish" "there is no fish"
fi
finish
