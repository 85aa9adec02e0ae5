"""MP3s as shops and podcasts write them, with a cover or without."""

import os

from movie import run
from photograph import photograph


def mp3(path, seed, seconds, cover=0, rate="192k"):
    """`cover` is its side in pixels, 0 for none."""
    tone = f"0.3*sin({220 + seed % 200}*2*PI*t)*sin(2*t)+0.08*random(0)"
    source = ["-f", "lavfi", "-i", f"aevalsrc={tone}|{tone}:d={seconds}:s=44100"]
    if not cover:
        run(*source, "-c:a", "libmp3lame", "-b:a", rate, path)
        return
    picture = path + ".jpg"
    photograph(seed, cover, cover).save(picture, "JPEG", quality=88)
    run(*source, "-i", picture, "-map", "0:a", "-map", "1:v", "-c:a", "libmp3lame", "-b:a", rate, "-c:v", "copy",
        "-id3v2_version", "3", "-metadata:s:v", "comment=Cover (front)", "-disposition:v", "attached_pic", path)
    os.remove(picture)
