# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls mark(), where the sampler looks, through each of the libraries as soon as it is loaded.

new_libraries.py LIBRARY NEW...: makes the file $READY, and waits for a byte from its standard input.
"""
import ctypes
import os
import sys
import time

mark = ctypes.CDLL(sys.argv[1]).mark


def inner(library):
    library.call_back(mark, 0)


def outer(path):
    inner(ctypes.CDLL(path))


with open(os.environ["READY"], "w"):
    os.read(0, 1)
for new in sys.argv[2:]:
    outer(new)
    time.sleep(0.1)
