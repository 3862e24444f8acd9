#!/bin/sh
# -f annotate: source and instructions of a function with their hits, to the letter, and what it says
# where there is no source, no file, or no function.
. "$(dirname "$0")/../lib.sh"
need_tools readelf
[ "$(uname -m)" = x86_64 ] || skip_all "the program is one of x86_64"
here=$top/tests/cli/annotate
cd "$work" || exit 1

compile_c -nostdlib -static -no-pie -o program "$here/work.s" \
	-Wl,--build-id=0x0102030405060708090a0b0c0d0e0f1011121314,-Ttext=0x401000,-e,work
# section FIELD: of .text, from its number in brackets on
section() { readelf -SW program | sed -n 's/^ *\[ *[0-9]*\] \(\.text .*\)/\1/p' | awk "{ print \$$1 }"; }
offset=$(printf %d "0x$(section 4)")
cp program other
sed "s|PROGRAM|$work/program|; s|OTHER|$work/other|" "$here/trace.txt" |
	awk -v at="$offset" '{ if (match($0, /WORK\+[0-9]+/))
		$0 = substr($0, 1, RSTART - 1) (at + substr($0, RSTART + 5, RLENGTH - 5)); print }' > trace.txt
need "$build/testdata/trace_text" trace.txt -o trace.prf
mkdir -p src/deep
cp "$here/work.c.txt" src/deep/work.c
cp "$here/leaf.h.txt" src/deep/leaf.h

annotate() { "$report" -q -f annotate --source-dir "$work/src/deep" "$@" trace.prf; }
# shows NAME OPTIONS...
shows() {
	name=$1
	shift
	annotate "$@" 2>&1 | sed "s|$work|WORK|" | golden "$here/$name.expected" "$name: prof-report -f annotate $*"
}

disassembler=$("$top/.ci/disassembler")
if [ -n "$disassembler" ]; then
	shows work --function work
	shows work-all --function work --min 0
	is "$(annotate | head -1)" "$(annotate --function work | head -1)" "without --function: the one with most samples"
	like "$(annotate --function helper)" '^ 25\.00 +4 +25\.00 +4 +40102a +ret$' "a function without lines has instructions"
	# Each row of an instruction: what there is of self adds up to what the function has itself.
	is "$(annotate --function work --min 0 | sed -n '/address/,$p' |
		cut -c 8-14 | awk '{ n += $1 } END { print n }')" \
		5 "instructions add up: self, with what is inlined"
else
	skip "instructions" "libopcodes is not here"
fi

like "$("$report" -f annotate work trace.prf 2>&1 && echo shown)" \
	'^prof-report: work: no such file; a function is given as --function=work; see prof-report --help$' \
	"a function in the place of a trace"
mkdir none
for missing in "" gone.prf ./gone; do
	like "$(cd none && "$report" -f annotate $missing 2>&1 < /dev/null)" \
		'^prof-report: (trace.prf|gone.prf|./gone): no such file; prof-record -o ' "... which $missing is not"
done

# What changed: 100 samples more at add, in the same build.
grow() { awk -v stack="$1" '/^finish/ { for (i = 0; i < 100; i++) print "sample", 1100000000 + i * 1000000, 0, 0, stack, 0, 1 } { print }'; }
grow 2 < trace.txt > grown.txt
need "$build/testdata/trace_text" grown.txt -o grown.prf
changes() { "$report" -q -f annotate --source-dir "$work/src/deep" --function work "$@"; }
if [ -n "$disassembler" ]; then
	changes --diff trace.prf grown.prf | sed "s|$work|WORK|" | golden "$here/diff.expected" \
		"what changed: prof-report -f annotate --diff"
	like "$(changes --diff grown.prf trace.prf | grep 'L1:')" '^     0\.103     0\.003    -0\.100 .* <0\.00001\*' "... and back"
	is "$(changes --diff trace.prf --diff trace.prf trace.prf trace.prf grown.prf | sed -n 2p)" \
		"# before: 2 runs of 0.016 s; now: 3 runs of 0.049 s" "... of several runs"
	is "$(changes --diff trace.prf trace.prf | grep -c '[0-9]\*')" 0 "... of nothing: no row is marked"
fi
# Another build, whose function begins two lines farther down: lines are compared, instructions are not.
sed 's/^\(object 0 ".*program" "" "\)01/\1ff/; /^names/s|"work" "/src/work.c" 10 5|"work" "/other/work.c" 12 7|
	/^names/s|"work" "/src/work.c" 9 5|"work" "/other/work.c" 11 7|; /^names/s|"work" "/src/work.c" 21 5|"work" "/other/work.c" 23 7|' \
	grown.txt > moved.txt
