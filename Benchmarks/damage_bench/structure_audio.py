"""The structure of audio files: chunks of WAV and AIFF, headers and side data of MP3, headers of ADTS."""

import struct

import aac
import structure_movie
from bit_reader import BitReader
from payload import id3_length

RATES = [44100, 48000, 32000]
# Bit rates of Layer III in kbit/s, of MPEG-1 and MPEG-2.
BIT_RATES = [[0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
             [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]]
# Silence and tags after the last frame.
TAIL_MAX = 65536


def failures(data, extension):
    try:
        checks = {".mp3": mp3, ".aac": adts, ".wav": chunks, ".aiff": chunks}
        return checks.get(extension, structure_movie.failures)(data)
    except (IndexError, struct.error, EOFError):
        return {"cut"}


def chunks(data):
    """A format chunk, and media data inside the file; an unknown length means the rest of the file."""
    is_wave = data[:4] == b"RIFF" and data[8:12] == b"WAVE"
    if not is_wave and (data[:4] != b"FORM" or data[8:12] not in (b"AIFF", b"AIFC")):
        return {"header"}
    order, position, failed, format_found = "<" if is_wave else ">", 12, set(), False
    while position + 8 <= len(data):
        name, size = struct.unpack_from(order + "4sI", data, position)
        if name in (b"fmt ", b"COMM"):
            format_found = True
            failed |= wave_format(data, position + 8) if is_wave else set()
        if name in (b"data", b"SSND"):
            if size not in (0, 0xFFFFFFFF) and position + 8 + size > len(data) + 8:
                failed.add("cut")
            return failed | (set() if format_found else {"header"})
        position += 8 + size + size % 2
    return failed | {"no data"}


def wave_format(data, position):
    kind, channels, rate, per_second, block, bits = struct.unpack_from("<HHIIHH", data, position)
    is_sound = (kind in (1, 3, 0xFFFE) and block == channels * ((bits + 7) // 8) and per_second == rate * block
                and 0 < channels <= 8 and rate)
    return set() if is_sound else {"header"}


def mp3(data):
    """Contiguous frames, and side information that fits the bit reservoir of the preceding frames."""
    position, failed, first, reservoir, frames = id3_length(data), set(), None, 0, 0
    while position + 4 <= len(data):
        head = struct.unpack_from(">I", data, position)[0]
        found = mp3_header(head)
        # Version, layer, sample rate and mono or stereo are the same for all frames of a file.
        key = (head & 0xFFFE0C00, (head >> 6 & 3) == 3)
        if not found or first and key != first:
            break
        first = first or key
        size, side = found
        if position + size > len(data):
            failed.add("cut")
            break
        problem, reservoir = side_data(data[position + 4:position + size], side, head, reservoir)
        failed |= {problem} if problem and frames else set()
        position += size
        frames += 1
    rest = data[position:]
    is_tail = rest[:3] == b"TAG" or len(rest) < TAIL_MAX and not any(rest) or "cut" in failed
    return failed | (set() if frames > 1 else {"no frame"}) | (set() if is_tail else {"sync"})


def mp3_header(head):
    """Bytes of a Layer III frame, and of its side information."""
    version, layer, rate, frequency = head >> 19 & 3, head >> 17 & 3, head >> 12 & 15, head >> 10 & 3
    if head >> 21 != 0x7FF or version == 1 or layer != 1 or rate in (0, 15) or frequency == 3:
        return None
    is_first, is_mono = version == 3, (head >> 6 & 3) == 3
    hertz = RATES[frequency] >> (0 if is_first else 1 if version == 2 else 2)
    kilobits = BIT_RATES[0 if is_first else 1][rate]
    side = (17 if is_mono else 32) if is_first else (9 if is_mono else 17)
    return (144 if is_first else 72) * kilobits * 1000 // hertz + (head >> 9 & 1), side


def side_data(body, side, head, reservoir):
    """The failed check, and the size of the bit reservoir for the next frame."""
    is_first, channels = head >> 19 & 3 == 3, 1 if (head >> 6 & 3) == 3 else 2
    body = body[0 if head >> 16 & 1 else 2:]
    bits = BitReader(b"\x80" + body[:side].replace(b"\0\0\3", b"\0\0\3\3"), 4096)
    bits.read(8)
    back = bits.read(9 if is_first else 8)
    bits.read((3 if channels == 2 else 5) + 4 * channels if is_first else channels)
    used = 0
    problem = "reservoir" if back > reservoir else None
    for _ in range((2 if is_first else 1) * channels):
        length, big = bits.read(12), bits.read(9)
        bits.read(8 + (4 if is_first else 9))
        if bits.read(1):
            block = bits.read(2)
            bits.read(1 + 10 + 9)
            problem = problem or ("side data" if block == 0 else None)
        else:
            bits.read(15 + 4 + 3)
        bits.read(3 if is_first else 2)
        problem = problem or ("side data" if big > 288 else None)
        used += length
    there = len(body) - side
    if used > 8 * (back + there):
        problem = problem or "side data"
    return problem, min(511 if is_first else 255, max(0, back + there - (used + 7) // 8))


def adts(data):
    position, first, frames, failed = id3_length(data), None, 0, set()
    while position + 7 <= len(data):
        head = struct.unpack_from(">I", data, position)[0]
        size = int.from_bytes(data[position + 3:position + 6], "big") >> 5 & 0x1FFF
        # Fixed parts: sync, version, layer, profile, rate and channels.
        key = head & 0xFFFEFDC0
        if head >> 20 != 0xFFF or head >> 17 & 3 or first and key != first or size < 8:
            break
        first = first or key
        if position + size > len(data):
            failed.add("cut")
            break
        begin = position + (7 if head >> 16 & 1 else 9)
        if not aac.is_frame(data[begin], key >> 6 & 7):
            failed.add("AAC element")
        position += size
        frames += 1
    rest = data[position:]
    is_tail = rest[:3] == b"TAG" or not any(rest) or "cut" in failed
    return failed | (set() if frames > 1 else {"no frame"}) | (set() if is_tail else {"sync"})
