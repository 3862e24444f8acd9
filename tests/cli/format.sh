#!/bin/sh
# All sources have the form that .clang-format describes. Versions of clang-format differ in how
# they break some lines, so only the one that the tree is written with is asked.
. "$(dirname "$0")/../lib.sh"
once_is_enough
cd "$top" || exit 1

for formatter in clang-format-14 clang-format; do
	"$formatter" --version 2> /dev/null | grep -q 'version 14\.' && break
	formatter=
done
[ -n "$formatter" ] || skip_all "no clang-format 14"

# unformatted FOLDER...: the sources in it that clang-format would change
unformatted() {
	find "$@" -name '*.[ch]' -exec "$formatter" --dry-run {} + 2>&1 |
		sed -n 's/: warning: code should be clang-formatted.*//p' | sort -u
}

is "$(unformatted common format record report bpf bench tests testdata)" "" \
	"every source is formatted; 'make format' does it"

cp .clang-format "$work"
printf 'int  one( void )\n{ return 1; }\n' > "$work/planted.c"
like "$(unformatted "$work")" '/planted\.c:1:' "a source that is not formatted is found"
finish
