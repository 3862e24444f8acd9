#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes an x86-64 ELF file that is small on disk and claims to be huge.

    sparse_elf.py KIND FILE

The page of code at file offset 0x1000 can be mapped and called: it spins for a while and returns.
What is claimed lies in a hole, but for the symbols of many-symbols and long-names, and the name. KIND:

    honest        nothing of the kind: a build-id, one symbol
    notes         a PT_NOTE segment of 2 TB
    symbols       a .symtab of 1 TB
    headers       20,000,000 program headers
    many-symbols  the most program headers that are read, and 400,000 symbols
    long-names    1,000,000 symbols for one place, whose names are ends of one text of 16,000 bytes
    huge-name     one symbol with a name of 100,000,000 bytes
    sections      4,000,000 section headers
    debug         a .debug_info of 1 TB, and a .gnu_debugdata of 1 TB
    bomb          a compressed .debug_frame of 255 MiB of zeros, about as much as is unpacked
    large-bomb    one of 257 MiB, which is not
"""
import struct
import sys
import zlib

TEXT, NOTE, FRAME, SYMBOLS_SMALL, NAMES, LABELS, SECTIONS = 0x1000, 0x2000, 0x2800, 0x3000, 0x3800, 0x3900, 0x4000
HOLE = 0x10000
ADDRESS = 0x400000
TB = 1 << 40
SEGMENTS_READ = 4096


def eh_frame(at):
    """One CIE, and one FDE for the page of code."""
    def entry(head, body):
        body = head + body
        body += b"\0" * (-(len(body) + 4) % 8)
        return struct.pack("<I", len(body)) + body

    cie = entry(struct.pack("<IB", 0, 1), b"zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\0\0")
    place = at + len(cie) + 8
    return cie + entry(struct.pack("<IiI", len(cie) + 4, ADDRESS - place, 4096), b"\0") + bytes(4)


def section(label, kind, address, offset, size, flags=0, link=0, info=0, entry=0):
    return struct.pack("<IIQQQQIIQQ", label, kind, flags, address, offset, size, link, info, 8, entry)


def segment(kind, flags, offset, address, size):
    return struct.pack("<IIQQQQQQ", kind, flags, offset, address, address, size, size, 4096)


def symbol(start, size, name=1):
    return struct.pack("<IBBHQQ", name, 2, 0, 1, start, size)


def main():
    kind, path = sys.argv[1:]
    code = b"\xb9\x00\x00\x10\x00\xff\xc9\x75\xfc\xc3".ljust(4096, b"\x90")
    note = struct.pack("<III", 4, 20, 3) + b"GNU\0" + kind.encode()[:20].ljust(20, b"\1")
    labels = b"\0"
    at = {}
    for name in (".text", ".symtab", ".strtab", ".shstrtab", ".note", ".eh_frame", ".debug_info", ".gnu_debugdata", ".debug_frame"):
        at[name] = len(labels)
        labels += name.encode() + b"\0"
    frame = eh_frame(FRAME)
    symbols = (SYMBOLS_SMALL, bytes(24) + symbol(ADDRESS, 4096))
    names = (NAMES, b"\0spin\0")
    segments = [segment(1, 5, TEXT, ADDRESS, 4096), segment(4, 4, NOTE, 0, len(note))]
    extra, size, counts = b"", HOLE, (0, 0)
    debug, mini, bomb = (0, 0), (0, 0), (0, 0)
    segments_at = 64
    if kind == "notes":
        segments[1] = segment(4, 4, HOLE, 0, 2 * TB)
        size = HOLE + 2 * TB
    elif kind == "symbols":
        symbols, size = (HOLE, None), HOLE + TB
    elif kind == "headers":
        counts = (0, 20000000)
    elif kind == "many-symbols":
        extra = bytes(24) + b"".join(symbol(ADDRESS + i % 400 * 10, 10) for i in range(400000))
        symbols, counts = (HOLE, extra), (0, SEGMENTS_READ)
    elif kind == "long-names":
        extra = bytes(24) + b"".join(symbol(ADDRESS, 4096, i * 9973 % 16000) for i in range(1000000))
        symbols, names = (HOLE, extra), (HOLE + len(extra), b"a" * 16000 + b"\0")
    elif kind == "huge-name":
        names = (HOLE, b"\0" + b"a" * 100000000 + b"\0")
    elif kind == "sections":
        counts = (4000000, 0)
        size = HOLE + 64 * counts[0]
    elif kind == "debug":
        debug, mini, size = (HOLE, TB), (HOLE, TB), HOLE + TB
    elif kind in ("bomb", "large-bomb"):
        unpacked = (255 if kind == "bomb" else 257) << 20
        extra = struct.pack("<IIQQ", 1, 0, unpacked, 1) + zlib.compress(bytes(unpacked))
        bomb = (HOLE, len(extra))
    if counts[1]:
        segments_at = HOLE + (len(extra) + 4095) // 4096 * 4096
        size = segments_at + 56 * counts[1]
    table = [
        section(0, 0, 0, 0, counts[0], info=counts[1]),
        section(at[".text"], 1, ADDRESS, TEXT, 4096, flags=6),
        section(at[".symtab"], 2, 0, symbols[0], TB if symbols[1] is None else len(symbols[1]), link=3, entry=24),
        section(at[".strtab"], 3, 0, names[0], len(names[1])),
        section(at[".shstrtab"], 3, 0, LABELS, len(labels)),
        section(at[".note"], 1 if kind == "notes" else 7, 0, NOTE, len(note)),
        section(at[".eh_frame"], 1, FRAME, FRAME, len(frame), flags=2),
        section(at[".debug_info"], 1 if debug[1] else 8, 0, *debug),
        section(at[".gnu_debugdata"], 1 if mini[1] else 8, 0, *mini),
        section(at[".debug_frame"], 1 if bomb[1] else 8, 0, *bomb, flags=0x800 if bomb[1] else 0),
    ]
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, ADDRESS, segments_at, SECTIONS if not counts[0] else HOLE, 0, 64, 56,
        0xffff if counts[1] else len(segments), 64, 0 if counts[0] else len(table), 4)
    with open(path, "wb") as f:
        def put(offset, data):
            f.seek(offset)
            f.write(data)

        put(0, header)
        # With many, the last ones are those that count: all before are PT_NULL.
        put(segments_at + (56 * (counts[1] - 2) if counts[1] else 0), b"".join(segments))
        put(TEXT, code)
        put(NOTE, note)
        put(FRAME, frame)
        if symbols[0] == SYMBOLS_SMALL:
            put(SYMBOLS_SMALL, symbols[1])
        put(*names)
        put(LABELS, labels)
        put(HOLE if counts[0] else SECTIONS, b"".join(table))
        if extra:
            put(HOLE, extra)
        f.truncate(max(size, f.seek(0, 2)))


main()
