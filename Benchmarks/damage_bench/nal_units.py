"""Checks of a video sample without decoding it: its NAL units fill it, and their headers are plausible.

`checked(track, data)` returns the names of the failed checks.
"""

import struct

from bit_reader import BitReader
from box import boxes
from sample_table import Broken

# Sequences that the standards forbid inside a unit.
FORBIDDEN = [b"\0\0\0", b"\0\0\1", b"\0\0\2"]
VISUAL_ENTRY = 70


class H264:
    """Parameter sets from avcC, to which slices refer."""

    def __init__(self, box):
        self.length_size = (box[4] & 3) + 1
        position, self.frame_bits, self.pps = 6, None, set()
        for _ in range(box[5] & 31):
            size = struct.unpack_from(">H", box, position)[0]
            self.read_sps(BitReader(box[position + 3:position + 2 + size], 400))
            position += 2 + size
        count, position = box[position], position + 1
        for _ in range(count):
            size = struct.unpack_from(">H", box, position)[0]
            self.pps.add(BitReader(box[position + 3:position + 2 + size]).golomb())
            position += 2 + size
        if position > len(box) or not self.pps:
            raise Broken("parameter sets")
        self.frame = None

    def read_sps(self, bits):
        profile = bits.read(8)
        bits.read(16)
        bits.golomb()
        if profile in (100, 110, 122, 244):
            bits.golomb(), bits.golomb(), bits.golomb(), bits.read(1)
            if bits.read(1):
                return
        self.frame_bits = bits.golomb() + 4

    def check(self, units, is_sync):
        """Yields the failed checks of one sample."""
        pictures, first = 0, True
        for unit in units:
            kind = unit[0] & 31
            if unit[0] & 0x80 or not 1 <= kind <= 23:
                yield "NAL type"
                continue
            if kind not in (1, 5):
                continue
            pictures += 1
            if kind == 5 and not is_sync:
                yield "key frames"
            yield from self.slice(BitReader(unit[1:]), kind, unit[0] >> 5 & 3, first)
            first = False
        if not pictures:
            yield "no picture"

    def slice(self, bits, kind, reference, first):
        try:
            start, slice_type, pps = bits.golomb(), bits.golomb(), bits.golomb()
            if (start != 0) == first or slice_type > 9 or pps not in self.pps:
                yield "slice header"
                return
            if kind == 5 and (slice_type % 5 != 2 or reference == 0):
                yield "slice header"
            if self.frame_bits and first:
                yield from self.order(bits.read(self.frame_bits), kind, reference)
        except EOFError:
            yield "slice header"

    def order(self, frame, kind, reference):
        """frame_num counts reference frames, so a swapped frame is detected."""
        expected = self.frame
        self.frame = (frame + (1 if reference else 0)) % (1 << self.frame_bits)
        if kind == 5:
            if frame != 0:
                yield "frame order"
        elif expected is not None and frame != expected:
            yield "frame order"


class HEVC:
    def __init__(self, box):
        self.length_size = (box[21] & 3) + 1
        position, self.pps, kinds = 23, set(), set()
        for _ in range(box[22]):
            kind, count = box[position] & 63, struct.unpack_from(">H", box, position + 1)[0]
            position += 3
            for _ in range(count):
                size = struct.unpack_from(">H", box, position)[0]
                if kind == 34:
                    self.pps.add(BitReader(box[position + 4:position + 2 + size]).golomb())
                kinds.add(kind)
                position += 2 + size
        if position > len(box) or not kinds >= {32, 33, 34}:
            raise Broken("parameter sets")

    def check(self, units, is_sync):
        pictures, first = 0, True
        for unit in units:
            kind = unit[0] >> 1 & 63
            if len(unit) < 3 or unit[0] & 0x81 or unit[1] >> 3 or not unit[1] & 7 or 10 <= kind < 16 or kind > 47:
                yield "NAL type"
                continue
            if kind > 31:
                continue
            pictures += 1
            if 16 <= kind <= 23 and not is_sync:
                yield "key frames"
            bits = BitReader(unit[2:])
            try:
                if bits.read(1) != first or 16 <= kind <= 23 and bits.read(1) < 0 or bits.golomb() not in self.pps:
                    yield "slice header"
            except EOFError:
                yield "slice header"
            first = False
        if not pictures:
            yield "no picture"


def configuration(track):
    """avcC or hvcC of a sample entry."""
    makers = {b"avc1": (b"avcC", H264), b"avc3": (b"avcC", H264), b"hvc1": (b"hvcC", HEVC), b"hev1": (b"hvcC", HEVC)}
    if track.codec not in makers:
        raise Broken("parameter sets")
    name, maker = makers[track.codec]
    for box in boxes(track.configuration, VISUAL_ENTRY + 8):
        if box.type == name:
            try:
                return maker(track.configuration[box.body:box.end])
            except (struct.error, IndexError, EOFError) as error:
                raise Broken("parameter sets") from error
    raise Broken("parameter sets")


def tiled(sample, length_size):
    """The units of a sample; raises if they do not fill it exactly."""
    units, position = [], 0
    while position < len(sample):
        size = int.from_bytes(sample[position:position + length_size], "big")
        position += length_size
        if size == 0 or position + size > len(sample):
            raise Broken("NAL tiling")
        units.append(sample[position:position + size])
        position += size
    return units


def checked(track, data):
    """Names of the failed checks over all samples."""
    failed = set()
    try:
        rules = configuration(track)
    except Broken as error:
        return {str(error)}
    for number, (offset, size) in enumerate(zip(track.offsets, track.sizes)):
        try:
            units = tiled(data[offset:offset + size], rules.length_size)
        except Broken as error:
            failed.add(str(error))
            continue
        failed.update(rules.check(units, track.sync is None or number in track.sync))
        for unit in units:
            if any(each in unit for each in FORBIDDEN):
                failed.add("forbidden bytes")
            if unit[-1] == 0:
                failed.add("unit ends in zeros")
    return failed
