# SPDX-License-Identifier: GPL-2.0-or-later
"""Stops in a stack that has each kind of Python function.

stack.py LIBRARY SAYS: before that it writes to SAYS which functions it is in, leaf first.
"""
import ctypes
import functools
import sys

library = ctypes.CDLL(sys.argv[1])


def say(frame):
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        while frame:
            code = frame.f_code
            name = getattr(code, "co_qualname", code.co_name)
            out.write("%s %s:%d\n" % (name, code.co_filename, frame.f_lineno))
            frame = frame.f_back


def last():
    return say(sys._getframe()), library.stop()


def größe(n):
    return größe(n - 1) if n else last()


def generator():
    for _ in range(2):
        größe(3)
        yield


def delegating():
    yield from generator()


class Thing:
    def __init__(self, n):
        self.n = n

    def __lt__(self, other):
        return self.value

    @property
    def value(self):
        return [x for x in delegating()]

    @staticmethod
    def static():
        return sorted([Thing(1), Thing(2)])


async def inner():
    return Thing.static()


async def outer():
    return await inner()


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        finally:
            pass
    return wrapper


@decorated
@decorated
def plain():
    try:
        outer().send(None)
    except StopIteration:
        pass


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
def from_c(depth):
    if depth:
        library.call_back(from_c, depth - 1)
    else:
        plain()
    return depth


def a_function_with_a_name_that_is_longer_than_what_the_kernel_half_has_room_for_so_that_the_recorder_has_to_read_the_rest_of_it_from_the_memory_of_the_process_which_it_does_for_all_names_of_more_than_so_many_characters():
    library.call_back(from_c, 2)


exec(compile("\n\ndef made():\n    call()\nmade()\n", "<made>", "exec"), {
    "call": lambda: list(map(
        lambda x: a_function_with_a_name_that_is_longer_than_what_the_kernel_half_has_room_for_so_that_the_recorder_has_to_read_the_rest_of_it_from_the_memory_of_the_process_which_it_does_for_all_names_of_more_than_so_many_characters(),
        "a"))})
