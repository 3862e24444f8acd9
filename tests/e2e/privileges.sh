#!/bin/sh
# What the recorder needs, what it gives up, and what it refuses to write.
. "$(dirname "$0")/../lib.sh"
need_bpf
compile_c -O1 -g -pthread -o "$work/burn" "$top/tests/e2e/programs/burn.c"

# runs PID: waits until it has had 200 ms of CPU time from now on, of which there are samples
runs() {
	used=$(awk '{ print $14 + $15 }' "/proc/$1/stat")
	i=0
	until [ "$(awk '{ print $14 + $15 }' "/proc/$1/stat")" -ge $((used + 20)) ] || [ $i = 300 ]; do
		sleep 0.1
		i=$((i + 1))
	done
}
"$work/burn" 0 &
burn=$!
"$record" -q -F 99 -o "$work/long.prf" -p $burn 2> "$work/err" &
recorder=$!
has() { capsh --decode="$(awk '/^CapEff/ { print $2 }' /proc/$recorder/status)"; }
i=0
until { [ -s "$work/long.prf" ] && grep -q '^NoNewPrivs:.*1' /proc/$recorder/status; } || [ $i = 300 ]; do
	sleep 0.1
	i=$((i + 1))
done
if command -v capsh > /dev/null; then
	like "$(has)" 'cap_bpf' "cap_bpf is kept"
	unlike "$(has)" 'cap_sys_admin|cap_sys_module|cap_net_admin|cap_setuid|cap_sys_chroot' "what is not needed is given up"
else
	skip "capabilities" "no capsh"
