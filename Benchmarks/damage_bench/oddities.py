"""Harmless oddities: such files must be neither rejected nor re-encoded.

Each function yields (variant, bytes); all oddities occur in files of real recorders, editors and servers.
"""

import struct

import box
import stills
from case import STILL
from payload import chunk, id3_length

UNKNOWN = 0xFFFFFFFF
ID3V1 = b"TAG" + b"A title".ljust(125, b"\0")


def oddities(base, data):
    makers = {".mp3": mp3, ".wav": wave, ".aiff": aiff, ".gif": gif, ".aac": adts}
    yield from stills.oddities(base, data) if base.kind == STILL else makers.get(base.extension, mp4)(data)


def mp4(data):
    for number in [1, 8, 16]:
        yield f"trailing-{number}", data + bytes(number)
    yield "trailing-text", data + b"\r\n--boundary--\r\n"
    last = list(box.boxes(data))[-1]
    if last.type == b"mdat":
        for number in [1, 7, 300]:
            yield f"mdat-long-{number}", put(data, last.start, ">I", last.size + number)
        yield "mdat-open", put(data, last.start, ">I", 0)
    yield "free-behind", data + struct.pack(">I4s", 1024, b"free") + bytes(1016)


def mp3(data):
    first = id3_length(data)
    tag = max(data.find(b"Xing", first, first + 200), data.find(b"Info", first, first + 200))
    if tag > 0:
        count = struct.unpack_from(">I", data, tag + 8)[0]
        for change in [-1, 1, 2]:
            yield f"xing-{change:+}", put(data, tag + 8, ">I", count + change)
        yield "xing-bytes", put(data, tag + 12, ">I", struct.unpack_from(">I", data, tag + 12)[0] + 417)
    yield "id3v1", data + ID3V1
    yield "trailing-zeros", data + bytes(417)


def adts(data):
    yield "id3v1", data + ID3V1
    yield "id3v2", b"ID3\x04\0\0\0\0\0\x0A" + bytes(10) + data


def wave(data):
    start, size = chunk(data, b"data")
    for name, value in [("unknown", UNKNOWN), ("zero", 0)]:
        yield f"size-{name}", put(put(data, start - 4, "<I", value), 4, "<I", value)
    yield "size-long", put(data, start - 4, "<I", size + 4)
    yield "riff-zero", put(data, 4, "<I", 0)
    yield "trailing", data + bytes(7)


def aiff(data):
    yield "trailing", data + bytes(7)
    yield "form-long", put(data, 4, ">I", len(data) - 8 + 2)


def gif(data):
    yield "trailing-1", data + b"\0"
    yield "trailing-text", data + b"\r\n--boundary--\r\n"
    yield "trailer-twice", data + b";"
    if data.endswith(b";"):
        yield "no-trailer", data[:-1]


def put(data, offset, form, value):
    packed = struct.pack(form, value)
    return data[:offset] + packed + data[offset + len(packed):]
