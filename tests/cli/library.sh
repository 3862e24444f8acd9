#!/bin/sh
# libprf as another program gets it: installed, found by pkg-config, linked either way.
. "$(dirname "$0")/../lib.sh"
cd "$top" || exit 1
need "$build/testdata/make_trace" -n 1000 -k 30 -t 3 -o "$work/example.prf"
[ -z "${SAN:-}" ] || skip_all "the library that it builds is not sanitized"
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES
if ! eval "make -s ${MAKE_ARGUMENTS:-} SAN= BUILD='$work/build' install-library DESTDIR='$work/root' PREFIX=/usr" \
	> "$work/log" 2>&1; then
	not_ok "make install-library" "$(cat "$work/log")"
	finish
fi
ok "make install-library"
library=$work/root/usr/lib
is "$(nm -D --defined-only "$library/libprf.so.1" | awk '$2 == "T" { print $3 }' | grep -v '^\(prf_\|error_\(free\|ignore\|is\)@\)')" \
	"" "no other name is visible in libprf.so.1"
is "$(nm -g --defined-only "$library/libprf.a" | awk '$2 == "T" { print $3 }' | grep -vE '^(prf_|error_(free|ignore|is)$)')" \
	"" "... nor in libprf.a"
declared=$(grep -oE '\bprf_[a-z_]+\(' format/prf.h | tr -d '(' | sort -u)
defined=$(nm -D --defined-only "$library/libprf.so.1" | sed -n 's/.* T \(prf_[a-z_]*\)@@LIBPRF_1$/\1/p' | sort -u)
number "$(printf '%s\n' "$defined" | grep -c .) > 20" "libprf.so.1 has functions"
for name in $defined; do
	printf '%s\n' "$declared" | grep -qx "$name" || not_ok "$name is declared in prf.h"
done
ok "every function of the library is declared"

# The example of the manual page is compiled as it stands there.
sed -n '/^\.EX/,/^\.EE/p' man/prf.3 | sed '/^\.E[XE]/d; s/\\en/\\n/g' > "$work/example.c"
number "$(wc -l < "$work/example.c") > 20" "prf(3) has an example"
holds "it compiles against the shared library" "${CC:-cc}" -Wall -Werror -I"$work/root/usr/include" \
	-o "$work/shared" "$work/example.c" -L"$library" -lprf -lzstd -lxxhash
holds "... and the static one" "${CC:-cc}" -Wall -Werror -I"$work/root/usr/include" -o "$work/static" \
	"$work/example.c" "$library/libprf.a" -lzstd -lxxhash
want=$("$report" -q -f jsonl "$work/example.prf" | python3 -c '
import collections, json, sys
pids = collections.Counter(json.loads(line)["pid"] for line in sys.stdin)
for pid in sorted(pids):
    print(pid, pids[pid])')
like "$want" '^[0-9]+ [0-9]+$' "the trace has samples"
is "$(LD_LIBRARY_PATH=$library "$work/shared" < "$work/example.prf")" "$want" "it counts what prof-report counts"
is "$("$work/static" < "$work/example.prf")" "$want" "... linked statically, too"
is "$(printf 'no trace at all, this' | "$work/static" 2>&1)" "$(printf 'no trace at all, this' | LD_LIBRARY_PATH=$library "$work/shared" 2>&1)" \
	"both refuse what is no trace"
if command -v pkg-config > /dev/null; then
	is "$(PKG_CONFIG_PATH=$library/pkgconfig pkg-config --define-variable=prefix=/x --cflags libprf | xargs)" \
		"-I/x/include" "pkg-config knows it"
else
	skip "pkg-config knows it" "no pkg-config"
fi
finish
