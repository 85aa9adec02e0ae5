"""The intact files: small movies, GIFs and audio files of common forms, made from seeds.

Audio is encoded without perceptual noise substitution: decoders insert random numbers there, whose sequence depends on
all preceding frames, so that after one lost frame all following audio would appear damaged.
"""

import os
import sys

import locations  # noqa: F401
from animation import bounced, panned
import stills
from case import AUDIO, GIF, MOVIE, STILL, Base
from locations import BASE
from movie import SHAKE, run
from photograph import photograph

H264 = ["-c:v", "libx264", "-preset", "medium", "-sc_threshold", "0"]
HEVC = ["-c:v", "libx265", "-preset", "fast", "-tag:v", "hvc1", "-x265-params", "log-level=error:scenecut=0"]
AAC = ["-c:a", "aac", "-aac_pns", "0"]
FRONT = ["-movflags", "+faststart"]
FRAGMENTED = ["-movflags", "+frag_keyframe+empty_moov+default_base_moof"]
# Name: seed, width, height, seconds, frames per GOP, codec, constant quality, container options.
MOVIES = {
    "movie-h264-480p-front.mp4": (1, 854, 480, 6, 250, H264, 24, FRONT),
    "movie-h264-480p-behind.mp4": (2, 854, 480, 6, 60, H264, 21, []),
    "movie-h264-480p-behind.mov": (3, 854, 480, 5, 150, H264, 24, []),
    "movie-hevc-540p-front.mov": (4, 960, 540, 5, 60, HEVC, 26, FRONT),
    "movie-hevc-720p-front.mp4": (5, 1280, 720, 4, 60, HEVC, 22, FRONT),
    "movie-hevc-480p-behind.mp4": (6, 854, 480, 8, 240, HEVC, 26, []),
    "movie-h264-480p-fragmented.mp4": (7, 854, 480, 6, 30, H264, 25, FRAGMENTED),
    "movie-h264-720p-group-1s.mp4": (8, 1280, 720, 6, 30, [*H264, "-bf", "3"], 22, FRONT),
    "movie-h264-360p-group-10s.mp4": (9, 640, 360, 20, 300, H264, 24, FRONT),
    "movie-h264-1080p-group-1s.mp4": (10, 1920, 1080, 3, 30, H264, 22, FRONT),
    "movie-h264-1080p-behind.mov": (11, 1920, 1080, 3, 90, H264, 27, []),
    "movie-h264-480p-baseline.mp4": (12, 640, 480, 3, 30, [*H264, "-profile:v", "baseline"], 24, FRONT),
}
NO_TAGS = ["-write_xing", "0", "-id3v2_version", "0", "-map_metadata", "-1"]
TAGS = ["-id3v2_version", "3", "-metadata", "title=A title", "-metadata", "artist=An artist"]
# Name: seed, channels, rate, seconds, options.
SOUNDS = {
    "audio-mp3-cbr.mp3": (1, 2, 44100, 10, ["-c:a", "libmp3lame", "-b:a", "128k"]),
    "audio-mp3-cbr-bare.mp3": (2, 2, 44100, 8, ["-c:a", "libmp3lame", "-b:a", "128k", *NO_TAGS]),
    "audio-mp3-vbr.mp3": (3, 2, 44100, 10, ["-c:a", "libmp3lame", "-q:a", "4", *TAGS]),
    "audio-mp3-vbr-bare.mp3": (4, 2, 48000, 8, ["-c:a", "libmp3lame", "-q:a", "5", *NO_TAGS]),
    "audio-mp3-mono-24k.mp3": (5, 1, 24000, 15, ["-c:a", "libmp3lame", "-b:a", "48k"]),
    "audio-wave-16.wav": (6, 2, 44100, 4, ["-c:a", "pcm_s16le"]),
    "audio-wave-24.wav": (7, 2, 48000, 3, ["-c:a", "pcm_s24le"]),
    "audio-aiff.aiff": (8, 2, 44100, 4, ["-c:a", "pcm_s16be"]),
    "audio-m4a-front.m4a": (9, 2, 44100, 12, [*AAC, "-b:a", "128k", *FRONT]),
    "audio-m4a-behind.m4a": (10, 2, 48000, 8, [*AAC, "-b:a", "96k"]),
    "audio-adts.aac": (11, 2, 44100, 8, [*AAC, "-b:a", "96k", "-f", "adts"]),
}


