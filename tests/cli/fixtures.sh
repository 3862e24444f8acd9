#!/bin/sh
# The traces of testdata/fixtures are read where nothing was recorded, with names.
. "$(dirname "$0")/../lib.sh"

cd "$top/testdata/fixtures" || exit 1

# fixture NAME FUNCTION...: its folded stacks hold these functions
fixture() {
	name=$1
	shift
	"$report" -q --no-cache -f folded "$name.prf" > "$work/folded" 2> "$work/errors"
	is "$?" 0 "$name.prf is read"
	for function in "$@"; do
		like "$(cat "$work/folded")" "(^|;)$function" "which names $function"
	done
	like "$(cat ../README.md)" "^\\| $name\\.prf \\|" "the README lists it"
	like "$(cat record.sh)" "^fixture $name " "and record.sh makes it"
	number "$(wc -c < "$name.prf") < 65536" "it is small"
	like "$("$report" --info "$name.prf" 2>&1)" 'fixtures' "the name of the machine is not in it"
}
fixture cpp 'clang::Parser::ParseExternalDeclaration' 'exc_page_fault'
fixture rust 'words::main' 'words::ordered'
fixture go 'main\.main' 'encoding/json\.'
fixture python '_PyEval_EvalFrameDefault' 'sre_ucs1_match'
fixture java 'JavaMain' 'SymbolTable::do_lookup'
fixture kernel 'entry_SYSCALL_64' 'read_zero'
fixture waits 'do_syscall_64'
is "$(ls ./*.prf | wc -l)" 7 "these are all"
finish
