"""What other detection methods find in the same files, for comparison.

- ffprobe: reads only the header; detects that this fails or that a stream is missing.
- structure: checks index, NAL units, LZW codes and frame headers (structure_*.py) without decoding.
- places: ffmpeg decodes the first keyframe, the last keyframe, the movie from the keyframe before its middle up to the
  middle, and some audio at both ends; of a GIF, the first frame.
- full: ffmpeg decodes everything; detects a reported error, or a failure in strict mode.

Each returns the names of what it found as a list. Stills have none but the judge's decoder.
"""

import json
import subprocess

import structure_audio
import structure_gif
import structure_movie
from case import AUDIO, GIF, MOVIE, STILL
from decode import TIMEOUT
from judge import reference

METHODS = ["ffprobe", "structure", "places", "structure+places", "full", "structure+full"]
STRICT = ["ffmpeg", "-nostdin", "-v", "error", "-xerror", "-err_detect", "explode", "-threads", "1"]
AUDIO_FRAMES = 20
# Seconds before the end from which the last frames and samples are decoded.
BEFORE_END = 0.3
# One line for each output that has frames.
HASHES = ["-f", "streamhash", "-hash", "md5", "pipe:1"]
NOTHING = b"d41d8cd98f00b204e9800998ecf8427e"


def catches(entry, method):
    return any(entry[name] for name in method.split("+"))


def structure(case, _):
    """The structure checks that fail."""
    if case.base.kind == STILL:
        return []
    with open(case.path, "rb") as file:
        data = file.read()
    if case.base.kind == MOVIE:
        return sorted(structure_movie.failures(data))
    if case.base.kind == GIF:
        return sorted(structure_gif.failures(data))
    return sorted(structure_audio.failures(data, case.base.extension))


def ffprobe(case, _):
    if case.base.kind == STILL:
        return []
    found = run("ffprobe", "-v", "error", "-show_streams", "-of", "json", case.path)
    if found.returncode:
        return ["ffprobe fails"]
    streams = {(stream.get("codec_type"), stream.get("codec_name")) for stream in json.loads(found.stdout)["streams"]}
    return [] if streams >= reference(case.base).streams else ["a stream is missing"]


def places(case, _):
    """Few positions, decoded in strict mode."""
    if case.base.kind == STILL:
        return []
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
    """Errors of the judge's decode, which conceals errors; else whether a strict decode fails."""
    if messages or case.base.kind == STILL:
        return messages[:1]
    found = run(*STRICT, "-i", case.path, "-map", "0:v?", "-map", "0:a?", "-f", "null", "-")
    return ["strict"] if found.returncode or found.stderr.strip() else []


def run(*command):
    try:
        return subprocess.run(command, capture_output=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, b"", b"")


# Increment a number when the method's results for the same file change.
STEPS = {"ffprobe": (1, ffprobe), "structure": (2, structure), "places": (1, places), "full": (1, full)}
