#!/bin/sh
# One recording in several files, each complete by itself.
. "$(dirname "$0")/../lib.sh"
need_bpf
compile_c -O1 -g -pthread -o "$work/burn" "$top/tests/e2e/programs/burn.c"

# total FILES...: samples of all files; words before the number when one of them is not right.
total() {
	for file; do
		"$report" --info --json "$file"
	done > "$work/infos"
	python3 - "$work/infos" <<'P'
import json, sys
text, at, samples = open(sys.argv[1]).read(), 0, 0
while text[at:].strip():
    while text[at].isspace():
        at += 1
    d, at = json.JSONDecoder().raw_decode(text, at)
    if not d["complete"]:
        print("not complete", end=" ")
    if d["fired"] != d["samples"] + sum(d["lost"].values()):
        print("fired", d["fired"], "but has", d["samples"], "and lost", d["lost"], end=" ")
    samples += d["samples"]
print(samples)
P
}

began=$(date +%s)
said=$(PROF_LABELS=service=web,zone=north "$record" -M zone=south --switch-output=300ms -F 999 -o "$work/time.prf" -- "$work/burn" 1000 2>&1)
set -- "$work"/time.prf.*
number "$# >= 2" "by time: $# files"
is "$(total "$@")" "$(printf '%s' "$said" | sed -n 's/.*: \([0-9]*\) samples.*/\1/p')" "no sample is lost or doubled between them"
like "$said" "$# files" "the last line counts them"
starts=$(for file; do "$report" -q --info "$file" | sed -n 's/^start_monotonic_ns = //p'; done)
is "$(printf '%s\n' "$starts" | sort -nu | wc -l)" $# "each says when it began, by CLOCK_MONOTONIC"
is "$(for file; do "$report" -q --info "$file"; done | grep -cE '^start_time = .*\.[0-9]{9}Z$')" $# "and by the wall clock, in nanoseconds"
if command -v python3 > /dev/null; then
	"$report" -q -f parquet "$@" -o "$work/rows.parquet"
	"$top/tests/parquet-rows.py" rows "$work/rows.parquet" host service labels | sort -u > "$work/rows"
	is "$(cat "$work/rows")" \
		"{\"host\": \"$(uname -n)\", \"service\": \"web\", \"labels\": {\"service\": \"web\", \"zone\": \"south\"}}" \
		"each has the notes of PROF_LABELS and -M, and rows of -f parquet have them"
	"$top/tests/parquet-rows.py" rows "$work/rows.parquet" time_unix_ns > "$work/times"
	number "$(sed -n '1s/.* \([0-9]*\)}/\1/p' "$work/times") / 1e9 >= $began &&
		$(sed -n '$s/.* \([0-9]*\)}/\1/p' "$work/times") / 1e9 <= $(date +%s) + 1" "and when they were, by the wall clock"
fi
like "$("$report" "$2" 2> /dev/null)" '^burn;.*work;(seventy|twenty|ten)' "the second can be read without the first"
is "$("$report" "$@" 2> /dev/null | awk '{ n += $NF } END { print n }')" "$(total "$@")" "all together are the whole"

is "$(find "$work" -name '*.partial')" "" "no name says that a file is not whole"

"$record" -q --switch-output=200ms --max-files=2 -F 99 -o "$work/few.prf" -- "$work/burn" 800
set -- "$work"/few.prf.*
is $# 2 "--max-files keeps the newest"
"$record" -q --switch-output=200ms --max-files=1 -F 99 -o "$work/few.prf" -- "$work/burn" 500
is "$(find "$work" -name 'few.prf.*' | wc -l), $(ls "$1" "$2")" "3, $1
$2" "and those of an earlier recording"
like "$(total "$@")" '^[0-9]+$' "which are complete"

"$work/burn" 0 &
burn=$!
"$record" -q --switch-output=signal -F 99 -o "$work/signal.prf" -p $burn 2> "$work/err" &
recorder=$!
count() { set -- "$work"/signal.prf.*; [ -e "$1" ] && echo $# || echo 0; }
reach() { i=0; until [ "$(count)" -ge "$1" ] || [ $i = 300 ]; do sleep 0.1; i=$((i + 1)); done; }
# The file appears when everything is set up, also the signal.
reach 1
is "$(find "$work" -name 'signal.prf.*' | grep -c '\.partial$')" 1 "what is written is called .partial"
kill -USR2 $recorder
reach 2
kill -USR2 $recorder
reach 3
is "$(count)" 3 "by signal: one more file for each"
is "$(find "$work" -name 'signal.prf.*' ! -name '*.partial' -exec "$report" --info {} \; | grep -c '^complete  *yes')" 2 \
	"those without that end are whole"
kill -INT $recorder
wait $recorder
is $? 0 "and it ends well"
like "$(total "$work"/signal.prf.*)" '^[0-9]+$' "with complete files"
kill $burn

# Page faults by the thousand make large files fast.
sh -c 'while :; do /bin/true; done' &
loop=$!
"$record" -q --max-size=64K -z 0 -e page-faults/period=1/ -o "$work/limit.prf" -d 60 -p $loop
# A file that cannot be written to its end keeps the name of one that is not whole.
(ulimit -f 2; trap '' XFSZ; "$record" -q --switch-output=64K -z 0 -e page-faults/period=1/ -o "$work/cut.prf" -d 60 -p $loop) 2> "$work/err"
is "$?: $(find "$work" -name 'cut.prf.*' | grep -vc '\.partial$')" "1: 0" "what was cut short is not called whole"
number "$(wc -c < "$work/limit.prf") >= 65536" "--max-size ends the recording when it is reached"
like "$("$report" --info "$work/limit.prf")" 'complete +yes' "with a complete trace"
"$record" -q --switch-output=64K --max-size=300K -z 0 -e page-faults/period=1/ -o "$work/size.prf" -d 60 -p $loop
set -- "$work"/size.prf.*
number "$# >= 2" "by size: $# files"
like "$(total "$@")" '^[1-9][0-9]*$' "all of them complete"

# A folder that is replaced by a link gets nothing more, and neither does where the link leads.
mkdir "$work/folder" "$work/elsewhere"
"$record" -q --switch-output=100ms -F 99 -o "$work/folder/x.prf" -d 60 -p $loop 2> "$work/err" &
recorder=$!
i=0
until [ "$(find "$work/folder" -name 'x.prf.*' ! -name '*.partial' | wc -l)" -ge 2 ] || [ $i = 300 ]; do
	sleep 0.1
	i=$((i + 1))
done
# While a file is open, that is: not between two.
kill -STOP $recorder
while [ -z "$(find "$work/folder" -name '*.partial')" ] && kill -CONT $recorder; do
	sleep 0.05
	kill -STOP $recorder
done
mv "$work/folder" "$work/moved" && ln -s elsewhere "$work/folder"
kill -CONT $recorder
wait $recorder
is $? 1 "a folder that is replaced while a series is written ends it"
like "$(cat "$work/err")" 'folder/x\.prf\..*cannot be renamed' "with a message"
is "$(ls -A "$work/elsewhere")" "" "nothing is written where a link in its place leads"
for file in "$work"/moved/*; do
	"$report" --info "$file"
done > "$work/infos"
number "$(grep -c '^complete  *yes' "$work/infos") >= 2" "what was written before is whole"
kill $loop

like "$("$record" --max-files=2 -a 2>&1)" 'needs --switch-output' "--max-files alone makes no sense"
like "$("$record" --switch-output=1s -o - -a 2>&1)" 'needs a file name' "nor does a series on standard output"
finish
