#!/bin/sh
# Every source has a unit test of its name, or a line in tests/covered-by.txt that says which
# test runs it. The list holds nothing superfluous.
. "$(dirname "$0")/../lib.sh"
once_is_enough
cd "$top" || exit 1

list=$work/list
grep -v '^#' tests/covered-by.txt > "$list"

# matches SOURCE PATTERN: a "*" stands for names in one folder, not below it
matches() {
	[ "${1%/*}" = "${2%/*}" ] || return 1
	# shellcheck disable=SC2254
	case ${1##*/} in ${2##*/}) return 0 ;; *) return 1 ;; esac
}

# test_of SOURCE: the test that the list says, or nothing
test_of() {
	while read -r pattern test; do
		if matches "$1" "$pattern"; then
			echo "$test"
			return
		fi
	done < "$list"
}

# sources FOLDER...: what has no unit test of its name
sources() {
	find "$@" -name '*.c' ! -name '*.bpf.c' | sort | while read -r source; do
		[ -e "tests/unit/test_$(basename "$source" .c).c" ] || echo "$source"
	done
}

sources common format record report bench > "$work/sources"
without=$(while read -r source; do
	[ -n "$(test_of "$source")" ] || echo "$source"
done < "$work/sources")
is "$without" "" "every source has a test of its name, or a line in tests/covered-by.txt"
is "$(test_of common/planted.c)" "" "a new source that has neither is found"

superfluous=$(while read -r pattern test; do
	found=$(while read -r source; do matches "$source" "$pattern" && echo "$source"; done < "$work/sources")
	[ -n "$found" ] || echo "$pattern"
done < "$list")
is "$superfluous" "" "every line is about a source that has no test of its name"

missing=$(while read -r pattern test; do
	case $test in
	tests/*) [ -x "$test" ] || echo "$test" ;;
	*) [ -e "tests/unit/test_$test.c" ] || echo "$test" ;;
	esac
done < "$list")
is "$missing" "" "every test that it names exists"
finish