need "$build/testdata/trace_text" moved.txt -o moved.prf
like "$(changes --diff trace.prf moved.prf | grep '^[^#]*  11 ')" '^     0\.003     0\.103    \+0\.100 .*  11  ' "lines of a function that has moved"
is "$(changes --diff trace.prf moved.prf | grep -c '^# no instructions: those of two builds')" 1 "instructions of two builds are not compared"

# Without libopcodes the build goes on, and says so where instructions would be.
is "$(CC=false "$top/.ci/disassembler"): $?" ": 0" "a build without libopcodes goes on"
cat > without.c <<'END'
#include "report/annotate/disassembler.h"
#include <stdio.h>
int main(void)
{
	struct disassembly d = { 0 };

	puts(disassemble(&d, 62, 0, (const uint8_t *)"\x90", 1)->text);
	return 0;
}
END
compile_c ${SAN:+-fsanitize=$SAN} -I"$top" -D_GNU_SOURCE -o without without.c \
	"$top/report/annotate/disassembler.c" "$build/libcommon.a" -lelf
like "$(ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 ./without)" 'built without libopcodes \(binutils-dev, binutils-devel\)' "... with a message"

# embedded OPTIONS...: a copy of the trace with code, or a message
embedded() { "$report" --embed=code "$@" trace.prf 2>&1; }

# A copy with code and sources says the same where neither is.
output=$(embedded --source-dir src/deep -o portable.prf)
"$report" -q --embed -o plain.prf trace.prf
if [ -n "$disassembler" ]; then
	like "$output" '^prof-report: portable\.prf: code of 2 functions and lines of 2 sources embedded$' "--embed=code says how much"
	like "$output" 'warning: not all code is embedded: .*/program: no symbol and no unwind table says' "... and what is missing"
	annotate --function work --min 0 > before
	annotate --function helper >> before
	mkdir hidden
	mv program src hidden
	"$report" -q -f annotate --function work --min 0 portable.prf > after
	"$report" -q -f annotate --function helper portable.prf >> after
	is "$(sed 's|^# .*work\.c$|# /src/work.c|' before)" "$(cat after)" "without the program and its sources: the same"
	is "$("$report" -q --lines portable.prf)" "$("$report" -q --lines plain.prf)" "... and names as without code"
	"$report" --embed=code -o again.prf portable.prf 2> err
	like "$(cat err)" 'again\.prf: keeps the code that the trace has' "embedded again, the code is kept"
	is "$("$report" -q -f annotate --function work --min 0 again.prf; "$report" -q -f annotate --function helper again.prf)" \
		"$(cat after)" "... as it is"
	"$report" -q --embed -o names.prf portable.prf
	is "$("$report" -q -f annotate --function work --min 0 names.prf; "$report" -q -f annotate --function helper names.prf)" \
		"$(cat after)" "... also with --embed alone"
	mv hidden/* .
	like "$("$report" -q -f annotate --function work --source-dir src/deep portable.prf)" 'src/deep/work\.c$' "--source-dir comes first"
	holds "the copy is sound" "$report" --check portable.prf
	# Readers of before skip both, as they must skip what is optional.
	is "$("$report" --dump portable.prf | grep -cE '^block .* type=(code|sources) \([0-9]+\) flags=0x[23] ')" 2 "both blocks are optional"
	like "$("$report" --dump portable.prf)" '^  code object=0 offset=0x[0-9a-f]+ address=0x401000 machine=62 size=42 ' "--dump shows code"
	like "$("$report" --dump portable.prf)" '^  source path="/src/leaf\.h" line=3 text="	*\??return x \* x;"' "... and sources"
else
	like "$output" 'warning: not all code is embedded: .*built without libopcodes' "--embed=code says that there is none"
fi
"$report" --embed=all -o x.prf trace.prf > out 2> err
like "$?: $(cat err)" '^2: prof-report: --embed all: must be names or code' "--embed of something else"

# What is missing is said where it would be, with what to do about it.
output=$("$report" -q -f annotate --function work trace.prf)
like "$output" '^# /src/work\.c: cannot open: No such file or directory; --source-dir=DIR says' "a source that is not here"
like "$output" '^ 18\.75 +3 +18\.75 +3 +9$' "... has its lines with hits"
like "$(annotate --function gone)" '^# no instructions: /nonexistent/libgone\.so: the file is not here; --sysroot=DIR' "a file that is gone"
like "$(annotate --function other)" 'not the recorded one \(its build-id differs\); --sysroot=DIR' "another build"
like "$(annotate --function jitted)" 'no instructions: \[jit\]: a compiler made this code at run time' "made code"
like "$(annotate --function jitted)" 'no lines: there is no debug information' "... without lines"
like "$(annotate --function ksys_write)" 'code of the kernel lies in no file' "code of the kernel"
like "$(annotate --function loop)" 'a script has no instructions of its own' "a script"
like "$(annotate --function red)" '^# \?\[31mred' "no control characters"
like "$(annotate --function red)" '/src/secret: does not have the name of a source file' "not just any file is shown"
mkdir src/run.py
like "$("$report" -q -f annotate --source-dir "$work/src" --function loop trace.prf)" 'run\.py: is not a plain file' "a folder is no source"
touch src/deep/short.c
like "$(annotate --function other)" 'has fewer lines than what the program was made of' "a source that is too short"
rm program
like "$(annotate --function work)" 'no instructions: .*/program: the file is not here' "without the program"
like "$(annotate --function work)" 'sum \+= helper\(leaf\(i\)\);' "... the source stays"

