"""The mixed batch: processor seconds a file against those of the floor, also by kind."""

import statistics

import attachprep
import corpus
import floor

TITLE = "mixed batch of 200 URLs, CPU seconds a file"


def measure(run):
    files = corpus.batch()
    kinds = corpus.by_kind(files)
    ours = {kind: [] for kind in [*kinds, "all"]}
    least = {kind: [] for kind in [*kinds, "all"]}
    empty = []
    for _ in run.rounds(5):
        rows = floor.batch(files)
        for kind in kinds:
            least[kind].append(sum(row["cpu"] for row in rows if row["kind"] == kind))
            ours[kind].append(spent(run, kinds[kind]))
        least["all"].append(sum(row["cpu"] for row in rows))
        ours["all"].append(spent(run, files))
        empty.append(attachprep.batch([run.origin.url(corpus.special("tiny.png"))]).cpu)
    show(kinds, ours, least, statistics.median(empty))
    count = len(files)
    mine, floors = statistics.median(ours["all"]), statistics.median(least["all"])
    run.row("batch-cpu", TITLE, ours=mine / count, other=floors / count, against="floor", unit="s",
            details={"kinds": {kind: {"files": len(kinds[kind]), "ours": statistics.median(ours[kind]),
                                      "floor": statistics.median(least[kind])} for kind in kinds},
                     "oneTinyPNG": statistics.median(empty)})


def spent(run, files):
    return attachprep.batch([run.origin.url(file) for file in files]).cpu


def show(kinds, ours, least, empty):
    print(f"CPU seconds; a batch of one tiny PNG, which is mostly start-up, takes {empty:.3f} s")
    print(f"{'kind':12} {'files':>5} {'ours':>9} {'floor':>9} {'ratio':>7} {'ours a file':>12} {'floor a file':>13}")
    for kind in [*kinds, "all"]:
        count = len(kinds[kind]) if kind in kinds else sum(map(len, kinds.values()))
        mine, floors = statistics.median(ours[kind]), statistics.median(least[kind])
        print(f"{kind:12} {count:5} {mine:9.3f} {floors:9.3f} {mine / floors:7.3f} {mine / count * 1000:9.1f} ms "
              f"{floors / count * 1000:10.1f} ms")
