#!/bin/sh
# What depends on the processor is written for arm64 too, and compiles.
. "$(dirname "$0")/../lib.sh"
once_is_enough
clang=${CLANG:-clang}
command -v "$clang" > /dev/null || skip_all "no clang"
cd "$top" || exit 1

holds "the kernel half compiles for arm64" "$clang" -target bpf -mcpu=v3 -O2 -g -D__TARGET_ARCH_arm64 -I. \
	-Wall -Werror -Wno-missing-declarations -idirafter "/usr/include/$(uname -m)-linux-gnu" \
	-c -o "$work/sampler.o" bpf/sampler.bpf.c

cross=aarch64-linux-gnu-gcc
if command -v $cross > /dev/null; then
	for file in record/unwind/*.c; do
		holds "$file compiles for arm64" $cross -fsyntax-only -std=gnu11 -D_GNU_SOURCE -I. \
			-Wall -Werror -idirafter /usr/include "$file"
	done
else
	skip "the recorder's half" "no $cross"
fi
finish
