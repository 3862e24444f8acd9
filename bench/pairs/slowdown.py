#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What recording costs programs of runtimes: prof-record beside perf record -g, in interleaved rounds.

usage: slowdown.py [--rounds N] [--rate HZ] [--record PROF-RECORD] [--only javac|steady|python]

Three programs: javac compiles 200 files, from start to end; and one in Java and one in Python that
work steadily do the same work again and again once they are warm. perf can walk Java's frames only with
-XX:+PreserveFramePointer, which costs time of its own: so these programs also run without a recorder,
with and without that flag. For each way to run it prints the median of its time over that of the run
without recorder and flag in the same round, less one, with its 95 % interval; the same for the
processor time of all its threads. Four rounds take some four minutes, of Python alone ten seconds,
and say little. Nothing else should run on the machine.
"""
import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

FILES = 200
METHODS = 12
FRAMES = "-XX:+PreserveFramePointer"

METHOD = """
    public <T extends Comparable<T>> Map<String, List<T>> group%d(Collection<T> in, int k) {
        return in.stream().filter(x -> x != null).sorted((a, b) -> b.compareTo(a)).limit(k + %d)
            .collect(Collectors.groupingBy(x -> "k" + (x.hashCode() %% (k + 1))));
    }
    public int loop%d(int n) {
        int s = 0;
        for (int i = 0; i < n; i++)
            switch (i %% 3) { case 0: s += i; break; case 1: s ^= i; break; default: s -= values[i & 3]; }
        return s;
    }
"""
CLASS = """package p%d;
import java.util.*;
import java.util.stream.Collectors;
public class C%d {
    int[] values = { 1, 2, 3, 4 };
%s}
"""
STEADY = """
import java.util.*;
public class Steady {
    interface Shape { double area(); }
    record Circle(double r) implements Shape { public double area() { return 3 * r * r; } }
    record Square(double a) implements Shape { public double area() { return a * a; } }
    static long depth(int n, List<Shape> shapes, Map<String, Integer> words) {
        if (n > 0)
            return 1 + depth(n - 1, shapes, words);
        double sum = 0;
        for (Shape s : shapes)
            sum += s.area();
        for (int i = 0; i < 200; i++)
            words.merge("word" + i % 50, i, Integer::sum);
        return (long) sum + words.values().stream().mapToInt(x -> x).sum();
    }
    static long work(int times) {
        List<Shape> shapes = new ArrayList<>();
        for (int i = 0; i < 1000; i++)
            shapes.add(i % 2 == 0 ? new Circle(i) : new Square(i));
        long sum = 0;
        for (int i = 0; i < times; i++)
            sum += depth(i % 40, shapes, new HashMap<>());
        return sum;
    }
    public static void main(String[] args) {
        long sum = work(150000), began = System.nanoTime();
        sum += work(700000);
        System.out.println(System.nanoTime() - began + " " + sum);
    }
}
"""
PYTHON = """
import json, time
def shapes(n):
    return [{"side": i, "name": "shape %d" % i} for i in range(n)]
def text(items):
    return sum(len(json.dumps(item)) for item in sorted(items, key=lambda item: item["name"]))
def depth(n, items):
    return depth(n - 1, items) if n else text(items)
def work(times):
    return sum(depth(i % 40, shapes(50)) for i in range(times))
