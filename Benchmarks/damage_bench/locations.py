"""Where the damage benchmark keeps its files, and the modules of the other benchmarks that it uses."""

import os
import sys

BENCHMARKS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
for part in ["corpus", "comparison"]:
    sys.path.append(os.path.join(BENCHMARKS, part))

from places import BENCH as RESULTS, ROOT, VENV  # noqa: E402, F401

WORK = os.path.join(RESULTS, "damage")
# Intact files, and what is made of them.
BASE = os.path.join(WORK, "base")
FILES = os.path.join(WORK, "files")
# What the intact files decode to.
REFERENCES = os.path.join(WORK, "references")
JUDGEMENT = os.path.join(WORK, "judgement.json")
