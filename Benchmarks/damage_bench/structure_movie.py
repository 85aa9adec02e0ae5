"""The structure of an MP4, MOV or M4A: names of the failed checks, none for an intact file."""

import aac
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
            if size == 0:
                failed.add("empty sample")
            used.append((offset, offset + size))
        failed |= checked(track, data) if track.handler == b"vide" else audio(track, data)
    used.sort()
    if any(first[1] > second[0] for first, second in zip(used, used[1:])):
        failed.add("samples overlap")
    return failed


def audio(track, data):
    """Each AAC frame begins with the element that its channel configuration requires."""
    if track.codec != b"mp4a":
        return {"parameter sets"}
    try:
        channels = aac.channels(track.configuration)
    except Broken as error:
        return {str(error)}
    starts = [data[offset:offset + 1] for offset, size in zip(track.offsets, track.sizes) if size]
    return set() if all(each and aac.is_frame(each[0], channels) for each in starts) else {"AAC element"}
