#!/bin/sh
# tests/run itself: what it cannot run fails, and so does a script whose tools are broken.
. "$(dirname "$0")/../lib.sh"
once_is_enough
cd "$top" || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES

is "$(grep -L '^need_bpf' $(grep -lE '\$(record|\{record)' tests/e2e/*.sh))" "" "each test that records says so"

# fails NAME LAST-LINE ARGUMENT...: tests/run with the arguments ends with status 1 and these counts
fails() {
	name=$1 expected=$2
	shift 2
	BUILD=$broken tests/run "$@" > "$work/log" 2>&1
	is "$?" 1 "$name: status 1"
	like "$(tail -n 1 "$work/log")" "^$expected\$" "$name: counted"
}

broken=$build
fails "a test that does not exist" "0 passed, 1 failed, 0 skipped" nosuchtest
fails "a script that does not exist" "0 passed, 1 failed, 0 skipped" tests/cli/nosuchtest.sh
fails "... beside one that passes" "[1-9][0-9]* passed, 1 failed, 0 skipped" nosuchtest buffer

mkdir "$work/full"
printf '#!/bin/sh\nexit 1\n' > "$work/full/mkdir"
chmod +x "$work/full/mkdir"
PATH=$work/full:$PATH fails "a test that cannot be begun" "0 passed, 1 failed, 0 skipped" buffer

mkdir "$work/empty"
broken=$work/empty
fails "unit tests that were not built" "0 passed, 1 failed, 0 skipped" unit

broken=$build
# The end names what has failed, and nothing else.
cat > "$work/some.sh" <<'END'
#!/bin/sh
echo 'ok 1 - good'
printf 'not ok 2 - bad\n# because\nnot ok 3 - odd # SKIP\n# whatever\nskip 4 - gone: away\n'
exit 1
END
printf '#!/bin/sh\necho "ok 1 - fine"\nexit 3\n' > "$work/status.sh"
chmod +x "$work/some.sh" "$work/status.sh"
away=tests/../$(realpath --relative-to=. "$work")
fails "a script of which some fails" "1 passed, 1 failed, 2 skipped" "$away/some.sh"
fails "some of several" "7 passed, 3 failed, 2 skipped" "$away/some.sh" "$away/status.sh" buffer nosuchtest
is "$(grep '^failed: ' "$work/log")" "failed: $away/some.sh: not ok 2 - bad
failed: $away/some.sh: # because
failed: $away/status.sh: exit status 3
failed: nosuchtest: there is no such test" "what has failed is named once more"
is "$(tail -n 5 "$work/log" | cut -d' ' -f1 | xargs)" "failed: failed: failed: failed: 7" "... at the end"
is "$(grep -c '^slowest: [0-9]* s [^ ]*$' "$work/log")" 3 "so are the slowest tests"

# What a sanitizer finds in a process fails the script, also where nobody sees its messages or its status.
cat > "$work/wrong.c" <<'END'
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int n = INT_MAX;
static void *add(void *other)
{
	n++;
	return other;
}
/* thread: two that add; address: memory of which there is none, as another user; undefined: an overflow */
int main(int argc, char **argv)
{
	volatile char *memory = malloc(1);
	pthread_t thread;

	if (*argv[1] == 't')
		pthread_create(&thread, NULL, add, NULL);
	if (*argv[1] == 'a' && (getuid() || !setuid(65534)))
		return memory[argc];
	add(NULL);
	if (*argv[1] == 't')
		pthread_join(thread, NULL);
	return 0;
}
END
# finds SAN WHAT REPORT: with -fsanitize=SAN as the Makefile has it
finds() {
	flags=$(make -pn SAN=$1 CC="$cc" | sed -n 's/^PROF_CFLAGS :*= .*\(-fsanitize=\)/\1/p' | grep -oE -- '-fsanitize-?[^ ]*|-fno-sanitize[^ ]*')
	accepts $cc $flags || { skip "what SAN=$1 finds in a child: $2" "$cc has none of it"; return; }
	need $cc -w -g -pthread $flags -o "$work/wrong" "$work/wrong.c"
	printf '#!/bin/sh\n%s > /dev/null 2>&1 &\nwait\necho "ok 1 - fine"\n' "$work/wrong $2" > "$work/child.sh"
	chmod +x "$work/child.sh"
	fails "what SAN=$1 finds in a child: $2" "1 passed, 1 failed, 0 skipped" "$away/child.sh"
	like "$(cat "$work/log")" "^failed: $away/child.sh: # .*($3)" "... is named"
}
finds address,undefined address 'AddressSanitizer: heap-buffer-overflow'
finds address,undefined undefined 'AddressSanitizer: ILL|runtime error: signed integer overflow'
finds thread thread 'ThreadSanitizer: data race'

