"""The results of a comparison: one row for each claim, as a table and as a file."""

import json
import os
import time

from measure.quiet import quiet
from places import BENCH, ROOT
from verdict import meets

THRESHOLDS = os.path.join(ROOT, "Benchmarks/thresholds.json")


class Run:
    """A run: its origin, the number of rounds, the results."""

    def __init__(self, origin, rounds=None, folder=None):
        self.origin = origin
        # Your own files, for the row own-files.
        self.folder = folder
        self.forced_rounds = rounds
        self.found = []
        self.notes = []
        # The machine's load at the start, for the report.
        self.begun = {"at": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "load": os.getloadavg()}
        with open(THRESHOLDS, encoding="utf-8") as file:
            self.thresholds = json.load(file)

    def rounds(self, usual):
        """Yields the rounds; holds the lock during each, if BENCH_LOCK is set."""
        for number in range(self.forced_rounds or usual):
            with quiet():
                yield number

    def row(self, name, title, ours, other, against, unit, details=None):
        """Adds a claim; the thresholds define whether less or more is better."""
        limit = self.thresholds[name]
        ratio = ours / other if other else None
        value = ours if ratio is None else ratio
        self.found.append({"row": name, "title": title, "ours": ours, "other": other, "against": against,
                           "unit": unit, "ratio": ratio, "value": value, "limit": limit,
                           "isMet": meets(value, limit), "details": details or {}})

    def note(self, name, title, details):
        """Adds details without a limit."""
        self.notes.append({"row": name, "title": title, "details": details})

    def absent(self, name, title, against, why):
        """Adds a peer that is not installed, so that the report names it."""
        self.found.append({"row": name, "title": title, "against": against, "notHere": why})

    def finish(self, path):
        path = path or os.path.join(BENCH, "side-by-side.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**self.begun, "rows": self.found, "notes": self.notes}, file, indent=1)
        show(self.found)
        print(f"load average at the start: {self.begun['load'][0]:.2f}; details in {os.path.relpath(path)}")


def write_thresholds(thresholds):
    """One line for each row, so that a change is one line of a diff."""
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(each)}" for name, each in thresholds.items())
    with open(THRESHOLDS, "w", encoding="utf-8") as file:
        file.write("{\n" + lines + "\n}\n")


def show(found):
    if not found:
        return
    print(f"\n{'what':56} {'against':17} {'attachprep':>12} {'peer':>12} {'ratio':>7}  must reach")
    for row in found:
        print(f"{row['title']:56} {row['against']:17} {outcome(row)}")


def outcome(row):
    if "notHere" in row:
        return f"not installed: {row['notHere']}"
    limit, unit = row["limit"], row["unit"]
    sign = "at most" if limit["better"] == "less" else "at least"
    theirs = "" if row["other"] is None else amount(row["other"], unit)
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.3f}"
    return (f"{amount(row['ours'], unit):>12} {theirs:>12} {ratio:>7}  {sign} {limit['limit']:g}: "
            f"{'met' if row['isMet'] else 'NOT MET'}")


def amount(value, unit):
    if unit == "s" and value < 10:
        return f"{value * 1000:,.1f} ms"
    return f"{value:,.0f} {unit}" if unit == "bytes" else f"{value:,.1f} {unit}"
