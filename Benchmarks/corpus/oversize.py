"""Files to be rejected: a web page, and media that begin correctly but are too large."""

import movie as movies
import still


def page(path, size):
    """An HTML page of a given size in bytes."""
    row = "<p>A paragraph of no interest, again and again, as pages have them.</p>\n"
    head = "<!DOCTYPE html>\n<html><head><title>Not a picture</title></head><body>\n"
    text = head + row * ((size - len(head)) // len(row))
    with open(path, "w", encoding="ascii") as file:
        file.write(text.ljust(size))


def movie(path, seed, size):
    """The beginning of a real movie, followed by zeros."""
    movies.mp4(path, seed, 640, 360, 2)
    pad(path, size)


def picture(path, seed, size):
    still.jpeg(path, seed, 1600, 1200)
    pad(path, size)


def pad(path, size):
    with open(path, "r+b") as file:
        file.truncate(size)