def movie(path, seed, width, height, seconds, group, codec, quality, container):
    still = path + ".png"
    photograph(seed, width * 5 // 4, height * 5 // 4, grain=0.5).save(still, "PNG", compress_level=1)
    tone = f"aevalsrc=0.2*sin({300 + 7 * seed}*2*PI*t)*sin(t)+0.05*random(0)|0.2*sin(440*2*PI*t):d={seconds}:s=48000"
    try:
        run("-loop", "1", "-framerate", "30", "-t", str(seconds), "-i", still, "-f", "lavfi", "-i", tone,
            "-vf", f"crop={width}:{height}:{SHAKE},noise=alls=4:allf=t,format=yuv420p", *codec, "-crf", str(quality),
            "-g", str(group), "-keyint_min", str(group), *AAC, "-b:a", "96k", "-shortest", *container, path)
    finally:
        os.remove(still)


def audio(path, seed, channels, rate, seconds, options):
    tone = f"0.3*sin({220 + 11 * seed}*2*PI*t)*sin(2*t)+0.08*random(0)"
    second = "|0.3*sin(330*2*PI*t)+0.05*random(1)" if channels == 2 else ""
    run("-f", "lavfi", "-i", f"aevalsrc={tone}{second}:d={seconds}:s={rate}", *options, path)


def local_palettes(path, seed, width, height, frames, interlace=0):
    pictures = [picture.quantize(64) for picture in panned(seed, width, height, frames)]
    pictures[0].save(path, "GIF", save_all=True, append_images=pictures[1:], duration=80, loop=0, interlace=interlace)


def transparent(path, seed, side, frames):
    pictures = bounced(seed, side, frames)
    pictures[0].save(path, "GIF", save_all=True, append_images=pictures[1:], duration=80, loop=0, disposal=2,
                     interlace=0)


def one_palette(path, seed, width, height, frames, flags):
    """GIFs as converters write them: a global palette, and only the changed part of each frame."""
    still = path + ".png"
    photograph(seed, width * 5 // 4, height * 5 // 4, grain=0.5).save(still, "PNG", compress_level=1)
    # The top and the bottom are black and static, as in a letterbox, so frames are smaller than the canvas.
    bars = f"drawbox=0:0:{width}:{height // 6}:black:fill,drawbox=0:{height * 5 // 6}:{width}:{height // 6}:black:fill"
    try:
        run("-loop", "1", "-framerate", "12", "-t", str(frames / 12), "-i", still, "-vf",
            f"crop={width}:{height}:{SHAKE},{bars},split[a][b];[a]palettegen=max_colors=96[p];"
            "[b][p]paletteuse=dither=none:diff_mode=rectangle",
            "-gifflags", flags, path)
    finally:
        os.remove(still)


ANIMATIONS = {
    "gif-2-frames.gif": (local_palettes, 21, 320, 240, 2),
    "gif-local-palettes.gif": (local_palettes, 22, 240, 180, 24),
    "gif-interlaced.gif": (local_palettes, 23, 300, 200, 12, 1),
    "gif-transparent.gif": (transparent, 24, 160, 16),
    "gif-partial-frames.gif": (one_palette, 25, 320, 240, 30, "+offsetting+transdiff"),
    "gif-whole-frames.gif": (one_palette, 26, 240, 240, 20, "-offsetting-transdiff"),
    "gif-100-frames.gif": (one_palette, 27, 120, 90, 100, "+offsetting+transdiff"),
    "gif-large-canvas.gif": (local_palettes, 28, 1600, 1200, 2),
}


def bases():
    """All intact files, in order."""
    return ([Base(name, MOVIE) for name in MOVIES] + [Base(name, GIF) for name in ANIMATIONS]
            + [Base(name, AUDIO) for name in SOUNDS] + [Base(name, STILL) for name in stills.MAKERS])


def make_bases():
    """Writes the missing files."""
    os.makedirs(BASE, exist_ok=True)
    for base in bases():
        path = os.path.join(BASE, base.name)
        if os.path.exists(path):
            continue
        part = os.path.join(BASE, "part-" + base.name)
        if base.kind == MOVIE:
            movie(part, *MOVIES[base.name])
        elif base.kind == STILL:
            stills.make(part, base.name)
        elif base.kind == AUDIO:
            audio(part, *SOUNDS[base.name])
        else:
            maker, *arguments = ANIMATIONS[base.name]
            maker(part, *arguments)
        os.replace(part, path)
        print(f"{os.path.getsize(path):>10}  {base.name}", file=sys.stderr, flush=True)


def read(base):
    with open(os.path.join(BASE, base.name), "rb") as file:
        return file.read()
