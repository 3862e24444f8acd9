#!/bin/sh
# PHP functions stand in the stacks, frame for frame as the program itself says, under their own names,
# however they come to run and whatever was at their address before. PHP is the command that runs them ("php"):
# PHP="tests/in-root ROOT php" takes that of another release; FPM is php-fpm ("php-fpm8.2").
. "$(dirname "$0")/../lib.sh"
. "$top/tests/runtimes.sh"
need_bpf
build_php

# record_marks TRACE: the calls of mark() in the programs that wait.
record_marks() {
	need record_waiting "$1" -e "uprobe:$work/libmark.so:mark"
	"$report" -q -f jsonl --lines "$1" > "$work/samples"
}

cat > "$work/compare.py" <<'END'
import json, sys
samples, right = {}, 0
for line in open(sys.argv[1]):
    s = json.loads(line)
    stack = [[f["name"], f.get("line", 0), f.get("file", "")] for f in s["stack"] if f["kind"] == "script"]
    samples.setdefault(s["pid"], []).append(stack[1:])
said = [json.loads(line) for line in open(sys.argv[2])]
# A function of a library belongs to an object, and to no class.
for _, stack in said:
    for i, (name, _, _) in enumerate(stack):
        if name == "FFI::call_back":
            stack[i] = ["call_back", 0, ""]
order, first, in_c = {}, "", set()
for process, stack in said:
    n = order[process] = order.get(process, -1) + 1
    got = samples.get(process, [])
    got = got[n] if n < len(got) else []
    if got == stack:
        right += 1
        in_c |= {name for name, _, file in got if not file}
    elif not first:
        first = " first: %r instead of %r" % (got, stack)
print("%d of %d%s, %s" % (right, len(said), first, len(in_c) > 15))
END
start_waiting $php "$programs/oracle.php" "$work/libmark.so" "$work/said" 100
record_marks "$work/oracle.prf"
all=$(wc -l < "$work/said")
is "$(python3 "$work/compare.py" "$work/samples" "$work/said")" "$all of $all, True" \
	"PHP $version: every frame and line of $all stacks"
"$report" --info --json "$work/oracle.prf" > "$work/info.json"
is "$(json "$work/info.json" 'd["statistics"]["php_unmerged"]')" 0 \
	"PHP $version: native and PHP frames match, in fibers, too"
is "$(json "$work/info.json" 'd["statistics"]["script_frames_unnamed"]')" 0 "PHP $version: no frame lacks its name"

# What C calls back stands above it: six times, where a library is called, and where PHP's own functions are;
# and the loop's own functions are not to be seen. What a fiber runs is above what has resumed it.
is "$(python3 - "$work/samples" <<'END'
import json, re, sys
deepest, called, fibers = 0, 0, 0
for line in open(sys.argv[1]):
    stack = json.loads(line)["stack"]
    names = [(f["name"] + ":" + f["kind"][0]) for f in reversed(stack)]
    text = " ".join(names)
    assert "execute_ex" not in text, text
    if "call_back:u" in names:
        assert re.search(r"call_back:s( \S+:u)* call_back:u( \S+:u)* \{closure[^}]*\}:s", text), text
        deepest = max(deepest, names.count("call_back:u"))
    called += re.search(r" called_by_c:s usort:s( \S+:u)+ \{closure[^}]*\}:s snap:s", text) is not None
    fibers += re.search(r" in_fibers:s Fiber::(start|resume):s( \S+:u)* \{closure[^}]*\}:s (Fiber::(start|resume):s( \S+:u)* \{closure[^}]*\}:s )?", text) is not None
print(deepest, called > 0, fibers)
END
)" "6 True 6" "PHP $version: native functions keep their place between PHP functions"

through_new_libraries "PHP $version" $php "$programs/new_libraries.php"

