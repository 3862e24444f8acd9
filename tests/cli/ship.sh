#!/bin/sh
# prof-ship: whatever ends it, or is wrong with the server, each sample of each trace gets there once.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/shipping.sh"
once_is_enough
need_tools python3 curl flock
cd "$work" || exit 1
PATH=$build:$PATH
need "$build/testdata/make_trace" -n 30 -k 5 -d 5 -O "$report" -o small.prf
"$report" -q -f parquet -o small.parquet small.prf
"$top/tests/parquet-rows.py" rows small.parquet trace > /dev/null
[ $? != 77 ] || skip_all "python3 cannot load libzstd"

mkdir server series
serve server "$top/tests/cli/ship-server.py" server
url=http://127.0.0.1:$port/?database=prof
ship() { "$top/.ci/packaging/prof-ship" --dir="$work/series" --once --timeout=20 "$@" "$url" 2> said; }
mode() { echo "$1" > server/mode; }

# put [TRACE [END]]: into the series, under a new name, which is in $last
traces=100
put() {
	traces=$((traces + 1))
	last=trace.prf.20260102T030405.$traces
	cp "${1:-small.prf}" "series/$last${2:-}"
}
# sent TRACE: how many rows of it the server has, and in how many pieces
sent() {
	set -- server/taken/"$1".*
	[ -e "$1" ] || { echo "0 in 0"; return; }
	cat "$@" > all
	echo "$(wc -l < all) in $#, $(sort -u all | wc -l) name"
}
left() { find series ! -type d ! -name lock | sort; }

put
first=$last
put
"$top/.ci/packaging/prof-ship" --dir=series --once "$url" 2> said
is "$?:$(cat said)" 0: "two traces are sent"
is "$(sent "$first"; sent "$last")" "30 in 1, 1 name
30 in 1, 1 name" "each once, under one name"
is "$(left)" "" "nothing is left of them"
like "$(tail -n 1 server/asked)" "insert / .*'async_insert', '0'.*'database', 'prof'.*'insert_deduplication_token', '$last\.[0-9a-f]{16}'.*'query', 'INSERT INTO samples FORMAT Parquet'" \
	"an INSERT has a token, and is answered when it is done"
ship
is "$?:$(cat said)" 0: "without traces there is nothing to do"

# Whatever goes wrong, it is said, and tried again.
for wrong in refuse late silent cut moved words; do
	mode $wrong
	put
	ship
	is "$?:$(wc -l < said):$(left | wc -l)" 1:1:2 "$wrong: the file waits, which is said"
	mode ""
	ship
	is "$?:$(cat said):$(sent "$last"):$(left)" "0::30 in 1, 1 name:" "$wrong: then it is there, once"
done
is "$(grep -c elsewhere server/asked)" 0 "a server that says where else to go is not believed"
mode refuse
put
ship
like "$(cat said)" '^prof-ship: trace.*parquet: Code: 159. DB::Exception: \?\[31mtoo slow' "what the server says is shown, without control characters"
mode hang
ship --timeout=4
is "$?:$(wc -l < said):$(left | wc -l)" 1:1:2 "a server that does not answer is not waited for"
mode ""
ship
is "$(sent "$last"):$(left)" "30 in 1, 1 name:" "then it is there, once"

# One that the server does not take does not stop the others.
put
refused=$last
put
mode "refuse $refused"
ship
is "$?:$(wc -l < said):$(sent "$refused"; sent "$last")" "1:1:0 in 0
30 in 1, 1 name" "a file that is refused waits, and the next one is sent"
mode ""
ship
is "$(sent "$refused")" "30 in 1, 1 name" "then it is there, too"
put
put
put
put
mode refuse
ship
is "$?:$(wc -l < said):$(find series -name '*.sent' | wc -l)" 1:3:3 "a server that takes nothing is not asked for ever"
mode ""
ship

for _ in 1 2 3 4; do put; done
mode "refuse trace"
ship
ship
cp small.prf series/new.20260102T030405.100
ship
is "$?:$(sent new.20260102T030405.100):$(left | grep -c parquet)" "1:30 in 1, 1 name:4" "those that it never takes do not stop new ones, however many they are"
mode ""
ship
is "$?:$(left)" 0: "then they are there, too"

