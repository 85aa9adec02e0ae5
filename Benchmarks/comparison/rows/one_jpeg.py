"""One JPEG of 12 MP in a warm worker: from its last byte until its files are published."""

import statistics

import corpus
import floor
import warm
from timed_origin import TimedOrigin

TITLE = "12 MP JPEG, warm worker, last byte to files in place"
REPEATS = 8


def measure(run):
    file = corpus.special("photo-12mp.jpg")
    ours, held, least, stages = [], [], [], []
    for _ in run.rounds(7):
        times, done = ours_of(file, holds=False)
        ours += times
        stages += [request.manifest["timings"] for request in done]
        held += ours_of(file, holds=True)[0]
        least += [row["wall"] for row in floor.batch([file] * REPEATS)]
    run.row("one-jpeg", TITLE, ours=statistics.median(ours), other=statistics.median(least), against="floor", unit="s",
            details={"overASlowerNetwork": statistics.median(held), "milliseconds": {
                stage: statistics.median(each[stage] for each in stages)
                for stage in ("identify", "inspect", "render", "publish")}})


def ours_of(file, holds):
    with TimedOrigin(file.path, "image/jpeg", holds) as origin:
        done = warm.requests(origin.urls(warm.WARM_UP + REPEATS))
        return [request.at - origin.since(request) for request in done], done
