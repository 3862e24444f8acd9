#!/bin/sh
# Names, inlined calls and lines from files of every make: each is built here from source.
. "$(dirname "$0")/../lib.sh"

symbolize=$build/testdata/symbolize
cc=gcc
have() { command -v "$1" >/dev/null 2>&1; }
need_tools gcc objcopy nm
cd "$work" || exit 1

# The label stands in code that is inlined once, so its address has a known answer.
cat > program.c <<'END'
#include <stdio.h>
volatile int sink;
static inline __attribute__((always_inline)) void leaf(int x)
{
	sink = x * 3;
	__asm__ volatile(".globl marker\nmarker: nop" ::: "memory");
	sink = x * 5;
}
__attribute__((noinline)) int middle(int x)
{
	sink = x;
	leaf(x + 1);
	sink = x + 2;
	return sink;
}
END
cat > other.c <<'END'
#include <stdio.h>
int middle(int x);
int main(int argc, char **argv)
{
	printf("%d\n", middle(argc));
	puts("end");
	return 0;
}
END
places="leaf
$work/program.c:6
middle
$work/program.c:12"

marker() { nm "$1" | sed -n 's/ [A-Za-z] marker$//p'; }

# answer FILE ADDRESS [OPTION...]
answer() {
	file=$1
	address=$2
	shift 2
	echo "$address" | "$symbolize" "$@" "$file" 2>status | sed '/^$/d'
}

# built NAME FLAGS...: builds ./NAME; false and skipped where the compiler does not know the flags
built() {
	name=$1
	shift
	accepts $cc "$@" || { skip "$name" "$cc does not know $*"; return 1; }
	need $cc -O2 "$@" "$work/program.c" "$work/other.c" -o "$name"
}

# plain NAME FLAGS...: as built, the answer is known
plain() {
	built "$@" && is "$(answer "$name" "$(marker "$name")")" "$places" "$name"
}

plain dwarf5 -gdwarf-5
plain dwarf4 -gdwarf-4
plain dwarf3 -gdwarf-3
plain dwarf2 -gdwarf-2
plain dwarf64 -gdwarf-5 -gdwarf64
plain pie -g -fPIE -pie
plain no-pie -g -fno-pie -no-pie
plain static -g -static
plain static-pie -g -static-pie
plain lto -g -flto
plain function-sections -g -ffunction-sections -Wl,--gc-sections
plain type-units -g -fdebug-types-section
plain type-units-dwarf4 -gdwarf-4 -fdebug-types-section
if have clang; then
	cc=clang
	plain clang-dwarf5 -gdwarf-5
	plain clang-dwarf4 -gdwarf-4
	cc=gcc
