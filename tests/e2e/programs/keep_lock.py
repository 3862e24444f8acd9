#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""As keep_lock.c, in a Python program of user nobody, which runs until it is killed.

    keep_lock.py FILE
"""
import ctypes
import os
import sys
import threading

NOBODY, READ, WRITE, SHARED, PRIVATE, PAGE = 65534, 1, 2, 1, 2, 4096


def work():
    while True:
        sum(range(1000))


def keep(libc, first, second):
    page = libc.mmap(None, ctypes.c_size_t(PAGE), READ | WRITE, SHARED, first, ctypes.c_long(0))
    ctypes.memset(page, 1, 1)
    libc.mmap(None, ctypes.c_size_t(PAGE), READ, PRIVATE, second, ctypes.c_long(0))


def main():
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    files = [os.open(sys.argv[1], os.O_RDWR) for _ in range(2)]
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    threading.Thread(target=keep, args=(libc, *files), daemon=True).start()
    work()


main()
