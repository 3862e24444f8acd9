#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the SQL of standard input in ClickHouse, in process, and prints what it selects as TSVRaw.

    tests/fleet/clickhouse.py NODE_MODULES DATA < FILE.sql
"""
import ctypes
import os
import re
import sys

library = ctypes.CDLL(sys.argv[1] + "/@chdb/lib-linux-x64-gnu/libchdb.so")
library.chdb_connect.restype = ctypes.POINTER(ctypes.c_void_p)
library.chdb_connect.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
library.chdb_query.restype = ctypes.c_void_p
library.chdb_query.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
for name, kind in [("buffer", ctypes.c_void_p), ("length", ctypes.c_size_t), ("error", ctypes.c_char_p)]:
    function = getattr(library, "chdb_result_" + name)
    function.restype, function.argtypes = kind, [ctypes.c_void_p]

arguments = [b"clickhouse", b"--path=" + sys.argv[2].encode(), b"--max_threads=2"]
connection = library.chdb_connect(len(arguments), (ctypes.c_char_p * len(arguments))(*arguments))
status = 0
for statement in re.split(r";\s*\n", sys.stdin.read()):
    if not statement.strip():
        continue
    result = library.chdb_query(connection[0], statement.encode(), b"TSVRaw")
    error = library.chdb_result_error(result)
    if error:
        print(statement, error.decode(errors="replace"), sep="\n", file=sys.stderr)
        status = 1
        break
    data, size = library.chdb_result_buffer(result), library.chdb_result_length(result)
    if data and size:
        sys.stdout.buffer.write(ctypes.string_at(data, size))
sys.stdout.buffer.flush()
# Its own threads do not end in time.
os._exit(status)
