"""Movies and audio through PyAV."""

import av

import picture


def thumbnail(path, folder):
    """The exact middle frame, decoded from the keyframe before it without non-reference frames."""
    with av.open(path) as container:
        stream = container.streams.video[0]
        if stream.codec_context.name not in ("h264", "hevc"):
            raise ValueError(f"{stream.codec_context.name} is not supported")
        stream.thread_type = "FRAME"
        stream.codec_context.thread_count = 2
        target = int(container.duration / 2 / av.time_base / stream.time_base)
        container.seek(target, stream=stream, backward=True)
        frame = frame_at(container, stream, target)
        rotation = frame.rotation
        pixels, width, height = reduced(frame)
    image = picture.from_pixels(pixels, width, height)
    return picture.write(turned(image, rotation), folder, "thumbnail", quality=85)


def frame_at(container, stream, target):
    """The last frame not later than the time."""
    stream.codec_context.skip_frame = "NONREF"
    packets, wanted = [], None
    for packet in container.demux(stream):
        packets.append(packet)
        if packet.dts is None or packet.dts > target:
            break
    times = [packet.pts for packet in packets if packet.pts is not None and packet.pts <= target]
    wanted = max(times) if times else packets[0].pts
    for packet in [*packets, None]:
        if packet is not None and packet.pts == wanted:
            stream.codec_context.skip_frame = "DEFAULT"
        for frame in stream.codec_context.decode(packet):
            if frame.pts == wanted:
                return frame
        if packet is not None:
            stream.codec_context.skip_frame = "NONREF"
    raise ValueError("the frame was not found")


def reduced(frame):
    """RGB in the thumbnail's size, with one swscale conversion."""
    scale = min(1, picture.SIDE / max(frame.width, frame.height))
    width, height = max(1, round(frame.width * scale)), max(1, round(frame.height * scale))
    small = frame.reformat(width, height, "rgb24", interpolation="BICUBIC")
    plane = small.planes[0]
    data = memoryview(plane)
    if plane.line_size == width * 3:
        return bytes(data[:width * 3 * height]), width, height
    rows = (data[row * plane.line_size:row * plane.line_size + width * 3] for row in range(height))
    return b"".join(rows), width, height


def turned(image, rotation):
    """PyAV's angles are counterclockwise."""
    return {90: image.rot270, 180: image.rot180, 270: image.rot90}.get(rotation % 360, lambda: image)()


def cover(path, folder):
    with av.open(path) as container:
        pictures = [stream for stream in container.streams.video if stream.disposition & 0x400]
        if not pictures:
            return None
        packet = next(container.demux(pictures[0]))
        return picture.of_bytes(bytes(packet), folder)
