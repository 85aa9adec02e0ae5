"""The mixed batch, eight requests at a time: files a second against the peers."""

import statistics

import attachprep
import corpus
import peers

TITLE = "mixed batch, files a second, concurrency 8"


def measure(run):
    files = corpus.batch()
    against(run, "batch-rate-python", "python worker", files, peers.python_worker)
    against(run, "batch-rate-pipeline", "shell pipeline", files, peers.pipeline)
    if absent := peers.missing("thumbor"):
        return run.absent("batch-rate-thumbor", TITLE + ", its images", "thumbor", absent)
    with peers.Thumbor() as thumbor:
        pictures = [file for file in files if file.kind in peers.THUMBOR_KINDS]
        # A first image for each process, to warm it up.
        thumbor.batch([run.origin.url(corpus.special("tiny.png")) for _ in range(8)])
        against(run, "batch-rate-thumbor", "thumbor", pictures, thumbor.batch, ", its images")


def against(run, row, peer, files, batch, suffix=""):
    """Alternating rounds of attachprep and a peer."""
    if absent := peers.missing(peer):
        return run.absent(row, TITLE + suffix, peer, absent)
    ours, theirs = [], []
    for _ in run.rounds(3):
        ours.append(attachprep.batch([run.origin.url(file) for file in files]))
        theirs.append(batch([run.origin.url(file) for file in files]))
    rates = [statistics.median(len(files) / spent.wall for spent in each) for each in (ours, theirs)]
    cpu = [statistics.median(spent.cpu / len(files) for spent in each) for each in (ours, theirs)]
    run.row(row, TITLE + suffix, ours=rates[0], other=rates[1], against=peer, unit="/s",
            details={"files": len(files), "cpuSecondsAFile": {"ours": cpu[0], "peer": cpu[1] or None}})
