"""What is to be refused: a page, and media that begin as they should and go on for too long."""

import movie as movies
import still


def page(path, size):
    """A page of HTML of that many bytes."""
    row = "<p>A paragraph of no interest, again and again, as pages have them.</p>\n"
    head = "<!DOCTYPE html>\n<html><head><title>Not a picture</title></head><body>\n"
    text = head + row * ((size - len(head)) // len(row))
    with open(path, "w", encoding="ascii") as file:
        file.write(text.ljust(size))


def movie(path, seed, size):
    """A real movie's beginning, and then nothing but zeros."""
    movies.mp4(path, seed, 640, 360, 2)
    pad(path, size)


def picture(path, seed, size):
    still.jpeg(path, seed, 1600, 1200)
    pad(path, size)


def pad(path, size):
    with open(path, "r+b") as file:
        file.truncate(size)
