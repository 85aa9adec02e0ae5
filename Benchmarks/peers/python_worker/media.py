"""What a process of the pool does with a file: look what it is, make what is needed, put it in place."""

import hashlib
import json
import os

import magic

import movie
import picture

NATIVE = {
    "image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "video/mp4": "mp4", "audio/mpeg": "mp3",
    "application/octet-stream": "mp3",
}
CONVERTED = {"image/webp", "image/heic", "image/heif", "image/avif"}


def warm():
    """Before the first file: what takes time at the start of a process."""
    global COOKIE
    picture.warm()
    COOKIE = magic.Magic(mime=True)


def prepare(number, url, path, digest, output):
    """One line of JSON: the manifest, or what is wrong."""
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
        attachment, thumbnail = picture.convert(path, folder, kind)
        attachment["sha256"] = file_digest(folder, attachment)
        os.remove(path)
    elif kind in NATIVE:
        thumbnail = thumbnail_of(kind, path, folder)
        attachment = {"file": "attachment." + NATIVE[kind], "bytes": size, "sha256": digest}
        os.rename(path, os.path.join(folder, attachment["file"]))
    else:
        raise ValueError(f"{kind} is no media")
    if thumbnail:
        thumbnail["sha256"] = file_digest(folder, thumbnail)
    return {"source": {"url": url, "mimeType": kind, "bytes": size, "sha256": digest}, "attachment": attachment,
            "thumbnail": thumbnail}


def mime_type(path):
    with open(path, "rb") as file:
        return COOKIE.from_buffer(file.read(4096))


def thumbnail_of(kind, path, folder):
    if kind == "video/mp4":
        return movie.thumbnail(path, folder)
    if kind in ("audio/mpeg", "application/octet-stream"):
        return movie.cover(path, folder)
    return picture.thumbnail(path, folder, kind)


def file_digest(folder, written):
    with open(os.path.join(folder, written["file"]), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