fi
like "$(cat /proc/$recorder/status)" 'NoNewPrivs:.*1' "and nothing can be got back"
# Capabilities belong to threads. Each line: those that one has in any way, and no_new_privs.
threads() {
	for task in "$1"/task/*; do
		awk '/^Cap(Inh|Prm|Eff|Amb)/ { printf "%s ", $2 } /^NoNewPrivs/ { print $2 }' "$task/status"
	done | sort
}
# thread_sets PID SET...: waits until its threads have these, each in Prm and Eff only.
thread_sets() {
	pid=$1
	shift
	expected=$(for set; do echo "0000000000000000 $set $set 0000000000000000 1"; done)
	i=0
	until [ "$(threads /proc/$pid)" = "$expected" ] || [ $i = 100 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	[ $i -lt 100 ] || { echo "$expected"; echo; threads /proc/$pid; return 1; }
}
holds "each thread holds what the manual lists, and no more" thread_sets $recorder \
	0000000000000000 0000000000000004 0000008000000000 000001c400080024
opener=$(pgrep -P $recorder prof-opener)
is "$(threads /proc/$opener | sort -u)" "0000000000000000 0000010000080004 0000010000080004 0000000000000000 1" \
	"the process that opens files holds what that takes"
kill -KILL $opener
killed=$opener
i=0
until { opener=$(pgrep -P $recorder prof-opener | grep -vx $killed) &&
	[ "$(threads /proc/$opener | sort -u)" = "0000000000000000 0000010000080004 0000010000080004 0000000000000000 1" ]; } ||
	[ $i = 300 ]; do
	sleep 0.1
	i=$((i + 1))
done
is "$(threads /proc/$opener | sort -u)" "0000000000000000 0000010000080004 0000010000080004 0000000000000000 1" \
	"... and another one, after that was killed"
is "$(threads /proc/$(pgrep -P $recorder prof-reader))" "0000000000000000 0000000000080000 0000000000080000 0000000000000000 1" \
	"the process that reads the memory of others holds what that takes"
is "$(stat -c %a "$work/long.prf")" 600 "the trace can be read by its owner only"
runs $burn
kill -INT $recorder
wait $recorder
is $? 0 "it ends well without them"
kill $burn
like "$("$report" "$work/long.prf")" '^burn;.*work' "and has recorded"
"$record" -q -a -F 99 -o "$work/all.prf" 2> "$work/err" &
recorder=$!
until_begun "$work/all.prf" $recorder
holds "and so it is with -a" thread_sets $recorder \
	0000000000000000 0000000000000004 0000008000000000 000001c400080024
kill -INT $recorder
wait $recorder
mkdir "$work/series"
"$record" -q -a -F 99 --embed --switch-output=1s -o "$work/series/all.prf" 2> "$work/err" &
recorder=$!
holds "for a series the thread that makes its files keeps what that takes" thread_sets $recorder \
	0000000000000000 0000000000000004 0000008000000000 000001c40008002f
kill -INT $recorder
wait $recorder

# In containers of old, cap_sys_admin stands for what was split from it; no more is kept then either.
if command -v capsh > /dev/null; then
	"$work/burn" 0 &
	burn=$!
	capsh --drop=cap_bpf,cap_perfmon -- -c "exec '$record' -q -F 99 -o '$work/admin.prf' -p $burn" 2> "$work/err" &
	recorder=$!
	until_begun "$work/admin.prf" $recorder
	holds "with cap_sys_admin only that is kept instead" thread_sets $recorder \
		0000000000000000 0000000000000004 0000000000200000 0000010400280024
	runs $burn
	kill -INT $recorder
	wait $recorder
	kill $burn
	like "$("$report" "$work/admin.prf")" '^burn;.*_start;.*work' "and unwinds"
fi

# Where the kernel hides its addresses from the recorder, the trace does not have them either.
if ! command -v capsh > /dev/null; then
	skip "hidden addresses" "no capsh"
elif capsh --drop=cap_syslog -- -c 'grep -qv ^0000000000000000 /proc/kallsyms'; then
	skip "hidden addresses" "the kernel shows them to everyone here"
else
	capsh --drop=cap_syslog -- -c "exec '$record' -F 999 -o '$work/hidden.prf' -- dd if=/dev/zero of=/dev/null bs=1 count=300000" \
		> "$work/err" 2>&1
	like "$(cat "$work/err")" 'hides its symbols' "hidden addresses are reported"
	"$report" --no-pager --dump "$work/hidden.prf" > "$work/hidden.txt"
	like "$(cat "$work/hidden.txt")" '\[kernel\]' "the kernel's frames are in the trace"
	unlike "$(cat "$work/hidden.txt")" 'ffff[0-9a-f]{12}' "and its addresses are not"
	unlike "$(cat "$work/hidden.txt")" 'vfs_|ksys_|do_syscall' "nor names, which a BPF program could ask for"
fi

# A process that cannot be read though the capability is there: no claim that it is missing.
if command -v unshare > /dev/null && command -v capsh > /dev/null; then
	"$work/burn" 0 &
	burn=$!
	touch "$work/maps"
	chown 54321 "$work/maps"
	chmod 000 "$work/maps"
	unshare -m sh -c "mount --bind '$work/maps' /proc/$burn/maps &&
		exec capsh --drop=cap_dac_override,cap_dac_read_search -- -c 'cd /; exec \"$record\" -q -o - -p $burn'" \
		> "$work/none.prf" 2> "$work/err"
	is $? 1 "a process that cannot be read"
	like "$(cat "$work/err")" "cannot read /proc/$burn/maps: Permission denied\$" "is not explained by a capability that is there"
	unshare -m sh -c "mount --bind '$work/maps' /proc/$burn/maps &&
		exec capsh --drop=cap_dac_override,cap_dac_read_search,cap_sys_ptrace -- -c 'cd /; exec \"$record\" -q -o - -p $burn'" \
		> "$work/none.prf" 2> "$work/err"
	like "$(cat "$work/err")" 'missing cap_sys_ptrace' "only by one that is not"
	kill $burn
else
	skip "a process that cannot be read" "no unshare or capsh"
fi

# The command has all that root has.
command -v capsh > /dev/null &&
	is "$("$record" -q -o "$work/t.prf" -- sh -c 'grep CapEff /proc/self/status')" "$(grep CapEff /proc/self/status)" "the command keeps them"

# Under sudo the trace belongs to who called it, and others' files are not written.
SUDO_UID=12345 SUDO_GID=12345 "$record" -q -o "$work/sudo.prf" -- true
is "$(stat -c %u:%g "$work/sudo.prf")" 12345:12345 "under sudo it belongs to the user"
mkdir "$work/home"
chown 12345:12345 "$work/home"
SUDO_UID=12345 SUDO_GID=12345 "$record" -q -o "$work/home/t.prf" -- "$work/no-such-program" 2> "$work/err"
is $? 127 "a command that is not there"
[ -e "$work/home/t.prf" ] && not_ok "leaves no trace in the user's folder" || ok "leaves no trace in the user's folder"
SUDO_UID=12345 SUDO_GID=12345 "$record" -q --embed -o "$work/home/t.prf" -- true 2> "$work/err"
is $? 0 "names can be embedded there"
is "$(ls "$work/home")" t.prf "and nothing else is left"
is "$(stat -c %u:%g "$work/home/t.prf")" 12345:12345 "and the trace is the user's"

# --user: the command is that user's, with the user's groups and none of root's, and is recorded all the same.
nobody=$(id -u nobody 2> /dev/null)
ours=$(id -g nobody 2> /dev/null)
if [ "$nobody" ] && command -v setpriv > /dev/null && command -v unshare > /dev/null; then
	{ cat /etc/group; echo prof-test:x:54321:nobody; } > "$work/group"
	chmod 755 "$work"
	mkdir "$work/theirs-too"
	chown nobody "$work/theirs-too"
	cat > "$work/who" <<-'SH'
	cd "$1" || exit
	{ id -u; id -G; echo "$USER $LOGNAME $HOME"; awk '/^Cap(Inh|Prm|Eff|Amb)/ { print $2 }' /proc/self/status; } > who
	"$2" 300
	exit 3
	SH
	SUDO_UID=$nobody SUDO_GID=$ours setpriv --groups 0,4 unshare -m sh -c "mount --bind '$work/group' /etc/group &&
		exec '$record' -q -F 999 --user -o '$work/user.prf' -- sh '$work/who' '$work/theirs-too' '$work/burn'" 2> "$work/err"
	is "$? $(cat "$work/err")" "3 " "--user runs the command as who called sudo"
	is "$(head -n 1 "$work/theirs-too/who"), $(sed -n 2p "$work/theirs-too/who" | tr ' ' '\n' | sort -n | xargs)" \
		"$nobody, $(printf '%s\n' "$ours" 54321 | sort -n | xargs)" "with the user's groups, and none of root's"
	is "$(sed -n 3p "$work/theirs-too/who")" "nobody nobody $(awk -F: '$1 == "nobody" { print $6 }' /etc/passwd)" "and its environment"
	is "$(sed -n '4,$p' "$work/theirs-too/who" | sort -u)" 0000000000000000 "and no capabilities"
	is "$(stat -c %u "$work/theirs-too/who")" "$nobody" "what it writes is the user's"
	like "$("$report" -q "$work/user.prf")" '^burn;.*seventy [0-9]' "and it is recorded"
	for ids in "$nobody:0" "4294967294:$ours" "x:$ours" ":"; do
		SUDO_UID=${ids%:*} SUDO_GID=${ids#*:} "$record" --user -o "$work/no.prf" -- touch "$work/ran" 2> "$work/err"
		is "$?" 1 "--user with SUDO_UID:SUDO_GID $ids is refused"
		[ ! -e "$work/ran" ] || { not_ok "and nothing was run"; rm "$work/ran"; }
		like "$(cat "$work/err")" '--user: (SUDO_|nobody called sudo)' "and it says why"
	done
	"$record" --user -o "$work/no.prf" -a -d 1 2> "$work/err"
	is "$? $(cat "$work/err")" "2 prof-record: --user needs a command" "--user without a command"
else
	skip "--user" "no user nobody, setpriv or unshare"
fi
echo precious > "$work/other"
chown 54321 "$work/other"
SUDO_UID=12345 SUDO_GID=12345 "$record" -q -o "$work/other" -- true 2> "$work/err"
is $? 1 "another user's file is refused"
like "$(cat "$work/err")" 'another user' "and it says why"
is "$(cat "$work/other")" precious "and left as it was"
takes_libraries() { readelf -d "$record" 2> /dev/null | grep -q NEEDED; }
# The path becomes a link to it between the open and the change of owner.
cat > "$work/swap.c" << 'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

int fchown(int fd, uid_t uid, gid_t gid)
{
	int (*real)(int, uid_t, gid_t);

	*(void **)&real = dlsym(RTLD_NEXT, "fchown");
	unlink(getenv("SWAP"));
	if (!symlink(getenv("SWAP_TO"), getenv("SWAP")))
		write(STDERR_FILENO, "swapped", 7);
	return real(fd, uid, gid);
}
END
if [ -n "${SAN:-}" ] || ! takes_libraries || ! ${CC:-cc} -shared -fPIC "$work/swap.c" -o "$work/swap.so" 2> /dev/null; then
	skip "a path that is swapped for a link" "no library can be preloaded, or compiled"
else
	said=$(SWAP="$work/swapped.prf" SWAP_TO="$work/other" LD_PRELOAD="$work/swap.so" SUDO_UID=12345 SUDO_GID=12345 \
		"$record" -q -o "$work/swapped.prf" -- true 2>&1)
	like "$said" swapped "the path is swapped for a link to it before the owner is given"
	is "$(stat -c %u "$work/other"):$(cat "$work/other")" 54321:precious "... which changes no other file"
fi
ln -s "$work/other" "$work/link"
"$record" -q -o "$work/link" -- true 2> "$work/err"
is $? 1 "a symbolic link is refused"
like "$(cat "$work/err")" 'symbolic link' "and it says why"

# A normal user.
command -v setpriv > /dev/null || skip_all "no setpriv"
chmod 755 "$work"
mkdir -m 777 "$work/theirs"
cp "$record" "$work/prof-record"
as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
as_user "$work/prof-record" -q -o "$work/theirs/t.prf" -- true 2> "$work/err"
is $? 1 "without capabilities a user cannot record"
like "$(cat "$work/err")" 'cap_bpf.*cap_perfmon' "the message names those that are missing"
[ -e "$work/theirs/t.prf" ] && not_ok "and there is no file" || ok "and there is no file"
if [ -n "${SAN:-}" ]; then
	skip "with file capabilities" "the sanitizers' leak check cannot run with them"
elif setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog+ep "$work/prof-record" 2> /dev/null &&
	as_user "$work/prof-record" --version > /dev/null 2>&1 &&
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 2 ]; then
	as_user "$work/prof-record" -q -o "$work/theirs/t.prf" -- true 2> "$work/err"
	is $? 1 "with file capabilities a user cannot where perf events are root's alone"
	like "$(cat "$work/err")" 'run as root, or set kernel.perf_event_paranoid, which is [0-9]+, to 2$' \
		"the message names the setting"
elif getcap "$work/prof-record" 2> /dev/null | grep -q cap_bpf &&
	as_user "$work/prof-record" --version > /dev/null 2>&1; then
	# What the environment says of sudo means nothing to a recorder that is not root's.
	as_user env SUDO_UID=0 SUDO_GID=0 "$work/prof-record" -q --user -F 999 -o "$work/theirs/t.prf" -- "$work/burn" 500 2> "$work/err"
	is "$? $(cat "$work/err")" "0 " "with file capabilities a user can"
	like "$("$report" "$work/theirs/t.prf")" '^burn;_start;.*work;seventy' "with whole stacks"
	is "$(stat -c %u "$work/theirs/t.prf")" 65534 "into a file of their own"
	is "$(as_user "$work/prof-record" -q -o "$work/theirs/t.prf" -- sh -c 'grep CapEff /proc/self/status')" \
		"$(as_user grep CapEff /proc/self/status)" "the command does not get them"
	# Nor does code that the user names in the environment.
	if takes_libraries && echo '__attribute__((constructor)) static void ran(void) { creat(getenv("RAN"), 0644); }' |
		${CC:-cc} -shared -fPIC -include fcntl.h -include stdlib.h -x c - -o "$work/theirs/libelf.so.1" 2> /dev/null; then
		chmod 755 "$work/theirs/libelf.so.1"
		cp "$record" "$work/theirs/plain"
		as_user env RAN="$work/theirs/plainly" LD_PRELOAD="$work/theirs/libelf.so.1" "$work/theirs/plain" --version > /dev/null 2>&1
		holds "a library of the user runs in a recorder without capabilities" [ -e "$work/theirs/plainly" ]
		for variable in LD_PRELOAD="$work/theirs/libelf.so.1" LD_AUDIT="$work/theirs/libelf.so.1" LD_LIBRARY_PATH="$work/theirs"; do
			as_user env RAN="$work/theirs/ran" "$variable" "$work/prof-record" --version > /dev/null 2>&1
			is "$?:$(cd "$work/theirs" && echo ran*)" "0:ran*" "${variable%%=*} brings none into one that has them"
		done
	else
		skip "code from the environment" "no library can be preloaded, or compiled"
	fi
else
	skip "with file capabilities" "they cannot be given or used here"
fi
finish
