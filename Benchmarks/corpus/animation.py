"""Typical animations: a camera pan over a scene, a bouncing sticker, a screen recording, a drawing of flat areas."""

import numpy
from PIL import ImageDraw

from photograph import photograph
from screen import INK, screen, sticker


def gif(path, seed, width, height, frames, motif="panned", colours=128):
    """Writes only the changed part of a frame, as most encoders do."""
    pictures = [indexed(picture, colours) for picture in MOTIFS[motif](seed, width, height, frames)]
    disposal = {"disposal": 2} if motif == "sticker" else {}
    pictures[0].save(path, "GIF", save_all=True, append_images=pictures[1:], duration=80, loop=0, **disposal)


def apng(path, seed, width, height, frames, motif="panned"):
    pictures = list(MOTIFS[motif](seed, width, height, frames))
    pictures[0].save(path, "PNG", save_all=True, append_images=pictures[1:], duration=80, loop=0)


def indexed(picture, colours):
    """Uses Pillow's octree for images with transparency, which its median cut does not support."""
    return picture.quantize(colours, method=2) if picture.mode == "RGBA" else picture.quantize(colours)


def webp(path, seed, width, height, frames, is_sticker=False):
    pictures = bounced(seed, width, frames) if is_sticker else panned(seed, width, height, frames)
    pictures[0].save(path, "WEBP", save_all=True, append_images=pictures[1:], duration=80, loop=0, quality=75,
                     method=3)


def panned(seed, width, height, frames):
    """A pan over a wider image, three pixels a frame."""
    scene = photograph(seed, width + 3 * frames, height, grain=1.5)
    return [scene.crop((3 * number, 0, 3 * number + width, height)) for number in range(frames)]


def bounced(seed, side, frames):
    """A sticker that moves on a transparent canvas."""
    whole = sticker(seed, side)
    pictures = []
    for number in range(frames):
        turned = whole.rotate(12 * (number % 8 - 4), resample=2)
        pictures.append(turned)
    return pictures


def recorded(seed, width, height, frames):
    """A screen on which a pointer moves and text appears."""
    page, dice = screen(seed, width, height), numpy.random.default_rng(seed)
    draw = ImageDraw.Draw(page)
    left, top = 40, height // 2
    for number in range(frames):
        wide = int(dice.integers(12, 60))
        draw.rectangle([left, top, left + wide, top + 16], fill=INK[number % len(INK)])
        left, top = (left + wide + 10, top) if left + wide < width - 120 else (40, 40 + (top + 24) % (height - 80))
        shown = page.copy()
        across, down = width * number // frames, height * (number * 2 % frames) // frames
        ImageDraw.Draw(shown).polygon([(across, down), (across, down + 22), (across + 15, down + 15)], fill=(0, 0, 0))
        yield shown


def drawn(seed, width, height, frames):
    """Flat areas of few colors, of which one moves."""
    page, dice = screen(seed, 64, 64).resize((width, height), resample=0), numpy.random.default_rng(seed)
    draw, side = ImageDraw.Draw(page), min(width, height)
    for _ in range(30):
        left, top = int(dice.integers(0, width)), int(dice.integers(0, height))
        box = [left, top, left + int(side * dice.uniform(0.02, 0.3)), top + int(side * dice.uniform(0.02, 0.3))]
        draw.ellipse(box, fill=INK[int(dice.integers(0, len(INK)))])
    for number in range(frames):
        shown = page.copy()
        left = (width - side // 5) * number // frames
        ImageDraw.Draw(shown).ellipse([left, side // 3, left + side // 5, side // 3 + side // 5], fill=INK[number % 5])
        yield shown


MOTIFS = {
    "panned": panned, "recorded": recorded, "drawn": drawn,
    "sticker": lambda seed, width, height, frames: bounced(seed, width, frames),
}
