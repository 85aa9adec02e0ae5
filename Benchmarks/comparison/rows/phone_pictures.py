"""HEIC and AVIF as phones write them.

Measured until the thumbnail is written, against vipsthumbnail, and until both files are published, against
vipsthumbnail and a conversion, which decode twice.
"""

import os
import statistics
import tempfile

import corpus
import peers
import process
import warm
from folder_watch import MODIFY
from places import BENCH
from timed_origin import TimedOrigin

FILES = {
    "heic": "phone.heic", "heic-preview": "phone-preview.heic", "heic-plain": "software.heic", "avif": "phone.avif",
}
REPEATS = 2


def measure(run):
    for row, name in FILES.items():
        if absent := peers.missing("vipsthumbnail"):
            run.absent(row, title(name), "vipsthumbnail", absent)
        else:
            one(run, row, corpus.special(name))


def title(name):
    return f"{name}, 12 MP: last byte to thumbnail written"


def one(run, row, file):
    thumbnails, both, theirs, converted = [], [], [], []
    for _ in run.rounds(3):
        with TimedOrigin(file.path) as origin:
            for request in warm.requests(origin.urls(warm.WARM_UP + REPEATS)):
                thumbnails.append(written(request, "thumbnail.new") - origin.since(request))
                both.append(request.at - origin.since(request))
        theirs += [thumbnailed(file) for _ in range(REPEATS)]
        converted += [thumbnailed(file) + convertible(file) for _ in range(REPEATS)]
    start = statistics.median(thumbnailed(corpus.special("tiny.png")) for _ in range(5))
    run.row(row, title(file.name), ours=statistics.median(thumbnails), other=statistics.median(theirs),
            against="vipsthumbnail", unit="s", details={
                "vipsthumbnailStartUp": start, "attachmentAndThumbnail": statistics.median(both),
                "vipsthumbnailAndVipsCopy": statistics.median(converted)})


def written(request, name):
    """The time of the last write to a working file of the request, before it is copied by the parent."""
    sealed = min(event.at for event in request.events if event.file == name + ".sealed")
    return max(event.at for event in request.events
               if event.file == name and event.mask & MODIFY and event.at <= sealed)


def thumbnailed(file):
    with tempfile.TemporaryDirectory(dir=BENCH) as folder:
        return process.run(["vipsthumbnail", file.path, "--size", "300x300", "--output",
                            os.path.join(folder, "t.jpg[Q=85,optimize_coding,strip]")]).wall


def convertible(file):
    with tempfile.TemporaryDirectory(dir=BENCH) as folder:
        return process.run(["vips", "jpegsave", file.path, os.path.join(folder, "a.jpg"), "--Q", "90",
                            "--optimize-coding", "--subsample-mode", "off", "--strip"]).wall
