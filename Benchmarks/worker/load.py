"""Jobs for a service: so many callers, each of whom asks for the next one when the last one is there."""

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
    """The manifest of each request in their order, and the seconds until its caller had it."""
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
    """What was not there within its budget is not tried again: the notification would have been sent without it."""
    end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=request["budget"] + 1)
    return {**request, "notAfter": end.strftime("%Y-%m-%dT%H:%M:%SZ")}


def forget(service):
    """Removes what is finished, with its files: a thousand results would fill the disk."""
    ask(service.connection(), "POST", "/v1/jobs/purge", json.dumps({"states": ["succeeded", "failed", "dead"]}))
