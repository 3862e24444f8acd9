#!/bin/sh
# The programs as they are built by default: what their ELF files say of how they are protected.
. "$(dirname "$0")/../lib.sh"
command -v readelf > /dev/null || skip_all "readelf is not here"

# check NAME FILE: what a program and a library have in common.
check() {
	readelf -hlWd --dyn-syms "$2" > "$work/elf" 2>&1
	like "$(cat "$work/elf")" '^ *Type: +DYN' "$1: can be loaded anywhere"
	like "$(cat "$work/elf")" '^ *GNU_RELRO ' "$1: tables of addresses become read-only"
	like "$(cat "$work/elf")" 'FLAGS_1.*NOW|BIND_NOW' "$1: all of them, since all are filled at the start"
	like "$(grep '^ *GNU_STACK ' "$work/elf")" ' RW +0x' "$1: the stack cannot be executed"
	unlike "$(grep '^ *LOAD ' "$work/elf")" ' RWE ' "$1: no memory is both written and executed"
	unlike "$(cat "$work/elf")" 'TEXTREL' "$1: no code is written when it is loaded"
	if ! grep -q NEEDED "$work/elf"; then
		skip "$1: checks in the code" "a static program has no list of what it calls"
		return
	fi
	like "$(cat "$work/elf")" '__stack_chk_fail' "$1: overwritten stacks are detected"
	if [ -n "${SAN:-}" ]; then
		skip "$1: checked copies" "the sanitizers have checks of their own"
	else
		like "$(cat "$work/elf")" '__[a-z]*(cpy|printf|read)[a-z]*_chk' "$1: copies are checked"
	fi
}

for program in prof-record prof-report prof-bench; do
	need test -x "$build/$program"
	check "$program" "$build/$program"
done
if eval "make -s ${MAKE_ARGUMENTS:-} SAN= BUILD='$work/build' '$work/build/libprf.so.1'" -C "$top" > "$work/log" 2>&1; then
	sanitizers=${SAN:-}
	SAN=
	check libprf.so.1 "$work/build/libprf.so.1"
	SAN=$sanitizers
else
	not_ok "make libprf.so.1" "$(cat "$work/log")"
fi

# unprobed FILE: functions that move the stack by more than a page at once, and so may pass the page
# that guards its end. With the protection they touch each page on the way.
unprobed() {
	objdump -d --no-show-raw-insn "$1" 2> /dev/null | awk '
		/>:$/ { name = $2 }
		/[ \t]sub +\$0x[0-9a-f]+,%rsp/ {
			digits = $0
			sub(/.*\$0x/, "", digits)
			sub(/,%rsp.*/, "", digits)
			# Negative ones, with 16 digits, are added.
			if (length(digits) > 4 && length(digits) < 16 || length(digits) == 4 && digits > "1000") print name
		}' | sort -u
}
if [ "$(uname -m)" = x86_64 ] && command -v objdump > /dev/null; then
	echo 'void use(char *); void big(void) { char bytes[20000]; use(bytes); } void small(void) { char bytes[2000]; use(bytes); }' \
		> "$work/big.c"
	compile_c -O2 -c -fno-stack-clash-protection "$work/big.c" -o "$work/big.o"
	is "$(unprobed "$work/big.o")" "<big>:" "a function that does not touch its pages is recognized"
	for room in common format record report bench; do
		is "$(unprobed "$build/lib$room.a")" "" "lib$room.a: each page of large frames is touched"
	done
	[ ! -e "$work/build/libprf.so.1" ] || is "$(unprobed "$work/build/libprf.so.1")" "" "libprf.so.1: ... likewise"
	number "$(objdump -d --no-show-raw-insn "$build/librecord.a" 2> /dev/null |
		grep -cE '(or|mov)q? +\$0x0,(0x[0-9a-f]+)?\(%rsp\)|test .*\(%rsp\)') > 0" "there are such frames"
else
	skip "large frames" "only x86-64's instructions are known here"
fi

# The linker marks a program only if everything in it is so, the C library's part included: what is
# ours is looked at by itself.
machine=$(readelf -h "$build/prof-record" | sed -n 's/^ *Machine: *//p')
case $machine in
*X86-64*) wanted='IBT, SHSTK' ;;
*AArch64*) wanted='BTI' ;;
*) wanted= ;;
esac
for room in common format record report bench; do
	[ -n "$wanted" ] || { skip "marks of control flow" "$machine has none"; break; }
	is "$(readelf -n "$build/lib$room.a" 2> /dev/null | awk -v wanted="$wanted" '
		/^File:/ { if (file && !marked) print file; file = $2; marked = 0 }
		index($0, wanted) { marked = 1 }
		END { if (file && !marked) print file }')" "" "lib$room.a: every object has $wanted"
done
finish
