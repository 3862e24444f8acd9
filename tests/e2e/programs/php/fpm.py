# SPDX-License-Identifier: GPL-2.0-or-later
# Becomes php-fpm ($FPM), whose child asks it COUNT times by FastCGI, and then ends it: fpm.py PROGRAM LIBRARY
# COUNT. Before that, the child makes the file $READY, and waits for a byte from its standard input; there is no
# worker until then.
import os, signal, socket, struct, sys, time

program, library, count = sys.argv[1:]
folder = os.path.dirname(os.environ["READY"])
settings, place = os.path.join(folder, "fpm.conf"), os.path.join(folder, "fpm.socket")
BEGIN, END, PARAMETERS, INPUT, OUTPUT = 1, 3, 4, 5, 6
with open(settings, "w") as f:
    f.write(f"[global]\nerror_log = {folder}/fpm.log\n[pool]\nlisten = {place}\nuser = root\ngroup = root\n"
            "pm = ondemand\npm.max_children = 1\n")


def record(kind, content=b""):
    return struct.pack(">BBHHxx", 1, kind, 1, len(content)) + content


def receive(connection, size):
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        assert more
        data += more
    return data


def ask(number):
    values = {"REQUEST_METHOD": "GET", "SCRIPT_FILENAME": program, "SCRIPT_NAME": library, "QUERY_STRING": str(number)}
    pairs = b"".join(struct.pack(">BB", len(k), len(v)) + (k + v).encode() for k, v in values.items())
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(place)
        connection.sendall(record(BEGIN, struct.pack(">Hxxxxxx", 1)) + record(PARAMETERS, pairs)
                           + record(PARAMETERS) + record(INPUT))
        kind = 0
        while kind != END:
            _, kind, _, size, padding = struct.unpack(">BBHHBx", receive(connection, 8))
            content = receive(connection, size + padding)[:size]
            assert kind != OUTPUT or not content.startswith(b"Status:"), content


def ask_all():
    while not os.path.exists(place):
        time.sleep(0.1)
    open(os.environ["READY"], "w").close()
    os.read(0, 1)
    for number in range(int(count)):
        ask(number)


server = os.getpid()
if os.fork():
    os.dup2(os.open("/dev/null", os.O_RDWR), 2)
    fpm = os.environ["FPM"].split()
    os.execvp(fpm[0], [*fpm, "-F", "-R", "-n", "-y", settings, "-d", "extension=ffi", "-d", "ffi.enable=1"])
try:
    ask_all()
finally:
    os.kill(server, signal.SIGTERM)
