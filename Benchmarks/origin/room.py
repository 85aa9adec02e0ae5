"""A loopback and a resolver of our own: the program starts once more inside namespaces of its own.

There the machine's name servers are ours, at their own port, and nobody else's packets are on the way. Where the
system does not allow that, names are told to the worker beforehand (--resolve), and looking them up costs nothing.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys

MARK = "ATTACHPREP_BENCH_ROOM"
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount", "--net"]
SIOCSIFFLAGS, IFF_UP, IFF_LOOPBACK, IFF_RUNNING = 0x8914, 0x1, 0x8, 0x40


def is_inside():
    return MARK in os.environ


def enter(folder):
    """Starts the program once more from its beginning, inside, where the system allows it; keeps a file in a folder."""
    if is_inside():
        furnish(folder)
    elif is_allowed():
        os.execvpe("unshare", [*UNSHARE, sys.executable, *sys.argv], dict(os.environ, **{MARK: "1"}))


def is_allowed():
    try:
        return subprocess.run([*UNSHARE, "true"], capture_output=True).returncode == 0
    except OSError:
        return False


def furnish(folder):
    """Brings loopback up and makes 127.0.0.1 the name server."""
    request = struct.pack("16sH14x", b"lo", IFF_UP | IFF_LOOPBACK | IFF_RUNNING)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, request)
    path = os.path.join(folder, "resolv.conf")
    with open(path, "w", encoding="ascii") as file:
        file.write("nameserver 127.0.0.1\n")
    subprocess.run(["mount", "--bind", path, os.path.realpath("/etc/resolv.conf")], check=True)
