"""Stills and animations through pyvips."""

import os

SIDE = 300


def warm():
    global pyvips
    import pyvips

    pyvips.cache_set_max(0)


def thumbnail(path, folder, kind):
    """Decoded to its end, smaller on the way where the format can."""
    page = ""
    if kind == "image/gif":
        pages = pyvips.Image.new_from_file(path).get_n_pages()
        page = f",page={pages // 2}"
    reduced = pyvips.Image.thumbnail(f"{path}[fail-on=truncated{page}]", SIDE, height=SIDE, size="down")
    return write(in_srgb(reduced).copy_memory(), folder, "thumbnail", quality=85)


def convert(path, folder, kind):
    """Attachment and thumbnail from one decode."""
    header = pyvips.Image.new_from_file(path, fail_on="truncated", access="sequential")
    if kind == "image/webp" and header.get_n_pages() > 1:
        return convert_animation(path, folder, header.get_n_pages())
    whole = in_srgb(header.autorot() if orientation(header) == 1 else header.copy_memory().autorot()).copy_memory()
    small = whole.thumbnail_image(SIDE, height=SIDE, size="down").copy_memory()
    return write(whole, folder, "attachment", quality=90), write(small, folder, "thumbnail", quality=85)


def convert_animation(path, folder, pages):
    frames = pyvips.Image.new_from_file(path, n=-1, fail_on="truncated").copy_memory()
    name = "attachment.gif"
    # Half the default's effort; dithering makes moving pictures large.
    frames.gifsave(os.path.join(folder, name), dither=0, effort=3)
    height = frames.get_page_height()
    middle = frames.crop(0, pages // 2 * height, frames.width, height)
    small = middle.thumbnail_image(SIDE, height=SIDE, size="down").copy_memory()
    return {"file": name, "bytes": os.path.getsize(os.path.join(folder, name)), "width": frames.width,
            "height": height}, write(small, folder, "thumbnail", quality=85)


def orientation(image):
    return image.get("orientation") if image.get_typeof("orientation") else 1


def in_srgb(image):
    if image.get_typeof("icc-profile-data"):
        return image.icc_transform("srgb", embedded=True, intent="relative", black_point_compensation=True)
    return image.colourspace("srgb")


def write(image, folder, stem, quality):
    """JPEG, or PNG when something in it is transparent."""
    is_transparent = image.hasalpha() and image[image.bands - 1].min() < 255
    name = f"{stem}.{'png' if is_transparent else 'jpg'}"
    path = os.path.join(folder, name)
    if is_transparent:
        image.pngsave(path, strip=True)
    else:
        image = image[:-1] if image.hasalpha() else image
        image.jpegsave(path, Q=quality, strip=True, optimize_coding=True,
                       subsample_mode="off" if quality >= 90 else "on")
    return {"file": name, "bytes": os.path.getsize(path), "width": image.width, "height": image.height}


def from_pixels(pixels, width, height):
    return pyvips.Image.new_from_memory(pixels, width, height, 3, "uchar").copy(interpretation="srgb")


def of_bytes(data, folder):
    small = pyvips.Image.thumbnail_buffer(data, SIDE, height=SIDE, size="down")
    return write(in_srgb(small).copy_memory(), folder, "thumbnail", quality=85)
