"""The peak memory of a process tree: the sum of the proportional set sizes (PSS) of all processes, sampled."""

import os
import subprocess
import threading
import time

# Seconds between samples. Sampling stops the processes, so no times are measured in these runs.
INTERVAL = 0.02


class Peak:
    """The peak, its time, and the share of each process."""

    def __init__(self):
        self.bytes, self.at, self.processes, self.samples = 0, 0.0, {}, 0

    def take(self, at, processes):
        self.samples += 1
        if sum(processes.values()) > self.bytes:
            self.bytes, self.at, self.processes = sum(processes.values()), at, processes


def watch(command):
    """Runs a command; returns the peak, and each output line with its time."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    start, lines = time.perf_counter(), []
    reader = threading.Thread(target=read, args=(process, start, lines))
    reader.start()
    peak = Peak()
    while process.poll() is None:
        peak.take(time.perf_counter() - start, shares(process.pid))
        time.sleep(INTERVAL)
    reader.join()
    return peak, lines, process.returncode


def read(process, start, lines):
    for line in process.stdout:
        lines.append((time.perf_counter() - start, line))


def shares(root):
    """PSS of a process and all its descendants, by name and number."""
    found = {}
    for pid in tree(root):
        try:
            with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
                pss = next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
            with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
                found[f"{file.read().strip()} {pid}"] = pss
        except (OSError, StopIteration):
            # The process has ended.
            continue
    return found


def tree(root):
    """A process and its descendants."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    parent = int(file.read().rsplit(b")", 1)[1].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry))
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += children.get(pid, [])
    return found
