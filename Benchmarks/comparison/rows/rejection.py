"""Rejected sources: bytes that the process reads after the rejection could be decided.

A web page is recognized by its first kilobytes, and so is a movie whose declared length exceeds the limit; an image
without a declared length is too large when the limit is exceeded. Counts the bytes that the process reads, by its
system calls. The bytes that its kernel had accepted by then are reported as well.
"""

import json
import os
import tempfile

import corpus
import peers
from counting_origin import CountingOrigin
from places import ATTACHPREP, BENCH
from process import run as run_process
from read_bytes import read_from

# Headers, and the bytes of a file that identification needs.
BEGINNING = 4096 + 512
LIMIT = 10_000_000

# File, media type, whether the length is declared, and the bytes after which rejection can be decided.
CASES = {
    "a page": ("page.html", "text/html", True, BEGINNING),
    "a page called a picture": ("page.html", "image/jpeg", True, BEGINNING),
    "a movie of 60 MB": ("oversize.mp4", "video/mp4", True, BEGINNING),
    "a picture of undeclared size": ("oversize.jpg", "image/jpeg", False, LIMIT + BEGINNING),
}


def measure(run):
    title = "refusal: bytes read past the point it was known"
    if absent := peers.missing("strace"):
        return run.absent("refusal", title, "", absent)
    found = {}
    for name, case in CASES.items():
        for warmth in ("warm", "cold"):
            results = [refused(run, warmth, *case) for _ in run.rounds(3)]
            found[f"{name}, {warmth}"] = max(results, key=lambda result: result["past"])
    for name, result in found.items():
        print(f"  {name:40} {result['past']:>12,} bytes read past it, {result['acknowledged']:>12,} accepted "
              f"by the kernel in total, {result['code']}")
    worst = max(found, key=lambda name: found[name]["past"])
    run.row("refusal", title, ours=found[worst]["past"], other=None, against="", unit="bytes",
            details={"worst": worst, "all": found})


def refused(run, warmth, name, kind, declares, known):
    """A case in a new process, or in one after three other requests; counted with strace, and without it."""
    path = corpus.special(name).path
    before = [run.origin.url(corpus.special("tiny.png")) for _ in range(3 if warmth == "warm" else 0)]
    with CountingOrigin(path, kind, declares) as origin, tempfile.TemporaryDirectory(dir=BENCH) as folder:
        read = read_from(command(folder, [*before, origin.url]), origin.port)
    with CountingOrigin(path, kind, declares) as origin, tempfile.TemporaryDirectory(dir=BENCH) as folder:
        printed = run_process(command(folder, [*before, origin.url]), may_fail=True).output
    last = json.loads(printed.splitlines()[-1])
    return {"past": max(0, read - known), "read": read, "acknowledged": origin.acknowledged,
            "code": (last["error"] or {}).get("code", last["outcome"])}


def command(folder, urls):
    path = os.path.join(folder, "list")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(url + "\n" for url in urls)
    return [ATTACHPREP, "batch", path, "--output", os.path.join(folder, "out"), "--allow-private-network", "--format",
            "json", "--concurrency", "1", "--oversize", "reject"]
