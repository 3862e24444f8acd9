# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of tests/truth-table: how each is made, and what must be true of its stacks."""
import glob
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import Callable, Optional

here = os.path.dirname(os.path.abspath(__file__))
top = os.path.dirname(os.path.dirname(here))
TRUTH = os.path.join(top, "tests/e2e/programs/truth.c")
SHAPES = os.path.join(here, "shapes.c")
JAVA = os.path.join(top, "tests/e2e/programs/java")
BARE = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
MS = "3000"


class NotHere(Exception):
    pass


@dataclass
class Row:
    name: str
    make: Callable  # (folder) -> the command; what it is called there: program, twin, times
    rooted: Optional[float] = 99.9  # target, percent; None: it cannot be walked, and says so
    calls: list = field(default_factory=list)  # (expression, expression): stacks with the one match the other
    phases: str = ""  # what functions are called in the file `times`
    named: float = 0  # target of these, percent


def run(*command, **options):
    if not shutil.which(command[0]):
        raise NotHere(command[0])
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, **options)
    except subprocess.CalledProcessError as why:
        raise NotHere(f"{os.path.basename(command[0])}: {(why.stderr or why.stdout).strip().splitlines()[-1:]}")


def installed(name):
    path = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
    if not path:
        raise NotHere(name)
    return os.path.realpath(path)


def compiled(compiler, source, flags, arguments, strip=None):
    def make(folder):
        program, twin = os.path.join(folder, "program"), os.path.join(folder, "twin")
        run(compiler, "-O2", "-fno-optimize-sibling-calls", *flags, source, "-o", program)
        if strip:
            shutil.copy(program, twin)
            strip(program, twin)
        return [program, *arguments]
    return make


def strip(program, twin):
    run("strip", program)


def split(program, twin):
    """Debug information, .debug_frame included, to a file of its own beside the program."""
    run("objcopy", "--only-keep-debug", twin, program + ".debug")
    run("strip", "--strip-all", program)
    run("objcopy", f"--add-gnu-debuglink={program}.debug", program)


def go(source, *flags):
    def make(folder):
        program = os.path.join(folder, "program")
        shutil.copy(os.path.join(here, source), os.path.join(folder, "main.go"))
        environment = dict(os.environ, GO111MODULE="off", GOCACHE=os.path.join(folder, "cache"),
                           HOME=folder, CGO_CFLAGS="-O2")
        run("go", "build", *flags, "-o", program, "main.go", cwd=folder, env=environment)
        if "-ldflags" in flags:  # without symbols; the same code with them
            kept = [f for f in flags if f not in ("-ldflags", "-s -w")]
            run("go", "build", *kept, "-o", os.path.join(folder, "twin"), "main.go", cwd=folder, env=environment)
        return [program]
    return make


def command(name, *arguments):
    return lambda folder: [installed(name), *(a.replace("FOLDER", folder) for a in arguments)]


def plugins(folder):
    libraries = []
    for k in range(1, 9):
        libraries.append(os.path.join(folder, f"plugin{k}.so"))
        run("cc", "-O2", "-shared", "-fPIC", f"-DNUMBER={k}", os.path.join(here, "plugin.c"), "-o", libraries[-1])
    program = compiled("cc", SHAPES, ["-pthread"], ["dlopen", "37"])(folder)
    return [*program, os.path.join(folder, "times"), *libraries]


def java(*flags):
    def make(folder):
        home = os.path.dirname(os.path.dirname(os.path.realpath(installed("javac"))))
        include = os.path.join(home, "include")
        run("cc", "-O2", "-shared", "-fPIC", f"-I{include}", f"-I{include}/linux", f"{JAVA}/native.c",
            "-o", f"{folder}/libnative.so")
        run("javac", "-d", folder, f"{JAVA}/Mix.java")
        return [f"{home}/bin/java", *flags, "-cp", folder, "Mix", "4", f"{folder}/libnative.so"]
    return make


def python_extension(folder):
    python = installed("python3")
    include = run(python, "-c", "import sysconfig; print(sysconfig.get_paths()['include'])").stdout.strip()
    run("cc", "-O2", "-shared", "-fPIC", f"-I{include}", os.path.join(here, "callback.c"), "-o", f"{folder}/callback.so")
    return [python, os.path.join(here, "call_back.py"), "3"]


