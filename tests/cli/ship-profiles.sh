#!/bin/sh
# prof-ship --to=pyroscope and --to=parca: what arrives is what prof-report folds, and nothing is lost unsaid.
# profile-server.py refuses what these servers refuse.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/shipping.sh"
once_is_enough
need_tools python3 curl flock
cd "$work" || exit 1
PATH=$build:$PATH
serve . "$top/tests/cli/profile-server.py" "$work"
mkdir series
url=http://127.0.0.1:$port
ship() { "$top/.ci/packaging/prof-ship" --dir="$work/series" --once --timeout=20 --to=$to "$@" 2> said; }
left() { find series ! -type d ! -name lock | wc -l; }
mode() { echo "$1" > mode; }

# trace NAME SECONDS [METADATA]: that many seconds old, with three events and hostile names
trace() {
	{
		printf 'metadata "start_monotonic_ns" "1000000000"\n%s\n' "${3:-}"
		printf 'metadata "start_time" "%s"\n' "$(date -u -d "-$2 seconds" '+%Y-%m-%dT%H:%M:%S.000000000Z')"
		sed '/"start_time"/d' "$top/tests/cli/views/views.txt"
	} > text
	need "$build/testdata/trace_text" text -o "$1"
}
trace now.prf 60 'metadata "service" "web \"shop\""'
grep -vE '^(event 3|sample [0-9]+ [0-9]+ 2) ' text > two-events
need "$build/testdata/trace_text" two-events -o two-events.prf
trace old.prf 7200
traces=100
put() {
	traces=$((traces + 1))
	cp "$1" "series/trace.prf.20260102T030405.$traces"
}

