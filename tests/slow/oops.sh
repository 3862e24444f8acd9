#!/bin/sh
# `make oops`: the recorder's fault is seen in its profile, and in the allocations of a sample.
. "$(dirname "$0")/../lib.sh"
need_bpf
[ -z "${SAN:-}" ] || skip_all "valgrind and sanitizers do not go together"
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES

need make -s -C "$top" -j"$(nproc)" BUILD="$build/oops" INJECT=drain all
output=$(make -s -C "$top" BUILD="$build" oops 2>&1)
is "$?" 0 "make oops"
like "$(printf '%s\n' "$output" | grep -m 1 '^[0-9]* prof-record;')" ';oops;' "the recorder spends most time in the function that sleeps"
is "$(printf '%s\n' "$output" | sed -n 's/^ *allocated-blocks *//p' | tr '\n' ' ')" "2 3 " "it allocates once more for each sample"
number "$(wc -c < "$build/oops.html") > 10000" "there is a page of it"
finish
