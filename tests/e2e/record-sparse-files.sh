#!/bin/sh
# Programs made of files that are small on disk and claim terabytes, millions of headers or
# symbols times headers: they are recorded and reported as others are. timeout stands for "never":
# without limits each of these took minutes, or all memory.
. "$(dirname "$0")/../lib.sh"
need_bpf
need_tools gcc
cd "$work" || exit 1
need gcc -O2 "$top/tests/e2e/programs/map_code.c" -o map_code
# tmpfs and ext4 both make files of 2 TB; some file systems do not.
truncate -s 3T big 2>/dev/null || skip_all "no sparse file of 3 TB can be made here"
rm big

# record KIND: records and reports a program that runs code of such a file, and then one whose
# file is deleted, so that its names are taken out of it while recording
record_kind() {
	python3 "$top/testdata/sparse_elf.py" "$1" "$1.so"
	timeout 60 "$record" -q -F 199 -o "$1.prf" -- ./map_code "$work/$1.so" 0.3 2> log
	is $? 0 "$1: recorded"
	timeout 60 "$report" -q --no-cache -f top "$1.prf" > "$1.top" 2>> log
	is $? 0 "$1: reported"
	timeout 60 "$report" --info "$1.prf" > "$1.info" 2>> log
	timeout 60 "$record" -F 199 -o "$1-deleted.prf" -- ./map_code "$work/$1.so" 0.3 deleted 2> "$1-deleted.log"
	is $? 0 "$1, deleted: recorded"
	timeout 60 "$report" --info --json "$1-deleted.prf" > deleted.json 2>> log
	# The timers of a machine that is a guest on a busy one skip most of their ticks.
	samples=$(json deleted.json 'd["samples"]')
	lost=$(json deleted.json 'sum(d["lost"].values()) - d["lost"]["skipped"]')
	number "$samples > $lost" "$1, deleted: $samples samples, $lost lost"
	# Sanitizers keep memory that was given back. A bomb takes LIMIT_UNPACKED_FRAME_BYTES.
	[ -z "${SAN:-}" ] || return
	for trace in "$1" "$1-deleted"; do
		"$report" --info "$trace.prf" | sed -n 's/^recorder_peak_memory_bytes = //p' > "$trace.peak"
		[ "$1" = bomb ] && room=288 || room=64
		number "$(cat "$trace.peak") < $(cat honest.peak) + $room * 1048576" \
			"$trace: the recorder had $(cat "$trace.peak") bytes, of an honest one $(cat honest.peak)"
	done
}

for kind in honest notes symbols headers many-symbols long-names huge-name sections debug bomb large-bomb; do
	record_kind "$kind"
done
# Each file of a series that ends while such a file is deleted takes its names again.
for kind in notes symbols headers many-symbols; do
	python3 "$top/testdata/sparse_elf.py" $kind $kind.so
	timeout 60 "$record" -q -F 199 --switch-output=100ms -o $kind-series.prf -- ./map_code "$work/$kind.so" 0.6 deleted 2>> log
	is $? 0 "$kind, deleted: a series is recorded"
	set -- $kind-series.prf.*
	number "$# >= 3" "... in $# files"
	for file; do
		timeout 60 "$report" --check "$file"
	done > check 2>&1
	is "$(grep -c ': intact;' check)" $# "... all of them whole"
done
# Many files are read one after the other: 11 of these have as many symbols as are read at once.
python3 "$top/testdata/sparse_elf.py" many-symbols many.so
for files in 1 15; do
	file=0 programs=
	while [ $file -lt $files ]; do
		file=$((file + 1))
		cp many.so many-$file.so
		programs="$programs ./map_code $work/many-$file.so 0.1 deleted &"
	done
	timeout 60 "$record" -F 999 -o many-$files.prf -- sh -c "$programs wait" 2> said
	is $? 0 "$files deleted files of 400,000 symbols: recorded"
	timeout 60 "$report" --info "many-$files.prf" > many-$files.info
done
timeout 60 "$report" -q --no-cache -f top many-15.prf > many.top
named=$(grep -c ' spin  many-' many.top) unnamed=$(grep -c ' \[many-' many.top)
number "$named >= 9 && $named + $unnamed == 15" "... $named of 15 are named"
like "$(cat said)" "warning: deleted files whose names were not read: $unnamed; first: $work/many-[0-9]*.so: " \
	"... which is said of the others, $unnamed"
if [ -n "${SAN:-}" ]; then
	skip "... with the memory of one" "sanitizers keep memory that was given back"
else
	peak() { sed -n 's/^recorder_peak_memory_bytes = //p' "many-$1.info"; }
	number "$(peak 15) < $(peak 1) + 33554432" "... with the memory of one: $(peak 15) bytes, and $(peak 1)"
fi
like "$(cat honest.top)" 'spin' "an honest file of this shape is named"
like "$(timeout 60 "$report" -f folded honest-deleted.prf)" 'spin' "... also when it is deleted"
like "$(cat many-symbols.top)" 'spin' "so are 400,000 symbols in a file with 4,096 headers"
like "$(timeout 60 "$report" -f folded many-symbols-deleted.prf)" 'spin' "... also when it is deleted"
like "$(timeout 60 "$report" -f folded long-names-deleted.prf)" '\[long-names.so' \
	"of a deleted file with gigabytes of names none is taken"
for trace in huge-name huge-name-deleted; do
	like "$(timeout 60 "$report" -f folded $trace.prf | cut -c 1-1000)" '\[huge-name.so' \
		"$trace: a name of 100 MB is none"
done
like "$(cat debug.top)" 'spin' "a .debug_info of a terabyte leaves the symbols"
like "$(cat headers.info)" 'headers.so.*larger than is read' "--info says of a file that it is too large"
like "$(cat symbols-deleted.log)" 'names were not read: 1; first: .*/symbols.so: .symtab has [0-9]* entries, of which' \
	"... and the recorder, if it is deleted"
over_limit='files have no unwind table, as they have more than is read of a file'
like "$(cat headers-deleted.log)" "^prof-record: warning: 1 $over_limit" "... and the recorder, once, which makes no table"
unlike "$(cat honest-deleted.log)" "$over_limit" "... but not of an honest one"
like "$(cat symbols.info)" 'symbols.so.*larger than is read' "... also by its symbols"
finish
