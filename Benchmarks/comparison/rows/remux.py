"""A MOV of 45 MB to MP4: the stream copy in a warm worker, against ffmpeg without its start-up."""

import os
import statistics
import tempfile

import corpus
import floor
import peers
import process
import warm
from folder_watch import CREATE, MODIFY
from places import BENCH

TITLE = "MOV to MP4 remux of 45 MB, start-up excluded"
REPEATS = 2


def measure(run):
    if absent := peers.missing("ffmpeg"):
        return run.absent("remux", TITLE, "ffmpeg", absent)
    file = corpus.special("phone.mov")
    ours, theirs, least, start = [], [], [], []
    for _ in run.rounds(3):
        requests = warm.requests([run.origin.url(file) for _ in range(warm.WARM_UP + REPEATS)])
        ours += [took(request) for request in requests]
        start += [copied(corpus.special("tiny.mov")) for _ in range(3)]
        theirs += [copied(file) for _ in range(REPEATS)]
        least += [row["wall"] for row in floor.remux(file, REPEATS + 1)[1:]]
    start = statistics.median(start)
    run.row("remux", TITLE, ours=statistics.median(ours), other=statistics.median(theirs) - start, against="ffmpeg",
            unit="s", details={"ffmpegStartUp": start, "bareRemux": statistics.median(least),
                               "outcomes": sorted({request.manifest["outcome"] for request in requests})})


def took(request):
    """From the creation of the output to its last write, including the index at the front."""
    begun = min(event.at for event in request.events if event.file == "attachment.new" and event.mask & CREATE)
    sealed = min(event.at for event in request.events
                 if event.file == "attachment.new.sealed" and event.mask & CREATE)
    return max(event.at for event in request.events
               if event.file == "attachment.new" and event.mask & MODIFY and event.at <= sealed) - begun


def copied(file):
    with tempfile.TemporaryDirectory(dir=BENCH) as folder:
        return process.run(["ffmpeg", "-v", "error", "-nostdin", "-i", file.path, "-c", "copy", "-movflags",
                            "+faststart", os.path.join(folder, "out.mp4")]).wall
