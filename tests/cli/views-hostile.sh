#!/bin/sh
# Names may hold any bytes: every format stays well-formed, and nothing in it is executed.
. "$(dirname "$0")/../lib.sh"

# Each as the text language of testdata/README.md writes it.
long=$(printf '%01048576d' 0 | tr 0 L)
{
	cat <<'TRACE'
metadata "host" "<script>alert(2)</script>"
metadata "command_line" "\x1b]0;title\x07 </script> --"
event 0 "cpu-clock" "samples" 999 0
object 5 "[jit]" "" ""
object 0 "/tmp/</script>\n\x1b[2J.so" "" ""
task 1 1 "</script>; \x1b[31m" "/a;b\nc" "\x07"
task 1 2 "\xff\xfe\xc0\x80" "" ""
frame 0 2 0x10
frame 0 2 0x20
frame 0 2 0x30
frame 0 2 0x40
frame 0 2 0x50
frame 0 2 0x60
frame 1 2 0x70
frame 0 2 0x80
stack - 0
stack 0 1
stack 1 2
stack 2 3
stack 3 4
stack 4 5
stack 5 6
stack 6 7
names 0 "<script>alert(1)</script>" "<img src=x onerror=alert(3)>.c" 1 1
names 1 "a;b" "" 0 0
names 2 "x 5" "a b.c" 7 7
names 3 "ab\xe2\x80\xae\xd8\x9c\xe2\x80\x8f\xe2\x80\xa8\xe2\x81\xa7 two\nlines\x0d\x09tab" "" 0 0
names 4 "\x1b[31mred\x1b]0;title\x07\xc2\x9b31m" "" 0 0
names 5 "quote\"back\\slash'%s%n ${x} @data@" "" 0 0
TRACE
	printf 'names 7 "\\xff\\xed\\xa0\\x80 %s" "" 0 0\n' "$long"
	cat <<'TRACE'
sample 1000000000 0 0 7 0 1
sample 1001000000 0 0 4 0 1
sample 1002000000 1 0 7 0 1
sample 1003000000 1 0 - 0 1
finish
TRACE
} > "$work/hostile.txt"
holds "a trace of hostile names" "$build/testdata/trace_text" "$work/hostile.txt" -o "$work/t.prf"

# No control characters but these; nothing that ends or steers a terminal's line, or turns it around.
inert() {
	python3 - "$1" <<'PYTHON'
import sys
text = open(sys.argv[1], "rb").read()
bad = sorted({b for b in text if b < 32 and b not in (9, 10)} | ({127} & set(text)))
known = text.decode(errors="replace")
bad += [hex(ord(c)) for c in "\x9b\u061c\u200f\u2028\u202e\u2067" if c in known]
if "\ufffd" in known and text.count(b"\xef\xbf\xbd") != known.count("\ufffd"):
	bad.append("no UTF-8")
print(bad if bad else "inert")
PYTHON
}

for format in folded top tree html pprof firefox speedscope script jsonl; do
	holds "-f $format" "$report" -q --no-cache --no-pager -f "$format" "$work/t.prf" -o "$work/$format"
	[ "$format" = pprof ] || is "$(inert "$work/$format")" inert "-f $format has no control characters"
done
holds "-f folded with everything" "$report" -q --no-cache --annotate --lines --modules --addrs --pid --tid \
	--cgroup --event "$work/t.prf" -o "$work/folded-all"
is "$(inert "$work/folded-all")" inert "and that too has no control characters"
for option in --info --dump --check; do
	"$report" --no-cache --no-pager $option "$work/t.prf" > "$work/out" 2> "$work/said"
	is "$(inert "$work/out"):$(inert "$work/said")" inert:inert "$option has no control characters"
	like "$(cut -c1-200 "$work/out" | head -c 10000)" '.' "... and shows something"
done
# On a terminal: after what draws there, as it is drawn for harmless names, nothing more is left.
cat > "$work/live.py" <<'PYTHON'
import fcntl, os, pty, re, select, struct, sys, termios, time
pid, terminal = pty.fork()
if not pid:
    os.execve(sys.argv[1], sys.argv[1:], dict(os.environ, TERM="xterm"))
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 300, 0, 0))
out, end = b"", time.monotonic() + 60
try:
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            out += os.read(terminal, 1 << 16)
        elif b"alert(1)" in out:
            os.write(terminal, b"q")
except OSError:
    pass
os.waitpid(pid, 0)
if b"\x1b[31mred" in out or b"\x1b[2J.so" in out:
    print("a name's colour")
