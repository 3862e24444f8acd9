#!/bin/sh
# Both programs run without a memory error or a leak.
. "$(dirname "$0")/../lib.sh"
need_bpf
[ -z "${SAN:-}" ] || skip_all "sanitizers and valgrind exclude each other"
command -v valgrind > /dev/null || skip_all "there is no valgrind"
compile_c -O1 -g -fno-omit-frame-pointer -pthread -o "$work/burn" \
	"$top/tests/e2e/programs/burn.c"

# checked NAME COMMAND...: valgrind's own trouble (calls it does not know) is no failure
checked() {
	name=$1
	shift
	valgrind -q --error-exitcode=99 --leak-check=full --trace-children=no \
		--suppressions="$top/tests/e2e/valgrind.supp" "$@" > "$work/out" 2> "$work/err"
	status=$?
	case $status in
	0) ok "$name" ;;
	99) not_ok "$name" "$(grep -av WARNING "$work/err" | tail -n 60)" ;;
	*) skip "$name" "cannot run under this valgrind: status $status, $(tail -n 1 "$work/err")" ;;
	esac
}

checked "prof-record of a command" "$record" -q -F 199 -o "$work/command.prf" -- "$work/burn" 100 2
"$work/burn" 0 &
pid=$!
checked "prof-record of a process" "$record" -q -F 199 -d 0.5 -o "$work/process.prf" -p $pid
kill $pid
if [ -s "$work/command.prf" ]; then
	checked "prof-report" "$report" "$work/command.prf"
	checked "prof-report --info" "$report" --info "$work/command.prf"
else
	skip "prof-report" "nothing was recorded"
fi
finish
