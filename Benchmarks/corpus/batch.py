"""The mixed batch: 200 distinct files, 70 % of them JPEG, in typical sizes."""

import animation
import movie
import sound
import still
import tiled

# Width and height of landscape images, and the number of the 140 JPEGs that have them.
JPEG_SIZES = [
    (4032, 3024, 30), (4000, 2250, 8), (3264, 2448, 12), (2592, 1944, 16), (2048, 1536, 22), (1600, 1200, 22),
    (1920, 1080, 14), (1280, 960, 16),
]
# Phones store portrait images rotated: EXIF orientation 6, rarely 8 or 3.
ORIENTATIONS = [1, 1, 1, 6, 1, 6, 1, 1, 8, 1, 1, 3]


def entries():
    """Name, kind, function and arguments of each file; the name describes the content."""
    yield from jpegs()
    yield from pngs()
    yield from webps()
    yield from gifs()
    yield from heics()
    yield from movies()
    yield from sounds()


def jpegs():
    number = 0
    for width, height, count in JPEG_SIZES:
        for index in range(count):
            number += 1
            is_web = width <= 2048 and index % 3 == 0
            options = {
                "chroma": "4:4:4" if number % 9 == 0 else "4:2:2" if number % 13 == 0 else "4:2:0",
                "quality": 82 if is_web else [88, 90, 92][number % 3],
                "orientation": 1 if is_web else ORIENTATIONS[number % len(ORIENTATIONS)],
                "progressive": is_web and number % 2 == 0, "has_exif": not is_web, "grain": 3.5 + number % 4,
                # One phone manufacturer does, others do not.
                "is_wide": not is_web and number % 2 == 0,
            }
            # Some cameras rotate the pixels.
            sides = (height, width) if number % 7 == 0 else (width, height)
            yield f"jpeg-{number:03}.jpg", "jpeg", still.jpeg, (1000 + number, *sides), options


def pngs():
    sizes = [(1170, 2532), (1080, 2400), (1290, 2796), (1920, 1080), (1536, 2048), (1170, 2532)]
    for number, (width, height) in enumerate(sizes):
        yield f"png-screen-{number}.png", "png", still.png, (2000 + number, width, height), {"motif": "screen"}
    for number, (width, height) in enumerate([(1600, 1200), (1280, 960), (1024, 768), (1200, 1600), (800, 600)]):
        yield f"png-photo-{number}.png", "png", still.png, (2100 + number, width, height), {}
    for number, side in enumerate([512, 800, 1024, 640, 1200]):
        yield f"png-sticker-{number}.png", "png", still.png, (2200 + number, side, side), {"motif": "sticker"}


def webps():
    sizes = [(1200, 800), (1600, 1067), (1080, 1350), (2048, 1365), (800, 800), (1920, 1080), (1024, 683), (1280, 853)]
    for number, (width, height) in enumerate(sizes):
        yield f"webp-{number}.webp", "webp", still.webp, (3000 + number, width, height), {"quality": 76 + number}
    for number, side in enumerate([512, 768]):
        yield f"webp-sticker-{number}.webp", "webp", still.webp, (3100 + number, side, side), {"motif": "sticker"}
    yield "webp-lossless.webp", "webp", still.webp, (3200, 1170, 1600), {"motif": "screen", "lossless": True}
    yield "webp-moving-0.webp", "webp-moving", animation.webp, (3300, 480, 270, 24), {}
    yield "webp-moving-1.webp", "webp-moving", animation.webp, (3301, 320, 320, 16), {"is_sticker": True}
    yield "webp-moving-2.webp", "webp-moving", animation.webp, (3302, 320, 240, 20), {}


def gifs():
    for number, (width, height) in enumerate([(640, 480), (800, 600), (500, 500)]):
        yield f"gif-{number}.gif", "gif", still.gif, (4000 + number, width, height), {}
    for number, (width, height, frames) in enumerate([
            (480, 270, 30), (320, 240, 48), (498, 280, 40), (240, 240, 60), (400, 300, 20), (360, 640, 24),
            (480, 480, 16)]):
        yield f"gif-moving-{number}.gif", "gif", animation.gif, (4100 + number, width, height, frames), {}


def heics():
    for number, (width, height) in enumerate([(4032, 3024), (4032, 3024), (4032, 3024), (2048, 1536), (3024, 4032),
                                              (2048, 1536), (1920, 1440), (3264, 2448)]):
        # Large images are a phone's, small ones an encoder program's.
        maker = tiled.heic if width * height > 6_000_000 else still.heic
        yield f"heic-{number}.heic", "heic", maker, (5000 + number, width, height), {}


def movies():
    shapes = [(1280, 720, 12, 0), (1920, 1080, 10, 0), (720, 1280, 14, 0), (1280, 720, 20, 0), (1920, 1080, 12, 90),
              (1280, 720, 9, 270), (1080, 1920, 10, 0)]
    for number, (width, height, seconds, rotation) in enumerate(shapes):
        yield (f"movie-{number}.mp4", "mp4", movie.mp4, (6000 + number, width, height, seconds),
               {"rotation": rotation, "crf": 27})


def sounds():
    for number, (seconds, cover) in enumerate([(180, 0), (60, 600), (30, 0), (195, 1000), (95, 500)]):
        yield f"sound-{number}.mp3", "mp3", sound.mp3, (7000 + number, seconds), {"cover": cover}
