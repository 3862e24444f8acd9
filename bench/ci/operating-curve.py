#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How well the gates find what they should, and how often they cry wolf.

    bench/ci/operating-curve.py prepare
    bench/ci/operating-curve.py pairs --seconds 150     again and again, on a quiet machine
    bench/ci/operating-curve.py values --seconds 150    the same
    bench/ci/operating-curve.py pairs --loaded --seconds 150   with a load of its own, else idle
    bench/ci/operating-curve.py values --loaded --seconds 150
    bench/ci/operating-curve.py runs --seconds 150      the same, also with --loaded
    bench/ci/operating-curve.py counts --seconds 150    again and again (valgrind)
    bench/ci/operating-curve.py explain --seconds 150   again and again (root)
    bench/ci/operating-curve.py table
    bench/ci/operating-curve.py gate                    on made-up histories
    bench/ci/operating-curve.py changes                 the same

pairs: slowdowns of 2, 5 and 10 % of prof-report's time are built in (build/prof-report-slow), among
tries in which old and new are equal. A try has a trace of its own seed and fresh copies of the
programs, and `prof-bench ab` judges it in each of WAYS.
runs: `prof-bench run` on a fresh copy of prof-report, and once more with that as its baseline, on the
same or on one with a slowdown of 5 or 10 %, by elapsed time and by CPU time.
values: what bench/ci/measure.sh --time measures, over and over. Each of these runs is judged by all
the others as its history, as it is and with its values raised by 2, 5, 10 and 20 %.
counts: slowdowns of 1, 2, 5 and 10 % of prof-report's instructions, counted by `prof-bench instr`.
Both are judged by `prof-bench gate` and bench/ci/thresholds.conf.
explain: which functions `prof-bench ab --explain` names when a slowdown of 5 % is built in; that one is `slow`.

