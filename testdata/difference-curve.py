#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How well `prof-report -f top --diff` names what changed, and how often it cries wolf.

    testdata/difference-curve.py make FILE SEED [ROW PERCENT]   a trace of one minute
    testdata/difference-curve.py curve [TRIES]                  the operating curve, in Markdown

A trace has FUNCTIONS functions with shares as real profiles have them, proportional to 1 / rank,
below one root. Its counts are Poisson distributed; ROW takes PERCENT of the total more.
"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

BUILD = os.environ.get("BUILD", "build")
FUNCTIONS, RATE, SECONDS = 300, 999, 60
NOISE = float(os.environ.get("NOISE", "0"))     # by which a run's functions vary, relative


def means():
    weights = [1 / (i + 2) for i in range(FUNCTIONS)]
    return [RATE * SECONDS * w / sum(weights) for w in weights]


def poisson(source, mean):
    if mean > 500:
        return max(0, round(source.gauss(mean, math.sqrt(mean))))
    k, product, limit = 0, source.random(), math.exp(-mean)
    while product > limit:
        k, product = k + 1, product * source.random()
    return k


def make(path, seed, row=None, percent=0.0, rate=RATE):
    source = random.Random(seed)
    counts = []
    for i, mean in enumerate(means()):
        if i == row:
            mean += RATE * SECONDS * percent / 100
        mean *= max(0, 1 + NOISE * source.gauss(0, 1))
        counts.append(poisson(source, mean * rate / RATE))
    samples = [i for i, count in enumerate(counts) for _ in range(count)]
    source.shuffle(samples)
    step = SECONDS * 10**9 // max(1, len(samples))
    with subprocess.Popen([f"{BUILD}/testdata/trace_text", "/dev/stdin", "-o", path],
                          stdin=subprocess.PIPE, text=True) as tool:
        out = tool.stdin
        out.write(f'event 0 "cpu-clock" "samples" {rate} 0\n')
        out.write('object 5 "[jit]" "" ""\ntask 1 1 "work" "" ""\nframe 0 0 0x100\nstack - 0\n')
        for i in range(FUNCTIONS):
            out.write(f"frame 0 0 {0x10000 + 0x100 * i:#x}\nstack 0 {i + 1}\n")
        out.write('names 0 "main" "" 0 0\n')
        for i in range(FUNCTIONS):
            out.write(f'names {i + 1} "function_{i}" "" 0 0\n')
        for n, i in enumerate(samples):
            out.write(f"sample {10**9 + n * step} 0 0 {i + 1} 0 1\n")
        out.write("finish\n")
    if tool.returncode:
        sys.exit(f"trace_text failed: {tool.returncode}")


def sure(before, now):
    """The rows of functions that are called surely changed."""
    bases = [argument for path in before for argument in ("--diff", path)]
    output = subprocess.run([f"{BUILD}/prof-report", "-q", "--no-cache", "-f", "top", "--json", *bases, *now],
                            check=True, capture_output=True, text=True).stdout
    return {row["name"] for row in json.loads(output)["rows"]
            if row["self"]["sure"] or row["total"]["sure"]}


def tries(count, runs, row, percent, folder):
    """How often something, or the planted function, was named; and how often something else."""
    found = wrong = 0
    for number in range(count):
        seed = f"{row} {percent} {runs} {number}"
        before = [f"{folder}/b{i}.prf" for i in range(runs)]
        now = [f"{folder}/n{i}.prf" for i in range(runs)]
        for i in range(runs):
            make(before[i], f"{seed} before {i}")
            make(now[i], f"{seed} now {i}", row, percent)
        names = sure(before, now)
        found += f"function_{row}" in names
        wrong += bool(names - {f"function_{row}", "main"}) or (row is None and bool(names))
    return found, wrong


def curve(count):
    total = sum(means())
    print("| runs on each side | function's share | planted, of the total | named | others named |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for runs, row, percent in ((1, None, 0), (1, 50, 0.5), (1, 20, 0.5), (1, 10, 0.5), (1, 5, 0.5),
                                   (1, 5, 1), (2, None, 0), (2, 10, 0.5), (2, 5, 0.5)):
            found, wrong = tries(count, runs, row, percent, folder)
            share = "" if row is None else f"{100 * means()[row] / total:.2f} %"
            print(f"| {runs} | {share} | {percent} % | {'' if row is None else f'{found} of {count}'} "
                  f"| {wrong} of {count} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"] and len(sys.argv) in (4, 6):
        make(sys.argv[2], sys.argv[3], *([int(sys.argv[4]), float(sys.argv[5])] if sys.argv[4:] else []),
             rate=int(os.environ.get("RATE", RATE)))
    elif sys.argv[1:2] == ["curve"]:
        curve(int(sys.argv[2]) if sys.argv[2:] else 100)
    else:
        sys.exit(__doc__)
