"""Rare color profiles: wide gamuts of editors, a scanner's gamma, gray, a press's CMYK table, and a profile for another
color space than that of its image.

Source: ICC.1:2010, 8.3.2 (N-component LUT-based profiles), 8.4 (monochrome), 10.10 (lut8Type).
"""

import struct

import numpy

from wide_gamut import CONNECTION_WHITE, DAYLIGHT, adaptation, document, place, profile, text, xyz

ADOBE = [(0.640, 0.330), (0.210, 0.710), (0.150, 0.060)]
PHOTO = [(0.7347, 0.2653), (0.1596, 0.8404), (0.0366, 0.0001)]
SRGB = [(0.640, 0.330), (0.300, 0.600), (0.150, 0.060)]
# Grid points per axis of the CMYK table; the profile has a typical size of 250 KB.
GRID = 17
# Share of red, green and blue that each ink of the press reflects: none is pure.
INKS = numpy.array([[0.05, 0.62, 0.90], [0.86, 0.07, 0.50], [0.98, 0.90, 0.06], [0.10, 0.10, 0.10]])


def named(name):
    """A profile as bytes."""
    return {
        "adobe": lambda: profile(ADOBE, 2.2), "photo": lambda: profile(PHOTO, 1.8),
        "scanner": lambda: profile(SRGB, 1.9), "gray": gray, "press": press,
    }[name]()


def gray():
    return document({
        b"desc": text("Grey of the benchmarks"), b"cprt": text("No rights reserved"), b"wtpt": place(CONNECTION_WHITE),
        b"kTRC": b"curv" + bytes(4) + struct.pack(">IH", 1, round(2.2 * 256)) + bytes(2)}, b"mntrGRAYXYZ ")


def press():
    """The mixed inks on paper, each point of the table in CIELAB."""
    return document({
        b"desc": text("A press of the benchmarks"), b"cprt": text("No rights reserved"),
        b"wtpt": place(CONNECTION_WHITE), b"A2B0": table()}, b"prtrCMYKLab ")


def table():
    unit = b"".join(struct.pack(">i", 65536 if row == column else 0) for row in range(3) for column in range(3))
    straight = bytes(range(256))
    return (b"mft1" + bytes(4) + struct.pack(">BBBx", 4, 3, GRID) + unit + straight * 4 + points() + straight * 3)


def points():
    """The last ink changes fastest."""
    steps = numpy.linspace(0, 1, GRID)
    amounts = numpy.stack(numpy.meshgrid(steps, steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 4)
    left = numpy.prod(1 - amounts[:, :, None] * (1 - INKS[None]), axis=1)
    lab = cielab(left ** 2.2 @ to_connection().T)
    coded = numpy.stack([lab[:, 0] * 2.55, lab[:, 1] + 128, lab[:, 2] + 128], axis=-1)
    return numpy.clip(coded.round(), 0, 255).astype(numpy.uint8).tobytes()


def to_connection():
    """From linear sRGB."""
    columns = numpy.array([xyz(*primary) for primary in SRGB]).T
    return adaptation() @ (columns * numpy.linalg.solve(columns, xyz(*DAYLIGHT)))


def cielab(colours):
    share = colours / CONNECTION_WHITE
    root = numpy.where(share > 0.008856, numpy.cbrt(share), 7.787 * share + 16 / 116)
    return numpy.stack([116 * root[:, 1] - 16, 500 * (root[:, 0] - root[:, 1]), 200 * (root[:, 1] - root[:, 2])], -1)
