#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader of traces that was written from man/prf.5 and shares no code with libprf.

It prints definitions and records as testdata/print_trace does, so that both can be compared.
The section names of the page stand above what they describe. zstd and xxh3 come from the
system's libraries.
"""

import ctypes
import ctypes.util
import sys

MASK = (1 << 64) - 1
MASK32 = (1 << 32) - 1


def library(name):
    path = ctypes.util.find_library(name)
    if not path:
        sys.exit(77)  # the test says "skipped"
    return ctypes.CDLL(path)


ZSTD = library("zstd")
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t] * 2
XXHASH = library("xxhash")
XXHASH.XXH3_64bits.restype = ctypes.c_uint64
XXHASH.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def xxh3(data):
    return XXHASH.XXH3_64bits(data, len(data))


class Bad(Exception):
    """Damage, or a trace that cannot be read."""


# CONVENTIONS


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, size):
        if size > self.left():
            raise Bad("too few bytes")
        self.at += size
        return self.data[self.at - size : self.at]

    def unsigned(self, size):
        return int.from_bytes(self.take(size), "little")

    def leb(self):
        """The value, the number of its bits, and the last byte."""
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value, shift, byte

    def uleb(self):
        value, _, _ = self.leb()
        if value > MASK:
            raise Bad("a number that is too large")
        return value

    def sleb(self):
        value, bits, last = self.leb()
        return value - (1 << bits) if last & 0x40 else value

    def text(self):
        end = self.data.find(b"\0", self.at)
        if end < 0:
            raise Bad("text without an end")
        return self.take(end + 1 - self.at)[:-1]

    # COLUMNS

    def column(self, n):
        planes = self.take(1)[0]
        if planes > 8:
            raise Bad("too many planes")
        values = [self.uleb()] * n
        for j in range(planes):
            plane = self.take(n)
            values = [(value + (byte << (8 * j))) & MASK for value, byte in zip(values, plane)]
        return values

    # Stack column

    def stack_column(self, n):
        highest = self.uleb()
        frequent = self.column(self.uleb())
        codes = self.take(n)
        others = iter(self.column(self.uleb()))
        values = []
        for code in codes:
            if code < 248:
                value = frequent[code]
            elif code < 255:
                value = highest + code - 247
            else:
                value = next(others)
            highest = max(highest, value)
            values.append(value)
        return values

    def records(self):
        while self.left():
            yield Bytes(self.take(self.uleb()))


# What is printed: the language of testdata/README.md


def quoted(text):
    out = ""
    for byte in text:
        if byte < 0x20 or byte >= 0x7F:
            out += "\\x%02x" % byte
        elif chr(byte) in '"\\':
            out += "\\" + chr(byte)
        else:
            out += chr(byte)
    return '"' + out + '"'


def identifier(value):
    """Of a value that is an id + 1, or 0."""
    return "-" if value == 0 else str(value - 1)


class Trace:
    def __init__(self):
        self.events, self.objects, self.tasks, self.frames, self.stacks = [], [], [], [], []
        self.records = []
        self.samples = 0
        self.finished = False

    def first_id(self, payload, table):
        if payload.uleb() != len(table):
            raise Bad("definitions are missing")

    # DEFINITIONS

    def read_events(self, payload):
        self.first_id(payload, self.events)
        for record in payload.records():
            kind, name, unit = record.uleb(), record.text(), record.text()
            rate, period = record.uleb(), record.uleb()
            self.events.append(
                "event %d %s %s %d %d" % (min(kind, 3), quoted(name), quoted(unit), rate, period)
            )

    def read_objects(self, payload):
        self.first_id(payload, self.objects)
        for record in payload.records():
            kind, flags, path, root = record.uleb(), record.uleb(), record.text(), record.text()
            build_id = record.take(record.uleb())
            base, device, inode, size, mtime = (record.uleb() for _ in range(5))
            self.objects.append(
                'object %d %s %s "%s" %d %d %d %d %d %d'
                % (min(kind, 7), quoted(path), quoted(root), build_id.hex(), base, flags & 1,
                   device, inode, size, mtime)
            )

    def read_tasks(self, payload):
        self.first_id(payload, self.tasks)
        for record in payload.records():
            pid, tid, inner_pid, inner_tid, parent, start = (record.uleb() for _ in range(6))
            comm, cgroup, command_line = record.text(), record.text(), record.text()
            self.tasks.append(
                "task %d %d %s %s %s %d %d %d %d"
                % (pid, tid, quoted(comm), quoted(cgroup), quoted(command_line), parent, start,
                   inner_pid, inner_tid)
            )

    def read_frames(self, payload):
        objects = payload.uleb()
        self.first_id(payload, self.frames)
        n = payload.uleb()
        for object_value, flags, offset in zip(
            payload.column(n), payload.column(n), payload.column(n)
        ):
            if object_value > objects or (object_value == 0) != bool(flags & 8):
                raise Bad("a frame in no object")
            if flags & 8:
                offset = min(offset, 10)
            self.frames.append("frame %s %d %d" % (identifier(object_value), flags, offset))

    def read_stacks(self, payload):
        frames = payload.uleb()
        self.first_id(payload, self.stacks)
        n = payload.uleb()
        for back, frame in zip(payload.column(n), payload.column(n)):
            own = len(self.stacks)
            if back > own or frame >= frames:
                raise Bad("a stack of no frame")
            self.stacks.append("stack %s %d" % (identifier(own - back + 1 if back else 0), frame))

    # SAMPLES

    def read_samples(self, payload):
        events, tasks, stacks, n = (payload.uleb() for _ in range(4))
        if (events, tasks, stacks) != (len(self.events), len(self.tasks), len(self.stacks)):
            raise Bad("definitions are missing")
        lanes, start = [], 0
        for _ in range(payload.uleb()):
            event, cpu = payload.uleb(), payload.uleb()
            start = (start + payload.sleb()) & MASK
            lanes.append([event, cpu, start])
        times, lane_column, task_column = (payload.column(n) for _ in range(3))
        stack_column = payload.stack_column(n)
        waker_column, weights = payload.column(n), payload.column(n)
        waker_tasks = payload.column(n) if payload.left() else [0] * n
        for i in range(n):
            lane = lanes[lane_column[i]]
            lane[2] = (lane[2] + times[i]) & MASK
            line = "sample %d %d %d %s %d %d" % (
                lane[2], task_column[i], lane[0], identifier(stack_column[i]), lane[1], weights[i])
            if waker_column[i]:
                line += " " + identifier(waker_column[i])
                if waker_tasks[i]:
                    line += " " + identifier(waker_tasks[i])
            self.records.append(line)
        self.samples += n

    # RECORDS

    def read_losses(self, payload):
        for record in payload.records():
            reason, cpu, start, length, count = (record.uleb() for _ in range(5))
            self.records.append(
                "loss %d %d %s %d %d" % (start, (start + length) & MASK, identifier(cpu),
                                         reason if reason <= 6 else 5, count)
            )

    def read_symbols(self, payload):
        payload.uleb()
        for record in payload.records():
            line, start = "symbols %d" % record.uleb(), 0
            for _ in range(record.uleb()):
                start += record.uleb()
                line += " %d %d %s" % (start, record.uleb(), quoted(record.text()))
            self.records.append(line)

    def read_names(self, payload):
        payload.uleb()
        for record in payload.records():
            line = "names %d" % record.uleb()
            for _ in range(record.uleb()):
                line += " %s %s" % (quoted(record.text()), quoted(record.text()))
                line += " %d %d" % (record.uleb(), record.uleb())
            self.records.append(line)

    def read_code(self, payload):
        payload.uleb()
        for record in payload.records():
            owner, lines, symbols = (record.uleb() for _ in range(3))
            line = "code %d %d %d %d" % (owner, *(record.uleb() for _ in range(3)))
            line += " %s" % quoted(record.text())
            line += " %s %d" % (quoted(record.take(record.uleb())), lines)
            address = 0
            for _ in range(lines):
                address += record.uleb()
                line += " %d %s %s" % (address, quoted(record.text()), quoted(record.text()))
                line += " %d" % record.uleb()
            address = 0
            for _ in range(symbols):
                address += record.uleb()
                line += " %d %d %s" % (address, record.uleb(), quoted(record.text()))
            self.records.append(line)

    def read_sources(self, payload):
        for record in payload.records():
            line = "source %s %d" % (quoted(record.text()), record.uleb())
            for _ in range(record.uleb()):
                line += " " + quoted(record.text())
            self.records.append(line)

    def read_metadata(self, payload):
        for record in payload.records():
            self.records.append("metadata %s %s" % (quoted(record.text()), quoted(record.text())))

    def read_statistics(self, payload):
        for record in payload.records():
            self.records.append("statistic %s %d" % (quoted(record.text()), record.uleb()))

    # INDEX

    def read_index(self, payload):
        offset = first = 0
        for _ in range(payload.uleb()):
            offset += payload.uleb()
            first += payload.sleb()
            payload.uleb()

    # END

    def read_end(self, payload):
        payload.unsigned(8)
        payload.unsigned(8)
        if payload.unsigned(8) != self.samples:
            raise Bad("the end counts other samples")
        self.finished = True

    TYPES = [None, read_events, read_objects, read_tasks, read_frames, read_stacks, read_samples,
             read_losses, read_symbols, read_names, read_metadata, read_statistics, read_index,
             read_end, read_code, read_sources]


# FILE HEADER


def read_header(data):
    header = Bytes(data.take(24))
    if header.take(8) != bytes.fromhex("89505246 0d0a1a0a"):
        raise Bad("not a trace")
    major, minor, flags = header.unsigned(2), header.unsigned(2), header.unsigned(4)
    if header.unsigned(8) != xxh3(header.data[:16]):
        raise Bad("file header checksum")
    if major != 1 or flags:
        raise Bad("unsupported: version %d.%d" % (major, minor))


# BLOCKS


def read_block(data, trace, expected):
    header = Bytes(data.take(32))
    marker, kind, flags = header.take(4), header.unsigned(2), header.unsigned(2)
    sequence, stored, raw = (header.unsigned(4) for _ in range(3))
    checksum = header.unsigned(8)
    if marker != bytes.fromhex("f5505242") or header.unsigned(4) != xxh3(header.data[:28]) & MASK32:
        raise Bad("block header")
    if flags & 0xFC:
        raise Bad("unsupported: flags")
    payload = data.take(stored)
    if checksum != xxh3(payload):
        raise Bad("payload checksum")
    if sequence != expected:
        raise Bad("sequence")
    if flags & 1:
        room = ctypes.create_string_buffer(raw)
        if ZSTD.ZSTD_decompress(room, raw, payload, stored) != raw:
            raise Bad("zstd")
        payload = room.raw
    if 0 < kind < len(Trace.TYPES):
        Trace.TYPES[kind](trace, Bytes(payload))
    elif not flags & 2:
        raise Bad("unsupported: block type %d" % kind)


def main():
    with open(sys.argv[1], "rb") as file:
        data = Bytes(file.read())
    trace, sequence = Trace(), 0
    read_header(data)
    while data.left() and not trace.finished:
        read_block(data, trace, sequence)
        sequence += 1
    for lines in (trace.events, trace.objects, trace.tasks, trace.frames, trace.stacks, trace.records):
        for line in lines:
            print(line)
    if trace.finished:
        print("finish")


try:
    main()
except Bad as bad:
    sys.exit("second-reader: %s" % bad)
