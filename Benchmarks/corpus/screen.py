"""A screenshot: flat areas, rows of text, icons; and a sticker with soft edges."""

import numpy
from PIL import Image, ImageDraw, ImageFilter

from photograph import photograph

INK = [(17, 24, 39), (55, 65, 81), (37, 99, 235), (220, 38, 38), (107, 114, 128)]


def screen(seed, width, height):
    """An RGB image of an application: a bar, a photograph, paragraphs, buttons."""
    dice = numpy.random.default_rng(seed)
    canvas = Image.new("RGB", (width, height), (249, 250, 251))
    draw = ImageDraw.Draw(canvas)
    draw.rectangle([0, 0, width, height // 14], fill=(31, 41, 55))
    canvas.paste(photograph(seed, width, height // 5, grain=2), (0, height // 14))
    top = height // 14 + height // 5 + 40
    while top < height - 60:
        top = paragraph(dice, draw, width, top) if dice.random() < 0.8 else button(dice, draw, width, top)
    return canvas


def paragraph(dice, draw, width, top):
    """Rows of words, drawn as strokes like antialiased letters."""
    ink = INK[int(dice.integers(0, len(INK)))]
    for _ in range(int(dice.integers(2, 7))):
        left = 40
        while left < width - 140:
            left = word(dice, draw, left, top, ink) + 12
        top += 38
    return top + 30


def word(dice, draw, left, top, ink):
    for _ in range(int(dice.integers(2, 10))):
        tall = int(dice.integers(12, 22))
        soft = tuple((channel + 250) // 2 for channel in ink)
        draw.rectangle([left, top + 22 - tall, left + 2, top + 22], fill=ink)
        draw.line([left + 3, top + 22 - tall, left + 9, top + 14], fill=soft, width=2)
        draw.arc([left + 2, top + 8, left + 11, top + 22], int(dice.integers(0, 180)), 300, fill=ink, width=2)
        left += 14
    return left


def button(dice, draw, width, top):
    draw.rounded_rectangle([40, top, 40 + width // 3, top + 90], radius=24, fill=INK[int(dice.integers(0, 5))])
    return top + 130


def sticker(seed, side):
    """An RGBA image: a photograph cut out with a soft edge on a transparent background."""
    dice = numpy.random.default_rng(seed)
    mask = Image.new("L", (side, side), 0)
    draw = ImageDraw.Draw(mask)
    for _ in range(5):
        left, top = dice.integers(side // 8, side // 3, 2)
        right, bottom = dice.integers(side // 2, side * 7 // 8, 2)
        draw.ellipse([int(left), int(top), int(right), int(bottom)], fill=255)
    picture = photograph(seed, side, side, grain=2).convert("RGBA")
    picture.putalpha(mask.filter(ImageFilter.GaussianBlur(side / 120)))
    return picture
