"""The mixed batch with 64 requests in flight and two media slots: peak PSS of the whole process tree."""

import json
import os
import statistics

import attachprep
import corpus
import memory
import peers

TITLE = "mixed batch, peak PSS, 64 in flight, 2 slots"
CONCURRENCY = 64
# Number of files of each kind that are measured alone.
LARGEST = 2


def measure(run):
    if absent := peers.missing("python worker"):
        return run.absent("batch-memory", TITLE, "python worker", absent)
    files = corpus.batch()
    ours, theirs = [], []
    for _ in run.rounds(3):
        ours.append(ours_of([run.origin.slow_url(file) for file in files]))
        theirs.append(theirs_of([run.origin.slow_url(file) for file in files]))
    largest = max(ours, key=lambda each: each[0].bytes)
    alone = {file.name: ours_of([run.origin.url(file)])[0].bytes for file in heaviest(files)}
    culprit = max(alone, key=alone.get)
    peaks = [statistics.median(peak.bytes for peak, *_ in each) / 1e6 for each in (ours, theirs)]
    show(largest, theirs[0][0])
    print("alone, in a batch of one:", ", ".join(
        f"{name} {size / 1e6:.0f} MB" for name, size in sorted(alone.items(), key=lambda item: -item[1])[:6]))
    print("  the heaviest:", culprit)
    run.row("batch-memory", TITLE, ours=peaks[0], other=peaks[1], against="python worker", unit="MB",
            details={"heaviestAlone": culprit, "alone": alone, "atPeak": largest[0].processes,
                     "underWayAtPeak": under_way(*largest), "peersAtPeak": theirs[0][0].processes})


def ours_of(urls, concurrency=CONCURRENCY, side=None):
    with peers.Work(urls) as work:
        return watched(attachprep.batch_command(work.list, work.output, concurrency, side=side))


def theirs_of(urls, concurrency=CONCURRENCY, side=None):
    with peers.Work(urls) as work:
        return watched(peers.python_command(work, concurrency, side))


def watched(command):
    peak, lines, code = memory.watch(command)
    if code != 0:
        raise SystemExit(f"side-by-side: {command[0]} ended with {code}")
    return peak, lines


def heaviest(files):
    """The largest files of each kind."""
    return [file for each in corpus.by_kind(files).values()
            for file in sorted(each, key=lambda file: -file.bytes)[:LARGEST]]


def under_way(peak, lines):
    """The files in progress at the peak, by the manifests that were printed after it."""
    names = []
    for at, line in lines:
        manifest = json.loads(line)
        timings = manifest["timings"]
        took = (timings["render"] or 0) + (timings["inspect"] or 0)
        if at >= peak.at >= at - took / 1000:
            names.append(os.path.basename(manifest["source"]["url"]).split("?")[0])
    return names


def show(ours, theirs):
    print(f"peak PSS: attachprep {ours[0].bytes / 1e6:.0f} MB, of it", processes(ours[0]))
    print("  in progress:", ", ".join(under_way(*ours)) or "unknown")
    print(f"python worker {theirs.bytes / 1e6:.0f} MB, of it", processes(theirs))


def processes(peak):
    return ", ".join(f"{name.split()[0]} {size / 1e6:.0f}" for name, size in peak.processes.items() if size > 1e6)
