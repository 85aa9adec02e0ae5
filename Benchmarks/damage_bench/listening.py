"""Audible differences between a damaged file and the intact one.

A lost frame shifts all following audio, so samples that do not match at their position are searched nearby, in order.
Samples that are not found are lost or different; a difference is audible above a tenth of the signal and above -50 dB
of full scale.
"""

import numpy

WINDOW = 0.02
# Search range ahead of a window, in seconds.
REACH = 0.5
AUDIBLE, AUDIBLE_SHARE = 32768 * 10 ** (-50 / 20), 0.1


def compare(intact, damaged, rate):
    """Seconds of the intact audio that are lost or audibly different, or different at all, and what was added."""
    window = int(rate * WINDOW)
    first, second = intact.values, damaged.values
    raw, width = second.tobytes(), 2 * second.shape[1]
    offset, reached, lost, audible, different = 0, 0, 0, 0, 0
    count = max(1, len(first) // window)
    for number in range(count):
        start = number * window
        piece = first[start:start + window]
        there = second[start + offset:start + offset + window] if start + offset >= 0 else second[:0]
        if not numpy.array_equal(piece, there):
            found = search(piece, raw, width, reached, start + offset + int(rate * REACH))
            if found is not None:
                offset = found - start
            elif len(there) < len(piece):
                lost, audible, different = lost + 1, audible + is_loud(piece), different + 1
                continue
            else:
                audible, different = audible + is_audible(piece, there), different + 1
                continue
        reached = start + offset + window
    return {"seconds": len(first) / rate, "lost": lost * WINDOW, "visible": audible * WINDOW,
            "different": different * WINDOW, "added": max(0, len(second) - len(first)) / rate}


def search(piece, raw, width, start, end):
    """Position of the same samples from `start` on; None for silence."""
    if (piece == piece[0]).all():
        return None
    needle, position = piece.tobytes(), start * width
    while (position := raw.find(needle, position, end * width + len(needle))) >= 0:
        if position % width == 0:
            return position // width
        position += 1
    return None


def loudness(values):
    return float(numpy.sqrt(numpy.mean(numpy.square(values.astype(numpy.float32)))))


def is_loud(piece):
    return int(loudness(piece) > AUDIBLE)


def is_audible(piece, there):
    amount = loudness(piece.astype(numpy.int32) - there)
    return int(amount > AUDIBLE and amount > AUDIBLE_SHARE * loudness(piece))
