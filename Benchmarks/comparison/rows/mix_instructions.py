"""Some files of the real mix, one after another: user-space instructions, against the Python worker.

Start-up, measured with a batch of one tiny PNG, is subtracted.
"""

import json

import attachprep
import corpus
import instructions
import peers
import real_mix

TITLE = "real mix, instructions of a file, 12 of its files"
# One or two small files of each kind, because valgrind is fifty times slower than the processor.
FILES = [
    "jpeg-019.jpg", "jpeg-060.jpg", "png-screen-3.png", "png-photo-2.png", "gif-panned-1.gif", "webp-1.webp",
    "webp-moving-1.webp", "avif-3.avif", "sound-3.mp3", "sound-0.m4a", "movie-13.mp4", "movie-hevc-4.mp4",
]


def measure(run):
    if absent := peers.missing(real_mix.PEER) or peers.missing("valgrind"):
        return run.absent("mix-instructions", TITLE, real_mix.PEER, absent)
    by_name = {file.name: file for file in corpus.mix()}
    files = [by_name[name] for name in FILES]
    tiny = [corpus.special("tiny.png")]
    mine, others = (worker(run, files) - worker(run, tiny) for worker in (ours, theirs))
    run.row("mix-instructions", TITLE, ours=mine / len(files) / 1e6, other=others / len(files) / 1e6,
            against=real_mix.PEER, unit="M", details={"files": FILES})


def ours(run, files):
    with peers.Work([run.origin.url(file) for file in files]) as work:
        count, printed = instructions.ours(attachprep.batch_command(work.list, work.output, 1, 1, real_mix.SIDE))
    attachprep.check([json.loads(line) for line in printed.splitlines()], len(files))
    return count


def theirs(run, files):
    with peers.Work([run.origin.url(file) for file in files]) as work:
        count, printed = instructions.theirs(peers.python_command(work, 1, real_mix.SIDE))
    peers.expect_all(work.urls, printed)
    return count
