#!/usr/bin/env python3
"""Sends a web push message to browsers, with media prepared by attachprep. Needs `pip install pywebpush`:

    export VAPID_KEY=vapid.pem VAPID_SUBJECT=mailto:push@example.com
    ATTACHPREP_URL=http://127.0.0.1:8080 ATTACHPREP_TOKEN=... ./webpush.py message.json subscriptions.jsonl

message.json is what the service worker shows: {"title": …, "image": …, "icon": …}; each line of subscriptions.jsonl is
a PushSubscription as JSON.
"""

import json
import os
import sys
import urllib.request

from pywebpush import WebPushException, webpush


def prepare(message):
    """The JSON to send: media URLs are replaced by those of prepared files."""
    headers = {"Content-Type": "application/json"}
    if os.environ.get("ATTACHPREP_TOKEN"):
        headers["Authorization"] = f"Bearer {os.environ['ATTACHPREP_TOKEN']}"
    url = os.environ.get("ATTACHPREP_URL", "http://127.0.0.1:8080") + "/v1/payloads"
    request = urllib.request.Request(url, json.dumps({"payload": message}).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        result = json.load(answer)
    for warning in result["warnings"]:
        print(f"{warning['code']}: {warning['message']}", file=sys.stderr)
    return json.dumps(result["payload"], separators=(",", ":"), ensure_ascii=False)


def main(message, subscriptions):
    with open(message, encoding="utf-8") as file:
        data = prepare(json.load(file))
    has_failed = False
    with open(subscriptions, encoding="utf-8") as lines:
        for subscription in map(json.loads, filter(str.strip, lines)):
            try:
                webpush(
                    subscription, data, vapid_private_key=os.environ["VAPID_KEY"],
                    vapid_claims={"sub": os.environ["VAPID_SUBJECT"]}, ttl=86_400)
            except WebPushException as error:
                status = error.response.status_code if error.response is not None else None
                # The browser has ended the subscription: delete it.
                if status in (404, 410):
                    print(f"remove {subscription['endpoint']}")
                else:
                    print(f"{subscription['endpoint']}: {error}", file=sys.stderr)
                    has_failed = True
    return 1 if has_failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