# Functions in opcache's shared memory, and code that its compiler has made. It has no tables, so native stacks may end
# in it; since 8.3 the loop, on whose frame it runs, has a frame pointer.
if $php -d opcache.enable_cli=1 -r 'exit(opcache_get_status() ? 0 : 1);' 2> "$work/errors" > "$work/output"; then
	for compiler in "" function tracing; do
		start_waiting $php -d opcache.enable_cli=1 ${compiler:+-d opcache.jit_buffer_size=16M -d opcache.jit=$compiler} \
			-d opcache.jit_hot_func=2 "$programs/oracle.php" "$work/libmark.so" "$work/said" 20
		record_marks "$work/opcache.prf"
		all=$(wc -l < "$work/said")
		is "$(python3 "$work/compare.py" "$work/samples" "$work/said")" "$all of $all, True" \
			"PHP $version, opcache${compiler:+ with its compiler ($compiler)}: every frame and line of $all stacks"
		case $version in
		8.[12]) ;;
		*)
			is "$(python3 - "$work/samples" <<-'END'
				import json, re, sys
				for line in open(sys.argv[1]):
				    stack = [f["name"].replace(" ", "_") + ":" + f["kind"][0] for f in json.loads(line)["stack"]]
				    text = " ".join(reversed(stack))
				    begin = r" (\S+:u )+\{closure\S*:s " if " Fiber::" in text else r"^_start:u (\S+:u )+\{main\}:s "
				    if not re.search(begin + r".*mark:s (\S+:u )+mark:u$", text):
				        print(text)
				END
			)" "" "PHP $version, opcache ($compiler): native functions are whole, and keep their place"
			;;
		esac
	done
	case $version in
	8.[12]) ;;
	*)
		cat > "$work/made.php" <<-'END'
			<?php
			function sum_up($n)
			{
			    for ($i = $sum = 0; $i < $n; $i++) {
			        $sum = ($sum + $i * 3) % 1000003;
			    }
			    return $sum;
			}
			for ($end = hrtime(true) + 3e8; hrtime(true) < $end;) {
			    sum_up(100000);
			}
		END
		need "$record" -q -F 999 --keep-interpreter -o "$work/made.prf" -- $php -d opcache.enable_cli=1 \
			-d opcache.file_update_protection=0 -d opcache.jit_buffer_size=16M -d opcache.jit=function "$work/made.php"
		like "$("$report" -q -f folded "$work/made.prf")" ';\[jit\];\{main\};sum_up' \
			"PHP $version, opcache: code that its compiler has made is kept with the interpreter's"
		;;
	esac
else
	skip "PHP $version with opcache" "it is not installed"
fi

# The leaf of each stack has a number, which goes up, in its name, and the line of that number; what is
# lost leaves a gap.
cat > "$work/judge.py" <<'END'
import json, re, sys
right = wrong = unnamed = 0
last = -1
for line in open(sys.argv[1]):
    stack = [f for f in json.loads(line)["stack"] if f["kind"] == "script"]
    names = [f["name"] for f in stack]
    if "make_and_run" not in names:
        continue
    leaf = stack[1]
    name = re.fullmatch(r"(?:\{closure:file-of://)?f_(\d{6})(Ez|FY)(\\\{closure\}|:\d+\})?", leaf["name"])
    number = 2 * int(name[1]) + (name[2] == "FY") if name else -1
    if leaf["name"] == "[script]":
        unnamed += 1
    elif number > last and names[2] == "make_and_run" and leaf["line"] == 1 + number // 2 % 7 \
            and leaf["file"].endswith((" : eval()'d code", f"file-of://f_{name[1]}{name[2]}")):
        right += 1
        last = number
    else:
        wrong += 1
print(right, wrong, unnamed)
END
judge() {
	read -r right wrong unnamed <<-E
		$(python3 "$work/judge.py" "$work/samples")
		E
	is "$wrong" 0 "PHP $version: none of $1 $2 that take each other's place has another's name"
	number "$right >= 0.97 * $1" "PHP $version: and they have their own ($right, $unnamed without a name)"
}
changes=${CHANGES:-3000}
start_waiting $php "$programs/changing.php" "$work/libmark.so" "$changes"
record_marks "$work/changing.prf"
judge "$changes" closures
requests=${REQUESTS:-300}
start_waiting python3 "$programs/serve.py" "$programs/changing.php" "$work/libmark.so" "$requests"
need record_waiting "$work/requests.prf" -e "uprobe:$work/libmark.so:mark"
"$report" -q -f jsonl --lines "$work/requests.prf" > "$work/samples"
judge "$requests" "functions of requests"
export FPM="${FPM:-php-fpm$version}"
if command -v "${FPM%% *}" > "$work/output"; then
	start_waiting python3 "$programs/fpm.py" "$programs/changing.php" "$work/libmark.so" "$requests"
	need record_waiting "$work/fpm.prf" -e "uprobe:$work/libmark.so:mark"
	"$report" -q -f jsonl --lines "$work/fpm.prf" > "$work/samples"
	judge "$requests" "functions of requests to php-fpm"
else
	skip "PHP $version in php-fpm" "$FPM is not installed"
fi

# All ways to run code at once.
for way in fork exec fiber shutdown; do
	start_waiting $php "$programs/ways.php" $way "$work/libmark.so"
