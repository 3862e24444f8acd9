#!/bin/sh
# Functions that the compiler inlined are frames of their own, in every format.
. "$(dirname "$0")/../lib.sh"

command -v addr2line > /dev/null || skip_all "no addr2line to say where the inlined code is"
cat > "$work/inlines.c" <<'PROGRAM'
volatile unsigned sink;
static inline __attribute__((always_inline)) void leaf(unsigned n) { sink += n * 3; sink ^= n; }
static inline __attribute__((always_inline)) void middle(unsigned n) { leaf(n); sink += 7; }
__attribute__((noinline)) void outer(unsigned n) { middle(n); sink -= 1; }
int main(int argc, char **argv) { outer((unsigned)argc); return 0; }
PROGRAM
compile_c -O2 -g -o "$work/inlines" "$work/inlines.c"

# Its offset in the file: the first address of outer() that lies in leaf(), by another tool.
start=$(nm "$work/inlines" | awk '$3 == "outer" { print $1 }')
offset=$(python3 - "$work/inlines" "$start" <<'PYTHON'
import subprocess, sys
program, start = sys.argv[1], int(sys.argv[2], 16)
segments = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True).stdout
for line in segments.splitlines():
	words = line.split()
	if words[:1] == ["LOAD"] and int(words[2], 16) <= start < int(words[2], 16) + int(words[4], 16):
		shift = int(words[2], 16) - int(words[1], 16)
for address in range(start, start + 64):
	names = subprocess.run(["addr2line", "-fie", program, hex(address)], capture_output=True, text=True)
	if names.stdout.split("\n")[0:6:2] == ["leaf", "middle", "outer"]:
		print(hex(address - shift))
		break
PYTHON
)
need test -n "$offset"

cat > "$work/inlines.txt" <<TRACE
event 0 "cpu-clock" "samples" 999 0
object 0 "$work/inlines" "" ""
task 1 1 "inlines" "" ""
frame 0 2 $offset
stack - 0
sample 1000000000 0 0 0 0 1
sample 1001000000 0 0 0 0 1
finish
TRACE
holds "a trace of inlined code" "$build/testdata/trace_text" "$work/inlines.txt" -o "$work/t.prf"
show() { "$report" -q --no-cache "$@" "$work/t.prf"; }

is "$(show)" "inlines;outer;middle;leaf 2" "folded"
is "$(show --annotate)" "inlines;outer;middle_[i];leaf_[i] 2" "folded, annotated"
is "$(show --no-inlines)" "inlines;outer 2" "folded without inlines"

show -f speedscope -o "$work/speedscope"
is "$(json "$work/speedscope" '[d["shared"]["frames"][f]["name"] for f in d["profiles"][0]["samples"][0]]')" \
	"['outer', 'middle', 'leaf']" "speedscope"
show -f firefox -o "$work/firefox"
is "$(json "$work/firefox" '[(t["stringArray"][t["funcTable"]["name"][f]], i, s) for t in d["threads"]
	for f, i, s in zip(t["frameTable"]["func"], t["frameTable"]["inlineDepth"], t["frameTable"]["nativeSymbol"])]')" \
	"[('outer', 0, 0), ('middle', 1, 0), ('leaf', 2, 0)]" "firefox: three frames of one symbol"
if command -v go > /dev/null && go tool 2> /dev/null | grep -q pprof; then
	show -f pprof -o "$work/pprof"
	is "$(HOME=$work go tool pprof -traces "$work/pprof" 2> /dev/null |
		grep -oE '(leaf|middle|outer)( \(inline\))?$' | tr '\n' ' ')" "leaf (inline) middle (inline) outer " "pprof"
else
	skip "pprof" "no go tool pprof"
fi
show -f html -o "$work/html"
"$report" -q --no-cache "$work/t.prf" > "$work/folded"
if node -e 'process.exit(parseInt(process.versions.node) < 16 ? 1 : 0)' 2> /dev/null; then
	is "$(node "$top/tests/cli/views-html.js" "$work/html" "$work/folded" 2>&1)" good "html"
else
	skip "html" "no node, or an old one"
fi
finish
