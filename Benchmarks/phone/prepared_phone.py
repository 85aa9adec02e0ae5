"""A phone with a prepared payload: samples/NotificationService, built for Linux by tools/simulated-device."""

import json
import os
import subprocess
import sys

from measure.stage import LIMITS
from origin.network import bits_per_second
from phone.prepared_payload import PUBLIC
from phone.raw_phone import raw_phone, raw_results
from place import ROOT

DEVICE = os.environ.get("SIMULATED_DEVICE", os.path.join(ROOT, ".build/simulated-device/simulated-device"))
# After this time the extension downloads the thumbnail in parallel (RichPush, deviceThumbnailSeconds).
THUMBNAIL_SECONDS = 4.0


def prepared_phone(rendition, runs, network, port):
    """What is shown within each limit. A phone that had its attachment before a limit is not run again."""
    if rendition["media"] is not None:
        return raw_results(raw_phone(rendition["media"], runs, port))
    payload = rendition["payload"]
    last = device(payload, runs, network, port, LIMITS[-1])
    results = {str(LIMITS[-1]): last}
    for limit in LIMITS[:-1]:
        is_decided = last["seconds"] < limit
        results[str(limit)] = last if is_decided else device(payload, runs, network, port, limit)
    return results


def device(payload, runs, network, port, limit):
    """Runs the sample extension, which iOS ends after `limit` seconds."""
    if not runs:
        return {"outcome": "text", "seconds": 0.0, "bytes": 0, "why": "not started"}
    text = payload.replace(PUBLIC, f"http://127.0.0.1:{port}")
    ended = subprocess.run([DEVICE, "--expire-after", str(limit)], input=text, capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"campaign: the device ended with {ended.returncode}: {ended.stderr[:500]}")
    report = json.loads(ended.stdout)
    said = "; ".join(ended.stderr.split("\n")).strip("; ") or None
    outcome = shown(report)
    return {"outcome": outcome, "seconds": report["seconds"], "bytes": fetched(payload, report, outcome, network),
            "why": said or (None if report["attachments"] else "nothing to attach")}


def shown(report):
    for attachment in report["attachments"]:
        return "thumbnail" if attachment["identifier"].endswith("-thumbnail") else "attached"
    return "text"


def fetched(payload, report, outcome, network):
    """Bytes, an upper bound: for an aborted download, what the link could transfer in that time."""
    files = json.loads(payload).get("attachprep", {}).get("attachments", [])
    thumbnails = sum(file["thumbnail"]["bytes"] for file in files if file.get("thumbnail"))
    taken = sum(attachment["bytes"] for attachment in report["attachments"])
    if outcome == "attached":
        return taken + (thumbnails if report["seconds"] > THUMBNAIL_SECONDS else 0)
    carried = int(bits_per_second(network) / 8 * report["seconds"])
    return max(taken, min(carried, thumbnails + sum(file["bytes"] for file in files)))
