"""Stills through pyvips, and animations as a column of pages."""

import os


def warm(side):
    """`side` is the longer side of the thumbnail in pixels."""
    global pyvips, SIDE
    import pyvips

    SIDE = side
    pyvips.cache_set_max(0)


def thumbnail(path, folder, kind):
    """Decodes completely, with shrink-on-load if the format supports it."""
    page = ""
    if kind == "image/gif":
        pages = pyvips.Image.new_from_file(path).get_n_pages()
        page = f",page={pages // 2}"
    reduced = pyvips.Image.thumbnail(f"{path}[fail-on=truncated{page}]", SIDE, height=SIDE, size="down")
    return write(in_srgb(reduced).copy_memory(), folder, "thumbnail", quality=85)


def convert(path, folder):
    """Attachment and thumbnail from one decode."""
    header = pyvips.Image.new_from_file(path, fail_on="truncated", access="sequential")
    whole = in_srgb(header.autorot() if orientation(header) == 1 else header.copy_memory().autorot()).copy_memory()
    small = whole.thumbnail_image(SIDE, height=SIDE, size="down").copy_memory()
    return write(whole, folder, "attachment", quality=90), write(small, folder, "thumbnail", quality=85)


def pages(path):
    return pyvips.Image.new_from_file(path).get_n_pages()


def all_pages(path):
    return pyvips.Image.new_from_file(path, n=-1, fail_on="truncated").copy_memory()


def stacked(frames, delays, plays):
    """The same from RGBA arrays; delays in hundredths of a second."""
    whole = pyvips.Image.arrayjoin([pyvips.Image.new_from_array(frame, interpretation="srgb") for frame in frames],
                                   across=1).copy_memory()
    whole.set_type(pyvips.GValue.gint_type, "page-height", frames[0].shape[0])
    whole.set_type(pyvips.GValue.gint_type, "loop", plays)
    whole.set_type(pyvips.GValue.array_int_type, "delay", [delay * 10 for delay in delays])
    return whole


def middle_page(whole, folder):
    height = whole.get_page_height()
    middle = whole.crop(0, whole.height // height // 2 * height, whole.width, height)
    small = middle.thumbnail_image(SIDE, height=SIDE, size="down").copy_memory()
    return write(small, folder, "thumbnail", quality=85)


def orientation(image):
    return image.get("orientation") if image.get_typeof("orientation") else 1


def in_srgb(image):
    if image.get_typeof("icc-profile-data"):
        return image.icc_transform("srgb", embedded=True, intent="relative", black_point_compensation=True)
    return image.colourspace("srgb")


def write(image, folder, stem, quality):
    """JPEG, or PNG for images with transparency."""
    has_holes = is_transparent(image)
    name = f"{stem}.{'png' if has_holes else 'jpg'}"
    path = os.path.join(folder, name)
    if has_holes:
        image.pngsave(path, strip=True)
    else:
        image = image[:-1] if image.hasalpha() else image
        image.jpegsave(path, Q=quality, strip=True, optimize_coding=True,
                       subsample_mode="off" if quality >= 90 else "on")
    return {"file": name, "bytes": os.path.getsize(path), "width": image.width, "height": image.height}


def is_transparent(image):
    return image.hasalpha() and image[image.bands - 1].min() < 255


def from_pixels(pixels, width, height):
    return pyvips.Image.new_from_memory(pixels, width, height, 3, "uchar").copy(interpretation="srgb")


def of_bytes(data, folder):
    small = pyvips.Image.thumbnail_buffer(data, SIDE, height=SIDE, size="down")
    return write(in_srgb(small).copy_memory(), folder, "thumbnail", quality=85)
