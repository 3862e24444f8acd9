#!/bin/sh
# The commands of prof-fleet(7), on two hosts: namespaces with a name and a network of their own. ClickHouse
# is the one of clickhouse-http.py; times are shorter, and folders are those of the test.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/shipping.sh"
modules=${FLEET_MODULES:-$build/fleet/node_modules}
need_bpf
[ -d "$modules/@chdb/lib-linux-x64-gnu" ] || skip_all "make deps-fleet has not installed @chdb/lib-linux-x64-gnu"
need_tools python3 curl flock ip unshare bash
cd "$work" || exit 1
PATH=$build:$top/.ci/packaging:$PATH
export HOME="$work"
compile_c -O1 -g -pthread -o burn "$top/tests/e2e/programs/burn.c"
mkdir server installed
cp "$top"/report/sql/clickhouse/*.sql installed
# Each host has a cable to here.
net=prof$$
hosts="one two"
unplug() { for host in $hosts; do ip netns del $net-$host; done 2> /dev/null; }
trap 'unplug; cleanup' EXIT
trap 'exit 1' INT TERM
number=0
for host in $hosts; do
	number=$((number + 1))
	if ! { ip netns add $net-$host && ip link add v$$-$number type veth peer name eth0 netns $net-$host &&
		ip addr add 10.213.$number.1/24 dev v$$-$number && ip link set v$$-$number up &&
		ip netns exec $net-$host ip addr add 10.213.$number.2/24 dev eth0 && ip netns exec $net-$host ip link set eth0 up; } 2> said; then
		skip_all "no network namespaces: $(cat said)"
	fi
	echo 10.213.$number.1 >> server/addresses
done

serve server "$top/tests/fleet/clickhouse-http.py" "$modules" "$work/server" 2> server/said

# block N ADDRESS FOLDER: the page's N-th block of commands, as a host with this address of the server runs it
block() {
	sed 's/\\-/-/g' "$top/man/prof-fleet.7" | awk -v n="$1" '/^\.EE/ { on = 0 } on { print } /^\.EX/ && ++block == n { on = 1 }' |
		sed "s|http://ch:8123|http://$2:$port|; s|/usr/local/share/prof/sql/clickhouse|$work/installed|; s|/var/lib/prof|$work/$3|
			s|-q -a -F 19 --switch-output=60s|-q -a -F 99 --switch-output=500ms -d 2|; s|prof-ship |prof-ship --once |"
}
is "$(grep -c '^\.EX' "$top/man/prof-fleet.7")" 6 "the page has six blocks of commands"
block 1 127.0.0.1 > commands
bash -e commands > out 2>&1
is "$?:$(cat out)" 0: "the server: its table is made"

number=0
for host in $hosts; do
	number=$((number + 1))
	./burn 0 &
	burn=$!
	service=web
	[ $host = one ] || service=batch
	block 2 10.213.$number.1 $host | sed "s/service=web/service=$service/" > commands-$host
	# A machine that is busy may leave the program no time in so short a recording.
	n=0
	while
		n=$((n + 1))
		ip netns exec $net-$host unshare --uts sh -c "hostname host-$host && exec bash -e commands-$host" > out 2>&1
		status=$?
		burning="SELECT count() FROM samples WHERE has(names, 'seventy') AND service = '$service'"
		[ $status = 0 ] && [ $n -lt 20 ] && [ "$(curl -sS --data-binary "$burning" "http://127.0.0.1:$port/?database=prof")" = 0 ]
	do :; done
	is "$status:$(cat out)" 0: "host $host: recorded, and sent over its own network"
	kill $burn
done
block 3 127.0.0.1 > commands
bash -e commands > out 2>&1
like "$?:$(sort out | tr '\t\n' '  ')" '^0:host-one web [1-9][0-9]* host-two batch [1-9][0-9]* $' "the server has rows of both"
{
	block 4 127.0.0.1
	block 5 127.0.0.1
	block 6 127.0.0.1 | sed "s/deploy=.*/deploy='$(date -u -d '1 hour ago' '+%Y-%m-%d %H:%M:%S' | sed 's/ /%20/')'/"
} > commands
bash -e -o pipefail commands > out 2> said
is "$?:$(cat said)" 0: "its questions are answered"
like "$(cat out)" '^[0-9]+	[1-9][0-9]*	.' "functions as a table"
like "$(cat out)" '^host-one	web	[0-9]+	[0-9]+$' "where main runs"
unlike "$(cat out)" 'host-two' "only the service that was asked for"
has() {
	python3 -c 'import base64, re, sys, zlib
data = re.search("id=\"data\">([^<]*)", open(sys.argv[1]).read()).group(1)
sys.exit(sys.argv[2].encode() not in zlib.decompress(base64.b64decode(data)))' "$@"
}
holds "the page has the functions" has web.html seventy
holds "and so has the one of what changed" has changed.html seventy
is "$(wc -c < before.folded)" 0 "there was nothing before"
is "$(find one two -name 'trace.prf.*' | wc -l)" 0 "all traces have been sent"
kill -KILL $server
unplug
finish
