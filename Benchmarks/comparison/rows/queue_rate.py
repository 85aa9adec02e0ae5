"""The queue alone: jobs a second through enqueue, claim and finish, and the same with --fsync always."""

import os
import re
import statistics
import tempfile

import process
from places import BENCH, QUEUE_RATE

TITLE = "queue alone, SQLite, NORMAL, jobs a second"


def measure(run):
    if not os.path.exists(QUEUE_RATE):
        return run.absent("queue", TITLE, "", f"{QUEUE_RATE}; set QUEUE_RATE")
    rates = {"normal": [], "always": []}
    for _ in run.rounds(3):
        with tempfile.TemporaryDirectory(dir=BENCH) as folder:
            printed = process.run([QUEUE_RATE, folder]).output.decode()
        for mode in rates:
            rates[mode].append(int(re.search(rf"^{mode}: (\d+) jobs/s", printed, re.MULTILINE)[1]))
    run.row("queue", TITLE, ours=statistics.median(rates["normal"]), other=None, against="", unit="/s",
            details={"always": statistics.median(rates["always"])})
