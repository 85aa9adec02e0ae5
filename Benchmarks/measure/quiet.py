"""The machine for ourselves, where others measure on it too: BENCH_LOCK names a file that is locked meanwhile."""

import contextlib
import fcntl
import os


@contextlib.contextmanager
def quiet():
    path = os.environ.get("BENCH_LOCK")
    if not path:
        yield
        return
    with open(path, "a", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
