#!/usr/bin/env python3
"""Prepares one source with attachprep and downloads the attachment. Needs nothing but Python.

    ATTACHPREP_URL=http://127.0.0.1:8080 ATTACHPREP_TOKEN=... ./prepare.py https://cdn.example/cat.webp [FOLDER]
    ./prepare.py verify SECRET WEBHOOK-ID WEBHOOK-TIMESTAMP WEBHOOK-SIGNATURE < BODY
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

URL = os.environ.get("ATTACHPREP_URL", "http://127.0.0.1:8080")
TOKEN = os.environ.get("ATTACHPREP_TOKEN")


def call(path, body=None, headers=None):
    """Sends one request; returns status, headers and JSON."""
    request = urllib.request.Request(URL + path, json.dumps(body).encode() if body else None, headers or {})
    request.add_header("Content-Type", "application/json")
    if TOKEN:
        request.add_header("Authorization", f"Bearer {TOKEN}")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, error.headers, json.load(error)


def prepare(source):
    """Returns the manifest. Retries while the service is busy, with the same key, so that only one job is created."""
    headers = {"Idempotency-Key": str(uuid.uuid4()), "Prefer": "wait=20"}
    while True:
        status, answered, body = call("/v1/jobs", {"source": source}, headers)
        if status == 200:
            return body
        if status == 202:
            return wait_for(body["id"])
        if status not in (429, 503):
            sys.exit(f"attachprep answered {status}: {body.get('detail')}")
        time.sleep(int(answered.get("Retry-After", 1)))


def wait_for(job):
    while True:
        _, _, body = call(f"/v1/jobs/{job}")
        if body.get("result"):
            return body["result"]
        if body.get("state") == "cancelled":
            sys.exit("the job was cancelled")
        time.sleep(1)


def download(attachment, folder):
    """Downloads the attachment. Its URL contains 128 random bits and needs no token, so that devices can use it."""
    with urllib.request.urlopen(attachment["url"], timeout=60) as answer:
        content = answer.read()
    if hashlib.sha256(content).hexdigest() != attachment["sha256"]:
        sys.exit("the download does not match the manifest's SHA-256")
    path = os.path.join(folder, os.path.basename(attachment["file"]))
    with open(path, "wb") as file:
        file.write(content)
    return path


def is_valid(secret, name, timestamp, signatures, body):
    """Whether a webhook is authentic: one of its signatures is correct, and it is at most 5 minutes old."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mine = base64.b64encode(hmac.digest(key, f"{name}.{timestamp}.".encode() + body, "sha256")).decode()
    is_fresh = abs(time.time() - int(timestamp)) <= 300
    return is_fresh and any(hmac.compare_digest(one, f"v1,{mine}") for one in signatures.split(" "))


def main(words):
    if words[0] == "verify":
        valid = is_valid(*words[1:5], sys.stdin.buffer.read())
        sys.exit(print("valid") if valid else "not valid")
    manifest = prepare(words[0])
    if manifest["outcome"] == "rejected":
        sys.exit(f"rejected: {manifest['error']['code']}: {manifest['error']['message']}")
    path = download(manifest["attachment"], words[1] if len(words) > 1 else ".")
    print(f"{manifest['outcome']}: {path}, {manifest['attachment']['bytes']} bytes")


main(sys.argv[1:] or sys.exit(__doc__))
