"""A phone with the unprepared payload and a tolerant extension."""

import http.client
import time
import urllib.parse

from measure.stage import LIMITS
from phone.attachable import rejection
from phone.prepared_payload import PUBLIC


def raw_results(result):
    """The result of one run, evaluated at each limit."""
    is_late = {str(limit): result["outcome"] == "attached" and result["seconds"] > limit for limit in LIMITS}
    return {limit: {**result, "outcome": "text", "why": "late"} if late else result
            for limit, late in is_late.items()}


def raw_phone(media, runs, port):
    start = time.monotonic()
    received, why = 0, "not started"
    for item in media if runs else []:
        if item["kind"] != "url":
            continue
        count, why = raw_fetch(item["address"], port, start + LIMITS[-1])
        received += count
        if why is None:
            return {"outcome": "attached", "seconds": time.monotonic() - start, "bytes": received, "why": None}
        if why == "late":
            break
    return {"outcome": "text", "seconds": time.monotonic() - start, "bytes": received, "why": why}


def raw_fetch(address, port, deadline):
    """The number of bytes received, and the reason if they cannot be attached."""
    parts = urllib.parse.urlsplit(address)
    is_public = address.startswith(f"{PUBLIC}/")
    left = deadline - time.monotonic()
    if parts.hostname != "127.0.0.1" and not is_public:
        return 0, "plain http"
    if left <= 0:
        return 0, "late"
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=left)
    received, head = 0, b""
    try:
        connection.request("GET", parts.path if is_public else f"/raw{parts.path}")
        answer = connection.getresponse()
        if answer.status != 200:
            return 0, f"status {answer.status}"
        while chunk := answer.read1(65536):
            head = head or chunk
            received += len(chunk)
            if time.monotonic() > deadline:
                return received, "late"
    except OSError:
        return received, "late"
    finally:
        connection.close()
    return received, rejection(address, answer, head, received)
