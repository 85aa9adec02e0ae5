"""The real mix: 200 files of typical kinds, sizes and oddities, most of which iOS attaches unchanged.

The distribution is that of 200 files from public repositories: 96 JPEGs, 23 PNGs, 18 GIFs, 18 WebP, HEIC, AVIF,
TIFF and APNG files, 18 audio files and 27 movies. JPEGs, PNGs, GIFs, audio files and movies are within Apple's
limits, so that they are delivered unchanged.
"""

import animation
import movie
import odd_still
import sound
import still
import tiled

# Width and height, and the number of JPEGs that have them; 0.05 to 24 MP.
JPEG_SIZES = [
    (6000, 4000, 2), (5472, 3648, 2), (4608, 3456, 3), (4032, 3024, 13), (3264, 2448, 8), (3000, 2000, 8),
    (2400, 1600, 8), (1920, 1080, 10), (1600, 1200, 6), (1280, 853, 12), (1024, 768, 4), (800, 600, 6), (640, 360, 4),
    (256, 200, 2),
]


def entries():
    """Name, kind, function and arguments of each file; the name describes the content."""
    yield from jpegs()
    yield from odd_jpegs()
    yield from pngs()
    yield from gifs()
    yield from converted()
    yield from sounds()
    yield from movies()


def jpegs():
    """Large JPEGs are from cameras; up to 2400 pixels most are from web servers."""
    number = 0
    for width, height, count in JPEG_SIZES:
        for index in range(count):
            number += 1
            is_web = width <= 2400 and index % 4 != 3
            options = {
                "chroma": "4:4:4" if number % 10 == 0 else "4:2:2" if number % 12 == 0 else "4:2:0",
                "quality": [75, 82, 85, 90][number % 4] if is_web or width > 4032 else [85, 90, 93][number % 3],
                "orientation": 1 if is_web else [1, 1, 6, 1, 1, 8, 1, 3][number % 8],
                "progressive": is_web and number % 3 == 0, "has_exif": not is_web,
                "grain": 1.5 + number % 4, "is_wide": not is_web and number % 2 == 0,
            }
            sides = (height, width) if number % 5 == 0 else (width, height)
            yield f"jpeg-{number:03}.jpg", "jpeg", still.jpeg, (20000 + number, *sides), options


def odd_jpegs():
    yield "jpeg-press-0.jpg", "jpeg", odd_still.press_jpeg, (21000, 2000, 1400), {}
    yield "jpeg-press-1.jpg", "jpeg", odd_still.press_jpeg, (21001, 1200, 1600), {}
    yield "jpeg-press-bare.jpg", "jpeg", odd_still.press_jpeg, (21002, 1000, 700), {"profile": ""}
    yield "jpeg-grey.jpg", "jpeg", odd_still.gray_jpeg, (21003, 1500, 1000), {}
    yield "jpeg-grey-profile.jpg", "jpeg", odd_still.gray_jpeg, (21004, 1200, 900), {"profile": "gray"}
    yield "jpeg-adobe.jpg", "jpeg", odd_still.profiled_jpeg, (21005, 2400, 1600, "adobe"), {}
    yield "jpeg-photo.jpg", "jpeg", odd_still.profiled_jpeg, (21006, 1600, 1067, "photo"), {}
    yield "jpeg-scanner.jpg", "jpeg", odd_still.profiled_jpeg, (21007, 1700, 2200, "scanner"), {}


def pngs():
    screens = [(1170, 2532), (1920, 1080), (1440, 900), (750, 1334), (2560, 1440), (1280, 720), (900, 600), (640, 480)]
    for number, (width, height) in enumerate(screens):
        yield f"png-screen-{number}.png", "png", still.png, (22000 + number, width, height), {"motif": "screen"}
    for number, (width, height) in enumerate([(1600, 1200), (1280, 853), (1024, 768), (800, 600), (512, 512)]):
        yield f"png-photo-{number}.png", "png", still.png, (22100 + number, width, height), {}
    for number, side in enumerate([1024, 512, 256, 128]):
        yield f"png-sticker-{number}.png", "png", still.png, (22200 + number, side, side), {"motif": "sticker"}
    for number, (width, height) in enumerate([(1200, 800), (800, 1200), (320, 240)]):
        yield f"png-palette-{number}.png", "png", odd_still.palette_png, (22300 + number, width, height), {}
    yield "png-grey.png", "png", odd_still.gray_png, (22400, 1240, 1754), {}
    yield "png-deep.png", "png", odd_still.deep_png, (22401, 900, 600), {}
    yield "png-interlaced.png", "png", odd_still.interlaced_png, (22402, 1200, 900), {}


def gifs():
    """2 to 300 frames, 50 KB to 9 MB; some small files have a large canvas."""
    shapes = [
        ("panned", 480, 270, 24), ("panned", 320, 240, 40), ("panned", 498, 280, 64), ("panned", 240, 240, 30),
        ("panned", 600, 400, 88), ("panned", 200, 150, 10), ("panned", 400, 225, 90),
        ("recorded", 800, 500, 120), ("recorded", 1280, 720, 60), ("recorded", 640, 400, 300),
        ("recorded", 1024, 640, 150),
        ("sticker", 480, 480, 16), ("sticker", 256, 256, 30), ("sticker", 200, 200, 10),
        ("drawn", 4000, 4000, 6), ("panned", 400, 300, 2), ("drawn", 400, 400, 90), ("drawn", 500, 300, 200),
    ]
    for number, (motif, width, height, frames) in enumerate(shapes):
        yield (f"gif-{motif}-{number}.gif", "gif", animation.gif, (23000 + number, width, height, frames),
               {"motif": motif, "colours": [256, 128, 64][number % 3]})


