"""The real mix, one request at a time: processor seconds of each kind without start-up, against the Python worker.

Files of kinds that take a millisecond are requested many times, so that the variation of start-up does not dominate.
"""

import statistics

import corpus
import peers
import real_mix

TITLE = "real mix, CPU a file, worst kind"
# Number of requests for each file of a kind.
TIMES = {"wav": 25, "aiff": 30, "m4a": 15, "mp3": 8, "tiff": 8, "webp": 8, "apng": 4, "webp-moving": 4, "avif": 3}
# Seconds a file; smaller values are within the error of measurement.
LEAST = 0.0002


def measure(run):
    if absent := peers.missing(real_mix.PEER):
        return run.absent("mix-kinds", TITLE, real_mix.PEER, absent)
    kinds = corpus.by_kind(corpus.files("mix"))
    samples = {kind: {"ours": [], "peer": []} for kind in kinds}
    starts = {"ours": [], "peer": []}
    for _ in run.rounds(3):
        for _ in range(3):
            starts["ours"].append(real_mix.start_up(run, real_mix.ours))
            starts["peer"].append(real_mix.start_up(run, real_mix.theirs))
        for kind, files in kinds.items():
            asked = files * TIMES.get(kind, 1)
            samples[kind]["ours"].append(real_mix.ours(run, asked, 1).cpu)
            samples[kind]["peer"].append(real_mix.theirs(run, asked, 1).cpu)
    start = {who: statistics.median(each) for who, each in starts.items()}
    found = {kind: {who: a_file(samples[kind][who], start[who], len(files) * TIMES.get(kind, 1)) for who in start}
             for kind, files in kinds.items()}
    show(kinds, found, start)
    worst = max(found, key=lambda kind: found[kind]["ours"] / found[kind]["peer"])
    run.row("mix-kinds", f"{TITLE}: {worst}", ours=found[worst]["ours"], other=found[worst]["peer"],
            against=real_mix.PEER, unit="s", details={"worst": worst, "secondsAFile": found, "startUp": start})


def a_file(samples, start, count):
    return max((statistics.median(samples) - start) / count, LEAST)


def show(kinds, found, start):
    print(f"CPU of one request at a time; start-up, which is subtracted: ours {start['ours']:.3f} s, Python worker "
          f"{start['peer']:.3f} s")
    print(f"{'kind':12} {'files':>5} {'ours':>9} {'Python':>9} {'ratio':>7} {'ours a file':>12} {'Python a file':>14}")
    for kind, files in kinds.items():
        mine, theirs = found[kind]["ours"], found[kind]["peer"]
        print(f"{kind:12} {len(files):5} {mine * len(files):9.3f} {theirs * len(files):9.3f} {mine / theirs:7.3f} "
              f"{mine * 1000:9.1f} ms {theirs * 1000:11.1f} ms")
