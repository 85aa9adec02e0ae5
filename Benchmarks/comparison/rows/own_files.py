"""Your own files, eight requests at a time, against the Python worker: `--rows own-files --folder FOLDER`.

Files that one of the two does not prepare are left out and named.
"""

import collections
import os
import statistics
import urllib.parse

import attachprep
import peers
import real_mix
from places import CORPUS

RATE_TITLE = "your own files, files a second, concurrency 8"
CPU_TITLE = "your own files, CPU seconds a file"
LINK = os.path.join(CORPUS, "own")


def measure(run):
    if not run.folder:
        return run.absent("own-files", RATE_TITLE, real_mix.PEER, "--folder")
    if absent := peers.missing(real_mix.PEER):
        return run.absent("own-files", RATE_TITLE, real_mix.PEER, absent)
    names = usable(run, found(run.folder))
    if not names:
        raise SystemExit(f"side-by-side: {run.folder} has no file that both prepare")
    ours, theirs = [], []
    for _ in run.rounds(5):
        ours.append(attachprep.batch(urls(run, names), side=real_mix.SIDE))
        theirs.append(peers.python_worker(urls(run, names), side=real_mix.SIDE))
    outcomes = collections.Counter(manifest["outcome"] for manifest in ours[0].manifests)
    for row, title, unit, value in [("own-files", RATE_TITLE, "/s", lambda spent: len(names) / spent.wall),
                                    ("own-files-cpu", CPU_TITLE, "s", lambda spent: spent.cpu / len(names))]:
        samples = {"ours": [value(spent) for spent in ours], "peer": [value(spent) for spent in theirs]}
        run.row(row, title, ours=statistics.median(samples["ours"]), other=statistics.median(samples["peer"]),
                against=real_mix.PEER, unit=unit,
                details={"files": len(names), "outcomes": outcomes, "rounds": samples})


def found(folder):
    """The paths of all files in the folder, which the origin serves through a link."""
    os.makedirs(CORPUS, exist_ok=True)
    if os.path.islink(LINK):
        os.remove(LINK)
    os.symlink(os.path.abspath(folder), LINK)
    paths = [os.path.relpath(os.path.join(root, name), folder) for root, _, names in os.walk(folder) for name in names]
    return sorted(path for path in paths if not os.path.basename(path).startswith("."))


def urls(run, names):
    return [run.origin.address("own/" + urllib.parse.quote(name)) for name in names]


def usable(run, names):
    """The files that both prepare."""
    by_url = dict(zip(urls(run, names), names, strict=True))
    ours = attachprep.batch(list(by_url), side=real_mix.SIDE, may_reject=True)
    theirs = peers.python_worker(list(by_url), side=real_mix.SIDE, may_reject=True)
    errors = {manifest["source"]["url"]: f"attachprep: {manifest['error']['message']}"
              for manifest in ours.manifests if manifest["error"]}
    errors |= {url: f"Python worker: {error}" for url, error in peers.errors(theirs.output).items()}
    for url, error in errors.items():
        print(f"left out: {by_url[url]}: {error}")
    return [name for url, name in by_url.items() if url not in errors]
