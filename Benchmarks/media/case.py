"""The sources of the budget report: one for each kind and processing, from a banner to a phone's movie."""

import dataclasses
import os

from media.recipe import X264, animation, make, movie, sound, still
from place import RESULTS

MEDIA = os.path.join(RESULTS, "budget/media")
JPEG = ["-pix_fmt", "yuvj420p", "-q:v"]
WEBP = ["-c:v", "libwebp", "-q:v"]
VP9 = ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"]


@dataclasses.dataclass(frozen=True)
class Case:
    """A source and its expected outcome."""

    kind: str
    what: str
    course: str
    file: str
    options: dict = dataclasses.field(default_factory=dict)
    # This case gets 1/`every` of the samples, because it encodes for seconds.
    one_in: int = 1

    @property
    def name(self):
        return f"{self.kind} {self.what}, {self.course}"

    @property
    def heavy(self):
        return self.one_in > 1

    @property
    def bytes(self):
        return os.path.getsize(os.path.join(MEDIA, self.file))


CASES = [
    Case("JPEG", "banner", "passed", "banner.jpg"),
    Case("JPEG", "3 MP", "passed", "photo-3mp.jpg"),
    Case("JPEG", "12 MP", "passed", "photo-12mp.jpg"),
    Case("JPEG", "24 MP", "shrunk", "photo-24mp.jpg", one_in=5),
    Case("PNG", "screenshot", "passed", "screenshot.png"),
    Case("PNG", "poster", "shrunk", "poster.png", one_in=5),
    Case("WebP", "2 MP", "converted", "hero.webp"),
    Case("WebP", "animated, 3 s", "converted", "reaction.webp", one_in=5),
    Case("GIF", "4 s", "passed", "sticker.gif"),
    Case("GIF", "11 s", "shrunk", "party.gif", one_in=20),
    Case("HEIC", "12 MP", "converted", "phone.heic"),
    Case("AVIF", "3 MP", "converted", "photo.avif"),
    Case("MP4", "720p, 5 s", "passed", "clip-5s.mp4"),
    Case("MP4", "1080p, 20 s", "passed", "teaser-20s.mp4"),
    Case("MP4", "1080p, 5 s", "display", "teaser-5s.mp4", {"rendition": "display"}, one_in=5),
    Case("MOV", "1080p, 10 s", "remuxed", "phone.mov"),
    Case("WebM", "720p, 5 s", "converted", "screencast.webm", one_in=5),
    Case("MP3", "3 min", "passed", "episode.mp3"),
    Case("WAV", "15 s", "passed", "voice.wav"),
    Case("WAV", "60 s", "shrunk", "interview.wav", one_in=5),
    Case("Opus", "30 s", "converted", "memo.opus"),
    Case("FLAC", "15 s", "converted", "concert.flac"),
]


def recipes():
    """Recipes in the order of their dependencies."""
    return {
        "banner.jpg": still("1038x519", 20, *JPEG, "4"),
        "photo-3mp.jpg": still("2048x1536", 20, *JPEG, "4"),
        "photo-12mp.jpg": still("4000x3000", 24, *JPEG, "4"),
        "photo-24mp.jpg": still("6000x4000", 40, *JPEG, "3"),
        "screenshot.png": still("1290x2796", 2, "-pix_fmt", "rgb24"),
        "poster.png": still("2800x2400", 12, "-pix_fmt", "rgb24"),
        "hero.webp": still("1600x1200", 10, *WEBP, "75"),
        "reaction.webp": animation("320x320", 3, 10, *WEBP, "60", "-loop", "0"),
        "sticker.gif": animation("240x240", 4, 10),
        "party.gif": animation("560x420", 11, 10),
        "phone.heic": ["heif-enc", "-q", "40", os.path.join(MEDIA, "photo-12mp.jpg"), "-o"],
        "photo.avif": ["heif-enc", "--avif", "-q", "50", os.path.join(MEDIA, "photo-3mp.jpg"), "-o"],
        "clip-5s.mp4": movie("1280x720", 5, "2800k", *X264),
        "teaser-5s.mp4": movie("1920x1080", 5, "5M", *X264),
        "teaser-20s.mp4": movie("1920x1080", 20, "5M", *X264),
        "phone.mov": movie("1920x1080", 10, "16M", *X264),
        "screencast.webm": movie("1280x720", 5, "2M", *VP9, sound="libopus"),
        "episode.mp3": sound(180, "-b:a", "128k"),
        "voice.wav": sound(15),
        "interview.wav": sound(60),
        "memo.opus": sound(30, "-c:a", "libopus", "-b:a", "48k"),
        "concert.flac": sound(15),
    }


def make_sources():
    """All files of all cases, made once."""
    make(MEDIA, recipes())
