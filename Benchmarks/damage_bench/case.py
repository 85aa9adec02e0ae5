"""A file of the benchmark: an intact one, one with a harmless oddity, or a damaged one."""

import dataclasses
import os

from locations import FILES

MOVIE, GIF, AUDIO = "movie", "GIF", "audio"
KINDS = [MOVIE, GIF, AUDIO]
INTACT, ODDITY = "intact", "oddity"


@dataclasses.dataclass(frozen=True)
class Base:
    """An intact file that damaged ones are made of."""

    name: str
    kind: str

    @property
    def extension(self):
        return os.path.splitext(self.name)[1]

    @property
    def format(self):
        """What decides how much damage can be known at all."""
        names = {".gif": "GIF", ".wav": "PCM", ".aiff": "PCM", ".mp3": "MP3", ".m4a": "AAC", ".aac": "AAC"}
        return names.get(self.extension) or ("HEVC" if "hevc" in self.name else "H.264")

    @property
    def stem(self):
        return os.path.splitext(self.name)[0]


@dataclasses.dataclass(frozen=True)
class Case:
    """`damage` is its class, which is a row of the table; `variant` says where and with which seed."""

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
