#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs made code as user nobody, and writes to its perf map from a file that nobody can read.

    silent_write.py FILE GO

Prints its perf map's path, and begins with it when GO is there. The write ends with FILE's file system. Needs
root, and runs until it is killed.
"""
import ctypes
import mmap
import os
import sys
import threading
import time

NOBODY, PAGE = 65534, 4096
FOREVER = {"x86_64": b"\xeb\xfe", "aarch64": b"\0\0\0\x14"}  # jumps to itself


def main():
    source = os.open(sys.argv[1], os.O_RDONLY)
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    page = libc.mmap(None, ctypes.c_size_t(PAGE), mmap.PROT_READ, mmap.MAP_PRIVATE, source, ctypes.c_long(0))
    path = "/tmp/perf-%d.map" % os.getpid()
    print(path, flush=True)
    while not os.path.exists(sys.argv[2]):
        time.sleep(0.01)
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    to = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    code = mmap.mmap(-1, PAGE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(FOREVER[os.uname().machine])
    start = ctypes.addressof(ctypes.c_char.from_buffer(code))
    os.write(to, b"%x 10 made\n" % start)
    threading.Thread(target=libc.write, args=(to, ctypes.c_void_p(page), ctypes.c_size_t(PAGE)), daemon=True).start()
    ctypes.CFUNCTYPE(None)(start)()


main()
