#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a function as user nobody whose name nobody can read.

    silent_name.py CONTENT FILE

Writes the page in which the name begins to CONTENT. Once FILE is there, which has these bytes, it is
mapped in that place, and a line is printed. Needs root, and runs until it is killed.
"""
import ctypes
import os
import sys
import time

NOBODY, READ, PRIVATE_FIXED, PAGE = 65534, 1, 0x12, 4096


def work():
    while True:
        sum(range(1000))


def main():
    content, path = sys.argv[1:3]
    name = "n" * 200000  # has memory of its own, from a page's start on
    work.__code__ = work.__code__.replace(co_name=name)
    if hasattr(work.__code__, "co_qualname"):
        work.__code__ = work.__code__.replace(co_qualname=name)
    page = id(name) & -PAGE
    with open(content + ".new", "wb") as file:
        file.write(ctypes.string_at(page, PAGE))
    os.rename(content + ".new", content)
    while not os.path.exists(path):
        time.sleep(0.01)
    fd = os.open(path, os.O_RDONLY)
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    if libc.mmap(ctypes.c_void_p(page), ctypes.c_size_t(PAGE), READ, PRIVATE_FIXED, fd,
                 ctypes.c_long(0)) != page:
        sys.exit("mmap")
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    print("ready", flush=True)
    work()


main()
