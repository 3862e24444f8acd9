# SPDX-License-Identifier: GPL-2.0-or-later
"""callback SECONDS: Python and an extension call each other, eight times, one within the other."""
import sys
import time

sys.path.insert(0, ".")
import callback  # noqa: E402


def leaf_work(x):
    return sum(i * x % 7 for i in range(200))


def step(depth, x):
    if not depth:
        return leaf_work(x)
    return callback.apply(lambda y: step(depth - 1, y), bytes((x,)))


end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    step(8, 3)
