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
		# Subshells of a killed command go on, where systemd kills them, too: they change nothing more.
		[ ! -e "$work/is-killed" ] || exit 1
		"$real" "\$@"
		status=\$?
		read -r step < "$work/step"
		read -r last < "$work/last-step"
		step=\$((step + 1))
		echo \$step > "$work/step"
		if [ \$last = 0 ]; then
			echo \$step \$(cd "$work" && find series taken ! -type d -printf '%p %s %T@\n' | sort | cksum) >> "$work/states"
		elif [ \$step = \$last ]; then
			: > "$work/is-killed"
			read -r pid < "$work/pid"
			kill -KILL \$pid
		fi
		exit \$status
		END
	done
	chmod +x slow/*
}

# stepped LAST COMMAND...: runs it with these tools, up to that call
stepped() {
	rm -f is-killed
	echo 0 > step
	echo "$1" > last-step
	shift
	# shellcheck disable=SC2016
	PATH=$work/slow:$PATH sh -c 'echo $$ > pid; exec "$@"' - "$@" 2> said
}

# killed STEP COMMAND...: ends it after so many calls; 1 if it ended before
killed() {
	stepped "$@"
	[ $? = 137 ]
}

# changing_steps COMMAND...: runs it to its end. Prints the numbers of those calls after which the files of the folders
# `series` and `taken` are not as after the call before: a kill after another call leaves the same work.
changing_steps() {
	: > states
	stepped 0 "$@" || return
	awk '{ step = $1; $1 = "" } $0 != before { print step } { before = $0 }' states
}
