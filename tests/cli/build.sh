#!/bin/sh
# make itself: help, install and uninstall, rebuilding, and user flags.
. "$(dirname "$0")/../lib.sh"
cd "$top" || exit 1
need test -d "$build"

# The make that runs the tests passes its own flags down; these calls are new ones.
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES

targets=$(make -s help | awk '{ print $1 }' | sort | tr '\n' ' ')
is "$targets" "all analyze bench check check-fleet check-kernels check-slow clean coverage deb demo deps deps-fleet deps-kernels deps-truth dist ends faults format fuzz help install install-library kills oops rpm simulate trust truth uninstall " "make help lists the targets"

version=$(sed -n 's/^VERSION := //p' Makefile)
is "$(sed -n 's/^Version: *//p' .ci/packaging/prof.spec)" "$version" "the RPM spec has the version"
is "$(sed -n '1s/.*(\([^-]*\)-.*/\1/p' .ci/debian/changelog)" "$version" "Debian's changelog has the version"

# With the flags of the running build nothing needs to be built again.
if eval "make -s ${MAKE_ARGUMENTS:-} install DESTDIR='$work/root' PREFIX=/usr" \
	> "$work/log" 2>&1; then
	ok "make install"
else
	not_ok "make install" "$(cat "$work/log")"
fi
for file in bin/prof-record bin/prof-report bin/prof-bench share/man/man1/prof-record.1 \
	share/man/man1/prof-report.1 share/man/man1/prof-bench.1 share/man/man5/prf.5 share/man/man7/prof.7 \
	share/bash-completion/completions/prof-record share/zsh/site-functions/_prof-report \
	share/fish/vendor_completions.d/prof-bench.fish lib/systemd/system/prof-record.service \
	bin/prof-ship share/man/man1/prof-ship.1 share/man/man7/prof-fleet.7 lib/systemd/system/prof-ship.service \
	share/prof/sql/duckdb/flame.sql share/prof/sql/clickhouse/samples.sql; do
	if [ -s "$work/root/usr/$file" ]; then ok "installs $file"; else not_ok "installs $file"; fi
done
# The same bytes wherever it is built.
unlike "$(strings "$record" | grep "^$top/.*/bpf/.*\.h\$")" . "the kernel half does not hold the folder that it was built in"
output=$(make -s BUILD="$work/nothing" CLANG=no-such-clang BPFTOOL=no-such-bpftool 2>&1)
is "$?" 2 "make ends when a tool is missing"
like "$output" 'missing: a clang that compiles for BPF: no-such-clang' "... and names it"
like "$output" 'missing: bpftool: no-such-bpftool does not run' "... and each other one"
is "$(find "$work/nothing" -name '*.o')" "" "... before anything is compiled"

make -s BUILD="$build" uninstall DESTDIR="$work/root" PREFIX=/usr > "$work/log" 2>&1
is "$(find "$work/root" -type f | wc -l)" 0 "make uninstall removes every file"
finish
