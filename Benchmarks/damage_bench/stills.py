"""The intact stills, as common encoders write them, the holes made in them, and their pixels by an independent decoder."""

import io
import os
import struct
import subprocess
import tempfile

import locations  # noqa: F401
import numpy
from photograph import photograph
from PIL import Image, ImageFile

ImageFile.LOAD_TRUNCATED_IMAGES = True

SIZES = [(640, 480), (900, 600), (333, 500)]
HOLES = [64, 512, 4096]
HOLE_PLACES = 6
# A pixel differs visibly by this many of 255; so many of them are visible damage.
STEPS, SHARE = 32, 0.001


def pillow(form="JPEG", **options):
    def make(image, _):
        file = io.BytesIO()
        image.save(file, form, **options)
        return file.getvalue()
    return make


def tool(*command, to="jpg", source="png"):
    """The words {in} and {out} stand for the files; without {out} the tool writes to its output."""
    def make(image, _):
        with tempfile.TemporaryDirectory() as folder:
            paths = {"in": os.path.join(folder, "in." + source), "out": os.path.join(folder, "out." + to)}
            image.save(paths["in"])
            words = [word.format(**paths) for word in command]
            ended = subprocess.run(words, capture_output=True, check=True)
            if "{out}" not in command:
                return ended.stdout
            with open(paths["out"], "rb") as file:
                return file.read()
    return make


def cjpeg(*options):
    return tool("cjpeg", *options, "{in}", source="ppm")


def convert(*options):
    return tool("convert", "{in}", *options, "{out}")


def ffmpeg(*options):
    return tool("ffmpeg", "-v", "error", "-i", "{in}", *options, "{out}")


# Name: how it is made. The format follows from the extension; "progressive" in the name is a format of its own.
MAKERS = {
    "still-cjpeg-30.jpg": cjpeg("-quality", "30"),
    "still-cjpeg-75.jpg": cjpeg("-quality", "75"),
    "still-cjpeg-95-444.jpg": cjpeg("-quality", "95", "-sample", "1x1"),
    "still-cjpeg-100.jpg": cjpeg("-quality", "100", "-optimize"),
    "still-cjpeg-422-rst.jpg": cjpeg("-quality", "85", "-sample", "2x1", "-restart", "1"),
    "still-cjpeg-rst-5.jpg": cjpeg("-quality", "70", "-restart", "5B"),
    "still-cjpeg-411.jpg": cjpeg("-quality", "80", "-sample", "4x1"),
    "still-cjpeg-gray.jpg": cjpeg("-quality", "80", "-grayscale"),
    "still-cjpeg-fast.jpg": cjpeg("-quality", "90", "-dct", "fast"),
    "still-cjpeg-progressive.jpg": cjpeg("-quality", "80", "-progressive"),
    "still-cjpeg-progressive-rst.jpg": cjpeg("-quality", "85", "-progressive", "-restart", "2"),
    "still-pillow-75.jpg": pillow(quality=75),
    "still-pillow-95.jpg": pillow(quality=95, subsampling=0),
    "still-pillow-5.jpg": pillow(quality=5),
    "still-pillow-progressive.jpg": pillow(quality=85, progressive=True, optimize=True),
    "still-magick-50.jpg": convert("-quality", "50"),
    "still-magick-92.jpg": convert("-quality", "92"),
    "still-magick-sharp.jpg": convert("-sharpen", "0x3", "-quality", "85"),
    "still-magick-progressive.jpg": convert("-interlace", "JPEG", "-quality", "85"),
    "still-ffmpeg-2.jpg": ffmpeg("-q:v", "2", "-pix_fmt", "yuvj420p"),
    "still-ffmpeg-10.jpg": ffmpeg("-q:v", "10", "-pix_fmt", "yuvj422p"),
    "still-ffmpeg-default.jpg": ffmpeg("-q:v", "4", "-huffman", "default", "-pix_fmt", "yuvj420p"),
    "still-vips-75.jpg": tool("vips", "jpegsave", "{in}", "{out}"),
    "still-vips-progressive.jpg": tool("vips", "jpegsave", "{in}", "{out}", "--Q", "90", "--interlace"),
    "still-rgb.png": pillow("PNG"),
    "still-palette.png": tool("convert", "{in}", "-colors", "64", "{out}", to="png"),
    "still-lossy.webp": pillow("WEBP", quality=80),
    "still-lossless.webp": pillow("WEBP", lossless=True),
    "still-x265.heic": tool("heif-enc", "-q", "60", "{in}", "-o", "{out}", to="heic"),
    "still-aom.avif": tool("avifenc", "-s", "8", "--min", "20", "--max", "30", "{in}", "{out}", to="avif"),
    "still-vardct.jxl": tool("cjxl", "{in}", "{out}", "-e", "3", to="jxl"),
    "still-lzw.tif": pillow("TIFF", compression="tiff_lzw"),
    "still-raw.tif": pillow("TIFF"),
}
# The decoders of formats that Pillow does not read.
DECODERS = {"heic": ["heif-convert"], "avif": ["avifdec"], "jxl": ["djxl", "--allow_partial_files"]}


