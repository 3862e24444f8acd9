#!/bin/sh
# -f top --diff of a program that was compiled twice: functions that have another name, or are inlined.
. "$(dirname "$0")/../lib.sh"
need_bpf
need_tools "${CXX:-c++}"
cd "$work" || exit 1

cat > work.cpp <<'PROGRAM'
#include <ctime>
volatile unsigned long sink;
#define APART __attribute__((noinline))
#ifdef NOW
#define NAME(before, now) now
#define HELD static inline __attribute__((always_inline))
typedef unsigned long number;
#else
#define NAME(before, now) before
#define HELD APART
typedef unsigned int number;
#endif
static inline __attribute__((always_inline)) void turn(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i;
}
APART void add(unsigned n) { turn(n); }
APART void mix(unsigned n) { turn(n); sink += 1; }
APART void churn(unsigned n) { turn(n); sink += 2; }
/* Another name, which only the calls show. */
APART void NAME(gather, collect)(unsigned n) { add(n); mix(n); sink += 3; }
/* Other template arguments. */
template <typename T> APART T convert(T n) { turn(n); return n + 4; }
/* Inlined. */
HELD void step(unsigned n) { turn(n); churn(n); sink += 5; }
APART void run(unsigned n) { step(n); sink += 6; }
/* One goes and another one comes. */
APART void NAME(former, fresh)(unsigned n) { turn(n); sink += 7; }
APART void stays(unsigned n) { turn(n); sink += 8; }
int main()
{
	while (clock() < 3 * CLOCKS_PER_SEC) {
		NAME(gather, collect)(20000);
		sink += convert<number>(20000);
		run(20000);
		NAME(former, fresh)(20000);
		stays(20000);
	}
}
PROGRAM
# compile FOLDER OPTIONS: other folders, as the files of two versions have
compile() {
	mkdir "$1"
	need "${CXX:-c++}" -O1 -fno-optimize-sibling-calls $2 -o "$1/work" work.cpp
	need "$record" -q -F 997 -o "$1.prf" -- "$1/work"
}
compile before
compile now -DNOW
compile debug "-DNOW -g"

# What became of the functions, as "name state other" lines.
states() {
	"$report" -q --no-cache -f top --json "$@" > json
	json json '"; ".join(sorted(" ".join((r["name"], r["state"], r.get("other", ""))).strip() for r in d["rows"]
		if r["name"].split("<")[0].split("(")[0].split()[-1] in
		("gather", "collect", "convert", "step", "former", "fresh", "stays", "run")))'
}
expected="collect renamed gather; convert<...>; former vanished; fresh new; run; stays"
is "$(states --diff before.prf now.prf)" "$expected; step inlined run" \
	"renamed, inlined, new and vanished functions are told apart, without debug information"
is "$(states --diff before.prf debug.prf)" "$expected; step inlined run" "... and with it"
is "$(states --diff now.prf before.prf)" \
	"convert<...>; former new; fresh vanished; gather renamed collect; run; stays; step called run" "... and from now to before"
is "$(states --diff before.prf before.prf)" "convert<...>; former; gather; run; stays; step" "... of which nothing changed without a change"
like "$(states --full-names --diff before.prf now.prf)" \
	'unsigned long convert<unsigned long>\(unsigned long\) renamed unsigned int convert<unsigned int>\(unsigned int\)' \
	"other template arguments are another name of the same function"

# A renamed function is one row.
states --diff before.prf now.prf > /dev/null
number "$(json json '[r["total"]["before"] for r in d["rows"] if r["name"] == "collect"][0]') > 0.2" \
	"a renamed function has what was counted before under its other name"
"$report" -q --no-cache -f top --diff before.prf now.prf > text
like "$(cat text)" '  \(renamed from gather\) collect  work$' "the text says which name it had"
like "$(cat text)" '  \(inlined into run\) step  work$' "... and into what a function is inlined"
like "$("$report" -q --no-cache -f top --diff now.prf before.prf)" '  \(was inlined into run\) step  work$' "... or was"
like "$("$report" -q --no-cache -f top --csv --diff before.prf now.prf)" '^"collect","work",renamed,.*,"gather".?$' "CSV has both names"
if [ -n "$browser" ]; then
	"$report" -q --no-cache -f html --diff before.prf now.prf -o page.html
	show 'page.html#view=changes' > dom
	like "$(cat dom)" '>\(renamed from gather\) collect<' "so does the page"
	like "$(cat dom)" '>\(inlined into run\) step<' "... with inlined functions"
else
	skip "the page" "$no_browser"
fi
finish
