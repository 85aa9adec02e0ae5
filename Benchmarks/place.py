"""Paths of the measured programs and of generated files."""

import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, ".build/release")
ATTACHPREP = os.environ.get("ATTACHPREP", os.path.join(BUILD, "attachprep"))
SHAPING_SERVER = os.environ.get("SHAPING_SERVER", os.path.join(BUILD, "ShapingServer"))
# Results of the benchmarks, for the report.
RESULTS = os.path.join(ROOT, ".build/bench")
