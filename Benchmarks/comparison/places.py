"""Paths of the comparison."""

import atexit
import os
import shutil
import tempfile

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


def make_result_folder(prefix):
    """Makes a folder for the results of one run; `empty` it afterwards. It is removed when the benchmark ends."""
    folder = tempfile.mkdtemp(prefix=prefix, dir=BENCH)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def empty(folder):
    """Truncates all files of a folder, which frees their space.

    They are not removed: ext4 without a journal does not use the inode of a removed file again for five minutes, and
    searches past all such inodes whenever it creates a file, so each round would slow down the next one.
    """
    for path, _, names in os.walk(folder):
        for name in names:
            os.truncate(os.path.join(path, name), 0)
