#!/bin/sh
# The commands of prof(7), one after the other, on a program that works, waits, has a lock and writes.
# Of recordings only the length is another; those that differ only in the names of files are made once.
. "$(dirname "$0")/../lib.sh"
need_bpf
need_tools bash gcc make python3
[ -z "${SAN:-}" ] || skip_all "each of these commands has its own test with sanitizers"
cd "$work" || exit 1
unset DEBUGINFOD_URLS

cat > server.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sum;

__attribute__((noinline)) static void parse(void)
{
	for (int i = 0; i < 3000000; i++)
		sum += (unsigned long)i;
}

static void *serve(void *context)
{
	int null = open("/dev/null", O_WRONLY);

	for (;;) {
		pthread_mutex_lock(&lock);
		parse();
		munmap(memset(mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, 4096), 4096);
		if (write(null, "", 1) != 1)
			return context;
		pthread_mutex_unlock(&lock);
		usleep(1000);
	}
	return context;
}

int main(void)
{
	pthread_t other;

	pthread_create(&other, NULL, serve, NULL);
	serve(NULL);
}
END
compile_c -g -O1 -pthread server.c -o server
printf 'all:\n\t@gcc -O2 -c server.c -o server.o\n' > Makefile
printf '#!/bin/sh\ncat\n' > flamegraph.pl
chmod +x flamegraph.pl
cat > unpack.py <<'END'
import base64, re, sys, zlib
data = re.search('id="data">([^<]*)', open(sys.argv[1]).read()).group(1)
sys.stdout.buffer.write(zlib.decompress(base64.b64decode(data)))
END
./server &
server=$!
until [ "$(cat /proc/$server/comm)" = server ] || ! kill -0 $server; do sleep 0.01; done
target=server
if [ "$(pgrep -x server)" != "$server" ]; then
	skip "-p with a name" "another program is called so"
	target=$server
fi
cgroup=$(sed -n 's/^0:://p' /proc/$server/cgroup)
grep -q ' cgroup2 ' /proc/mounts || cgroup=
PATH=$build:$work:$PATH
sed -n '/^\.EX/,/^\.EE/s/^prof-/prof-/p' "$top/man/prof.7" |
	sed "s/-p server/-p $target/; s/-d [0-9]*/-d 0.1/; s|-G [^ ]*|-G $cgroup|
		s/--switch-output=60s \(.*\) -o/--switch-output=100ms \1 -d 0.3 -o/" > commands
number "$(wc -l < commands) > 40" "the guide has commands"
prof-record --list > events

# lacking COMMAND: what the machine lacks for it, if anything
lacking() {
	case $1 in
	*" -G "*) [ "$cgroup" ] || echo "cgroup2 is not mounted" ;;
	*" container.prf"*) [ -e container.prf ] || echo "there is no container.prf" ;;
	*--debug-dir=/usr/lib/debug*) [ -d /usr/lib/debug ] || echo "/usr/lib/debug is not here" ;;
	*" -e "*)
		event=${1##* -e } event=${event%% *}
		grep -qx "  $event\( or .*\)\{0,1\}" events || echo "$event cannot be recorded here" ;;
	esac
}

# wanted COMMAND: regular expressions of what its answer has of the program, each on a line. The
# program's name alone may come from the command line that the trace notes.
wanted() {
	case $1 in
	*--list) echo '^  page-faults' ;;
	*--info) echo '^samples  *[1-9]' ;;
	*" make") echo '^(cc1|gcc)' ;;
	*"--by=comm build.prf") echo 'cc1|gcc' ;;
	*"--pid build.prf") echo '^(cc1|gcc)[^;]*-[0-9]+' ;;
	*--by=thread*) echo 'server-[0-9]+/[0-9]+' ;;
	*--by=comm* | *--by=object* | *--script-only* | *--group-by=cgroup,comm*) echo '(^|[; "])server' ;;
	*--cpu*) echo 'cpu-[0-9]' ;;
	*annotate*) echo 'sum \+=' ;;
	*--diff=old1.prf*) echo '^# before: 3 runs .* by turns$' ;;
	# Nothing has surely changed between two recordings of the same.
	*"-f tree --diff"*) echo ' call$' ;;
	# A window of ten milliseconds may have no sample.
	*--time=*) echo 'samples' ;;
	# So may 19 a second; and the counter of a virtual machine may stand still.
	*--switch-output* | *" -e instructions "*) echo '^complete  *yes' ;;
	*" -e "* | *faults.prf) echo 'serve([^r]|$)|memset' ;;
	prof-record*--off-cpu*) printf '%s\n' '^waits;.*mutex_lock' '^works;.*parse' ;;
	*--function=mutex_lock*) echo 'serve([^r]|$)' ;;
	*--off-cpu*) echo 'mutex_lock|nanosleep' ;;
	*--group-by=service,host*) echo '^(web|batch);' ;;
	*) echo 'parse' ;;
	esac
}

# answer COMMAND FILE: as text
answer() {
	case $1,$2 in
	*--switch-output*) prof-report --info "$(ls "$2".* | head -n 1)" ;;
	*" -e instructions "*) prof-report --info "$2" ;;
	prof-record*--off-cpu*)
		timeout 60 prof-report -q --off-cpu "$2" | sed 's/^/waits;/'
		timeout 60 prof-report -q --on-cpu "$2" | sed 's/^/works;/' ;;
	*,*.prf) timeout 60 prof-report -q "$2" ;;
	*,*.html) python3 unpack.py "$2" ;;
	*,*.gz) gzip -dc "$2" ;;
	*,*.parquet) "$top/tests/parquet-rows.py" folded "$2" ;;
	*) cat "$2" ;;
	esac
}

# answered COMMAND FILE: whether the answer has all that is wanted
answered() {
	answer "$1" "$2" > text 2> log
	wanted "$1" | while read -r regex; do
		grep -aqE -- "$regex" text || exit 1
	done
}

while read -r command; do
	why=$(lacking "$command")
	if [ "$why" ]; then
		skip "$command" "$why"
		continue
	fi
	case $command in
	*">"*) file=${command##*> } ;;
	*" -o - "*) file=out ;;
	*" -o "*) file=${command##* -o } file=${file%% *} ;;
	prof-record*" -p "* | prof-record*" -a "*) file=trace.prf ;;
	*) file=out ;;
	esac
	made=$(grep -Fxs -A1 -- "${command% -o *}" recorded | tail -n 1)
	case $command in
	prof-record*" -o - "*) ;;
	prof-record*" -o "*)
		# Runs by turns are known by when each of them was recorded.
		if [ "$made" ] && [ "${file#old}${file#new}" = "$file$file" ]; then
			cp "$made" "$file"
			continue
		fi
		printf '%s\n' "${command% -o *}" "$file" >> recorded ;;
	esac
	tries=0
	while
		timeout 60 bash -o pipefail -c "$command" > out 2> errors < /dev/null
		status=$?
		tries=$((tries + 1))
		good=
		answered "$command" "$file" && good=yes
		# A machine that is busy may leave the program no time in so short a recording.
		[ ! "$good" ] && [ "${command#prof-record}" != "$command" ] && [ $tries -lt 20 ]
	do :; done
	is $status 0 "$command"
	[ $status = 0 ] || sed 's/^/# /' errors
	if [ "$good" ]; then ok "... and it has an answer"; else
		not_ok "... and it has an answer" "no $(wanted "$command") in $file: $(head -c 2000 text)"
	fi
done < commands
kill $server
finish
