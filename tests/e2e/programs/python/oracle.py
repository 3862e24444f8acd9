# SPDX-License-Identifier: GPL-2.0-or-later
"""Says of itself which functions it is in, whenever it calls mark(), where the sampler looks.

oracle.py LIBRARY OUTPUT COUNT: a line of JSON for each call: the functions and lines, leaf first.
Before that, it makes the file $READY, and waits for a byte from its standard input.
"""
import ctypes
import functools
import json
import os
import sys
import threading

library = ctypes.CDLL(sys.argv[1])
mark = library.mark
said = []


def frames(frame):
    found = []
    while frame:
        code = frame.f_code
        found.append([getattr(code, "co_qualname", code.co_name), frame.f_lineno])
        frame = frame.f_back
    return found


def snap():
    said.append((threading.get_native_id(), frames(sys._getframe(1)), mark()))


def deep(n):
    return deep(n - 1) if n else snap()


def generator():
    for _ in range(3):
        snap()
        yield


def delegating():
    yield from generator()


class Thing:
    def __lt__(self, other):
        snap()
        return False

    @property
    def value(self):
        return snap()

    @staticmethod
    def static():
        snap()

    def __del__(self):
        snap()


async def inner():
    snap()


async def outer():
    await inner()


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper


@decorated
@decorated
def plain():
    snap()


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
def from_c(depth):
    snap()
    return library.call_back(from_c, depth - 1) if depth else 0


def run_coroutine(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        pass


def made(number):
    source = "\n" * (number % 50) + "def made_%05d():\n    snap()\nmade_%05d()\n" % (number, number)
    exec(compile(source, "<made %05d>" % number, "exec"), {"snap": snap})


def everything():
    deep(0)
    deep(20)
    deep(200)
    for _ in generator():
        pass
    list(delegating())
    sorted([1, 3, 2], key=lambda x: snap() or x)
    sorted([Thing(), Thing()])
    Thing().value
    Thing.static()
    list(map(lambda x: snap(), range(2)))
    [snap() for _ in range(2)]
    plain()
    run_coroutine(outer())
    library.call_back(from_c, 5)
    max("abc", key=functools.partial(lambda a, b: snap() or b, 1))
    eval("snap()")
    for number in range(int(sys.argv[3])):
        made(number)


with open(os.environ["READY"], "w"):
    os.read(0, 1)
everything()
threads = [threading.Thread(target=everything) for _ in range(2)]
for thread in threads:
    thread.start()
    thread.join()
with open(sys.argv[2], "w") as output:
    for thread, stack, _ in said:
        output.write(json.dumps([thread, stack]) + "\n")
