"""Callers that remember what was acknowledged to them, and the check that it was kept."""

import http.client
import json
import random
import threading
import time

TOKEN = "campaign-of-faults"


def ask(address, method, path, body=None, headers=None, timeout=10):
    connection = http.client.HTTPConnection(address, 8080, timeout=timeout)
    try:
        connection.request(method, path, body, {"Authorization": f"Bearer {TOKEN}", **(headers or {})})
        answer = connection.getresponse()
        data = answer.read()
        return answer.status, json.loads(data) if data else None
    finally:
        connection.close()


class Callers:
    """Submit jobs until they are acknowledged, and some of them again, at another service, under the same key."""

    def __init__(self, seed, addresses, outside, rate, log):
        self.addresses, self.outside, self.rate, self.log = addresses, outside, rate, log
        self.choice = random.Random(f"{seed} callers")
        self.seed = seed
        self.lock = threading.Lock()
        # Job id: its source; and the times of acknowledgment and of the first evidence of its end.
        self.acknowledged, self.at, self.ended = {}, {}, {}
        self.problems = []
        self.attempts = self.refused = self.repeated = 0
        self.is_over = threading.Event()
        self.count = 0
        self.threads = [threading.Thread(target=self.submit, args=[number], daemon=True) for number in range(3)]
        self.watcher = threading.Thread(target=self.watch, daemon=True)
        self.stalls = [(0.0, 0.0)]
        self.progress = time.monotonic()
        # The longest time without an acknowledgment while callers submit, and the time of the last one.
        self.silence, self.answered = 0.0, time.monotonic()

    def begin(self):
        self.answered = time.monotonic()
        for thread in [*self.threads, self.watcher]:
            thread.start()

    def finish(self):
        """Ends submitting; what was begun is acknowledged first."""
        self.is_over.set()
        for thread in self.threads:
            thread.join()

    def sources(self):
        """The sources of the next submission: mostly one; sometimes a batch, one seen before, one that is missing."""
        with self.lock:
            sources = []
            for _ in range(self.choice.choices([1, 4], [5, 1])[0]):
                self.count += 1
                kind = self.choice.random()
                number = self.choice.randint(max(1, self.count - 20), self.count) if kind < 0.1 else self.count
                sources.append(f"{'missing' if 0.1 <= kind < 0.13 else 'source'}/{number}")
            return self.count, sources

    def submit(self, number):
        choice = random.Random(f"{self.seed} caller {number}")
        while not self.is_over.is_set():
            key, sources = self.sources()
            began = time.monotonic()
            ids = self.until_acknowledged(choice, f"key-{key}", sources, 600)
            if ids is None:
                self.problems.append(f"the submission {key} was not accepted for 600 s")
                return
            if choice.random() < 0.1 and ids:
                self.repeated += 1
                again = self.until_acknowledged(choice, f"key-{key}", sources, 30)
                if again not in [None, ids]:
                    self.problems.append(f"the submission {key} gave the jobs {ids}, and repeated, {again}")
            pause = len(sources) * len(self.threads) / self.rate - (time.monotonic() - began)
            self.is_over.wait(max(0.0, pause))

    def until_acknowledged(self, choice, key, sources, seconds):
        body = "\n".join(json.dumps({
            "source": f"{self.outside}/{source}", "callbackURL": f"{self.outside}/hook",
            "options": {}}) for source in sources)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            address = choice.choice(self.addresses)
            self.attempts += 1
            try:
                status, answer = ask(address, "POST", "/v1/jobs", body, {
                    "Content-Type": "application/x-ndjson", "Idempotency-Key": key})
            except (OSError, http.client.HTTPException, ValueError):
                status = 0
            if status in [200, 202]:
                ids = [job["id"] for job in answer["jobs"]]
                with self.lock:
                    now = time.monotonic()
                    self.silence, self.answered = max(self.silence, now - self.answered), now
                    for name, source in zip(ids, sources):
                        if name not in self.acknowledged:
                            self.log("acknowledged", job=name, source=source, key=key)
                        self.acknowledged[name] = source
                        self.at.setdefault(name, now)
                return ids
            self.refused += 1
            if status and status < 500 and status != 429:
                self.problems.append(f"the submission {key} was rejected: {status} {answer}")
                return []
            time.sleep(0.5)
        return None

    def open(self):
        with self.lock:
            return [name for name in self.acknowledged if name not in self.ended]

    def watch(self):
        """Notes the end of jobs, and the longest time without one while jobs waited."""
        while True:
            time.sleep(0.5)
            for address in self.addresses:
                names = self.open()[:100]
                if names:
                    self.look(address, names)
            now = time.monotonic()
            with self.lock:
                waiting = [self.at[name] for name in self.acknowledged if name not in self.ended]
                if waiting:
                    # Nothing can end before there is something to do.
                    stall = now - max(self.progress, min(waiting))
                    self.stalls.append((stall, now))
                    self.stalls = sorted(self.stalls)[-1:]

    def look(self, address, names):
        for name in names[:10]:
            try:
                status, job = ask(address, "GET", f"/v1/jobs/{name}", timeout=3)
            except (OSError, http.client.HTTPException, ValueError):
                return
            if status == 200 and job["state"] not in ["queued", "running"]:
                self.note(name, job["state"])

    def note(self, name, state):
        with self.lock:
            if name in self.acknowledged and name not in self.ended:
                self.progress = self.ended[name] = time.monotonic()
                self.log("ended", job=name, state=state, seconds=round(self.ended[name] - self.at[name], 2))


