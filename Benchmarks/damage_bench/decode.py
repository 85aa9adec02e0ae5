"""A file decoded by ffmpeg as far as possible: its frames, reduced, and its audio samples."""

import dataclasses
import os
import re
import subprocess
import tempfile

import numpy

WIDTH = 160
TIMEOUT = 120
SHOWN = re.compile(rb"\] n: *\d+ pts: *\S+ pts_time:(\S+)")
# Messages of ffmpeg's conversion about timestamps, not about damage in the media.
HARMLESS = re.compile(rb"non monotonically increasing dts|Timestamps are unset|Last message repeated")


@dataclasses.dataclass
class Pictures:
    """`times` in seconds, one for each frame in `pixels` (number, height, width, components)."""

    times: numpy.ndarray
    pixels: numpy.ndarray
    # Errors of the decoder.
    messages: list


@dataclasses.dataclass
class Samples:
    """16-bit samples (number, channels)."""

    values: numpy.ndarray
    messages: list


def height(shape):
    width, tall = shape
    return max(2, round(tall * WIDTH / width / 2) * 2)


def pictures(path, shape, is_gif, count_max):
    """`shape` is the width and height of the intact movie: all frames are scaled to one size."""
    form, components = ("rgba", 4) if is_gif else ("yuv444p", 3)
    tall = height(shape)
    ended = ffmpeg("-i", path, "-map", "0:v:0", "-vf", f"scale={WIDTH}:{tall}:flags=bilinear,format={form},showinfo",
                   "-fps_mode", "passthrough", "-frames:v", str(count_max), "-f", "rawvideo", "pipe:1")
    size = WIDTH * tall * components
    count = len(ended.stdout) // size
    pixels = numpy.frombuffer(ended.stdout[:count * size], numpy.uint8)
    pixels = pixels.reshape(count, tall, WIDTH, 4) if is_gif else pixels.reshape(count, 3, tall, WIDTH)
    if not is_gif:
        pixels = pixels.transpose(0, 2, 3, 1)
    times = [seconds(match) for match in SHOWN.findall(ended.stderr)][:count]
    times += [times[-1] if times else 0.0] * (count - len(times))
    return Pictures(numpy.array(times), pixels, messages(ended))


def seconds(text):
    try:
        return float(text)
    except ValueError:
        return 0.0


def samples(path, channels, rate, seconds_max):
    """With the number of channels and the sample rate of the intact file."""
    with tempfile.NamedTemporaryFile(dir=os.environ.get("TMPDIR")) as file:
        ended = ffmpeg("-i", path, "-map", "0:a:0", "-ac", str(channels), "-ar", str(rate), "-t", str(seconds_max),
                       "-f", "s16le", "-y", file.name)
        values = numpy.fromfile(file.name, numpy.int16)
    return Samples(values[:len(values) // channels * channels].reshape(-1, channels), messages(ended))


def ffmpeg(*words):
    """Messages have their level as a prefix, to distinguish errors from showinfo lines."""
    command = ["ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "level+info", "-threads", "1", *words]
    try:
        return subprocess.run(command, capture_output=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired as error:
        return subprocess.CompletedProcess(command, 124, error.stdout or b"", b"[error] ffmpeg does not end")


def messages(ended):
    """The errors, shortened."""
    lines = [line for line in re.split(rb"[\r\n]+", ended.stderr)
             if re.search(rb"\[(error|fatal|panic)\]", line) and not HARMLESS.search(line)]
    found = [re.sub(rb"0x[0-9a-f]+", b"", line).decode(errors="replace")[:120] for line in lines[:3]]
    return found or ([f"ffmpeg ended with {ended.returncode}"] if ended.returncode else [])
