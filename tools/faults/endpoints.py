"""What is outside of the machines, in one HTTP server: the origin, a bucket and the receiver of webhooks."""

import collections
import hashlib
import http.server
import json
import struct
import sys
import threading
import time
import zlib

PORT = 8000


def png(number):
    """A small image that no other number has."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    color = hashlib.sha256(str(number).encode()).digest()[:3]
    rows = b"".join(b"\0" + color * 40 for _ in range(30))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 40, 30, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Outside:
    def __init__(self, log):
        self.log = log
        self.lock = threading.Lock()
        self.downloads = collections.Counter()
        self.objects = {}
        # Job id: list of (webhook id, digest of the body); and the time of the first.
        self.webhooks = collections.defaultdict(list)
        self.bodies = {}
        self.first = {}
        self.problems = []
        # Called with the job and the state of each webhook.
        self.ended = lambda job, state: None
        handler = type("Handler", (Handler,), {"outside": self})
        server = http.server.ThreadingHTTPServer(("10.77.0.1", PORT), handler)
        server.handle_error = lambda *_: log("lost connection", error=repr(sys.exc_info()[1]))
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def put(self, key, body):
        digest = hashlib.sha256(body).hexdigest()
        with self.lock:
            before = self.objects.get(key)
            self.objects[key] = digest
            if before not in [None, digest] and not key.endswith(".json"):
                self.problems.append(f"the file {key} was replaced by another one")

    def receive(self, identifier, body):
        job = json.loads(body)["job"]["id"]
        digest = hashlib.sha256(body).hexdigest()
        with self.lock:
            self.webhooks[job].append((identifier, digest))
            self.bodies[job] = body
            self.first.setdefault(job, time.monotonic())
        self.log("webhook", job=job, id=identifier)
        self.ended(job, json.loads(body)["job"]["state"])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self):
        if self.path.startswith("/source/"):
            with self.outside.lock:
                self.outside.downloads[self.path] += 1
            return self.answer(200, png(self.path), {"Content-Type": "image/png", "Cache-Control": "max-age=3600"})
        known = self.path.split("?")[0] in self.outside.objects
        self.answer(200 if known else 404)

    do_HEAD = do_GET

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.outside.put(self.path.split("?")[0], body)
        self.answer(200, headers={"ETag": '"' + hashlib.md5(body).hexdigest() + '"'})

    def do_DELETE(self):
        path, _, query = self.path.partition("?")
        if not query:
            with self.outside.lock:
                self.outside.objects.pop(path, None)
        self.answer(204)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.endswith("?uploads="):
            # A service begins an upload in parts and aborts it, to find out whether it may write.
            return self.answer(200, b"<InitiateMultipartUploadResult><UploadId>1</UploadId>"
                                    b"</InitiateMultipartUploadResult>")
        if self.path != "/hook":
            return self.answer(405)
        self.outside.receive(self.headers["webhook-id"], body)
        self.answer(204)

    def answer(self, status, body=b"", headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD" and status != 204:
            self.wfile.write(body)

    def log_message(self, *_):
        pass
