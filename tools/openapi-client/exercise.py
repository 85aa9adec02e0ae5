"""Calls every operation of a running service with the client that openapi-python-client generated: `make client`.

Run by GeneratedClientTests with the Python into which the package is installed: exercise.py URL TOKEN SOURCE, where
SOURCE is the address of an image. Ends with an error when an answer is not of its type, or an operation was left out.
"""

import datetime
import hashlib
import importlib
import io
import json
import pkgutil
import queue
import sys
import threading
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, HTTPServer

import attachprep_client.api
from attachprep_client import AuthenticatedClient, Client, models
from attachprep_client.types import File

base_url, token, source = sys.argv[1:]

with urllib.request.urlopen(f"{base_url}/openapi.json") as answer:
    document = json.load(answer)
operations = {operation["operationId"] for path in document["paths"].values() for operation in path.values()}
modules = {
    module.name.rpartition(".")[2].replace("_", ""): module.name
    for module in pkgutil.walk_packages(attachprep_client.api.__path__, "attachprep_client.api.")
    if not module.ispkg
}
called = set()


def module(operation):
    called.add(operation)
    return importlib.import_module(modules[operation.lower()])


def check(fact, what):
    if not fact:
        sys.exit(f"{what}")


def call(operation, status, kind, *arguments, client=None, **options):
    """The parsed response, checked for status and type; None for a response without a body."""
    response = module(operation).sync_detailed(*arguments, client=client or caller, **options)
    shown = f"{operation}: {response.status_code} {response.content[:500]}"
    check(response.status_code == status, shown)
    check(response.parsed is None if kind is None else isinstance(response.parsed, kind), f"{shown}: {response.parsed!r}")
    return response.parsed


def call_with_head(operation, kind, *arguments, client=None, **options):
    call(f"{operation}Head", 200, None, *arguments, client=client, **options)
    return call(operation, 200, kind, *arguments, client=client, **options)


