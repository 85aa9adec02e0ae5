"""The real mix with eight requests in flight and two media slots: peak PSS of the whole process tree."""

import statistics

import corpus
import peers
import real_mix

from . import batch_memory

TITLE = "real mix, peak PSS, 8 in flight, 2 slots"
CONCURRENCY = 8


def measure(run):
    if absent := peers.missing(real_mix.PEER):
        return run.absent("mix-memory", TITLE, real_mix.PEER, absent)
    files = corpus.mix()
    ours, theirs = [], []
    for _ in run.rounds(3):
        ours.append(batch_memory.ours_of(urls(run, files), CONCURRENCY, real_mix.SIDE))
        theirs.append(batch_memory.theirs_of(urls(run, files), CONCURRENCY, real_mix.SIDE))
    largest = max(ours, key=lambda each: each[0].bytes)
    batch_memory.show(largest, theirs[0][0])
    peaks = [statistics.median(peak.bytes for peak, _ in each) / 1e6 for each in (ours, theirs)]
    run.row("mix-memory", TITLE, ours=peaks[0], other=peaks[1], against=real_mix.PEER, unit="MB",
            details={"atPeak": largest[0].processes, "underWayAtPeak": batch_memory.under_way(*largest),
                     "peersAtPeak": theirs[0][0].processes})


def urls(run, files):
    return [run.origin.url(file) for file in files]
