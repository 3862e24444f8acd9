#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes testdata/page.png, the picture of the page that README.md begins with, from a trace that is
here, with chromium (or $PROF_TEST_BROWSER):

    testdata/picture.py [TRACE [PICTURE]]

The picture gets a palette of its 256 most frequent colours, which makes it a third as large.
"""
import collections
import os
import struct
import subprocess
import sys
import tempfile
import zlib

WIDTH, HEIGHT = 1160, 560


def chunks(data):
    at = 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, data[at + 8:at + 8 + size]
        at += size + 12


def paeth(a, b, c):
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]


def pixels(data):
    """Rows of (red, green, blue), of a PNG with eight bits for each colour and no interlacing."""
    parts = list(chunks(data))
    width, height, bits, kind = struct.unpack(">IIBB", parts[0][1][:10])
    depth = {2: 3, 6: 4}[kind]
    raw = zlib.decompress(b"".join(part for name, part in parts if name == b"IDAT"))
    assert bits == 8
    above, size = bytes(width * depth), width * depth
    for y in range(height):
        method, line = raw[y * (size + 1)], bytearray(raw[y * (size + 1) + 1:(y + 1) * (size + 1)])
        for x in range(size):
            left = line[x - depth] if x >= depth else 0
            corner = above[x - depth] if x >= depth else 0
            line[x] = line[x] + [0, left, above[x], (left + above[x]) // 2,
                                 paeth(left, above[x], corner)][method] & 255
        above = line
        yield [tuple(line[x:x + 3]) for x in range(0, size, depth)]


def with_palette(rows):
    counts = collections.Counter(pixel for row in rows for pixel in row)
    palette = [colour for colour, _ in counts.most_common(256)]

    def nearest(colour):
        return min(range(len(palette)), key=lambda i: sum((a - b) ** 2 for a, b in zip(palette[i], colour)))
    number = {colour: nearest(colour) for colour in counts}
    raw = b"".join(b"\0" + bytes(number[pixel] for pixel in row) for row in rows)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)) +
            chunk(b"PLTE", bytes(part for colour in palette for part in colour)) +
            chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    trace, picture = (sys.argv[1:] + ["testdata/fixtures/cpp.prf", "testdata/page.png"][len(sys.argv) - 1:])[:2]
    report = os.path.join(os.environ.get("BUILD", "build"), "prof-report")
    browser = os.environ.get("PROF_TEST_BROWSER", "chromium")
    with tempfile.TemporaryDirectory() as work:
        page, shot = os.path.join(work, "page.html"), os.path.join(work, "page.png")
        subprocess.run([report, "-q", "--no-cache", trace, "-o", page], check=True)
        subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                        "--virtual-time-budget=8000", f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={shot}",
                        f"file://{page}"], check=True, timeout=60, stderr=subprocess.DEVNULL)
        with open(shot, "rb") as file:
            rows = list(pixels(file.read()))
    with open(picture, "wb") as file:
        file.write(with_palette(rows))


if __name__ == "__main__":
    main()
