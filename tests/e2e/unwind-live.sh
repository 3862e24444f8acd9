#!/bin/sh
# Processes that run already, deleted files, and many programs that live only briefly.
. "$(dirname "$0")/../lib.sh"
need_bpf alone
compile_c -O2 -g -fomit-frame-pointer -pthread -o "$work/stacks" \
	"$top/tests/e2e/programs/stacks.c" -ldl

share() {
	"$report" --info --json "$1" > "$work/info.json"
	json "$work/info.json" '"%.2f" % (100 * d["user_stacks"]["root"] / max(1, sum(d["user_stacks"].values())))'
}

# A process whose file has no name any more when the recording begins.
cp "$work/stacks" "$work/gone"
"$work/gone" outer 60000 &
pid=$!
tries=0
until [ "$(readlink /proc/$pid/exe)" = "$work/gone" ] || [ $tries -gt 300 ]; do sleep 0.1; tries=$((tries + 1)); done
rm "$work/gone"
holds "a deleted program is recorded" "$record" -q -F 999 -d 1 -o "$work/gone.prf" -p $pid
kill $pid
number "$(share "$work/gone.prf") >= 90" "its stacks reach the root ($(share "$work/gone.prf") %)"

# Libraries that nobody has seen before, called before their tables can have been made.
cat > "$work/calls.c" <<'END'
#include <dlfcn.h>
volatile int n;
__attribute__((noinline)) void probed(void) { n++; }
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void (*call_back)(void (*)(void)) = dlsym(dlopen(argv[i], RTLD_NOW), "call_back");
		call_back(probed);
	}
	return 0;
}
END
compile_c -O2 -fomit-frame-pointer -o "$work/calls" "$work/calls.c" -ldl
for i in 1 2 3 4 5 6 7 8; do
	printf 'volatile int n;\nvoid call_back(void (*f)(void)) { volatile char room[%d]; room[0] = 0; f(); n++; }\n' $((i * 100)) |
		"${CC:-cc}" -O2 -fPIC -shared -fomit-frame-pointer -x c -o "$work/new$i.so" -
done
if [ -e /sys/bus/event_source/devices/uprobe ]; then
	# The recorder ends these walks, unless it gets no CPU time just then: it may try again.
	for try in 1 2 3; do
		need "$record" -q -e "uprobe:$work/calls:probed" -o "$work/new.prf" -- "$work/calls" "$work"/new?.so
		whole=$("$report" -q "$work/new.prf" | sed -n 's/^calls;_start;.*;main;call_back;probed \([0-9]*\)$/\1/p')
		[ "$whole" != 8 ] || break
	done
	is "$whole" 8 "stacks through new libraries are whole"
else
	skip "stacks through new libraries are whole" "this kernel has no uprobes"
fi

# 100 programs one after the other.
holds "many short programs are recorded" "$record" -q -F 1999 -o "$work/short.prf" -- \
	sh -c "i=0; while [ \$i -lt 100 ]; do $work/stacks outer 10; i=\$((i + 1)); done"
number "$(share "$work/short.prf") >= 90" "their stacks reach the root ($(share "$work/short.prf") %)"
finish
