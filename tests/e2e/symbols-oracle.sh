#!/bin/sh
# Every instruction of a C++ program, against llvm-symbolizer (inlined calls, files, lines) and
# against elfutils' libdw (lines). Where they name crt code by its object, or stubs by what lies
# before them, we differ: so nearly all must be equal, not all.
. "$(dirname "$0")/../lib.sh"

symbolize=$build/testdata/symbolize
command -v g++ >/dev/null 2>&1 || skip_all "g++ is not here"
llvm=$(command -v llvm-symbolizer || command -v llvm-symbolizer-14 || :)
elfutils=$(command -v eu-addr2line || :)
[ -n "$llvm$elfutils" ] || skip_all "neither llvm-symbolizer nor eu-addr2line is here"
cd "$work" || exit 1
cat > program.cc <<'END'
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
static std::map<std::string, int> counts;
struct item { int n; std::string s; bool operator<(const item &o) const { return n < o.n; } };
namespace { template <typename T> int apply(T f, int x) { return f(x) + f(x + 1); } }
int main(int argc, char **argv)
{
	std::vector<item> all;
	for (int i = 0; i < argc * 100; i++)
		all.push_back({ i * 7 % 100, std::to_string(i) });
	std::sort(all.begin(), all.end());
	for (auto &i : all)
		counts[i.s] += apply([&](int x) { return x * i.n; }, i.n);
	for (auto &c : counts)
		std::printf("%s %d\n", c.first.c_str(), c.second);
	return 0;
}
END

# compare NAME COMPILER FLAGS...
compare() {
	name=$1
	shift
	accepts "$@" || { skip "$name" "$* makes no programs here"; return; }
	need "$@" -O2 program.cc -o "$name"
	objdump -d -j .text --no-show-raw-insn "$name" | sed -n 's/^ *\([0-9a-f]*\):.*/0x\1/p' > addresses
	"$symbolize" -r "$name" < addresses > ours 2>/dev/null
	if [ -n "$llvm" ]; then
		"$llvm" --no-demangle --inlines --obj="$name" < addresses 2>/dev/null | sed 's/:[0-9]*$//' > theirs
		share=$(python3 - <<'END'
ours, theirs = (open(n).read().strip().split("\n\n") for n in ("ours", "theirs"))
pairs = [(a, b) for a, b in zip(ours, theirs) if "crtstuff" not in b]
equal = sum(a.strip() == b.strip() for a, b in pairs)
print("%.1f" % (100 * equal / max(len(pairs), 1)), len(pairs) if len(ours) == len(theirs) else 0)
END
		)
		number "${share% *} >= 97 && ${share#* } > 500" "$name: $share addresses, per cent equal to llvm-symbolizer"
	else
		skip "$name: llvm-symbolizer" "not here"
	fi
	if [ -n "$elfutils" ]; then
		"$elfutils" -e "$name" < addresses > theirs 2>/dev/null
		share=$(python3 - <<'END'
ours = [place.split("\n")[1] for place in open("ours").read().strip().split("\n\n")]
theirs = [":".join(line.split(":")[:2]) for line in open("theirs").read().split("\n") if line]
known = [(a, b) for a, b in zip(ours, theirs) if not b.startswith("??")]
equal = sum(a.split("/")[-1] == b.split("/")[-1] for a, b in known)
print("%.1f" % (100 * equal / max(len(known), 1)), len(known))
END
		)
		number "${share% *} >= 97 && ${share#* } > 500" "$name: $share lines, per cent equal to libdw"
	else
		skip "$name: libdw" "eu-addr2line is not here"
	fi
}

compare gcc-dwarf5 g++ -gdwarf-5
compare gcc-dwarf4 g++ -gdwarf-4
compare gcc-sections g++ -g -ffunction-sections -Wl,--gc-sections
if command -v clang++ >/dev/null 2>&1; then
	compare clang clang++ -g -gdwarf-aranges
fi
finish