def make(path, name):
    number = list(MAKERS).index(name)
    width, height = SIZES[number % len(SIZES)]
    content = MAKERS[name](photograph(200 + number, width, height, grain=2.0), name)
    with open(path, "wb") as file:
        file.write(content)


def holes(base, data, dice):
    """Holes in the coded data: zeros, noise, and bytes that are missing."""
    start, end = payload(base, data)
    for length in HOLES:
        for number in range(HOLE_PLACES if end - start > 2 * length else 0):
            place = dice.randrange(start, end - length)
            for name, content in [("zeros", bytes(length)), ("noise", dice.randbytes(length)), ("lost", b"")]:
                yield f"{name} {length}", f"at-{number}", data[:place] + content + data[place + length:]


def cuts(_, data, __):
    for share in [25, 50, 75, 90, 99]:
        yield "cut", f"at-{share}", data[:len(data) * share // 100]


def payload(base, data):
    """The range of the coded data; in other formats than JPEG all but the first kilobyte and the last bytes."""
    if base.extension != ".jpg":
        return min(1024, len(data) // 4), len(data) - 16
    offset = 2
    while data[offset + 1] != 0xDA:
        offset += 2 + struct.unpack_from(">H", data, offset + 2)[0]
    return offset + 2 + struct.unpack_from(">H", data, offset + 2)[0], len(data) - 2


def oddities(base, data):
    """What encoders and phones leave in intact files."""
    yield "trailing-text", data + b"\r\n--boundary--\r\n"
    if base.extension != ".jpg":
        return
    for name, padding in [("zeros-1", bytes(1)), ("zeros-2000", bytes(2000)), ("ones", b"\xff" * 7),
                          ("stray", b"\x12\x34\x56")]:
        yield "padding-" + name, data[:-2] + padding + data[-2:]
    yield "zeros-behind", data + bytes(5000)
    yield "samsung", data + bytes.fromhex("0000010a0e000000") + b"Image_UTC_Data1600000000000" + b"SEFT"
    yield "second-image", data + data


def pixels(path):
    """The decoded image as RGB; None when it does not decode."""
    words = DECODERS.get(path.rpartition(".")[2])
    try:
        if words is None:
            return numpy.asarray(Image.open(path).convert("RGB")).astype(numpy.int16)
        with tempfile.TemporaryDirectory() as folder:
            target = os.path.join(folder, "out.png")
            subprocess.run([words[0], path, target, *words[1:]], capture_output=True, check=True, timeout=60)
            return numpy.asarray(Image.open(target).convert("RGB")).astype(numpy.int16)
    except Exception:  # noqa: BLE001 - whatever the decoder says, there is no image
        return None


def compare(intact, damaged):
    """The same measurements as for frames, of one second."""
    if damaged.shape != intact.shape:
        return {"seconds": 1.0, "visible": 1.0, "different": 1.0}
    wrong = numpy.abs(intact - damaged).max(axis=2)
    share = float((wrong > STEPS).mean())
    return {"seconds": 1.0, "visible": float(share >= SHARE), "different": float(wrong.max() > 0), "wrong": share}