With --loaded, as many processes as there are CPUs compress and sleep in turns, for up to a second each.
Results are added to FOLDER/tries.jsonl as they come, so that it can be done in slices; `table`
prints what there is, in Markdown, for bench/README.md.
"""
import argparse
import contextlib
import json
import math
import multiprocessing
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

# The options of `prof-bench ab` by default, with CPU time, and in bench/ci/candidate.sh.
WAYS = {
    "default": [],
    "--cpu-time": ["--cpu-time"],
    "candidate.sh": ["--cpu-time", "--noise", "5", "--max-pairs", "320"],
}
PAIRS_PERCENTS = [2, 5, 10]
RUNS_WAYS = ["default", "--cpu-time"]
RUNS_PERCENTS = [5, 10]
# What `prof-bench run` says.
VERDICTS = ["Performance has regressed", "Performance has improved", "No verdict",
            "No change in performance|Change within noise"]
COUNTS_PERCENTS = [1, 2, 5, 10]
EXPLAIN_PERCENT, EXPLAIN_TRIES = 5, 20
VALUES_PERCENTS = [0, 2, 5, 10, 20]
LEAST_EARLIER = 8        # values that the thresholds want
SAMPLES, STACKS = 5000, 50 # of the traces
ROUND_INSTRUCTIONS = 7   # of bench/suite/slow.c
CALIBRATION_ROUNDS = 10000000
CALIBRATION_PAIRS = ["--pairs", "30", "--max-pairs", "30"]
HERE = os.path.dirname(os.path.abspath(__file__))
THRESHOLDS = os.path.join(HERE, "thresholds.conf")
STATUSES = (0, 1, 3) # fine, regressed, inconclusive


def work_and_sleep(seed):
    """A process of the load."""
    r = random.Random(seed)
    data = r.randbytes(1 << 20)
    while True:
        end = time.monotonic() + r.random()
        while time.monotonic() < end:
            zlib.compress(data)
        time.sleep(r.random())


@contextlib.contextmanager
def load(wanted):
    count = os.cpu_count() if wanted else 0
    all_processes = [multiprocessing.Process(target=work_and_sleep, args=(seed,), daemon=True)
                     for seed in range(count)]
    for process in all_processes:
        process.start()
    try:
        yield
    finally:
        for process in all_processes:
            process.kill()


def bmf(values):
    """Of {benchmark: {measure: value}}."""
    return {benchmark: {measure: {"value": value} for measure, value in one.items()}
            for benchmark, one in values.items()}


def write_history(folder, entries):
    path = os.path.join(folder, "history")
    with open(path, "w", encoding="utf-8") as file:
        for i, values in enumerate(entries):
            file.write(json.dumps({"time": i, "branch": "main", "hash": f"c{i}", "testbed": "t",
                                   "results": bmf(values)}) + "\n")
    return path


def gate_words(bench, folder, earlier, now, thresholds=THRESHOLDS):
    """What the gate says of each of the results `now`, {benchmark: {measure: value}}, after the
    entries `earlier`: {(benchmark, measure): word}."""
    history = write_history(folder, earlier)
    results = os.path.join(folder, "now.json")
    with open(results, "w", encoding="utf-8") as file:
        json.dump(bmf(now), file)
    done = subprocess.run([bench, "gate", "--thresholds", thresholds, "--history", history,
                           "--testbed", "t", "--dry-run", results], stdout=subprocess.PIPE,
                          check=False, encoding="utf-8")
    if done.returncode not in STATUSES:
        sys.exit("prof-bench gate failed")
    return {(benchmark, measure): word for word, benchmark, measure in
            re.findall(r"^(fine|REGRESSED|inconclusive) +(\S+) (\S+):", done.stdout, re.M)}


class Curve:
    def __init__(self, settings):
        self.folder = os.path.abspath(settings.folder)
        self.equal, self.slow = settings.equal, settings.slow
        self.machine = "loaded" if settings.loaded else "quiet"
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
        for name in ("prof-report-slow", "prof-report", "prof-record", "prof-bench", "testdata/make_trace"):
            shutil.copy(os.path.join(build, name), self.folder)

    def program(self, side, rounds):
        """A copy of prof-report whose name asks for so many rounds; names are equally long."""
        folder = self.path(side)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        return shutil.copy(self.path("prof-report-slow"), f"{folder}/report+{rounds:010d}")

    def make_trace(self, seed):
        subprocess.run([self.path("make_trace"), "-n", str(SAMPLES), "-k", str(STACKS), "-s",
                        str(seed), "-O", self.path("make_trace"), "-o", self.trace], check=True)

    # Pairs of runs.

    def ab(self, rounds, seed, options):
        """Its exit status, the estimates as changes in percent, and how many seconds it took."""
        old, new = self.program("old", 0), self.program("new", rounds)
        start = time.monotonic()
        done = subprocess.run([self.path("prof-bench"), "ab", "-q", *options, "--seed", str(seed),
                               "--resamples", "1000", "--bmf", "-", old, new, "--", "-q",
                               "--no-cache", self.trace], stdout=subprocess.PIPE, check=False)
        if done.returncode not in STATUSES:
            sys.exit("prof-bench ab failed")
        measures = json.loads(done.stdout)[new]
        ratio, same = ([100 * (measures[measure][bound] - 1)
                        for bound in ("lower_value", "value", "upper_value")]
                       for measure in ("ratio", "old-old-ratio"))
        return {"status": done.returncode, "change": ratio, "same": same,
                "seconds": time.monotonic() - start}

    def calibrate(self):
        """Rounds for one percent of the time, by way: many rounds beside none, in pairs. Both are CPU
        time, and that is shared out by the machine alike, so it is measured on a quiet one. That has
        faster and slower minutes, so what earlier slices found counts as well."""
        rounds = {}
        for way, options in WAYS.items():
            cpu_time = [o for o in options if o == "--cpu-time"]
            if self.machine == "quiet":
                self.make_trace(1)
                done = self.ab(CALIBRATION_ROUNDS, 1, cpu_time + CALIBRATION_PAIRS)
                self.add(kind="calibration", way=way, rounds=CALIBRATION_ROUNDS / done["change"][1],
                         change=done["change"])
            found = [c["rounds"] for c in self.read("calibration") if c["way"] == way]
            if not found:
                sys.exit("begin with a slice on a quiet machine")
            rounds[way] = statistics.median(found)
        return rounds

    def tries(self, kind, ways, percents):
        """(way, percent, seed) of those not done yet: slowdowns lie evenly among tries of equals."""
        done = {(t["way"], t["percent"], t["seed"]) for t in self.read(kind)
                if t["machine"] == self.machine}
        for i in range(self.equal):
            slow = (i + 1) * self.slow // self.equal > i * self.slow // self.equal
            for percent in [0] + (percents if slow else []):
                for way in ways:
                    if (way, percent, i + 1) not in done:
                        yield way, percent, i + 1

    def take(self, end, tries, try_one):
        todo = list(tries)
        rounds = self.calibrate() if todo else None
        for way, percent, seed in todo:
            if time.monotonic() > end:
                break
            self.make_trace(seed)
            try_one(way, percent, seed, round(percent * rounds[way]))

    def try_pairs(self, way, percent, seed, rounds):
        self.add(kind="pairs", machine=self.machine, way=way, percent=percent, seed=seed,
                 **self.ab(rounds, seed * 100 + percent, WAYS[way]))

    def pairs(self, end):
        self.take(end, self.tries("pairs", WAYS, PAIRS_PERCENTS), self.try_pairs)

    # A run, and the next one, which is compared with it.

    def run(self, side, rounds, way):
        return subprocess.run([self.path("prof-bench"), "run", *WAYS[way], "--name", "report",
                               "--baseline", self.path("baseline"), "--", self.program(side, rounds),
                               "-q", "--no-cache", self.trace], stdout=subprocess.PIPE, check=True,
                              encoding="utf-8").stdout

    def try_runs(self, way, percent, seed, rounds):
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.path("baseline"))
        self.run("old", 0, way)
        said = self.run("new", rounds, way)
        change, verdict = re.search(r"change: \[\S+ (\S+)% .*\n +(.*)", said).groups()
        self.add(kind="runs", machine=self.machine, way=way, percent=percent, seed=seed,
                 change=float(change), verdict=verdict)

    def runs(self, end):
        self.take(end, self.tries("runs", RUNS_WAYS, RUNS_PERCENTS), self.try_runs)

    # Names of the functions to blame.

    def explain(self, end):
        done = {t["seed"] for t in self.read("explain")}
        todo = [seed for seed in range(1, EXPLAIN_TRIES + 1) if seed not in done]
        rounds = self.calibrate()["--cpu-time"] if todo else 0
        for seed in todo:
            if time.monotonic() > end:
                break
            self.make_trace(seed)
            new = self.program("new", round(EXPLAIN_PERCENT * rounds))
            said = subprocess.run([self.path("prof-bench"), "ab", "--cpu-time", "--explain", "--seed",
                                   str(seed), "--resamples", "1000", self.program("old", 0), new, "--",
                                   "-q", "--no-cache", self.trace], stdout=subprocess.PIPE,
                                  check=False, encoding="utf-8")
            if said.returncode not in STATUSES:
                sys.exit("prof-bench ab failed")
            self.add(kind="explain", seed=seed, status=said.returncode,
                     names=re.findall(r" of the whole\)  (.*)$", said.stdout, re.M))

    # Values of the shipped benchmarks, again and again.

    def values(self, end):
        while time.monotonic() < end:
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([os.path.join(HERE, "measure.sh"), "--only-time", folder, self.folder],
                               check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                with open(os.path.join(folder, "time.json"), encoding="utf-8") as file:
                    found = json.load(file)
            self.add(kind="values", machine=self.machine, values={
                name: {"cpu-time": one["cpu-time"]["value"]} for name, one in found.items()})

    # Counts of instructions.

    def instructions(self, rounds):
        results = self.path("instructions.json")
        subprocess.run([self.path("prof-bench"), "instr", "-q", "--name", "slow", "--bmf", results,
                        "--", self.program("counted", rounds), "-q", "--no-cache", self.trace],
                       check=True)
        with open(results, encoding="utf-8") as file:
            return json.load(file)["slow"]["instructions"]["value"]

    def counts(self, end):
        done = {(t["percent"], t["seed"]) for t in self.read("counts")}
        for i in range(self.equal):
            slow = (i + 1) * self.slow // self.equal > i * self.slow // self.equal
            todo = [p for p in [0] + (COUNTS_PERCENTS if slow else []) if (p, i + 1) not in done]
            if not todo or time.monotonic() > end:
                continue
            self.make_trace(i + 1)
            old = self.instructions(0)
            for percent in todo:
                new = self.instructions(round(old * percent / 100 / ROUND_INSTRUCTIONS))
                words = gate_words(self.path("prof-bench"), self.folder,
                                   [{"slow": {"instructions": old}}],
                                   {"slow": {"instructions": new}})
                self.add(kind="counts", percent=percent, seed=i + 1, old=old, new=new,
                         word=words["slow", "instructions"])


def percent_name(percent):
    return f"{percent} %" if percent else "none"


def print_table(heads, rows):
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print()


def pairs_rows(curve):
    for machine in ("quiet", "loaded"):
        for way in WAYS:
            for percent in [0] + PAIRS_PERCENTS:
                found = [t for t in curve.read("pairs") if t["machine"] == machine and
                         t["way"] == way and t["percent"] == percent]
                if found:
                    yield (machine, way, percent_name(percent), len(found),
                           f"{statistics.median(t['change'][1] for t in found):+.2f} %",
                           *(sum(t["status"] == status for t in found) for status in (1, 3, 0)),
                           f"{statistics.median(t['seconds'] for t in found):.1f} s")


def runs_rows(curve):
    for machine in ("quiet", "loaded"):
        for way in RUNS_WAYS:
            for percent in [0] + RUNS_PERCENTS:
                found = [t for t in curve.read("runs") if t["machine"] == machine and
                         t["way"] == way and t["percent"] == percent]
                if found:
                    yield (machine, way, percent_name(percent), len(found),
                           f"{statistics.median(t['change'] for t in found):+.2f} %",
                           *(sum(bool(re.match(verdict, t["verdict"])) for t in found)
                             for verdict in VERDICTS))


def values_rows(curve):
    """Each run is judged by all the others, as if they had come before it."""
    bench = curve.path("prof-bench")
    for machine in ("quiet", "loaded"):
        runs = [t["values"] for t in curve.read("values") if t["machine"] == machine]
        if len(runs) <= LEAST_EARLIER:
            continue
        for percent in VALUES_PERCENTS:
            words = []
            for i, run in enumerate(runs):
                now = {name: {measure: value * (1 + percent / 100) for measure, value in one.items()}
                       for name, one in run.items()}
                words += gate_words(bench, curve.folder, runs[:i] + runs[i + 1:], now).values()
            yield (machine, percent_name(percent), len(words),
                   *(words.count(word) for word in ("REGRESSED", "inconclusive", "fine")))
        print(f"{machine}: {len(runs)} runs")


def counts_rows(curve):
    for percent in [0] + COUNTS_PERCENTS:
        found = [t for t in curve.read("counts") if t["percent"] == percent]
        if found:
            yield (percent_name(percent), len(found),
                   f"{statistics.median(100 * (t['new'] / t['old'] - 1) for t in found):+.3f} %",
                   *(sum(t["word"] == word for t in found)
                     for word in ("REGRESSED", "inconclusive", "fine")))


def explain_rows(curve):
    found = curve.read("explain")
    if found:
        names = [t["names"] for t in found]
        yield (len(found), sum(t["status"] == 1 for t in found), sum(t["status"] == 3 for t in found),
               sum(n[:1] == ["slow"] for n in names), sum(any(name != "slow" for name in n) for n in names))


def table(curve):
    print_table(["machine", "way", "slowdown", "tries", "measured, median", "regressed",
                 "inconclusive", "fine", "takes, median"], list(pairs_rows(curve)))
    print_table(["machine", "way", "slowdown", "tries", "measured, median", "regressed", "improved",
                 "no verdict", "no change"], list(runs_rows(curve)))
    print_table(["machine", "slowdown", "tries", "regressed", "inconclusive", "fine"],
                list(values_rows(curve)))
    print_table(["slowdown", "tries", "measured, median", "regressed", "inconclusive", "fine"],
                list(counts_rows(curve)))
    print_table(["tries", "regressed", "inconclusive", "its function named first", "another one named"],
                list(explain_rows(curve)))


class MadeUp:
    """Histories of 100 benchmarks whose values vary by `spread` around 100: what prof-bench makes of
    them is that of a machine with so much noise, however busy this one is."""
    SPREADS = [0.005, 0.01, 0.02, 0.05, 0.1]
    COUNT, ENTRIES = 100, 60
    EARLIEST, LATEST = 10, 49    # where a history may change
    CLOSE = 2                    # entries from there that count as found

    # All tests that Bencher has. A t test of 0.99 is what it offers first.
    TESTS = ["static 90 110", "percentage 0.1 0.1", "z_score 0.99 0.99", "t_test 0.99 0.99",
             "log_normal 0.99 0.99", "iqr 1.5 1.5", "delta_iqr 1.5 1.5"]

    def __init__(self, build, folder):
        self.bench = os.path.join(build, "prof-bench")
        self.folder = folder
        self.random = random.Random(1)

    def value(self, spread, change):
        return 100 * (1 + change) * math.exp(self.random.gauss(0, spread))

    def entry(self, spread, change_of):
        return {f"b{b}": {"latency": self.value(spread, change_of(b))} for b in range(self.COUNT)}

    def gate(self):
        """By 20 earlier values each and the shipped thresholds: 1000 tries of each."""
        rows = []
        for spread in self.SPREADS:
            for change in (0, 0.05, 0.1, 0.2, 0.3):
                words = []
                for _ in range(10):
                    history = [self.entry(spread, lambda _: 0) for _ in range(20)]
                    now = self.entry(spread, lambda _, c=change: c)
                    words += gate_words(self.bench, self.folder, history, now).values()
                rows.append((f"{spread:.1%}", f"{change:.0%}", *map(words.count, (
                    "fine", "REGRESSED", "inconclusive"))))
        print_table(["noise of one value", "slowdown", "fine", "regressed", "inconclusive"], rows)

    def by_change_points(self, entries):
        """{benchmark: the entries where it changed}."""
        output = subprocess.run([self.bench, "history", "--history",
                                 write_history(self.folder, entries), "--changes"],
                                stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout
        found = {}
        for benchmark, at in re.findall(r"^b(\d+) .* at c(\d+)$", output, re.M):
            found.setdefault(int(benchmark), []).append(int(at))
        return found

    def by_test(self, test, entries):
        """The same by a threshold: the first entry with an alert, as somebody looks at it then."""
        thresholds = os.path.join(self.folder, "thresholds")
        with open(thresholds, "w", encoding="utf-8") as file:
            name, *limits = test.split()
            file.write(f"* latency {name} {' '.join(limits)}"
                       f"{'' if name == 'static' else ' min=2 max=64'}\n")
        found = {}
        for i in range(self.EARLIEST, len(entries)):
            for (benchmark, _), word in gate_words(self.bench, self.folder, entries[:i], entries[i],
                                                   thresholds).items():
                if word == "REGRESSED":
                    found.setdefault(int(benchmark[1:]), [i])
        return found

    def found_by(self, way, entries, places):
        """How many changes were found where they are, and how many elsewhere. Change points have seen
        what came later, and may lie on both sides; an alert comes with a change or after it."""
        if way == "change points":
            found, before = self.by_change_points(entries), self.CLOSE
        else:
            found, before = self.by_test(way, entries), 0
        right = sum(any(-before <= at - places[b] <= self.CLOSE for at in all_at)
                    for b, all_at in found.items() if b in places)
        return right, sum(map(len, found.values())) - right

    def changes(self):
        """Of 60 values each that change once, between the 11th and the 50th: 100 tries of each."""
        ways = ["change points"] + self.TESTS
        rows, totals = [], {way: [0, 0] for way in ways}
        planted = 0
        for spread in self.SPREADS:
            for change in (0, 0.02, 0.05, 0.1, 0.2):
                places = {b: self.random.randint(self.EARLIEST, self.LATEST)
                          for b in range(self.COUNT) if change}
                planted += len(places)
                entries = [self.entry(spread, lambda b, i=i, c=change, p=places:
                                      c if i >= p.get(b, self.ENTRIES) else 0)
                           for i in range(self.ENTRIES)]
                cells = []
                for way in ways:
                    right, elsewhere = self.found_by(way, entries, places)
                    totals[way][0] += right
                    totals[way][1] += elsewhere
                    cells.append(f"{right}, {elsewhere}")
                rows.append((f"{spread:.1%}", percent_name(round(100 * change)), *cells))
        rows.append(("all", "precision", *(f"{100 * right / (right + elsewhere):.0f} %"
                                           for right, elsewhere in totals.values())))
        rows.append(("all", "recall", *(f"{100 * right / planted:.0f} %"
                                        for right, _ in totals.values())))
        print_table(["noise of one value", "change", *ways], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("prepare", "pairs", "runs", "values", "counts", "explain",
                                            "table", "gate", "changes"))
    parser.add_argument("--folder", default="build/operating-curve")
    parser.add_argument("--build", default="build", help="where prepare finds the programs")
    parser.add_argument("--loaded", action="store_true", help="make the machine busy meanwhile")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin nothing after this")
    parser.add_argument("--equal", type=int, default=200, help="tries in which both are equal")
    parser.add_argument("--slow", type=int, default=50, help="tries of each slowdown")
    settings = parser.parse_args()
    end = time.monotonic() + settings.seconds
    if settings.command in ("gate", "changes"):
        with tempfile.TemporaryDirectory() as folder:
            getattr(MadeUp(settings.build, folder), settings.command)()
        return
    curve = Curve(settings)
    if settings.command == "prepare":
        subprocess.run(["make", "-s", "-j2", f"BUILD={settings.build}", "all",
                        f"{settings.build}/prof-report-slow",
                        f"{settings.build}/testdata/make_trace"], check=True)
        curve.prepare(settings.build)
    elif settings.command == "table":
        table(curve)
    else:
        before = len(curve.read(settings.command))
        with load(settings.loaded):
            getattr(curve, settings.command)(end)
        print(f"{len(curve.read(settings.command)) - before} more")


if __name__ == "__main__":
    main()
