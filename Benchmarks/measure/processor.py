"""Processor time of the whole machine, and of this process with its descendants."""

import os
import time

TICKS = os.sysconf("SC_CLK_TCK")


class Clock:
    """Sums over the measured intervals."""

    def __init__(self):
        self.wall = self.machine = self.ours = 0.0

    def add(self, before, after):
        self.wall += after[0] - before[0]
        self.machine += after[1] - before[1]
        self.ours += after[2] - before[2]

    def summary(self, cores):
        """Seconds, and the utilization of the cores: by all processes, and by other processes."""
        if not self.wall:
            return {"seconds": 0.0, "coresBusy": 0.0, "others": 0.0}
        return {"seconds": round(self.wall, 1), "coresBusy": round(self.machine / self.wall / cores, 3),
                "others": round(max(0.0, self.machine - self.ours) / self.wall / cores, 3)}


def reading():
    """Seconds: wall time, processor time of the machine, processor time of the benchmark."""
    return time.perf_counter(), machine_seconds(), our_seconds()


def machine_seconds():
    """Busy time since boot, without idle and I/O wait."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, interrupts, soft = map(int, file.readline().split()[1:8])
    return (user + nice + system + interrupts + soft) / TICKS


def our_seconds():
    """Processor time of this process and its descendants, including those that have ended."""
    processes = dict(found for name in os.listdir("/proc") if name.isdigit() and (found := process(name)))
    return sum(spent for number, (_, spent) in processes.items() if is_ours(number, processes)) / TICKS


def process(name):
    """Process id, parent and ticks; None if the process has ended."""
    try:
        with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return int(name), (int(fields[1]), sum(map(int, fields[11:15])))


def is_ours(number, processes):
    while number != os.getpid():
        if number not in processes:
            return False
        number = processes[number][0]
    return True
