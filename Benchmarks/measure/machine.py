"""The machine, and its load by other programs."""

import datetime
import os
import platform
import subprocess

from place import ATTACHPREP


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def version():
    ended = subprocess.run([ATTACHPREP, "--version"], capture_output=True, text=True)
    return ended.stdout.strip() or None


def facts():
    """Call this at the start of a run: the load is that of the preceding minute."""
    return {
        "at": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "processor": processor(), "cores": len(os.sched_getaffinity(0)), "kernel": platform.release(),
        "load": round(os.getloadavg()[0], 2), "attachprep": version(),
    }

