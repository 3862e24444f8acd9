#!/bin/sh
# What cannot be recorded is refused in one line, with status 1 or 2, and leaves no file.
. "$(dirname "$0")/../lib.sh"
need_bpf
cd "$work" || exit 1

# refuse STATUS REGEX ARGUMENTS...
refuse() {
	expected=$1 regex=$2
	shift 2
	said=$("$record" "$@" 2>&1 < /dev/null)
	status=$?
	name=$(printf '%s ' "$@" | cut -c1-60)
	is "$status" "$expected" "status of: $name"
	like "$said" "$regex" "message of: $name"
	is "$(printf '%s\n' "$said" | grep -vc warning:)" 1 "one line for: $name"
	[ ! -e trace.prf ] && [ ! -e x.prf ] || { not_ok "no file after: $name"; rm -f trace.prf x.prf; }
}

refuse 2 'nothing to record; give -p PID' -F 99
refuse 2 'unknown option --frob' --frob -a
refuse 2 '-F 0: .*1 or more' -F 0 -a
refuse 2 "no process is called 'no such name' now" -p '1,no such name'
refuse 2 'expected .*numbers' -t 1,x
refuse 2 'expected .*numbers' -p 1,
refuse 2 'only one of' -a -p 1
refuse 2 'only one of' -a -G / -- true
refuse 2 'only one of -F and -c' -F 99 -c 1000 -a
refuse 2 'only one of -F and -c' -c 1000 -F 99 -a
refuse 1 'none of the CPUs 4095 is online' -C 4095
refuse 127 'cannot run 1234 .*a process is given as -p 1234' 1234
refuse 1 'no process 2147483646' -p 2147483646
refuse 1 'Is a directory' -a -o "$work"
refuse 1 'cannot write /nonexistent/x: .*does not exist' -a -o /nonexistent/x
refuse 127 'cannot run /nonexistent/command: No such file' -- /nonexistent/command
refuse 126 'cannot run /dev/null: ' -o x.prf -- /dev/null
is "$(: | "$record" -a -F 1 -d 0.1 -o "$work/y.prf" 2>&1 | grep -vc warning:)" 1 "a good one says one line"

sleep 0.01 &
pid=$!
wait $pid
refuse 1 "no process $pid" -p $pid

# A thread is not a process.
if command -v python3 > /dev/null; then
	python3 -c 'import threading,time
t = threading.Thread(target=time.sleep, args=(60,)); t.daemon = True; t.start()
print(t.native_id, flush=True); time.sleep(60)' > thread &
	pid=$!
	n=0
	until [ -s thread ] || [ $n -ge 300 ]; do n=$((n + 1)); sleep 0.1; done
	refuse 1 "is a thread of process $pid; give -p $pid" -p "$(cat thread)"
	kill $pid
fi

said=$("$record" -F 99999999 -a -d 0.1 -o y.prf 2>&1)
case $? in
0) like "$said" 'more than the kernel allows' "a rate above the limit is reported, and cut" ;;
*) like "$said" '1 or more|kernel allows' "a rate above the limit is refused" ;;
esac

if command -v setpriv > /dev/null; then
	chmod 755 "$work"
	cp "$record" recorder
	said=$(setpriv --reuid=65534 --regid=65534 --clear-groups ./recorder -o "$work-refused.prf" -a 2>&1)
	is $? 1 "no privileges: status 1"
	like "$said" 'missing cap_bpf,cap_perfmon; run as root' "no privileges: names what is missing"
	like "$said" "once: sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog\\+ep $work/recorder\$" \
		"no privileges: a line to paste"
	holds "no privileges: no file" [ ! -e "$work-refused.prf" ]
else
	skip "no privileges" "there is no setpriv"
fi

# Names in messages are escaped, whatever they are of: no byte in them is for a terminal.
hostile=$(printf '\033[31m\302\2331m\342\200\256\377')
inert() { LC_ALL=C tr -d '\n\t -~' < "$1" | od -An -tx1; }
mkdir "folder$hostile"
cp "$(command -v uname)" "folder$hostile/program$hostile"
"$record" -v -o "folder$hostile/t.prf" -- "./folder$hostile/program$hostile" > said 2>&1
is "$?:$(inert said)" 0: "-v writes hostile paths in plain letters"
like "$(cat said)" 'bytes in folder\\x1b\[31m\\xc2\\x9b1m\\xe2\\x80\\xae\\xff/t.prf' "... which show the bytes"
for arguments in "-o none$hostile/t.prf -- true" "-o t.prf -- ./none$hostile" "-o t.prf -e none$hostile -- true" "-o t.prf -G none$hostile"; do
	# shellcheck disable=SC2086
	"$record" $arguments > said 2>&1
	like "$?:$(inert said)$(cat said)" '^(1|2|127):prof-record: .*none\\x1b\[31m\\xc2' "so does what is refused: ${arguments%%"$hostile"*}"
done
finish
