"""Linux namespaces with a separate loopback interface and name server; the program starts again inside them.

Inside, no other process sends packets, and the benchmark's name server listens on port 53. Where the system does not
allow namespaces, the worker gets the addresses with --resolve, and name lookups take no time.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys

MARK = "ATTACHPREP_BENCH_NAMESPACE"
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount", "--net"]
SIOCSIFFLAGS, IFF_UP, IFF_LOOPBACK, IFF_RUNNING = 0x8914, 0x1, 0x8, 0x40


def is_inside():
    return MARK in os.environ


def enter(folder):
    """Starts the program again inside the namespaces if the system allows it; inside, prepares them.

    The folder gets the file that replaces /etc/resolv.conf.
    """
    if is_inside():
        prepare(folder)
    elif is_allowed():
        os.execvpe("unshare", [*UNSHARE, sys.executable, *sys.argv], dict(os.environ, **{MARK: "1"}))


def is_allowed():
    try:
        return subprocess.run([*UNSHARE, "true"], capture_output=True).returncode == 0
    except OSError:
        return False


def prepare(folder):
    """Enables loopback and sets 127.0.0.1 as the name server."""
    request = struct.pack("16sH14x", b"lo", IFF_UP | IFF_LOOPBACK | IFF_RUNNING)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, request)
    path = os.path.join(folder, "resolv.conf")
    with open(path, "w", encoding="ascii") as file:
        file.write("nameserver 127.0.0.1\n")
    subprocess.run(["mount", "--bind", path, os.path.realpath("/etc/resolv.conf")], check=True)
