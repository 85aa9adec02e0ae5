"""Commands that make media of the sizes that are common in campaigns; the last argument, the file name, is appended.

The amount of noise determines the size of an image file.
"""

import os
import subprocess
import sys

FFMPEG = ["ffmpeg", "-nostdin", "-v", "error", "-y"]
X264 = ["-c:v", "libx264", "-preset", "ultrafast", "-movflags", "+faststart"]


def movie(size, seconds, rate, *output, sound="aac"):
    return [*FFMPEG, "-f", "lavfi", "-i", f"testsrc2=s={size}:r=30:d={seconds}", "-f", "lavfi",
            "-i", f"sine=440:d={seconds}:r=48000", "-vf", "noise=alls=12:allf=t,format=yuv420p", "-b:v", rate,
            "-maxrate", rate, "-bufsize", rate, *output, "-c:a", sound, "-shortest"]


def still(size, noise, *output):
    return [*FFMPEG, "-f", "lavfi", "-i", f"testsrc2=s={size}:d=1:r=1", "-vf", f"noise=alls={noise}", "-frames:v", "1",
            *output]


def sound(seconds, *output):
    return [*FFMPEG, "-f", "lavfi", "-i",
            f"aevalsrc=0.3*sin(330*2*PI*t)+0.1*random(0)|0.3*sin(440*2*PI*t):d={seconds}:s=44100", *output]


def animation(size, seconds, noise, *output):
    return [*FFMPEG, "-f", "lavfi", "-i", f"testsrc2=s={size}:r=12:d={seconds}", "-vf", f"noise=alls={noise}:allf=t",
            *output]


def make(folder, recipes):
    """The files of the recipes in a folder, in order; existing files are kept."""
    os.makedirs(folder, exist_ok=True)
    for name, command in recipes.items():
        path = os.path.join(folder, name)
        part = os.path.join(folder, "part-" + name)
        if os.path.exists(path):
            continue
        if subprocess.run([*command, part], stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit(f"{os.path.basename(sys.argv[0])}: {name} cannot be made; make deps-test")
        os.rename(part, path)
