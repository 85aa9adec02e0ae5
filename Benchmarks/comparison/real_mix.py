"""Shared code of the rows of the real mix: prepares its files with attachprep and the Python worker.

Thumbnails have the size that senders usually request.
"""

import attachprep
import corpus
import peers

# Pixels of a thumbnail's longer side.
SIDE = 512
PEER = "python worker"


def ours(run, files, concurrency=8):
    return attachprep.batch([run.origin.url(file) for file in files], concurrency, side=SIDE)


def theirs(run, files, concurrency=8):
    return peers.python_worker([run.origin.url(file) for file in files], concurrency, SIDE)


def start_up(run, batch):
    """Processor seconds of a batch of one tiny PNG, which is almost only start-up."""
    return batch(run, [corpus.special("tiny.png")], 1).cpu
