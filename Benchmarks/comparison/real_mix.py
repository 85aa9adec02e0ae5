"""What the rows of the real mix have in common: its files through attachprep and the Python worker, with thumbnails as
large as senders order them."""

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
    """Processor seconds of a batch of one tiny PNG, which is next to nothing but start-up."""
    return batch(run, [corpus.special("tiny.png")], 1).cpu
