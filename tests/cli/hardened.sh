#!/bin/sh
# The programs as they are built by default: what their ELF files say of how they are protected.
. "$(dirname "$0")/../lib.sh"
command -v readelf > /dev/null || skip_all "readelf is not here"

for program in prof-record prof-report prof-bench; do
	need test -x "$build/$program"
	readelf -hlWd --dyn-syms "$build/$program" > "$work/elf" 2>&1
	like "$(cat "$work/elf")" '^ *Type: +DYN' "$program: can be loaded anywhere"
	like "$(cat "$work/elf")" '^ *GNU_RELRO ' "$program: tables of addresses become read-only"
	like "$(cat "$work/elf")" 'FLAGS_1.*NOW|BIND_NOW' "$program: all of them, since all are filled at the start"
	like "$(grep '^ *GNU_STACK ' "$work/elf")" ' RW +0x' "$program: the stack cannot be executed"
	unlike "$(grep '^ *LOAD ' "$work/elf")" ' RWE ' "$program: no memory is both written and executed"
	if ! grep -q NEEDED "$work/elf"; then
		skip "$program: checks in the code" "a static program has no list of what it calls"
		continue
	fi
	like "$(cat "$work/elf")" '__stack_chk_fail' "$program: overwritten stacks are detected"
	if [ -n "${SAN:-}" ]; then
		skip "$program: checked copies" "the sanitizers have checks of their own"
	else
		like "$(cat "$work/elf")" '__[a-z]*(cpy|printf|read)[a-z]*_chk' "$program: copies are checked"
	fi
done

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
