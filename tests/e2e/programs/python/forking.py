# SPDX-License-Identifier: GPL-2.0-or-later
"""Children of one process that make different code, each at the same addresses as the others.

forking.py LIBRARY COUNT: function f_NUMBER of file <f_NUMBER line LINE> calls mark() in a child.
Before that, it makes the file $READY, and waits for a byte from its standard input.
"""
import ctypes
import os
import sys

mark = ctypes.CDLL(sys.argv[1]).mark


def run(number):
    name = "f_%06d" % number
    source = "def %s():\n mark()\n%s()\n" % (name, name)
    exec(compile(source, "<%s line 2>" % name, "exec"), {"mark": mark})


with open(os.environ["READY"], "w"):
    os.read(0, 1)
for number in range(int(sys.argv[2])):
    child = os.fork()
    if not child:
        run(number)
        os._exit(0)
    os.waitpid(child, 0)