def postgres(folder, jit="off"):
    bins = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not bins:
        raise NotHere("postgres")
    data = os.path.join(folder, "data")
    os.chmod(folder, 0o777)
    run("runuser", "-u", "nobody", "--", f"{bins[-1]}/initdb", "-D", data, "-A", "trust", cwd="/")
    sql = os.path.join(folder, "sql")
    with open(sql, "w") as f:
        f.write("create table t as select i, md5(i::text) as m from generate_series(1, 200000) i;\n")
        f.write("select count(*), max(a.m) from t a join t b using (i) where b.m like '%a%';\n"
                "select count(distinct md5(m || i)) from t;\n" * 8)
    return ["runuser", "-u", "nobody", "--", "sh", "-c",
            f"{bins[-1]}/postgres --single -c jit={jit} -c jit_above_cost=0 -D {data} template1 < {sql} > /dev/null"]


def rustc(folder):
    with open(os.path.join(here, "work.rs")) as f:
        text = f.read()
    with open(os.path.join(folder, "work.rs"), "w") as f:
        f.write("".join(text.replace("NAME", f"part{i}") for i in range(12)))
    return [installed("rustc"), "-O", "--crate-type", "lib", "--emit", "obj", "--out-dir", folder, f"{folder}/work.rs"]


def qemu(folder):
    return [installed("qemu-x86_64"), *compiled("cc", TRUTH, ["-static"], ["tables", "1000"])(folder)]


def valgrind(folder):
    return [installed("valgrind"), "-q", "--tool=none", *compiled("cc", TRUTH, [], ["tables", "1000"])(folder)]


FORMAT = [(r";format(;|$)", r";main;calls_format;format(;|$)")]
# Between two calls of Python there is the one of the extension: eight times.
CALLBACK = [(";leaf_work(;|$)", r"^[^;]*;.*;<module>(;step(;(?!step;|apply)[^;]+)*;apply;apply_each"
             r"(;(?!step;|apply)[^;]+)*;step\.<locals>\.<lambda>){8};step;leaf_work(;|$)")]
# The same with the own functions in C of Ruby and PHP, each of which stands in the stack by its name.
BLOCKS = [(";leaf_work(;|$)", r"^[^;]*;.*;<main>(;step;sort_by;each(;(?!step;|sort_by;)[^;]+)*;block in step){8};step;leaf_work(;|$)")]
ARRAY_MAP = [(";leaf_work(;|$)", r"^[^;]*;.*;\{main\}(;step;array_map(;(?!step;|array_map;)[^;]+)*;\{closure[^;]*\}){8};step;leaf_work(;|$)")]
GO = [(r"main\.leaf$", r"main\.main;main\.(middle|other);main\.leaf$"),
      (r"sha256\.block", r"main\.main;main\.hash;.*Sum256;.*sha256\.block"),
      (r"main\.grow;main\.grow", r"runtime\.goexit(\.abi0)?;main\.routines\.func1;main\.grow;")]
CGO = [(r"cleaf$", r"main\.main;main\.down;.*;cwork;cleaf$"),
       (r"main\.work$", r"main\.main;main\.back;.*;ccall;.*;main\.work$")]
NODE = ["--expose-gc", "--logfile=FOLDER/v8.log", os.path.join(here, "phases.js"), "FOLDER/times"]
SQL = "with recursive c(x) as (select 1 union all select x+1 from c where x<12000000) select sum(x%7) from c"


def tables(compiler, *flags, how=None):
    return compiled(compiler, TRUTH, flags, ["tables", MS], how)


def shape(*arguments):
    return compiled("cc", SHAPES, ["-pthread"], arguments)


