"""What is refused: bytes the process reads past the point where that was known.

A page is known by its first kilobytes, and so is a movie whose declared length is over the limit; a picture that
declares nothing is known to be too large when the limit is passed. Read by the process: counted by its calls. What its
system had taken by then, which the process cannot help, stands beside it.
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

# Headers, and what has to be seen of a file to know what it is.
BEGINNING = 4096 + 512
LIMIT = 10_000_000

# File, what the origin calls it, whether it declares its length, and the bytes after which it is known.
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
        print(f"  {name:40} {result['past']:>12,} bytes read past it, {result['acknowledged']:>12,} taken by the "
              f"system in all, {result['code']}")
    worst = max(found, key=lambda name: found[name]["past"])
    run.row("refusal", title, ours=found[worst]["past"], other=None, against="", unit="bytes",
            details={"worst": worst, "all": found})


def refused(run, warmth, name, kind, declares, known):
    """A case in a new process, or in one that has done three others; counted with strace, and without it."""
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
