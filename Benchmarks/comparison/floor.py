"""The floor: a C program with the least work for each file."""

import contextlib
import json
import os
import subprocess
import tempfile

from places import BENCH, FLOOR, ROOT


def build():
    subprocess.run(["make", "-s", "-C", os.path.join(ROOT, "Benchmarks/floor")], check=True)


def batch(files, folder=None):
    """Kind, file, CPU and wall seconds of each file, in order.

    `attachment` and `thumbnail` of the last file stay in the folder.
    """
    with temporary(folder) as folder:
        path = os.path.join(folder, "list")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{each.kind} {each.path}\n" for each in files)
        return rows(["batch", path, folder])


def frame(file, seconds, rounds, folder=None):
    """Decodes the exact frame of a movie `count` times in one process; `thumbnail` stays in the folder."""
    with temporary(folder) as folder:
        return rows(["frame", file.path, seconds, os.path.join(folder, "thumbnail"), rounds])


def movie(file, seconds, rounds):
    """Decodes the same frame and validates the movie, repeatedly in one process."""
    with temporary() as folder:
        return rows(["movie", file.path, seconds, os.path.join(folder, "thumbnail"), rounds])


def remux(file, rounds):
    """Copies the streams into an MP4 with its index at the front, repeatedly in one process."""
    with temporary() as folder:
        return rows(["remux", file.path, os.path.join(folder, "out.mp4"), rounds])


def temporary(folder=None):
    return contextlib.nullcontext(folder) if folder else tempfile.TemporaryDirectory(dir=BENCH)


def rows(arguments):
    done = subprocess.run([FLOOR, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]
