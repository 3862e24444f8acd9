#!/bin/sh
# A user maps many files whose unwind tables take long to make. Another user's program that begins
# meanwhile does not wait for them: its stacks are whole.
. "$(dirname "$0")/../lib.sh"
need_bpf alone
need_tools gcc setpriv python3
cd "$work" || exit 1
chmod 755 .
need gcc -O2 "$top/tests/e2e/programs/map_files.c" -o map_files

# 200,000 rows: each instruction changes where the frame is
python3 - > rows.s << 'END'
for function in range(2000):
    print(".type f%d, %%function\nf%d:\n.cfi_startproc" % (function, function))
    for row in range(100):
        print("nop\n.cfi_def_cfa_offset %d" % (16 + 16 * (row % 2)))
    print(".cfi_endproc\n.size f%d, . - f%d" % (function, function))
END
printf '.section .note.GNU-stack,"",%%progbits\n' >> rows.s
need gcc -shared -nostdlib -Wl,--build-id=0x1122334455667788112233445566778811223344 rows.s -o rows.so
# ... and 120 such files, each with a build-id of its own
python3 - << 'END'
text = bytearray(open("rows.so", "rb").read())
at = text.index(bytes.fromhex("1122334455667788"))
for number in range(120):
    text[at:at + 2] = bytes([number, 0])
    open("rows%d.so" % number, "wb").write(text)
END
chown 65534 rows*.so

cat > deep.c << 'END'
#include <time.h>
__attribute__((noinline)) int work(int n)
{
	volatile int sum = 0;

	for (int i = 0; i < 100000; i++)
		sum += i;
	return n ? work(n - 1) + sum : sum;
}
int main(void)
{
	time_t end = time(NULL) + 2;

	while (time(NULL) < end)
		work(5);
	return 0;
}
END
need gcc -O1 -fomit-frame-pointer -fno-optimize-sibling-calls deep.c -o deep

"$record" -v -a -F 499 -o many.prf 2> log &
recorder=$!
until_begun many.prf $recorder
setpriv --reuid=65534 --regid=65534 --clear-groups ./map_files 5 rows*.so > mapped &
mapper=$!
until_begun mapped $mapper
made() { grep -c 'unwind tables: .*/rows[0-9]*\.so: [0-9]* rows' log; }
before=$(made)
setpriv --reuid=65533 --regid=65533 --clear-groups ./deep
kill -INT $recorder
wait $recorder
is $? 0 "recorded"
kill $mapper
"$report" -q many.prf | grep '^deep;' > deep.folded
samples=$(awk '{ n += $NF } END { print n + 0 }' deep.folded)
cut=$(grep -F '[incomplete]' deep.folded | awk '{ n += $NF } END { print n + 0 }')
number "$samples > 100 && $cut * 10 < $samples" "of $samples samples of the other user's program $cut are cut off"
number "$before < 100" "$before of the 120 large tables were made before"
number "$(made) > $before" "... and $(made) then"
finish
