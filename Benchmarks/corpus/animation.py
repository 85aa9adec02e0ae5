"""Animations as people send them: a camera that moves over a scene, a sticker that bounces."""

from photograph import photograph
from screen import sticker


def gif(path, seed, width, height, frames):
    pictures = [picture.quantize(128) for picture in panned(seed, width, height, frames)]
    pictures[0].save(path, "GIF", save_all=True, append_images=pictures[1:], duration=80, loop=0)


def webp(path, seed, width, height, frames, is_sticker=False):
    pictures = bounced(seed, width, frames) if is_sticker else panned(seed, width, height, frames)
    pictures[0].save(path, "WEBP", save_all=True, append_images=pictures[1:], duration=80, loop=0, quality=75,
                     method=3)


def panned(seed, width, height, frames):
    """Cut out of a wider picture, three pixels further each time."""
    scene = photograph(seed, width + 3 * frames, height, grain=1.5)
    return [scene.crop((3 * number, 0, 3 * number + width, height)) for number in range(frames)]


def bounced(seed, side, frames):
    """On a canvas that stays, transparent around."""
    whole = sticker(seed, side)
    pictures = []
    for number in range(frames):
        turned = whole.rotate(12 * (number % 8 - 4), resample=2)
        pictures.append(turned)
    return pictures
