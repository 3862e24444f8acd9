#!/bin/sh
# prof-bench ab --explain names the function that made a program slower.
. "$(dirname "$0")/../lib.sh"
need_bpf alone
[ -z "${SAN:-}" ] || skip_all "a sanitizer's own functions take most of the time"

cd "$work" || exit 1
mkdir old new
cat > program.c <<'END'
#define ROUNDS(n) for (volatile long i = 0; i < (n) * 1000000L; i++)
__attribute__((noinline)) void innocent(void) { ROUNDS(20); }
__attribute__((noinline)) void guilty(void) { ROUNDS(GUILT); }
int main(void) { innocent(); guilty(); return 0; }
END
${CC:-cc} -O1 -g -DGUILT=2 -o old/program program.c && ${CC:-cc} -O1 -g -DGUILT=20 -o new/program program.c ||
	not_ok "the programs are compiled"
output=$("$bench" ab --cpu-time --noise 10 --explain --resamples 200 old/program new/program 2>&1)
status=$?
if [ "$status" = 3 ]; then
	skip_all "the machine is too noisy"
fi
is "$status" 1 "the slower program has regressed"
like "$output" '\(\+[0-9.]+% of the whole\)  guilty$' "and the function that is to blame is named"
unlike "$output" 'of the whole\)  innocent$' "no other one"
finish
