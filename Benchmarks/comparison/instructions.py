"""Counts the instructions of a program and its processes with valgrind, independent of the machine's load.

Waiting and kernel code are not counted; threads run one at a time. valgrind supports neither AVX-512 nor SHA-NI, so
libraries use their AVX2 code.
"""

import os
import re
import subprocess
import tempfile
import time

from places import ATTACHPREP, BENCH, MEDIA, ROOT
from process import reap_orphans

COUNTED = re.compile(r"Collected : (\d+)")
# libvips generates machine code in a mapped file (Orc), whose changes valgrind does not notice without this option.
VALGRIND = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--smc-check=all",
            "--log-file={folder}/count-%p"]
# The parent kills the shell; the media process ends when its socket closes, and writes its count. It runs without its
# sandbox, because valgrind opens files, and without a limit of processor time, because valgrind is slow.
MEDIA_SCRIPT = """#!/bin/sh
ulimit -t unlimited
LD_PRELOAD='{shim}' {valgrind} '{media}' --without-walls "$@"
exit $?
"""
# Seconds to wait for the count of a media process.
PATIENCE = 120


def ours(command):
    """Instructions of attachprep and its media processes, and the output."""
    with tempfile.TemporaryDirectory(dir=BENCH) as folder:
        valgrind = [word.format(folder=folder) for word in VALGRIND]
        program, shim, media = (os.path.join(folder, name) for name in ("attachprep", "shim.so", "attachprep-media"))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", shim,
                        os.path.join(ROOT, "Benchmarks/comparison/under_valgrind.c")], check=True)
        # valgrind cannot read the symbols of Swift programs.
        subprocess.run(["strip", "-o", program, ATTACHPREP], check=True)
        with open(media, "w", encoding="utf-8") as file:
            file.write(MEDIA_SCRIPT.format(shim=shim, valgrind=" ".join(valgrind), media=os.path.abspath(MEDIA)))
        os.chmod(media, 0o755)
        environment = {"ATTACHPREP_MEDIA": media, "LD_PRELOAD": shim, "XDG_STATE_HOME": folder}
        return counted([*valgrind, program, *command[1:]], folder, environment, fewest=2)


def theirs(command):
    """Instructions of a program and its descendants, and the output."""
    with tempfile.TemporaryDirectory(dir=BENCH) as folder:
        valgrind = [word.format(folder=folder) for word in VALGRIND]
        return counted([*valgrind, "--trace-children=yes", *command], folder, {}, fewest=3)


def counted(command, folder, environment, fewest):
    """`fewest` is the minimum number of processes with a count: the program and those that process media."""
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment})
    if ended.returncode != 0:
        message = ended.stderr.decode(errors="replace")[-2000:]
        raise SystemExit(f"side-by-side: {command[0]} ended with {ended.returncode}\n{message}")
    paths = [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("count-")]
    # The number in the name is the process id.
    until = time.monotonic() + PATIENCE
    while any(os.path.exists(f"/proc/{path.rsplit('-', 1)[1]}") for path in paths) and time.monotonic() < until:
        time.sleep(0.2)
        reap_orphans()
    counts = [found for found in map(count, paths) if found]
    if len(counts) < fewest:
        raise SystemExit(f"side-by-side: valgrind counted {len(counts)} processes, {fewest} were to be counted")
    return sum(counts), ended.stdout


def count(path):
    """The count of one process; None if it executed another program immediately."""
    with open(path, encoding="utf-8", errors="replace") as file:
        found = COUNTED.findall(file.read())
    return int(found[-1]) if found else 0
