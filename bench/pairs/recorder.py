#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the recorder itself costs: two builds of prof-record in interleaved pairs.

usage: recorder.py [--rounds N] [--only NAME] OLD NEW

  start   -p of one busy process: from the start of prof-record to its first sample, its CPU time, the
          memory of its BPF maps, and the most that it had in memory itself
  small   the same for a C program that needs no library but libc
  waits   the same with --off-cpu
  python  the same for one that runs Python
  many    the same with -a beside 500 processes that sleep
  command from the start of prof-record until a command in C runs, its CPU time, and its memory
  javac   CPU time while javac compiles 200 files, in percent of a CPU, start included
  busy    CPU time for two busy processes, without the start: 6 s less 1 s, in percent of a CPU

Prints the medians of both with the smallest in parentheses, and the median of the ratios of pairs with its
95 % interval. Nothing else should run on the machine.
"""
import argparse
import glob
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import slowdown  # pylint: disable=wrong-import-position

LOOP = ["sh", "-c", "while :; do :; done"]
PYTHON_LOOP = [sys.executable, "-S", "-c", "while True: pass"]
RATE = "999"
NAMES = ["start", "small", "waits", "python", "many", "command", "javac", "busy"]
# With an argument it says when it began, and ends.
SMALL = r"""
#include <stdio.h>
#include <time.h>

int main(int argc, char **argv)
{
	struct timespec now;

	(void)argv;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (argc > 1)
		return printf("%lld\n", now.tv_sec * 1000000000LL + now.tv_nsec) < 0;
	for (volatile unsigned long n = 0;; n++)
		;
}
"""


def map_bytes(pid):
    """What the kernel charges for the maps that a process holds."""
    maps = {}
    for path in glob.glob("/proc/%d/fdinfo/*" % pid):
        try:
            with open(path, encoding="utf-8") as f:
                text = f.read()
        except OSError:
            continue
        if "map_type:" in text:
            maps[re.search(r"map_id:\s+(\d+)", text)[1]] = int(re.search(r"memlock:\s+(\d+)", text)[1])
    return sum(maps.values())


def first_sample(report, trace):
    dump = subprocess.run([report, "--dump", trace], stdout=subprocess.PIPE, text=True, check=True).stdout
    times = [int(t) for t in re.findall(r"^ *sample time_ns=(\d+)", dump, re.M)]
    if not times:
        sys.exit("recorder.py: a recording of half a second has no sample; is the machine busy with something else?")
    return min(times)


def start(record, report, folder, arguments):
    trace = os.path.join(folder, "trace")
    began = time.monotonic_ns()
    with subprocess.Popen([record, "-q", "-F", RATE, "-d", "0.5", "-o", trace, *arguments]) as recorder:
        maps, ended = 0, 0
        while not ended:
            time.sleep(0.1)
            maps = max(maps, map_bytes(recorder.pid))
            ended, status, usage = os.wait4(recorder.pid, os.WNOHANG)
        recorder.returncode = status
    return {"first sample, ms": (first_sample(report, trace) - began) / 1e6,
            "CPU of the start and 0.5 s, ms": 1e3 * (usage.ru_utime + usage.ru_stime),
            "maps, MB": maps / 1e6,
            "memory, MB": usage.ru_maxrss * 1024 / 1e6}


def start_command(record, folder, command):
    began = time.monotonic_ns()
    with subprocess.Popen([record, "-q", "-F", RATE, "-o", os.path.join(folder, "trace"), "--", *command],
                          stdout=subprocess.PIPE, text=True) as recorder:
        said = recorder.stdout.read()
        _, status, usage = os.wait4(recorder.pid, 0)
        recorder.returncode = status
    return {"command runs, ms": (int(said) - began) / 1e6,
            "CPU, ms": 1e3 * (usage.ru_utime + usage.ru_stime),
            "memory, MB": usage.ru_maxrss * 1024 / 1e6}


def percent(record, folder, arguments):
    said = subprocess.run([record, "--stats", "-F", RATE, "-o", os.path.join(folder, "trace"), *arguments],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True).stderr
    return {"CPU, %": float(re.search(r"recorder: .*, ([\d.]+) % of one", said)[1])}


def steady(record, folder, pids):
    cpu = []
    for seconds in (1, 6):
        with subprocess.Popen([record, "-q", "-F", RATE, "-d", str(seconds), "-p", pids,
                               "-o", os.path.join(folder, "trace")]) as recorder:
            _, status, usage = os.wait4(recorder.pid, 0)
            recorder.returncode = status
        cpu.append(usage.ru_utime + usage.ru_stime)
    return {"CPU, %": 100 * (cpu[1] - cpu[0]) / 5}


class Programs:
    """Runs some while the recorder is measured."""

    def __init__(self, *commands):
        self.running = [subprocess.Popen(command) for command in commands]

    def __enter__(self):
        time.sleep(0.3)
        return self.running

    def __exit__(self, *_):
        for program in self.running:
            program.kill()
            program.wait()


def measures(only, report, folder):
    """Name, and a function of prof-record that measures it."""
    def one(record):
        with Programs(LOOP) as loops:
            return start(record, report, folder, ["-p", str(loops[0].pid)])

    def small(record):
        with Programs([program]) as programs:
            return start(record, report, folder, ["-p", str(programs[0].pid)])

    def waits(record):
        with Programs([program]) as programs:
            return start(record, report, folder, ["--off-cpu", "-p", str(programs[0].pid)])

    def command(record):
        return start_command(record, folder, [program, "once"])

    def python(record):
        with Programs(PYTHON_LOOP) as loops:
            return start(record, report, folder, ["-p", str(loops[0].pid)])

    def many(record):
        with Programs(LOOP, *[["sleep", "1000"]] * 500):
            return start(record, report, folder, ["-a"])

    def javac(record):
        return percent(record, folder, ["--", *compiler([])])

    def busy(record):
        with Programs(LOOP, LOOP) as loops:
            return steady(record, folder, ",".join(str(p.pid) for p in loops))

    program = os.path.join(folder, "small")
    subprocess.run(["cc", "-x", "c", "-o", program, "-"], input=SMALL, text=True, check=True)
    if only in (None, "javac"):
        compiler = slowdown.prepare_javac(folder)
        subprocess.run(compiler([]), check=True, stderr=subprocess.DEVNULL)
    for name, function in zip(NAMES, (one, small, waits, python, many, command, javac, busy)):
        if only in (None, name):
            yield name, function


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", choices=NAMES)
    parser.add_argument("old")
    parser.add_argument("new")
    options = parser.parse_args()
    report = os.path.join(os.path.dirname(options.new), "prof-report")
    random.seed(1)
    print("| | | old | new | ratio |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, function in measures(options.only, report, folder):
            runs = {options.old: [], options.new: []}
            for i in range(options.rounds):
                for record in sorted(runs, reverse=i % 2):
                    runs[record].append(function(record))
            old, new = runs[options.old], runs[options.new]
            for what in old[0]:
                pairs = [(o[what], n[what]) for o, n in zip(old, new)]
                print("| %s | %s | %.3g (%.3g) | %.3g (%.3g) | %.2f [%.2f, %.2f] |" %
                      (name, what, *(f(v) for v in zip(*pairs) for f in (statistics.median, min)),
                       *slowdown.interval([n / o for o, n in pairs])), flush=True)
    print("load average: %.2f %.2f %.2f" % os.getloadavg())
    return 0


if __name__ == "__main__":
    sys.exit(main())
