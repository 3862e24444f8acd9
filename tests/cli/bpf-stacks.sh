#!/bin/sh
# The kernel half fits into the stack that kernels before 6.13 give to functions that call each other.
. "$(dirname "$0")/../lib.sh"
once_is_enough
holds "the programs fit" "$top/tests/bpf-stacks.py" "$build"/bpf/*.bpf.o "$build"/bench/*/*.bpf.o

# program BYTES: two functions with that many on their stacks, which a helper fills
program() {
	cat > "$work/x.bpf.c" <<-END
		static long (*const fill)(void *, unsigned int, const void *) = (void *)4;
		__attribute__((noinline)) int called(const void *from)
		{
			char room[$1];
			fill(room, sizeof(room), from);
			return room[0];
		}
		__attribute__((section("kprobe/x"))) int calling(void *context)
		{
			char room[$1];
			fill(room, sizeof(room), context);
			return called(context) + room[0];
		}
	END
	need "${CLANG:-clang}" -target bpf -mcpu=v3 -O2 -c -o "$work/x.bpf.o" "$work/x.bpf.c"
}
need_tools "${CLANG:-clang}"
program 256
is "$("$top/tests/bpf-stacks.py" "$work/x.bpf.o")" "512 bytes, 2 levels: calling 256, called 256" "512 bytes are not too many"
program 264
output=$("$top/tests/bpf-stacks.py" "$work/x.bpf.o")
like "$?: $output" "^1: .*needs too much: 576 bytes" "more are found"
finish
