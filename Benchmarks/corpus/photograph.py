"""A synthetic photograph from a seed: light, shapes, texture in octaves and sensor noise.

For a decoder, the bits per pixel and the uneven distribution of detail matter. Texture is therefore multiplied with a
slowly varying mask, and noise that increases with brightness is added.
"""

import numpy
from PIL import Image, ImageDraw

# Cell size of each texture octave in pixels, and its amplitude in 8-bit steps.
OCTAVES = [(700, 60), (180, 34), (48, 22), (14, 16), (5, 12), (2, 9.0)]
TEXTURED_FROM = 48


def photograph(seed, width, height, grain=5.0):
    """An RGB image of this size."""
    dice = numpy.random.default_rng(seed)
    detail = numpy.clip(1.6 * field(dice, width, height, 600) + 0.55, 0.05, 1.6)
    light = numpy.full((height, width), 120, numpy.float32)
    for cell, strength in OCTAVES:
        layer = field(dice, width, height, cell) * strength
        light += layer * detail if cell <= TEXTURED_FROM else layer
    light += shapes(dice, width, height)
    light += dice.standard_normal((height, width), numpy.float32) * grain * (0.6 + light / 400)
    return Image.fromarray(colored(dice, light, width, height))


def field(dice, width, height, cell):
    """Smooth noise between -1 and 1 with cells of about this many pixels."""
    small = dice.uniform(-1, 1, (height // cell + 3, width // cell + 3)).astype(numpy.float32)
    return numpy.asarray(Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC))


def shapes(dice, width, height):
    """Shapes with edges, to be added to the light."""
    canvas = Image.new("L", (width, height), 128)
    draw = ImageDraw.Draw(canvas)
    for _ in range(int(dice.integers(12, 40))):
        across, down = dice.integers(0, width), dice.integers(0, height)
        side = int(max(width, height) * dice.uniform(0.01, 0.18))
        shade = int(dice.integers(88, 168))
        box = [across, down, across + side, down + int(side * dice.uniform(0.4, 1.6))]
        (draw.ellipse if dice.random() < 0.5 else draw.rectangle)(box, fill=shade)
    return numpy.asarray(canvas, numpy.float32) - 128


def colored(dice, light, width, height):
    """The three bands: color varies slowly, as under real light."""
    bands = []
    for _ in range(3):
        drift = field(dice, width, height, 350) * 28 + field(dice, width, height, 40) * 7 + dice.uniform(-14, 14)
        bands.append(numpy.clip(light + drift, 0, 255).astype(numpy.uint8))
    return numpy.stack(bands, axis=-1)
