"""A warm attachprep: a batch of sequential requests, of which the first ones are not counted."""

import json
import os
import subprocess

from attachprep import check
from folder_watch import FolderWatch
from places import ATTACHPREP, empty, make_result_folder

WARM_UP = 3


class Request:
    """One request: its manifest, the time of publication, and the events in its staging folder."""

    def __init__(self, name, manifest, at, events):
        self.name, self.manifest, self.at, self.events = name, manifest, at, events


def requests(urls, **request):
    """Prepares URLs one by one; `request` is added to each line. Returns the results without the warm-up."""
    folder = make_result_folder("warm-")
    try:
        path, output = os.path.join(folder, "list"), os.path.join(folder, "prepared")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps({"source": url, "id": f"r{number}", **request}) + "\n"
                            for number, url in enumerate(urls))
        with FolderWatch(output) as watch:
            manifests = run(path, output)
    finally:
        empty(folder)
    check(manifests, len(urls))
    return collected(manifests, watch)[WARM_UP:]


def run(path, output):
    done = subprocess.run(
        [ATTACHPREP, "batch", path, "--output", output, "--allow-private-network", "--format", "json", "--concurrency",
         "1", "--budget", "300s"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [json.loads(line) for line in done.stdout.splitlines()]


def collected(manifests, watch):
    arrivals, found, before = watch.arrivals(), [], 0.0
    for manifest in manifests:
        at = arrivals[manifest["id"]]
        found.append(Request(manifest["id"], manifest, at,
                             [event for event in watch.events if before < event.at <= at]))
        before = at
    return found
