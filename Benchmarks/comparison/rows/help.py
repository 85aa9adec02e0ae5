"""`attachprep --help`: a new process with a warm page cache."""

import statistics

import process
from places import ATTACHPREP

TITLE = "attachprep --help, new process, warm page cache"
REPEATS = 15


def measure(run):
    times = []
    for _ in run.rounds(3):
        process.run([ATTACHPREP, "--help"])
        times += [process.run([ATTACHPREP, "--help"]).wall for _ in range(REPEATS)]
    run.row("help", TITLE, ours=statistics.median(times), other=None, against="", unit="s",
            details={"slowest": max(times)})
