#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies kernel modules, and those they need, in the order in which they must be loaded.

    modules.py ROOT FOLDER MODULE...

ROOT holds a kernel's modules somewhere below it. FOLDER gets "00.ko", "01.ko", ... Modules that
ROOT does not have are built into the kernel.
"""
import lzma
import os
import re
import sys


def unpack(path):
    with open(path, "rb") as f:
        data = f.read()
    return lzma.decompress(data) if path.endswith(".xz") else data


def main():
    root, folder, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
    files, order = {}, []
    for where, _, names in os.walk(root):
        for name in names:
            module = re.match(r"(.*)\.ko(\.xz)?$", name)
            if module:
                files[module[1].replace("-", "_")] = os.path.join(where, name)

    def add(name):
        name = name.replace("-", "_")
        if name not in files or name in order:
            return
        depends = re.search(rb"\0depends=([^\0]*)\0", unpack(files[name]))
        for other in depends[1].decode().split(",") if depends else []:
            add(other)
        order.append(name)

    # ext4 asks for a checksum by the name of its algorithm, not of its module.
    for name in ["crc32c_generic", "crc32c", *wanted]:
        add(name)
    for number, name in enumerate(order):
        with open(os.path.join(folder, f"{number:02}.ko"), "wb") as f:
            f.write(unpack(files[name]))


main()
