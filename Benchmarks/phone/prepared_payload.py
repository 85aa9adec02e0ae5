"""Payloads prepared with `attachprep payload`, and the media that it finds in them."""

import concurrent.futures
import json
import os
import subprocess
import sys
import time

from phone.notification import starts_extension
from place import ATTACHPREP

PUBLIC = "https://media.example"
RENDITIONS = ["original", "display"]


def prepare_all(sent, origin, files):
    """The media of each payload, and the payload prepared in each rendition."""
    looked = [media(text) for _, text in sent]
    entries = [{"name": name, "raw": text, "media": look["media"], "dialect": look["dialect"],
                "runs": starts_extension(json.loads(text))} for (name, text), look in zip(sent, looked)]
    for rendition in RENDITIONS:
        start = time.perf_counter()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for entry, result in zip(entries, pool.map(
                    lambda entry: prepared(entry["name"], entry["raw"], origin, files, rendition), entries)):
                entry[rendition] = result
        print(f"prepared, {rendition}: {time.perf_counter() - start:.1f} s", file=sys.stderr)
    return entries


def prepared(name, text, origin, files, rendition):
    """The payload to send, the preparation time in seconds and the warnings."""
    start = time.perf_counter()
    ended = run_attachprep(
        text, "--base-url", f"{PUBLIC}/{rendition}/{name}", "--output", os.path.join(files, rendition, name),
        "--rendition", rendition, "--allow-private-network", "--resolve", f"plain.example:{origin}:127.0.0.1")
    return {"payload": ended.stdout, "seconds": time.perf_counter() - start, "notes": ended.stderr.splitlines(),
            # A request to a service's API gets no neutral object: the SDK in the app reads the service's keys.
            "media": None if "aps" in json.loads(text) else media(ended.stdout)["media"]}


def media(text):
    """The media that an app's SDK finds in a payload, and the dialect."""
    ended = subprocess.run([ATTACHPREP, "payload", "-", "--check", "--format", "json"], input=text,
                           capture_output=True, text=True)
    return json.loads(ended.stdout) if ended.stdout else {"media": [], "dialect": None}


def run_attachprep(text, *options):
    ended = subprocess.run([ATTACHPREP, "payload", "-", *options], input=text, capture_output=True, text=True)
    if ended.returncode > 1 or not ended.stdout:
        sys.exit(f"campaign: attachprep payload ended with {ended.returncode}: {ended.stderr[:500]}")
    return ended
