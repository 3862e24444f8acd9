#!/bin/sh
# Files on a file system that answers the programs that use them, and never anybody else: the
# recorder goes on, ends when it is asked to, and records the other programs as always. Where it
# would not end, timeout ends it, and the check fails.
. "$(dirname "$0")/../lib.sh"
need_bpf
need_tools gcc
[ -w /dev/fuse ] || skip_all "no /dev/fuse"
cd "$work" || exit 1
need gcc -O2 "$top/tests/e2e/programs/map_code.c" -o map_code
compile_c -O1 -g -pthread -o burn "$top/tests/e2e/programs/burn.c"
python3 "$top/testdata/sparse_elf.py" honest honest.so
mkdir silent
mkfifo until

# appears FILE...: waits until one of them has something in it
appears() {
	i=0
	until [ -n "$(cat "$@" 2> /dev/null)" ] || [ $i = 100 ]; do
		sleep 0.1
		i=$((i + 1))
	done
}

# serve FOLDER FILE HOW...: mounts it there. The server ends when 9 is closed, and then answers with
# errors whoever still waits.
serve() {
	rm -f mounted why
	python3 "$top/tests/e2e/programs/silent_files.py" "$@" < until > mounted 2> why &
	server=$!
	exec 9> until
	appears mounted why
	[ -s mounted ] || skip_all "$(cat why)"
}
end_server() {
	exec 9>&-
	timeout 20 tail --pid=$server -f /dev/null
}
serve silent honest.so map_code open

./map_code "$work/silent/file" 100 &
user=$!
./burn 0 &
burn=$!
"$record" -F 199 -o running.prf -p $user,$burn 2> running.log &
recorder=$!
i=0
until grep -q 'silent/file does not answer' running.log || [ $i = 300 ]; do
	sleep 0.1
	i=$((i + 1))
done
is "$(grep -c 'silent/file does not answer' running.log)" 1 "one message names the file"
# Its thread that the file keeps cannot end.
kill -KILL "$(pgrep -P $recorder prof-opener)"
i=0
until grep -q 'another one is started' running.log || [ $i = 300 ]; do
	sleep 0.1
	i=$((i + 1))
done
is "$(grep -c 'another one is started' running.log)" 1 "the process that opens files is replaced when it is killed"
kill -INT $recorder
timeout 20 tail --pid=$recorder -f /dev/null
is $? 0 "a running program: SIGINT ends the recorder"
kill $user $burn
if ! kill -0 $recorder 2> /dev/null; then
	wait $recorder
	is $? 0 "... well"
fi
timeout -s KILL 20 "$record" -q -F 199 -o command.prf -- ./map_code "$work/silent/file" 0.3 2> command.log
is $? 0 "a command: recorded"

# prof-report looks for the file, too.
end_server
"$report" -q running.prf > running
like "$(cat running)" '^burn;.*__libc_start_main;.*work' "other programs are recorded whole"
number "$(awk '/^burn;.*__libc_start_main;/ { whole += $NF } /^burn;/ { all += $NF } END { print whole + 0, "> 0.9 *", all + 0 }' running)" \
	"... with their roots"
like "$(cat running)" '^map_code;' "samples of the program of that file are kept"
like "$("$report" -q command.prf)" '^map_code;.*\[file\]' "... also when it is the command"

# Frames that claim to return into such a file, where nobody has touched it.
if [ "$(uname -m)" = x86_64 ]; then
	need gcc -O2 "$top/tests/e2e/programs/returns_into.c" -o returns_into
	mkdir untouched
	serve untouched honest.so returns_into
	timeout -s KILL 60 "$record" -q -F 499 -o returns.prf -- ./returns_into "$work/untouched/file" 1 2> returns.log
	is $? 0 "made code that claims to return into that file: recorded"
	end_server
	number "$("$report" -q returns.prf | awk '/^returns_into;.*\[jit\]/ { n += $NF } END { print n + 0 }') > 100" \
		"... with the samples of that code"
fi

# The name of a function in such a file, of another user's program.
mkdir name
./burn 0 &
burn=$!
python3 "$top/tests/e2e/programs/silent_name.py" content "$work/name/file" > ready 2> name.why &
user=$!
appears content name.why
is "$(cat name.why)" "" "a program has a function whose name does not answer"
serve name content "$(cat /proc/$user/comm)"
appears ready name.why
timeout -s KILL 60 "$record" -F 499 -p $user,$burn -d 4 -o name.prf 2> name.log
is $? 0 "... which is recorded"
is "$(grep -c "process $user does not answer when its memory is read" name.log)" 1 "... with a message that names the process"
kill -KILL $user $burn
end_server
like "$("$report" -q name.prf)" '^burn;.*__libc_start_main;.*work' "other programs are recorded whole"
number "$("$report" -q name.prf | awk '/^python/ { n += $NF } END { print n + 0 }') > 100" "... and all samples of it are kept"

