#!/bin/sh
# Measures what a gate can judge, into the folder given (default: bench-results). Needs root for
# the BPF part and valgrind for the counts.
#
#     bench/ci/measure.sh [FOLDER] [PROF-BENCH]
set -eu
folder=${1:-bench-results}
bench=${2:-build/prof-bench}
mkdir -p "$folder"
"$bench" instr --iterations 1 --filter '^(common|drain/resolve|format|xdp)|1e4' --bmf "$folder/instructions.json"
"$bench" heap --iterations 1 --filter '^(drain/resolve|format|xdp)|1e4' --bmf "$folder/heap.json"
"$bench" bpf --object "$(dirname "$bench")/bench/suite/xdp_example.bpf.o" --test-run --bmf "$folder/bpf.json"
"$bench" run --time 2 --measurements 50 --bmf "$folder/time.json"
