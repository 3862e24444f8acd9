#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers prof-ship as ClickHouse does, or as it does when something is wrong.

    tests/cli/ship-server.py FOLDER [CERTIFICATE]

FOLDER/port gets the port, of TLS with a certificate and its key. What was inserted becomes FOLDER/taken/TOKEN.N, a line for each row with its
trace, once for each token that is remembered: FOLDER/tokens/TOKEN. FOLDER/asked has a line for each request. FOLDER/mode says what is wrong:

    refuse [T] nothing is taken (of trace T), and 500 said
    late       it is taken, and 500 said           moved   nothing is taken, and the server is elsewhere
    silent     it is taken, and nothing said       words   nothing is taken, and 200 said with a reason
    cut        it is taken, and half the answer    hang    it is read, and nothing said
    old        the table remembers no tokens       naive   it is taken again each time
    has N      N is what is counted                unread  it is taken, but its rows are not read
"""
import http.server
import importlib.util
import os
import ssl
import sys
import urllib.parse

FOLDER = sys.argv[1]
sys.dont_write_bytecode = True
SPEC = importlib.util.spec_from_file_location("parquet_rows", os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "parquet-rows.py"))
PARQUET = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(PARQUET)


def path(*names):
    return os.path.join(FOLDER, *names)


def mode():
    try:
        with open(path("mode"), encoding="ascii") as f:
            return f.read().strip()
    except OSError:
        return ""


def note(text):
    with open(path("asked"), "a", encoding="utf-8") as f:
        f.write(text + "\n")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", claimed=None, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if claimed is None else claimed))
        self.end_headers()
        self.wfile.write(body)

    def count(self, query):
        if "system.tables" in query:
            return b"0\n" if mode() == "old" else b"1\n"
        if mode().startswith("has "):
            return mode()[4:].encode() + b"\n"
        trace, rows = query.split("'")[1], 0
        for name in os.listdir(path("taken")):
            if name.startswith(trace + "."):
                with open(path("taken", name), encoding="utf-8") as f:
                    rows += len(f.readlines())
        return b"%d\n" % rows

    def take(self, token, body):
        if os.path.exists(path("tokens", token)) and mode() != "naive":
            note("again " + token)
            return
        with open(path("body"), "wb") as f:
            f.write(body)
        number = len(os.listdir(path("taken")))
        with open(path("taken", f"{token}.{number}"), "w", encoding="utf-8") as f:
            if mode() != "unread":
                f.writelines(trace + "\n" for trace in PARQUET.read_file(path("body"))[1]["trace"])
        open(path("tokens", token), "wb").close()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        url = urllib.parse.urlsplit(self.path)
        parameters = dict(urllib.parse.parse_qsl(url.query))
        wrong, _, of = mode().partition(" ")
        if "query" not in parameters:
            note("asked " + " ".join(body.decode().split()))
            self.answer(200, self.count(body.decode()))
            return
        note(f"insert {url.path} {sorted(parameters.items())}")
        if wrong == "refuse" and not parameters["insert_deduplication_token"].startswith(of):
            wrong = ""
        if wrong in ("", "late", "silent", "cut", "naive", "unread", "has"):
            self.take(parameters["insert_deduplication_token"], body)
        if wrong in ("silent", "hang"):
            if wrong == "hang":
                self.rfile.read()  # until the client has gone
            self.close_connection = True
        elif wrong in ("refuse", "late"):
            self.answer(500, b"Code: 159. DB::Exception: \033[31mtoo slow\r\n")
        elif wrong == "cut":
            self.answer(200, b"", claimed=10)
            self.close_connection = True
        elif wrong == "moved":
            self.answer(307, Location=f"/elsewhere?{url.query}")
        elif wrong == "words":
            self.answer(200, b"Code: 242. DB::Exception: the table is read-only\n")
        else:
            self.answer(200)


for folder in ("taken", "tokens"):
    os.makedirs(path(folder), exist_ok=True)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
if sys.argv[2:]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
with open(path("port.new"), "w", encoding="ascii") as f:
    f.write(str(server.server_address[1]))
os.rename(path("port.new"), path("port"))
server.serve_forever()
