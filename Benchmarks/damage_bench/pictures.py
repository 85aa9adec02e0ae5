"""Visible differences between the frames of a damaged file and those of the intact one, at the same times.

A frame differs visibly if it is missing, if a cell of 1/20 of its width differs by 8 of 255 on average, or if the whole
frame differs by 1.
"""

import numpy

CELL = 8
CELL_DIFFERENCE, PICTURE_DIFFERENCE = 8.0, 1.0
# Tolerance of times, in seconds.
EPSILON = 0.002


def compare(intact, damaged):
    """Shares of the time in which frames are lost, visibly different, or different at all; and the durations."""
    count = len(intact.times)
    durations = numpy.diff(intact.times, append=intact.times[-1] + typical(intact.times))
    shown = numpy.searchsorted(damaged.times, intact.times + EPSILON, side="right") - 1
    # A shorter movie ends with its last frame.
    end = damaged.times[-1] + 1.5 * durations.max() if len(damaged.times) else 0
    lost = (shown < 0) | (intact.times > end)
    differs, visible = lost.copy(), lost.copy()
    for number in numpy.flatnonzero(~lost):
        differs[number], visible[number] = difference(intact.pixels[number], damaged.pixels[shown[number]])
    return {"seconds": float(durations.sum()), "lost": float(durations[lost].sum()),
            "visible": float(durations[visible].sum()), "different": float(durations[differs].sum()),
            "pictures": count, "visiblePictures": int(visible.sum()), "differentPictures": int(differs.sum())}


def typical(times):
    return float(numpy.median(numpy.diff(times))) if len(times) > 1 else 0.1


def difference(first, second):
    """Whether two frames differ, and whether the difference is visible."""
    if first is second or numpy.array_equal(first, second):
        return False, False
    amount = numpy.abs(first.astype(numpy.int16) - second).max(axis=-1).astype(numpy.float32)
    tall, wide = amount.shape[0] // CELL * CELL, amount.shape[1] // CELL * CELL
    cells = amount[:tall, :wide].reshape(tall // CELL, CELL, wide // CELL, CELL).mean(axis=(1, 3))
    return True, bool(amount.mean() >= PICTURE_DIFFERENCE or cells.max() >= CELL_DIFFERENCE)
