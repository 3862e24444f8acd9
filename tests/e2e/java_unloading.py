#!/usr/bin/env python3
"""Whether samples in generated classes have the names of the classes that ran.

java_unloading.py SAID JSONL: SAID has the number of the class for each call of the probed method.
Prints "WRONG wrong, NAMELESS nameless of SAMPLES samples".
"""
import json
import re
import sys


def main():
    with open(sys.argv[1]) as f:
        said = f.read().split()
    wrong = nameless = probes = timed = 0
    with open(sys.argv[2]) as f:
        for line in f:
            sample = json.loads(line)
            names = [frame["name"] for frame in sample["stack"]]
            made = [m for m in (re.match(r"Template(\d+)\.(?:work|turn)(\d+)$", n) for n in names) if m]
            if any(m.group(1) != m.group(2) for m in made):
                wrong += 1
            if not sample["event"].startswith("uprobe"):
                timed += 1
                continue
            number = said[probes] if probes < len(said) else None
            probes += 1
            if not made:
                nameless += 1
            elif any(m.group(1) != number for m in made):
                wrong += 1
    print("%d wrong, %d nameless of %d samples, %d said, %d by time" % (wrong, nameless, probes, len(said), timed))


if __name__ == "__main__":
    main()
