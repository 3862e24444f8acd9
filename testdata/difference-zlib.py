#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether `prof-report -f top --diff` names the function of zlib that takes longer, and nothing otherwise.

    testdata/difference-zlib.py prepare SOURCES    zlib's sources, built twice: as they are, and slower
    testdata/difference-zlib.py slower [TRIES]     how often longest_match(), and anything else, is named
    testdata/difference-zlib.py equal [TRIES]      how often anything is, between runs of the same build

Each n-th call of longest_match() searches twice. n is a variable: 0 is never, and in the slower build it is such
that the function takes PERCENT of its own time longer. All code is the same, and in the same place. A try has RUNS recordings of either build at RATE Hz, by turns, of a program that compresses
for about SECONDS. Traces and builds are in FOLDER. Needs a C compiler, and root.
"""
import json
import os
import re
import subprocess
import sys

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
FOLDER = os.environ.get("FOLDER", "/var/tmp/difference-zlib")
PERCENT = float(os.environ.get("PERCENT", "2"))
RUNS = int(os.environ.get("RUNS", "5"))
RATE = os.environ.get("RATE", "4999")
SECONDS = float(os.environ.get("SECONDS", "5"))
SLOW = "longest_match"
MODULES = ("adler32", "crc32", "deflate", "trees", "zutil")
ANCHOR = "    /* Do not waste too much time if we already have a good match: */\n"

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "zlib.h"

/* Words of a vocabulary in which each is half as common as one of half its number. */
static void fill(unsigned char *text, size_t n)
{
	unsigned int state = 1;

	for (size_t i = 0; i < n;) {
		unsigned int word, letters;

		state = state * 1664525 + 1013904223;
		word = (state >> 8) % (1 + (state >> 20));
		letters = word * 2654435761u;
		for (unsigned int k = 0; k < 2 + word % 7 && i < n; k++, letters /= 26)
			text[i++] = (unsigned char)('a' + letters % 26);
		if (i < n)
			text[i++] = ' ';
	}
}

int main(int argc, char **argv)
{
	size_t n = 1 << 20;
	unsigned char *text = malloc(n), *out = malloc(compressBound(n));

	fill(text, n);
	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--) {
		uLongf size = compressBound(n);

		if (compress2(out, &size, text, n, 6) != Z_OK)
			return 1;
	}
	printf("%f\\n", (double)clock() / CLOCKS_PER_SEC);
	return 0;
}
"""


def path(name):
    return os.path.join(FOLDER, name)


def build(sources, name, every):
    with open(os.path.join(sources, "deflate.c")) as file:
        before, function = re.split(r"(?=^local uInt longest_match\(s, cur_match\)$)", file.read(),
                                    maxsplit=1, flags=re.MULTILINE)
    if ANCHOR not in function:
        sys.exit(f"{sources}/deflate.c: longest_match() is not as it is in zlib 1.2.13")
    twice = """    if (every && !again && ++calls >= every) {
        calls = 0;
        again = 1;
        longest_match(s, cur_match);
        again = 0;
    }
"""
    with open(path("deflate.c"), "w") as file:
        file.write(f"""{before}
volatile int every __attribute__((section(".data"))) = {every};
static int calls, again;
{function.replace(ANCHOR, twice + ANCHOR, 1)}""")
    with open(path("program.c"), "w") as file:
        file.write(PROGRAM)
    subprocess.run(["cc", "-O2", "-g", "-w", "-DHAVE_UNISTD_H", "-I", sources, "-o", path(name), path("program.c"),
                    path("deflate.c"), *(os.path.join(sources, f"{m}.c") for m in MODULES if m != "deflate"),
                    os.path.join(sources, "compress.c")], check=True)


def cpu_seconds(name, rounds):
    return min(float(subprocess.run([path(name), str(rounds)], check=True, capture_output=True, text=True).stdout)
               for _ in range(5))


def record(name, trace, rounds):
    subprocess.run([f"{BUILD}/prof-record", "-q", "-F", RATE, "-o", path(trace), "--", path(name), str(rounds)],
                   check=True, stdout=subprocess.DEVNULL)


def table(*arguments):
    return json.loads(subprocess.run([f"{BUILD}/prof-report", "-q", "-f", "top", "--json", *arguments],
                                     check=True, capture_output=True, text=True).stdout)


def prepare(sources):
    """How often is chosen by what it costs if each call does so."""
    rounds = 10
    os.makedirs(FOLDER, exist_ok=True)
    build(sources, "as-it-is", 0)
    build(sources, "slower", 1)
    plain = cpu_seconds("as-it-is", rounds)
    doubled = cpu_seconds("slower", rounds)
    record("as-it-is", "share.prf", rounds * 10)
    rows = table(path("share.prf"))["rows"]
    share = next(r["self"]["percent"] for r in rows if r["name"] == SLOW) / 100
    more = (doubled - plain) / (plain * share)
    every = round(more * 100 / PERCENT)
    build(sources, "slower", every)
    print(f"{SLOW}() has {100 * share:.1f} % of {plain / rounds * 1000:.1f} ms; twice takes it {100 * more:.0f} % "
          f"longer, each {every}th call {100 * more / every:.2f} %")


def sure(old, new, rounds):
    """Records both by turns, ABBA; what the report calls changed, and the table itself."""
    traces = {0: [], 1: []}
    for run in range(RUNS):
        for side in ((0, 1), (1, 0))[run % 2]:
            traces[side].append(path(f"{'bn'[side]}{run}.prf"))
            record((old, new)[side], f"{'bn'[side]}{run}.prf", rounds)
    found = table(*(a for t in traces[0] for a in ("--diff", t)), *traces[1])
    return {r["name"]: r for r in found["rows"] if r["self"]["sure"] or r["total"]["sure"]}, found["rows"]


def tries(count, old, new):
    rounds = max(1, round(SECONDS * 10 / cpu_seconds("as-it-is", 10)))
    for number in range(count):
        named, rows = sure(old, new, rounds)
        row = next(r["self"] for r in rows if r["name"] == SLOW)
        before = row["before"]
        print(f"{number + 1}: {SLOW} {100 * row['change'] / before:+.2f} % "
              f"[{100 * row['low'] / before:+.2f}, {100 * row['high'] / before:+.2f}], p {row['p']:.2g}; "
              f"named: {', '.join(named) or 'nothing'}", flush=True)


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "prepare":
        prepare(sys.argv[2])
    elif len(sys.argv) > 1 and sys.argv[1] in ("slower", "equal"):
        tries(int(sys.argv[2]) if len(sys.argv) > 2 else 1, "as-it-is", "slower" if sys.argv[1] == "slower" else "as-it-is")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
