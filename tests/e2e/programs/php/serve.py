# SPDX-License-Identifier: GPL-2.0-or-later
# Becomes `php -S`, whose child asks it COUNT times, and then ends it: serve.py PROGRAM LIBRARY COUNT.
# Before that, the child makes the file $READY, and waits for a byte from its standard input.
import http.client, os, signal, socket, sys, time

program, library, count = sys.argv[1:]
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]


def ask(number):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", f"{library}?{number}")
    assert connection.getresponse().status == 200


def ask_all():
    for _ in range(100):
        try:
            ask(0)
            break
        except ConnectionRefusedError:
            time.sleep(0.1)
    open(os.environ["READY"], "w").close()
    os.read(0, 1)
    for number in range(int(count)):
        ask(number)


server = os.getpid()
if os.fork():
    os.dup2(os.open("/dev/null", os.O_RDWR), 2)
    php = os.environ["PHP"].split()
    os.execvp(php[0], [*php, "-d", "ffi.enable=1", "-S", f"127.0.0.1:{port}", program])
try:
    ask_all()
finally:
    os.kill(server, signal.SIGINT)