done
record_marks "$work/ways.prf"
is "$(python3 - "$work/samples" <<'END'
import collections, json, sys
# What begins while it is recorded is judged once it has been noticed.
ways, noticed, wrong = collections.Counter(), set(), []
for line in open(sys.argv[1]):
    sample = json.loads(line)
    stack = [f for f in sample["stack"] if f["kind"] == "script"]
    if any(f.get("file", "").endswith("ways.php") for f in stack):
        noticed.add(sample["pid"])
    if sample["pid"] not in noticed:
        continue
    names = [f["name"] for f in stack]
    if names[0] == "mark" and names[1].startswith("way_") and names[2] == "here" and \
            names[3:] == {"way_fiber": ["Fiber::start", "{main}"], "way_shutdown": []}.get(names[1], ["{main}"]):
        ways[names[1]] += 1
    else:
        wrong.append(names)
print(*sorted(way for way in ways if ways[way] >= 10), wrong)
END
)" "way_executed way_fiber way_fork way_shutdown []" "PHP $version: in a child, after exec, in a fiber, after the script"

# Lines of a loop that calls nothing, which the frame itself does not have.
cat > "$work/loop.php" <<'END'
<?php
function loop($end)
{
    $n = strlen("x");
    while (hrtime(true) < $end) {
        for ($i = 0; $i < 100000; $i++) {
            $n ^= $i * 3;
        }
    }
}
loop(hrtime(true) + 1e9);
END
need "$record" -q -F 499 -o "$work/loop.prf" -- $php "$work/loop.php"
"$report" -q -f jsonl --lines "$work/loop.prf" > "$work/samples"
is "$(python3 - "$work/samples" <<'END'
import collections, json, sys
lines = collections.Counter()
for line in open(sys.argv[1]):
    stack = json.loads(line)["stack"]
    if stack[0]["name"] == "loop":
        lines[stack[0].get("line", 0)] += 1
print(set(lines) <= {4, 5, 6, 7}, lines[6] > 0, lines[7] > 0)
END
)" "True True True" "PHP $version: lines of a loop that calls nothing"

# PHP 8.4 has no frame for some functions in C, and the caller's says only where it was when it last had to: what the
# loop does after that, as to join strings, is not the function's.
cat > "$work/frameless.php" <<'END'
<?php
function joins($end)
{
    $text = str_repeat("a", 100);
    $rest = str_repeat("b", 400000);
    while (hrtime(true) < $end) {
        for ($i = 0; $i < 100; $i++) {
            $whole = substr($text, 0, 3) . $rest;
        }
    }
}
function calls($end)
{
    $text = str_repeat("ab", 50000);
    $numbers = range(1, 1000);
    while (hrtime(true) < $end) {
        $text = str_replace("a", "a", $text);
        for ($i = 0; $i < 100; $i++) {
            $found = in_array(0, $numbers);
            if ($i < 5) {
                $joined = implode(",", $numbers);
            }
        }
    }
}
joins(hrtime(true) + 1e9);
calls(hrtime(true) + 1e9);
END
need "$record" -q -F 1999 -o "$work/frameless.prf" -- $php "$work/frameless.php"
"$report" -q -f jsonl "$work/frameless.prf" > "$work/samples"
read -r joins substr calls named all <<E
$(python3 - "$work/samples" <<'END'
import collections, json, sys
leaves = collections.defaultdict(collections.Counter)
for line in open(sys.argv[1]):
    names = [f["name"] for f in json.loads(line)["stack"] if f["kind"] == "script"]
    for i, name in enumerate(names):
        if name in ("joins", "calls"):
            leaves[name][names[i - 1] if i else ""] += 1
joins, calls = leaves["joins"], leaves["calls"]
print(sum(joins.values()), joins["substr"], sum(calls.values()), sum(calls.values()) - calls[""],
      set(calls) >= {"str_replace", "in_array", "implode"})
END
)
E
number "$joins > 100 && $substr <= 0.1 * $joins" \
	"PHP $version: what follows a call without a frame is not its own ($substr of $joins)"
number "$calls > 100 && $named >= 0.9 * $calls" \
	"PHP $version: functions that need no frame have their names ($named of $calls)"
is "$all" True "PHP $version: each of them"

cat > "$work/wait.php" <<'END'
<?php
file_put_contents(getenv('READY'), '');
$input = fopen('php://stdin', 'r');
stream_set_read_buffer($input, 0);
fread($input, 1);
END

