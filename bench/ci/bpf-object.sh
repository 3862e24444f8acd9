#!/bin/sh
# For a project with a BPF program of its own: measures the program with prof-bench, which is all
# that it needs of prof, and judges it by the history of its main branch.
#
#     bpf-object.sh HISTORY.jsonl OBJECT.bpf.o [OPTIONS of prof-bench bpf] [-- COMMAND]
#
# As in: bpf-object.sh history.jsonl filter.bpf.o --test-run
#        bpf-object.sh history.jsonl filter.bpf.o --interface eth0 -- ./make-traffic
#        DRY_RUN=1 COUNTS=1 bpf-object.sh history.jsonl filter.bpf.o --test-run
#
# Counts (verified instructions, sizes) repeat, and are judged from the second run on. Times need eight
# runs, and a quiet machine; with COUNTS=1 they are kept, and not judged. With DRY_RUN=1 nothing is
# added to the history: for candidates. With ACCEPT=1 what regressed is accepted.
# Status 0: fine, or the first run, which begins the history; 1: something regressed; 2: it could not be
# measured; 3: inconclusive, as there are too few values yet, or the noise of the machine could hide a slowdown.
set -u
usage="usage: bpf-object.sh HISTORY.jsonl OBJECT.bpf.o [OPTIONS of prof-bench bpf] [-- COMMAND]"
history=${1:?$usage}
object=${2:?$usage}
shift 2
bench=${PROF_BENCH:-prof-bench}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

cat > "$work/thresholds" <<'END'
*  verified-instructions  percentage  -  0.02    max=1
*  xlated-bytes           percentage  -  0.02    max=1
*  jited-bytes            percentage  -  0.02    max=1
*  map-bytes              percentage  -  0.01    max=1
*  latency                t_test      -  0.9999  min=8 max=64 find=0.1
*  test-run-latency       t_test      -  0.9999  min=8 max=64 find=0.1
END
[ -z "${COUNTS:-}" ] || sed -i '/t_test/d' "$work/thresholds"
"$bench" bpf --object "$object" --bmf "$work/results.json" "$@" || exit 2
# A program that is new has no earlier counts. If nothing at all has, the gate says so.
missing=
{ [ -s "$history" ] && [ -z "${COUNTS:-}" ]; } || missing=--allow-missing-baseline
"$bench" gate --thresholds "$work/thresholds" --history "$history" ${DRY_RUN:+--dry-run} ${ACCEPT:+--accept} $missing \
	--hash "${HASH:-$(git rev-parse HEAD 2> /dev/null || echo unknown)}" \
	--testbed "${TESTBED:-$(uname -n)}" "$work/results.json"