class Receiver(BaseHTTPRequestHandler):
    """Receives webhooks as described in the document's `webhooks`."""

    events = queue.Queue()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        check(self.headers["webhook-id"].startswith("msg_"), "a webhook without its id")
        self.events.put(models.WebhookEvent.from_dict(json.loads(body)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def webhook_of(job):
    while True:
        event = Receiver.events.get(timeout=60)
        if event.job.id == job:
            return event


def file(data):
    return File(payload=io.BytesIO(data))


caller = AuthenticatedClient(base_url, token, raise_on_unexpected_status=True, timeout=60)
anonymous = Client(base_url, raise_on_unexpected_status=True, timeout=60)
receiver = HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=receiver.serve_forever, daemon=True).start()
# Regression: a pattern once rejected capitals, IP addresses and ports of five digits.
callback = f"HTTP://127.0.0.1:{receiver.server_port}/Hook?a=1"
now = datetime.datetime.now(datetime.timezone.utc)
key = str(uuid.uuid4())
tomorrow = now + datetime.timedelta(days=1)

# The service itself.
check(call_with_head("health", models.Health, client=anonymous).status == "ok", "health")
check(call_with_head("readiness", models.Readiness, client=anonymous).ready, "readiness")
check("attachprep_jobs" in call_with_head("metrics", str), "metrics")
call_with_head("describe", models.DescribeResponse200, client=anonymous)
check("<html" in call_with_head("page", str, client=anonymous), "page")
call_with_head("pageFile", str, "dashboard.js", client=anonymous)
session = call_with_head("showSession", models.Session, client=anonymous)
check(session.required and not session.authorized, "session")
call("beginSession", 200, models.Session, client=anonymous, body=models.SessionOrder(token=token))
call("endSession", 200, models.Session, client=anonymous)
problem = call("listJobs", 401, models.Problem, client=Client(base_url))
check(problem.code == models.ErrorCode.REQUEST_UNAUTHORIZED, "a problem's code")

# A job from an upload to its files and its webhook.
with urllib.request.urlopen(source) as answer:
    data = answer.read()
upload = call("upload", 201, models.Upload, body=file(data))
check(upload.sha256 == hashlib.sha256(data).hexdigest(), "the upload's digest")
request = models.AttachmentRequest(
    source=upload.source,
    id="cat",
    callback_url=callback,
    headers=models.AttachmentRequestHeadersType0.from_dict({"Accept-Language": "de"}),
    not_before=now - datetime.timedelta(days=1),
    not_after=tomorrow,
    options=models.Options(thumbnail_size=models.OptionsThumbnailSizeType0(width=100, height=100), crop="smart:1:1"),
)
manifest = call("submitJobs", 200, models.Manifest, body=request, prefer="wait=50", idempotency_key=key)
check(manifest.error is None and manifest.attachment.bytes_ > 0, f"a manifest: {manifest}")
location = module("submitJobs").sync_detailed(client=caller, body=request, prefer="wait=50", idempotency_key=key)
job = uuid.UUID(location.headers["Location"].rpartition("/")[2])
event = webhook_of(job)
check(event.type_ == models.WebhookEventType.ATTACHMENT_PREPARED and event.data.id == "cat", f"{event}")
check(event.job.state == models.JobState.SUCCEEDED and event.job.idempotency_key == key, f"{event.job}")
media, name = manifest.attachment.url.split("/")[-2:]
whole = call_with_head("fetchMedia", File, media, name, client=anonymous).payload.read()
check(hashlib.sha256(whole).hexdigest() == manifest.attachment.sha256, "the file's digest")
part = call("fetchMedia", 206, File, media, name, client=anonymous, range_="bytes=0-9")
check(part.payload.read() == whole[:10], "a part of the file")
call("fetchMedia", 304, None, media, name, client=anonymous, if_none_match=f'"{manifest.attachment.sha256}"')
shown = call_with_head("showJob", models.Job, job, prefer='wait="50"')
check(shown.result.attachment.url == manifest.attachment.url, f"{shown}")
check(call_with_head("showJobLog", models.JobLog, job).lines, "the log")
call("showJob", 404, models.Problem, uuid.uuid4())

# A job with a payload, which its webhook returns with the files.
request = models.AttachmentRequest(
    source=source, callback_url=callback, id="event",
    payload=models.AttachmentRequestPayloadType0.from_dict({"aps": {"alert": "Door"}}),
)
pushed = call("submitJobs", 202, models.Job, body=request)
event = webhook_of(pushed.id)
check(event.type_ == models.WebhookEventType.ATTACHMENT_PREPARED, f"{event}")
check(event.push.headers["apns-collapse-id"] == "event", f"{event.push}")
check(event.push.payload["attachprep"]["attachments"][0]["url"] == event.data.attachment.url, f"{event.push}")

# Many jobs, and what is done to them.
lines = "".join(json.dumps({"source": f"{source}?{n}", "notBefore": tomorrow.isoformat()}) + "\n" for n in (1, 2))
batch = call("submitJobs", 202, models.Jobs, body=file(lines.encode()))
first, second = (one.id for one in batch.jobs)
check(batch.batch is not None and len(batch.jobs) == 2, f"{batch}")
page = call_with_head("listJobs", models.JobPage, state=[models.JobState.QUEUED], limit=1, search="?1")
check([one.id for one in page.jobs] == [first], f"{page}")
name = str(batch.batch)
page = call("listJobs", 200, models.JobPage, batch=name, host="127.0.0.1")
check({one.id for one in page.jobs} == {first, second} and str(page.jobs[0].batch) == name, f"{page}")
check(call("cancelJob", 202, models.Job, first).state == models.JobState.CANCELLED, "a cancelled job")
check(call("retryJob", 202, models.Job, first).id == first, "a job that is queued again")
check(call("showJob", 200, models.Job, first, prefer="wait=50").finished_at is not None, "a job that has ended")
call("cancelJob", 409, models.Problem, first)
call("cancelJob", 202, models.Job, second)
cancelled = models.RetryOrderStatesType0Item.CANCELLED
retried = call("retryJobs", 200, models.Retried, body=models.RetryOrder(states=[cancelled], ids=[first, second]))
check(retried.retried == 1, f"{retried}")
call("retryJobs", 400, models.Problem, body=models.RetryOrder())
purged = call("purgeJobs", 200, models.Purged, body=models.PurgeOrder(ids=[first]))
check(purged.purged == 1, f"{purged}")
order = models.PriorityOrder(priority=models.PriorityOrderPriority.BULK, batch=name)
check(call("changeJobPriority", 200, models.Changed, body=order).changed >= 0, "a priority")
check(call_with_head("showBatch", models.Batch, uuid.UUID(name)).jobs == 1, "the batch without the purged job")
check(call("cancelJobs", 200, models.Cancelled, body=models.CancelOrder(batch=name)).cancelled <= 1, "a batch")
check(call_with_head("listActions", models.ActionPage).actions[0].kind == models.ActionKind.CANCEL, "the actions")
bulk = models.PauseOrderLaneType1.BULK
paused = call("pauseJobs", 200, models.Pause, body=models.PauseOrder(lane=bulk, reason="a test"))
check(paused.name == "bulk", f"{paused}")
check([one.reason for one in call_with_head("listPauses", models.Pauses).pauses] == ["a test"], "the pauses")
resumed = call("resumeJobs", 200, models.Resumed, body=models.ResumeOrder(lane=models.ResumeOrderLaneType1.BULK))
check(resumed.resumed, "a lane that resumes")
forbidden = models.RetryOptionsNotThereYetType0Item(403)
retry = models.RetryOptions(policy=models.RetryPolicy.PATIENT, attempts=20, not_there_yet=[forbidden])
single = models.AttachmentRequest(source=source, callback_url=callback, not_before=tomorrow, retry=retry)
waiting = call("submitJobs", 202, models.Job, body=single)
check(waiting.request["retry"]["attempts"] == 20, f"{waiting}")
later = tomorrow + datetime.timedelta(days=1)
snoozed = call("snoozeJob", 202, models.Job, waiting.id, body=models.SnoozeOrder(not_before=later))
check(snoozed.request["notBefore"] > waiting.request["notBefore"], f"{snoozed}")
call("cancelJob", 202, models.Job, waiting.id)
named = models.AttachmentRequest(source=source, not_before=tomorrow, retry=models.RetryPolicy.FAST)
started = call("runJob", 202, models.Job, call("submitJobs", 202, models.Job, body=named).id)
check(call("showJob", 200, models.Job, started.id, prefer="wait=50").finished_at is not None, "a job that was run")
call("runJob", 409, models.Problem, started.id)
event = webhook_of(waiting.id)
check(event.type_ == models.WebhookEventType.JOB_CANCELLED, f"{event}")
check(event.data.error.code == models.ErrorCode.CANCELLED, f"{event}")
hooks = call_with_head("listWebhooks", models.WebhookPage, job=job)
check([hook.job for hook in hooks.webhooks] == [job], f"{hooks}")
order = models.ReplayOrder(ids=[hooks.webhooks[0].id])
check(call("replayWebhooks", 200, models.Replayed, body=order).replayed == 1, "a replayed webhook")
webhook_of(job)

# Payloads, receipts and campaigns.
payload = models.PayloadSubmissionPayload.from_dict({"aps": {"alert": "A cat", "mutable-content": 1}, "attach": source})
rewritten = call(
    "rewritePayload", 200, models.PayloadResult,
    body=models.PayloadSubmission(payload=payload, campaign="spring", recipients=10, sent_at=now),
)
receipt = models.Receipt(
    token=rewritten.payload["attachprep"]["receipt"]["token"], id="one", outcome=models.ReceiptOutcome.ATTACHED,
    attach_seconds=0.5, age_seconds=1,
)
check(call("takeReceipts", 200, models.ReceiptsTaken, body=receipt, client=anonymous).counted == 1, "a receipt")
check(call("takeReceipts", 200, models.ReceiptsTaken, body=[receipt], client=anonymous).accepted == 1, "receipts")
check(call_with_head("listCampaigns", models.CampaignPage).campaigns[0].name == "spring", "the campaigns")
check(call_with_head("showCampaign", models.Campaign, "spring").arrivals == 1, "the campaign")
check(call_with_head("showOverview", models.Overview).jobs.succeeded >= 1, "the overview")
check(call_with_head("showHistory", models.History).hours[-1].succeeded >= 1, "the history")

# The event stream does not end: sends the generated request and reads events as they arrive.
call("listenHead", 200, None)
kinds = {"job": models.JobEvent, "counts": models.CountsEvent}
seen = set()
with caller.get_httpx_client().stream(**module("listen")._get_kwargs()) as stream:
    name = None
    submitted = False
    for line in stream.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            kinds[name].from_dict({"event": name, "data": json.loads(line.removeprefix("data: "))})
            seen.add(name)
        if not submitted:
            submitted = True
            call("submitJobs", 202, models.Job, body=single)
        if seen == set(kinds):
            break

left_out = sorted(operations - called)
check(not left_out, f"operations that were not called: {', '.join(left_out)}")
print(f"{len(called)} operations")