# What PHP calls in place of a constructor, where a class has none, has no name, as what a fiber begins with.
cat > "$work/construct.php" <<'END'
<?php
class Bare {}
function construct($end)
{
    while (hrtime(true) < $end) {
        for ($i = 0; $i < 10000; $i++) {
            new Bare(1);
        }
    }
}
require __DIR__ . '/wait.php';
construct(hrtime(true) + 1e9);
(new Fiber('construct'))->start(hrtime(true) + 1e9);
END
start_waiting $php "$work/construct.php"
need record_waiting "$work/construct.prf" -F 1999
"$report" -q -f folded "$work/construct.prf" > "$work/folded"
is "$(grep -c ';construct;.*;{main}\|;construct;_start;' "$work/folded")" 0 \
	"PHP $version: a class without a constructor leaves native stacks in their order"
"$report" --info --json "$work/construct.prf" > "$work/info.json"
# While one begins, its native stack has the list of who resumes it.
number "$(json "$work/info.json" 'd["statistics"]["php_unmerged"]') <= 3" "PHP $version: in fibers, too"

# Of generators that delegate, the last one is shown, and who asks the first one.
cat > "$work/yield.php" <<'END'
<?php
$library = FFI::cdef('void mark(void);', $argv[1]);
function inner($library)
{
    $library->mark();
    yield 1;
    $library->mark();
}
function outer($library)
{
    yield from inner($library);
}
require __DIR__ . '/wait.php';
foreach (outer($library) as $x);
END
start_waiting $php "$work/yield.php" "$work/libmark.so"
need record_waiting "$work/yield.prf" -e "uprobe:$work/libmark.so:mark"
is "$("$report" -q -f folded --script-only "$work/yield.prf")" "php;{main};inner;mark 2" "PHP $version: yield from"

# The interpreter in a library, and one that is not known.
library=$(find /usr/lib -name "libphp$version.so" 2> "$work/errors" | head -n 1)
if [ -n "$library" ]; then
	compile_c -O1 -o "$work/embed" "$programs/embed.c"
	echo "ffi.enable=1" > "$work/php.ini"
	export PHPRC="$work"
	start_waiting "$work/embed" "$library" \
		"function embedded(\$l) { FFI::cdef('void mark(void);', \$l)->mark(); } require '$work/wait.php'; embedded('$work/libmark.so');"
	unset PHPRC
	need record_waiting "$work/embed.prf" -e "uprobe:$work/libmark.so:mark"
	is "$("$report" -q -f folded --script-only "$work/embed.prf")" "embed;{main};embedded;mark 1" "PHP $version in a library"
else
	skip "PHP $version in a library" "libphp$version.so (libphp$version-embed) is not installed"
fi
compile_c -O1 -rdynamic -DVERSION='"320190902"' -o "$work/old" "$programs/forged.c"
"$record" -o "$work/old.prf" -- "$work/old" < /dev/null 2> "$work/errors"
like "$(cat "$work/errors")" "old: its PHP functions are not seen: a version of PHP that is not known" "other versions are refused by name"

# Programs that end after 50 ms: those that the recorder could notice in time. PHP itself starts them, as
# the recorder reads the command's files before it starts it.
cat > "$work/short.php" <<'END'
<?php
function sum_up($n)
{
    return array_sum(array_map(fn ($i) => $i * $i, range(1, $n)));
}
function rest()
{
    usleep(1000);
}
$time = fn () => getrusage()["ru_utime.tv_sec"] * 1000000 + getrusage()["ru_utime.tv_usec"];
for ($end = $time() + 50000; $time() < $end;) {
    sum_up(500);
}
rest();
END
need "$record" -q -F 1999 --off-cpu -o "$work/short.prf" -- \
	$php -r 'for ($i = 0; $i < 6; $i++) { passthru(PHP_BINARY . " -n " . $argv[1]); }' "$work/short.php"
short_programs "PHP $version" "$work/short.prf" usleep

# A program that only looks like PHP.
compile_c -O1 -rdynamic -o "$work/forged" "$programs/forged.c"
start_waiting "$work/forged"
need record_waiting "$work/forged.prf" -e "uprobe:$work/forged:mark"
"$report" -q -f jsonl "$work/forged.prf" > "$work/samples"
is "$(python3 - "$work/samples" <<'END'
import json, sys
stacks = [[f["name"] for f in json.loads(line)["stack"] if f["kind"] == "script"] for line in open(sys.argv[1])]
names = {name for stack in stacks for name in stack}
print(len(stacks), max(map(len, stacks)), stacks[0], max(map(len, names)) <= 4096 + 3)
END
)" "11 512 ['\\x1b[31mred'] True" "PHP $version: what is forged is bounded, and shown as text"
finish
