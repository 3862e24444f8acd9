#!/bin/sh
# The systemd units: systemd finds nothing wrong with them, and what that of prof-record starts records
# with no more privileges than it has.
. "$(dirname "$0")/../lib.sh"
unit=$work/prof-record.service
mkdir "$work/bin"
ln -s "$record" "$work/bin/prof-record"
sed "s|@PREFIX@|$work|" "$top/.ci/packaging/prof-record.service.in" > "$unit"
if command -v systemd-analyze > /dev/null; then
	is "$(systemd-analyze verify --man=no "$unit" 2>&1); $?" "; 0" "systemd finds nothing wrong"
	cp "$top/.ci/packaging/prof-ship" "$work/bin"
	sed "s|@PREFIX@|$work|g" "$top/.ci/packaging/prof-ship.service.in" > "$work/prof-ship.service"
	is "$(systemd-analyze verify --man=no "$work/prof-ship.service" 2>&1); $?" "; 0" "nor with that of prof-ship"
else
	skip "systemd finds nothing wrong" "there is no systemd-analyze"
fi

need_bpf
command -v setpriv > /dev/null || skip_all "no setpriv"
# As systemd would: variables and the folder of state filled in, within the unit's capabilities.
setting() { sed -n "s/^$1=//p" "$unit"; }
mkdir "$work/found"
for assignment in $(setting Environment | sed "s|%C|$work/found|"); do eval "$assignment"; done
PROF_OPTIONS="--duration=1 --embed"
export PROF_LABELS=service=unit
command=$(setting ExecStart | sed "s|%S|$work|")
mkdir "$work/prof"
eval "set -- $command"
like "$*" "prof-record -q -a -F 19 --switch-output=60s --max-files 1440 .*--duration=1 --embed$" "the variables are used"
capabilities=$(setting CapabilityBoundingSet | tr 'A-Z' 'a-z' | sed 's/cap_/+/g; s/ /,/g')
if setpriv --no-new-privs --bounding-set="-all,$capabilities" --inh-caps=-all true 2> "$work/err"; then
	# An idle machine has no names to find.
	timeout 60 awk 'BEGIN { for (;;) n++ }' &
	busy=$!
	setpriv --no-new-privs --bounding-set="-all,$capabilities" --inh-caps=-all "$@" > "$work/out" 2>&1
	is "$?: $(cat "$work/out")" "0: " "what it starts records"
	kill $busy
	"$report" --check "$work"/prof/trace.prf.* > "$work/out" 2>&1
	is $? 0 "into a whole trace"
	is "$(ls "$work/found")" prof "with --embed the names that it finds are kept for the next one"
	like "$("$report" --info "$work"/prof/trace.prf.*)" "^service = unit$" "and labels that the administrator has set"
else
	skip "what it starts records" "$(cat "$work/err")"
fi
finish
