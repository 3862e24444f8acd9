#!/bin/sh
# --live: a trace that grows, in a file or a pipe, is read on and drawn again; the terminal is given back.
. "$(dirname "$0")/../lib.sh"
need_tools python3 readelf nm
cd "$work" || exit 1

cat > program.c <<'C'
__attribute__((noinline)) int alpha(int n) { return n * 3 + 1; }
__attribute__((noinline)) int beta(int n) { return n * 5 + 2; }
int main(int argc, char **argv) { return alpha(argc) + beta(argc); }
C
compile_c -O1 -Wl,--build-id -o program program.c
# The first byte of a function; in such a small file offsets of code are its addresses.
at() { nm program | awk -v name="$1" '$3 == name { print "0x" $1 }'; }
samples() { # N STACK TIME
	i=0
	while [ $i -lt "$1" ]; do
		echo "sample $(($3 + i * 1000000)) 0 0 $2 0 1"
		i=$((i + 1))
	done
}
{
	cat <<-T
	event 0 "cpu-clock" "samples" 1000 0
	object 0 "$work/program" "" "$(readelf -n program | sed -n 's/.*Build ID: //p')"
	object 5 "[jit]" "" ""
	task 7 7 "one" "" ""
	frame 0 2 $(at main)
	frame 0 2 $(at alpha)
	frame 0 2 $(at beta)
	frame 1 2 0x1000
	stack - 0
	stack 0 1
	stack 0 2
	stack 0 3
	T
	samples 5 1 1000000000
	samples 3 3 1005000000
	echo seal
	echo 'symbols 1 0x1000 32 "named_later"'
	samples 10 2 2000000000
	echo seal
	samples 40 1 3000000000
	echo finish
} > trace.txt
need "$build/testdata/trace_text" trace.txt -o whole.prf
sed 's/^finish/seal/' trace.txt > unfinished.txt
need "$build/testdata/trace_text" unfinished.txt -o unfinished.prf
need "$build/testdata/trace_text" "$top/testdata/unsupported-block.txt" -o unsupported.prf

cat > drive.py <<'PYTHON'
"""A terminal in which prof-report runs; prints one line for each check."""
import fcntl, os, pty, re, select, shutil, signal, struct, subprocess, sys, termios, time

report = sys.argv[1]
whole = open("whole.prf", "rb").read()
ENTER, LEAVE = b"\033[?1049h", b"\033[?1049l"

def check(good, name, detail=""):
    print("pass" if good else "fail", name, "" if good else repr(detail))

# Where the blocks begin: after a header of 24 bytes each has one of 32, with the size of what follows at 12.
blocks = [24]
while blocks[-1] < len(whole):
    blocks.append(blocks[-1] + 32 + struct.unpack_from("<I", whole, blocks[-1] + 12)[0])
types = [struct.unpack_from("<H", whole, at + 4)[0] for at in blocks[:-1]]
of_samples = [at for at, kind in zip(blocks, types) if kind == 6]

class Terminal:
    def __init__(self, *arguments, columns=80, rows=12, stdin=None, term="xterm", job=None):
        self.master, self.slave = pty.openpty()
        self.size(columns, rows)
        self.before = termios.tcgetattr(self.slave)
        self.out = b""
        def child():
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
                signal.signal(number, signal.SIG_DFL)
            job and job.begin()
        self.process = subprocess.Popen([report, "--live", "--no-cache", *arguments], preexec_fn=child,
                                        stdin=self.slave if stdin is None else stdin, stdout=self.slave, stderr=self.slave,
                                        env=dict(os.environ, TERM=term))

    def size(self, columns, rows):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.master, keys)

    def read(self, seconds):
        while select.select([self.master], [], [], seconds)[0]:
            self.out += os.read(self.master, 1 << 16)
            seconds = 0

    def shown(self):
        """The lines of the last drawing."""
        text = re.sub(r"\033\[[?0-9;]*[A-Za-z]", "", self.out.decode(errors="replace").split("\033[H")[-1])
        return [line.rstrip("\r") for line in text.split("\n")]

    def until(self, condition, name):
        """Reads on until it holds. Each key has the screen drawn anew, so that no second is waited for."""
        end = time.monotonic() + 60
        while not condition():
            if time.monotonic() > end or self.process.poll() is not None:
                return check(False, name, self.shown())
            self.press(b"x")
            self.read(0.05)
        check(True, name)

    def shows(self, expected, name):
        self.until(lambda: all(re.search(one, "\n".join(self.shown()), re.M) for one in expected), name)

    def ends(self, status, name):
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.05)
        self.read(0)
        self.process.poll() is None and self.process.kill()
        check(self.process.wait() == status, f"{name}: status {status}", (self.process.returncode, self.out[-300:]))
        check(termios.tcgetattr(self.slave) == self.before, f"{name}: the terminal's modes are as before")
        check(self.out.count(ENTER) == self.out.count(LEAVE) and b"\033[?25h\033[?7h" + LEAVE in self.out,
              f"{name}: the screen is given back", self.out[-300:])
        after = self.out.split(LEAVE)[-1].decode()
        os.close(self.master)
        os.close(self.slave)
        return after

