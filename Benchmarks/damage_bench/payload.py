"""The range of a file's media data, between header and trailer."""

import struct

import box


def payload(data):
    """First byte, and the byte after the last."""
    if data[4:8] == b"ftyp":
        found = [found for found in box.boxes(data) if found.type == b"mdat"]
        return found[0].body, min(found[-1].end, len(data))
    if data[:4] == b"GIF8":
        return 13 + (3 << ((data[10] & 7) + 1) if data[10] & 0x80 else 0), len(data) - 1
    if data[:4] in (b"RIFF", b"FORM"):
        start, size = chunk(data, b"data" if data[:4] == b"RIFF" else b"SSND")
        return start, min(start + size, len(data))
    return id3_length(data), len(data)


def chunk(data, name):
    """Start of a chunk's content, and its length."""
    order = "<" if data[:4] == b"RIFF" else ">"
    start = 12
    while data[start:start + 4] != name:
        start += 8 + struct.unpack_from(order + "I", data, start + 4)[0]
        start += start % 2
    return start + 8, struct.unpack_from(order + "I", data, start + 4)[0]


def id3_length(data):
    if data[:3] != b"ID3":
        return 0
    size = 0
    for byte in data[6:10]:
        size = size << 7 | byte & 0x7F
    return 10 + size