annotate --function nothing > out 2> err
is "$?: $(cat err)" "1: prof-report: no function with samples matches --function=nothing; -f top shows which there are" "no such function"
annotate --function 'o' > out 2> err
like "$?: $(cat err)" "^1: prof-report: [0-9]+ functions match --function=o: work, .*; name one, as in --function='\^name\\$'" \
	"several functions"
is "$(annotate --function leaf | grep -c '^# self ')" 2 "the very name means all objects that have it"
is "$(annotate --function o --limit 2 | grep -c '^# self ')" 2 "--limit: the first two"
is "$(annotate --function o --limit 0 | grep -c '^# self ')" "$(sed -n 's/.*: \([0-9]*\) functions match.*/\1/p' err)" "... 0: all"
like "$(annotate --function leaf)" '^# inlined into (work|gone): 6\.25 % \(1\)$' "inlined functions say into what"
unlike "$(annotate --function leaf)" 'address  instruction' "... and have no instructions"
like "$(annotate --function leaf)" "no instructions of its own: .* --function='(gone|work)'" "... but these have"
is "$(annotate --function work --comm nobody 2>&1 > /dev/null | grep -c 'none of 16 samples fits --comm')" 1 "filters hold, as elsewhere"
is "$("$report" -q -f annotate --source-dir src/deep --function work trace.prf trace.prf | sed -n 2p)" \
	"# self 25.00 % (8), total 56.25 % (18) of 32 samples" "several traces are added up"
"$report" -f pprof --diff trace.prf trace.prf > out 2> err
like "$?: $(cat err)" '^2: prof-report: this format cannot show a difference; folded, top, tree, annotate and html can' "not every format has --diff"
annotate --json > out 2> err
like "$?: $(cat err)" '^2: prof-report: --json goes with' "no --json"
"$report" --source-dir src trace.prf > out 2> err
like "$?: $(cat err)" '^2: prof-report: --source-dir goes with -f annotate' "--source-dir goes with it"
"$report" -f annotate --source-dir nowhere trace.prf > out 2> err
like "$?: $(cat err)" '^2: prof-report: --source-dir nowhere: No such file' "a folder that is not here"

# On a terminal of 80 columns.
if command -v script > /dev/null; then
	cp other program
	script -qc "stty cols 80; $report -q --no-pager -f annotate --source-dir src/deep --function work trace.prf" /dev/null |
		tr -d '\r' | sed 's/\x1b\[[0-9;]*m//g' > narrow
	is "$(python3 -c 'print(max(len(line.rstrip("\n")) for line in open("narrow", encoding="utf8")))')" 80 "it fits 80 columns"
	like "$(cat narrow)" 'sum \+= helper\(leaf\(i\)\);.*…$' "... with long lines cut"
else
	skip "80 columns" "script is not here"
fi

# What the compiler inlined, by its own debug information.
cat > inlined.c <<'END'
volatile int sink;
static inline __attribute__((always_inline)) void inner(int x)
{
	sink = x + 1;
}
__attribute__((noinline)) void outer(int x)
{
	inner(x);
}
int main(void)
{
	outer(1);
	return 0;
}
END
compile_c -g -O1 -Wl,--build-id=sha1 -o inlined inlined.c
"$build/testdata/make_trace" -n 2000 --object "$work/inlined" -o inlined.prf
output=$("$report" -q -f annotate --function outer --min 0 inlined.prf)
like "$output" '^ .* 8      inner\(x\);$' "lines by debug information"
like "$output" '↳ inner \(inlined\.c:4\)$' "inlined code at its place"
if [ -n "$disassembler" ]; then
	like "$output" '  ; inner inlined\.c:4  sink = x \+ 1;$' "... among the instructions, too"