# The lock of an address space that is never free: of a program of root, and of one of another user
# that has names to be read, which keeps even a process that is killed.
need gcc -O1 -g -pthread "$top/tests/e2e/programs/keep_lock.c" -o keep_lock
mkdir lock
serve lock honest.so lock
# Without the server's end of its pipe: they cannot end before the server does.
./keep_lock "$work/lock/file" 100 9>&- &
root=$!
./burn 0 9>&- &
burn=$!
# keeps PID: waits until it keeps the lock
keeps() {
	i=0
	looks=0
	until [ $looks = 3 ] || [ $i = 100 ]; do
		sleep 0.1
		grep -q '^State:.*D' /proc/$1/task/*/status 2> /dev/null && looks=$((looks + 1)) || looks=0
		i=$((i + 1))
	done
	[ $looks = 3 ]
}
holds "a program keeps the lock of its address space" keeps $root
timeout -s KILL 60 "$record" -F 499 -a -d 2 -o lock.prf 2> lock.log
is $? 0 "... -a records"
like "$(cat lock.log)" "process $root does not answer when its memory is read" "... with a message that names it"
timeout -s KILL 60 "$record" -q -F 499 -d 2 -o lock-p.prf -p $root 2> lock-p.log
is $? 0 "... and so does -p"
timeout -s KILL 60 "$record" -q -F 499 -d 0.1 -o lock-name.prf -p burn 2> lock-name.log
is $? 0 "... and -p with a name, which is looked for in all processes"
kill -KILL $root
end_server
serve lock honest.so lock
python3 "$top/tests/e2e/programs/keep_lock.py" "$work/lock/file" 9>&- &
user=$!
holds "a program of another user keeps the lock" keeps $user
timeout -s KILL 60 "$record" -F 499 -p $user,$burn -d 4 -o lock-python.prf 2> lock-python.log
is $? 0 "... and is recorded"
like "$(cat lock-python.log)" "process $user does not answer when its memory is read" "... with a message that names it"
kill -KILL $user $burn
end_server
for trace in lock lock-python; do
	like "$("$report" -q $trace.prf)" '^burn;.*__libc_start_main;.*work' "$trace: other programs are recorded whole"
done
number "$("$report" -q lock-p.prf | awk '/^keep_lock;/ { n += $NF } END { print n + 0 }') > 100" "... and samples of it are kept"
number "$("$report" -q lock-python.prf | awk '/^python/ { n += $NF } END { print n + 0 }') > 100" "... also those of the other user's"

# A perf map whose write never ends, and keeps the file's lock from all who want it.
# endless_write NAME [COMMAND...]: of a program that the command runs
endless_write() {
	name=$1
	shift
	mkdir "$name"
	serve "$name" honest.so nobody
	./burn 0 9>&- &
	burn=$!
	rm -f map go
	"$@" python3 "$top/tests/e2e/programs/silent_write.py" "$name/file" go > map 9>&- &
	user=$!
	appears map
	"$record" -q -F 499 -p $user,$burn -o "$name.prf" 2> "$name.log" 9>&- &
	recorder=$!
	until_begun "$name.prf" $recorder
	: > go
	# Another map is written again and again, at whose times all are looked at.
	python3 - 9>&- << 'P'
import os, time
path = "/tmp/perf-%d.map" % os.getpid()
with open(path, "w", buffering=1) as file:
    for i in range(30):
        file.write("2000 10 second\n")
        time.sleep(0.1)
os.unlink(path)
P
	kill -INT $recorder
	timeout 20 tail --pid=$recorder -f /dev/null
	is $? 0 "$name: SIGINT ends the recorder"
	kill -KILL $user $burn
	end_server
	wait $user
	rm -f "$(cat map)"
	"$report" -q --comm=burn,python3 "$name.prf" > stacks
	like "$(grep ^burn stacks)" '__libc_start_main;.*work' "... and other programs are recorded whole"
	like "$(grep ^python stacks)" ';made [0-9]+$' "... and what the map had before has its name"
}
endless_write "a write that never ends"
truncate -s 400M xfs.img
mkdir xfs
if mkfs.xfs -q xfs.img > why 2>&1 && mount -o loop xfs.img xfs 2> why; then
	chmod 1777 xfs
	endless_write "a write to XFS that never ends" unshare -m sh -c \
		'mount --make-rprivate / && mount --bind "$0" /tmp && exec "$@"' "$work/xfs"
	umount xfs
else
	skip "a write to XFS that never ends" "$(tail -n 1 why)"
fi

# Such a file system that answers everybody, but has no shared mappings.
mkdir direct
serve direct burn direct
timeout -s KILL 60 "$record" -q -F 499 -o direct.prf -- direct/file 300
is $? 0 "a program that only private mappings can be made of: recorded"
like "$("$report" -q direct.prf)" '^file;.*__libc_start_main;.*work;seventy' "with whole stacks and names"
end_server
finish
