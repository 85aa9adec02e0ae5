"""The work of a pool process on a file: identify, convert, publish.

Files that iOS attaches are kept unchanged, other images are converted.
"""

import hashlib
import json
import os

import magic

import animation
import movie
import picture

STILLS = {"image/jpeg": "jpg", "image/png": "png", "image/gif": "gif"}
# libmagic does not recognize some MP3s; an MP4 may contain only audio.
MOVIES = {"video/mp4": "mp4"}
SOUNDS = {
    "audio/mpeg": "mp3", "application/octet-stream": "mp3", "audio/x-wav": "wav", "audio/x-aiff": "aiff",
    "audio/x-m4a": "m4a", "audio/mp4": "m4a",
}
NATIVE = {**STILLS, **MOVIES, **SOUNDS}
CONVERTED = {"image/webp", "image/heic", "image/heif", "image/avif", "image/tiff", "image/apng"}


def warm(side):
    """Runs slow initialization before the first file."""
    global COOKIE
    picture.warm(side)
    COOKIE = magic.Magic(mime=True)


def prepare(number, url, path, digest, output):
    """One line of JSON: the manifest or the error."""
    folder = f"{path}.partial"
    os.mkdir(folder)
    try:
        manifest = made(path, folder, digest, url)
    except Exception as error:
        return json.dumps({"url": url, "error": f"{type(error).__name__}: {error}"})
    line = json.dumps(manifest)
    with open(os.path.join(folder, "manifest.json"), "w", encoding="utf-8") as file:
        file.write(line)
    os.rename(folder, os.path.join(output, str(number)))
    return line


def made(path, folder, digest, url):
    kind = mime_type(path)
    size = os.path.getsize(path)
    if kind in CONVERTED:
        attachment, thumbnail = converted(kind, path, folder)
        attachment["sha256"] = file_digest(folder, attachment)
        os.remove(path)
    elif kind in NATIVE:
        thumbnail = thumbnail_of(kind, path, folder)
        attachment = {"file": "attachment." + NATIVE[kind], "bytes": size, "sha256": digest}
        os.rename(path, os.path.join(folder, attachment["file"]))
    else:
        raise ValueError(f"{kind} is not media")
    if thumbnail:
        thumbnail["sha256"] = file_digest(folder, thumbnail)
    return {"source": {"url": url, "mimeType": kind, "bytes": size, "sha256": digest}, "attachment": attachment,
            "thumbnail": thumbnail}


def mime_type(path):
    with open(path, "rb") as file:
        beginning = file.read(4096)
    kind = COOKIE.from_buffer(beginning)
    # The acTL chunk precedes the pixels.
    return "image/apng" if kind == "image/png" and b"acTL" in beginning.split(b"IDAT")[0] else kind


def converted(kind, path, folder):
    if kind == "image/apng":
        return animation.of_png(path, folder)
    if kind == "image/webp" and picture.pages(path) > 1:
        return animation.of_webp(path, folder)
    return picture.convert(path, folder)


def thumbnail_of(kind, path, folder):
    if kind in STILLS:
        return picture.thumbnail(path, folder, kind)
    return movie.thumbnail(path, folder) if kind in MOVIES else movie.cover(path, folder)


def file_digest(folder, written):
    with open(os.path.join(folder, written["file"]), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
