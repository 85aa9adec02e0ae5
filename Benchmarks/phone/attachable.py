"""File types that iOS attaches, by extension, and the kind of a file by its content."""

import os
import urllib.parse

DOCUMENTED = {
    "jpg": "image", "jpeg": "image", "png": "image", "gif": "image", "aiff": "audio", "aif": "audio", "wav": "audio",
    "mp3": "audio", "m4a": "audio", "mpg": "movie", "mpeg": "movie", "m2v": "movie", "mp4": "movie", "avi": "movie",
}
OBSERVED = {
    "heic": "image", "caf": "audio", "aifc": "audio", "amr": "audio", "au": "audio", "ac3": "audio", "eac3": "audio",
    "mov": "movie", "m4v": "movie", "3gp": "movie", "3g2": "movie",
}
ATTACHABLE = {**DOCUMENTED, **OBSERVED}
TYPES = {"image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "audio/mpeg": "mp3", "audio/mp4": "m4a",
         "audio/wav": "wav", "audio/aiff": "aiff", "video/mp4": "mp4", "video/mpeg": "mpg", "image/heic": "heic",
         "video/quicktime": "mov"}
BYTES_MAX = {"image": 10_000_000, "audio": 5_000_000, "movie": 50_000_000}
STARTS = [(b"\xff\xd8\xff", "image"), (b"\x89PNG", "image"), (b"GIF8", "image"), (b"BM", "image"),
          (b"II*\0", "image"), (b"MM\0*", "image"), (b"ID3", "audio"), (b"FORM", "audio"), (b"fLaC", "audio"),
          (b"OggS", "audio"), (b"caff", "audio"), (b"\0\0\1\xba", "movie"), (b"\0\0\1\xb3", "movie"),
          (b"\x1a\x45\xdf\xa3", "movie")]


def rejection(address, answer, head, received):
    """The reason why iOS does not attach the file; None if it does."""
    extension = os.path.splitext(urllib.parse.urlsplit(address).path)[1][1:].lower()
    if extension not in ATTACHABLE:
        extension = extension if extension else TYPES.get(answer.headers.get_content_type(), "")
    kind = ATTACHABLE.get(extension)
    if kind is None:
        return "type"
    if not 0 < received <= BYTES_MAX[kind]:
        return "size"
    return None if content_kind(head) == kind else "nothing to draw"


def content_kind(head):
    """The kind of media by the first bytes; None if it is not media."""
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        if brand in [b"heic", b"heix", b"mif1", b"avif", b"msf1"]:
            return "image"
        return "audio" if brand in [b"M4A ", b"M4B "] else "movie"
    if head[:4] == b"RIFF":
        return {b"WAVE": "audio", b"AVI ": "movie", b"WEBP": "image"}.get(head[8:12])
    if len(head) > 1 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0 and head[1] != 0xFF and head[1] != 0xD8:
        return "audio"
    return next((kind for start, kind in STARTS if head.startswith(start)), None)
