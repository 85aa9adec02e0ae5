"""Where the damage benchmark keeps its files, and the modules of the other benchmarks that it uses."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VENV = os.path.join(ROOT, ".build/bench/venv")
RESULTS = os.path.join(ROOT, ".build/bench")
WORK = os.path.join(RESULTS, "damage")
# Intact files, and what is made of them.
BASE = os.path.join(WORK, "base")
FILES = os.path.join(WORK, "files")
# What the intact files decode to.
REFERENCES = os.path.join(WORK, "references")
JUDGEMENT = os.path.join(WORK, "judgement.json")

for part in ["corpus", "comparison"]:
    sys.path.append(os.path.join(ROOT, "Benchmarks", part))