# Of three scripts the one that says so runs alone, when the others have ended.
mkdir -p "$work/three/tests/e2e"
cp tests/run "$work/three/tests/run"
printf '#!/bin/sh\nmkdir "$0.runs"\nsleep 0.2\nrmdir "$0.runs"\necho "ok 1 - beside others"\n' > "$work/three/tests/e2e/beside.sh"
cp "$work/three/tests/e2e/beside.sh" "$work/three/tests/e2e/beside-too.sh"
cat > "$work/three/tests/e2e/alone.sh" <<'END'
#!/bin/sh
need_bpf() { :; }
need_bpf alone
for i in 1 2 3 4 5; do
	! ls -d tests/e2e/*.runs 2> /dev/null || echo "not ok $i - alone"
	sleep 0.1
done
echo 'ok 6 - alone'
END
chmod +x "$work"/three/tests/e2e/*
is "$("$work/three/tests/run" e2e | tail -n 1)" "3 passed, 0 failed, 0 skipped" "a script that says so runs alone"

# All of CI, with other commands: one stage fails in a test, one cannot be built, one fails often.
mkdir -p "$work/ci/.ci" "$work/tools"
cp .ci/run "$work/ci/.ci/run"
cat > "$work/tools/make" <<'END'
#!/bin/sh
case "$MAKES $*" in
good*) echo '2 passed, 0 failed, 0 skipped' ;;
*build-clang*) echo 'x.c:1: error: no such thing'; exit 2 ;;
*build-san*) for i in $(seq 20); do echo "failed: tests/cli/y.sh: not ok $i - worse"; done; echo '1 passed, 20 failed, 0 skipped'; exit 2 ;;
*) printf '    not ok 7 - first\nfailed: tests/cli/x.sh: not ok 7 - first\n5 passed, 1 failed, 2 skipped\n'; seq 200; exit 2 ;;
esac
END
printf '#!/bin/sh\n[ $# = 2 ] && [ -z "$SLOW" ] || { echo "$SAYS"; exec sleep 600; }\n' > "$work/ci/.ci/root"
cp "$work/tools/make" "$work/tools/debootstrap"
chmod +x "$work"/tools/* "$work/ci/.ci/root"
ROOM=1 SLOW=yes PATH=$work/tools:$PATH "$work/ci/.ci/run" > "$work/log" 2>&1
is "$?" 1 "CI of which stages fail: status 1"
is "$(tail -n 1 "$work/log")" "6 passed, 22 failed, 3 skipped" "... counted"
is "$(tail -n 16 "$work/log" | head -n 3)
$(tail -n 2 "$work/log" | head -n 1)" "gcc! failed: tests/cli/x.sh: not ok 7 - first
clang! x.c:1: error: no such thing
sanitizers! failed: tests/cli/y.sh: not ok 1 - worse
sanitizers! ... 8 more lines" "... and its end names what failed in each stage"
export MAKES=good
END=0 PATH=$work/tools:$PATH SAYS="    ok 1 - good" "$work/ci/.ci/run" > "$work/log" 2>&1
is "$?: $(tail -n 1 "$work/log")" "0: 6 passed, 0 failed, 1 skipped" "a last stage that would take too long is skipped"
END=0 PATH=$work/tools:$PATH SAYS="tests/unit/test_bad  0 passed, 1 failed, 0 skipped" "$work/ci/.ci/run" > "$work/log" 2>&1
is "$?: $(tail -n 2 "$work/log")" "1: debian13! tests/unit/test_bad  0 passed, 1 failed, 0 skipped
6 passed, 1 failed, 0 skipped" "... unless something has failed by then"

# A program of ours that does not compile is a failure; a machine without a compiler is not.
if command -v addr2line > /dev/null; then
	CC=false fails "a test program that does not compile" "0 passed, 1 failed, 0 skipped" tests/cli/views-inlines.sh
else
	skip "a test program that does not compile" "its test needs addr2line"
fi
output=$(CC=no-compiler-has-this-name tests/run tests/cli/views-inlines.sh)
like "$(printf '%s' "$output" | tail -n 1)" '^0 passed, 0 failed, 1 skipped$' "no compiler: skipped"

# A build of which only the tools that make and print traces fail.
broken=$work/broken
mkdir -p "$broken/testdata"
ln -s "$build"/prof-* "$broken"
for tool in make_trace trace_text print_trace; do ln -s "$work/full/mkdir" "$broken/testdata/$tool"; done
for script in $(grep -lE 'testdata/(make_trace|trace_text|print_trace)' tests/cli/*.sh); do
	[ "$script" != tests/cli/runner.sh ] || continue
	fails "$script without its tools" "[0-9]+ passed, [1-9][0-9]* failed, [0-9]+ skipped" "$script"
done
finish
