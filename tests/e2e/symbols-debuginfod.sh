#!/bin/sh
# debuginfod only when asked for; without being asked, nothing opens a socket.
. "$(dirname "$0")/../lib.sh"

symbolize=$build/testdata/symbolize
need_tools gcc
cd "$work" || exit 1
mkdir served
cat > program.c <<'END'
volatile int sink;
static __attribute__((noinline)) void hidden(int x) { sink = x; }
int main(int argc, char **argv) { hidden(argc); return 0; }
END
need gcc -g -O2 program.c -Wl,--build-id=sha1 -o program
address=$(nm program | sed -n 's/ t hidden$//p')
objcopy --only-keep-debug program served/program.debug
strip program
# Leaks cannot be looked for under strace.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
export HOME="$work" DEBUGINFOD_CACHE_PATH="$work/cache"

need "$build/testdata/make_trace" -n 200 --object "$work/program" -o trace.prf
if command -v strace >/dev/null 2>&1 && strace -o /dev/null true 2>/dev/null; then
	holds "a report without debuginfod" env DEBUGINFOD_URLS=http://127.0.0.1:1/ strace -f -e trace=socket,connect -o calls "$report" trace.prf
	is "$(grep -cE '^[0-9]+ +(socket|connect)\(' calls)" 0 "no socket unless asked"
	holds "one with it" env DEBUGINFOD_URLS= strace -f -e trace=socket,connect -o calls "$report" --debuginfod trace.prf
	is "$(grep -cE '^[0-9]+ +(socket|connect)\(' calls)" 0 "nor without a server to ask"
else
	skip "no socket unless asked" "strace is not here or may not trace"
fi

# serve FILE: answers with it whatever debug file is asked for; $url, $server
serve() {
	rm -f port
	python3 - "$1" > port 2> asked << 'END' &
import http.server, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(sys.argv[1], "rb") as file:
            body = file.read()
        self.send_response(200 if self.path.endswith("/debuginfo") else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
END
	server=$!
	n=0
	until [ -s port ] || [ $n = 300 ]; do
		n=$((n + 1))
		sleep 0.1
	done
	url=http://127.0.0.1:$(cat port)/
}

# A server, or who is between it and us, may answer with any file.
if python3 -c 'import ctypes; ctypes.CDLL("libdebuginfod.so.1")' 2> /dev/null; then
	need gcc -g -O2 program.c -Wl,--build-id=0x1234567812345678123456781234567812345678 -o other
	for file in served/program.debug other; do
		serve $file
		rm -rf cache
		echo "$address" | DEBUGINFOD_URLS=$url "$symbolize" -D program > "named-$(basename $file)" 2> /dev/null
		kill $server
		wait $server 2> /dev/null
		like "$(cat asked)" '/debuginfo' "$file: the server was asked"
	done
	is "$(head -n 1 named-program.debug)" hidden "a file with the right build-id is believed"
	unlike "$(cat named-other)" hidden "one with another build-id is not"
else
	skip "a server with other files" "python3 or libdebuginfod.so.1 is not here"
fi

command -v debuginfod >/dev/null 2>&1 || { skip "names from a server" "debuginfod is not here"; finish; }
port=$((20000 + $$ % 20000))
debuginfod -F -d "$work/index" -p "$port" -t 600 "$work/served" >log 2>&1 &
server=$!
i=0
while [ $i -lt 300 ] && ! grep -q 'started http' log; do
	sleep 0.1
	i=$((i + 1))
	kill -0 $server 2>/dev/null || break
done
# The server answers before it has looked at its files.
i=0
got=
while [ $i -lt 100 ]; do
	rm -rf cache
	got=$(echo "$address" | DEBUGINFOD_URLS="http://127.0.0.1:$port/" "$symbolize" -D program 2>err | head -n 1)
	[ "$got" != hidden ] || break
	sleep 0.3
	i=$((i + 1))
	kill -0 $server 2>/dev/null || break
done
if kill -0 $server 2>/dev/null; then
	is "$got" hidden "names from a server"
	unlike "$(echo "$address" | DEBUGINFOD_URLS="http://127.0.0.1:$port/" "$symbolize" program 2>err)" hidden "not asked"
	# On a machine that has not even the program.
	names='main|hidden|_start|tm_clones|frame_dummy|do_global_dtors'
	mv program served/program
	unlike "$("$report" -q trace.prf)" "$names" "without the program"
	i=0
	while [ $i -lt 100 ]; do
		rm -rf cache
		got=$(DEBUGINFOD_URLS="http://127.0.0.1:$port/" "$report" -q --debuginfod trace.prf)
		printf '%s' "$got" | grep -qE "$names" && break
		kill -USR1 $server 2>/dev/null # look at the files again
		sleep 0.3
		i=$((i + 1))
	done
	like "$got" "$names" "the program from a server"
else
	skip "names from a server" "debuginfod does not run here: $(tail -n 1 log)"
fi
kill $server 2>/dev/null
wait $server 2>/dev/null
finish
