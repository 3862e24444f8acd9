# Sourced after lib.sh by scripts about programs of a runtime.

# build_python: the library whose function the programs call; sets `programs`.
build_python() {
	[ "$(uname -m)" = x86_64 ] || skip_all "the thread's state is found on x86-64"
	programs="$top/tests/e2e/programs/python"
	compile_c -O2 -shared -fPIC -o "$work/libmark.so" "$programs/mark.c"
}

# each_python COMMAND: calls COMMAND VERSION PYTHON for the system's CPython and those of pyenv, once for
# each version. With sanitizers one is enough: versions differ in offsets, which take no path of their own.
each_python() {
	found=0
	versions=
	for python in "$(command -v /usr/bin/python3)" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
		[ -x "$python" ] || continue
		version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
		case $version in
		3.8 | 3.9 | 3.10 | 3.11 | 3.12 | 3.13 | 3.14) ;;
		*) continue ;;
		esac
		case "$versions " in *" $version "*) continue ;; esac
		versions="$versions $version"
		found=$((found + 1))
		"$1" "$version" "$python"
		[ -z "${SAN:-}" ] || break
	done
	[ $found -gt 0 ] || skip "CPython 3.8 to 3.14" "none is installed"
}

# build_ruby: the same for Ruby; sets `version`, too. Skips the script where there is none.
build_ruby() {
	need_tools ruby
	[ "$(uname -m)" = x86_64 ] || skip_all "the thread's state is found on x86-64"
	version=$(ruby -e 'puts RUBY_VERSION[/\d+\.\d+/]')
	case $version in
	3.0 | 3.1 | 3.2 | 3.3) ;;
	*) skip_all "Ruby 3.0 to 3.3 (here is $version)" ;;
	esac
	ruby -r fiddle -r json -e 1 2> "$work/errors" || skip_all "ruby cannot load fiddle and json"
	programs="$top/tests/e2e/programs/ruby"
	compile_c -O2 -shared -fPIC -o "$work/libmark.so" "$top/tests/e2e/programs/python/mark.c"
}

# build_php: the same for PHP; sets `php`, the command, which may be another one (PHP), as of another root.
build_php() {
	php=${PHP:-php}
	export PHP="$php"
	need_tools "${php%% *}"
	[ "$(uname -m)" = x86_64 ] || skip_all "PHP's loop is found on x86-64"
	version=$($php -n -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION, PHP_ZTS ? " for threads" : "";')
	case $version in
	8.1 | 8.2 | 8.3 | 8.4) ;;
	*) skip_all "PHP 8.1 to 8.4, not for threads (here is $version)" ;;
	esac
	$php -r 'FFI::cdef("int getpid(void);")->getpid(); pcntl_waitpid(-1, $status);' 2> "$work/errors" ||
		skip_all "php cannot load FFI and pcntl"
	programs="$top/tests/e2e/programs/php"
	compile_c -O2 -shared -fPIC -o "$work/libmark.so" "$top/tests/e2e/programs/python/mark.c"
}

# start_waiting COMMAND...: starts a program that makes the file $READY, and then reads a byte of its
# standard input before it does what is to be recorded.
waiting=
start_waiting() {
	if [ -z "$waiting" ]; then
		rm -f "$work/go" "$work"/ready.*
		mkfifo "$work/go"
		exec 3<> "$work/go"
	fi
	READY=$(mktemp -u "$work/ready.XXXXXX")
	export READY
	"$@" < "$work/go" 3>&- &
	waiting=$waiting${waiting:+,}$!
	for _ in $(seq 300); do [ -e "$READY" ] || sleep 0.1; done
}

# record_waiting TRACE OPTION...: records all that start_waiting has started, until they have ended.
# They go on when the recorder knows them: it starts its command after that.
record_waiting() {
	trace=$1
	shift
	"$record" -q -o "$trace" "$@" -p "$waiting" -- sh -c 'echo "$1" >&3; exec sleep 120' sh "$waiting"
	status=$?
	exec 3>&-
	# Where the recorder has failed, they still wait.
	[ $status = 0 ] || kill $(echo "$waiting" | tr , ' ') 2> /dev/null
	wait $(echo "$waiting" | tr , ' ')
	# Python -X perf leaves it.
	for pid in $(echo "$waiting" | tr , ' '); do rm -f "/tmp/perf-$pid.map"; done
	waiting=
	return $status
}

# through_new_libraries WHAT COMMAND...: COMMAND, a new_libraries program, is interrupted in what
# libraries call that were loaded a moment before. There is no table for these then, so the recorder
# ends the walk; not if it gets no CPU time just then, so it may try again.
through_new_libraries() {
	what=$1
	shift
	compile_c -O2 -fPIC -c -o "$work/new.o" "$top/tests/e2e/programs/python/mark.c"
	rm -f "$work"/new?.so
	for i in 1 2 3 4 5 6 7 8; do
		compile_c -shared -Wl,--build-id=0x1000000$i -o "$work/new$i.so" "$work/new.o"
	done
	for try in 1 2 3; do
		start_waiting "$@" "$work/libmark.so" "$work"/new?.so
		need record_waiting "$work/new.prf" -e "uprobe:$work/libmark.so:mark"
		"$report" -q -f jsonl "$work/new.prf" > "$work/samples"
		whole=$(whole_stacks "$work/samples")
		[ "$whole" = 0 ] || break
	done
	number "$whole >= 1 && $whole <= 8" "$what: stacks through new libraries are whole ($whole of 8)"
}

# whole_stacks SAMPLES: how many stacks of a new_libraries program go on to the root.
whole_stacks() {
	python3 - "$1" <<-'END'
	import json, re, sys
	stacks = [json.loads(line)["stack"] for line in open(sys.argv[1])]
	names = [";".join(f["name"] for f in reversed(stack)) for stack in stacks if stack[-1]["kind"] != "end"]
	pattern = r"_start;.*;(<module>|<main>;each;.*;block in <main>|\{main\});(.*;)?outer;(.*;)?inner;(.*;)?call_back;mark$"
	print(sum(re.search(pattern, name) is not None and "EvalFrameDefault" not in name for name in names))
	END
}

# build_java SOURCE...: the classes and the native library that they call; sets `home`, where Java
# is, and `programs`.
build_java() {
	need_tools javac
	[ "$(uname -m)" = x86_64 ] || skip_all "the walk through Java code is for x86-64"
	home=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
	programs="$top/tests/e2e/programs/java"
	[ -e "$home/include/jni.h" ] || skip_all "no jni.h"
	compile_c -O2 -shared -fPIC -I"$home/include" -I"$home/include/linux" -o "$work/libnative.so" \
		"$programs/native.c"
	need javac -d "$work" "$@"
}

# short_programs NAME TRACE SLEEP: some of the programs of 50 ms in the trace have samples in sum_up(), with
# all names, and some a wait in SLEEP called by rest().
short_programs() {
	"$report" -q -f jsonl --wall "$2" > "$work/samples"
	is "$(python3 - "$work/samples" "$3" <<'END'
import json, sys
named, waits, unnamed = set(), set(), 0
for line in open(sys.argv[1]):
    sample = json.loads(line)
    names = [f["name"] for f in sample.get("stack", []) if f["kind"] == "script"]
    if "sum_up" in names:
        named.add(sample["pid"])
        unnamed += "[script]" in names
    if names[:2] == [sys.argv[2], "rest"]:
        waits.add(sample["pid"])
print(len(named) > 0, len(waits) > 0, unnamed)
END
)" "True True 0" "$1: programs of 50 ms have their functions, and their waits"
}
