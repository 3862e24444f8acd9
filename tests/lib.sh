# Sourced by every test script. A script calls ok, not_ok, is, like, skip_all, ..., then finish.
# One line per check: "ok N - name", "not ok N - name", "skip N - name: why".

checks=0
failures=0
build=${BUILD:-$(cd "$(dirname "$0")/../.." && pwd)/build}
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/prof-test.XXXXXX") || exit 1
record=$build/prof-record
report=$build/prof-report
bench=$build/prof-bench
cc=${CC:-cc}
# How many times slower than usual programs run here, as in an emulator: tests that need a program
# to run for a while give it that much more time.
slowness=${TEST_SLOWNESS:-1}
export LC_ALL=C
# A cache of names of its own, so that a test neither sees nor changes the user's.
export XDG_CACHE_HOME="$work/.cache"

cleanup() {
	# Children that a failed check did not end.
	pkill -KILL -P $$ 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT

ok() { checks=$((checks + 1)); printf 'ok %d - %s\n' "$checks" "$1"; }

not_ok() {
	checks=$((checks + 1))
	failures=$((failures + 1))
	printf 'not ok %d - %s\n' "$checks" "$1"
	[ $# -lt 2 ] || printf '%s\n' "$2" | sed 's/^/# /'
}

skip() { checks=$((checks + 1)); printf 'skip %d - %s: %s\n' "$checks" "$1" "$2"; }

# The machine lacks what the whole script needs; "why" is printed and nothing counts as passed.
skip_all() { skip "$(basename "$0" .sh)" "$1"; exit 0; }

# once_is_enough: for a script that tests what does not depend on the build. It is skipped where
# PROF_TEST_AGAIN says that another build's tests were run before.
once_is_enough() { [ -z "${PROF_TEST_AGAIN:-}" ] || skip_all "it does not depend on the build (PROF_TEST_AGAIN)"; }

# need COMMAND...: our own tool, without which nothing of the script can be tested; where it
# fails, the script fails.
need() {
	"$@" || {
		not_ok "what the script needs: $*"
		finish
	}
}

# need_tools PROGRAM...: what the machine may lack; then the script is skipped.
need_tools() {
	for tool; do
		command -v "$tool" > /dev/null 2>&1 || skip_all "$tool is not here"
	done
}

# compile_c ARGUMENTS...: a test program of ours. Without a compiler the script is skipped; where
# there is one, a program that it refuses fails the script.
compile_c() {
	need_tools "${cc%% *}"
	need $cc "$@"
}

# accepts COMPILER ARGUMENTS...: whether the smallest C program can be made in this way
accepts() {
	echo 'int main(void) { return 0; }' > "$work/accepted.c"
	"$@" -o "$work/accepted" "$work/accepted.c" 2> /dev/null
}

# is GOT EXPECTED NAME
is() {
	if [ "$1" = "$2" ]; then ok "$3"; else not_ok "$3" "expected: $2
got: $1"; fi
}

# like TEXT EXTENDED-REGEX NAME
like() {
	if printf '%s' "$1" | grep -qE -- "$2"; then ok "$3"; else not_ok "$3" "expected a match of: $2
got: $1"; fi
}

unlike() {
	if printf '%s' "$1" | grep -qE -- "$2"; then not_ok "$3" "expected no match of: $2
got: $1"; else ok "$3"; fi
}

# holds NAME COMMAND...: the command must succeed
holds() {
	name=$1
	shift
	if output=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "failed: $*
$output"; fi
}

# number EXPRESSION NAME: an awk expression that must be true
number() {
	if awk "BEGIN { exit !($1) }"; then ok "$2"; else not_ok "$2" "not true: $1"; fi
}

# golden FILE NAME < TEXT: compares with expected text; ACCEPT=1 rewrites it
golden() {
	if [ -n "${ACCEPT:-}" ]; then
		cat > "$1"
		ok "$2 (rewritten)"
		return
	fi
	if difference=$(diff -u "$1" -); then ok "$2"; else not_ok "$2" "$difference"; fi
}

# The browser that pages are opened in; empty: none. PROF_TEST_BROWSER names it, or is "none": JavaScript does
# not depend on the compiler, so that one build's tests are enough.
browser=${PROF_TEST_BROWSER:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
no_browser="no browser"
[ "$browser" != none ] || { browser= no_browser="PROF_TEST_BROWSER is none"; }

# show PAGE#STATE: the document that the browser makes of a page in the work folder
show() {
	timeout 60 "$browser" --headless --no-sandbox --disable-gpu --virtual-time-budget=20000 \
		--dump-dom "file://$work/$1" 2> /dev/null
}

# act PAGE < SCRIPT: the page gets a script that does what people do, once it is shown, and notes what it
# saw; `notes` prints that of a document
act() {
	sed -i 's|</body>||; s|</html>||' "$work/$1"
	{
		cat <<-'PAGE'
		<script>
		const said = document.body.appendChild(document.createElement("pre"));
		const note = (text) => { said.textContent += `[${text}]`; };
		const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
		const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
		const by = (id) => document.getElementById(id);
		/* Of an observer that had more to do than fits in a frame the browser says so: nothing is wrong. */
		addEventListener("error", ({ message }) => message.startsWith("ResizeObserver loop") || note(`error ${message}`));
		(async () => {
		while (!document.documentElement.dataset.ready)
			await sleep(10);
		PAGE
		cat
		echo '})().catch((error) => note(`error ${error.message}`));</script></body></html>'
	} >> "$work/$1"
}
notes() { grep -o '<pre>\[.*</pre>' "$1"; }

# need_bpf [alone]: skips the script where BPF cannot be used. One that says "alone" is about shares or times
# of programs, or about how soon the recorder comes: tests/run starts nothing beside it.
need_bpf() {
	[ "$(id -u)" = 0 ] || skip_all "needs root for BPF"
	[ -r /sys/kernel/btf/vmlinux ] || skip_all "the kernel has no BTF"
}

# until_begun FILE PID: waits until the recorder has begun its file, which it does as it begins to
# sample, or has ended
until_begun() {
	n=0
	until [ -s "$1" ] || [ $n -ge 300 ] || ! kill -0 "$2" 2> /dev/null; do
		n=$((n + 1))
		sleep 0.1
	done
}

# json FILE PYTHON-EXPRESSION: a value of the JSON object `d`
json() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }

finish() {
	[ "$failures" = 0 ]
	status=$?
	cleanup
	trap - EXIT
	exit $status
}
