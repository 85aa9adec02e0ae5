"""Animated WebP and PNG to GIF.

Opaque animations use libav's palette filters through PyAV: as exact and as small as libvips, in a third of the time.
Animations with transparency use libvips, which takes the same time for them and is more exact.
"""

import fractions
import os
import struct

import av
import av.filter

import movie
import picture

NAME = "attachment.gif"
# The unit of GIF delays.
TICK = fractions.Fraction(1, 100)


def of_png(path, folder):
    """Attachment and thumbnail from one decode."""
    with av.open(path) as container:
        stream = container.streams.video[0]
        frames = list(container.decode(stream))
    delays = [int(frame.duration * frame.time_base / TICK) for frame in frames]
    if any(component.is_alpha for component in frames[0].format.components) or frames[0].format.name == "pal8":
        return by_libvips(picture.stacked([frame.to_ndarray(format="rgba") for frame in frames], delays, plays(path)),
                          folder)
    return by_libav(frames, delays, plays(path), folder)


def of_webp(path, folder):
    whole = picture.all_pages(path)
    if picture.is_transparent(whole):
        return by_libvips(whole, folder)
    pixels, height = whole[:3].numpy(), whole.get_page_height()
    frames = [av.VideoFrame.from_ndarray(pixels[top:top + height], format="rgb24")
              for top in range(0, whole.height, height)]
    return by_libav(frames, [delay // 10 for delay in whole.get("delay")], whole.get("loop"), folder)


def plays(path):
    """The number of plays from the acTL chunk; 0 is forever."""
    with open(path, "rb") as file:
        beginning = file.read(65536)
    return struct.unpack_from(">I", beginning, beginning.index(b"acTL") + 8)[0]


def by_libvips(whole, folder):
    # Half the default effort; dithering makes animations large.
    whole.gifsave(os.path.join(folder, NAME), dither=0, effort=3)
    return described(whole.width, whole.get_page_height(), folder), picture.middle_page(whole, folder)


def by_libav(frames, delays, count, folder):
    """One palette for all frames; of each frame only the changed part."""
    width, height = frames[0].width, frames[0].height
    graph, source, sink = palette_graph(frames[0])
    at = 0
    for frame, delay in zip(frames, delays):
        frame.pts, frame.time_base, at = at, TICK, at + delay
        source.push(frame)
    source.push(None)
    # A GIF that is played once has no loop count.
    options = {"loop": str({0: 0, 1: -1}.get(count, count - 1)), "final_delay": str(delays[-1])}
    with av.open(os.path.join(folder, NAME), "w", format="gif", options=options) as output:
        stream = output.add_stream("gif", rate=100)
        stream.width, stream.height, stream.pix_fmt = width, height, "pal8"
        stream.codec_context.time_base = TICK
        for _ in frames:
            output.mux(stream.encode(sink.pull()))
        output.mux(stream.encode(None))
    pixels = movie.reduced(frames[len(frames) // 2])
    return described(width, height, folder), picture.write(picture.from_pixels(*pixels), folder, "thumbnail", 85)


def palette_graph(frame):
    graph = av.filter.Graph()
    source = graph.add("buffer", f"video_size={frame.width}x{frame.height}:pix_fmt={frame.format.name}:"
                                 f"time_base=1/100:pixel_aspect=1/1")
    split, sink = graph.add("split"), graph.add("buffersink")
    palette, use = graph.add("palettegen", "reserve_transparent=1"), graph.add(
        "paletteuse", "dither=none:diff_mode=rectangle")
    source.link_to(split)
    split.link_to(use, 0, 0)
    split.link_to(palette, 1, 0)
    palette.link_to(use, 0, 1)
    use.link_to(sink)
    graph.configure()
    return graph, source, sink


def described(width, height, folder):
    return {"file": NAME, "bytes": os.path.getsize(os.path.join(folder, NAME)), "width": width, "height": height}
