"""What other methods would notice of the same files, so that decisions can be made.

- ffprobe: the header is read, nothing else; it notices when that fails or a stream is missing.
- structure: our own walk over index, NAL units, LZW codes and frame headers (structure_*.py); no decoding.
- places: ffmpeg decodes the first key frame, the last, the movie from the key frame before its middle up to there, and
  some audio at both ends; a GIF's first picture.
- full: ffmpeg decodes everything; it notices when that reports an error, or fails when it is told to be strict.

Each gives what it noticed as a list of names.
"""

import json
import subprocess

import structure_audio
import structure_gif
import structure_movie
from case import AUDIO, GIF, MOVIE
from decode import TIMEOUT
from judge import reference

METHODS = ["ffprobe", "structure", "places", "structure+places", "full", "structure+full"]
STRICT = ["ffmpeg", "-nostdin", "-v", "error", "-xerror", "-err_detect", "explode", "-threads", "1"]
AUDIO_FRAMES = 20
# Seconds before the end at which the last pictures and samples are looked for.
BEFORE_END = 0.3
# One line for each output that has frames.
HASHES = ["-f", "streamhash", "-hash", "md5", "pipe:1"]
NOTHING = b"d41d8cd98f00b204e9800998ecf8427e"


def catches(entry, method):
    return any(entry[name] for name in method.split("+"))


def structure(case, _):
    """The checks of its structure that fail."""
    with open(case.path, "rb") as file:
        data = file.read()
    if case.base.kind == MOVIE:
        return sorted(structure_movie.failures(data))
    if case.base.kind == GIF:
        return sorted(structure_gif.failures(data))
    return sorted(structure_audio.failures(data, case.base.extension))


def ffprobe(case, _):
    found = run("ffprobe", "-v", "error", "-show_streams", "-of", "json", case.path)
    if found.returncode:
        return ["ffprobe fails"]
    streams = {(stream.get("codec_type"), stream.get("codec_name")) for stream in json.loads(found.stdout)["streams"]}
    return [] if streams >= reference(case.base).streams else ["a stream is missing"]


def places(case, _):
    """Few moments, decoded strictly."""
    intact = reference(case.base)
    video = ["-map", "0:v:0", "-frames:v", "1", *HASHES] if case.base.kind != AUDIO else []
    audio = ["-map", "0:a:0", "-frames:a", str(AUDIO_FRAMES), *HASHES] if intact.samples else []
    moments = {"first": [[], video + audio]}
    if case.base.kind != GIF:
        moments["last"] = [["-sseof", str(-BEFORE_END), "-noaccurate_seek"], video + audio]
    if case.base.kind == MOVIE:
        moments["middle"] = [["-ss", str(round(intact.seconds / 2, 3))], video]
    for name, (seek, outputs) in moments.items():
        found = run(*STRICT, *seek, "-i", case.path, *outputs)
        hashes = [line for line in found.stdout.splitlines() if not line.endswith(NOTHING)]
        if found.returncode or found.stderr.strip() or len(hashes) < outputs.count("-map"):
            return [name]
    return []


def full(case, messages):
    """What the judge's own decode complained of, which conceals what it can; else whether a strict one fails."""
    if messages:
        return messages[:1]
    found = run(*STRICT, "-i", case.path, "-map", "0:v?", "-map", "0:a?", "-f", "null", "-")
    return ["strict"] if found.returncode or found.stderr.strip() else []


def run(*command):
    try:
        return subprocess.run(command, capture_output=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, b"", b"")


# A number changes with what a method would notice of the same file.
STEPS = {"ffprobe": (1, ffprobe), "structure": (2, structure), "places": (1, places), "full": (1, full)}
