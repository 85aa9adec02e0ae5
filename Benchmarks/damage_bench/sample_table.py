"""The samples of an MP4 or MOV from its index, in moov or in fragments, for the structure checks.

Raises `Broken` if the index cannot be parsed or is inconsistent.
"""

import dataclasses
import struct

from box import boxes, find

SAMPLES_MAX = 200_000


class Broken(Exception):
    """The message is the name of the failed check."""


@dataclasses.dataclass
class Track:
    number: int
    handler: bytes
    # The first sample entry: its type and its boxes.
    codec: bytes
    configuration: bytes
    offsets: list = dataclasses.field(default_factory=list)
    sizes: list = dataclasses.field(default_factory=list)
    # Indices of the sync samples, from 0; None if all are.
    sync: object = None
    duration: int = 0
    declared: int = 0


def tracks(data):
    """All tracks with video or audio, their samples in decoding order."""
    try:
        movie = next(find(data, b"moov"), None)
        if movie is None or movie.end > len(data):
            raise Broken("no index")
        found = [track(data, box) for box in boxes(data, movie.body, movie.end) if box.type == b"trak"]
        if not found:
            raise Broken("no index")
        fragments(data, movie, {each.number: each for each in found})
        return [each for each in found if each.handler in (b"vide", b"soun")]
    except (struct.error, IndexError, StopIteration) as error:
        raise Broken("index does not parse") from error


def only(data, outer, path):
    return next(find(data, path, outer.body, outer.end))


def track(data, outer):
    header = only(data, outer, b"tkhd")
    number = struct.unpack_from(">I", data, header.body + (20 if data[header.body] else 12))[0]
    media = only(data, outer, b"mdia/mdhd")
    form, place = (">Q", 24) if data[media.body] else (">I", 16)
    declared = struct.unpack_from(form, data, media.body + place)[0]
    place = only(data, outer, b"mdia/hdlr").body
    handler = data[place + 8:place + 12]
    table = only(data, outer, b"mdia/minf/stbl")
    entries = only(data, table, b"stsd")
    size, codec = struct.unpack_from(">I4s", data, entries.body + 8)
    if not 16 <= size <= entries.end - entries.body - 8:
        raise Broken("index does not parse")
    result = Track(number, handler, codec, data[entries.body + 16:entries.body + 8 + size], declared=declared)
    if handler in (b"vide", b"soun"):
        read_table(data, table, result)
    return result


def numbers(data, box, form, width):
    """The entries of a table after version and count."""
    count = struct.unpack_from(">I", data, box.body + 4)[0]
    if count > SAMPLES_MAX or box.body + 8 + count * width > box.end:
        raise Broken("index does not parse")
    return [struct.unpack_from(form, data, box.body + 8 + number * width) for number in range(count)]


def read_table(data, table, result):
    sizes = only(data, table, b"stsz")
    same, count = struct.unpack_from(">II", data, sizes.body + 4)
    if count > SAMPLES_MAX or not same and sizes.body + 12 + 4 * count > sizes.end:
        raise Broken("index does not parse")
    result.sizes = [same] * count if same else list(struct.unpack_from(f">{count}I", data, sizes.body + 12))
    chunks = next(find(data, b"stco", table.body, table.end), None)
    wide = chunks is None
    chunks = chunks or only(data, table, b"co64")
    starts = [entry[0] for entry in numbers(data, chunks, ">Q" if wide else ">I", 8 if wide else 4)]
    spread(result, starts, numbers(data, only(data, table, b"stsc"), ">III", 12))
    times = numbers(data, only(data, table, b"stts"), ">II", 8)
    if sum(entry[0] for entry in times) != count:
        raise Broken("index contradicts itself")
    result.duration = sum(entry[0] * entry[1] for entry in times)
    composition = next(find(data, b"ctts", table.body, table.end), None)
    if composition and sum(entry[0] for entry in numbers(data, composition, ">Ii", 8)) != count:
        raise Broken("index contradicts itself")
    sync = next(find(data, b"stss", table.body, table.end), None)
    result.sync = sync and {entry[0] - 1 for entry in numbers(data, sync, ">I", 4)}
    if result.sync is not None and count and (min(result.sync, default=-1) != 0 or max(result.sync) >= count):
        raise Broken("index contradicts itself")
    if count and result.declared and abs(result.duration - result.declared) > max(0.05 * result.declared, 2048):
        raise Broken("index contradicts itself")


def spread(result, starts, runs):
    """Sets the offset of each sample, from chunks and runs of chunks."""
    firsts = [run[0] for run in runs]
    if starts and (not runs or firsts[0] != 1 or firsts != sorted(set(firsts)) or firsts[-1] > len(starts)):
        raise Broken("index contradicts itself")
    sample = 0
    for number, (first, per_chunk, entry) in enumerate(runs):
        last = firsts[number + 1] if number + 1 < len(runs) else len(starts) + 1
        if entry != 1:
            raise Broken("index contradicts itself")
        for chunk in range(first, last):
            position = starts[chunk - 1]
            for _ in range(per_chunk):
                if sample >= len(result.sizes):
                    raise Broken("index contradicts itself")
                result.offsets.append(position)
                position += result.sizes[sample]
                sample += 1
    if sample != len(result.sizes):
        raise Broken("index contradicts itself")


def fragments(data, movie, known):
    """Adds the samples of movie fragments."""
    extends = next(find(data, b"mvex", movie.body, movie.end), None)
    if extends is None:
        return
    defaults = {}
    for box in boxes(data, extends.body, extends.end):
        if box.type == b"trex":
            number, _, _, size = struct.unpack_from(">IIII", data, box.body + 4)
            defaults[number] = size
    sequence = 0
    for box in boxes(data):
        if box.type == b"moof" and box.end > len(data):
            raise Broken("sample outside")
        if box.type == b"moof":
            header = only(data, box, b"mfhd")
            previous, sequence = sequence, struct.unpack_from(">I", data, header.body + 4)[0]
            if sequence != previous + 1:
                raise Broken("index contradicts itself")
            for part in boxes(data, box.body, box.end):
                if part.type == b"traf":
                    fragment(data, box, part, known, defaults)


def fragment(data, outer, part, known, defaults):
    header = only(data, part, b"tfhd")
    flags, number = struct.unpack_from(">II", data, header.body)
    if number not in known:
        raise Broken("index contradicts itself")
    result, size = known[number], defaults.get(number, 0)
    position = header.body + 8 + (8 if flags & 1 else 0) + (4 if flags & 2 else 0) + (4 if flags & 8 else 0)
    if flags & 0x10:
        size = struct.unpack_from(">I", data, position)[0]
    for run in boxes(data, part.body, part.end):
        if run.type == b"trun":
            fragment_run(data, outer.start, run, result, size)


def fragment_run(data, base, run, result, size):
    flags, count = struct.unpack_from(">II", data, run.body)
    position, start = run.body + 8, base
    if flags & 1:
        start, position = base + struct.unpack_from(">i", data, position)[0], position + 4
    position += 4 if flags & 4 else 0
    width = 4 * bin(flags & 0xF00).count("1")
    if count > SAMPLES_MAX or position + count * width != run.end:
        raise Broken("index does not parse")
    skipped = 4 if flags & 0x100 else 0
    for number in range(count):
        length = struct.unpack_from(">I", data, position + number * width + skipped)[0] if flags & 0x200 else size
        result.offsets.append(start)
        result.sizes.append(length)
        start += length
