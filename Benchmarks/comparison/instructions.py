"""Instructions that a program and its processes carry out, by valgrind: they do not move with the machine's mood.

Waiting costs nothing here, and neither does the kernel; threads take turns. valgrind knows neither AVX-512 nor SHA-NI,
so libraries take what they have for AVX2.
"""

import os
import re
import subprocess
import tempfile

from places import ATTACHPREP, BENCH, MEDIA

COUNTED = re.compile(r"Collected : (\d+)")
VALGRIND = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-file={folder}/count-%p"]
# The media process locks itself in, and valgrind needs files meanwhile: it is started without its sandbox.
MEDIA_SCRIPT = "#!/bin/sh\nexec {valgrind} '{media}' --without-walls \"$@\"\n"


def ours(command):
    """Of attachprep and its media processes; and what it printed."""
    with tempfile.TemporaryDirectory(dir=BENCH) as folder:
        valgrind = [word.format(folder=folder) for word in VALGRIND]
        script = os.path.join(folder, "attachprep-media")
        with open(script, "w", encoding="utf-8") as file:
            file.write(MEDIA_SCRIPT.format(valgrind=" ".join(valgrind), media=MEDIA))
        os.chmod(script, 0o755)
        return counted([*valgrind, ATTACHPREP, *command[1:]], folder, {"ATTACHPREP_MEDIA": script})


def theirs(command):
    """Of a program and all that it starts; and what it printed."""
    with tempfile.TemporaryDirectory(dir=BENCH) as folder:
        valgrind = [word.format(folder=folder) for word in VALGRIND]
        return counted([*valgrind, "--trace-children=yes", *command], folder, {})


def counted(command, folder, environment):
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment})
    if ended.returncode != 0:
        message = ended.stderr.decode(errors="replace")[-2000:]
        raise SystemExit(f"side-by-side: {command[0]} ended with {ended.returncode}\n{message}")
    total = 0
    for name in os.listdir(folder):
        if name.startswith("count-"):
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                counts = COUNTED.findall(file.read())
            # A process that was killed has said nothing.
            if not counts:
                raise SystemExit(f"side-by-side: valgrind did not count process {name.removeprefix('count-')}")
            total += int(counts[-1])
    return total, ended.stdout
