#!/bin/sh
# prof-ship while the server is away for an hour, with a trace each minute: what is on the disk has a bound, the
# server is not asked all the time, and each sample arrives or is said to be lost. The hour takes
# seconds: prof-ship's `date` and `sleep` are ours.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/shipping.sh"
once_is_enough
need_tools python3 curl flock
cd "$work" || exit 1
samples=3000
need "$build/testdata/make_trace" -n $samples -k 1500 -d 30 -O "$report" -o minute.prf
"$report" -q -f parquet -o minute.parquet minute.prf
"$top/tests/parquet-rows.py" rows minute.parquet trace > /dev/null
[ $? != 77 ] || skip_all "python3 cannot load libzstd"
serve server "$top/tests/cli/ship-server.py" server

# The clock begins at 0. A trace comes each minute of the first hour, and the server ten minutes later.
mkdir series ours
echo 1800000000 > now
printf '#!/bin/sh\ncat "%s/now"\n' "$work" > ours/date
cat > ours/sleep <<END
#!/bin/sh
now=\$((\$(cat "$work/now") + \$1))
echo \$now > "$work/next" && mv "$work/next" "$work/now"
at=\$((now - 1800000000))
du -sk "$work/series" | cut -f1 >> "$work/sizes"
[ \$at -gt 3600 ] || [ \$((at % 60)) != 0 ] || cp "$work/minute.prf" "$work/series/trace.prf.20260102T030405.\$((100 + at / 60))"
[ \$at -lt 4200 ] || : > "$work/back"
[ \$at -lt 5400 ] || kill \$PPID
END
real=$(command -v curl)
cat > ours/curl <<END
#!/bin/sh
[ ! -e "$work/back" ] || exec "$real" "\$@"
echo >> "$work/tries"
exec "$real" --connect-to ::127.0.0.1:9 "\$@"
END
chmod +x ours/*
PATH=$work/ours:$build:$PATH "$top/.ci/packaging/prof-ship" --dir="$work/series" --interval=30 --limit=1 \
	"http://127.0.0.1:$port/" 2> said
kill $server

lost=$(sed -n 's/^prof-ship: \([0-9]*\) samples are lost: .*/\1/p' said | awk '{ n += $1 } END { print n + 0 }')
arrived=$(cat server/taken/* | wc -l)
number "$lost > 0 && $arrived > 0" "$lost samples are said to be lost, $arrived arrived"
is "$((lost + arrived))" $((60 * samples)) "which are all"
is "$(cat server/taken/* | sort -u | wc -l)" $((arrived / samples)) "none of them twice or in part"
is "$(find series -type f ! -name lock | wc -l)" 0 "nothing waits twenty minutes after the server is back"
most=$(sort -n sizes | tail -n 1)
# One trace and what it becomes may be there beside what waits.
number "$most > 900 && $most <= 1024 + 2 * $(du -k minute.parquet | cut -f1) + $(du -k minute.prf | cut -f1) + 40" \
	"at most $most KiB were on the disk, with a limit of 1024"
tries=$(wc -l < tries)
number "$tries >= 10 && $tries <= 25" "in 70 minutes the server was asked $tries times"
is "$(grep -c 'the server does not answer' said)" "$tries" "and that it does not answer was said as often"
finish
