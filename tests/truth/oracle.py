# SPDX-License-Identifier: GPL-2.0-or-later
"""What else is known of a recorded program: its symbols by readelf and llvm-symbolizer, where its
threads begin, which function called which, and what it did at which time."""
import bisect
import functools
import os
import re
import struct
import subprocess

# The functions that nothing calls: starts of processes, threads, goroutines and coroutines.
ROOTS = re.compile(r"_start$|_dl_start_user$|(__)?clone3?$|__start_context$|thread_start$|_dlstart$|"
                   r"_rt0_\w+_linux$|runtime\.(goexit|mstart|rt0_go|mcall)(\.abi0)?$|_start_c$")
# Frames that are interrupted, not called, and what they interrupted.
SIGNALS = re.compile(r"__restore(_rt)?$|runtime\.sigreturn|__start_context$")
NEAR_ENTRY = 64


def tool(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **options).stdout


class Elf:
    """Segments, entry point and symbols of a 64-bit file; of its debug file, too, and of a twin."""

    def __init__(self, path, twin=None):
        with open(path, "rb") as f:
            header = f.read(64)
            if header[:5] != b"\x7fELF\x02":
                raise ValueError("no 64-bit ELF file")
            self.entry, at = struct.unpack_from("<QQ", header, 24)
            size, count = struct.unpack_from("<HH", header, 54)
            f.seek(at)
            headers = [f.read(size) for _ in range(count)]
        self.path = path
        self.loads = [struct.unpack_from("<QQ8xQ", h, 8) for h in headers if h[:4] == b"\1\0\0\0"]
        self.symbols = sorted(set(s for p in (path, twin, debug_file(path)) if p for s in symbols(p)))
        self.starts = [s[0] for s in self.symbols]
        self.inlined = {}

    def address(self, offset):
        return next((offset - at + address for at, address, size in self.loads if at <= offset < at + size), None)

    def names(self, address):
        """Those of the symbols that cover it; one without a size ends at the next."""
        names, i = set(), bisect.bisect_right(self.starts, address)
        for start, size, name in reversed(self.symbols[max(0, i - 200):i]):
            if address < start + size or (not size and (i == len(self.starts) or address < self.starts[i])
                                          and start == self.starts[i - 1]):
                names.add(name)
        return names

    def dwarf_names(self, address):
        """Of the functions and inlined calls at the address, by DWARF."""
        if address not in self.inlined:
            text = tool("llvm-symbolizer", "--no-demangle", "--inlines", f"--obj={self.path}", hex(address))
            self.inlined[address] = set(text.split("\n")[::2])
        return self.inlined[address]


def debug_file(path):
    found = re.search(r"Build ID: ([0-9a-f]{6,})", tool("readelf", "-n", path))
    name = found and f"/usr/lib/debug/.build-id/{found[1][:2]}/{found[1][2:]}.debug"
    return name if name and os.path.exists(name) else None


def symbols(path):
    for line in tool("readelf", "-W", "-s", path).splitlines():
        word = line.split(None, 7)
        if len(word) == 8 and word[3] in ("FUNC", "IFUNC", "NOTYPE") and word[6] not in ("UND", "ABS", "Ndx"):
            yield int(word[1], 16), int(word[2], 0), word[7].split("@")[0].strip()


@functools.lru_cache(maxsize=None)
def elf(path, twin=None):
    try:
        return Elf(path, twin)
    except (OSError, ValueError, struct.error):
        return None


def groups(frames):
    """Frames with one address: calls inlined into a function, then that function."""
    group = []
    for frame in frames:
        group.append(frame)
        if not frame.get("inlined"):
            yield group
            group = []


def places(frames, twins):
    """(frame, file, address) of the frames whose file can be read."""
    before = None
    for group in groups(frames):
        name, made = group[-1]["name"], group[-1]["kind"] != "user"
        file = None if made else elf(group[-1].get("object", ""), twins.get(group[-1].get("object")))
        address = file.address(group[-1]["offset"]) if file else None
        # Not a return address: the interrupted instruction, and what a signal interrupted.
        exact = before is None or SIGNALS.match(name) or SIGNALS.match(before)
        before = name
        if address is not None:
            for frame in group:
                yield frame, file, address - (0 if exact else 1)


def is_wrong_name(frame, file, address):
    name = frame["name"].removesuffix("@plt")
    if name.startswith("[") or name in file.names(address):
        return False
    if name != frame["name"]:  # a stub has no symbol; its name is that of the dynamic relocation
        return name not in plt_names(file.path)
    return name not in file.dwarf_names(address)


@functools.lru_cache(maxsize=None)
def plt_names(path):
    return set(re.findall(r"R_\S+ +[0-9a-f]+ ([^@\s]+)", tool("readelf", "-W", "-r", path)))


def is_root(frame, file, address):
    return (0 <= address - file.entry < NEAR_ENTRY) or any(map(ROOTS.match, file.names(address)))


class Phases:
    """Lines "K FROM TO" of a program: from FROM to TO only functions named ..._K_ ran."""

    def __init__(self, path, prefix):
        with open(path) as f:
            self.phases = sorted((int(a), int(b), k) for k, a, b in map(str.split, f))
        self.starts = [p[0] for p in self.phases]
        self.pattern = re.compile(prefix + r"_(\d+)_")

    def judge(self, sample):
        """"right", "wrong", "unnamed" (made code is in the stack, but no such name) or None."""
        at = bisect.bisect_right(self.starts, sample["time_ns"]) - 1
        if at < 0 or sample["time_ns"] > self.phases[at][1]:
            return None
        names = [f["name"] for f in sample["stack"]]
        found = [m[1] for m in map(self.pattern.search, names) if m]
        if not found:
            return "unnamed" if names and ("[jit]" in names or "[script]" in names) else None
        return "right" if all(k == self.phases[at][2] for k in found) else "wrong"
