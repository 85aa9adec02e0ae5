"""One file at a time with each tool: wall and processor seconds, peak memory, and quality of the thumbnail.

Every tool makes a thumbnail of at most 300 x 300, as JPEG of quality 85 or similar; attachprep also validates the file
and makes attachment and manifest. Each run is a new process, so attachprep's start is included.
"""

import glob
import os
import shutil
import statistics
import tempfile

import corpus
import floor
import memory
import peers
import process
from places import ATTACHPREP, BENCH
from quality import Reference

SECONDS = 8.0
MOVIE = "long-group.mp4"
FILES = ["photo-12mp.jpg", "photo-12mp-upright.jpg", "passed.png", "still.webp", "software.heic", "phone.avif", MOVIE]
FIT = "300:300:force_original_aspect_ratio=decrease"
ALL = {"jpg", "png", "webp", "heic", "avif"}

# Program and its arguments, with {file} and {out} replaced; supported kinds.
TOOLS = {
    "vipsthumbnail": (["vipsthumbnail", "{file}", "--size", "300x300", "--output", "{out}[Q=85,optimize_coding,strip]"],
                      ALL),
    "ImageMagick": (["convert", "-define", "jpeg:size=600x600", "{file}", "-auto-orient", "-thumbnail", "300x300>",
                     "-quality", "85", "{out}"], ALL),
    "ffmpeg": (["ffmpeg", "-v", "error", "-nostdin", "-i", "{file}", "-frames:v", "1", "-vf",
                f"scale={FIT}:flags=lanczos", "-q:v", "3", "{out}"], {"jpg", "png", "webp", "avif", "mp4"}),
    "ffmpegthumbnailer": (["ffmpegthumbnailer", "-i", "{file}", "-t", "00:00:08", "-s", "300", "-q", "8", "-o",
                           "{out}"], {"mp4"}),
}


def measure(run):
    details = {}
    print(f"{'one file':24} {'tool':18} {'wall':>9} {'CPU':>9} {'peak PSS':>9} {'bytes':>8} {'SSIM':>7}")
    for name in FILES:
        details[name] = one(run, corpus.special(name))
    run.note("tools", "one file at a time", details)


def one(run, file):
    found = {}
    kind = file.name.rsplit(".", 1)[1]
    with tempfile.TemporaryDirectory(dir=BENCH) as folder:
        reference = Reference(file.path, folder, SECONDS if file.name == MOVIE else None)
        samples = {tool: [] for tool in ["attachprep", *TOOLS] if tool == "attachprep" or kind in TOOLS[tool][1]}
        for _ in run.rounds(5):
            for tool in samples:
                if spent := through(tool, file, folder, process.run):
                    samples[tool].append(spent)
        for tool, each in samples.items():
            found[tool] = judged(tool, file, folder, each, reference)
        found["floor"] = bare(file, folder, reference)
    for tool, row in found.items():
        show(file, tool, row)
    return found


def bare(file, folder, reference):
    """The floor, in a running process."""
    is_movie = file.name == MOVIE
    rows = floor.frame(file, SECONDS, 4, folder)[1:] if is_movie else floor.batch([file] * 3, folder)
    path = os.path.join(folder, "thumbnail")
    return {"wall": statistics.median(row["wall"] for row in rows), "cpu": statistics.median(
        row["cpu"] for row in rows), "bytes": os.path.getsize(path), "ssim": reference.ssim(path)}


def command(tool, file, folder):
    if tool == "attachprep":
        seconds = ["--thumbnail-time", str(SECONDS)] if file.name == MOVIE else []
        return [ATTACHPREP, "prepare", file.path, "--output", os.path.join(folder, "out"), *seconds]
    words = [word.format(file=file.path, out=output(tool, folder)) for word in TOOLS[tool][0]]
    if tool == "ffmpeg" and file.name == MOVIE:
        words[words.index("-i"):words.index("-i")] = ["-ss", str(SECONDS)]
    return words


def output(tool, folder):
    return os.path.join(folder, f"{tool}.jpg")


def through(tool, file, folder, run):
    """One run; without measurements if the tool is missing or does not support the file."""
    words = command(tool, file, folder)
    if tool != "attachprep" and peers.missing(words[0]):
        return None
    shutil.rmtree(os.path.join(folder, "out"), ignore_errors=True)
    if os.path.exists(output(tool, folder)):
        os.remove(output(tool, folder))
    spent = run(words) if run is memory.watch else run(words, may_fail=True)
    return spent if thumbnail(tool, folder) else None


def thumbnail(tool, folder):
    made = glob.glob(os.path.join(folder, "out/*/thumbnail.*")) if tool == "attachprep" else [output(tool, folder)]
    return made[0] if made and os.path.exists(made[0]) else None


def judged(tool, file, folder, samples, reference):
    watched = through(tool, file, folder, memory.watch)
    if not samples or not watched:
        return {"notHere": peers.missing(command(tool, file, folder)[0]) or "cannot do this file"}
    path = thumbnail(tool, folder)
    return {"wall": statistics.median(each.wall for each in samples), "cpu": statistics.median(
        each.cpu for each in samples), "peakPSS": watched[0].bytes, "bytes": os.path.getsize(path),
        "ssim": reference.ssim(path)}


def show(file, tool, row):
    if "notHere" in row:
        print(f"{file.name:24} {tool:18} {row['notHere']}")
        return
    memory_text = f"{row['peakPSS'] / 1e6:6.0f} MB" if "peakPSS" in row else ""
    size = f"{row['bytes']:8,}" if "bytes" in row else ""
    ssim = "" if row.get("ssim") is None else f"{row['ssim']:.4f}"
    print(f"{file.name:24} {tool:18} {row['wall'] * 1000:6.1f} ms {row['cpu'] * 1000:6.1f} ms {memory_text:>9} "
          f"{size:>8} {ssim:>7}")
