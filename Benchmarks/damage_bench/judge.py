"""The judge: what a viewer or listener would lose of a file, found by decoding it completely with ffmpeg.

- unreadable: no frame of a movie or GIF, or no audio sample, can be decoded; or only ffmpeg finds the index, because it
  searches boxes that are marked as free.
- visible: frames are missing or visibly different, or audio is lost or audibly different, for 0.1 s or 1 % of the
  time, whichever is less.
- slight: something differs, but less than that.
- same: all frames and audio are as in the intact file.
"""

import functools
import json
import os
import subprocess

import box
import listening
import pictures
import stills
from case import AUDIO, GIF, STILL
from decode import pictures as decoded_pictures
from decode import samples as decoded_samples
from locations import BASE

# Increment when the judge's results for the same files change.
VERSION = 1
SAME, SLIGHT, VISIBLE, UNREADABLE = "same", "slight", "visible", "unreadable"
SECONDS, SHARE = 0.1, 0.01


class Reference:
    """The intact file, decoded once."""

    def __init__(self, base):
        path = os.path.join(BASE, base.name)
        found = probed(path)
        video = next((stream for stream in found if stream["codec_type"] == "video"), None)
        audio = next((stream for stream in found if stream["codec_type"] == "audio"), None)
        self.streams = {(stream["codec_type"], stream["codec_name"]) for stream in found}
        self.seconds = max(float(stream.get("duration", 0)) for stream in found)
        self.pictures = self.samples = None
        if video and base.kind != AUDIO:
            self.shape = (int(video["width"]), int(video["height"]))
            self.pictures = decoded_pictures(path, self.shape, base.kind == GIF, 1_000)
        if audio:
            self.channels, self.rate = int(audio["channels"]), int(audio["sample_rate"])
            self.samples = decoded_samples(path, self.channels, self.rate, 100)


def probed(path):
    ended = subprocess.run(["ffprobe", "-v", "error", "-show_streams", "-of", "json", path], capture_output=True)
    return json.loads(ended.stdout)["streams"]


@functools.lru_cache(maxsize=2)
def reference(base):
    return Reference(base)


def judge(case):
    """The class of a file, the measurements, and the errors of the decoder."""
    if case.base.kind == STILL:
        return judge_still(case)
    known, parts, messages = reference(case.base), {}, []
    if known.pictures:
        count = len(known.pictures.times)
        found = decoded_pictures(case.path, known.shape, case.base.kind == GIF, 2 * count + 30)
        messages += found.messages
        parts["pictures"] = pictures.compare(known.pictures, found)
        if not len(found.times):
            return {"class": UNREADABLE, "messages": messages[:3], **parts}
    if known.samples:
        length = len(known.samples.values) / known.rate
        found = decoded_samples(case.path, known.channels, known.rate, 2 * length + 5)
        messages += found.messages
        parts["audio"] = listening.compare(known.samples, found, known.rate)
        if not len(found.values) and case.base.kind == AUDIO:
            return {"class": UNREADABLE, "messages": messages[:3], **parts}
    worst_class = UNREADABLE if lacks_index(case) else worst(parts.values())
    return {"class": worst_class, "messages": messages[:3], **parts}


@functools.lru_cache(maxsize=2)
def intact_still(base):
    return stills.pixels(os.path.join(BASE, base.name))


def judge_still(case):
    found = stills.pixels(case.path)
    if found is None:
        return {"class": UNREADABLE, "messages": ["no image"]}
    part = stills.compare(intact_still(case.base), found)
    return {"class": graded(part), "messages": [], "pictures": part}


def lacks_index(case):
    if case.base.extension not in (".mp4", ".mov", ".m4a"):
        return False
    with open(case.path, "rb") as file:
        return all(found.type != b"moov" for found in box.boxes(file.read()))


def worst(parts):
    classes = [graded(part) for part in parts]
    return next(name for name in [VISIBLE, SLIGHT, SAME] if name in classes)


def graded(part):
    # Slightly more audio at the beginning or the end is encoder delay.
    if part["visible"] >= min(SECONDS, SHARE * part["seconds"]) or part.get("added", 0) >= SECONDS:
        return VISIBLE
    return SLIGHT if part["different"] > 0 else SAME
