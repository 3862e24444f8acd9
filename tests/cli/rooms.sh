#!/bin/sh
# The rule of the rooms: who may include whom.
. "$(dirname "$0")/../lib.sh"
once_is_enough
cd "$top" || exit 1

# none NAME PATTERN FOLDER...: no file of the folders may match
none() {
	name=$1 pattern=$2
	shift 2
	found=$(grep -rnE --include='*.[ch]' "$pattern" "$@" 2>/dev/null)
	if [ -z "$found" ]; then ok "$name"; else not_ok "$name" "$found"; fi
}

# planted NAME FILE INCLUDE: tests/includes.py finds that FILE of a copy includes what it may not
planted() {
	copy=$work/copy
	rm -rf "$copy"
	mkdir "$copy"
	cp -r common format bpf record report bench "$copy"
	printf '#include "%s"\n' "$3" >> "$copy/$2"
	output=$(tests/includes.py "$copy")
	like "$output" "$4" "$1"
}

holds "every include keeps the rules, and no modules include each other in a circle" tests/includes.py
planted "a room that includes a room on its right is found" common/array.c format/prf.h \
	'^common/array.c:[0-9]+: common/ may not include format/prf.h$'
planted "... record and report, which share nothing" record/main.c report/options.h \
	'^record/main.c:[0-9]+: record/ may not include'
planted "... a sub-room, too" record/system/proc.c record/spaces/world.h \
	'^record/system/proc.c:[0-9]+: record/system/ may not include record/spaces/world.h$'
planted "... and one that includes the room above it" report/views/top.c report/options.h \
	'^report/views/top.c:[0-9]+: report/views/ may not include report/options.h$'
planted "... and one of the kernel half" bpf/state/walk_state.bpf.h bpf/walk/unwind_step.bpf.h \
	'^bpf/state/walk_state.bpf.h:[0-9]+: bpf/state/ may not include bpf/walk/unwind_step.bpf.h$'
planted "... and a recorder that includes more than the layout of what the kernel half sends" \
	record/capture/ring.c bpf/tasks/targets.bpf.h \
	'^record/capture/ring.c:[0-9]+: record/capture/ may not include bpf/tasks/targets.bpf.h$'
planted "a circle is found" report/profile/event_set.h report/profile/tally.h \
	'^cycle: report/profile/event_set report/profile/tally$'
none "libbpf is used by record and bench only" '^#include <bpf/(libbpf|bpf)\.h>' common format report
none "libdw is used by report only" '^#include <elfutils/libdw' common format record
none "only programs print" '\b(fprintf\(stderr|perror\()' format
none "only programs exit" '[^_a-z](exit|abort)\(' format common

for room in common format bpf record report bench; do
	for header in "$room"/*.h "$room"/*/*.h; do
		[ -e "$header" ] || continue
		guard=$(printf '%s' "$header" | tr 'a-z./-' 'A-Z___')
		grep -qE "^#ifndef ($guard|PRF_H)$" "$header" || not_ok "$header: its guard is $guard"
	done
done
ok "headers have their guards"

without=$(grep -rL --include='*.[ch]' 'SPDX-License-Identifier: GPL-2.0-or-later' \
	common format record report bpf bench tests testdata)
is "$without" "" "every source says its license"
finish
