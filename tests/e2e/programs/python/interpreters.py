# SPDX-License-Identifier: GPL-2.0-or-later
"""Interpreters that are made and destroyed, and run different code at the same addresses.

interpreters.py _ COUNT: function f_NUMBER of file <f_NUMBER line LINE> calls getppid() three times;
each interpreter runs 20 of COUNT functions. Before that, it makes the file $READY, and waits for a
byte from its standard input.
"""
import os
import sys

try:
    import _interpreters as interpreters
    create, run = lambda: interpreters.create("legacy"), interpreters.exec
except ImportError:
    import _xxsubinterpreters as interpreters
    create, run = lambda: interpreters.create(isolated=False), interpreters.run_string

# Code of more than a page, which has a mapping of its own if MALLOC_MMAP_THRESHOLD_ says so: it is
# where earlier code was.
SOURCE = """
from posix import getppid
for number in range(%d, %d):
    name = "f_%%06d" %% number
    code = "def %%s():\\n if getppid() < 0:\\n%%sfor _ in range(3):\\n %%s()\\n" %% (name, "  x%%s\\n" %% (".a" * 20) * 14, name)
    exec(compile(code, "<%%s line 2>" %% name, "exec"))
"""
with open(os.environ["READY"], "w"):
    os.read(0, 1)
for first in range(0, int(sys.argv[2]), 20):
    made = create()
    run(made, SOURCE % (first, first + 20))
    interpreters.destroy(made)
