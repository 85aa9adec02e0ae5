"""An unchanged attachment over a link of 100 Mbit/s until all files are published, against curl -o."""

import os
import statistics
import subprocess
import tempfile

import corpus
import peers
import process
import warm
from places import BENCH, CORPUS, SHAPING_SERVER

NETWORK = "100000,10"
FILES = {"passed-jpeg": "passed.jpg", "passed-png": "passed.png", "passed-mp4": "passed.mp4"}
REPEATS = 4


class Link:
    """ShapingServer with a port for each request, so that no connection is reused."""

    def __init__(self, count):
        self.command = [SHAPING_SERVER, "--root", os.path.join(CORPUS, "special")]
        self.command += [word for _ in range(count) for word in ("--listen", f"{NETWORK}=0")]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        count = self.command.count("--listen")
        self.ports = [int(self.process.stdout.readline().rsplit(":", 1)[1]) for _ in range(count)]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def measure(run):
    for row, name in FILES.items():
        title = f"{name} of 5+ MB at 100 Mbit/s, thumbnail included"
        if not os.path.exists(SHAPING_SERVER):
            run.absent(row, title, "curl -o", f"{SHAPING_SERVER}; set SHAPING_SERVER")
        elif absent := peers.missing("curl"):
            run.absent(row, title, "curl -o", absent)
        else:
            one(run, row, title, corpus.special(name))


def one(run, row, title, file):
    ours, theirs, outcomes = [], [], set()
    count = warm.WARM_UP + REPEATS
    for _ in run.rounds(3):
        with Link(count + REPEATS) as link:
            urls = [f"http://127.0.0.1:{port}/{file.name}" for port in link.ports]
            requests = warm.requests(urls[:count])
            # A request starts when the previous result is published.
            ours += [late.at - early.at for early, late in zip(requests, requests[1:])]
            outcomes |= {request.manifest["outcome"] for request in requests}
            theirs += [curled(url) for url in urls[count:]]
    run.row(row, title, ours=statistics.median(ours), other=statistics.median(theirs), against="curl -o", unit="s",
            details={"bytes": file.bytes, "outcomes": sorted(outcomes), "network": NETWORK})


def curled(url):
    """curl's time without its start-up."""
    with tempfile.TemporaryDirectory(dir=BENCH) as folder:
        spent = process.run(["curl", "-s", "-o", os.path.join(folder, "file"), "-w", "%{time_total}", url])
    return float(spent.output)
