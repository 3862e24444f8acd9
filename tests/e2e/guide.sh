#!/bin/sh
# Every command of prof(7), one after the other, on a program that works, waits and has a lock. Of
# recordings only the length is another.
. "$(dirname "$0")/../lib.sh"
need_bpf
need_tools gcc make
[ -z "${SAN:-}" ] || skip_all "each of these commands has its own test with sanitizers"
cd "$work" || exit 1
mkdir /tmp/prof-guide-$$ && trap 'rm -rf /tmp/prof-guide-$$; cleanup' EXIT

cat > server.c <<'END'
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
	for (;;) {
		pthread_mutex_lock(&lock);
		parse();
		munmap(memset(mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, 4096), 4096);
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
compile_c -g -O1 -pthread server.c -o /tmp/prof-guide-$$/server
printf 'all:\n\t@gcc -O2 -c server.c -o server.o\n' > Makefile
printf '#!/bin/sh\ncat\n' > flamegraph.pl
chmod +x flamegraph.pl
/tmp/prof-guide-$$/server &
server=$!
# Other programs of this name may run.
commands=$(sed -n '/^\.EX/,/^\.EE/s/^prof-/prof-/p' "$top/man/prof.7" |
	sed "s/-p server/-p $server/; s/-d [0-9]*/-d 0.2/; s/switch-output=60s/switch-output=200ms/")
number "$(printf '%s\n' "$commands" | wc -l) > 40" "the guide has commands"
PATH=$build:$work:$PATH
printf '%s\n' "$commands" > commands
# is_short COMMAND: a machine that is busy may leave the program no time in so short a recording
is_short() {
	case $1 in
	*--list* | *" -F "* | prof-report*) return 1 ;;
	*" -e "* | *" -G "*) wanted=. ;;
	*) wanted=parse ;;
	esac
	! timeout 60 prof-report -q "$file" 2> log | grep -q "$wanted"
}

while read -r command; do
	case $command in
	*">"*) file=${command##*> } ;;
	*" -o "*) file=${command##* -o } file=${file%% *} ;;
	prof-record*" -p "* | prof-record*" -a "*) file=trace.prf ;;
	*) file=out ;;
	esac
	tries=0
	while
		timeout 60 sh -c "$command" > out 2> log < /dev/null
		status=$?
		tries=$((tries + 1))
		is_short "$command" && [ $tries -lt 20 ]
	do :; done
	is $status 0 "$command"
	number "$(cat "$file"* 2> log | wc -c) > 0" "... and it has an answer"
done < commands
like "$(prof-report -f top --by=thread --off-cpu locks.prf 2> log)" server "the locks' trace has the program's waits"
kill $server
finish
