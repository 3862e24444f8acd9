#!/bin/sh
# The rule of the rooms: who may include whom.
. "$(dirname "$0")/../lib.sh"
cd "$top" || exit 1

# none NAME PATTERN FOLDER...: no file of the folders may match
none() {
	name=$1
	pattern=$2
	shift 2
	found=$(grep -rnE --include='*.[ch]' "$pattern" "$@" 2>/dev/null)
	if [ -z "$found" ]; then ok "$name"; else not_ok "$name" "$found"; fi
}

none "common includes no other room" '^#include "(format|record|report|bpf|bench)/' common
none "format includes common only" '^#include "(record|report|bpf|bench)/' format
none "record does not include report" '^#include "(report|bench)/' record
none "report does not include record or bpf" '^#include "(record|bpf|bench)/' report
none "the kernel half stands alone" '^#include "(common|format|record|report|bench)/' bpf
none "libbpf is used by record and bench only" '^#include <bpf/(libbpf|bpf)\.h>' common format report
none "libdw is used by report only" '^#include <elfutils/libdw' common format record
none "only programs print" '\b(fprintf\(stderr|perror\()' format
none "only programs exit" '[^_a-z](exit|abort)\(' format common

for room in common format record report bench; do
	for header in "$room"/*.h; do
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
