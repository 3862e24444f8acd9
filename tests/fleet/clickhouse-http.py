#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ClickHouse in process behind HTTP, as far as prof-ship asks it: its own tables, tokens and files.

    tests/fleet/clickhouse-http.py NODE_MODULES FOLDER SQL...

The files SQL make the tables, in FOLDER/data. FOLDER/port gets the port, of 127.0.0.1 and of the addresses in
FOLDER/addresses, if that is there. If FOLDER/kill is "MS PID", the process PID ("self": this one) is killed so many milliseconds after
the next INSERT began.
"""
import ctypes
import http.server
import os
import re
import signal
import sys
import threading
import time
import urllib.parse

MODULES, FOLDER, *SQL = sys.argv[1:]
LIBRARY = ctypes.CDLL(MODULES + "/@chdb/lib-linux-x64-gnu/libchdb.so")
LIBRARY.chdb_connect.restype = ctypes.POINTER(ctypes.c_void_p)
LIBRARY.chdb_connect.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
LIBRARY.chdb_query.restype = ctypes.c_void_p
LIBRARY.chdb_query.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
for name, kind in [("buffer", ctypes.c_void_p), ("length", ctypes.c_size_t), ("error", ctypes.c_char_p)]:
    function = getattr(LIBRARY, "chdb_result_" + name)
    function.restype, function.argtypes = kind, [ctypes.c_void_p]
ARGUMENTS = [b"clickhouse", b"--path=" + (FOLDER + "/data").encode(), b"--max_threads=2"]
CONNECTION = LIBRARY.chdb_connect(len(ARGUMENTS), (ctypes.c_char_p * len(ARGUMENTS))(*ARGUMENTS))
LOCK = threading.Lock()


def ask(query, parameters=None):
    """The answer to a query, in the database and with the param_NAME of a URL."""
    with LOCK:
        for name, value in (parameters or {}).items():
            if name.startswith("param_") or name == "database":
                code, text = run(f"USE {value}" if name == "database" else f"SET {name} = '{value}'")
                if code != 200:
                    return code, text
        return run(query)


def run(query):
    result = LIBRARY.chdb_query(CONNECTION[0], query.encode(), b"TSVRaw")
    error = LIBRARY.chdb_result_error(result)
    if error:
        return 500, error
    data, size = LIBRARY.chdb_result_buffer(result), LIBRARY.chdb_result_length(result)
    return 200, ctypes.string_at(data, size) if data and size else b""


def kill_soon():
    try:
        with open(FOLDER + "/kill", encoding="ascii") as f:
            ms, pid = f.read().split()
    except OSError:
        return
    os.unlink(FOLDER + "/kill")

    def kill():
        time.sleep(int(ms) / 1000)
        try:
            os.kill(os.getpid() if pid == "self" else int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass

    threading.Thread(target=kill, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        parameters = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query, keep_blank_values=True))
        query = parameters.pop("query", None)
        if query is None:
            status, answer = ask(body.decode(), parameters)
        else:
            # These are the server's, which this one is not.
            settings = ", ".join(f"{k} = {v if v.isdigit() else repr(v)}" for k, v in parameters.items()
                                 if k not in ("database", "wait_end_of_query"))
            with open(FOLDER + "/body", "wb") as f:
                f.write(body)
            kill_soon()
            table = re.fullmatch(r"INSERT INTO (\w+) FORMAT Parquet", query)[1]
            status, answer = ask(f"INSERT INTO {table} FROM INFILE '{FOLDER}/body' SETTINGS {settings} "
                                 "FORMAT Parquet", parameters)
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


for name in SQL:
    with open(name, encoding="utf-8") as sql:
        for statement in re.split(r";\s*\n", sql.read()):
            if statement.strip():
                code, text = ask(statement)
                if code != 200:
                    sys.exit(text.decode(errors="replace"))
ADDRESSES = ["127.0.0.1"]
if os.path.exists(FOLDER + "/addresses"):
    with open(FOLDER + "/addresses", encoding="ascii") as f:
        ADDRESSES += f.read().split()
PORT = 0
for address in ADDRESSES:
    server = http.server.ThreadingHTTPServer((address, PORT), Handler)
    PORT = server.server_address[1]
    threading.Thread(target=server.serve_forever).start()
with open(FOLDER + "/port.new", "w", encoding="ascii") as f:
    f.write(str(PORT))
os.rename(FOLDER + "/port.new", FOLDER + "/port")
