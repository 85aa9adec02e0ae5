"""The notifications of samples/campaign.jsonl."""

import json
import os

from place import ROOT

SAMPLES = os.path.join(ROOT, "samples")
SAMPLE_ORIGIN = "127.0.0.1:8765"
PLAIN_ORIGIN = "plain.example:8765"


def notifications():
    """Name and payload of each notification."""
    with open(os.path.join(SAMPLES, "campaign.jsonl"), encoding="utf-8") as campaign:
        for line in campaign:
            entry = json.loads(line)
            payload = entry["payload"]
            if isinstance(payload, str):
                with open(os.path.join(SAMPLES, "payloads", payload), encoding="utf-8") as file:
                    text = file.read()
            else:
                text = json.dumps(payload)
            yield entry["name"], text


def addressed(text, port):
    """A payload with the URLs of this run's origin."""
    for name in [SAMPLE_ORIGIN, PLAIN_ORIGIN]:
        text = text.replace(f"http://{name}/", f"http://{name.split(':')[0]}:{port}/")
    return text


def starts_extension(payload):
    """Whether iOS runs the extension; a request to a service's API has no aps, and the service adds it."""
    aps = payload.get("aps")
    return aps is None or (aps.get("mutable-content") in [1, "1"] and bool(aps.get("alert")))
