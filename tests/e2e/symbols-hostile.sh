#!/bin/sh
# Files from untrusted sources: no crash, no endless work, and the other files are still named.
. "$(dirname "$0")/../lib.sh"

symbolize=$build/testdata/symbolize
need_tools gcc
cd "$work" || exit 1
cat > program.c <<'END'
volatile int sink;
static inline __attribute__((always_inline)) void inner(int x) { sink = x; if (x > 3) sink = x * 2; }
__attribute__((noinline)) int first(int x) { inner(x); return sink; }
__attribute__((noinline)) int second(int x) { inner(x + 1); return first(x) + 1; }
int main(int argc, char **argv) { return second(argc); }
END
need gcc -g -O2 program.c -Wl,--build-id=sha1 -o program
objdump -d -j .text --no-show-raw-insn program | sed -n 's/^ *\([0-9a-f]*\):.*/0x\1/p' > addresses

# Bytes of the debug sections changed in many ways, always the same ones.
cat > mutate.py <<'END'
import random, struct, sys
source, target, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
data = bytearray(open(source, "rb").read())
choose = random.Random(seed)
shoff, = struct.unpack_from("<Q", data, 40)
size, n, strings = struct.unpack_from("<HHH", data, 58)
text, = struct.unpack_from("<Q", data, shoff + strings * size + 24)
parts = []
for i in range(1, n):
    name, kind, flags, address, offset, length = struct.unpack_from("<IIQQQQ", data, shoff + i * size)
    label = data[text + name:data.index(0, text + name)].decode()
    if label.startswith(".debug") or label in (".symtab", ".strtab", ".eh_frame", ".eh_frame_hdr", ".rela.plt"):
        parts.append((offset, length))
for _ in range(choose.choice((1, 3, 20, 200))):
    offset, length = choose.choice(parts)
    if length:
        data[offset + choose.randrange(length)] = choose.choice((0, 0xff, 0x7f, 0x80, choose.randrange(256)))
open(target, "wb").write(data)
END
crashed=
i=0
while [ $i -lt 30 ]; do
	python3 mutate.py program "changed-$i" $i
	timeout 60 "$symbolize" "changed-$i" < addresses > out 2>err
	[ $? -lt 2 ] || crashed="$crashed $i"
	rm -f "changed-$i"
	i=$((i + 1))
done
is "$crashed" "" "30 changed files"

crashed=
size=$(wc -c < program)
i=1
while [ $i -lt 10 ]; do
	head -c $((size * i / 10)) program > cut
	timeout 60 "$symbolize" cut < addresses > out 2>err
	[ $? -lt 2 ] || crashed="$crashed $i"
	i=$((i + 1))
done
is "$crashed" "" "cut files"

# A compressed section that claims to be 2^60 bytes long.
if objcopy --compress-debug-sections=zlib program claims 2>log; then
	python3 - <<'END'
import struct
data = bytearray(open("claims", "rb").read())
shoff, = struct.unpack_from("<Q", data, 40)
size, n = struct.unpack_from("<HH", data, 58)
for i in range(n):
    flags, = struct.unpack_from("<Q", data, shoff + i * size + 8)
    offset, = struct.unpack_from("<Q", data, shoff + i * size + 24)
    if flags & 0x800:
        struct.pack_into("<Q", data, offset + 8, 1 << 60)
open("claims", "wb").write(data)
END
	like "$("$symbolize" claims < addresses 2>/dev/null)" '^second' "2^60 bytes: the symbol table still counts"
else
	skip "2^60 bytes" "objcopy cannot compress"
fi

# One damaged file does not take the names of the others.
head -c $((size / 3)) program > damaged
"$build/testdata/make_trace" -n 500 --object "$work/program" --object "$work/claims" -o trace.prf
cp damaged claims
out=$("$report" -q --no-cache trace.prf)
status=$?
is $status 0 "reported"
like "$out" 'first|second|inner' "others are named"
like "$out" '\[claims\]' "the damaged one is not"

# A path that is no regular file is not read.
rm claims
mkfifo claims
like "$("$report" -q --no-cache trace.prf)" '\[claims\]' "a pipe is not waited for"
rm claims
ln -s /dev/zero claims
like "$("$report" -q --no-cache trace.prf)" '\[claims\]' "a device is not read"
finish