for to in pyroscope parca; do
	rm -rf taken/*
	put now.prf
	ship "$url"
	is "$?:$(cat said):$(left)" 0::0 "$to: a trace is sent"
	is "$(cat taken/?.labels | xargs)" "__name__=page_faults host=box service_name=web__shop_ __name__=off_cpu host=box service_name=web__shop_ __name__=process_cpu host=box service_name=web__shop_" \
		"$to: as a series for each event, with its service"
	for event in 2:cpu-clock 1:off-cpu 0:page-faults; do
		"$report" -q --no-cache --event=${event#*:} --value=samples now.prf > expected
		holds "$to: ${event#*:}: the profile has the stacks of prof-report -f folded" cmp expected taken/${event%:*}.folded
	done
	rm -rf taken/*
	put now.prf
	ship --labels=pid "$url/"
	is "$?:$(sed "s|[; ].*||" taken/2.folded | sort -u)" "0:?" "$to: other labels of samples, and a URL that ends in a slash"
	for fixture in waits cpp go; do
		put "$top/testdata/fixtures/$fixture.prf"
		[ $to = parca ] || rm "series/trace.prf.20260102T030405.$traces"
	done
	ship "$url"
	is "$?:$(cat said):$(left)" 0::0 "$to: so are those of real programs"

	# What passes is waited for.
	for status in 401 403 404 429 500 503; do
		mode $status
		put now.prf
		ship "$url"
		is "$?:$(wc -l < said):$(left)" 1:1:2 "$to: $status: the file waits, which is said"
		rm -rf taken/*
		mode "200 taken"
		ship "$url"
		is "$?:$(cat said):$(find taken | wc -l):$(left)" 0::7:0 "$to: $status: then it is sent"
	done
	put now.prf
	ship "$url/nowhere"
	like "$?:$(cat said):$(left)" "^1:prof-ship: trace.*\.$to: 404 page not found:2" "$to: a wrong URL is said, and the file waits"
	ship "$url"

	# What does not pass is put aside, and stops nothing.
	mode 400
	put now.prf
	ship "$url"
	mode "200 taken"
	like "$?:$(cat said)" "never take this profile: .*aside is for you" "$to: what the server will never take is put aside, which is said"
	is "$(find series -name '*.aside' | wc -l):$(left):$(grep -c 'never take' said)" 3:3:1 "$to: ... each profile, said once"
	again() {
		for aside in $(find series -name '*.aside'); do
			mv "$aside" "${aside%.aside}.$to"
		done
	}
	again
	rm -rf taken/*
	ship "$url"
	is "$?:$(find taken -name '*.labels' | wc -l):$(left)" 0:3:0 "$to: it is sent when it has its name again"

	# What stops one profile does not stop those before, nor sends them again; what is refused does not stop any.
	for status in 503:2:1 400:1:2; do
		mode "${status%%:*} but off_cpu"
		rm -rf taken/*
		put now.prf
		ship "$url"
		is "$?:$(left):$(find taken -name '*.labels' | wc -l)" "1:${status#*:}" "$to: ${status%%:*} for one of three profiles"
		mode "200 taken"
		again
		ship "$url"
		is "$?:$(cat said):$(left):$(cat taken/*.labels | grep -c __name__)" 0::0:3 "$to: ... each is sent once"
	done
done

to=pyroscope
for _ in 1 2 3 4; do put old.prf; done # one more than may fail in a row
put now.prf
rm -rf taken/*
ship "$url"
is "$?:$(grep -c 'outside of ingestion window' said):$(find taken -name '*.labels' | wc -l)" 1:4:3 "traces that are too old for Pyroscope are said, and do not stop others"
is "$(find series -name '*.aside' | wc -l)" 12 "... they are put aside"
rm series/ship/*.aside

# What is too large for Pyroscope is sent as several profiles, of parts of the time.
need "$build/testdata/make_trace" -n 30000 -k 30000 -d 6 -O "$report" -o many-stacks.prf
# long NAMES MOMENTS: a trace of functions with long names, sampled in so many moments, a second apart
long() {
	awk -v names="$1" -v moments="$2" 'BEGIN {
		print "event 0 \"cpu-clock\" \"samples\" 99 0\nobject 5 \"[jit]\" \"\" \"\"\ntask 1 1 \"work\" \"\" \"\""
		for (long = "long"; length(long) < 4000;)
			long = long long
		for (i = 0; i < names; i++)
			printf "frame 0 0 %d\nstack - %d\nnames %d \"%s_%d\" \"\" 0 0\nsample %d000000000 0 0 %d 0 1\n", 256 * i, i, i, long, i, 1 + int(i * moments / names), i
		print "finish"
	}' > text
	need "$build/testdata/trace_text" text -o "$3"
}
long 1200 1200 many-bytes.prf
for large in many-stacks many-bytes; do
	"$report" -q --no-cache $large.prf > expected
	for to in parca pyroscope; do
		rm -rf taken/*
		put $large.prf
		ship "$url"
		is "$?:$(cat said):$(left)" 0::0 "$to: $large: it is sent"
		awk '{ n = $NF; sub(/ [0-9]+$/, ""); sum[$0] += n } END { for (stack in sum) print stack, sum[stack] }' \
			taken/*.folded | LC_ALL=C sort > got
		holds "$to: ... all of it" cmp expected got
		find taken -name '*.labels' | wc -l > $to
	done
	number "$(cat parca) == 1 && $(cat pyroscope) > 1" "... to Parca as one profile, to Pyroscope as several"
	is "$(cat taken/*.labels | sort | uniq -c | awk '{ print $1 }' | uniq)" "$(cat pyroscope)" "... with the same labels"
done

# What cannot be cut is put aside, as such a server would not take it at any time.
long 1100 2 two-moments.prf
rm -rf taken/*
put two-moments.prf
put now.prf
ship "$url"
is "$?:$(left):$(find taken -name '*.labels' | wc -l):$(grep -c 'never take' said)" 1:2:3:1 "two profiles of one moment are too large, which is said, and put aside"
rm series/ship/*.aside

# What waits for one server is not sent to another, and is not forgotten.
mode 503
put now.prf
ship "$url"
waits=$(left)
to=parca
mode "200 taken"
rm -rf taken/*
ship "$url"
is "$?:$(find taken -name '*.labels' | wc -l):$(find series -name '*.pyroscope' | wc -l)" 0:0:1 "what waits for Pyroscope is not sent to Parca"
to=pyroscope
ship "$url"
is "$waits:$(left):$(find taken -name '*.labels' | wc -l)" 2:0:3 "... but to Pyroscope"

# Names of events are no patterns, and may have any characters.
cat > text <<END
metadata "start_monotonic_ns" "1000000000"
metadata "start_time" "$(date -u '+%Y-%m-%dT%H:%M:%S.000000000Z')"
event 0 "a*" "samples" 0 1
event 0 "a[b]" "samples" 0 1
event 0 "a\"?\\\\" "samples" 0 1
event 0 "ab" "samples" 0 1
object 0 "/x" "" ""
task 1 1 "t"
frame 0 0 1
stack - 0
sample 1000000001 0 0 0 0 1
sample 1000000002 0 1 0 0 1
sample 1000000003 0 2 0 0 1
sample 1000000004 0 3 0 0 1
finish
END
need "$build/testdata/trace_text" text -o names.prf
rm -rf taken/*
put names.prf
ship "$url"
is "$?:$(cat said):$(cat taken/*.folded | uniq -c | xargs)" "0::4 t;[x] 1" "of events with hostile names each has its own samples"

# A disk that is full in the middle of a request.
mkdir failing
real=$(command -v base64)
cat > failing/base64 <<-END
#!/bin/sh
"$real" "\$@" | head -c 100
echo 'base64: write error: No space left on device' >&2
exit 1
END
chmod +x failing/base64
put now.prf
PATH=$work/failing:$PATH ship "$url"
is "$?:$(grep -c 'traces wait for space' said):$(left)" 1:1:1 "with a full disk the trace waits"
ship "$url"
is "$?:$(cat said):$(left)" 0::0 "... and is sent when there is space"

# Killed after each of its commands that changes what it would find when it is started again, and started again: all
# arrives, and at most one profile twice. Of a trace with two events, which has all there is to the first profile, to
# the last one, and between two; and, after each fourth of these commands, of one that is sent in parts.
killed_after curl prof-report ln mv rm sync touch base64 gzip truncate
long 600 600 parts.prf
for every in two-events:1 parts:4; do
	every_trace=${every%:*} every=${every#*:}
	rm -rf taken/*
	put $every_trace.prf
	changing_steps "$top/.ci/packaging/prof-ship" --dir="$work/series" --once --to=$to "$url" > steps
	is "$?:$(cat said):$(left)" 0::0 "$every_trace: it is sent"
	whole=$(find taken -name '*.labels' | wc -l)
	awk -v every=$every 'NR % every == 0' steps > chosen
	number "$(wc -l < chosen) >= 5" "... prof-ship will be killed after the calls $(xargs < chosen)"
	ended=0
	while read -r step; do
		rm -rf taken/*
		put $every_trace.prf
		killed "$step" "$top/.ci/packaging/prof-ship" --dir="$work/series" --once --to=$to "$url" && ended=$((ended + 1))
		ship "$url"
		echo "$(left) $(($(find taken -name '*.labels' | wc -l) - whole))"
	done < chosen > lost
	is $ended "$(wc -l < chosen)" "... it was, each time"
	is "$(sort -u lost | grep -vxE '0 [01]')" "" "each time all of it arrives when it is started again, and nothing is left"
	number "$(grep -cx '0 0' lost) > $(grep -cx '0 1' lost)" "mostly once"
done

for arguments in "--to=elastic $url" "--to=pyroscope $url/?a=b"; do
	# shellcheck disable=SC2086
	"$top/.ci/packaging/prof-ship" --dir=series $arguments > out 2> said
	like "$?:$(wc -l < said):$(cat out said)" '^2:1:prof-ship: ' "wrong: '$arguments'"
done
kill $server
finish
