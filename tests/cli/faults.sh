#!/bin/sh
# prof-report when calls of the C library fail: a few of each kind. `make faults` tries every one.
. "$(dirname "$0")/../lib.sh"
command -v python3 > /dev/null || skip_all "no python3"
readelf -d "$report" 2> /dev/null | grep -q NEEDED || skip_all "a static program takes no library into it"
points=6
[ -z "${PROF_TEST_AGAIN:-}" ] || points=3 # in another build they were six
holds "every report survives, or says what is wrong" "$top/tests/faults/run" --points $points report
# A program that is not what it should be is found out.
mkdir "$work/build" "$work/build/testdata"
cp "$build/testdata/trace_text" "$work/build/testdata/"
cat > "$work/build/prof-report" <<'SCRIPT'
#!/bin/sh
[ -z "${FAULT:-}" ] || exit 1
echo report
for last; do :; done
printf 'memory 3\nopen 0\nmap 0\nread 0\nwrite 0\nclose 0\nname 0\nfork 0\n' > "$FAULT_COUNTS"
SCRIPT
chmod +x "$work/build/prof-report"
output=$(BUILD=$work/build "$top/tests/faults/run" --run folded report)
is "$?" 1 "a failure without a message is found"
like "$output" "folded: FAULT='memory ENOMEM 1 1': status 1 without a message" "and can be repeated"
finish
