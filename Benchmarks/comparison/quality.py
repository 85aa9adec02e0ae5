"""SSIM of a thumbnail against the best one that can be made from its source at that size, by ffmpeg."""

import os
import re
import subprocess

from places import PEERS, VENV


class Reference:
    """The source decoded at full size and reduced in floats with a Lanczos filter; upright, in sRGB."""

    def __init__(self, source, folder, seconds=None):
        self.folder = folder
        self.full = os.path.join(folder, "full.png")
        if seconds is None:
            self.reduced = os.path.join(folder, "reference.png")
            self.make(source)
        else:
            frame(source, seconds, self.full)
            self.reduced = os.path.join(folder, "reference.png")
            self.make(self.full)

    def make(self, source):
        """Both images, made by libvips in a separate process."""
        subprocess.run([os.path.join(VENV, "bin/python"), os.path.join(PEERS, "reference"), source, self.full,
                        self.reduced], check=True, stderr=subprocess.DEVNULL)

    def ssim(self, picture, full=False):
        """1 for equal images; None if their sizes differ."""
        return ssim(picture, self.full if full else self.reduced)


def frame(source, seconds, path):
    """The last frame not later than the time, by decoding everything before it."""
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-nostdin", "-i", source, "-vf", f"select='lte(t,{seconds})'",
                    "-t", str(seconds), "-vsync", "0", "-update", "1", path], check=True)


def ssim(picture, reference):
    done = subprocess.run(
        ["ffmpeg", "-v", "info", "-nostdin", "-i", picture, "-i", reference, "-lavfi",
         "[0:v]format=gbrp[a];[1:v]format=gbrp[b];[a][b]ssim", "-f", "null", "-"],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    found = re.search(r"SSIM .*All:([0-9.]+)", done.stderr)
    return float(found[1]) if found and done.returncode == 0 else None
