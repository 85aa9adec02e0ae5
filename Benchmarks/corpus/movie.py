"""Movies as phones and web services write them: H.264 with long GOPs, and AAC."""

import os
import subprocess

from photograph import photograph

# A slow pan with camera shake, over a still larger than the frame.
SHAKE = "x='(iw-ow)/2*(1+0.9*sin(t/3))+6*sin(t*5)':y='(ih-oh)/2*(1+0.9*cos(t/4))+5*sin(t*7)'"


def mp4(path, seed, width, height, seconds, rotation=0, group=250, rate=None, index_first=True, preset="medium",
        crf=23, noise=5, fps=30, codec="h264", profile=None, has_sound=True):
    """A movie with a display matrix of `rotation`; `rate` in bit/s replaces the constant quality.

    `profile` is an H.264 profile; None for the encoder's default.
    """
    still = path + ".png"
    photograph(seed, width * 5 // 4, height * 5 // 4, grain=0.5).save(still, "PNG", compress_level=1)
    try:
        video = encoder(codec, profile, preset, group, ["-b:v", str(rate), "-maxrate", str(rate), "-bufsize", str(rate)]
                        if rate else ["-crf", str(crf)])
        write(path, still, width, height, seconds, index_first, noise, fps, video, has_sound)
    finally:
        os.remove(still)
    if rotation:
        rotate(path, rotation, index_first)


def encoder(codec, profile, preset, group, amount):
    """ffmpeg's options, with a keyframe every `group` frames exactly."""
    if codec == "hevc":
        parameters = f"keyint={group}:min-keyint={group}:scenecut=0:log-level=error"
        return ["-c:v", "libx265", "-preset", preset, *amount, "-x265-params", parameters, "-tag:v", "hvc1"]
    return ["-c:v", "libx264", *(["-profile:v", profile] if profile else []), "-preset", preset, *amount,
            "-g", str(group), "-keyint_min", str(group), "-sc_threshold", "0"]


def write(path, still, width, height, seconds, index_first, noise, fps, video, has_sound):
    tone = f"aevalsrc=0.2*sin(330*2*PI*t)*sin(t)+0.05*random(0)|0.2*sin(440*2*PI*t):d={seconds}:s=48000"
    sound = ["-f", "lavfi", "-i", tone] if has_sound else []
    run("-loop", "1", "-framerate", str(fps), "-t", str(seconds), "-i", still, *sound,
        "-vf", f"crop={width}:{height}:{SHAKE},noise=alls={noise}:allf=t,format=yuv420p", *video,
        "-c:a", "aac", "-b:a", "128k", "-shortest", *faststart(index_first), path)


def rotate(path, rotation, index_first):
    """The same frames with a rotation flag."""
    turned = "turned." + path.rsplit(".", 1)[1]
    target = os.path.join(os.path.dirname(path), os.path.basename(path) + turned)
    run("-i", path, "-c", "copy", "-metadata:s:v", f"rotate={rotation}", *faststart(index_first), target)
    os.replace(target, path)


def faststart(index_first):
    return ["-movflags", "+faststart"] if index_first else []


def run(*arguments):
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-nostdin", *arguments], check=True)
