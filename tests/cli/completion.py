#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Types a line and the tab key into a shell on a terminal, and prints what became of the line.

    completion.py bash|zsh FOLDER LINE...

FOLDER holds the scripts: bash's as PROGRAM, zsh's as _PROGRAM. One line of output for each LINE.
"""
import os
import pty
import re
import select
import signal
import sys
import time

READY = "ready>"
START = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
}
SETUP = {
    "bash": "bind 'set enable-bracketed-paste off'; set +o history; for f in {0}/prof-*; do . $f; done; PS1={1}",
    "zsh": "unset zle_bracketed_paste; fpath=({0} $fpath); autoload -Uz compinit; compinit -u -D; PS1={1}",
}


class Shell:
    def __init__(self, name, folder):
        self.process, self.terminal = pty.fork()
        if not self.process:
            os.environ.update(TERM="dumb", PS1="", HOME=folder, COLUMNS="400")
            os.execvp(START[name][0], START[name])
        self.output = ""
        # The prompt that is written in the command is not yet the prompt.
        self.send(SETUP[name].format(folder, "'%s''%s'" % (READY[:3], READY[3:])) + "\r")
        self.expect(re.escape(READY))

    def send(self, text):
        os.write(self.terminal, text.encode())

    def expect(self, pattern):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            found = re.search(pattern, self.output)
            if found:
                self.output = self.output[found.end():]
                return found
            if select.select([self.terminal], [], [], 1)[0]:
                self.output += os.read(self.terminal, 65536).decode(errors="replace")
        sys.exit("the shell did not answer: %r" % self.output[-300:])


def main():
    shell = Shell(sys.argv[1], sys.argv[2])
    for line in sys.argv[3:]:
        # Then, at the line's start and end: it is printed, between marks that were not typed so.
        shell.send(line + "\t" + "\x01echo '<''<' '" + "\x05' '>''>'\r")
        print(shell.expect(r"<< (.*?) ?>>").group(1).rstrip())
    os.close(shell.terminal)
    os.kill(shell.process, signal.SIGKILL)
    os.waitpid(shell.process, 0)


main()