fi
if [ "$(answer dwarf5 "$(marker dwarf5)" -n)" = "middle
$work/program.c:6" ]; then ok "without inlined calls"; else not_ok "without inlined calls"; fi
is "$(answer dwarf5 "$(marker dwarf5)" -j 7)" "$places" "the number of threads does not matter"

# Compressed sections.
for kind in zlib zlib-gnu zstd; do
	if objcopy --compress-debug-sections=$kind dwarf5 compressed-$kind 2>log; then
		is "$(answer compressed-$kind "$(marker dwarf5)")" "$places" "compressed: $kind"
	else
		skip "compressed: $kind" "objcopy cannot"
	fi
done
# A small program to pack zstd with, where objcopy cannot: the section and its header by hand.
if have zstd && ! [ -s compressed-zstd ]; then
	cp dwarf5 compressed-zstd
	for section in .debug_info .debug_abbrev .debug_str .debug_line .debug_line_str .debug_rnglists; do
		objcopy -O binary --only-section=$section --set-section-flags $section=alloc dwarf5 raw 2>/dev/null
		[ -s raw ] || continue
		zstd -qf raw -o packed
		python3 -c 'import os,struct,sys
sys.stdout.buffer.write(struct.pack("<IIQQ",2,0,os.path.getsize("raw"),1)+open("packed","rb").read())' > section
		objcopy --update-section $section=section compressed-zstd 2>/dev/null
		echo $section >> packed-sections
	done
	python3 - compressed-zstd <<'END'
import struct, sys
name = sys.argv[1]
data = bytearray(open(name, "rb").read())
packed = set(open("packed-sections").read().split())
shoff, = struct.unpack_from("<Q", data, 40)
size, n, strings = struct.unpack_from("<HHH", data, 58)
text = struct.unpack_from("<Q", data, shoff + strings * size + 24)[0]
for i in range(n):
    at = shoff + i * size
    start = text + struct.unpack_from("<I", data, at)[0]
    if data[start:data.index(0, start)].decode() in packed:
        flags, = struct.unpack_from("<Q", data, at + 8)
        struct.pack_into("<Q", data, at + 8, flags | 0x800)
open(name, "wb").write(data)
END
	is "$(answer compressed-zstd "$(marker dwarf5)")" "$places" "compressed by hand: zstd"
fi

# A separate debug file, found by its link and checksum.
mkdir -p link/.debug byid
if built link/program -g -Wl,--build-id=none; then
	address=$(marker link/program)
	objcopy --only-keep-debug link/program link/.debug/program.debug
	objcopy --strip-all --add-gnu-debuglink=link/.debug/program.debug link/program
	is "$(answer link/program "$address")" "$places" "debug file by its link"
	printf x >> link/.debug/program.debug
	unlike "$(answer link/program "$address")" 'leaf|middle' "not with a wrong checksum"
fi

# By its build-id.
if built stripped -g -Wl,--build-id=sha1; then
	address=$(marker stripped)
	id=$(readelf -n stripped | sed -n 's/.*Build ID: //p')
	rest=${id#??}
	mkdir -p "byid/.build-id/${id%"$rest"}"
	objcopy --only-keep-debug stripped "byid/.build-id/${id%"$rest"}/$rest.debug"
	cp stripped whole
	strip stripped
	like "$(answer stripped "$address")" '^\[stripped\+0x[0-9a-f]+\]
' "stripped: where the function begins"
	like "$(cat status)" 'status: stripped' "stripped: said so"
	is "$(answer stripped "$address" -d "$work/byid")" "$places" "debug file by build-id"

	# The main file moved as prelink does it: its debug file keeps the old addresses.
	python3 - stripped prelinked <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
move = 0x40000000
phoff, shoff = struct.unpack_from("<QQ", data, 32)
phsize, phn, shsize, shn = struct.unpack_from("<HHHH", data, 54)
for i in range(phn):
    at = phoff + i * phsize + 16
    address, = struct.unpack_from("<Q", data, at)
    struct.pack_into("<Q", data, at, address + move)
for i in range(shn):
    at = shoff + i * shsize + 16
    address, = struct.unpack_from("<Q", data, at)
    if address:
        struct.pack_into("<Q", data, at, address + move)
open(sys.argv[2], "wb").write(data)
END
	moved=$(printf '%x' $((0x$address + 0x40000000)))
	is "$(answer prelinked "$moved" -d "$work/byid")" "$places" "prelinked"

	# Another file's debug information in the place of the right one.
	cp dwarf4 "byid/.build-id/${id%"$rest"}/$rest.debug"
	unlike "$(answer stripped "$address" -d "$work/byid")" 'leaf|middle' "not with another build-id"

	# Without a table of sections there is still the unwind table.
	cp whole sectionless
	python3 -c 'import struct
data = bytearray(open("sectionless", "rb").read())
struct.pack_into("<Q", data, 40, 0)
struct.pack_into("<HH", data, 60, 0, 0)
open("sectionless", "wb").write(data)'
	like "$(answer sectionless "$address")" '^\[sectionless\+0x[0-9a-f]+\]
' "no section table"

	# The small symbol table that Fedora's programs have.
	if have xz; then
		objcopy -S --remove-section .gnu_debuglink --remove-section .comment --keep-symbol middle whole mini 2>/dev/null
		xz -q mini
		cp stripped minidebug
		objcopy --add-section .gnu_debugdata=mini.xz minidebug 2>/dev/null
		is "$(answer minidebug "$address")" "middle
??:0" "minidebuginfo"
	else
		skip "minidebuginfo" "no xz"
	fi
fi

# A kernel is found by its build-id, wherever its code was loaded.
if built vmlinux -g -no-pie -fno-pie -Wl,--build-id=sha1 -Wl,--defsym,_text=0x400000; then
	id=$(readelf -n vmlinux | sed -n 's/.*Build ID: //p')
	rest=${id#??}
	mkdir -p "byid/.build-id/${id%"$rest"}"
	cp vmlinux "byid/.build-id/${id%"$rest"}/$rest.debug"
	is "$(answer vmlinux "$(marker vmlinux)" -k -d "$work/byid" | head -n 2)" "leaf
$work/program.c:6" "kernel: inlined functions"
	is "$(answer vmlinux "$(marker vmlinux)" -k | head -n 1)" "??" "kernel: without its debug package"
fi

# What dwz makes of one file, and of two with their common part in a third.
if have dwz && built dwz1 -g && cp dwz1 dwz2; then
	address=$(marker dwz1)
	cp dwz1 dwz-single
	if dwz dwz-single 2>log; then
		is "$(answer dwz-single "$address")" "$places" "dwz"
	else
		skip "dwz" "$(head -n 1 log)"
	fi
	if dwz -m "$work/common.debug" dwz1 dwz2 2>log && [ -s common.debug ]; then
		is "$(answer dwz1 "$address")" "$places" "dwz with a common file"
		readelf -S dwz1 | grep -q gnu_debugaltlink && ok "the common file is linked" ||
			not_ok "the common file is linked"
	else
		skip "dwz with a common file" "$(head -n 1 log)"
	fi
else
	skip "dwz" "not here"
fi

# Split DWARF, alone and packed.
split() {
	name=split-$cc-$1
	accepts $cc -g -gdwarf-"$1" -gsplit-dwarf || { skip "$name" "$cc does not write it"; return; }
	mkdir -p "$name"
	cd "$name" || exit 1
	need $cc -O2 -g -gdwarf-"$1" -gsplit-dwarf -c ../program.c -o program.o
	need $cc -O2 -g -gdwarf-"$1" -gsplit-dwarf -c ../other.c -o other.o
	need $cc -o split program.o other.o
	cd "$work" || exit 1
	need test -s "$name/program.dwo"
	address=$(marker "$name/split")
	expected=$(printf '%s' "$places" | sed "s,$work/program.c,$work/$name/../program.c,")
	is "$(answer "$name/split" "$address")" "$expected" "$name: .dwo"
	packed=
	for packer in llvm-dwp dwp; do
		have "$packer" || continue
		(cd "$name" && rm -f split.dwp && "$packer" -e split -o split.dwp >log 2>&1 && [ -s split.dwp ]) || continue
		packed=$packer
		break
	done
	[ -n "$packed" ] || { skip "$name: .dwp" "no program packs it"; return; }
	mkdir -p "$name/away"
	mv "$name"/*.dwo "$name/away"
	is "$(answer "$name/split" "$address")" "$expected" "$name: .dwp by $packed"
	rm "$name/split.dwp"
	unlike "$(answer "$name/split" "$address")" '^leaf' "$name: neither"
}
split 5
split 4
if have clang; then
	cc=clang
	split 5
	split 4
	cc=gcc
fi

# A library's own symbols, and the stubs through which others are called.
if gcc -O2 -shared -fPIC -Wl,-z,lazy program.c -o library.so 2>log &&
	gcc -O2 -fno-pie -no-pie -Wl,-z,lazy other.c ./library.so -o caller 2>log; then
	address=$(nm library.so | sed -n 's/ T middle$//p')
	strip library.so
	is "$(answer library.so "$address" | head -n 1)" middle "dynamic symbol of a stripped library"
	stub=$(objdump -d caller | sed -n 's/^0*\([0-9a-f]*\) <middle@plt>:/\1/p' | head -n 1)
	if [ -n "$stub" ]; then
		is "$(answer caller "$stub" | head -n 1)" middle@plt "procedure linkage stub"
		strip caller
		is "$(answer caller "$stub" | head -n 1)" middle@plt "procedure linkage stub, stripped"
	else
		skip "procedure linkage stub" "objdump shows none"
	fi
fi
finish
