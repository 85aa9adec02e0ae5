"""How an undamaged file is delivered: unchanged, with its streams copied, re-encoded, or not at all."""

import os
import subprocess

from locations import BASE

PASSED, COPIED, ENCODED, NOTHING = "passed", "copied", "encoded", "rejected"


def delivered(case, manifest, folder):
    if manifest["outcome"] == "rejected":
        return NOTHING
    if manifest["outcome"] == "passed":
        return PASSED
    made = streams(os.path.join(folder, manifest["attachment"]["file"]))
    return COPIED if made and made <= intact_streams(case.base) else ENCODED


def intact_streams(base):
    return streams(os.path.join(BASE, base.name))


def streams(path):
    """A hash of the packets of each stream; ADTS frames as in an MP4."""
    adts = ["-bsf:a", "aac_adtstoasc"] if path.endswith(".aac") else []
    ended = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-map", "0", "-c", "copy", *adts,
                            "-f", "streamhash", "-hash", "md5", "-"], capture_output=True, text=True)
    return {line.partition(",")[2] for line in ended.stdout.splitlines()}
