#!/usr/bin/env python3
"""Sends a campaign to APNs, with media prepared by attachprep. Needs Python 3.9, httpx with HTTP/2, and PyJWT:

    pip install 'httpx[http2]' 'pyjwt[crypto]'
    export APNS_KEY=AuthKey_ABC123DEFG.p8 APNS_KEY_ID=ABC123DEFG APNS_TEAM_ID=DEF123GHIJ APNS_TOPIC=com.example.app
    ATTACHPREP_URL=http://127.0.0.1:8080 ATTACHPREP_TOKEN=... ./send.py campaign.jsonl devices.txt

Each line of campaign.jsonl is {"name": "spring", "payload": {…}}, where the payload can be the name of a file in the
folder "payloads" beside it; devices.txt has one device token a line. See README.md for all variables and the output.
"""

import asyncio
import json
import os
import pathlib
import random
import re
import sys
import time
import uuid

import httpx
import jwt

ATTACHPREP = os.environ.get("ATTACHPREP_URL", "http://127.0.0.1:8080")
ATTACHPREP_TOKEN = os.environ.get("ATTACHPREP_TOKEN")
APNS = os.environ.get("APNS_URL", "https://api.sandbox.push.apple.com")
CONCURRENCY = int(os.environ.get("APNS_CONCURRENCY", 100))
BACKOFF_SECONDS = float(os.environ.get("APNS_BACKOFF", 1))

ATTEMPTS = 5
LONGEST_BACKOFF_SECONDS = 60
PAYLOAD_BYTES = 4_096
# How long APNs keeps a notification for a phone that is off.
LIFETIME_SECONDS = 24 * 60 * 60
# APNs accepts a provider token for 60 minutes, and a new one at most every 20 minutes.
TOKEN_SECONDS = 40 * 60
# The device token will never work again for this app: delete it.
GONE = {"Unregistered", "ExpiredToken", "BadDeviceToken", "DeviceTokenNotForTopic"}
# Every notification would be rejected like this one: key, team, topic or environment is wrong.
MISCONFIGURED = {"MissingTopic", "BadTopic", "TopicDisallowed", "BadCertificateEnvironment"}


class SendError(Exception):
    """Ends the program: nothing more can be sent."""


class ProviderToken:
    """The JWT by which APNs knows the sender. It is reused: APNs rejects senders that sign one per request."""

    def __init__(self):
        self.key = pathlib.Path(os.environ["APNS_KEY"]).read_text()
        self.value, self.issued = None, 0

    def current(self):
        if not self.value or time.time() - self.issued > TOKEN_SECONDS:
            self.issued = int(time.time())
            self.value = jwt.encode(
                {"iss": os.environ["APNS_TEAM_ID"], "iat": self.issued}, self.key, "ES256",
                headers={"kid": os.environ["APNS_KEY_ID"]})
        return self.value

    def discard(self, rejected):
        """Signs a new token the next time, unless another request has already done so."""
        if rejected == self.value:
            self.value = None


def pause(attempt, retry_after):
    """Exponential back-off with jitter, or longer if the server says so."""
    backoff = min(BACKOFF_SECONDS * 2**attempt, LONGEST_BACKOFF_SECONDS) * random.uniform(0.5, 1)
    return max(backoff, int(retry_after) if (retry_after or "").isdigit() else 0)


def compact(payload):
    """JSON without spaces and escapes: the default of json.dumps is longer than what the service measured."""
    return json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode()


async def prepare(service, name, payload, recipients):
    """The payload to send: media URLs are replaced by those of prepared files. None if it cannot be sent."""
    body = {"payload": payload, "request": {"rendition": "display"}, "campaign": name, "recipients": recipients}
    for attempt in range(ATTEMPTS):
        try:
            answer = await service.post("/v1/payloads", json=body)
        except httpx.TransportError as error:
            problem, retry_after = str(error) or type(error).__name__, None
        else:
            if answer.status_code == 200:
                result = answer.json()
                for warning in result["warnings"]:
                    print(f"{name}: {warning['code']}: {warning['message']}", file=sys.stderr)
                return compact(result["payload"])
            problem, retry_after = answer.text, answer.headers.get("retry-after")
            if answer.status_code == 422 and answer.json()["code"] == "payload.no_media":
                return compact(payload)
            if answer.status_code == 401:
                raise SendError("attachprep answered 401: set ATTACHPREP_TOKEN")
            if answer.status_code not in (429, 503):
                break
        await asyncio.sleep(pause(attempt, retry_after))
    print(f"{name}: not sent: {problem}", file=sys.stderr)
    return None