open(sys.argv[0] + ".out", "wb").write(re.sub(rb"\x1b\[[?0-9;]*[A-Za-z]|\r", b"", out))
PYTHON
is "$(python3 "$work/live.py" "$report" --no-cache --live "$work/t.prf" 2>&1)" "" "--live lets no name colour the terminal"
is "$(inert "$work/live.py.out")" inert "... and has no other control characters"
like "$(cut -c1-300 "$work/live.py.out")" 'alert\(1\)' "... and shows the names"
holds "-f parquet" "$report" -q --no-cache -f parquet "$work/t.prf" -o "$work/parquet"
is "$(head -c 4 "$work/parquet"):$(tail -c 4 "$work/parquet")" PAR1:PAR1 "... is whole"
# What the numbers count is a text of the trace, too.
sed 's/"samples"/"\\x1b[2J\\x07"/' "$work/hostile.txt" > "$work/unit.txt"
"$build/testdata/trace_text" "$work/unit.txt" -o "$work/unit.prf"
for format in top tree annotate "top --diff $work/unit.prf"; do
	# shellcheck disable=SC2086
	"$report" -q --no-cache --no-pager --value weight -f $format "$work/unit.prf" -o "$work/unit"
	like "$(cat "$work/unit")" '[?]\[2J[?]' "-f ${format%"$work"*} names a hostile unit"
	is "$(inert "$work/unit")" inert "... without control characters"
done
# Folded text that others have written is no better.
{
	printf 'a\033[2J;\302\2331m;</script><script>alert(1);\342\200\256\377\355\240\200\r\t%%s%%n "\\ 3\n'
	printf '\007</script>;<img src=x onerror=alert(3)> 2 1\n'
} > "$work/text"
for format in folded top tree html pprof; do
	holds "--from-folded -f $format" "$report" -q --no-pager --from-folded -f $format "$work/text" -o "$work/of-text"
	[ "$format" = pprof ] || is "$(inert "$work/of-text")" inert "--from-folded -f $format has no control characters"
	[ "$format" != html ] || is "$(grep -c '<script' "$work/of-text"):$(grep -c 'alert(' "$work/of-text")" 2:0 \
		"--from-folded -f html: no name is markup"
done
printf 'a;b\033[2J\302\2331m\n' > "$work/text"
"$report" --from-folded "$work/text" 2> "$work/said"
is "$(inert "$work/said")" inert "and its wrong lines are not repeated"
is "$(grep -cE '^[^;]+(;[^;]+)* [0-9]+$' "$work/folded")" "$(wc -l < "$work/folded")" "folded: every line is frames and a count"
is "$(awk '{ n += $NF } END { print n }' "$work/folded")" 4 "folded: the samples are all there"
unlike "$(cut -c1-500 "$work/folded")" "a;b" "folded: no name makes two frames"

is "$(grep -c '<script' "$work/html")" 2 "html: no name is markup"
unlike "$(cut -c1-2000 "$work/html")" "alert\(" "html: no name is script"
is "$(json "$work/speedscope" 'sum(d["profiles"][0]["weights"])')" 4 "speedscope is JSON"
is "$(json "$work/firefox" 'sum(sum(t["samples"]["weight"]) for t in d["threads"])')" 4 "firefox is JSON"
like "$(json "$work/firefox" '"|".join(d["threads"][0]["stringArray"])' | cut -c1-400)" 'a;b\|x 5' \
	"firefox: names stay what they are"
is "$(python3 -c 'import json, sys; print(sum(1 for line in open(sys.argv[1]) if json.loads(line)))' \
	"$work/jsonl")" "$(wc -l < "$work/jsonl")" "jsonl: every line is JSON"
is "$(python3 -c 'import gzip, sys; print(len(gzip.open(sys.argv[1]).read()) > 1 << 20)' "$work/pprof")" True \
	"pprof: the long name is whole"
hostile=$(printf '\033[31m\302\2331m\342\200\256\377')
"$report" --no-cache "$work/none-$hostile.prf" > /dev/null 2> "$work/said"
is "$(inert "$work/said")" inert "messages have no control characters"
like "$(cat "$work/said")" 'none-\\x1b\[31m\\xc2\\x9b1m\\xe2\\x80\\xae\\xff.prf: no such file' "and show their bytes"
"$report" "--$hostile" 2> "$work/said"
is "$(inert "$work/said")" inert "nor have those of the option parser"
finish
