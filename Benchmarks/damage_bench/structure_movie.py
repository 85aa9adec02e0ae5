"""The structure of an MP4, MOV or M4A: names of the checks that fail, none for an intact file."""

from box import boxes
from nal_units import checked
from sample_table import Broken, tracks


def failures(data):
    try:
        found = tracks(data)
    except Broken as error:
        return {str(error)}
    media = [(box.body, min(box.end, len(data))) for box in boxes(data) if box.type == b"mdat"]
    failed, used = set(), []
    for track in found:
        for offset, size in zip(track.offsets, track.sizes):
            if not any(start <= offset and offset + size <= end for start, end in media):
                failed.add("sample outside")
            used.append((offset, offset + size))
        failed |= checked(track, data) if track.handler == b"vide" else audio(track, data)
    used.sort()
    if any(first[1] > second[0] for first, second in zip(used, used[1:])):
        failed.add("samples overlap")
    return failed


def audio(track, data):
    """An AAC frame begins with the element of its channels; one or two of them, or with what fills."""
    if track.codec != b"mp4a":
        return {"parameter sets"}
    failed = set()
    # One channel begins with element 0, two with 1; 3, 4 and 6 are other data in front.
    channels = int.from_bytes(track.configuration[16:18], "big")
    expected = {1: 0, 2: 1}.get(channels)
    for offset, size in zip(track.offsets, track.sizes):
        element = data[offset] >> 5 if size and offset < len(data) else None
        if element is None or element not in (expected, 4, 6):
            failed.add("AAC element")
    return failed
