#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A file system in user space that answers one program only, and leaves all others waiting.

    silent_files.py FOLDER FILE COMM [open]
    silent_files.py FOLDER FILE direct
    silent_files.py FOLDER FILE lock

FOLDER/file has FILE's bytes. Programs called COMM are answered. Of others the first read is taken
and never answered, or, with "open", the first open. With "direct" all are answered, and the file
bypasses the page cache (FOPEN_DIRECT_IO), so that no shared mapping of it can be made. With "lock"
that is so from the second time on that it is opened, and what is written is never answered. Ends when
its standard input does; needs root.
"""
import ctypes
import os
import select
import struct
import sys

LOOKUP, FORGET, GETATTR, OPEN, READ, WRITE, STATFS, RELEASE, INIT, OPENDIR, INTERRUPT = (
    1, 2, 3, 14, 15, 16, 17, 18, 26, 27, 36)
ROOT, FILE = 1, 2
DIRECTORY, REGULAR = 0o040755, 0o100755


def attributes(node, size):
    mode = DIRECTORY if node == ROOT else REGULAR
    return struct.pack("<6Q10I", node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer(content, node, kind, body, direct):
    """The bytes of a reply, or a negative error number."""
    size = 0 if node == ROOT else len(content)
    if kind == INIT:
        return struct.pack("<IIIIHHIII28x", 7, 31, 65536, 0, 12, 9, 65536, 1, 0)
    if kind == LOOKUP:
        if body.rstrip(b"\0") != b"file":
            return -2
        return struct.pack("<4Q2I", FILE, 0, 3600, 3600, 0, 0) + attributes(FILE, len(content))
    if kind == GETATTR:
        return struct.pack("<Q2I", 3600, 0, 0) + attributes(node, size)
    if kind in (OPEN, OPENDIR):
        return struct.pack("<Q2I", 0, int(direct and kind == OPEN), 0)
    if kind == READ:
        at, length = struct.unpack_from("<QI", body, 8)
        return content[at:at + length]
    if kind == STATFS:
        return struct.pack("<5Q4I24x", 0, 0, 0, 0, 0, 4096, 255, 4096, 0)
    return b"" if kind == RELEASE else -38


def comm_of(pid):
    try:
        with open("/proc/%d/comm" % pid) as file:
            return file.read().strip()
    except OSError:
        return ""


def serve(device, content, comm, refused):
    direct = comm == "direct"
    while True:
        ready, _, _ = select.select([device, 0], [], [])
        if 0 in ready and not os.read(0, 4096):
            return
        if device not in ready:
            continue
        request = os.read(device, 1 << 20)
        _, kind, unique, node, _, _, pid = struct.unpack_from("<IIQQIII", request)
        if kind in (FORGET, INTERRUPT) or (kind == refused and comm_of(pid) != comm):
            continue
        reply = answer(content, node, kind, request[40:], direct)
        direct |= comm == "lock" and kind == OPEN
        data, error = (reply, 0) if isinstance(reply, bytes) else (b"", reply)
        os.write(device, struct.pack("<IiQ", 16 + len(data), error, unique) + data)


def main():
    folder, path, comm = sys.argv[1:4]
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other" % device
    if libc.mount(b"silent", folder.encode(), b"fuse", 0, options.encode()):
        sys.exit("mount: " + os.strerror(ctypes.get_errno()))
    print("mounted", flush=True)
    refused = {"direct": None, "lock": WRITE}.get(comm, OPEN if sys.argv[4:] == ["open"] else READ)
    with open(path, "rb") as file:
        serve(device, file.read(), comm, refused)
    libc.umount2(folder.encode(), 2)


if __name__ == "__main__":
    main()
