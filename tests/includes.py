#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks who includes whom.

    tests/includes.py [ROOT]

Prints one line for each #include that breaks a rule of RULES, and for each cycle of modules
(x.c and x.h are one module). Exit status 1 if there is one, 2 if a folder has no rule.
"""
import os
import re
import sys

# Each room and the rooms that it may include, besides itself. A sub-room may include what its
# room may include, too, and the sub-rooms named here. A room's own files may include all of
# its sub-rooms; a sub-room never includes the files of the room above it. Of a room that is named
# without a sub-room, all of them may be included.
RULES = {
    "common": [],
    "format": ["common"],
    "bpf": [],
    "record": ["common", "format", "bpf/abi"],
    "report": ["common", "format"],
    "bench": ["common", "format", "bpf", "record", "report"],
}


def in_a_row(room, names):
    """Sub-rooms of which each may include those before it."""
    for i, name in enumerate(names):
        RULES[f"{room}/{name}"] = [f"{room}/{n}" for n in names[:i]]


in_a_row("bpf", ["abi", "state", "runtimes", "walk", "tasks"])
in_a_row("record", ["system", "events", "capture", "symbols", "spaces", "unwind",
                    "runtimes", "scripts", "java", "javascript", "trace"])
# The recorder reads the code of Python, Ruby and PHP as the kernel half does, with the same code.
RULES["record/scripts"].append("bpf/runtimes")
in_a_row("report", ["output", "dwarf", "symbols", "profile", "merge", "parquet", "tables", "difference",
                    "views", "page", "annotate"])
in_a_row("bench", ["statistics", "results", "measure"])
for name in ["kernel", "suite", "gate", "pairs"]:
    RULES[f"bench/{name}"] = RULES["bench/measure"] + ["bench/measure"]


def sources(root):
    for top in sorted({room.split("/")[0] for room in RULES}):
        for folder, _, files in os.walk(os.path.join(root, top)):
            for name in sorted(files):
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def allowed(room, target):
    if target == room or target in RULES[room]:
        return True
    top = room.split("/")[0]
    if room == top and target.startswith(top + "/"):
        return True
    may = RULES[room] + RULES[top]
    return target in may or target.split("/")[0] in may


def module(path):
    return re.sub(r"(\.bpf)?\.[ch]$", "", path)


def cycles(graph):
    """Tarjan's strongly connected components, those of more than one module."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(graph.get(v, ())):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            component = stack[stack.index(v):]
            del stack[stack.index(v):]
            if len(component) > 1:
                found.append(sorted(component))

    for v in sorted(graph):
        if v not in index:
            visit(v)
    return found


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.setrecursionlimit(10000)
    graph, wrong = {}, 0
    for path in sources(root):
        room = os.path.dirname(path)
        if room not in RULES:
            print(f"{path}: {room}/ has no rule in tests/includes.py")
            return 2
        with open(os.path.join(root, path), encoding="utf-8") as f:
            lines = f.readlines()
        for number, line in enumerate(lines, 1):
            include = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not include or include[1].endswith(".skel.h"):
                continue
            target = os.path.dirname(include[1])
            if target not in RULES or not allowed(room, target):
                print(f"{path}:{number}: {room}/ may not include {include[1]}")
                wrong += 1
            if module(include[1]) != module(path):
                graph.setdefault(module(path), set()).add(module(include[1]))
    for component in cycles(graph):
        print("cycle: " + " ".join(component))
        wrong += 1
    return 1 if wrong else 0


sys.exit(main())