def converted():
    yield "webp-0.webp", "webp", still.webp, (24000, 1200, 800), {}
    yield "webp-1.webp", "webp", still.webp, (24001, 1600, 1067), {"quality": 75}
    yield "webp-sticker.webp", "webp", still.webp, (24002, 512, 512), {"motif": "sticker"}
    yield "webp-moving-0.webp", "webp-moving", animation.webp, (24100, 400, 300, 20), {}
    yield "webp-moving-1.webp", "webp-moving", animation.webp, (24101, 320, 320, 16), {"is_sticker": True}
    yield "webp-moving-2.webp", "webp-moving", animation.webp, (24102, 480, 270, 36), {}
    yield "heic-phone-0.heic", "heic", tiled.heic, (24200, 4032, 3024), {}
    yield "heic-phone-1.heic", "heic", tiled.heic, (24201, 3024, 4032), {"has_preview": True}
    yield "heic-software.heic", "heic", still.heic, (24202, 1920, 1440), {}
    for number, (width, height) in enumerate([(2048, 1536), (1200, 800), (1920, 1080), (800, 800)]):
        yield f"avif-{number}.avif", "avif", still.avif, (24300 + number, width, height), {}
    yield "tiff-0.tiff", "tiff", odd_still.tiff, (24400, 1600, 1200), {}
    yield "tiff-deep.tiff", "tiff", odd_still.tiff, (24401, 1000, 750), {"is_deep": True}
    yield "apng-0.png", "apng", animation.apng, (24500, 320, 320, 16), {"motif": "sticker"}
    yield "apng-1.png", "apng", animation.apng, (24501, 320, 240, 20), {}
    yield "apng-2.png", "apng", animation.apng, (24502, 480, 300, 40), {"motif": "recorded"}


def sounds():
    mp3s = [
        (30, {}), (180, {"cover": 1600, "cover_height": 1400}), (200, {"rate": "128k"}), (95, {"cover": 500}),
        (60, {"quality": 4}), (3, {"channels": 1, "rate": "64k"}), (240, {"quality": 6, "cover": 800}),
    ]
    for number, (seconds, options) in enumerate(mp3s):
        yield f"sound-{number}.mp3", "mp3", sound.mp3, (25000 + number, seconds), options
    samples = [
        ("wav", 20, 16, 44100, 2), ("wav", 14, 24, 48000, 2), ("wav", 2, 16, 22050, 1), ("wav", 6, 8, 11025, 1),
        ("aiff", 18, 16, 44100, 2), ("aiff", 3, 16, 22050, 1), ("aiff", 8, 24, 44100, 2),
    ]
    for number, (kind, seconds, bits, rate, channels) in enumerate(samples):
        yield (f"sound-{kind}-{number}.{kind}", kind, sound.samples, (25100 + number, seconds),
               {"kind": kind, "bits": bits, "rate": rate, "channels": channels})
    for number, (seconds, options) in enumerate([(120, {}), (200, {"cover": 1000}), (15, {"index_first": False}),
                                                 (25, {"codec": "alac"})]):
        yield f"sound-{number}.m4a", "m4a", sound.m4a, (25200 + number, seconds), options


def movies():
    """Width, height, frame rate, seconds, seconds between keyframes, kbit/s; 0.2 to 45 MB."""
    h264 = [
        (1920, 1080, 30, 60, 10, 7100), (1920, 1080, 60, 2, 2, 20000), (1920, 1080, 30, 6, 4, 6500),
        (1920, 1080, 24, 20, 10, 8000), (1920, 1080, 60, 8, 5, 9000), (1080, 1920, 30, 10, 1, 8000),
        (1080, 1920, 30, 5, 5, 4000), (1920, 1080, 25, 12, 8, 2500), (1280, 720, 30, 10, 8, 2500),
        (1280, 720, 30, 15, 5, 3000), (1280, 720, 60, 6, 2, 4000), (1280, 720, 24, 30, 10, 2000),
        (720, 1280, 30, 8, 1, 3000), (1280, 720, 25, 5, 2, 1200), (720, 1280, 30, 12, 10, 2200),
        (1280, 720, 30, 4, 4, 6000), (960, 540, 30, 10, 5, 1200), (848, 480, 30, 20, 10, 900),
        (854, 480, 25, 6, 6, 700), (640, 480, 30, 8, 8, 800), (480, 854, 30, 5, 2, 600), (640, 480, 15, 3, 3, 450),
    ]
    for number, (width, height, fps, seconds, group, rate) in enumerate(h264):
        yield (f"movie-{number:02}.mp4", "mp4", movie.mp4, (26000 + number, width, height, seconds), {
            **common(fps, group, rate), "index_first": number % 3 != 1, "has_sound": number % 4 != 3,
            "rotation": 90 if number in (2, 9) else 0, "profile": "baseline" if number in (5, 13, 21) else "high",
            "preset": "medium" if seconds <= 10 and number % 2 else "veryfast"})
    hevc = [(1920, 1080, 30, 6, 1, 7000), (1920, 1080, 30, 8, 8, 2500), (1080, 1920, 60, 3, 1, 9000),
            (1280, 720, 30, 10, 10, 1200), (848, 480, 24, 5, 5, 500)]
    for number, (width, height, fps, seconds, group, rate) in enumerate(hevc):
        yield (f"movie-hevc-{number}.mp4", "mp4-hevc", movie.mp4, (26100 + number, width, height, seconds), {
            **common(fps, group, rate), "index_first": number % 2 == 0, "codec": "hevc", "preset": "veryfast"})


def common(fps, group, rate):
    return {"fps": fps, "group": group * fps, "rate": rate * 1000, "noise": 4}
