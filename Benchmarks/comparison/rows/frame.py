"""An exact frame of a movie with long GOPs, from the last byte until the files are published.

attachprep validates a movie with the same decode that makes its thumbnail, so the frame alone cannot be measured. The
floor therefore does both too, and decodes each GOP once. Near a keyframe the peer is ffmpegthumbnailer, which uses the
keyframe and validates nothing. The details contain the time for the frame alone.
"""

import os
import statistics
import tempfile

import corpus
import floor
import peers
import process
import warm
from places import BENCH
from timed_origin import TimedOrigin

TITLE = "exact frame and proof, 1080p H.264, 250 frames a group"
NEAR_TITLE = "the same, within 2 s of a key frame"
# Seconds. GOPs begin at 0, 8.33 and 16.67.
FAR, NEAR = [5.0, 8.0, 12.5, 19.0], [1.0, 9.5, 18.0]
REPEATS = 4


def measure(run):
    file = corpus.special("long-group.mp4")
    found = {seconds: at(run, file, seconds) for seconds in FAR + NEAR}
    report(run, "frame-floor", TITLE, "floor", found, "floor")
    if absent := peers.missing("ffmpegthumbnailer"):
        return run.absent("frame-thumbnailer", NEAR_TITLE, "ffmpegthumbnailer", absent)
    near = {seconds: found[seconds] for seconds in NEAR}
    report(run, "frame-thumbnailer", NEAR_TITLE, "ffmpegthumbnailer", near, "thumbnailer")


def report(run, row, title, against, found, other):
    """The row is the worst of these times."""
    worst = max(found, key=lambda seconds: found[seconds]["ours"] / found[seconds][other])
    run.row(row, title, ours=found[worst]["ours"], other=found[worst][other], against=against, unit="s",
            details={"at": worst, "all": {str(seconds): each for seconds, each in found.items()}})


def at(run, file, seconds):
    """Medians of all programs for the frame at a time."""
    samples = {"ours": [], "floor": [], "bareFrame": []}
    if seconds in NEAR and not peers.missing("ffmpegthumbnailer"):
        samples |= {"thumbnailer": [], "thumbnailerStartUp": []}
    for _ in run.rounds(3):
        samples["ours"] += ours(file, seconds)
        samples["floor"] += [row["wall"] for row in floor.movie(file, seconds, REPEATS + 1)[1:]]
        samples["bareFrame"] += [row["wall"] for row in floor.frame(file, seconds, REPEATS + 1)[1:]]
        if "thumbnailer" in samples:
            samples["thumbnailer"] += [thumbnailer(file, seconds) for _ in range(REPEATS)]
            samples["thumbnailerStartUp"].append(process.run(["ffmpegthumbnailer", "-v"]).wall)
    return {name: statistics.median(each) for name, each in samples.items()}


def ours(file, seconds):
    with TimedOrigin(file.path, "video/mp4") as origin:
        done = warm.requests(origin.urls(warm.WARM_UP + REPEATS), options={"thumbnailTime": seconds})
        return [request.at - origin.since(request) for request in done]


def thumbnailer(file, seconds):
    with tempfile.TemporaryDirectory(dir=BENCH) as folder:
        return process.run(["ffmpegthumbnailer", "-i", file.path, "-t", f"00:00:{int(seconds):02}", "-s", "300", "-q",
                            "8", "-o", os.path.join(folder, "t.jpg")]).wall
