"""Hooks for schemathesis: JSON Lines, and constraints on requests that JSON Schema cannot express."""

import json
import os
import re

import schemathesis


@schemathesis.serializer("application/x-ndjson", "application/jsonl")
def lines(context, value):
    items = value if isinstance(value, list) else [value]
    return "".join(json.dumps(item) + "\n" for item in items).encode()


@schemathesis.hook
def before_load_schema(context, raw_schema):
    # The document describes JSON Lines as bytes, for clients; generates the lines from their contentSchema instead.
    for name, path in raw_schema["paths"].items():
        for operation in path.values():
            for body in operation.get("requestBody", {}).get("content", {}).values():
                if body["schema"].get("contentMediaType") == "application/x-ndjson":
                    # An invalid payload among several is reported in its place of the response, with status 200.
                    any_lines = {"minItems": 1, "maxItems": 500}
                    body["schema"] = any_lines if name == "/v1/payloads" else body["schema"]["contentSchema"]
    for schema in raw_schema["components"]["schemas"].values():
        name_targets(schema)


# The document allows the names of an operator's target profiles, which the tested service has not.
TARGETS = ["ios", "iosSmall", "android", "web", "webIcon", "webBadge", "avatar"]


def name_targets(schema):
    if isinstance(schema, list):
        for one in schema:
            name_targets(one)
    elif isinstance(schema, dict):
        if isinstance(schema.get("targets"), dict) and "items" in schema["targets"]:
            schema["targets"]["items"] = {"enum": TARGETS}
            schema["targets"]["uniqueItems"] = True
        for one in schema.values():
            name_targets(one)


def requests(body):
    items = [item for item in (body if isinstance(body, list) else [body]) if isinstance(item, dict)]
    # The body for a payload contains the request for its media.
    return items + [item["request"] for item in items if isinstance(item.get("request"), dict)]


@schemathesis.hook
def filter_body(context, body):
    # Members that depend on each other: two times in order (x-later-than), and deviceBudget with network or rendition;
    # in "retry", the two delays, and until with notAfter.
    together = [
        ("notBefore", "notAfter"),
        ("network", "deviceBudget"),
        ("rendition", "deviceBudget"),
    ]
    retries = [request["retry"] for request in requests(body) if isinstance(request.get("retry"), dict)]
    if any(retry.get("backOff") is not None and retry.get("backOffMax") is not None for retry in retries):
        return False
    if any(retry.get("until") is not None for retry in retries):
        together = together + [("retry", "notAfter")]
    return not any(
        request.get(one) is not None and request.get(other) is not None
        for request in requests(body)
        for one, other in together
    )


# Of each kind of media that `attachmentTypes` names, one type that can be written is required.
WRITABLE = [({"gif", "jpg", "png"}, {"jpg"}), ({"aiff", "m4a", "mp3", "wav"}, {"m4a", "mp3"}),
            ({"avi", "m2v", "mp4", "mpg"}, {"mp4"})]


def complete(types):
    if isinstance(types, list) and all(isinstance(one, str) for one in types):
        for kind, writable in WRITABLE:
            if kind & set(types) and not writable & set(types):
                types.append(min(writable))


@schemathesis.hook
def before_call(context, case, kwargs):
    for request in requests(case.body):
        complete(request.get("attachmentTypes"))
    # Not covered by the filter: the example time used for both members, and the smallest positive number.
    for request in requests(case.body):
        if request.get("notAfter") is not None and request["notAfter"] == request.get("notBefore"):
            request["notAfter"] = None
        budget = request.get("deviceBudget")
        if isinstance(budget, float) and 0 < budget < 1:
            request["deviceBudget"] = 30
    if case.path == "/v1/receipts":
        # Tokens are signed, which a pattern cannot express.
        for receipt in requests(case.body):
            if re.fullmatch("[A-Za-z0-9_-]{34}", str(receipt.get("token"))):
                receipt["token"] = os.environ["RECEIPT_TOKEN"]
    if case.path == "/v1/session" and isinstance(case.body, dict) and isinstance(case.body.get("token"), str):
        # Any other token is rejected, as intended.
        case.body["token"] = os.environ["SESSION_TOKEN"]
