"""An EXIF block as phones write it: camera, exposure, location, a maker note and a small thumbnail."""

import struct

ASCII, SHORT, LONG, RATIONAL, UNDEFINED = 2, 3, 4, 5, 7
SIZES = {ASCII: 1, SHORT: 2, LONG: 4, RATIONAL: 8, UNDEFINED: 1}


def block(orientation, width, height, number, thumbnail=b"", has_place=True):
    """The content of an APP1 segment, including the `Exif` identifier; `thumbnail` is a JPEG."""
    exposure = [
        (0x829A, RATIONAL, [(1, 60 + number)]), (0x829D, RATIONAL, [(18, 10)]), (0x8827, SHORT, [64 + number % 300]),
        (0x9000, UNDEFINED, b"0232"), (0x9003, ASCII, f"2026:06:{number % 28 + 1:02} 12:34:56\0".encode()),
        (0x920A, RATIONAL, [(57, 10)]), (0x927C, UNDEFINED, makers_note(number)), (0xA001, SHORT, [1]),
        (0xA002, LONG, [width]), (0xA003, LONG, [height]), (0xA405, SHORT, [26]),
    ]
    place = [
        (0x0001, ASCII, b"N\0"), (0x0002, RATIONAL, [(52, 1), (number % 60, 1), (1234, 100)]),
        (0x0003, ASCII, b"E\0"), (0x0004, RATIONAL, [(13, 1), (number % 60, 1), (4321, 100)]),
    ]
    main = [
        (0x010F, ASCII, b"Example\0"), (0x0110, ASCII, b"Telephone 7\0"), (0x0112, SHORT, [orientation]),
        (0x011A, RATIONAL, [(72, 1)]), (0x011B, RATIONAL, [(72, 1)]), (0x0128, SHORT, [2]),
        (0x0131, ASCII, b"1.2.3\0"), (0x0132, ASCII, b"2026:06:01 12:34:56\0"),
    ]
    return b"Exif\0\0" + tiff(main, {0x8769: exposure, **({0x8825: place} if has_place else {})}, thumbnail)


def makers_note(number):
    """A maker note: two kilobytes of opaque data."""
    return bytes((position * 31 + number * 17) & 0xFF for position in range(2048))


def tiff(main, children, thumbnail):
    """Consecutive directories: the main one, its subdirectories, and that of the thumbnail."""
    main = sorted(main + [(tag, LONG, [0]) for tag in children])
    small = [(0x0103, SHORT, [6]), (0x0201, LONG, [0]), (0x0202, LONG, [len(thumbnail)])] if thumbnail else []
    places, offset = {}, 8 + length(main)
    for tag, entries in children.items():
        places[tag], offset = offset, offset + length(entries)
    small_place, thumbnail_place = offset, offset + length(small)
    main = [(tag, kind, [places[tag]] if tag in places else value) for tag, kind, value in main]
    small = [(tag, kind, [thumbnail_place] if tag == 0x0201 else value) for tag, kind, value in small]
    parts = [b"II*\0" + struct.pack("<I", 8), directory(main, 8, small_place if small else 0)]
    parts += [directory(entries, places[tag], 0) for tag, entries in children.items()]
    return b"".join(parts) + (directory(small, small_place, 0) if small else b"") + thumbnail


def length(entries):
    """The bytes of a directory with the values of its entries."""
    outside = (size(kind, value) for _, kind, value in entries)
    return 6 + 12 * len(entries) + sum(even(count) for count in outside if count > 4)


def directory(entries, place, following):
    """A directory at an offset of the block."""
    head, tail, behind = struct.pack("<H", len(entries)), b"", place + 6 + 12 * len(entries)
    for tag, kind, value in entries:
        data = packed(kind, value)
        if len(data) > 4:
            field = struct.pack("<I", behind + len(tail))
            tail += data.ljust(even(len(data)), b"\0")
        else:
            field = data.ljust(4, b"\0")
        head += struct.pack("<HHI", tag, kind, len(data) // SIZES[kind]) + field
    return head + struct.pack("<I", following) + tail


def size(kind, value):
    return len(value) if isinstance(value, bytes) else SIZES[kind] * len(value)


def even(count):
    return count + count % 2


def packed(kind, value):
    if isinstance(value, bytes):
        return value
    if kind == RATIONAL:
        return b"".join(struct.pack("<II", *pair) for pair in value)
    return b"".join(struct.pack("<H" if kind == SHORT else "<I", number) for number in value)
