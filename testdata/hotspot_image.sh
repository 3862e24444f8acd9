#!/bin/sh
# hotspot_image.sh JAVA OUT: an image of that JDK while it runs tests/e2e/programs/java/Mix.java.
set -e
top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
home=$(dirname "$(dirname "$(readlink -f "$1")")")
"$home/bin/javac" -d "$work" "$top/tests/e2e/programs/java/Mix.java"
"${CC:-cc}" -O2 -shared -fPIC -I"$home/include" -I"$home/include/linux" -o "$work/libnative.so" "$top/tests/e2e/programs/java/native.c"
"$1" -Xshare:off -XX:+UseSerialGC -cp "$work" Mix 60 "$work/libnative.so" > "$work/says" 2> "$work/complains" &
pid=$!
sleep 6
map=$(grep 'r-xp.*libjvm.so' /proc/$pid/maps | head -1)
"${BUILD:-$top/build}/testdata/hotspot_image" $pid "$(echo "$map" | awk '{ print $6 }')" "${map%%-*}" "$(echo "$map" | awk '{ print $3 }')" "$2" || status=1
kill $pid
exit ${status:-0}
