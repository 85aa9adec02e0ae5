"""Audio files as shops, podcasts, games and recorders write them, with or without a cover image."""

import os

from movie import run
from photograph import photograph

CODERS = {
    "wav": {8: "pcm_u8", 16: "pcm_s16le", 24: "pcm_s24le", 32: "pcm_f32le"},
    "aiff": {16: "pcm_s16be", 24: "pcm_s24be"},
}


def mp3(path, seed, seconds, cover=0, rate="192k", cover_height=0, channels=2, quality=None):
    """`cover` is the cover's width in pixels, 0 for none, and its height without `cover_height`.

    `quality` is that of a variable bit rate, 0 to 9.
    """
    amount = ["-b:a", rate] if quality is None else ["-q:a", str(quality)]
    coded(path, seed, seconds, ["-c:a", "libmp3lame", *amount], cover, cover_height, channels)


def m4a(path, seed, seconds, codec="aac", cover=0, index_first=True):
    """AAC, or Apple Lossless as `alac`."""
    amount = ["-b:a", "160k"] if codec == "aac" else []
    faststart = ["-movflags", "+faststart"] if index_first else []
    coded(path, seed, seconds, ["-c:a", codec, *amount, *faststart], cover)


def samples(path, seed, seconds, kind="wav", bits=16, rate=44100, channels=2):
    """WAV or AIFF."""
    coded(path, seed, seconds, ["-c:a", CODERS[kind][bits], "-f", kind], channels=channels, sampled=rate)


def coded(path, seed, seconds, encoder, cover=0, cover_height=0, channels=2, sampled=44100):
    tone = f"0.3*sin({220 + seed % 200}*2*PI*t)*sin(2*t)+0.08*random(0)"
    source = ["-f", "lavfi", "-i", f"aevalsrc={'|'.join([tone] * channels)}:d={seconds}:s={sampled}"]
    if not cover:
        run(*source, *encoder, path)
        return
    picture = path + ".jpg"
    photograph(seed, cover, cover_height or cover).save(picture, "JPEG", quality=88)
    version = ["-id3v2_version", "3"] if "libmp3lame" in encoder else []
    run(*source, "-i", picture, "-map", "0:a", "-map", "1:v", *encoder, "-c:v", "copy", *version,
        "-metadata:s:v", "comment=Cover (front)", "-disposition:v", "attached_pic", path)
    os.remove(picture)
