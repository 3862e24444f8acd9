#!/bin/sh
# The static programs in a root that has no library: they record and report there, programs of musl too.
. "$(dirname "$0")/../lib.sh"
need_bpf
command -v musl-gcc > /dev/null || skip_all "no musl-gcc"
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES
need make -s -C "$top" -j"$(nproc)" STATIC=1 BUILD="$build/static" "$build/static/prof-record" "$build/static/prof-report"
root=$work/root
mkdir -p "$root/bin" "$root/lib" "$root/proc" "$root/sys" "$root/tmp"
cp "$build/static/prof-record" "$build/static/prof-report" "$root/bin"
is "$(readelf -d "$root/bin/prof-record" "$root/bin/prof-report" | grep -c NEEDED)" 0 "the programs need no library"
musl-gcc -O2 -g -static -o "$root/bin/alone" "$top/testdata/demo/amicable.c" || not_ok "a static program of musl"

# inside COMMAND...: in the root, which only has what the kernel gives
inside() {
	unshare --mount --propagation private sh -euc '
		root=$1
		shift
		mount -t proc proc "$root/proc"
		mount --rbind /sys "$root/sys"
		exec chroot "$root" "$@"' - "$root" "$@"
}

# records PROGRAM
records() {
	holds "$1 is recorded" inside /bin/prof-record -q -F 999 -d 2 -o /tmp/x.prf -- "/bin/$1" 10
	inside /bin/prof-report -q /tmp/x.prf > "$work/folded" 2> "$work/err"
	is "$?: $(cat "$work/err")" "0: " "and reported"
	like "$(cat "$work/folded")" "^$1;.*;search;count_pairs;partner_of;proper_divisor_sum [0-9]+$" "with its functions"
}
# whole: those of the last recording
whole() {
	inside /bin/prof-report --info --json /tmp/x.prf > "$work/info.json"
	is "$(json "$work/info.json" 'd["user_stacks"]["root"] == sum(d["user_stacks"].values()) > 100')" True "all stacks are whole"
}
is "$(find "$root" -name '*.so*')" "" "the root has no library"
records alone
whole
# As Alpine's programs are: musl is there, and nothing else.
musl-gcc -O2 -g -o "$root/bin/dynamic" "$top/testdata/demo/amicable.c" || not_ok "a program of musl"
loader=$(readelf -l "$root/bin/dynamic" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
cp -L "$loader" "$root/lib/" || not_ok "musl's loader"
records dynamic
whole
finish
