"""The real mix, eight requests at a time: files a second and processor seconds a file, against the Python worker."""

import collections
import statistics

import corpus
import peers
import real_mix

RATE_TITLE = "real mix of 200 URLs, files a second, concurrency 8"
CPU_TITLE = "real mix of 200 URLs, CPU seconds a file"


def measure(run):
    if absent := peers.missing(real_mix.PEER):
        run.absent("mix-rate", RATE_TITLE, real_mix.PEER, absent)
        return run.absent("mix-cpu", CPU_TITLE, real_mix.PEER, absent)
    files = corpus.mix()
    ours, theirs = [], []
    for _ in run.rounds(5):
        ours.append(real_mix.ours(run, files))
        theirs.append(real_mix.theirs(run, files))
    outcomes = collections.Counter(manifest["outcome"] for manifest in ours[0].manifests)
    rates = [[len(files) / spent.wall for spent in each] for each in (ours, theirs)]
    cpu = [[spent.cpu / len(files) for spent in each] for each in (ours, theirs)]
    for row, title, samples, unit in [("mix-rate", RATE_TITLE, rates, "/s"), ("mix-cpu", CPU_TITLE, cpu, "s")]:
        run.row(row, title, ours=statistics.median(samples[0]), other=statistics.median(samples[1]),
                against=real_mix.PEER, unit=unit,
                details={"files": len(files), "bytes": sum(file.bytes for file in files), "outcomes": outcomes,
                         "rounds": {"ours": samples[0], "peer": samples[1]}})
