# SPDX-License-Identifier: GPL-2.0-or-later
"""The ways to run Python code: ways.py WAY LIBRARY calls mark() in a function named WAY ten times."""
import os
import sys

# The library of functions that keep the GIL: before 3.12 nothing else says that a thread runs in a
# subinterpreter. The recorder has time to notice the process before the calls.
SOURCE = """
import ctypes, time
mark = ctypes.PyDLL(%r).mark
def %s():
    for _ in range(10):
        mark()
time.sleep(0.8)
%s()
"""


def source(way, library):
    return SOURCE % (library, way, way)


def here(way, library):
    exec(source(way, library), {})


def by_multiprocessing(way, library):
    import multiprocessing
    child = multiprocessing.get_context(way).Process(target=here, args=(way, library))
    child.start()
    child.join()


def by_thread(way, library):
    import threading
    thread = threading.Thread(target=here, args=(way, library))
    thread.start()
    thread.join()


def by_subinterpreter(way, library):
    try:
        import _interpreters as interpreters
        made = interpreters.create("legacy")
    except ImportError:
        import _xxsubinterpreters as interpreters
        made = interpreters.create(**({"isolated": False} if sys.version_info >= (3, 9) else {}))
    if hasattr(interpreters, "exec"):
        interpreters.exec(made, source(way, library))
    else:
        interpreters.run_string(made, source(way, library))


def by_exec(_, library):
    os.execv(sys.executable, [sys.executable, __file__, "executed", library])


WAYS = {
    "fork": by_multiprocessing,
    "spawn": by_multiprocessing,
    "forkserver": by_multiprocessing,
    "exec": by_exec,
    "thread": by_thread,
    "subinterpreter": by_subinterpreter,
}

if __name__ == "__main__":
    WAYS.get(sys.argv[1], here)(*sys.argv[1:])