def listed(address):
    """All jobs that a service shows, by id."""
    jobs, cursor = {}, ""
    while True:
        status, page = ask(address, "GET", f"/v1/jobs?limit=100{cursor}", timeout=60)
        if status != 200:
            raise RuntimeError(f"GET /v1/jobs gave {status}: {page}")
        jobs |= {job["id"]: job for job in page["jobs"]}
        if not page["next"]:
            return jobs
        cursor = f"&cursor={page['next']}"


def unfinished(address):
    """Whether a service shows jobs that have not ended, or does not answer."""
    try:
        status, page = ask(address, "GET", "/v1/jobs?state=queued,running&limit=1")
        return status != 200 or bool(page["jobs"])
    except (OSError, http.client.HTTPException, ValueError):
        return True


def check(callers, outside):
    """What is wrong, a sentence each, and the numbers of the report."""
    problems = callers.problems + outside.problems
    wanted = callers.acknowledged
    views = [listed(address) for address in callers.addresses]
    states = {}
    for number, view in enumerate(views):
        if lost := set(wanted) - set(view):
            problems.append(f"service {number + 1} does not know {len(lost)} acknowledged jobs: {sorted(lost)[:5]}")
        if extra := set(view) - set(wanted):
            problems.append(f"service {number + 1} has {len(extra)} jobs that nobody asked for: {sorted(extra)[:5]}")
    for name, source in wanted.items():
        job = views[0].get(name)
        if job is None:
            continue
        states[job["state"]] = states.get(job["state"], 0) + 1
        if any(view.get(name) != job for view in views):
            problems.append(f"the services disagree on {name}")
        problems += [f"{name} of {source} {text}" for text in flaws(name, job, source, outside)]
    sent = {name: outside.webhooks.get(name, []) for name in wanted}
    return problems, {
        "jobs acknowledged": len(wanted), "submissions": callers.attempts,
        "submissions without an answer or refused for now": callers.refused,
        "submissions repeated after their acknowledgment": callers.repeated, "jobs by state": states,
        "webhooks received": sum(map(len, sent.values())),
        "webhooks received more than once": sum(len(all_) > 1 for all_ in sent.values()),
        "downloads": sum(outside.downloads.values()),
        "sources downloaded more than once": sum(count > 1 for count in outside.downloads.values()),
    }


def flaws(name, job, source, outside):
    """What is wrong with one job: its state, its file, its webhooks."""
    state, result = job["state"], job["result"]
    if state != ("failed" if source.startswith("missing") else "succeeded"):
        yield f"is {state}: {json.dumps(job['error'])[:300]}"
    if state == "succeeded":
        for entry in ["attachment", "thumbnail"]:
            file = result.get(entry)
            if file:
                key = "/" + file["url"].split("/", 3)[3]
                if outside.objects.get(key) != file["sha256"]:
                    yield f"has the file {key}, which the bucket has as {outside.objects.get(key)}"
    received = outside.webhooks.get(name, [])
    if not received:
        yield "has no webhook"
        return
    if len({identifier for identifier, _ in received}) > 1:
        yield f"has webhooks with several ids: {received}"
    if len({digest for _, digest in received}) > 1:
        yield "has webhooks with several bodies"
    body = json.loads(outside.bodies[name])
    if body["job"]["state"] != state or body["data"] != result:
        yield "has a webhook that tells another result"
