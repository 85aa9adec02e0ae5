"""Stills as cameras, editors and web servers write them."""

import io
import os
import subprocess

from exif import block
from photograph import photograph
from screen import screen, sticker
from wide_gamut import profile

# Pillow's numbers for 4:4:4, 4:2:2 and 4:2:0.
CHROMA = {"4:4:4": 0, "4:2:2": 1, "4:2:0": 2}


def jpeg(path, seed, width, height, chroma="4:2:0", quality=90, orientation=1, progressive=False, has_exif=True,
         grain=5.0, is_wide=False):
    """A phone's JPEG, with a wide-gamut profile if `is_wide`; without `has_exif`, as a web server re-encodes it."""
    picture = photograph(seed, width, height, grain)
    small = picture.resize((160, max(1, 160 * height // width)))
    body = io.BytesIO()
    small.save(body, "JPEG", quality=70)
    exif = block(orientation, width, height, seed, body.getvalue()) if has_exif else b""
    picture.save(path, "JPEG", quality=quality, subsampling=CHROMA[chroma], progressive=progressive,
                 optimize=progressive, exif=exif, icc_profile=profile() if is_wide else None)


def png(path, seed, width, height, motif="photograph"):
    """A screenshot, a photograph or a sticker, lossless."""
    painted(motif, seed, width, height).save(path, "PNG")


def webp(path, seed, width, height, motif="photograph", quality=80, lossless=False):
    painted(motif, seed, width, height).save(path, "WEBP", quality=quality, lossless=lossless, method=4)


def gif(path, seed, width, height, motif="photograph"):
    painted(motif, seed, width, height).convert("RGB").quantize(256).save(path, "GIF")


def heic(path, seed, width, height, quality=60):
    """One image without tiles, as software writes it."""
    encoded(path, seed, width, height, ["-q", str(quality)])


def avif(path, seed, width, height, quality=60):
    encoded(path, seed, width, height, ["-A", "-q", str(quality), "-p", "speed=8"])


def encoded(path, seed, width, height, options):
    """Written with heif-enc, which needs an input file."""
    source = path + ".png"
    photograph(seed, width, height).save(source, "PNG", compress_level=1)
    try:
        subprocess.run(["heif-enc", *options, "-o", path, source], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    finally:
        os.remove(source)


def painted(motif, seed, width, height):
    if motif == "screen":
        return screen(seed, width, height)
    if motif == "sticker":
        return sticker(seed, width)
    return photograph(seed, width, height)
