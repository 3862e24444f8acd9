#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads Parquet files as `prof-report -f parquet` writes them, and is strict about every byte.

    tests/parquet-rows.py rows FILE [COLUMN...]     a JSON object for each row
    tests/parquet-rows.py folded FILE [EVENT]       folded stacks: samples, of one event or all
    tests/parquet-rows.py weights FILE [EVENT]      the same of weights
    tests/parquet-rows.py columns FILE              name, physical type, and the bytes it takes

Written from the specification and parquet.thrift; shares no code with the program. It reads what is
needed: dictionaries, plain values, the hybrid of runs and bit-packed values, differences, zstd.
Exit status 1 and the reason if anything is not as it should be, 77 without libzstd.
"""

import collections
import ctypes
import ctypes.util
import json
import os
import sys

PLAIN, RLE, DELTA, DICTIONARY = 0, 3, 5, 8
INT32, INT64, BYTE_ARRAY = 1, 2, 6
REQUIRED, OPTIONAL, REPEATED = 0, 1, 2
DATA_PAGE, DICTIONARY_PAGE = 0, 2
ZSTD = 6


class Bad(Exception):
    """The file is not as it should be."""


def need(condition, what):
    if not condition:
        raise Bad(what)


def zstd():
    path = ctypes.util.find_library("zstd")
    if not path:
        sys.exit(77)
    library = ctypes.CDLL(path)
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t] * 2
    return library


LIBRARY = zstd()


def decompress(data, size):
    room = ctypes.create_string_buffer(size + 1)
    got = LIBRARY.ZSTD_decompress(room, size + 1, data, len(data))
    need(got == size, f"a page of {size} bytes, decompressed, has {got}")
    return room.raw[:size]


class Bytes:
    """A place in bytes; reading past their end is an error."""

    def __init__(self, data, at=0, end=None):
        self.data, self.at, self.end = data, at, len(data) if end is None else end

    def take(self, n):
        need(0 <= n <= self.end - self.at, f"{n} bytes at {self.at}, where {self.end - self.at} are left")
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def uleb(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                need(value < 1 << 64, "a number of more than 64 bits")
                return value

    def zigzag(self):
        value = self.uleb()
        return value >> 1 ^ -(value & 1)

    def done(self, what):
        need(self.at == self.end, f"{self.end - self.at} bytes after {what}")


def thrift_value(b, kind):
    if kind in (1, 2):
        return kind == 1
    if kind in (4, 5, 6):
        return b.zigzag()
    if kind == 8:
        return b.take(b.uleb())
    if kind == 9:
        head = b.take(1)[0]
        count = head >> 4 if head >> 4 < 15 else b.uleb()
        return [thrift_value(b, head & 15) for _ in range(count)]
    need(kind == 12, f"a thrift field of type {kind}")
    fields, last = {}, 0
    while (head := b.take(1)[0]) != 0:
        need(head >> 4, "a thrift field with a long number")
        last += head >> 4
        fields[last] = thrift_value(b, head & 15)
    return fields


def thrift_struct(b):
    return thrift_value(b, 12)


def unpack(data, width, count):
    bits = int.from_bytes(data, "little")
    if width % 8 == 0:
        step = width // 8
        return [int.from_bytes(data[i * step:(i + 1) * step], "little") for i in range(count)]
    text = bin(bits | 1 << 8 * len(data))[3:][::-1]
    return [int(text[i * width:(i + 1) * width][::-1] or "0", 2) for i in range(count)]


def hybrid(b, width, count):
    values = []
    while len(values) < count:
        head = b.uleb()
        need(head >> 1, "an empty run")
        if head & 1:
            n = (head >> 1) * 8
            values += unpack(b.take(n // 8 * width), width, min(n, count - len(values)))
        else:
            value = b.number((width + 7) // 8)
            need(value < 1 << width, "a run of a value that its width does not hold")
            values += [value] * (head >> 1)
    need(len(values) == count, f"{len(values)} values where {count} should be")
    b.done("the last run")
    return values


def deltas(b, count):
    block, miniblocks, total, value = b.uleb(), b.uleb(), b.uleb(), b.zigzag()
    need(block % 128 == 0 and block // miniblocks % 32 == 0, "sizes of blocks")
    need(total == count, f"{total} differences for {count} values")
    values = [value] if count else []
    while len(values) < count:
        least = b.zigzag()
        for width in b.take(miniblocks):
            if len(values) == count:
                need(width == 0, "a width of values that are not there")
                continue
            size = block // miniblocks
            for delta in unpack(b.take(size * width // 8), width, size)[:count - len(values)]:
                value = (value + least + delta) & (1 << 64) - 1
                values.append(value)
    b.done("the last difference")
    return [v - (1 << 64) if v >> 63 else v for v in values]


def plain(b, kind, count):
    if kind == BYTE_ARRAY:
        values = [b.take(b.number(4)).decode() for _ in range(count)]
    else:
        values = [b.number(4 if kind == INT32 else 8) for _ in range(count)]
    b.done("the last value")
    return values


class Column:
    """Where in the schema a column is: its path, its type, and how many levels it has."""

    def __init__(self, path, element, repeated, optional):
        self.path, self.kind, self.repeated, self.optional = path, element[1], repeated, optional


def read_schema(elements):
    columns, at = [], 0

    def walk(path, repeated, optional):
        nonlocal at
        element = elements[at]
        at += 1
        name = element[4].decode()
        path = path + [name] if at > 1 else []
        repeated += element.get(3) == REPEATED
        optional += element.get(3) == OPTIONAL
        if 5 in element:
            need(1 not in element and element[5] > 0, f"{name} is neither a group nor a value")
            for _ in range(element[5]):
                walk(path, repeated, optional)
        else:
            need(element.get(6) == 0 or element[1] != BYTE_ARRAY, f"{name} is no text")
            columns.append(Column(path, element, repeated, optional))

    walk([], 0, 0)
    need(at == len(elements), "elements of the schema that belong to nothing")
    return columns


def read_page(b):
    header = thrift_struct(b)
    return header, decompress(b.take(header[3]), header[2])


def read_chunk(data, column, chunk, rows):
    """The rows of a column in a row group: values, or lists of them."""
    meta = chunk[3]
    name = ".".join(column.path)
    need([p.decode() for p in meta[3]] == column.path, f"{name}: another path")
    need(meta[1] == column.kind and meta[4] == ZSTD, f"{name}: another type, or not zstd")
    start = meta.get(11, meta[9])
    b = Bytes(data, start, start + meta[7])
    words, raw = None, 0
    if 11 in meta:
        header, body = read_page(b)
        need(header[1] == DICTIONARY_PAGE and header[7][2] == PLAIN, f"{name}: no dictionary")
        words = plain(Bytes(body), column.kind, header[7][1])
        need(len(set(words)) == len(words), f"{name}: a word comes twice in the dictionary")
        need(b.at == meta[9], f"{name}: the data page is somewhere else")
    header, body = read_page(b)
    b.done(f"the pages of {name}")
    need(header[1] == DATA_PAGE, f"{name}: no data page")
    levels, encoding = header[5][1], header[5][2]
    need(levels == meta[5], f"{name}: another number of levels")
    need({encoding, RLE} <= set(meta[2]), f"{name}: an encoding that is not announced")
    page = Bytes(body)
    repetition = hybrid(Bytes(page.take(page.number(4))), 1, levels) if column.repeated else [0] * levels
    definition = (hybrid(Bytes(page.take(page.number(4))), 1, levels)
                  if column.repeated or column.optional else [1] * levels)
    count = sum(definition)
    if encoding == DICTIONARY:
        width = page.number(1)
        values = [words[i] for i in hybrid(page, width, count)]
    else:
        values = deltas(page, count) if encoding == DELTA else plain(page, column.kind, count)
    if 12 in meta:
        known = [int.from_bytes(meta[12][k], "little", signed=True) for k in (6, 5)]
        need(known == [min(values), max(values)], f"{name}: its range is not {known}")
    need(repetition.count(0) == rows, f"{name}: not {rows} rows")
    return assemble(column, repetition, definition, values)


def assemble(column, repetition, definition, values):
    values, rows = iter(values), []
    for again, defined in zip(repetition, definition):
        if not again:
            rows.append([])
        elif not defined:
            raise Bad("nothing, in the middle of a list")
        if defined:
            rows[-1].append(next(values))
    if column.repeated:
        return rows
    return [row[0] if row else None for row in rows]


def read_file(path):
    """Columns, and all rows of each, by path."""
    with open(path, "rb") as f:
        data = f.read()
    need(len(data) >= 12 and data[:4] == data[-4:] == b"PAR1", "no PAR1 at both ends")
    size = int.from_bytes(data[-8:-4], "little")
    need(size <= len(data) - 12, "a footer that is larger than the file")
    b = Bytes(data, len(data) - 8 - size, len(data) - 8)
    footer = thrift_struct(b)
    b.done("the footer")
    columns = read_schema(footer[2])
    need(len(footer[7]) == len(columns), "not one order for each column")
    at, rows = 4, {".".join(c.path): [] for c in columns}
    for group in footer[4]:
        need(len(group[1]) == len(columns), "a row group of other columns")
        need(group[5] == at, "a row group that is somewhere else")
        for column, chunk in zip(columns, group[1]):
            need(chunk[3].get(11, chunk[3][9]) == at, "a gap between columns")
            rows[".".join(column.path)] += read_chunk(data, column, chunk, group[3])
            at += chunk[3][7]
        need(group[6] == sum(c[3][7] for c in group[1]), "a row group of another size")
        need(group[2] == sum(c[3][6] for c in group[1]), "a row group of another raw size")
    need(at == len(data) - 8 - size, "a gap before the footer")
    need(all(len(r) == footer[3] for r in rows.values()), "not as many rows as the footer says")
    return columns, rows, footer


def shown(rows):
    """Rows as people think of them: lists and maps by the name of their field."""
    out = {}
    for path, values in rows.items():
        field = path.split(".")[0]
        if path.endswith(".key"):
            need(all(len(set(keys)) == len(keys) for keys in values), f"{field}: a key comes twice in a map")
            pairs = zip(values, rows[field + ".key_value.value"])
            out[field] = [dict(zip(keys, texts)) for keys, texts in pairs]
        elif not path.endswith(".value"):
            out[field] = values
    return out


def folded(table, weights, events):
    sums = collections.Counter()
    for i, comm in enumerate(table["comm"]):
        if not events or table["event"][i] in events:
            stack = [comm.replace(" ", "_")] + table["names"][i][::-1]
            sums[";".join(stack).encode()] += table["weight"][i] if weights else 1
    for stack in sorted(sums):
        sys.stdout.buffer.write(b"%s %d\n" % (stack, sums[stack]))


def main():
    what, path, *names = sys.argv[1:]
    columns, rows, footer = read_file(path)
    table = shown(rows)
    if what == "rows":
        for i in range(footer[3]):
            print(json.dumps({n: table[n][i] for n in names or table}))
    elif what == "columns":
        for i, column in enumerate(columns):
            size = sum(group[1][i][3][7] for group in footer[4])
            print(".".join(column.path), column.kind, size)
    else:
        folded(table, what == "weights", names)
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        main()
    except (Bad, ValueError, KeyError, IndexError, OSError) as error:
        sys.exit(f"{sys.argv[2]}: {type(error).__name__}: {error}")
    except BrokenPipeError:
        os._exit(1)
