#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How well the gates find what they should, and how often they cry wolf.

    bench/ci/operating-curve.py prepare
    bench/ci/operating-curve.py time --seconds 150     again and again, on a quiet machine
    bench/ci/operating-curve.py count --seconds 150    again and again (valgrind)
    bench/ci/operating-curve.py table
    bench/ci/operating-curve.py gate                   on made-up histories
    bench/ci/operating-curve.py changes                the same

Slowdowns of 1, 2, 5 and 10 % of prof-report's CPU time, or of its instructions, are built in
(build/prof-report-slow), 50 tries each, among 200 tries in which old and new are equal. A try has a trace of its own seed
and fresh copies of the programs. By time, `prof-bench ab` judges it; by counts, the
instructions under callgrind with the threshold of bench/ci/thresholds.conf. Results are added to
FOLDER/tries.jsonl as they come, so that it can be done in slices; `table` prints what there is,
in Markdown, for bench/README.md.
"""
import argparse
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PERCENTS = [1, 2, 5, 10]
COUNT_THRESHOLD = 0.5    # percent more instructions: bench/ci/thresholds.conf
STACKS = 1000
ROUND_INSTRUCTIONS = 7   # of bench/suite/slow.c
CALIBRATION_ROUNDS = 10000000
CALIBRATION_PAIRS = ["--pairs", "30", "--max-pairs", "30"]


def all_tries():
    """(percent, seed): each injected slowdown between two tries of equals."""
    for i in range(50):
        for j, percent in enumerate(PERCENTS):
            yield 0, 4 * i + j + 1
            yield percent, i + 1


class Curve:
    def __init__(self, folder, samples):
        self.folder = os.path.abspath(folder)
        self.samples = samples
        self.trace = self.path("trace.prf")

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, kind):
        try:
            with open(self.path("tries.jsonl"), encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
        except FileNotFoundError:
            return []
        return [line for line in lines if line["kind"] == kind]

    def add(self, **line):
        with open(self.path("tries.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def prepare(self, build):
        os.makedirs(self.folder, exist_ok=True)
        for name in ("prof-report-slow", "prof-report", "prof-bench", "testdata/make_trace"):
            shutil.copy(os.path.join(build, name), self.folder)

    def program(self, side, rounds):
        """A copy of prof-report whose name asks for so many rounds; names are equally long."""
        folder = self.path(side)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        return shutil.copy(self.path("prof-report-slow"), f"{folder}/report+{rounds:010d}")

    def make_trace(self, seed, samples, stacks):
        subprocess.run([self.path("make_trace"), "-n", str(samples), "-k", str(stacks), "-s",
                        str(seed), "-O", self.path("prof-report"), "-o", self.trace], check=True)

    def pairs(self, old, new, seed, more=()):
        """What `prof-bench ab` finds: its exit status, and the estimates as change in percent."""
        done = subprocess.run([self.path("prof-bench"), "ab", "-q", "--cpu-time", "--seed",
                               str(seed), *more, "--resamples", "1000", "--bmf", "-", old,
                               new, "--", "-q", "--no-cache", self.trace], stdout=subprocess.PIPE, check=False)
        if done.returncode not in (0, 1, 3):
            sys.exit("prof-bench ab failed")
        measures = json.loads(done.stdout)[new]
        return done.returncode, {
            measure: [100 * (measures[measure][bound] - 1)
                      for bound in ("lower_value", "value", "upper_value")]
            for measure in ("ratio", "old-old-ratio")}

    def instructions(self, program):
        """On one CPU: how several threads share the work would be counted, too."""
        counts = self.path("counts")
        cpus = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(cpus)})
        subprocess.run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={counts}",
                        program, "-q", "--no-cache", self.trace], check=True,
                       env={"PATH": os.environ["PATH"]}, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        os.sched_setaffinity(0, cpus)
        with open(counts, encoding="utf-8") as file:
            return int(re.search(r"^totals: (\d+)", file.read(), re.M).group(1))

    def calibrate(self):
        """Rounds for one percent of the time: many rounds beside none, in pairs. A machine has
        faster and slower minutes, so what earlier slices found counts as well."""
        self.make_trace(1, self.samples, STACKS)
        old, new = self.program("old", 0), self.program("new", CALIBRATION_ROUNDS)
        _, change = self.pairs(old, new, 1, CALIBRATION_PAIRS)
        self.add(kind="calibration", rounds=CALIBRATION_ROUNDS / change["ratio"][1],
                 change=change["ratio"])
        return statistics.median(line["rounds"] for line in self.read("calibration"))

    def try_time(self, percent, seed, per_percent):
        rounds = round(percent * per_percent)
        self.make_trace(seed, self.samples, STACKS)
        status, change = self.pairs(self.program("old", 0), self.program("new", rounds),
                                    seed * 100 + percent)
        self.add(kind="time", percent=percent, seed=seed, rounds=rounds, status=status,
                 change=change["ratio"], same=change["old-old-ratio"])

    def try_count(self, percent, seed, known):
        """`known`: the instructions of the old program with this seed's trace."""
        self.make_trace(seed, self.samples // 10, STACKS // 5)
        if seed not in known:
            known[seed] = self.instructions(self.program("old", 0))
        rounds = round(known[seed] * percent / 100 / ROUND_INSTRUCTIONS)
        self.add(kind="count", percent=percent, seed=seed, rounds=rounds, old=known[seed],
                 new=self.instructions(self.program("new", rounds)))

    def run(self, kind, seconds):
        """Tries that are not yet there, as many as begin within the time."""
        end = time.monotonic() + seconds
        done = {(line["percent"], line["seed"]) for line in self.read(kind)}
        todo = [one for one in all_tries() if one not in done]
        if not todo:
            print(f"all {len(done)} tries of {kind} are there")
            return
        if kind == "time":
            given, do_try = self.calibrate(), self.try_time
        else:
            given = {line["seed"]: line["old"] for line in self.read("count")}
            do_try = self.try_count
        for percent, seed in todo:
            if time.monotonic() > end:
                break
            do_try(percent, seed, given)
        print(f"{len(self.read(kind))} of {len(list(all_tries()))} tries of {kind}")


def share(lines, found):
    return f"{sum(map(found, lines))} of {len(lines)}" if lines else "not available"


def row(name, timed, counted):
    cells = [name]
    cells.append(f"{statistics.median(t['change'][1] for t in timed):+.2f} %" if timed
                 else "not available")
    cells += [share(timed, lambda t, wanted=status: t["status"] == wanted) for status in (1, 3)]
    cells.append(f"{statistics.median(100 * (c['new'] / c['old'] - 1) for c in counted):+.3f} %"
                 if counted else "not available")
    cells.append(share(counted, lambda c: c["new"] > c["old"] * (1 + COUNT_THRESHOLD / 100)))
    print("| " + " | ".join(cells) + " |")


def table(curve):
    timed, counted = curve.read("time"), curve.read("count")
    print("| slowdown | CPU time, median | found by time | inconclusive | instructions, median | "
          "found by counts |\n|---|---|---|---|---|---|")
    for percent in PERCENTS + [0]:
        row(f"{percent} %" if percent else "none: false alarms",
            [t for t in timed if t["percent"] == percent],
            [c for c in counted if c["percent"] == percent])


class MadeUp:
    """Histories of 100 benchmarks whose values vary by `spread` around 100: what prof-bench makes of
    them is that of a machine with so much noise, however busy this one is."""
    SPREADS = [0.005, 0.01, 0.02, 0.05, 0.1]

    def __init__(self, build, folder):
        self.bench = os.path.join(build, "prof-bench")
        self.folder = folder
        self.random = random.Random(1)

    def path(self, name):
        return os.path.join(self.folder, name)

    def value(self, spread, change):
        return 100 * (1 + change) * math.exp(self.random.gauss(0, spread))

    def write_history(self, entries, value):
        """value(benchmark, entry): one number."""
        with open(self.path("history"), "w", encoding="utf-8") as file:
            for i in range(entries):
                results = {f"b{b}": {"latency": {"value": value(b, i)}} for b in range(100)}
                file.write(json.dumps({"time": i, "branch": "main", "hash": f"c{i}",
                                       "testbed": "t", "results": results}) + "\n")

    def run(self, *arguments):
        return subprocess.run([self.bench, *arguments], stdout=subprocess.PIPE, check=False,
                              encoding="utf-8").stdout

    def gate(self, thresholds):
        """By 20 earlier values each and the shipped thresholds: 1000 tries of each."""
        print("| spread | change | fine | regressed | inconclusive |\n|---|---|---|---|---|")
        for spread in self.SPREADS:
            for change in (0, 0.05, 0.1, 0.2, 0.3):
                found = {"fine": 0, "REGRESSED": 0, "inconclusive": 0}
                for _ in range(10):
                    self.write_history(20, lambda b, i, s=spread: self.value(s, 0))
                    with open(self.path("now.json"), "w", encoding="utf-8") as file:
                        json.dump({f"b{b}": {"latency": {"value": self.value(spread, change)}}
                                   for b in range(100)}, file)
                    output = self.run("gate", "--thresholds", thresholds, "--history",
                                      self.path("history"), "--testbed", "t", "--dry-run",
                                      self.path("now.json"))
                    for word in found:
                        found[word] += len(re.findall(f"^{word} ", output, re.M))
                print(f"| {spread:.1%} | {change:.0%} | {found['fine']} | {found['REGRESSED']} | "
                      f"{found['inconclusive']} |")

    def changes(self):
        """Of 60 values each that change once, between the 11th and the 50th: 100 tries of each."""
        print("| spread | change | found | found where there is none |\n|---|---|---|---|")
        for spread in self.SPREADS:
            for change in (0, 0.02, 0.05, 0.1, 0.2):
                places = [self.random.randrange(10, 50) for _ in range(100)]
                self.write_history(60, lambda b, i, s=spread, c=change, p=places:
                                   self.value(s, c if i >= p[b] else 0))
                output = self.run("history", "--history", self.path("history"), "--changes")
                found = [abs(int(at) - places[int(b)]) <= 2 and change > 0
                         for b, at in re.findall(r"^b(\d+) .* at c(\d+)$", output, re.M)]
                print(f"| {spread:.1%} | {change:.0%} | {sum(found)} | {len(found) - sum(found)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("prepare", "time", "count", "table", "gate", "changes"))
    parser.add_argument("--folder", default="build/operating-curve")
    parser.add_argument("--build", default="build", help="where prepare finds the programs")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no try after this")
    parser.add_argument("--samples", type=int, default=50000, help="samples of the traces; by counts a tenth")
    settings = parser.parse_args()
    if settings.command in ("gate", "changes"):
        with tempfile.TemporaryDirectory() as folder:
            made_up = MadeUp(settings.build, folder)
            if settings.command == "gate":
                made_up.gate(os.path.join(os.path.dirname(__file__), "thresholds.conf"))
            else:
                made_up.changes()
        return
    curve = Curve(settings.folder, settings.samples)
    if settings.command == "prepare":
        subprocess.run(["make", "-s", "-j2", f"BUILD={settings.build}", "all",
                        f"{settings.build}/prof-report-slow",
                        f"{settings.build}/testdata/make_trace"], check=True)
        curve.prepare(settings.build)
    elif settings.command == "table":
        table(curve)
    else:
        curve.run(settings.command, settings.seconds)


if __name__ == "__main__":
    main()
