"""Runs a program to its end; measures wall seconds, and processor seconds of all its descendants."""

import ctypes
import os
import resource
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36


class Spent:
    """The measurements of a run."""

    def __init__(self, wall, cpu, output):
        self.wall, self.cpu, self.output = wall, cpu, output


def adopt_orphans():
    """Makes orphaned descendants children of this process, so that their processor time is counted."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run(command, may_fail=False, **options):
    """Runs a command and captures its standard output."""
    before, start = processor_seconds(), time.perf_counter()
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    wall = time.perf_counter() - start
    reap_orphans()
    if ended.returncode != 0 and not may_fail:
        message = ended.stderr.decode(errors="replace")[-2000:]
        raise SystemExit(f"side-by-side: {command[0]} ended with {ended.returncode}\n{message}")
    return Spent(wall, processor_seconds() - before, ended.stdout)


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def reap_orphans():
    """Waits for remaining descendants of the command, which are about to end."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
