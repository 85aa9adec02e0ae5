"""The media of samples/campaign.jsonl: the samples, and larger files that are made once."""

import os
import shutil

from media.recipe import X264, animation, make, movie, sound, still
from place import ROOT

FOLDER = os.path.join(ROOT, ".build/campaign")
SAMPLES = os.path.join(ROOT, "samples/media")
JPEG = ["-pix_fmt", "yuvj420p", "-q:v", "4"]
# Always made: the HEIC is made from it.
PHOTO = "photo-2mp.jpg"
LARGE = {
    "photo-12mp.jpg": still("4000x3000", 24, *JPEG),
    PHOTO: still("1600x1200", 20, *JPEG),
    "banner.jpg": still("1038x519", 20, *JPEG),
    "screenshot.png": still("1290x2796", 2, "-pix_fmt", "rgb24"),
    "poster.png": still("2800x2400", 12, "-pix_fmt", "rgb24"),
    "poster.tiff": still("3200x2400", 12, "-pix_fmt", "rgb24", "-compression_algo", "raw"),
    "party.gif": animation("560x420", 8, 10),
    "sticker.gif": animation("240x240", 4, 10),
    "hero.webp": still("1600x1200", 10, "-c:v", "libwebp", "-q:v", "75"),
    "reaction.webp": animation("320x320", 3, 10, "-c:v", "libwebp", "-q:v", "60", "-loop", "0"),
    "phone.heic": ["heif-enc", "-q", "85", os.path.join(FOLDER, PHOTO), "-o"],
    "teaser-1080p.mp4": movie("1920x1080", 20, "8M", *X264),
    "clip-720p.mp4": movie("1280x720", 14, "2800k", *X264),
    "phone.mov": movie("1920x1080", 20, "16M", *X264),
    "screencast.webm": movie("1280x720", 16, "3M", "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8",
                             sound="libopus"),
    "episode.mp3": sound(600, "-b:a", "128k"),
    "episode.m4a": sound(240, "-b:a", "128k", "-c:a", "aac"),
    "interview.wav": sound(70),
    "concert.flac": sound(90),
}


def make_media(sent):
    """The samples and the large files of the payloads, in one folder."""
    os.makedirs(FOLDER, exist_ok=True)
    for name in os.listdir(SAMPLES):
        shutil.copy2(os.path.join(SAMPLES, name), FOLDER)
    make(FOLDER, {name: command for name, command in LARGE.items()
                  if name == PHOTO or any(f"/{name}" in text for _, text in sent)})
