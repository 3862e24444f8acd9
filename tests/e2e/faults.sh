#!/bin/sh
# prof-record when calls of the C library fail, or it is killed, or ended: a few of each kind. `make
# faults`, `make kills` and `make ends` try more.
. "$(dirname "$0")/../lib.sh"
need_bpf
command -v python3 > /dev/null || skip_all "no python3"
holds "a recorder that is killed leaves a trace that can be read" "$top/tests/faults/kills" --kills 3
if command -v "${cc%% *}" > /dev/null; then
	holds "one that a signal ends leaves a complete trace" "$top/tests/faults/ends" --each 1 \
		starting "a pipe that nobody reads" "a series"
else
	skip "ends" "$cc is not here"
fi
readelf -d "$record" 2> /dev/null | grep -q NEEDED || { skip "faults" "a static program takes no library into it"; finish; }
[ -z "${SAN:-}" ] || { skip "faults" "with sanitizers it takes minutes: make faults"; finish; }
holds "it survives, or says what is wrong" "$top/tests/faults/run" --points 2 record
finish
