# shellcheck shell=sh
# For tests of prof-ship, sourced after lib.sh, in $work: a server, and kills between any two commands.

# serve FOLDER COMMAND...: starts a server that writes the number of its port to FOLDER/port: $server, $port
serve() {
	folder=$1
	shift
	"$@" &
	server=$!
	n=0
	until [ -e "$folder/port" ] || [ $n = 600 ] || ! kill -0 $server; do
		n=$((n + 1))
		sleep 0.1
	done
	port=$(cat "$folder/port")
}

# killed_after TOOL...: makes the folder `slow`, whose tools count their calls
killed_after() {
	mkdir slow
	for tool in "$@"; do
		real=$(command -v "$tool")
		cat > "slow/$tool" <<-END
		#!/bin/sh
		"$real" "\$@"
		status=\$?
		step=\$((\$(cat "$work/step") + 1))
		echo \$step > "$work/step"
		[ \$step != \$(cat "$work/last-step") ] || kill -KILL \$(cat "$work/pid")
		exit \$status
		END
	done
	chmod +x slow/*
}

# killed STEP COMMAND...: ends it after so many calls; 1 if it ended before
killed() {
	echo 0 > step
	echo "$1" > last-step
	shift
	# shellcheck disable=SC2016
	PATH=$work/slow:$PATH sh -c 'echo $$ > pid; exec "$@"' - "$@" 2> said
	[ $? = 137 ]
}
