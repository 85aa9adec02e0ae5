"""The color profile of phones' images (P3 primaries, D65 white point, sRGB curve), and other matrix profiles.

Source: ICC.1:2010 (profile version 4.3), 8.3.3 (three-component matrix-based profiles); SMPTE RP 431-2.
"""

import struct

import numpy

PRIMARIES = [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060)]
DAYLIGHT = (0.3127, 0.3290)
CONNECTION_WHITE = (0.9642, 1.0, 0.8249)
# The Bradford matrix for chromatic adaptation.
CONES = numpy.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
# Gamma, a, b, c and d of the sRGB curve.
CURVE = (2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)


def profile(primaries=PRIMARIES, gamma=None):
    """The profile as bytes; with `gamma` instead of the sRGB curve."""
    red, green, blue = colorants(primaries).T
    curve = b"para" + bytes(4) + (struct.pack(">HH", 0, 0) + fixed(gamma) if gamma else
                                  struct.pack(">HH", 3, 0) + b"".join(fixed(value) for value in CURVE))
    tags = {
        b"desc": text("Wide gamut of the benchmarks"), b"cprt": text("No rights reserved"),
        b"wtpt": place(CONNECTION_WHITE), b"rXYZ": place(red), b"gXYZ": place(green), b"bXYZ": place(blue),
        b"rTRC": curve, b"gTRC": curve, b"bTRC": curve,
        b"chad": b"sf32" + bytes(4) + b"".join(fixed(value) for value in adaptation().flat),
    }
    return document(tags, b"mntrRGB XYZ ")


def document(tags, kinds):
    """A profile of these tags; `kinds` are device class, color space and connection space."""
    table, body, start = struct.pack(">I", len(tags)), b"", 128 + 4 + 12 * len(tags)
    for name, data in tags.items():
        table += name + struct.pack(">II", start + len(body), len(data))
        body += data.ljust(-(-len(data) // 4) * 4, b"\0")
    return header(start + len(body), kinds) + table + body


def header(size, kinds):
    dated = struct.pack(">6H", 2026, 6, 1, 0, 0, 0)
    white = b"".join(fixed(value) for value in CONNECTION_WHITE)
    return (struct.pack(">I", size) + bytes(4) + b"\x04\x30\0\0" + kinds + dated + b"acsp" + bytes(28) + white
            ).ljust(128, b"\0")


def xyz(x, y):
    return numpy.array([x / y, 1, (1 - x - y) / y])


def adaptation():
    """The adaptation from D65 to the connection space's white point."""
    scale = (CONES @ CONNECTION_WHITE) / (CONES @ xyz(*DAYLIGHT))
    return numpy.linalg.inv(CONES) @ numpy.diag(scale) @ CONES


def colorants(primaries):
    """The primaries in the connection space, as columns."""
    columns = numpy.array([xyz(*primary) for primary in primaries]).T
    return adaptation() @ (columns * numpy.linalg.solve(columns, xyz(*DAYLIGHT)))


def fixed(number):
    """A signed number with 16 fractional bits."""
    return struct.pack(">i", round(float(number) * 65536))


def place(values):
    return b"XYZ " + bytes(4) + b"".join(fixed(value) for value in values)


def text(words):
    encoded = words.encode("utf-16-be")
    return b"mluc" + bytes(4) + struct.pack(">II2s2sII", 1, 12, b"en", b"US", len(encoded), 28) + encoded
