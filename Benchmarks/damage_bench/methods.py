"""What other methods would notice of the same files, so that decisions can be made.

- ffprobe: the header is read, nothing else; it notices when that fails or a stream is missing.
- structure: our own walk over index, NAL units, LZW codes and frame headers (structure_*.py); no decoding.
- places: ffmpeg decodes the first key frame, the last, the movie from the key frame before its middle up to there, and
  some audio at both ends; a GIF's first picture.
- full: ffmpeg decodes everything; it notices when that reports an error. (The judge's own decode.)
"""

import json
import subprocess

import structure_audio
import structure_gif
import structure_movie
from case import AUDIO, GIF, MOVIE
from decode import TIMEOUT

# Changes with what ffmpeg's would notice, and with what our walk would.
VERSION = 1
STRUCTURE_VERSION = 2
METHODS = ["ffprobe", "structure", "places", "structure+places", "full", "structure+full"]
AUDIO_FRAMES = 20
# Seconds before the end at which the last pictures and samples are looked for.
BEFORE_END = 0.3
# One line for each output that has frames.
HASHES = ["-f", "streamhash", "-hash", "md5", "pipe:1"]
NOTHING = b"d41d8cd98f00b204e9800998ecf8427e"


def noticed(case, intact, messages):
    """What methods with ffmpeg notice: nothing, or the names of it. `intact` is the file that it was made of."""
    return {"ffprobe": ffprobe(case.path, intact), "places": places(case, intact), "full": messages[:1]}


def catches(entry, method):
    return any(entry[name] for name in method.split("+"))


def structure(case):
    """The checks of its structure that fail."""
    with open(case.path, "rb") as file:
        data = file.read()
    if case.base.kind == MOVIE:
        return sorted(structure_movie.failures(data))
    if case.base.kind == GIF:
        return sorted(structure_gif.failures(data))
    return sorted(structure_audio.failures(data, case.base.extension))


def ffprobe(path, intact):
    found = run("ffprobe", "-v", "error", "-show_streams", "-of", "json", path)
    if found.returncode:
        return ["ffprobe fails"]
    streams = {(stream.get("codec_type"), stream.get("codec_name")) for stream in json.loads(found.stdout)["streams"]}
    return [] if streams >= intact.streams else ["a stream is missing"]


def places(case, intact):
    """Few moments, decoded strictly."""
    video = ["-map", "0:v:0", "-frames:v", "1", *HASHES] if case.base.kind != AUDIO else []
    audio = ["-map", "0:a:0", "-frames:a", str(AUDIO_FRAMES), *HASHES] if intact.samples else []
    moments = {"first": [[], video + audio]}
    if case.base.kind != GIF:
        moments["last"] = [["-sseof", str(-BEFORE_END), "-noaccurate_seek"], video + audio]
    if case.base.kind == MOVIE:
        moments["middle"] = [["-ss", str(round(intact.seconds / 2, 3))], video]
    for name, (seek, outputs) in moments.items():
        found = run("ffmpeg", "-nostdin", "-v", "error", "-xerror", "-err_detect", "explode", "-threads", "1", *seek,
                    "-i", case.path, *outputs)
        hashes = [line for line in found.stdout.splitlines() if not line.endswith(NOTHING)]
        if found.returncode or found.stderr.strip() or len(hashes) < outputs.count("-map"):
            return [name]
    return []


def run(*command):
    try:
        return subprocess.run(command, capture_output=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, b"", b"")
