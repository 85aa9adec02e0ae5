"""Damage that files suffer in transfer or storage: pure functions of bytes, positions and seeds.

Each yields (class, variant, bytes). A class is a row of the table.
"""

import random
import zlib

import box
import stills
from case import AUDIO, GIF, INTACT, STILL
from payload import payload

BLOCK, LARGE_BLOCK = 4096, 65536
RANDOM_PLACES = 4
# Number of random choices of what is swapped, overwritten or flipped.
SWAPS, OVERWRITES, ROTS = 3, 3, 4


def damaged(base, data):
    """The intact file and all its damaged variants, without duplicates."""
    dice = random.Random(zlib.crc32(base.name.encode()))
    yield INTACT, "", data
    known = {data}
    makers = [cuts, zeros, noise, overwritten, index_damage, swapped, bit_rot]
    for maker in [stills.cuts, stills.holes] if base.kind == STILL else makers:
        for damage, variant, result in maker(base, data, dice):
            if result not in known:
                known.add(result)
                yield damage, variant, result


def cuts(_, data, __):
    for tenth in range(1, 10):
        yield "cut", f"at-{tenth}0", data[:len(data) * tenth // 10]
    yield "cut", "at-99", data[:len(data) * 99 // 100]
    yield "cut", "last-1024", data[:-1024]
    yield "cut", "last-16", data[:-16]


def places(data, length, dice):
    """Name and offset of every tenth, and of some positions between."""
    for tenth in range(10):
        yield f"at-{tenth}0", len(data) * tenth // 10
    for number in range(RANDOM_PLACES):
        yield f"random-{number}", dice.randrange(max(1, len(data) - length))


def replaced(data, start, content):
    """The same length with other bytes from an offset on."""
    content = content[:max(0, len(data) - start)]
    return data[:start] + content + data[start + len(content):]


def zeros(_, data, dice):
    for name, start in places(data, BLOCK, dice):
        yield "zeros 4 KB", name, replaced(data, start, bytes(BLOCK))


def noise(_, data, dice):
    for name, start in places(data, BLOCK, dice):
        yield "noise 4 KB", name, replaced(data, start, dice.randbytes(BLOCK))


def overwritten(_, data, dice):
    for number in range(OVERWRITES):
        if len(data) > 2 * LARGE_BLOCK:
            start = dice.randrange(len(data) - LARGE_BLOCK)
            yield "overwritten 64 KB", f"random-{number}", replaced(data, start, dice.randbytes(LARGE_BLOCK))


def swapped(_, data, dice):
    """Two disjoint ranges of the media data swapped."""
    start, end = payload(data)
    for length, name in [(BLOCK, "4k"), (LARGE_BLOCK, "64k")]:
        if end - start < 3 * length:
            continue
        for number in range(SWAPS):
            first = dice.randrange(start, end - 2 * length)
            second = dice.randrange(first + length, end - length)
            result = replaced(data, first, data[second:second + length])
            yield "swapped chunks", f"{name}-{number}", replaced(result, second, data[first:first + length])


def bit_rot(_, data, dice):
    whole = (0, len(data))
    for count in [1, 10, 100]:
        for name, (start, end) in [("file", whole), ("payload", payload(data))]:
            for number in range(ROTS):
                result = bytearray(data)
                for _ in range(count):
                    result[dice.randrange(start, end)] ^= 1 << dice.randrange(8)
                yield f"bit rot {count}", f"{name}-{number}", bytes(result)


def index_damage(base, data, dice):
    """The index is missing or wrong."""
    if base.extension in (".mp4", ".mov", ".m4a"):
        yield from missing_index(data, dice)
    elif base.kind == GIF:
        yield "index", "no-trailer", data[:-1]
        yield "index", "no-palette", replaced(data, 13, bytes(3 << ((data[10] & 7) + 1)))
        yield "index", "no-header", replaced(data, 0, bytes(13))
    elif base.kind == AUDIO:
        start, _ = payload(data)
        yield "index", "no-head", replaced(data, start if base.extension in (".mp3", ".aac") else 0, bytes(64))
        yield "index", "without-head", data[start:] if start else data[64:]
        if base.extension == ".mp3":
            yield "index", "without-first-frames", data[start + 900:]


def missing_index(data, dice):
    names = [b"moov", b"moof", b"mfra"]
    for number, found in enumerate([found for found in box.boxes(data) if found.type in names][:4]):
        name = found.type.decode()
        yield "index", f"without-{name}-{number}", data[:found.start] + data[found.end:]
        yield "index", f"free-{name}-{number}", replaced(data, found.start + 4, b"free")
        start = found.body + found.size // 2
        yield "index", f"zeros-{name}-{number}", replaced(data, start, bytes(min(256, found.end - start)))
    for table in [b"stsz", b"stco", b"stsc", b"stts", b"stsd"]:
        for number, found in enumerate(box.find(data, b"moov/trak/mdia/minf/stbl/" + table)):
            if found.size < 24:
                continue
            length = min(64, found.end - found.body - 8)
            start = dice.randrange(found.body + 8, found.end - length + 1)
            yield "index", f"noise-{table.decode()}-{number}", replaced(data, start, dice.randbytes(length))
