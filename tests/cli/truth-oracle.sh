#!/bin/sh
# The oracle of tests/truth-table finds what is wrong.
. "$(dirname "$0")/../lib.sh"
once_is_enough
need_tools readelf
cat > "$work/program.c" <<'C'
__attribute__((noinline)) int leaf(int n) { return n * 3; }
int main(int argc, char **argv) { return leaf(argc) + 1; }
C
compile_c -O1 -fno-sanitize=all -o "$work/program" "$work/program.c"
printf '0 100 200\n1 200 300\n' > "$work/times"
cat > "$work/ask.py" <<'P'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1] + "/tests/truth")
import oracle
path = sys.argv[2] + "/program"
file = oracle.elf(path)
at = {name: start for start, size, name in file.symbols}
offset = {n: next(a - v + o for o, v, s in file.loads if v <= a < v + s) for n, a in at.items() if n in ("leaf", "main", "_start")}
def stack(*names, places=("leaf", "main", "_start")):
    return [{"name": n, "kind": "user", "object": path, "offset": offset[p] + 1} for n, p in zip(names, places)]
def wrong(frames):
    return sum(oracle.is_wrong_name(*p) for p in oracle.places(frames, {}))
def root(frames):
    return oracle.is_root(*list(oracle.places(frames, {}))[-1])
print(wrong(stack("leaf", "main", "_start")), wrong(stack("leaf", "leaf", "_start")), wrong(stack("[program]", "main", "absent")))
print(root(stack("leaf", "main", "_start")), root(stack("leaf", "main", places=("leaf", "main"))))
phases = oracle.Phases(sys.argv[2] + "/times", "f")
print(*(phases.judge({"time_ns": t, "stack": [{"name": n}]}) for t, n in ((150, "f_0_"), (250, "f_0_"), (250, "[jit]"), (350, "f_0_"))))
P
is "$(python3 "$work/ask.py" "$top" "$work")" "0 1 1
True False
right wrong unnamed None" "wrong names, false roots and names of another time are found"
finish
