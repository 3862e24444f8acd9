#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers prof-ship --to=pyroscope and --to=parca as these servers do, and refuses what they refuse.

    tests/cli/profile-server.py FOLDER

FOLDER/port gets the port. Of each series that is taken FOLDER/taken has a file N.labels, a line for each
label, and N.folded, its stacks with the label comm; FOLDER/asked has a line for each request. FOLDER/mode
may be "STATUS [taken]": each request gets this status, and is taken nevertheless or not; or "STATUS but NAME":
those of that profile do, and others are taken.

What is checked is what Pyroscope 2.2 (PusherService/Push with its default limits) and Parca (WriteRaw, July 2026)
check of a request and its profile; the field numbers are those of profile.proto.
"""
import base64
import collections
import gzip
import http.server
import json
import os
import re
import sys
import time
import uuid

FOLDER = sys.argv[1]
PYROSCOPE, PARCA = "/push.v1.PusherService/Push", "/api/profiles/writeraw"


class Refused(Exception):
    status, code = 400, "invalid_argument"


class Limited(Refused):
    status, code = 429, "resource_exhausted"


def need(condition, why, error=Refused):
    if not condition:
        raise error(why)


# -------- profile.proto --------


def number_at(data, at):
    value = shift = 0
    while True:
        need(at < len(data) and shift < 64, "cut off number")
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if not data[at - 1] & 0x80:
            return value, at


def message(data):
    """The values of each field, in their order."""
    fields, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = number_at(data, at)
        need(tag & 7 in (0, 2), "a wire type that profile.proto does not have")
        value, at = number_at(data, at)
        if tag & 7 == 2:
            need(at + value <= len(data), "cut off field")
            value, at = data[at:at + value], at + value
        fields[tag >> 3].append(value)
    return fields


def numbers(values):
    """Of a repeated field, packed or not."""
    result = []
    for value in values:
        if isinstance(value, int):
            result.append(value)
            continue
        at = 0
        while at < len(value):
            n, at = number_at(value, at)
            result.append(n)
    return result


def one(fields, number):
    return fields[number][-1] if fields[number] else 0


class Profile:
    def __init__(self, packed, burst):
        data = gzip.decompress(packed) if packed[:2] == b"\x1f\x8b" else packed
        need(not burst or len(data) <= burst, "rate limit exceeded", Limited)
        p = message(data)
        self.types, self.samples, self.mappings, self.locations, self.functions = (
            [message(m) for m in p[i]] for i in range(1, 6))
        self.strings = [s.decode("utf-8", "surrogateescape") for s in p[6]]
        self.time, self.period_type = one(p, 9), [message(m) for m in p[11]]

    def text(self, index):
        need(index < len(self.strings), "string index out of range")
        return self.strings[index]

    def check(self):
        """What both check."""
        need(self.strings and self.strings[0] == "", "the first string is not empty")
        need(self.types, "no sample types")
        for sample in self.samples:
            need(len(numbers(sample[2])) == len(self.types), "as many values as types")
            for label in map(message, sample[3]):
                self.text(one(label, 1))
                self.text(one(label, 2))
        for fields, texts in ((self.mappings, (5, 6)), (self.functions, (2, 3, 4)), (self.types, (1, 2))):
            for m in fields:
                for index in texts:
                    self.text(one(m, index))

    def folded(self):
        """As prof-report writes it; a profile has names as they are."""
        def shown(name):
            return re.sub("[\x00-\x1f\x7f\ufffd]", "?", name.replace(";", ":"))

        functions = {one(f, 1): self.text(one(f, 2)) for f in self.functions}
        places = {one(p, 1): [functions[one(message(line), 1)] for line in p[4]] for p in self.locations}
        stacks = collections.Counter()
        for sample in self.samples:
            labels = {self.text(one(label, 1)): self.text(one(label, 2)) for label in map(message, sample[3])}
            names = [name for place in numbers(sample[1]) for name in places[place]]
            stack = [shown(labels.get("comm", "?")).replace(" ", "_")]
            stack += [re.sub(r" (\d+)$", r"_\1", shown(name)) for name in reversed(names)]
            stacks[";".join(stack)] += numbers(sample[2])[0]
        return "".join(f"{stack} {stacks[stack]}\n" for stack in sorted(stacks, key=os.fsencode))


def check_pyroscope(labels, p):
    need(labels and len(labels) <= 30, "number of labels")
    need(len({name for name, _ in labels}) == len(labels), "duplicate label")
    for name, value in labels:
        need(0 < len(name) <= 1024 and len(value) <= 2048, "length of a label")
    for name in ("__name__", "service_name"):
        need(dict(labels).get(name), f"no {name}")
    p.check()
    now = time.time()
    need(not p.time or now - 3600 < p.time / 1e9 < now + 600, "outside of ingestion window")
    need(len(p.samples) <= 16000, "exceeds the samples count limit")
    for m in p.locations + p.functions:
        need(one(m, 1), "an id is 0")
    for m in p.types:
        need("-" not in p.text(one(m, 1)), "sample type contains -")
    for text in p.strings:
        need(not re.search("[\ud800-\udfff]", text), "invalid utf8 string")


def check_parca(labels, p):
    need(len({name for name, _ in labels}) == len(labels), "duplicate label name")
    for name, _ in labels:
        need(re.fullmatch("[a-zA-Z_][a-zA-Z0-9_]*", name), "invalid label name")
    need(dict(labels).get("__name__"), "missing __name__ label")
    p.check()
    for what in (p.mappings, p.locations, p.functions):
        need([one(m, 1) for m in what] == list(range(1, len(what) + 1)), "an id is not sequential")
    for location in p.locations:
        need(one(location, 2) <= len(p.mappings), "location has invalid mapping id")
        for line in map(message, location[4]):
            need(one(line, 1) <= len(p.functions), "location has invalid function id")
    for sample in p.samples:
        need(all(0 < n <= len(p.locations) for n in numbers(sample[1])), "location out of range")
        need(all(one(message(label), 1) for label in sample[3]), "label has no key")
    for kind in p.types:
        parts = [dict(labels)["__name__"]] + [p.text(one(m, i)) for m in [kind] + p.period_type for i in (1, 2)]
        need(re.fullmatch("[a-zA-Z_:][a-zA-Z0-9_:]*", ":".join(parts)), "invalid profile type")


def check(path, body):
    """The series of a request, as labels and profile."""
    try:
        request = json.loads(body)
        series = []
        for one_series in request["series"]:
            labels = one_series["labels"]
            if path == PARCA:
                labels = labels["labels"]
            labels = [(pair["name"], pair["value"]) for pair in labels]
            for sample in one_series["samples"]:
                raw = base64.b64decode(sample["rawProfile"], validate=True)
                p = Profile(raw, 2 << 20 if path == PYROSCOPE else 0)
                if path == PYROSCOPE:
                    uuid.UUID(sample["ID"])
                    check_pyroscope(labels, p)
                else:
                    check_parca(labels, p)
                series.append((labels, p))
    except (ValueError, KeyError, TypeError, EOFError) as error:
        raise Refused(f"not of the schema: {error!r}") from error
    need(series, "no profiles received")
    return series


# -------- the server --------


def path_of(*names):
    return os.path.join(FOLDER, *names)


def mode():
    try:
        with open(path_of("mode"), encoding="ascii") as f:
            return f.read().split()
    except OSError:
        return []


def take(series):
    for labels, p in series:
        n = len(os.listdir(path_of("taken"))) // 2
        with open(path_of("taken", f"{n}.labels"), "w", encoding="utf-8") as f:
            f.write("".join(f"{name}={value}\n" for name, value in sorted(labels)))
        with open(path_of("taken", f"{n}.folded"), "w", encoding="utf-8") as f:
            f.write(p.folded())


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        with open(path_of("asked"), "a", encoding="utf-8") as f:
            f.write(f"{self.path} {status} {body}\n")
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path not in (PYROSCOPE, PARCA):
            self.answer(404, "404 page not found")
            return
        if self.headers["Content-Type"] != "application/json":
            self.answer(415, "")
            return
        status, *taken = mode() or ["200", "taken"]
        try:
            series = check(self.path, body)
            if taken[:1] == ["but"] and ("__name__", taken[1]) not in series[0][0]:
                status, taken = "200", ["taken"]
            if taken == ["taken"]:
                take(series)
            self.answer(int(status), "{}" if status == "200" else '{"code":"unavailable"}')
        except Refused as error:
            self.answer(error.status, json.dumps({"code": error.code, "message": str(error)}))


os.makedirs(path_of("taken"), exist_ok=True)
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open(path_of("port.new"), "w", encoding="ascii") as port:
    port.write(str(server.server_address[1]))
os.rename(path_of("port.new"), path_of("port"))
server.serve_forever()
