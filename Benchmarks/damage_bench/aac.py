"""The AAC configuration in an MP4, and the first element of a frame."""

from bit_reader import BitReader
from sample_table import Broken

RATES = [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350]
# Main, LC, SSR, LTP, SBR and PS.
OBJECT_TYPES = {1, 2, 3, 4, 5, 29}
ES, DECODER, SPECIFIC = 3, 4, 5
# Elements that may precede the channels: data and fill elements.
OTHER_ELEMENTS = {4, 6}


def first_element(channels):
    """The type of the first element of a frame if it is certain: 0 is a single channel, 1 a channel pair."""
    return {1: 0, 2: 1}.get(channels)


def is_frame(byte, channels):
    expected = first_element(channels)
    return expected is None or byte >> 5 in (expected, *OTHER_ELEMENTS)


def channels(entry):
    """The element from the decoder configuration in a sample entry; both must have the same sample rate."""
    try:
        bits = BitReader(specific(entry))
        if bits.read(5) not in OBJECT_TYPES:
            raise Broken("audio configuration")
        index = bits.read(4)
        rate = bits.read(24) if index == 15 else RATES[index]
        shown = int.from_bytes(entry[24:26], "big")
        # With spectral band replication, half the sample rate is coded.
        if shown and rate not in (shown, shown // 2):
            raise Broken("audio configuration")
        return bits.read(4)
    except (IndexError, EOFError) as error:
        raise Broken("audio configuration") from error


def specific(entry):
    """The decoder configuration inside the descriptors of esds."""
    position = entry.find(b"esds")
    if position < 0:
        raise Broken("audio configuration")
    tag, position, _ = descriptor(entry, position + 8)
    expect(tag, ES)
    tag, position, _ = descriptor(entry, position + 3)
    expect(tag, DECODER)
    tag, position, size = descriptor(entry, position + 13)
    expect(tag, SPECIFIC)
    return entry[position:position + size]


def expect(tag, expected):
    if tag != expected:
        raise Broken("audio configuration")


def descriptor(data, position):
    """Tag, start of the content and its length."""
    tag, size = data[position], 0
    for _ in range(4):
        position += 1
        size = size << 7 | data[position] & 0x7F
        if not data[position] & 0x80:
            break
    return tag, position + 1, size
