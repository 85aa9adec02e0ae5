"""Paths of the damage benchmark, and of the modules that it uses from other benchmarks."""

import os
import sys

BENCHMARKS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
for part in ["corpus", "comparison"]:
    sys.path.append(os.path.join(BENCHMARKS, part))

from places import BENCH as RESULTS, ROOT, VENV  # noqa: E402, F401

WORK = os.path.join(RESULTS, "damage")
# Intact files, and those made from them.
BASE = os.path.join(WORK, "base")
FILES = os.path.join(WORK, "files")
# The decoded intact files.
REFERENCES = os.path.join(WORK, "references")
JUDGEMENT = os.path.join(WORK, "judgement.json")
