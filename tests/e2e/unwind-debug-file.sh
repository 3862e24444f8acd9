#!/bin/sh
# Unwind information that only a separate debug file has.
. "$(dirname "$0")/../lib.sh"
need_bpf
[ "$(uname -m)" = x86_64 ] || skip_all "the program is x86-64's"
need_tools objcopy strip readelf
cat > "$work/program.c" <<'C'
#include <time.h>
void moves(long n);
static volatile long sink;
void burn(void) { for (long i = 0; i < 300000; i++) sink += i; }
__attribute__((noinline)) static void calls(void)
{
	while (clock() < CLOCKS_PER_SEC * 4 / 10)
		moves(4096);
	sink++;
}
int main(void) { calls(); return 0; }
C
# Only the unwind information says that the frame is found by rbx; and there is much on the stack.
cat > "$work/moves.s" <<'S'
	.cfi_sections .debug_frame
	.globl moves
	.type moves, @function
moves:	.cfi_startproc
	push %rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	mov %rsp, %rbx
	.cfi_def_cfa_register %rbx
	sub %rdi, %rsp
	call burn
	mov %rbx, %rsp
	.cfi_def_cfa_register %rsp
	pop %rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size moves, .-moves
	.section .note.GNU-stack,"",@progbits
S
compile_c -O2 -g -fno-optimize-sibling-calls -fno-sanitize=all -fno-asynchronous-unwind-tables -Wl,--build-id \
	-o "$work/whole" "$work/program.c" "$work/moves.s"

# rooted: percent of the samples in burn() whose callers are all there
rooted() {
	"$record" -q -F 999 -o "$work/trace.prf" -- "$work/program" || not_ok "records it"
	"$report" -q --debug-dir="$work" "$work/trace.prf" > "$work/folded"
	awk '/;burn / { all += $NF; if (/;main;calls;moves;burn/) some += $NF } END { print all ? int(100 * some / all) : 0 }' "$work/folded"
}
cp "$work/whole" "$work/program"
number "$(rooted) >= 99" "its own .debug_frame is used"
objcopy --only-keep-debug "$work/whole" "$work/program.debug"
strip --strip-debug -o "$work/program" "$work/whole"
number "$(rooted) < 50" "without it callers are missing"
(cd "$work" && objcopy --add-gnu-debuglink=program.debug program)
number "$(rooted) >= 99" "that of the file which .gnu_debuglink names is used"
mkdir "$work/.debug"
mv "$work/program.debug" "$work/.debug"
number "$(rooted) >= 99" "also in .debug"

# Another file of that name is not.
compile_c -g -O1 -Wl,--build-id -o "$work/other" -x c - <<'C'
int main(void) { return 3; }
C
objcopy --only-keep-debug "$work/other" "$work/.debug/program.debug"
number "$(rooted) < 50" "one with another build-id is not"

# /usr/lib/debug is shared by all that runs here, so the test has one of its own.
id=$(readelf -n "$work/whole" | sed -n 's/.*Build ID: //p')
objcopy --only-keep-debug "$work/whole" "$work/by-id"
if unshare -m sh -c 'mkdir -p /usr/lib/debug && mount -t tmpfs none /usr/lib/debug' 2> /dev/null; then
	unshare -m sh -c "mount -t tmpfs none /usr/lib/debug && mkdir -p /usr/lib/debug/.build-id/${id%"${id#??}"} &&
		cp '$work/by-id' /usr/lib/debug/.build-id/${id%"${id#??}"}/${id#??}.debug &&
		'$record' -q -F 999 -o '$work/by-id.prf' -- '$work/program'"
	"$report" -q "$work/by-id.prf" > "$work/folded"
	number "$(awk '/;burn / { all += $NF; if (/;main;calls;moves;burn/) some += $NF } END { print all ? int(100 * some / all) : 0 }' "$work/folded") >= 99" \
		"it is found by build-id"
else
	skip "by build-id" "no mount namespace"
fi
finish
