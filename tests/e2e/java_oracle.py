#!/usr/bin/env python3
"""Compares what a Java program said of its stacks with what was sampled there.

java_oracle.py SAID JSONL: a line of SAID for each sample, innermost frame first, as
"class.method:line ...". Prints "SAME OF" and the first few that differ.
"""
import json
import re
import sys


def said(line):
    """Frames that check() printed; itself, which goes on to marker(), without its line."""
    frames = [re.sub(r"/(0x[0-9a-f]+|[0-9]+)(?=\.)", "", word) for word in line.split()]
    return [re.sub(r":(-\d+|100\d{4})$", "", frame) for frame in frames][1:]


def sampled(stack):
    """The same of a sample, from the caller of check() on; other code than Java's is left out."""
    frames = []
    for frame in stack:
        name = frame["name"]
        if frame.get("kind") != "jit" or re.match(r"StubRoutines|Interpreter$|I2C", name):
            continue
        line = frame.get("line")
        frames.append(name + (":%d" % line if line else ""))
    while frames and not frames[0].startswith("Oracle.check"):
        frames.pop(0)
    return frames[1:]


def main():
    with open(sys.argv[1]) as f:
        expected = [said(line) for line in f]
    with open(sys.argv[2]) as f:
        samples = [json.loads(line) for line in f]
    found = [sampled(s["stack"]) for s in samples if s["event"].startswith("uprobe")]
    same = sum(a == b for a, b in zip(expected, found))
    print("%d of %d, %d samples" % (same, len(expected), len(found)))
    shown = 0
    for i, (a, b) in enumerate(zip(expected, found)):
        if a != b and shown < 5:
            shown += 1
            print("#", i, "said", a[:12])
            print("#", i, "seen", b[:12])


if __name__ == "__main__":
    main()
