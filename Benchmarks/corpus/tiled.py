"""HEIC as phones write it: a grid of tiles of 512 pixels, each a separate HEVC image, optionally with a small preview.

No tool in Debian writes grids, so the boxes are written here; ffmpeg encodes the tiles as a movie of keyframes.
Source: ISO/IEC 23008-12 (HEIF), 6.6.2.3 (grid), 9 (items); ISO/IEC 14496-15 (hvcC).
"""

import os
import struct
import subprocess

from photograph import photograph
from wide_gamut import profile

TILE = 512
PREVIEW = (320, 240)


def heic(path, seed, width, height, has_preview=False, crf=18):
    picture = photograph(seed, width, height)
    configuration, tiles = coded(path, cells(picture), TILE, TILE, crf)
    preview = coded(path, [picture.resize(PREVIEW)], *PREVIEW, crf + 6) if has_preview else None
    with open(path, "wb") as file:
        file.write(document(width, height, configuration, tiles, preview))


def cells(picture):
    """Tiles row by row; the last ones extend over the edge and repeat it, because decoders crop them."""
    for top in range(0, picture.height, TILE):
        for left in range(0, picture.width, TILE):
            yield picture.crop((left, top, left + TILE, top + TILE))


def coded(path, pictures, width, height, crf):
    """The decoder configuration and the bytes of each image."""
    movie = path + ".tiles.mp4"
    encoder = subprocess.Popen(
        ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", "1",
         "-i", "-", "-vf", "scale=out_color_matrix=bt601:out_range=full,format=yuvj420p", "-c:v", "libx265",
         "-x265-params", f"keyint=1:crf={crf}:log-level=error:range=full:info=0", "-preset", "fast", "-tag:v", "hvc1",
         movie], stdin=subprocess.PIPE)
    for each in pictures:
        encoder.stdin.write(each.tobytes())
    encoder.stdin.close()
    if encoder.wait():
        raise RuntimeError("ffmpeg cannot encode the tiles")
    with open(movie, "rb") as file:
        data = file.read()
    os.remove(movie)
    return found(data, b"hvcC"), samples(data)


def found(data, kind):
    """The content of the first box of a kind."""
    place = data.index(kind)
    size = struct.unpack_from(">I", data, place - 4)[0]
    return data[place + 4:place - 4 + size]


def samples(data):
    """The frames of the movie, which are consecutive in its few chunks."""
    sizes = found(data, b"stsz")
    same, count = struct.unpack_from(">II", sizes, 4)
    lengths = [same] * count if same else struct.unpack_from(f">{count}I", sizes, 12)
    place, frames = data.index(b"mdat") + 4, []
    for length in lengths:
        frames.append(data[place:place + length])
        place += length
    return frames


def document(width, height, configuration, tiles, preview):
    """ftyp, meta and mdat. Items: 1 is the grid, 2… are tiles, the last may be the preview."""
    columns, rows = -(-width // TILE), -(-height // TILE)
    grid = struct.pack(">BBBBHH", 0, 0, rows - 1, columns - 1, width, height)
    bodies = [grid, *tiles, *(preview[1] if preview else [])]
    head = box(b"ftyp", b"heic\0\0\0\0mif1heic")
    meta = items(width, height, configuration, len(tiles), preview, bodies, 0)
    start = len(head) + len(meta) + 8
    return head + items(width, height, configuration, len(tiles), preview, bodies, start) + box(
        b"mdat", b"".join(bodies))


def items(width, height, configuration, tiles, preview, bodies, start):
    numbers = range(2, 2 + tiles)
    last = 2 + tiles
    kinds = [(1, b"grid")] + [(number, b"hvc1") for number in numbers] + ([(last, b"hvc1")] if preview else [])
    entries = b"".join(full(b"infe", 2, struct.pack(">HH", number, 0) + kind + b"\0", flags=number not in (1, last))
                       for number, kind in kinds)
    links = box(b"dimg", struct.pack(f">HH{tiles}H", 1, tiles, *numbers))
    if preview:
        links += box(b"thmb", struct.pack(">HHH", last, 1, 1))
    return full(b"meta", 0, b"".join([
        full(b"hdlr", 0, b"\0\0\0\0pict" + bytes(13)), full(b"pitm", 0, struct.pack(">H", 1)),
        places(bodies, start), full(b"iinf", 0, struct.pack(">H", len(kinds)) + entries), full(b"iref", 0, links),
        properties(width, height, configuration, numbers, preview, last)]))


def places(bodies, start):
    table = struct.pack(">BBH", 0x44, 0, len(bodies))
    for number, body in enumerate(bodies, 1):
        table += struct.pack(">HHHII", number, 0, 1, start, len(body))
        start += len(body)
    return full(b"iloc", 0, table)


def properties(width, height, configuration, numbers, preview, last):
    """1: grid size, 2: tile size, 3: decoder of the tiles, 4: colors, 5 and 6: size and decoder of the preview."""
    colours = box(b"colr", b"prof" + profile())
    held = [size(width, height), size(TILE, TILE), box(b"hvcC", configuration), colours]
    linked = [(1, [1, 4])] + [(number, [2, 0x83, 4]) for number in numbers]
    if preview:
        held += [size(*PREVIEW), box(b"hvcC", preview[0])]
        linked.append((last, [5, 0x86, 4]))
    table = struct.pack(">I", len(linked))
    for number, indexes in linked:
        table += struct.pack(">HB", number, len(indexes)) + bytes(indexes)
    return box(b"iprp", box(b"ipco", b"".join(held)) + full(b"ipma", 0, table))


def size(width, height):
    return full(b"ispe", 0, struct.pack(">II", width, height))


def box(kind, content):
    return struct.pack(">I", 8 + len(content)) + kind + content


def full(kind, version, content, flags=0):
    return box(kind, struct.pack(">I", version << 24 | flags) + content)
