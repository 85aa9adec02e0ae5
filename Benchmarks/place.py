"""Where things are: the programs that are measured, and what is made."""

import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, ".build/release")
ATTACHPREP = os.environ.get("ATTACHPREP", os.path.join(BUILD, "attachprep"))
SHAPING_SERVER = os.environ.get("SHAPING_SERVER", os.path.join(BUILD, "ShapingServer"))
# What the benchmarks write down, for the report.
RESULTS = os.path.join(ROOT, ".build/bench")
