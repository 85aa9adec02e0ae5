"""Instructions that a program and its processes carry out, by valgrind: they do not move with the machine's mood.

Waiting costs nothing here, and neither does the kernel; threads take turns. valgrind knows neither AVX-512 nor SHA-NI,
so libraries take what they have for AVX2.
"""

import os
import re
import subprocess
import tempfile
import time

from places import ATTACHPREP, BENCH, MEDIA, ROOT
from process import reap_orphans

COUNTED = re.compile(r"Collected : (\d+)")
# libvips writes machine code into a file of its own (Orc), which changes behind valgrind's back unless told.
VALGRIND = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--smc-check=all",
            "--log-file={folder}/count-%p"]
# What is killed is the shell: the media process ends because its socket does, and tells its count. It is started
# without its sandbox, for valgrind needs files, and without a limit of its processor time, which valgrind needs, too.
MEDIA_SCRIPT = """#!/bin/sh
ulimit -t unlimited
LD_PRELOAD='{shim}' {valgrind} '{media}' --without-walls "$@"
exit $?
"""
# Seconds until a media process has told its count.
PATIENCE = 120


def ours(command):
    """Of attachprep and its media processes; and what it printed."""
    with tempfile.TemporaryDirectory(dir=BENCH) as folder:
        valgrind = [word.format(folder=folder) for word in VALGRIND]
        program, shim, media = (os.path.join(folder, name) for name in ("attachprep", "shim.so", "attachprep-media"))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", shim,
                        os.path.join(ROOT, "Benchmarks/comparison/under_valgrind.c")], check=True)
        # valgrind cannot read the symbols of a program in Swift.
        subprocess.run(["strip", "-o", program, ATTACHPREP], check=True)
        with open(media, "w", encoding="utf-8") as file:
            file.write(MEDIA_SCRIPT.format(shim=shim, valgrind=" ".join(valgrind), media=os.path.abspath(MEDIA)))
        os.chmod(media, 0o755)
        environment = {"ATTACHPREP_MEDIA": media, "LD_PRELOAD": shim, "XDG_STATE_HOME": folder}
        return counted([*valgrind, program, *command[1:]], folder, environment, fewest=2)


def theirs(command):
    """Of a program and all that it starts; and what it printed."""
    with tempfile.TemporaryDirectory(dir=BENCH) as folder:
        valgrind = [word.format(folder=folder) for word in VALGRIND]
        return counted([*valgrind, "--trace-children=yes", *command], folder, {}, fewest=3)


def counted(command, folder, environment, fewest):
    """`fewest` are the processes that must have told their count: the program and those that work on media."""
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment})
    if ended.returncode != 0:
        message = ended.stderr.decode(errors="replace")[-2000:]
        raise SystemExit(f"side-by-side: {command[0]} ended with {ended.returncode}\n{message}")
    paths = [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("count-")]
    # The number in the name is the process's own.
    until = time.monotonic() + PATIENCE
    while any(os.path.exists(f"/proc/{path.rsplit('-', 1)[1]}") for path in paths) and time.monotonic() < until:
        time.sleep(0.2)
        reap_orphans()
    counts = [found for found in map(count, paths) if found]
    if len(counts) < fewest:
        raise SystemExit(f"side-by-side: valgrind counted {len(counts)} processes, {fewest} were to be counted")
    return sum(counts), ended.stdout


def count(path):
    """Of one process; one that became another program before it did anything has told none."""
    with open(path, encoding="utf-8", errors="replace") as file:
        found = COUNTED.findall(file.read())
    return int(found[-1]) if found else 0
