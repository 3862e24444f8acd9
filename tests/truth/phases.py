# SPDX-License-Identifier: GPL-2.0-or-later
"""phases FILE: in each phase another function. Writes "PHASE FROM TO" (ns) to FILE."""
import sys
import time

with open(sys.argv[1], "w") as times:
    for k in range(100):
        scope = {}
        exec(f"def phase_{k}_(n):\n    return sum(i * i % 7 for i in range(n))\n", scope)
        start = time.monotonic_ns()
        while time.monotonic_ns() < start + 30000000:
            scope[f"phase_{k}_"](2000)
        times.write(f"{k} {start} {time.monotonic_ns()}\n")