async def deliver(apns, token, name, payload, device):
    """Sends one notification: "sent", "removed" or "failed"."""
    headers = {
        "apns-topic": os.environ["APNS_TOPIC"],
        "apns-push-type": "alert",
        "apns-priority": "10",
        "apns-expiration": str(int(time.time()) + LIFETIME_SECONDS),
        # A second notification with the same id replaces the first on the phone, so repeating is harmless.
        "apns-collapse-id": name,
        "apns-id": str(uuid.uuid4()),
    }
    for attempt in range(ATTEMPTS):
        signed, retry_after = token.current(), None
        try:
            answer = await apns.post(
                f"/3/device/{device}", content=payload, headers={**headers, "authorization": f"bearer {signed}"})
        except Exception as error:
            # The connection ended; the client opens another one. The libraries below httpx raise errors of their own.
            status, reason = 0, type(error).__name__
        else:
            status, retry_after = answer.status_code, answer.headers.get("retry-after")
            reason = answer.json().get("reason", "") if answer.content else ""
        if status == 200:
            return "sent"
        if reason in GONE:
            print(f"remove {device} {reason}")
            return "removed"
        if reason == "ExpiredProviderToken":
            token.discard(signed)
            continue
        if status == 403 or reason in MISCONFIGURED:
            raise SendError(f"APNs answered {status} {reason}: check APNS_KEY, _KEY_ID, _TEAM_ID, _TOPIC and _URL")
        if 0 < status < 500 and status != 429:
            break
        if attempt < ATTEMPTS - 1:
            await asyncio.sleep(pause(attempt, retry_after))
    print(f"{name}: {device}: {status} {reason}", file=sys.stderr)
    return "failed"


async def send(apns, token, name, payload, devices):
    """Sends one message to all devices, at most CONCURRENCY at a time; returns the outcome of each device."""
    outcomes = {}
    remaining = iter(devices)

    async def work():
        for device in remaining:
            outcomes[device] = await deliver(apns, token, name, payload, device)

    # APNs allows one request at a time until it has accepted a token, and this one shows whether the key is right.
    for device in devices[:1]:
        outcomes[next(remaining)] = await deliver(apns, token, name, payload, device)
    await asyncio.gather(*(work() for _ in range(CONCURRENCY)))
    return outcomes


def read(campaign, devices):
    """The messages with their payloads, and the device tokens."""
    campaign = pathlib.Path(campaign)
    messages = [json.loads(line) for line in campaign.read_text(encoding="utf-8").splitlines() if line.strip()]
    for message in messages:
        if isinstance(message["payload"], str):
            file = campaign.parent / "payloads" / message["payload"]
            message["payload"] = json.loads(file.read_text(encoding="utf-8"))
    tokens = [line for line in pathlib.Path(devices).read_text().split() if line]
    for device in tokens:
        if not re.fullmatch("[0-9a-fA-F]+", device):
            raise SendError(f"{devices}: {device} is not a device token in hexadecimal")
    return messages, list(dict.fromkeys(tokens))


async def main(campaign, devices):
    messages, devices = read(campaign, devices)
    token, failed = ProviderToken(), 0
    authorization = {"Authorization": f"Bearer {ATTACHPREP_TOKEN}"} if ATTACHPREP_TOKEN else {}
    # One connection carries all notifications: Apple treats many short connections as an attack.
    one = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=None)
    async with httpx.AsyncClient(base_url=ATTACHPREP, headers=authorization, timeout=60) as service, \
            httpx.AsyncClient(base_url=APNS, http1=False, http2=True, limits=one,
                              timeout=httpx.Timeout(30, pool=None)) as apns:
        for message in messages:
            name, outcomes = message["name"], {}
            payload = await prepare(service, name, message["payload"], max(len(devices), 1))
            if payload and len(payload) <= PAYLOAD_BYTES:
                outcomes = await send(apns, token, name, payload, devices)
            elif payload:
                print(f"{name}: not sent: {len(payload)} bytes, more than {PAYLOAD_BYTES}", file=sys.stderr)
            counts = {one: list(outcomes.values()).count(one) for one in ("sent", "removed")}
            missing = len(devices) - sum(counts.values())
            failed += missing
            print(f"{name}: sent {counts['sent']}, removed {counts['removed']}, failed {missing}")
            devices = [device for device in devices if outcomes.get(device) != "removed"]
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        sys.exit(asyncio.run(main(*sys.argv[1:])))
    except SendError as error:
        sys.exit(str(error))
