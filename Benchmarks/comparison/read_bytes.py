"""The bytes that a program reads from a port, by its system calls (strace)."""

import os
import re
import subprocess
import tempfile

from places import BENCH

CALL = re.compile(r"^(\d+)\s+(\w+)\((\d+)[,)]?")
RESUMED = re.compile(r"^(\d+)\s+<\.\.\. (\w+) resumed>")
RESULT = re.compile(r"= (-?\d+)")


def read_from(command, port):
    """Bytes that the command and its children read from connections to a port, including headers."""
    with tempfile.TemporaryDirectory(dir=BENCH) as folder:
        path = os.path.join(folder, "calls")
        subprocess.run(["strace", "-f", "--seccomp-bpf", "-qq", "-s", "0", "-o", path, "-e",
                        "trace=connect,recvfrom,recvmsg,read,readv,close", "-e", "signal=none", *command],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with open(path, encoding="utf-8", errors="replace") as file:
            return counted(file, port)


def counted(lines, port):
    """The same, from strace's lines: a call may be split by those of other threads."""
    begun, connected, total = {}, set(), 0
    for line in lines:
        if call := CALL.match(line):
            thread, name, descriptor = call[1], call[2], int(call[3])
            if name == "connect" and f"htons({port})" in line:
                connected.add(descriptor)
            if name == "close":
                connected.discard(descriptor)
            begun[thread] = (name, descriptor)
        elif resumed := RESUMED.match(line):
            name, descriptor = begun.get(resumed[1], ("", -1))
        else:
            continue
        result = RESULT.search(line.rsplit(")", 1)[-1])
        if result and name not in ("connect", "close") and descriptor in connected:
            total += max(0, int(result[1]))
    return total
