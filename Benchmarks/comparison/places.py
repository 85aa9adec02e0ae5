"""Paths of the comparison."""

import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BENCH = os.path.join(ROOT, ".build/bench")
CORPUS = os.path.join(BENCH, "corpus")
FLOOR = os.path.join(BENCH, "floor/floor")
VENV = os.path.join(BENCH, "venv")
PEERS = os.path.join(ROOT, "Benchmarks/peers")
RELEASE = os.path.join(ROOT, ".build/release")
ATTACHPREP = os.environ.get("ATTACHPREP", os.path.join(RELEASE, "attachprep"))
SHAPING_SERVER = os.environ.get("SHAPING_SERVER", os.path.join(RELEASE, "ShapingServer"))
QUEUE_RATE = os.environ.get("QUEUE_RATE", os.path.join(RELEASE, "QueueRate"))
MEDIA = os.environ.get("ATTACHPREP_MEDIA", os.path.join(os.path.dirname(ATTACHPREP), "attachprep-media"))
