#!/bin/sh
# What is linked is used, and what is used is installed and listed: the programs' NEEDED entries,
# the Makefile, .ci/deps and the README.
. "$(dirname "$0")/../lib.sh"
cd "$top" || exit 1
command -v readelf > /dev/null || skip_all "readelf is not here"

# A library: as it is linked, Debian's package, Fedora's, and its name in the README; "-" stands for
# what comes with the C library.
cat > "$work/libraries" <<'END'
bpf libbpf-dev libbpf-devel libbpf
elf libelf-dev elfutils-libelf-devel elfutils
dw libdw-dev elfutils-devel elfutils
z zlib1g-dev zlib-devel zlib
zstd libzstd-dev libzstd-devel zstd
xxhash libxxhash-dev xxhash-devel xxhash
iberty libiberty-dev binutils-devel libiberty
opcodes binutils-dev binutils-devel binutils
deflate libdeflate-dev libdeflate-devel libdeflate
lzma liblzma-dev xz-devel xz
cap libcap-dev libcap-devel libcap
jansson libjansson-dev jansson-devel jansson
cmocka libcmocka-dev libcmocka-devel cmocka
m - - -
END

# lines WORD...: each once, sorted
lines() { printf '%s\n' "$@" | grep . | sort -u; }
column() { awk -v n="$1" '$n != "-" { print $n }' "$work/libraries" | sort -u; }

# linked VARIABLE...: the libraries of these variables of the Makefile
linked() {
	for variable in "$@"; do
		sed -n "s/^$variable := //p" Makefile | tr ' ' '\n' | sed -n 's/^-l//p'
	done | sort -u
}

# needed PROGRAM: the libraries that it asks for, without those of the C compiler
needed() {
	readelf -d "$build/$1" | sed -n 's/.*NEEDED.*\[lib\(.*\)\.so.*/\1/p' |
		grep -vE '^(c|gcc_s|asan|ubsan|tsan|dl|pthread|rt)$' | sort -u
}

# compare PROGRAM VARIABLE...: libiberty is an archive, and the C library may have libm inside
compare() {
	program=$1
	shift
	is "$(needed "$program" | grep -vx m)" "$(linked "$@" | grep -vxE 'iberty|m')" \
		"$program needs what the Makefile links"
}

linked '[A-Z]*_LIBS' > "$work/all"
needed prof-bench > "$work/bench"
compare prof-record RECORD_LIBS FORMAT_LIBS COMMON_LIBS
compare prof-report REPORT_LIBS FORMAT_LIBS COMMON_LIBS
# Of the other programs prof-bench has parts.
is "$(needed prof-bench | grep -vx m | comm -23 - "$work/all")" "" "prof-bench needs nothing else"
is "$(linked BENCH_LIBS | comm -13 "$work/bench" -)" "" "... and what is linked for it alone"
# libopcodes is an archive, too, and may be missing: .ci/disassembler finds how it is linked.
is "$( (linked '[A-Z]*_LIBS'; echo cmocka; grep -o '\$(shell.*/disassembler)' Makefile | sed 's/.*/opcodes/') | sort)" "$(awk '{ print $1 }' "$work/libraries" | sort)" \
	"the Makefile links what is listed here"

# packages VARIABLE PATTERN: those of .ci/deps that are libraries
packages() {
	# shellcheck disable=SC2046
	lines $(sed -n "/^$1=/,/\"\$/p" .ci/deps | tr -d '"' | sed "s/^$1=//") | grep -E -- "$2"
}
is "$(packages debian '-dev$')" "$(column 2)" "make deps installs them on Debian, and no others"
is "$(packages fedora '-devel$')" "$(column 3)" "... and on Fedora"
for tool in pkg-config pkgconf protobuf; do
	unlike "$(grep -v libprf Makefile; cat .ci/deps)" "$tool\\b" "nothing asks for $tool, which nothing uses"
done

# The README: "To build: ..., to test: ...".
listed=$(tr '\n' ' ' < README.md | sed 's/.*To build: //; s/\. .*//; s/; to test://' | tr -d ',')
# shellcheck disable=SC2086
is "$(lines $listed | grep -vxE 'clang|bpftool|python3|curl')" "$(column 4)" "the README lists them"
finish
