#!/bin/sh
# Tiny traces, good and bad: their descriptions say what a reader must find in them.
. "$(dirname "$0")/../lib.sh"
cd "$top" || exit 1
tool=$build/testdata/trace_text
print=$build/testdata/print_trace
need test -x "$tool"
need test -x "$print"

# What print_trace says, in the words of the "#=" lines.
summary() {
	printf '%s samples, %s\n' "$(grep -c '^sample ' "$1")" \
		"$(grep -q '^finish' "$1" && echo finished || echo not finished)"
	sed -n 's/^# //p' "$1"
}

for description in testdata/good-*.txt testdata/bad-*.txt testdata/unsupported-*.txt; do
	name=$(basename "$description" .txt)
	if ! "$tool" "$description" -o "$work/$name.prf" 2> "$work/errors"; then
		not_ok "$name: can be made" "$(cat "$work/errors")"
		continue
	fi
	"$print" "$work/$name.prf" > "$work/$name.print" 2>&1
	expected=$(sed -n 's/^#= //p' "$description")
	got=$(summary "$work/$name.print")
	is "$got" "$expected" "$name"
	"$report" --check "$work/$name.prf" > "$work/check" 2>&1
	status=$?
	case $name in
	good-unfinished | bad-* | unsupported-*) is "$status" 1 "$name: --check finds it" ;;
	*) is "$status" 0 "$name: --check is content" ;;
	esac
	grep -qF "| $name.txt |" testdata/README.md || not_ok "$name: a line in testdata/README.md"
done

# Compressed, the good ones have the same content.
for description in testdata/good-*.txt; do
	name=$(basename "$description" .txt)
	grep -qE '^(payload|insert)' "$description" && continue
	"$tool" -z 3 "$description" -o "$work/z.prf" && "$print" "$work/z.prf" > "$work/z.print"
	is "$(cat "$work/z.print")" "$(cat "$work/$name.print")" "$name compressed"
done

# What was printed describes the same trace again.
"$tool" "$work/good-everything.print" -o "$work/again.prf"
"$print" "$work/again.prf" > "$work/again.print"
is "$(sort "$work/again.print")" "$(sort "$work/good-everything.print")" "a printed trace can be made again"

# Through a pipe it reads as from a file.
is "$(cat "$work/good-everything.prf" | "$print" /dev/stdin)" \
	"$(cat "$work/good-everything.print")" "a pipe reads like a file"

# Definitions that are gone are called lost, and never something else.
for what in objects frames stacks; do
	like "$(cat "$work/bad-lost-$what.print")" '^object 7 "\[lost\]"' "lost $what have a name"
done
like "$(cat "$work/bad-lost-tasks.print")" '^task 0 0 "\[lost\]"' "lost tasks have a name"
like "$(cat "$work/bad-lost-tasks.print")" '^event 3 "\[lost\]"' "lost events have a name"
is "$(grep '^sample' "$work/bad-lost-tasks.print")" "$(grep '^sample' "$work/good-small.print")" \
	"samples stay when their definitions are lost"
finish
