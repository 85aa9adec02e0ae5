"""The real mix: from the start of each request until its files are published, with one and with eight in flight.

A request starts when the origin reads its first byte, by the origin's log; the files are published when the result
folder is renamed, by inotify. Both workers are measured in the same way. The first requests, of a tiny PNG, are not
counted, because processes are starting.
"""

import json
import os
import statistics
import time

import attachprep
import corpus
import peers
import process
import real_mix
from folder_watch import FolderWatch
from measure.percentile import percentiles

WARM_UP = 8
RANKS = ("p50", "p95")


def measure(run):
    for concurrency in (1, 8):
        rows = {rank: f"real mix, {rank} of request to files, {concurrency} in flight" for rank in RANKS}
        if absent := peers.missing(real_mix.PEER):
            for rank, title in rows.items():
                run.absent(f"mix-latency-{rank}-{concurrency}", title, real_mix.PEER, absent)
            continue
        ours, theirs = [], []
        for _ in run.rounds(3):
            ours.append(percentiles(through(run, concurrency, ours_of).values()))
            theirs.append(percentiles(through(run, concurrency, theirs_of).values()))
        for rank, title in rows.items():
            mine, others = ([found[rank] for found in each] for each in (ours, theirs))
            run.row(f"mix-latency-{rank}-{concurrency}", title, ours=statistics.median(mine),
                    other=statistics.median(others), against=real_mix.PEER, unit="s",
                    details={"rounds": {"ours": mine, "peer": others}})


def through(run, concurrency, worker):
    """Seconds of each file of the mix."""
    files = [corpus.special("tiny.png")] * WARM_UP + corpus.mix()
    numbers, urls = [], []
    for file in files:
        urls.append(run.origin.timed_url(file))
        numbers.append(run.origin.count)
    with peers.Work(urls) as work:
        with FolderWatch(work.output, is_shallow=True) as watch:
            # Offset between inotify's clock and the log's.
            offset = time.time() - time.perf_counter()
            places = worker(work, concurrency)
        arrivals = watch.arrivals()
    begun = run.origin.begun()
    return {file.name: arrivals[place] + offset - begun[number]
            for file, number, place in list(zip(files, numbers, places))[WARM_UP:]}


def ours_of(work, concurrency):
    """The result folder of each URL."""
    path = os.path.join(work.folder, "list.jsonl")
    attachprep.write_list(path, work.urls)
    spent = process.run(attachprep.batch_command(path, work.output, concurrency, side=real_mix.SIDE), may_fail=True)
    attachprep.check([json.loads(line) for line in spent.output.splitlines()], len(work.urls))
    return [f"f{index}" for index in range(len(work.urls))]


def theirs_of(work, concurrency):
    spent = process.run(peers.python_command(work, concurrency, real_mix.SIDE))
    peers.expect_all(work.urls, spent.output)
    return [str(index) for index in range(len(work.urls))]
