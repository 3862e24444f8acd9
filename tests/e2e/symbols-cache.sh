#!/bin/sh
# With the cache a report is the same as without.
. "$(dirname "$0")/../lib.sh"

symbolize=$build/testdata/symbolize
need_tools gcc
cd "$work" || exit 1
cat > program.c <<'END'
volatile int sink;
static inline __attribute__((always_inline)) void inner(int x) { sink = x; sink = x * 2; }
__attribute__((noinline)) void outer(int x) { inner(x); sink = 1; }
int main(int argc, char **argv) { outer(argc); return 0; }
END
need gcc -g -O2 program.c -Wl,--build-id=sha1 -o program
nm program | sed -n 's/ [Tt] .*//p' > addresses
kept() { find "$XDG_CACHE_HOME/prof" -type f 2>/dev/null | wc -l; }
ask() { "$symbolize" "$@" program < addresses 2>/dev/null; }

plain=$(ask)
like "$plain" outer "named"
is "$(kept)" 0 "nothing is kept unasked"
is "$(ask -c)" "$plain" "first"
is "$(kept)" 1 "kept"
is "$(ask -c)" "$plain" "second"
is "$(ask -c -n)" "$(ask -n)" "other options"
is "$(kept)" 2 "are kept on their own"

# A damaged cache is ignored: the names are still right.
for file in "$XDG_CACHE_HOME"/prof/*; do
	printf 'outer\0wrong' | dd of="$file" bs=1 seek=60 conv=notrunc 2>/dev/null
done
is "$(ask -c)" "$plain" "damaged"
for file in "$XDG_CACHE_HOME"/prof/*; do : > "$file"; done
is "$(ask -c)" "$plain" "empty"
rm -rf "$XDG_CACHE_HOME"
: > "$XDG_CACHE_HOME"
is "$(ask -c)" "$plain" "no folder can be made"
rm -f "$XDG_CACHE_HOME"

# Many writers at once.
for i in 1 2 3 4 5 6; do
	ask -c > out.$i &
done
wait
different=0
for i in 1 2 3 4 5 6; do
	[ "$(cat out.$i)" = "$plain" ] || different=$((different + 1))
done
is "$different" 0 "six at once"
is "$(kept)" 1 "leave one file"

# A debug file that comes later counts.
cp program whole
strip program
bare=$(ask -c)
unlike "$bare" inner "stripped"
id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
rest=${id#??}
mkdir -p "debug/.build-id/${id%"$rest"}"
cp whole "debug/.build-id/${id%"$rest"}/$rest.debug"
is "$(ask -c -d "$work/debug")" "$plain" "a debug file that was not there before"

# Names whose parts are in a file of dwz are kept once that was there, and are then read.
rm -rf "$XDG_CACHE_HOME"
# A new one is another file; that it was used shows in its times.
written() { stat -c '%n %i' "$XDG_CACHE_HOME"/prof/* 2>/dev/null; }
if command -v dwz >/dev/null && cp whole program && cp whole second &&
	dwz -m "$work/common.debug" program second 2>log && [ -s common.debug ]; then
	mv common.debug away
	ask -c > /dev/null
	is "$(kept)" 0 "without the file of dwz nothing is kept"
	mv away common.debug
	is "$(ask -c)" "$plain" "a file of dwz"
	is "$(kept)" 1 "its names are kept"
	before=$(written)
	is "$(ask -c)" "$plain" "and found"
	is "$(written)" "$before" "without being looked up and written again"
else
	skip "names of dwz" "$(head -n 1 log 2>/dev/null)"
fi

# --no-cache.
rm -rf "$XDG_CACHE_HOME"
need "$build/testdata/make_trace" -n 100 --object "$work/whole" -o trace.prf
first=$("$report" -q --no-cache trace.prf)
like "$first" 'main|outer' "a trace of it is named"
is "$(kept)" 0 "--no-cache keeps nothing"
is "$("$report" -q trace.prf)" "$first" "as without"
is "$("$report" -q trace.prf)" "$first" "and from the cache"
finish
