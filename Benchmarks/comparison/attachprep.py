"""Runs attachprep as users do."""

import json
import os

from places import ATTACHPREP, empty, make_result_folder
from process import run


def batch(urls, concurrency=8, slots=2, side=None, may_reject=False):
    """Prepares these URLs in one batch; the manifests are in `manifests`. Ends the benchmark if one was rejected.

    `side` is the size of the thumbnail; None is the default.
    """
    folder = make_result_folder("out-")
    path = os.path.join(folder, "list.jsonl")
    write_list(path, urls)
    spent = run(batch_command(path, os.path.join(folder, "prepared"), concurrency, slots, side), may_fail=True)
    spent.manifests = [json.loads(line) for line in spent.output.splitlines()]
    empty(folder)
    if not may_reject:
        check(spent.manifests, len(urls))
    return spent


def write_list(path, urls):
    """Results are in folders f0, f1 and so on."""
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"source": url, "id": f"f{index}"}) + "\n" for index, url in enumerate(urls))


def batch_command(path, output, concurrency, slots=2, side=None):
    return [ATTACHPREP, "batch", path, "--allow-private-network", "--output", output, "--format", "json",
            "--concurrency", str(concurrency), "--media-slots", str(slots), "--budget", "300s",
            *(["--thumbnail-size", f"{side}x{side}"] if side else [])]


def check(manifests, count):
    rejected = [manifest for manifest in manifests if manifest["outcome"] in ("rejected", "bestAttempt")]
    if rejected or len(manifests) != count:
        first = rejected[0] if rejected else {}
        raise SystemExit(f"side-by-side: attachprep prepared {len(manifests)} of {count}, {len(rejected)} not as "
                         f"expected: {first.get('source', {}).get('url')} {first.get('error')} {first.get('warnings')}")