class Job:
    """The shell between the terminal and prof-report: says when that is stopped, and lets it go on when told."""
    def __init__(self):
        self.stops, self.stopped = os.pipe()
        self.goes, self.go = os.pipe()

    def begin(self):
        pid = os.fork()
        if pid:
            for fd in range(3, 256):
                fd in (self.stopped, self.goes) or closed(fd)
            while True:
                status = os.waitpid(pid, os.WUNTRACED)[1]
                if not os.WIFSTOPPED(status):
                    os._exit(os.WEXITSTATUS(status))
                os.write(self.stopped, bytes([os.WSTOPSIG(status)]))
                os.read(self.goes, 1)
                os.killpg(pid, signal.SIGCONT)
        os.setpgid(0, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.tcsetpgrp(1, os.getpid())
        for number in signal.SIGTTOU, signal.SIGTSTP:
            signal.signal(number, signal.SIG_DFL)

def closed(fd):
    try:
        os.close(fd)
    except OSError:
        pass

def growing():
    out = open("growing.prf", "wb", buffering=0)
    def up_to(end):
        out.write(whole[out.tell():end])
    t = Terminal("growing.prf")
    t.shows(["^growing.prf: no samples yet"], "an empty file is waited for")
    up_to(10)
    t.shows(["no samples yet"], "half a file header, too")
    up_to(of_samples[0] + 20)
    t.shows(["^# 0 samples"], "half the header of a block is not shown")
    up_to(of_samples[1] - 1)
    up_to(of_samples[1] + 40)
    t.shows(["^# 8 samples, 0.008 s, 0 lost", r"^ 62\.50 .*  alpha  program", r"  \[jit\]"],
            "the blocks before a block that is not whole are shown")
    check("damaged" not in t.shown()[0], "which is no damage", t.shown())
    check(termios.tcgetattr(t.slave)[3] & (termios.ICANON | termios.ECHO) == 0, "keys are taken as they come")
    check(termios.tcgetattr(t.slave)[6][termios.VSUSP] == b"\x1a",
          "but Ctrl-Z is the terminal's, so that a recorder of another user is stopped, too")
    os.remove("program")
    up_to(of_samples[2] + 33)
    t.shows(["^# 18 samples", " alpha", " named_later", r" \[program\]"],
            "names are kept and come later, and files that have gone are read no more")
    t.shows([r"  function\n.*  \[program\]$"], "most self comes first")
    t.press(b"s")
    t.shows(["s: by self", r"  function\n.*  main  program$"], "s puts most total first")
    t.press(b"s")
    t.press(b"r")
    t.shows([r"last 1\.\d s", "^# 10 samples"], "r shows what came last")
    t.size(45, 6)
    os.kill(t.process.pid, signal.SIGWINCH)
    t.until(lambda: len(t.shown()) == 6 and all(len(line) <= 45 for line in t.shown()), "fits a terminal whose size changes")
    t.press(b" ")
    t.shows(["paused"], "space pauses")
    up_to(len(whole))
    t.shows(["^growing.prf: ended.*, paused", "^# 10 samples"], "the table is held while the trace is read, whatever key is pressed")
    t.press(b" ")
    t.shows(["^growing.prf: ended", "^# 40 samples"], "the end of the recording is shown, with its last part")
    t.press(b"r")
    t.shows(["^# 58 samples, 0.058 s, 0 lost"], "and all of it")
    t.press(b"\x1a")
    t.until(lambda: (t.out.count(ENTER), t.out.count(LEAVE)) == (2, 1), "Ctrl-Z gives the terminal back, and takes it again")
    t.press(b"q")
    t.ends(0, "q")

def asked_to_stop():
    """A job after Ctrl-Z, and whether it stopped."""
    job = Job()
    t = Terminal("unfinished.prf", job=job)
    t.shows(["^# 58 samples"], "as a shell's job: it runs")
    t.press(b"\x1a")
    end = time.monotonic() + 20
    while not select.select([job.stops], [], [], 0)[0] and time.monotonic() < end:
        t.read(0.05)
    return job, t, bool(select.select([job.stops], [], [], 0)[0])

def stopped():
    # Seen once in hundreds of runs: it gave the terminal back, and went on at once.
    for attempt in range(3):
        job, t, did = asked_to_stop()
        if did:
            break
        os.write(job.go, b"g")
        t.press(b"q")
        t.ends(0, "q, not stopped")
    how = os.read(job.stops, 1) if select.select([job.stops], [], [], 0)[0] else b""
    check(how == bytes([signal.SIGTSTP]), "Ctrl-Z stops it", (how, t.out[-300:]))
    t.read(0)
    check(termios.tcgetattr(t.slave) == t.before and t.out.endswith(LEAVE), "and the shell has the terminal")
    os.write(job.go, b"g")
    t.until(lambda: (t.out.count(ENTER), t.out.count(LEAVE)) == (2, 1), "until it goes on")
    t.press(b"q")
    t.ends(0, "q")

def no_screen():
    t = Terminal("whole.prf", term="dumb")
    while t.process.poll() is None:
        t.read(0.05)
    t.read(0.05)
    check(re.search(rb"the table is shown once, when the trace has ended: TERM .*\n(.*\n)*# 58 samples", t.out) and ENTER not in t.out,
          "a terminal that cannot be drawn on gets a warning, and the table at the end", t.out)

def ended_by(number, status, name):
    t = Terminal("unfinished.prf")
    t.shows(["^# 58 samples"], f"{name}: it runs")
    os.kill(t.process.pid, number)
    t.ends(status, name)

def errors():
    out = open("growing.prf", "wb", buffering=0)
    unsupported = open("unsupported.prf", "rb").read()
    out.write(unsupported[:300])
    t = Terminal("growing.prf")
    t.shows(["^# 0 samples"], "a trace of a newer version: it runs")
    out.write(unsupported[300:])
    check("newer prof-report" in t.ends(1, "a block that is too new"), "the message is on the screen from before")
    out = open("growing.prf", "wb", buffering=0)
    out.write(whole[:-20])
    t = Terminal("growing.prf")
    t.shows(["^# 58 samples"], "a trace that is written anew: it runs")
    out.truncate(40)
    check("has become shorter" in t.ends(1, "a trace that is written anew"), "is reported")

def pipes():
    read, write = os.pipe()
    t = Terminal(stdin=read)
    os.close(read)
    os.write(write, whole[:of_samples[1] + 40])
    t.shows(["^stdin: ", "^# 8 samples"], "a pipe is read while it is open")
    t.press(b"\x03")
    t.until(lambda: LEAVE in t.out, "after Ctrl-C the rest is read, so that the recorder can write it")
    time.sleep(0.2)
    check(t.process.poll() is None, "up to its end")
    os.write(write, whole[of_samples[1] + 40:])
    t.ends(130, "Ctrl-C")
    os.close(write)
    read, write = os.pipe()
    t = Terminal("-", stdin=read)
    os.close(read)
    os.write(write, whole[:-30])
    os.close(write)
    t.shows(["^stdin: the recorder is gone", "^# 58 samples"], "a pipe that was closed without an end")
    t.press(b"q")
    t.ends(0, "q")

growing()
stopped()
no_screen()
ended_by(signal.SIGINT, 130, "SIGINT")
ended_by(signal.SIGTERM, -signal.SIGTERM, "SIGTERM")
ended_by(signal.SIGQUIT, -signal.SIGQUIT, "SIGQUIT")
errors()
pipes()
print("done")
PYTHON
cp program program.kept
ulimit -c 0
PYTHONUNBUFFERED=1 python3 drive.py "$report" > said 2>&1
while read -r verdict name; do
	case $verdict in
	pass) ok "$name" ;;
	done) ;;
	*) not_ok "$name" "$(grep "^fail\|^[^pd]" said)" ;;
	esac
