"""The files of the comparison, by kind."""

import json
import os
import random
import subprocess
import sys

from places import CORPUS, ROOT


class File:
    """One file of the corpus."""

    def __init__(self, folder, row):
        self.name, self.kind, self.bytes = row["name"], row["kind"], row["bytes"]
        self.part = os.path.basename(folder)
        self.path = os.path.join(folder, self.name)


# The same shuffled order in every run.
ORDER = 20


def prepare(parts):
    """Makes the missing files of these parts."""
    subprocess.run([sys.executable, os.path.join(ROOT, "Benchmarks/corpus/make"), "--parts", ",".join(parts)],
                   check=True)


def batch():
    return files("batch")


def mix():
    shuffled = files("mix")
    random.Random(ORDER).shuffle(shuffled)
    return shuffled


def special(name):
    return next(file for file in files("special") if file.name == name)


def files(part):
    folder = os.path.join(CORPUS, part)
    with open(os.path.join(folder, "catalogue.json"), encoding="utf-8") as file:
        return [File(folder, row) for row in json.load(file)]


def by_kind(files):
    """The files of each kind, in order of first occurrence."""
    kinds = {}
    for file in files:
        kinds.setdefault(file.kind, []).append(file)
    return kinds
