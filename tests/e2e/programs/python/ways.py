# SPDX-License-Identifier: GPL-2.0-or-later
"""The ways to run Python code: ways.py WAY LIBRARY calls mark() in function `here` ten times."""
import os
import sys

# The library of functions that keep the GIL: before 3.12 nothing else says that a thread runs in a
# subinterpreter.
SOURCE = """
import ctypes
mark = ctypes.PyDLL(%r).mark
def here():
    for _ in range(10):
        mark()
here()
"""


def here(library):
    exec(SOURCE % library, {})


def by_multiprocessing(method, library):
    import multiprocessing
    child = multiprocessing.get_context(method).Process(target=here, args=(library,))
    child.start()
    child.join()


def by_thread(library):
    import threading
    thread = threading.Thread(target=here, args=(library,))
    thread.start()
    thread.join()


def by_subinterpreter(library):
    try:
        import _interpreters as interpreters
        made = interpreters.create("legacy")
    except ImportError:
        import _xxsubinterpreters as interpreters
        made = interpreters.create(**({"isolated": False} if sys.version_info >= (3, 9) else {}))
    if hasattr(interpreters, "exec"):
        interpreters.exec(made, SOURCE % library)
    else:
        interpreters.run_string(made, SOURCE % library)


if __name__ == "__main__":
    way, library = sys.argv[1:]
    if way in ("fork", "spawn", "forkserver"):
        by_multiprocessing(way, library)
    elif way == "exec":
        os.execv(sys.executable, [sys.executable, __file__, "direct", library])
    elif way == "thread":
        by_thread(library)
    elif way == "subinterpreter":
        by_subinterpreter(library)
    else:
        here(library)
