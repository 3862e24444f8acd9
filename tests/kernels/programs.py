#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints what the verifier and the JIT compiler made of each loaded BPF program, a line each.

    programs.py

Offsets are those of struct bpf_prog_info in linux/bpf.h. Kernels before 5.16 do not say how many
instructions were verified; there the number is 0.
"""
import ctypes
import os
import platform
import struct

BPF = {"x86_64": 321, "aarch64": 280}[platform.machine()]
PROG_GET_NEXT_ID, PROG_GET_FD_BY_ID, OBJ_GET_INFO_BY_FD = 11, 13, 15
INFO_SIZE, JITED, NAME, VERIFIED = 232, 16, 64, 216

libc = ctypes.CDLL(None, use_errno=True)


def bpf(command, attributes):
    buffer = ctypes.create_string_buffer(attributes, 128)
    return libc.syscall(BPF, command, buffer, 128), buffer.raw


def main():
    number, total_verified, total_jited = 0, 0, 0
    while True:
        result, attributes = bpf(PROG_GET_NEXT_ID, struct.pack("I", number))
        if result:
            break
        number = struct.unpack_from("I", attributes, 4)[0]
        fd, _ = bpf(PROG_GET_FD_BY_ID, struct.pack("I", number))
        if fd < 0:
            continue
        info = ctypes.create_string_buffer(INFO_SIZE)
        bpf(OBJ_GET_INFO_BY_FD, struct.pack("IIQ", fd, INFO_SIZE, ctypes.addressof(info)))
        os.close(fd)
        name = info.raw[NAME:NAME + 16].split(b"\0")[0].decode()
        verified, = struct.unpack_from("I", info.raw, VERIFIED)
        jited, = struct.unpack_from("I", info.raw, JITED)
        print(f"program {name:<16} {verified:>8} instructions verified, {jited:>6} bytes from the JIT")
        total_verified, total_jited = total_verified + verified, total_jited + jited
    print(f"programs: {total_verified} instructions verified, {total_jited} bytes from the JIT")


main()