fi
# A source that only the code of one function names is there for that of the next one.
cat > part.h <<'END'
static inline __attribute__((always_inline)) int part(int x)
{
	return x * 3 + 1;
}
END
cat > two.c <<'END'
#include "part.h"
__attribute__((noinline)) int first(int x) { return part(x ^ 5); }
__attribute__((noinline)) int made(int x) __asm__("_ZN4work4madeEi");
int made(int x) { return x << 3; }
__attribute__((noinline)) int second(int x) { return part(made(x) ^ 9); }
int main(int argc, char **argv) { (void)argv; return first(argc) + second(argc); }
END
compile_c -g -O1 -Wl,--build-id=sha1 -o two two.c
# inside FUNCTION: an address in it
inside() { printf '0x%x' $((0x$(nm two | awk -v name="$1" '$3 == name { print $1 }') + 1)); }
cat > two.txt <<END
event 0 "cpu-clock" "samples" 1000 0
object 0 "$work/two" "" "$(readelf -n two | sed -n 's/.*Build ID: //p')"
task 1 1 "two" "" ""
frame 0 0 $(inside first)
frame 0 0 $(inside second)
stack - 0
stack - 1
sample 1000000 0 0 0 0 1
sample 2000000 0 0 1 0 1
finish
END
need "$build/testdata/trace_text" two.txt -o two.prf
output=$("$report" -q -f annotate --limit=2 --min=0 two.prf)
is "$(printf '%s\n' "$output" | grep -cE '^# (first|second)  two$')" 2 "two functions, one after the other"
if [ -n "$disassembler" ]; then
	is "$(printf '%s\n' "$output" | grep -c '; part part\.h:3  return x \* 3 + 1;$')" 2 "... and both have what is inlined from a header"
	like "$output" ' call +work::made$' "what an instruction refers to is demangled"
	like "$("$report" -q -f annotate --no-demangle --limit=2 --min=0 two.prf)" ' call +_ZN4work4madeEi$' "... unless the symbol table's names are asked for"
fi
sed 's/0f1011121314"$/& 0 0 0 0 0 1000000000/' trace.txt > dated.txt
"$build/testdata/trace_text" dated.txt -o dated.prf
unlike "$(annotate --function work)" 'changed after' "a program whose time is not known"
like "$("$report" -q -f annotate --function work --source-dir src/deep dated.prf)" 'changed after the program was built' "a source that was changed since"
like "$("$report" --embed=code --source-dir src/deep -o x.prf dated.prf 2>&1)" \
	'2 sources were changed after the programs were built, and are left out' "... is not embedded"

# The page has the same, of the functions with most of their own.
# listings FILE: their names; and each to a file of its own
cat > listings.py <<'END'
import base64, re, sys, zlib
data = zlib.decompress(base64.b64decode(re.search('id="data">([^<]*)<', open(sys.argv[1]).read()).group(1)))
# They are the last of the data, and each begins with its name.
texts = re.split(rb"(?=# [^\n]*\n# self )", data)[1:]
for text in texts:
    name = text.split()[1].decode()
    print(name)
    open(name + ".listing", "wb").write(text)
END
holds "a page with code" "$report" -q -f html --code --source-dir "$work/src/deep" trace.prf -o code.html
is "$(python3 listings.py code.html | head -n 1)" work "the page has the function with most samples"
annotate --function work > work.text
is "$(head -c "$(wc -c < work.text)" work.listing | cmp - work.text && echo same)" same "... and of it what -f annotate writes"
"$report" -q -f html --code=1 --source-dir src/deep trace.prf -o one.html
is "$(python3 listings.py one.html)" work "--code=1: no other"
"$report" -q -f html trace.prf -o plain.html
is "$(python3 listings.py plain.html)" "" "without --code there are none"
rm -f src/deep/work.c src/deep/leaf.h
if [ -n "$disassembler" ]; then
	"$report" -q -f html --code=1 portable.prf -o portable.html
	python3 listings.py portable.html > names
	like "$(cat work.listing)" 'sum \+= helper\(leaf\(i\)\);' "code that the trace holds is in the page, too"
fi
"$report" -f top --code trace.prf 2> said
is "$?" 2 "--code is for pages"
if [ -n "$browser" ]; then
	show "code.html#view=code" > dom
	like "$(cat dom)" '<span style="--heat: [0-9]+%;"> 18\.75 +3 +18\.75 +3 +9 +for ' "a browser shows it, and where it is hot"
	like "$(cat dom)" '<tr class="chosen" title="work' "... beside a list of them"
else
	skip "a browser shows it" "$no_browser"
fi
finish