# Killed after each of its commands, and started again.
killed_after curl prof-report ln mv rm sync touch
ship_until() { killed "$1" "$top/.ci/packaging/prof-ship" --dir="$work/series" --once "$url"; }
steps=0
: > shipped
while
	put
	echo "$last" >> shipped
	ship_until $((steps + 1))
do
	steps=$((steps + 1))
	ship
	[ "$(left)" = "" ] || left
done > lost
number "$steps >= 8" "prof-ship was killed after $steps commands"
is "$(cat lost)" "" "nothing is left once it was started again"
is "$(while read -r trace; do sent "$trace"; done < shipped | sort | uniq -c | xargs)" "$((steps + 1)) 30 in 1, 1 name" "each trace is there, once"
number "$(grep -c ^again server/asked) >= 4" "although some were sent again"
# A server without a memory shows that this is what it takes.
mode refuse
put
ship
before=$(set -- server/taken/*; echo $#)
mode naive
step=0
until [ "$(left)" = "" ]; do
	step=$((step + 1))
	ship_until $step
done
number "$(set -- server/taken/*; echo $#) - $before > 1" "and a server that remembers no tokens has some twice"
mode ""

# What may be forgotten is asked for.
for has in all none some; do
	case $has in all) mode late ;; none) mode refuse ;; some) mode refuse ;; esac
	put
	ship
	mode ""
	[ $has != some ] || mode "has 10"
	rm -f server/tokens/*
	# By its age, not by the last try.
	for tried in series/ship/*.sent; do echo $(($(date +%s) - 121)) > "$tried"; done
	ship
	status=$?
	mode ""
	if [ $has = some ]; then
		is "$status:$(sent "$last"):$(left | sed 's/\.[0-9a-f]*\.30/.HASH.30/')" "1:0 in 0:series/ship/$last.HASH.30.aside" "minutes later, a part of it there: it is put aside"
		like "$(cat said)" "the server has 10 of the 30 rows of $last" "... which is said"
	else
		is "$status:$(cat said):$(sent "$last"):$(left)" "0::30 in 1, 1 name:" "minutes later, $has of it there: once"
	fi
done
rm series/ship/*.aside
mode late
put
ship
mode ""
rm -f server/tokens/*
for tried in series/ship/*.sent; do echo $(($(date +%s) + 3600)) > "$tried"; done
ship
is "$?:$(cat said):$(sent "$last"):$(left)" "0::30 in 1, 1 name:" "tried in the future, as the clock was set back: once"
mode refuse
put
ship
for tried in series/ship/*.sent; do : > "$tried"; done
printf 'has \033[31m' > server/mode
ship
is "$?:$(tr -d '[:print:]\n' < said | wc -c):$(left | wc -l)" 1:0:2 "what is no number is not taken for one, and said without control characters"
mode ""
ship

mode old
"$top/.ci/packaging/prof-ship" --dir="$work/series" --once "$url" 2> said
is "$?:$(cat said)" 0: "a table is not asked about when there is nothing to insert"
put
ship
like "$?:$(cat said)" "^1:prof-ship: the server has no table samples that remembers 1000 tokens" "a table without a memory gets nothing"
mode ""
ship

# What is still written, what was left behind, and what is damaged.
put small.prf .partial
ship
is "$(sent "$last"):$(left)" "0 in 0:series/$last.partial" "what is written is left alone"
touch -d '10 minutes ago' "series/$last.partial"
ship
is "$(sent "$last")" "0 in 0" "an old one, too, as long as there is no newer one"
behind=$last
cp small.prf series/other.20260102T030405.100
touch series/other.20260102T030405.100.partial
ship
is "$(sent "$last")" "0 in 0" "nor if there is a newer one of another series"
rm series/other.*
put small.prf .partial
flock "series/$behind.partial" "$top/.ci/packaging/prof-ship" --dir="$work/series" --once "$url" 2> said
is "$?:$(sent "$behind.partial")" "0:0 in 0" "nor if its recorder runs"
ship
is "$(sent "$behind.partial"):$(left)" "30 in 1, 1 name:series/$last.partial" "then it is what a killed recorder left"
touch "series/$behind.partial.names" "series/$last.partial.names"
touch -d '10 minutes ago' "series/$behind.partial.names"
"$top/.ci/packaging/prof-ship" --dir="$work/series" --once "$url" 2> said
is "$?:$(cat said):$(left | xargs)" "0::series/$last.partial series/$last.partial.names" "a copy with names is not sent, and goes if it was left behind"
rm "series/$last.partial" "series/$last.partial.names"
need "$build/testdata/trace_text" "$top/testdata/good-unfinished.txt" -o cut.prf
put cut.prf
samples=$("$report" -q --info cut.prf | sed -n 's/^samples  *//p')
ship
number "0$samples > 0" "a trace without an end has $samples samples"
is "$(sent "$last"):$(left)" "$samples in 1, 1 name:" "they are sent"
"$top/.ci/packaging/prof-ship" --dir="$work/series" --once ftp://me:secret@host 2> said
like "$?:$(cat said)" '^2:prof-ship: the URL of a server begins with http' "another URL is refused"
unlike "$(cat said)" secret "without showing its password"
echo "no trace" > wrong.prf
put wrong.prf
wrong=$last
put
ship
is "$?:$(cat said):$(sent "$last"):$(left)" "1:prof-ship: $work/series/$wrong cannot be read, and stays where it is:30 in 1, 1 name:series/$wrong" \
	"what is no trace stays, and stops nothing"
rm "series/$wrong"
need "$build/testdata/trace_text" "$top/testdata/good-empty.txt" -o empty.prf
put empty.prf
ship
is "$?:$(cat said):$(sent "$last"):$(left)" "0::0 in 0:" "a trace without samples is removed"

# Who is between it and the server has no certificate that is known.
if openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1000 -subj /CN=127.0.0.1 \
	-addext subjectAltName=IP:127.0.0.1 -keyout key -out certificate 2> /dev/null; then
	cat certificate key > both
	mkdir tls
	plain="$server $url"
	serve tls "$top/tests/cli/ship-server.py" tls both
	url=https://127.0.0.1:$port/
	put
	ship
	is "$?:$(grep -c certificate said):$(left | wc -l):$(ls tls)" "1:1:1:port
taken
tokens" "an unknown certificate: nothing is sent, which is said, and the file waits"
	printf 'cacert = certificate\n' > options
	ship --curl-config=options
	is "$?:$(cat said):$(ls tls/taken | wc -l):$(left)" 0::1: "one that is known: it is sent"
	kill $server
	server=${plain%% *} url=${plain#* }
else
	skip "certificates" "openssl is not here"
fi

# A program whose file system does not answer: prof-report waits for it.
mkdir silent
cat > silent/prof-report <<-END
	#!/bin/sh
	case " \$* " in *" --sysroot="*) exec "$report" "\$@" ;; esac
	exec sleep 100
END
chmod +x silent/prof-report
put
PATH=$work/silent:$PATH ship --timeout=4
is "$?:$(sent "$last"):$(left):$(grep -c "^prof-ship: $last.*: prof-report did not end in 4 seconds, or was killed; " said)" "0:30 in 1, 1 name::1" \
	"a trace whose names cannot be looked up is sent without them"

# What is not on the disk for certain, or cannot be made.
failing() {
	mkdir -p failing
	printf '#!/bin/sh\n%s\n' "$2" > "failing/$1"
	chmod +x "failing/$1"
	PATH=$work/failing:$PATH ship
	status=$?
	rm "failing/$1"
	return $status
}
for suffix in new ship; do
	put
	failing sync "case \$1 in *$suffix) exit 1 ;; esac"
	is "$?:$(left | grep -c "^series/$last$")" 1:1 "a trace is kept if its rows are not on the disk (.$suffix)"
	ship
	is "$(sent "$last"):$(left)" "30 in 1, 1 name:" "then it is sent"
done
put
for time in first second; do
	failing sync "case \$1 in *series) ls series | grep -q '^trace.prf' || exit 1 ;; esac"
	is "$?:$(sent "$last"):$(left | grep -c "^series/$last$")" "1:0 in 0:0" \
		"nothing is sent whose trace may be there again after a power failure ($time try)"
done
ship
is "$(sent "$last"):$(left)" "30 in 1, 1 name:" "then it is sent"
put
bad=$last
put
failing prof-report "case \$* in *-f*$bad*) echo out of order >&2; exit 1 ;; esac; exec '$report' \"\$@\""
is "$(cat said):$(sent "$last"):$(left)" "prof-ship: $work/series/$bad cannot be converted (out of order), and stays where it is:30 in 1, 1 name:series/$bad" \
	"one that cannot be converted does not stop the others"
put
failing prof-report "case \$* in *-f*) echo 1 >> '$work/tries'; echo No space left on device >&2; exit 1 ;; esac; exec '$report' \"\$@\""
is "$(wc -l < tries):$(wc -l < said):$(left | wc -l)" 1:1:2 "a full disk is said once, and the traces wait"
ship
is "$(sent "$bad"; sent "$last"; left)" "30 in 1, 1 name
30 in 1, 1 name" "then they are sent"

# No server: disk has a bound, and what is lost is said.
need "$build/testdata/make_trace" -n 20000 -k 8000 -d 30 -O "$report" -o large.prf
away() { "$top/.ci/packaging/prof-ship" --dir="$work/series" --once --limit=1 http://127.0.0.1:9/ 2> said; }
put large.prf
away
size=$(du -k series/ship/*.parquet | cut -f1)
number "$size > 200 && $size < 1000" "a file has $size KiB"
put large.prf
newest=$last
for _ in 1 2 3 4 5; do put large.prf; done
# Names have local times, in which an hour comes twice.
touch -d '1 hour' "series/$newest"
away
is "$?" 1 "without a server, files wait"
number "$(du -sk series | cut -f1) <= 1100" "not more than a megabyte"
gone=$(grep -c '20000 samples are lost: trace' said)
kept=$(find series/ship -name '*.parquet' | wc -l)
is "$((gone + kept))" 7 "each is there, or said to be lost"
number "$gone > 0 && $kept > 0" "the oldest are lost"
number "$(find series/ship -name "$newest*.parquet" | wc -l) == 1" "which their times say, not their names"
before=$(set -- server/taken/*; echo $#)
mode unread
ship
mode ""
is "$(cat said):$(($(set -- server/taken/*; echo $#) - before))" ":$kept" "the others are sent when it is back"

# Two at once, with one spool or two.
for lock in series/ship/lock series; do
	rm -f said locked
	# shellcheck disable=SC2016
	flock $lock sh -c ': > locked
		n=0
		until grep -q "waits for the end" said 2> /dev/null || [ $n = 300 ]; do
			n=$((n + 1))
			sleep 0.1
		done' &
	until [ -e locked ]; do sleep 0.1; done
	put
	ship
	like "$?:$(cat said):$(sent "$last")" "^0:prof-ship: waits for the end of another .*:30 in 1" "a second one waits for the first ($lock)"
	wait $!
done

# By itself, again and again.
mkdir clock
printf '#!/bin/sh\ncat "%s/clock/now"\n' "$work" > clock/date
chmod +x clock/date
date +%s > clock/now
PATH=$work/clock:$PATH "$top/.ci/packaging/prof-ship" --dir="$work/series" --interval=1 "$url" 2> said &
shipper=$!
# arrives NAME: the last trace is there within half a minute
arrives() {
	n=0
	until [ "$(sent "$last")" = "30 in 1, 1 name" ] || [ $n = 300 ]; do
		n=$((n + 1))
		sleep 0.1
	done
	is "$(sent "$last")" "30 in 1, 1 name" "$1"
}
put
arrives "without --once it goes on"
mode refuse
put
n=0
until [ -s said ] || [ $n = 300 ]; do
	n=$((n + 1))
	sleep 0.1
done
mode ""
echo $(($(cat clock/now) - 3600)) > clock/earlier
mv clock/earlier clock/now
arrives "a file is tried again also if the clock is set back"
kill $shipper
kill $server

# Its options.
usage=$("$top/.ci/packaging/prof-ship" --help)
is "$?" 0 "--help"
is "$(printf '%s\n' "$usage" | grep -oE '^  --[a-z-]+' | sort)" \
	"$(sed 's/\\-/-/g' "$top/man/prof-ship.1" | awk '/^\.TP/ { entry = 1; next } entry && /^\.B/ { print } { entry = 0 }' |
		grep -oE '  *--[a-z-]+' | sed 's/^ */  /' | sort)" "the manual page has its options"
for arguments in "" "one two" "ftp://x/" "--nonsense http://x/" "--limit=0 http://x/" "--limit= http://x/" "--table=a.b http://x/" "--dir=nowhere http://x/" \
	"http://x/ http://y/"; do
	# shellcheck disable=SC2086
	"$top/.ci/packaging/prof-ship" $arguments > out 2> said
	like "$?:$(wc -l < said):$(cat out said)" '^2:1:prof-ship: ' "wrong: '$arguments'"
done
finish