ROWS = [
    Row("glibc dynamic", tables("cc"), calls=FORMAT),
    Row("glibc static", tables("cc", "-static"), calls=FORMAT),
    Row("glibc, stripped", tables("cc", how=strip)),
    Row("musl static", tables("musl-gcc", "-static"), calls=FORMAT),
    Row("musl dynamic", tables("musl-gcc"), calls=FORMAT),
    Row("no unwind tables", tables("cc", *BARE), calls=FORMAT),
    Row("no unwind tables, stripped", tables("cc", *BARE, how=strip)),
    Row("tables in a debug file only", tables("cc", "-g", *BARE, how=split)),
    Row("frame pointer to zeros, no tables", compiled("cc", TRUTH, ["-mno-red-zone", *BARE], ["garbage", MS]),
        calls=[("burn_frame_pointer", r";main;calls_garbage;burn_frame_pointer(\.constprop\.0)?$")]),
    Row("assembly that pushes in a loop", compiled("cc", TRUTH, BARE, ["pushes", MS]),
        calls=[(";burn$", ";main;calls_pushes;pushes;burn$")]),
    # At its end the unwinder has the registers of the function with the handler, not of its caller.
    Row("C++ exceptions", compiled("c++", os.path.join(here, "exceptions.cc"), [], [MS]),
        calls=[("_Unwind_RaiseException", r";main;[^;]*catches[^;]*(;[^;]*throws[^;]*){21};"
                r"(__cxa_throw;_Unwind_RaiseException|_Unwind_RaiseException(;[^;]*)?$)"),
               ("_Unwind_Resume", r";main;[^;]*catches[^;]*(;[^;]*throws[^;]*)*;_Unwind_Resume")]),
    Row("C++ coroutines", compiled("c++", os.path.join(here, "coroutines.cc"), ["-std=c++20"], [MS]),
        calls=[(r"burn\S*$", r";main(;.*numbers.*){6};.*burn\S*$")]),
    Row("makecontext", compiled("cc", TRUTH, [], ["context", MS]),
        calls=[(";burn$", "^(__start_context|.*);coroutine;burn$")]),
    Row("setjmp", shape("jump", MS), calls=[(";burn$", ";main;run_jump(;descend)+;burn$")]),
    Row("signal handler", compiled("cc", TRUTH, [], ["signal", MS]),
        calls=[(";burn$", ";main;.*;handler;burn$")]),
    Row("signals on a stack of their own", shape("altstack", MS),
        calls=[("handler;burn$", ";main;.*interrupted;.*;handler;burn$"), (";burn$", ";main;.*interrupted;.*burn$")]),
    Row("dlopen storm", plugins, phases="plugin", named=99.9,
        calls=[("plugin_", r";main;(run_dlopen;)?work;plugin_\d_$")]),
    Row("exec storm", shape("execs", "250"), calls=[(";burn$", ";main;(run_execs;)?burn_for;burn$")]),
    Row("spawn", shape("spawn", "250"), calls=[(";burn$", ";main;burn_for;burn$")]),
    Row("threads", shape("threads", "60"), calls=[(";burn$", ";thread;burn_for;burn$")]),
    Row("Go", go("plain.go"), calls=GO),
    Row("Go, stripped", go("plain.go", "-ldflags", "-s -w")),
    Row("Go, PIE", go("plain.go", "-buildmode=pie"), calls=GO),
    Row("Go, PIE, stripped", go("plain.go", "-buildmode=pie", "-ldflags", "-s -w")),
    Row("Go with cgo, both ways", go("cgo.go"), rooted=99, calls=CGO),
    Row("i386", compiled("cc", TRUTH, ["-m32"], ["tables", MS]), rooted=None),
    Row("node, perf map, code reused", command("node", "--perf-basic-prof", *NODE), phases="phase", named=95),
    Row("node, jitdump, code reused", command("node", "--perf-prof", *NODE), phases="phase", named=95),
    Row("java with frame pointers", java("-XX:+PreserveFramePointer")),
    Row("java, default flags", java()),
    Row("python", command("python3", os.path.join(here, "phases.py"), "FOLDER/times"), phases="phase", named=95),
    Row("python, extension that calls back", python_extension, calls=CALLBACK),
    Row("ruby", command("ruby", os.path.join(here, "phases.rb"), "FOLDER/times"), phases="phase", named=95),
    Row("ruby, functions in C that call back", command("ruby", os.path.join(here, "call_back.rb"), "3"), calls=BLOCKS),
    Row("php", command("php", os.path.join(here, "phases.php"), "FOLDER/times"), phases="phase", named=95),
    Row("php, functions in C that call back", command("php", os.path.join(here, "call_back.php"), "3"), calls=ARRAY_MAP),
    Row("postgres", postgres),
    # LLVM's code has neither tables nor frame pointers.
    Row("postgres with its JIT compiler", lambda folder: postgres(folder, "on"), rooted=None),
    Row("rustc", rustc),
    Row("git log", command("git", "-C", top, "log", "-p", "-C", "--find-copies-harder", "-n", "300")),
    Row("sqlite3", command("sqlite3", ":memory:", SQL)),
    Row("perl", command("perl", "-e", "my $s = 0; $s += $_ * $_ % 7 for 1 .. 60000000")),
    Row("valgrind", valgrind, rooted=None),
    Row("qemu-user", qemu, rooted=None),
]
