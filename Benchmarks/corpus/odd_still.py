"""Rare stills: JPEGs in CMYK, gray or with unusual profiles; PNGs with a palette, gray, 16-bit or interlaced; TIFF."""

import numpy
from PIL import Image

import odd_profiles
from photograph import photograph
from screen import screen


def press_jpeg(path, seed, width, height, profile="press"):
    """CMYK as editors write it, inverted; without a profile if that is empty."""
    picture = photograph(seed, width, height, 3)
    light = 255 - numpy.asarray(picture, numpy.int16)
    black = light.min(axis=-1) // 2
    inks = numpy.concatenate([light - black[..., None], black[..., None]], axis=-1).astype(numpy.uint8)
    Image.fromarray(inks, "CMYK").save(path, "JPEG", quality=90, subsampling=0,
                                       icc_profile=odd_profiles.named(profile) if profile else None)


def gray_jpeg(path, seed, width, height, profile=""):
    photograph(seed, width, height, 3).convert("L").save(
        path, "JPEG", quality=88, icc_profile=odd_profiles.named(profile) if profile else None)


def profiled_jpeg(path, seed, width, height, profile, quality=88):
    photograph(seed, width, height, 3).save(path, "JPEG", quality=quality, icc_profile=odd_profiles.named(profile))


def palette_png(path, seed, width, height, colours=256):
    screen(seed, width, height).quantize(colours).save(path, "PNG", optimize=True)


def gray_png(path, seed, width, height):
    screen(seed, width, height).convert("L").save(path, "PNG")


def deep_png(path, seed, width, height):
    """16 bits a sample, as renderers write."""
    deep(photograph(seed, width, height, 1)).pngsave(path, bitdepth=16)


def interlaced_png(path, seed, width, height):
    in_libvips(photograph(seed, width, height, 1)).pngsave(path, interlace=True)


def tiff(path, seed, width, height, is_deep=False):
    """LZW, or 16 bits a sample and Deflate."""
    picture = photograph(seed, width, height, 2)
    if is_deep:
        deep(picture).tiffsave(path, compression="deflate", predictor="horizontal")
    else:
        picture.save(path, "TIFF", compression="tiff_lzw")


def in_libvips(picture):
    """libvips, for formats that Pillow cannot write. Imported after the fork, which its threads do not survive."""
    import pyvips

    return pyvips.Image.new_from_array(numpy.asarray(picture), interpretation="srgb")


def deep(picture):
    return (in_libvips(picture).cast("ushort") * 257).cast("ushort").copy(interpretation="rgb16")
