"""Load for a service: each caller submits its next job when the previous one has ended."""

import concurrent.futures
import datetime
import json
import queue
import sys
import time

from worker.service import ask

# Longer than any budget, shorter than the service's own limit.
WAIT = {"Prefer": "wait=50"}


def carry_out(service, requests, callers):
    """The manifest of each request in order, and the seconds until its caller received it."""
    free = queue.SimpleQueue()
    for _ in range(callers):
        free.put(service.connection())

    def call(request):
        connection = free.get()
        try:
            return wait_for(connection, request)
        finally:
            free.put(connection)

    with concurrent.futures.ThreadPoolExecutor(callers) as pool:
        return list(pool.map(call, requests))


def wait_for(connection, request):
    start = time.perf_counter()
    answer = ask(connection, "POST", "/v1/jobs", json.dumps(with_end(request)), headers=WAIT)
    seconds = time.perf_counter() - start
    if "outcome" not in answer:
        sys.exit(f"{request['source']} did not end: {json.dumps(answer)[:500]}")
    return answer, seconds


def with_end(request):
    """Jobs that exceed their budget are not retried: the notification would have been sent without the attachment."""
    end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=request["budget"] + 1)
    return {**request, "notAfter": end.strftime("%Y-%m-%dT%H:%M:%SZ")}


def forget(service):
    """Deletes finished jobs with their files, because a thousand results would fill the disk."""
    ask(service.connection(), "POST", "/v1/jobs/purge", json.dumps({"states": ["succeeded", "failed", "dead"]}))