total, began = work(200), time.perf_counter_ns()
total += work(6000)
print(time.perf_counter_ns() - began, total)
"""


def ran(out, command):
    """Runs a command, and writes how long it took: this program inside the recorder."""
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        said = program.stdout.read()
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = status
    wall = time.monotonic() - began
    if said.split():  # a steady program's own clock
        wall = int(said.split()[0]) / 1e9
    with open(out, "w", encoding="utf-8") as f:
        json.dump([wall, usage.ru_utime + usage.ru_stime], f)
    return status != 0


def prepare_javac(folder):
    sources = []
    for i in range(FILES):
        package = os.path.join(folder, "src", "p%d" % (i % 20))
        os.makedirs(package, exist_ok=True)
        sources.append(os.path.join(package, "C%d.java" % i))
        with open(sources[-1], "w", encoding="utf-8") as f:
            f.write(CLASS % (i % 20, i, "".join(METHOD % (m, m, m) for m in range(METHODS))))
    names = os.path.join(folder, "names")
    with open(names, "w", encoding="utf-8") as f:
        f.write("\n".join(sources))
    return lambda flags: ["javac", *("-J" + f for f in flags), "-d", folder + "/out", "@" + names]


def prepare_steady(folder):
    with open(os.path.join(folder, "Steady.java"), "w", encoding="utf-8") as f:
        f.write(STEADY)
    subprocess.run(["javac", "-d", folder, os.path.join(folder, "Steady.java")], check=True)
    return lambda flags: ["java", *flags, "-cp", folder, "Steady"]


def prepare_python(folder):
    path = os.path.join(folder, "steady.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write(PYTHON)
    return lambda flags: [sys.executable, path]


# Each gives the command that runs it with some flags, and names the one that perf needs.
PROGRAMS = {"javac": (prepare_javac, FRAMES), "steady": (prepare_steady, FRAMES), "python": (prepare_python, None)}


def ways(options, flag, folder):
    """Name, flags of the virtual machine, and the recorder before the command."""
    rate = str(options.rate)
    trace = os.path.join(folder, "trace")
    flags, with_flag = ([flag], ", frame pointers") if flag else ([], "")
    yield "alone", [], []
    if flag:
        yield "alone" + with_flag, flags, []
    yield "prof-record", [], [options.record, "-q", "-F", rate, "-o", trace, "--"]
    if shutil.which("perf"):
        # Build-ids, collected once the program has ended, make some builds of perf 6.1 abort.
        yield "perf -g" + with_flag, flags, ["perf", "record", "-q", "-B", "-g", "-F", rate, "-o", trace, "--"]


def measure(command, recorder, folder):
    result = os.path.join(folder, "result")
    shutil.rmtree(os.path.join(folder, "out"), ignore_errors=True)
    subprocess.run([*recorder, sys.executable, os.path.abspath(__file__), "--ran", result, *command],
                   check=True, stderr=subprocess.DEVNULL)
    with open(result, encoding="utf-8") as f:
        return json.load(f)


def interval(ratios):
    """Their median, and its 95 % interval by resampling."""
    medians = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(2000))
    return statistics.median(ratios), medians[50], medians[1949]


def show(name, ratios):
    return "%s %+6.2f %% [%+.2f, %+.2f]" % (name, *(100 * (r - 1) for r in interval(ratios)))


def compare(name, options, folder):
    prepare, flag = PROGRAMS[name]
    command = prepare(folder)
    times = {}
    order = list(ways(options, flag, folder))
    measure(command([]), [], folder)  # brings the files into memory
    for _ in range(options.rounds):
        for way, flags, recorder in order:
            times.setdefault(way, []).append(measure(command(flags), recorder, folder))
        order = order[1:] + order[:1]
    alone = times["alone"]
    print("%s: %.2f s, %.2f s of CPU" % (name, *(statistics.median(t) for t in zip(*alone))))
    for way, runs in times.items():
        if way != "alone":
            print("  %-24s %s   %s" % (way, *(show(what, [run[i] / base[i] for run, base in zip(runs, alone)])
                                             for i, what in enumerate(("time", "CPU")))), flush=True)


def main():
    if sys.argv[1:2] == ["--ran"]:
        return ran(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--rate", type=int, default=999)
    parser.add_argument("--record", default="build/prof-record")
    parser.add_argument("--only", choices=PROGRAMS)
    options = parser.parse_args()
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        for name in [options.only] if options.only else PROGRAMS:
            compare(name, options, folder)
    print("load average: %.2f %.2f %.2f" % os.getloadavg())
    return 0


if __name__ == "__main__":
    sys.exit(main())
