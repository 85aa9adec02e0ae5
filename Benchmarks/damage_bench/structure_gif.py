"""The structure of a GIF: its blocks, and the LZW codes of each frame, without composing frames."""

import struct


def failures(data):
    try:
        return walk(data)
    except (IndexError, struct.error):
        return {"cut"}


def walk(data):
    if data[:6] not in (b"GIF87a", b"GIF89a"):
        return {"header"}
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    position, failed, frames = 13 + table_size(flags), set(), 0
    while True:
        kind = data[position]
        if kind == 0x3B:
            return failed | (set() if frames else {"no frame"})
        if kind == 0x21:
            _, position = blocks(data, position + 2)
        elif kind == 0x2C:
            left, top, wide, tall, local = struct.unpack_from("<HHHHB", data, position + 1)
            if not wide or not tall or left + wide > width or top + tall > height:
                failed.add("frame outside")
            if not (flags | local) & 0x80:
                failed.add("no palette")
            position += 10 + table_size(local)
            bits = data[position]
            content, position = blocks(data, position + 1)
            problem = codes(content, bits, wide * tall)
            failed |= {problem} if problem else set()
            frames += 1
        else:
            return failed | {"blocks"}


def table_size(flags):
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def blocks(data, position):
    """The content of sub-blocks, and the offset of their end."""
    parts = []
    while size := data[position]:
        if position + 1 + size > len(data):
            raise IndexError
        parts.append(data[position + 1:position + 1 + size])
        position += 1 + size
    return b"".join(parts), position + 1


def codes(content, bits, pixels):
    """The failed check of a frame's codes; None if they fill its pixels exactly and then end."""
    if not 1 <= bits <= 11:
        return "code size"
    clear, end = 1 << bits, (1 << bits) + 1
    lengths = [1] * clear + [0, 0] + [0] * (4096 - clear - 2)
    width, following, previous, made = bits + 1, end + 1, None, 0
    value = held = 0
    for byte in content:
        value |= byte << held
        held += 8
        while held >= width:
            code = value & (1 << width) - 1
            value >>= width
            held -= width
            if code == clear:
                width, following, previous = bits + 1, end + 1, None
                continue
            if code == end:
                return None if made == pixels else "pixels"
            if code > following or code == following and (previous is None or following >= 4096):
                return "code range"
            if previous is not None and following < 4096:
                lengths[following] = lengths[previous] + 1
                following += 1
                if following == 1 << width and width < 12:
                    width += 1
            elif code >= following:
                return "code range"
            made += lengths[code]
            previous = code
            if made > pixels:
                return "pixels"
    return "no end code"
