"""Files for single rows of the table."""

import movie
import oversize
import still
import tiled


def entries():
    """Name, kind, function and arguments of each file."""
    yield "tiny.png", "png", still.png, (8999, 16, 16), {}
    yield "photo-12mp.jpg", "jpeg", still.jpeg, (9000, 4032, 3024), {}
    yield "photo-12mp-upright.jpg", "jpeg", still.jpeg, (9001, 4032, 3024), {"orientation": 6}
    yield "passed.jpg", "jpeg", still.jpeg, (9002, 4032, 3024), {"quality": 95, "grain": 6.0}
    yield "passed.png", "png", still.png, (9010, 2240, 1680), {}
    yield "passed.mp4", "mp4", movie.mp4, (9003, 1280, 720, 20), {"rate": 2_600_000, "preset": "veryfast"}
    yield "long-group.mp4", "mp4", movie.mp4, (9004, 1920, 1080, 20), {"crf": 26}
    yield "phone.heic", "heic", tiled.heic, (9005, 4032, 3024), {}
    yield "phone-preview.heic", "heic", tiled.heic, (9005, 4032, 3024), {"has_preview": True}
    yield "software.heic", "heic", still.heic, (9005, 4032, 3024), {}
    yield "phone.avif", "avif", still.avif, (9006, 4032, 3024), {}
    yield ("phone.mov", "mov", movie.mp4, (9007, 1920, 1080, 24),
           {"rate": 15_000_000, "preset": "ultrafast", "index_first": False, "group": 30, "noise": 20})
    yield "still.webp", "webp", still.webp, (9012, 2048, 1536), {}
    yield "tiny.mov", "mov", movie.mp4, (9008, 64, 48, 1), {"index_first": False}
    yield "page.html", "html", oversize.page, (30_000_000,), {}
    yield "oversize.mp4", "oversize", oversize.movie, (9009, 60_000_000), {}
    yield "oversize.jpg", "oversize", oversize.picture, (9011, 30_000_000), {}
