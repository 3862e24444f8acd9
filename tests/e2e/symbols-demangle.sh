#!/bin/sh
# Whole names are what c++filt makes of them, for a library's worth of C++ names.
. "$(dirname "$0")/../lib.sh"

demangle=$build/testdata/demangle
command -v c++filt >/dev/null 2>&1 || skip_all "c++filt is not here"
library=$(gcc -print-file-name=libstdc++.so.6 2>/dev/null)
[ -e "$library" ] || skip_all "no libstdc++.so.6"
cd "$work" || exit 1

nm -D --defined-only "$library" | sed -n 's/.* \(_Z[^@]*\).*/\1/p' | sort -u > names
[ "$(wc -l < names)" -gt 300 ] || skip_all "libstdc++.so.6 has few names"
c++filt < names > expected
"$demangle" < names > got
is "$(diff expected got | head -n 20)" "" "$(wc -l < names) names"

# Short ones keep every namespace and have no argument left.
"$demangle" -s < names > short
is "$(wc -l < short)" "$(wc -l < names)" "one short name each"
is "$(grep -c '^$' short)" 0 "none empty"
is "$(grep -cE '\((int|char|unsigned|std::)' short)" 0 "no arguments"
finish
