#!/bin/sh
# Processes that run already, deleted files, and many programs that live only briefly.
. "$(dirname "$0")/../lib.sh"
need_bpf
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

# 100 programs one after the other, each of them new.
holds "many short programs are recorded" "$record" -q -F 1999 -o "$work/short.prf" -- \
	sh -c "i=0; while [ \$i -lt 100 ]; do $work/stacks outer 10; i=\$((i + 1)); done"
number "$(share "$work/short.prf") >= 60" "most of their stacks reach the root ($(share "$work/short.prf") %)"
finish
