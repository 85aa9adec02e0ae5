"""The files the comparison is done with, by kind."""

import json
import os
import subprocess
import sys

from places import CORPUS, ROOT


class File:
    """One of them."""

    def __init__(self, folder, row):
        self.name, self.kind, self.bytes = row["name"], row["kind"], row["bytes"]
        self.part = os.path.basename(folder)
        self.path = os.path.join(folder, self.name)


def prepare():
    """Makes what is missing."""
    subprocess.run([sys.executable, os.path.join(ROOT, "Benchmarks/corpus/make")], check=True)


def batch():
    return files("batch")


def special(name):
    return next(file for file in files("special") if file.name == name)


def files(part):
    folder = os.path.join(CORPUS, part)
    with open(os.path.join(folder, "catalogue.json"), encoding="utf-8") as file:
        return [File(folder, row) for row in json.load(file)]


def by_kind(files):
    """The files of each kind, in the order in which kinds come."""
    kinds = {}
    for file in files:
        kinds.setdefault(file.kind, []).append(file)
    return kinds
