"""The boxes of an MP4 or MOV that the benchmark finds or changes."""

import dataclasses
import struct

CONTAINERS = {b"moov", b"trak", b"mdia", b"minf", b"stbl", b"moof", b"traf", b"mvex", b"edts", b"dinf"}


@dataclasses.dataclass(frozen=True)
class Box:
    type: bytes
    start: int
    # Start and end of the content.
    body: int
    end: int

    @property
    def size(self):
        return self.end - self.start


def boxes(data, start=0, end=None):
    """Boxes of one level. Stops without an error at invalid data; the last box may exceed the end."""
    end = len(data) if end is None else end
    while start + 8 <= end:
        size, kind = struct.unpack_from(">I4s", data, start)
        body = start + 8
        if size == 1 and start + 16 <= end:
            size, body = struct.unpack_from(">Q", data, start + 8)[0], start + 16
        elif size == 0:
            size = end - start
        if size < body - start:
            return
        yield Box(kind, start, body, start + size)
        start += size


def find(data, path, start=0, end=None):
    """All boxes at a path such as b"moov/trak"."""
    first, _, rest = path.partition(b"/")
    for box in boxes(data, start, end):
        if box.type == first:
            if rest:
                yield from find(data, rest, box.body, min(box.end, len(data)))
            else:
                yield box
