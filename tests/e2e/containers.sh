#!/bin/sh
# Processes in namespaces, programs that only they can see, and programs that are gone.
. "$(dirname "$0")/../lib.sh"
need_bpf alone
compile_c -O1 -g -pthread -fno-sanitize=all -o "$work/burn" "$top/tests/e2e/programs/burn.c"

if unshare -mpf --propagation private true 2> /dev/null; then
	cat > "$work/inner.sh" <<'S'
mkdir "$1/in" && mount -t tmpfs none "$1/in" && cp "$1/burn" "$1/in/inside" && exec "$1/in/inside" 400 1
S
	holds "records a program that only a container sees" "$record" -q -F 999 -o "$work/inner.prf" -- \
		unshare -mpf --propagation private sh "$work/inner.sh" "$work"
	[ ! -e "$work/in/inside" ] && ok "it is not here" || not_ok "it is not here"
	folded=$("$report" "$work/inner.prf")
	like "$folded" '^inside;_start;.*main;work;seventy [0-9]' "its functions have their names after it ended"
	"$report" --dump "$work/inner.prf" > "$work/dump"
	like "$(cat "$work/dump")" 'task .*inner_pid=1 .*comm="inside"' "the number it had inside is in the trace"
else
	skip "records a program that only a container sees" "namespaces may not be made here"
fi

# Deleted while it runs, and then replaced by another program of the same name.
cp "$work/burn" "$work/gone"
holds "records a program that removes itself" "$record" -q -F 999 -o "$work/gone.prf" -- "$work/gone" 300 1 "$work/gone"
{
	i=0
	while [ $i -lt 300 ]; do
		echo "int decoy$i(int a) { return a * $i; }"
		i=$((i + 1))
	done
	echo 'int main(void) { return 0; }'
} > "$work/other.c"
compile_c -O0 -fno-sanitize=all -o "$work/gone" "$work/other.c"
folded=$("$report" "$work/gone.prf" 2> /dev/null)
like "$folded" '^gone;_start;.*main;work;seventy [0-9]' "it keeps its functions' names"
unlike "$folded" 'decoy' "and has none of the program's that has its name now"

# As Go builds them.
compile_c -O1 -g -pthread -fno-sanitize=all -Wl,--build-id=none -o "$work/nameless" "$top/tests/e2e/programs/burn.c"
unlike "$(readelf -n "$work/nameless")" 'Build ID' "a program has no build-id"
holds "and removes itself" "$record" -q -F 999 -o "$work/nameless.prf" -- "$work/nameless" 300 1 "$work/nameless"
like "$("$report" "$work/nameless.prf" 2> /dev/null)" '^nameless;_start;.*main;work;seventy [0-9]' \
	"it keeps its functions' names, too"

# 100 children of 20 ms each, whose program is removed as soon as it runs.
cat > "$work/many.sh" <<'S'
i=0
while [ $i -lt 100 ]; do
	cp "$1/burn" "$1/child$i"
	"$1/child$i" 20 1 "$1/child$i"
	i=$((i + 1))
done
S
holds "records 100 of them" "$record" -q -F 999 -o "$work/many.prf" -- sh "$work/many.sh" "$work"
"$report" "$work/many.prf" > "$work/folded" 2> /dev/null
number "$(grep -cE '^child[0-9]+;.*(seventy|twenty|ten)' "$work/folded") >= 60" "their functions have names"
is "$(grep -E '^child' "$work/folded" | grep -E ';(hold_mutex|in_sleep|sh_main|cp_main)' | head -1)" "" "and no other program's"
number "$(cut -d';' -f1 "$work/folded" | grep -E '^child' | sort -u | wc -l) >= 80" "each has its own name"
finish
