# SPDX-License-Identifier: GPL-2.0-or-later
"""Code objects that are made, run and freed, one after the other, at the same addresses.

changing.py LIBRARY COUNT: function f_NUMBER of file <f NUMBER> calls function `call_back` with its
number, so that the stack of each sample must have the same number twice. Before that, it makes the
file $READY, and waits for a byte from its standard input.
"""
import ctypes
import gc
import os
import sys

library = ctypes.CDLL(sys.argv[1])
gc.disable()
with open(os.environ["READY"], "w"):
    os.read(0, 1)
for number in range(int(sys.argv[2])):
    name = "f_%06d" % number
    source = "def %s():\n%s mark()\n%s()\n" % (name, "\n" * (number % 7), name)
    code = compile(source, "<%s line %d>" % (name, 2 + number % 7), "exec")
    names = {"mark": library.mark}
    exec(code, names)
    del code
    names.clear()
