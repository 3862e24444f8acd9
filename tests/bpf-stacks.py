#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints how much stack each program of compiled BPF files needs; fails if one needs too much.

    bpf-stacks.py FILE.bpf.o...

Before Linux 6.13 the verifier refuses a program if the frames of functions that call each other,
each rounded up to 32 bytes, have more than 512 together, or if there are more than 8 of them.
Later kernels do not, so no test that runs there notices.
"""
import struct
import sys

STACK, DEPTH, ROUND = 512, 8, 32
CALL, LOCAL_CALL, FRAME_POINTER = 0x85, 1, 10
LOADS, STORES = (1,), (2, 3)  # classes of instructions
ADD_NUMBER, MOVE = 0x07, 0xBF
SYMTAB, REL = 2, 9
FUNC, SECTION = 2, 3


class Functions:
    """The functions of a file by (section, offset): name, bytes of stack, functions they call."""

    def __init__(self, data):
        table, = struct.unpack_from("<Q", data, 40)
        size, count = struct.unpack_from("<HH", data, 58)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + size * i) for i in range(count)]
        self.data = data
        self.symbols = self.read_symbols()
        self.starts = {}
        for name, kind, section, value, length in self.symbols:
            if kind == FUNC and section:
                self.starts[section, value] = (name, length)
        self.calls = self.read_calls()
        self.code = {where: self.decode(where, length) for where, (_, length) in self.starts.items()}

    def text(self, table, offset):
        at = self.sections[table][4] + offset
        return self.data[at:self.data.index(0, at)].decode()

    def name_of_section(self, number):
        names, = struct.unpack_from("<H", self.data, 62)
        return self.text(names, self.sections[number][0])

    def read_symbols(self):
        table = next(s for s in self.sections if s[1] == SYMTAB)
        rows = []
        for at in range(table[4], table[4] + table[5], 24):
            name, info, _, section, value, length = struct.unpack_from("<IBBHQQ", self.data, at)
            rows.append((self.text(table[6], name), info & 15, section, value, length))
        return rows

    def read_calls(self):
        """(section, offset of a call) -> the symbol that it names"""
        calls = {}
        for s in self.sections:
            if s[1] != REL:
                continue
            for at in range(s[4], s[4] + s[5], 16):
                offset, info = struct.unpack_from("<QQ", self.data, at)
                calls[s[7], offset] = self.symbols[info >> 32]
        return calls

    def called(self, section, offset, number):
        """Where the called function begins: by its symbol, by that of its section, or by distance."""
        symbol = self.calls.get((section, offset))
        if not symbol:
            return section, offset + 8 + number * 8
        if symbol[1] == SECTION:
            return symbol[2], (number + 1) * 8
        return symbol[2], symbol[3]

    def decode(self, where, length):
        section, start = where
        base = self.sections[section][4]
        stack, calls, pointers = 0, set(), set()
        for at in range(start, start + length, 8):
            code, registers, offset, number = struct.unpack_from("<BBhi", self.data, base + at)
            to, source = registers & 15, registers >> 4
            if code & 7 in LOADS and source == FRAME_POINTER or code & 7 in STORES and to == FRAME_POINTER:
                stack = max(stack, -offset)
            if code == ADD_NUMBER and to in pointers:
                stack = max(stack, -number)
            if code == MOVE and source == FRAME_POINTER:
                pointers.add(to)
            elif code & 7 not in STORES:
                pointers.discard(to)
            if code == CALL and source == LOCAL_CALL:
                calls.add(self.called(section, at, number))
        return stack, calls

    def deepest(self, where):
        """The frames of the chain of calls that needs the most stack: (bytes, names)."""
        stack, calls = self.code[where]
        below = max((self.deepest(c) for c in calls), default=(0, []))
        size = (max(stack, 1) + ROUND - 1) // ROUND * ROUND
        return size + below[0], [f"{self.starts[where][0]} {stack}", *below[1]]

    def levels(self, where):
        return 1 + max((self.levels(c) for c in self.code[where][1]), default=0)


def main():
    failed = False
    for path in sys.argv[1:]:
        with open(path, "rb") as f:
            functions = Functions(f.read())
        for where, (name, _) in sorted(functions.starts.items(), key=lambda row: row[1]):
            if functions.name_of_section(where[0]) == ".text":
                continue
            size, chain = functions.deepest(where)
            levels = functions.levels(where)
            if size > STACK or levels > DEPTH:
                failed = True
                print(f"{path}: {name} needs too much: ", end="")
            print(f"{size} bytes, {levels} levels: {', '.join(chain)}")
    sys.exit(failed)


main()
