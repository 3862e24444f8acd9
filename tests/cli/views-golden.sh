#!/bin/sh
# The text of the views, to the letter, on a small trace that has something of everything.
# ACCEPT=1 rewrites what is expected.
. "$(dirname "$0")/../lib.sh"

here=$top/tests/cli/views
cd "$work" || exit 1
need "$build/testdata/trace_text" "$here/views.txt" -o views.prf

# shows NAME OPTIONS...
shows() {
	name=$1
	shift
	# Sizes depend on the compression and are not compared.
	"$report" -q "$@" views.prf 2>&1 | sed 's/^\(block .*\) offset=.* type=/\1 type=/; s/ stored=.*//
		/^size  /d; /"file_bytes"/d; /"raw_bytes"/d; /"blocks"/d; s/ blocks=.*//' | golden "$here/$name.expected" "$name: prof-report $*"
}

shows folded
shows folded-everything --annotate --tid --cpu --event --cgroup --addrs --lines --modules --delimiter
shows folded-waits --off-cpu --wakers --annotate
shows folded-wall --wall --no-kernel
shows folded-faults --event=page-faults --value weight
shows top -f top
shows top-lines -f top --by line --limit 5
shows top-callers -f top --function '^work$'
shows top-csv -f top --csv
shows tree -f tree
shows tree-json -f tree --json
shows script -f script
shows jsonl -f jsonl
shows info --info
shows info-json --info --json
shows dump --dump
"$report" views.prf 2>&1 > folded | golden "$here/messages.expected" "messages"
finish
