#!/usr/bin/env python3
"""tab.py SHELL FILE LINE...: types each line into an interactive shell that has the
completion in FILE, presses the tab key, ends the line, and prints what the command was
given then.  Lines are for a command of that name which prints its arguments."""
import os
import pty
import select
import subprocess
import sys
import time

SET_UP = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
}
LOAD = {
    "bash": "bind 'set bell-style none'; . '{file}'; cscope-mpi() {{ case $* in "
            "--list=all) command cscope-mpi \"$@\" ;; *) echo \"GIVEN<$*>\" ;; esac; }}",
    "zsh": "unsetopt zle_bracketed_paste 2>/dev/null; fpath=({folder} $fpath); "
           "autoload -U compinit; compinit -u -D; cscope-mpi() {{ case $* in "
           "--list=all) command cscope-mpi \"$@\" ;; *) echo \"GIVEN<$*>\" ;; esac }}",
}


def read_until(fd, text, seconds):
    found, end = b"", time.time() + seconds
    while text not in found and time.time() < end:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                found += os.read(fd, 65536)
            except OSError:
                break
    return found.decode(errors="replace")


def main():
    shell, file, lines = sys.argv[1], sys.argv[2], sys.argv[3:]
    master, slave = pty.openpty()
    environment = dict(os.environ, TERM="dumb", PS1="", INPUTRC="/dev/null")
    process = subprocess.Popen(SET_UP[shell], stdin=slave, stdout=slave, stderr=slave,
                               env=environment, start_new_session=True)
    os.close(slave)
    load = LOAD[shell].format(file=file, folder=os.path.dirname(file))
    os.write(master, f"{load}; echo REA''DY\n".encode())
    read_until(master, b"READY", 30)
    bad = 0
    for line in lines:
        os.write(master, line.encode() + b"\t")
        time.sleep(1)
        os.write(master, b"\n")
        said = read_until(master, b">\r\n", 20)
        at = said.rfind("GIVEN<")
        print(said[at + 6:].split(">")[0] if at >= 0 else f"nothing: {said!r}")
        bad |= at < 0
    process.kill()
    return bad


if __name__ == "__main__":
    sys.exit(main())