done < said
is "$(tail -n 1 said)" "done" "all of it was tried"
cp program.kept program

# Where there is no terminal: one table, once the trace has ended.
"$report" -q -f top whole.prf > expected
"$report" -q --live whole.prf > got
is "$?" 0 "without a terminal it ends with the trace"
holds "and shows the table of -f top" cmp expected got
head -c 300 whole.prf > growing.prf
"$report" -q --live -o got growing.prf &
reader=$!
tail -c +301 whole.prf >> growing.prf
wait $reader
holds "of a file that grows, too" cmp expected got
{ head -c 300 whole.prf; tail -c +301 whole.prf; } | "$report" -q --live > got
holds "and of a pipe" cmp expected got
# Slow, as if each look at the clock took a second: the pipe is empty and closed while its last block is still counted.
cat > slow.c <<'C'
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *now)
{
	static time_t seconds;
	*now = (struct timespec){ .tv_sec = ++seconds };
	return 0;
}
C
if readelf -d "$report" | grep -q NEEDED; then
	compile_c -shared -fPIC -o slow.so slow.c
	need "$build/testdata/make_trace" -n 20000 -o long.prf
	"$report" -q -f top long.prf > expected
	cat long.prf | LD_PRELOAD=$work/slow.so ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 "$report" -q --live > got
	holds "what was read of a pipe is counted, though it was closed meanwhile" cmp expected got
else
	skip "what was read of a pipe is counted" "the program is static"
fi
head -c 300 whole.prf | "$report" --live > got 2> err
is "$?" 1 "a pipe that ends before any sample: status 1"
like "$(cat err)" 'no end, as when the recorder was killed' "and it is reported"
timeout 60 "$report" -q --live - < /dev/null > got 2> err
is "$?" 1 "a device without bytes has ended"
for wrong in "-f html" "--diff=whole.prf" "whole.prf" "--time=0,1s" "--debuginfod" "--value=latency" "--from-folded" "--info"; do
	"$report" --live $wrong whole.prf > /dev/null 2> err
	is "$?" 2 "--live $wrong is refused"
done
finish
