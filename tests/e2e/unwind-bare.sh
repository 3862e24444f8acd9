#!/bin/sh
# Code without unwind information: its callers are found by what the code itself says.
. "$(dirname "$0")/../lib.sh"
need_bpf
[ "$(uname -m)" = x86_64 ] || skip_all "only x86-64 code is analysed"

# shape NAME COMMAND...: records it and sets `folded` and `rooted`, percent of user stacks
shape() {
	name=$1
	shift
	"$record" -q -F 999 -o "$work/$name.prf" -- "$@" > /dev/null || not_ok "records $name"
	folded=$("$report" -q --annotate "$work/$name.prf")
	rooted=$("$report" --info "$work/$name.prf" | sed -n 's/.*of which \([0-9]*\)[.0-9]* % reach.*/\1/p')
}
# share EXPRESSION OF: percent of the samples matching OF that match EXPRESSION
share() {
	printf '%s\n' "$folded" | awk -v e="$1" -v of="$2" '$0 ~ of { all += $NF; if ($0 ~ e) some += $NF } END { print all ? int(100 * some / all) : 0 }'
}
# compile_bare COMPILER ARGUMENTS...
compile_bare() {
	need "$@" -O2 -fno-optimize-sibling-calls -fno-asynchronous-unwind-tables -fno-unwind-tables \
		"$top/tests/e2e/programs/truth.c" -o "$work/bare"
}

need_tools "${cc%% *}" strip
compile_bare $cc -fno-sanitize=all
shape bare "$work/bare" tables 1000
number "$(share ';main;calls_format;format[; ]' ';format[; ]') >= 95" "callers of code that was compiled without tables"
number "$rooted >= 95" "and its root"
strip -o "$work/stripped" "$work/bare"
shape stripped "$work/stripped" tables 1000
number "$rooted >= 95" "without symbols, too"
shape pointed "$work/stripped" pointed 1000
number "$rooted >= 95" "as those of a function that is only called by pointer"
shape pushes "$work/bare" pushes 1000
number "$(share ';main;calls_pushes;pushes;burn' ';burn[; ]') >= 95" "callers of code that pushes in a loop"
if command -v musl-gcc > /dev/null; then
	compile_bare musl-gcc -static
	shape musl "$work/bare" tables 1000
	number "$(share ';main;calls_format;format[; ]' ';format[; ]') >= 95" "callers in a static musl program"
	number "$rooted >= 95" "and its root"
	need musl-gcc -O2 -pthread -o "$work/threads" "$top/tests/e2e/programs/burn.c"
	shape musl-threads "$work/threads" 500 2
	number "$rooted >= 95" "so have threads with the shared library, which has no symbols"
else
	skip "musl" "there is no musl-gcc"
fi

if ! command -v go > /dev/null; then
	skip "Go" "there is no go"
	finish
	exit
fi
export GOCACHE="$work/cache" GOFLAGS=-mod=mod GO111MODULE=off HOME="$work"
mkdir "$work/plain" "$work/cgo"
cat > "$work/plain/main.go" <<'G'
package main
import ("crypto/sha256"; "fmt"; "time")
var a [1024]int
//go:noinline
func leaf(n int) int { s := 0; for i := 0; i < n; i++ { s += a[i&1023] ^ i }; return s }
//go:noinline
func middle(n int) int { return leaf(n) + 1 }
//go:noinline
func other(n int) int { x := leaf(n / 2); return x + leaf(n/2) + 2 }
//go:noinline
func hash(b []byte) int { s := sha256.Sum256(b); return int(s[0]) }
func main() {
	t, b := 0, make([]byte, 100000)
	for end := time.Now().Add(time.Second); time.Now().Before(end); { t += middle(100000) + other(100000) + hash(b) }
	fmt.Println(t)
}
G
cat > "$work/cgo/main.go" <<'G'
package main
/*
__attribute__((noinline)) static long cleaf(long n) { volatile long s = 0; for (long i = 0; i < n; i++) s += i; return s; }
__attribute__((noinline)) static long cwork(long n) { return cleaf(n) + 1; }
extern long callback(long);
__attribute__((noinline)) static long ccall(long n) { return callback(n) + 1; }
*/
import "C"
import ("fmt"; "time")
//export callback
func callback(n C.long) C.long { return C.long(work(int(n))) }
//go:noinline
func work(n int) int { s := 0; for i := 0; i < n; i++ { s ^= i*s + 1 }; return s }
//go:noinline
func down(n int) int { return int(C.cwork(C.long(n))) }
//go:noinline
func back(n int) int { return int(C.ccall(C.long(n))) }
func main() {
	t := 0
	for end := time.Now().Add(time.Second); time.Now().Before(end); { t += down(100000) + back(100000) }
	fmt.Println(t)
}
G
# With sanitizers the programs are built in one way: they take the same paths.
pie=-buildmode=pie
[ -z "${SAN:-}" ] || pie=
for flags in "" $pie; do
	need go build $flags -o "$work/go" "$work/plain/main.go"
	shape go "$work/go"
	number "$rooted >= 99" "Go's stacks reach their root ($flags)"
	number "$(share 'main;main.(middle|other);main.leaf' 'main.leaf') >= 99" "with the callers of functions without a frame ($flags)"
	number "$(share 'main.main;main.hash;crypto/sha256.Sum256;.*sha256.block' 'sha256.block') >= 99" "and of assembly that uses the frame pointer ($flags)"
done
# Stripped, with all that the runtime does: its own table says how large frames are.
for flags in "" $pie; do
	need go build $flags -ldflags '-s -w' -o "$work/go" "$top/tests/truth/plain.go"
	shape go-stripped "$work/go"
	number "$rooted >= 99" "also without symbols ($flags)"
done
if [ "$(go env CGO_ENABLED)" = 1 ] && command -v "$(go env CC)" > /dev/null; then
	need env CGO_CFLAGS=-O2 go build -o "$work/cgo-program" "$work/cgo/main.go"
	shape cgo "$work/cgo-program"
	number "$rooted >= 99" "cgo's stacks reach their root"
	number "$(share 'main.main;main.down;.*;cwork;cleaf' 'cleaf') >= 99" "C's callers in Go"
	number "$(share 'main.main;main.back;.*;ccall;.*;main.work' 'main.work') >= 99" "and Go's callers in C and again in Go"
else
	skip "cgo" "there is no C compiler for go"
fi
finish
