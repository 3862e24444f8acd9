#!/bin/sh
# tests/slow/soak.sh [MINUTES]: records everything at 999 Hz for so long (60), while 100 processes a
# second are started: most are short, some load a library, make code, compile, run Python, or are a
# program that was never seen before. The recorder's memory, open files and CPU time of each 10 s are
# written to a table, and the CPU time of what was started, which is always the same work: the machine
# itself may be faster or slower for minutes. The first and the last ten minutes (or sixths, of a shorter
# run) must agree within 5 %; the first ones begin after a minute.
. "$(dirname "$0")/../lib.sh"
minutes=${1:-60}
need_bpf
need_tools gcc awk
cd "$work" || exit 1
seconds=$((minutes * 60))
# of the first and last stretch
stretch_s=$((seconds / 6 > 600 ? 600 : seconds / 6))
table=${SOAK_TABLE:-$work/table}

need gcc -O2 -o churn "$top/tests/slow/churn.c"
need gcc -O1 -g -o made_code "$top/tests/e2e/programs/made_code.c"
need gcc -O2 -o map_code "$top/tests/e2e/programs/map_code.c"
python3 "$top/testdata/sparse_elf.py" honest honest.so
cat > unit.c << 'END'
int work(int n);
int work(int n)
{
	return n < 2 ? n : work(n - 1) + work(n - 2);
}
END
# A program with a build-id of its own, which is removed after it has run.
cat > fresh.sh << 'END'
#!/bin/sh
printf 'int main(void) { volatile long n = %s; for (long i = 0; i < 3000000; i++) n += i; return 0; }\n' "$1" |
	gcc -x c -O1 -o "fresh$1" - && "./fresh$1"
rm -f "fresh$1"
END
chmod +x fresh.sh
i=0
while [ $i -lt 100 ]; do
	case $i in
	7) echo "gcc -O1 -c -o unit%.o unit.c" ;;
	57) echo "./fresh.sh %" ;;
	*5) echo "./map_code honest.so 0.001" ;;
	*8) echo "./made_code 1" ;;
	*3) echo "sh -c :" ;;
	61) echo "python3 -c pass" ;;
	*) echo "true" ;;
	esac
	i=$((i + 1))
done > commands

"$record" -q -a -F 999 -o soak.prf 2> record.log &
recorder=$!
until_begun soak.prf $recorder
./churn 100 "$seconds" commands > started 2> churn.log &
churn=$!

# usage PID: its memory and open files, its CPU time up to now in ms, and that of its children that ended
usage() {
	awk -v fds="$(ls "/proc/$1/fd" 2> /dev/null | wc -l)" -v hz="$(getconf CLK_TCK)" '
		/^RssAnon/ { own = $2 }
		/^RssFile/ { tables = $2 }
		FILENAME ~ /stat$/ {
			sub(/.*\) /, "")
			cpu = ($12 + $13) * 1000 / hz
			children = ($14 + $15) * 1000 / hz
		}
		END { print own, tables, fds, cpu, children }' "/proc/$1/status" "/proc/$1/stat" 2> /dev/null
}

echo "seconds own_kib tables_kib fds cpu_ms opener_kib opener_tables_kib opener_fds trace_bytes load_cpu_ms" |
	tee "$table"
opener=$(pgrep -P $recorder prof-opener)
begin=$(date +%s)
before=$(usage $recorder | cut -d' ' -f4)
load_before=$(usage $churn | cut -d' ' -f5)
while kill -0 $churn 2> /dev/null && kill -0 $recorder 2> /dev/null; do
	sleep 10
	rm -f unit*.o
	set -- $(usage $recorder) $(usage "$opener") $(usage $churn)
	[ $# = 15 ] || break
	echo "$(($(date +%s) - begin)) $1 $2 $3 $(($4 - before)) $6 $7 $8 $(stat -c %s soak.prf)" \
		"$((${15} - load_before))" | tee -a "$table"
	before=$4 load_before=${15}
done
wait $churn
kill -INT $recorder
wait $recorder
is "$?: $(cat record.log)" "0: " "the recorder ends well, without a warning"
number "$(cat started) >= 95 * $seconds" "$(cat started) processes were started in $minutes minutes"

"$report" --info soak.prf > info
"$report" --info --json soak.prf > info.json

# stretch COLUMN first|last [PER]: the mean of the first or last one, without the first minute, in which
# the recorder's tables get their size; or its thousandths of the column PER
stretch() {
	awk -v column="$1" -v part="$2" -v per="${3:-0}" -v all="$seconds" -v size="$stretch_s" '
		BEGIN { from = part == "last" ? all - size : 60; to = part == "last" ? 2 * all : from + size }
		NR > 2 && $1 > from && $1 <= to { sum += $column; n += per ? $per / 1000 : 1 }
		END { printf "%.1f", n ? sum / n : 0 }' "$table"
}
# flat NAME COLUMN [MORE [PER]]: the first stretch agrees with the last, or the last one is lower; so much
# more is allowed
flat() {
	first=$(stretch "$2" first "${4:-}") last=$(stretch "$2" last "${4:-}")
	number "$first > 0 && $last > 0 && $last <= $first * 1.05 + ${3:-0}" \
		"$1: $first in the first stretch, $last in the last"
}
flat "memory of its own, KiB" 2
flat "unwind tables and files, KiB" 3
flat "open files" 4
flat "CPU time, ms for each second of the load's" 5 0 10
# a few pages are more than 5 % of what it has
flat "memory of the process that opens files, KiB" 6 64
flat "its open files" 8
awk '/^(samples|fired|lost|duration|definitions|size) / || /peak|cpu_ns/' info
is "$(json info.json 'd["samples"] + sum(d["lost"].values()) - d["fired"]')" 0 "samples + lost = fired"
like "$("$report" -q soak.prf | grep '^fresh')" '^fresh[0-9]+;.*;main [0-9]+' "programs that were removed have names"
is "$("$report" -q soak.prf | awk '{ n += $NF } END { print n }')" "$(json info.json 'd["samples"]')" "the trace can be read to its end"
finish
