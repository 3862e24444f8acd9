#!/bin/sh
# A real program, cut at each length of its headers, at the borders of its sections and many places between: all
# that reads ELF files ends well, with sanitizers where the build has them.
. "$(dirname "$0")/../lib.sh"
need_tools python3
cd "$work" || exit 1
cat > program.c << 'END'
#include <stdio.h>

/* The section headers and their names get a place before what they are of, so that a cut leaves them. */
__attribute__((used)) const char room[8192] = "room for section headers";

static inline __attribute__((always_inline)) int square(int x) { return x * x; }
__attribute__((noinline)) static int sum(int n) { return n ? square(n) + sum(n - 1) : 0; }
int main(int argc, char **argv) { return printf("%d\n", sum(argc)) < 0; }
END
compile_c -g -O2 -Wl,--build-id=sha1 program.c -o program
mkdir cuts frames borders
need python3 - > lengths << 'END'
import struct

whole = bytearray(open("program", "rb").read())
at, = struct.unpack_from("<Q", whole, 40)
size, count, names = struct.unpack_from("<HHH", whole, 58)
room = whole.index(b"room for section headers") + 15 & ~15
whole[room:room + size * count] = whole[at:at + size * count]
struct.pack_into("<Q", whole, 40, room)
names = room + size * names
offset, length = struct.unpack_from("<QQ", whole, names + 24)
struct.pack_into("<Q", whole, names + 24, room + size * count)
whole[room + size * count:room + size * count + length] = whole[offset:offset + length]
open("whole", "wb").write(whole)
borders = {room, room + size * count}
for number in range(1, count):
    _, kind, _, _, offset, length = struct.unpack_from("<IIQQQQ", whole, room + size * number)
    borders |= {offset} if kind == 8 else {offset, offset + length}
program_headers = 64 + 56 * struct.unpack_from("<H", whole, 56)[0]
lengths = set(range(program_headers + 1)) | set(range(0, len(whole), 61)) | set(range(room, room + size * count, 3))
lengths |= {border + more for border in borders for more in (-1, 0, 1)}
for length in sorted(n for n in lengths if 0 <= n <= len(whole)):
    cut = whole[:length]
    open("cuts/%07d" % length, "wb").write(cut)
    open("frames/%07d" % length, "wb").write(b"\2" + cut)
    if length in borders:
        open("borders/%07d" % length, "wb").write(cut)
print(len(lengths))
END
for reader in symbols elf_symbols elf_needs php_file python_file ruby_file v8_file; do
	holds "$(cat lengths) files, read by $reader" timeout 300 "$build/tests/fuzz/fuzz_$reader" cuts
done
holds "... and their unwind tables are made" timeout 300 "$build/tests/fuzz/fuzz_cfi" frames

# The build-id comes before what is cut: prof-report believes these files.
cp whole program
need "$build/testdata/make_trace" -n 200 --object "$work/program" -o trace.prf
like "$("$report" -q --no-cache trace.prf)" 'main|sum' "the whole file is named"
failed=
for cut in borders/*; do
	cp "$cut" program
	for view in folded "top --by line" annotate; do
		# shellcheck disable=SC2086
		timeout 60 "$report" -q --no-cache -f $view trace.prf > out 2>&1 || failed="$failed $cut:$view:$?"
	done
done
is "$failed" "" "prof-report ends well on each"
finish
