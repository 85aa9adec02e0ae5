"""A file of the benchmark: intact, with a harmless oddity, or damaged."""

import dataclasses
import os

from locations import FILES

MOVIE, GIF, AUDIO, STILL = "movie", "GIF", "audio", "still"
KINDS = [MOVIE, GIF, AUDIO, STILL]
INTACT, ODDITY = "intact", "oddity"


@dataclasses.dataclass(frozen=True)
class Base:
    """An intact file from which damaged ones are made."""

    name: str
    kind: str

    @property
    def extension(self):
        return os.path.splitext(self.name)[1]

    @property
    def format(self):
        """The format, which determines how much damage can be detected."""
        names = {".png": "PNG", ".webp": "WebP", ".heic": "HEIC", ".avif": "AVIF", ".jxl": "JPEG XL", ".tif": "TIFF",
                 ".jpg": "progressive JPEG" if "progressive" in self.name else "JPEG", ".gif": "GIF", ".wav": "PCM", ".aiff": "PCM", ".mp3": "MP3", ".m4a": "AAC", ".aac": "AAC"}
        return names.get(self.extension) or ("HEVC" if "hevc" in self.name else "H.264")

    @property
    def stem(self):
        return os.path.splitext(self.name)[0]


@dataclasses.dataclass(frozen=True)
class Case:
    """`damage` is the class, a row of the table; `variant` has the position and the seed."""

    base: Base
    damage: str
    variant: str
    sha256: str
    bytes: int

    @property
    def name(self):
        return file_name(self.base, self.damage, self.variant)

    @property
    def path(self):
        return os.path.join(FILES, self.name)

    @property
    def is_control(self):
        return self.damage in (INTACT, ODDITY)


def file_name(base, damage, variant):
    words = [base.stem, damage.replace(" ", "-"), variant]
    return ".".join(word for word in words if word) + base.extension
