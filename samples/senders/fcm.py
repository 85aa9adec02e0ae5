#!/usr/bin/env python3
"""Sends a campaign to FCM, with media prepared by attachprep for iOS, Android and browsers. Needs Python 3.9:

    export FCM_PROJECT=example-app FCM_ACCESS_TOKEN=$(gcloud auth print-access-token)
    ATTACHPREP_URL=http://127.0.0.1:8080 ATTACHPREP_TOKEN=... ./fcm.py campaign.jsonl devices.txt

Each line of campaign.jsonl is {"name": "spring", "payload": {"message": {…}}}; devices.txt has one registration token a
line. See README.md for the output.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request

ATTACHPREP = os.environ.get("ATTACHPREP_URL", "http://127.0.0.1:8080")
FCM = os.environ.get("FCM_URL", "https://fcm.googleapis.com")
ATTEMPTS = 5


def post(url, body, token):
    """The status and the JSON of the answer; repeats what may succeed later."""
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
    for attempt in range(ATTEMPTS):
        try:
            with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            text, retry_after = error.read().decode(errors="replace"), error.headers.get("Retry-After", "")
            if error.code not in (429, 500, 503) or attempt + 1 == ATTEMPTS:
                try:
                    return error.code, json.loads(text)
                except ValueError:
                    return error.code, {"detail": text}
            time.sleep(max(2**attempt, int(retry_after) if retry_after.isdigit() else 0))


def prepare(name, payload, recipients):
    """The message to send: each system's media is at its own key. Without media, as it was."""
    status, answer = post(f"{ATTACHPREP}/v1/payloads", {
        "payload": payload, "campaign": name, "recipients": recipients,
        "request": {"rendition": "display", "targets": ["ios", "android", "web"]},
    }, os.environ.get("ATTACHPREP_TOKEN"))
    if status == 422 and answer["code"] == "payload.no_media":
        return payload
    if status != 200:
        sys.exit(f"attachprep: {status}: {answer}")
    for warning in answer["warnings"]:
        print(f"{name}: {warning['code']}: {warning['message']}", file=sys.stderr)
    return answer["payload"]


def send(name, message, device):
    """Sends one message: "sent", "removed" or "failed"."""
    url = f"{FCM}/v1/projects/{os.environ['FCM_PROJECT']}/messages:send"
    message = {key: value for key, value in message.items() if key not in ("topic", "condition")}
    status, answer = post(url, {"message": {**message, "token": device}}, os.environ["FCM_ACCESS_TOKEN"])
    if status == 200:
        return "sent"
    # 404 UNREGISTERED: the token will never work again.
    if status == 404:
        print(f"remove {device} UNREGISTERED")
        return "removed"
    print(f"{name}: {device}: {status} {answer.get('error', {}).get('status', '')}", file=sys.stderr)
    return "failed"


def main(campaign, devices):
    with open(devices, encoding="utf-8") as lines:
        tokens = lines.read().split()
    has_failed = False
    with open(campaign, encoding="utf-8") as lines:
        for line in filter(str.strip, lines):
            entry = json.loads(line)
            payload = prepare(entry["name"], entry["payload"], len(tokens))
            results = [send(entry["name"], payload["message"], token) for token in tokens]
            counts = ", ".join(f"{kind} {results.count(kind)}" for kind in ("sent", "removed", "failed"))
            print(f"{entry['name']}: {counts}")
            has_failed = has_failed or "failed" in results
    return 1 if has_failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
