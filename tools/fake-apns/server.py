"""A fake APNs: HTTP/2 over TLS on loopback. Started by tools/fake-apns/run, which makes the keys.

Prints its address on the first line, answers as APNs does, and writes one line per request to FOLDER/arrived.jsonl:
connection, number of requests in progress, device, headers, payload, status and reason.

--answers FILE: a JSON object from device tokens to lists of answers that are given first, in order, instead of 200:

    {"TOKEN": [{"status": 429, "reason": "TooManyRequests", "retry-after": "0"},
               {"status": 410, "reason": "Unregistered", "timestamp": 1791234567890},
               {"end": "goaway"}, {"end": "reset"}, {"end": "drop"}]}

goaway closes the connection in order and answers nothing; reset ends the stream; drop ends the TCP connection.
"""

import argparse
import asyncio
import json
import pathlib
import ssl
import uuid

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
from hyperframe.frame import SettingsFrame

from checks import Provider, Rejection, TokenHistory

# APNs allows one stream until it has seen a valid provider token, then a thousand.
STREAMS_BEFORE_TOKEN = 1
STREAMS = 1_000
# Beyond the largest payload, so that its size can be recorded; the rest of a larger body is dropped.
BODY_BYTES = 16_384


class Server:
    def __init__(self, options):
        folder = pathlib.Path(options.folder)
        self.provider = Provider(
            (folder / "AuthKey.pem").read_bytes(), options.team_id, options.key_id, options.topic)
        self.answers = json.loads(pathlib.Path(options.answers).read_text()) if options.answers else {}
        self.delay = options.delay
        self.record = open(folder / "arrived.jsonl", "a", encoding="utf-8")
        self.connections = 0
        self.in_progress = 0

    async def serve(self, reader, writer):
        self.connections += 1
        await Connection(self, self.connections, reader, writer).run()

    def scripted(self, device):
        """The next answer of --answers for a device."""
        waiting = self.answers.get(device)
        return waiting.pop(0) if waiting else None

    def write(self, entry):
        self.record.write(json.dumps(entry) + "\n")
        self.record.flush()


class Connection:
    def __init__(self, server, number, reader, writer):
        self.server, self.number, self.reader, self.writer = server, number, reader, writer
        self.h2 = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.requests = {}
        self.tasks = set()
        self.tokens = TokenHistory()
        self.limit = 0

    def flush(self):
        if data := self.h2.data_to_send():
            self.writer.write(data)

    def allow(self, streams, settings=None):
        """Sends the limit of concurrent streams, with further settings.

        Not with h2, which ends the connection when a stream is opened just before the limit has arrived. A server
        refuses such a stream, and the sender may repeat it.
        """
        self.limit = streams
        self.flush()
        settings = {**(settings or {}), SettingsFrame.MAX_CONCURRENT_STREAMS: streams}
        self.writer.write(SettingsFrame(0, settings=settings).serialize())

    async def run(self):
        # The first frame has the limit already: httpx 0.28 hangs when a limit is lowered later.
        self.h2.initiate_connection()
        self.h2.data_to_send()
        self.allow(STREAMS_BEFORE_TOKEN, dict(self.h2.local_settings))
        try:
            while data := await self.reader.read(65_536):
                for event in self.h2.receive_data(data):
                    self.handle(event)
                self.flush()
        except h2.exceptions.ProtocolError as error:
            self.server.write({"connection": self.number, "violation": f"{type(error).__name__}: {error}"})
            self.flush()
        except (ConnectionError, ssl.SSLError):
            pass
        for task in self.tasks:
            task.cancel()
        self.writer.close()

    def handle(self, event):
        if isinstance(event, h2.events.RequestReceived) and len(self.requests) >= self.limit:
            self.h2.reset_stream(event.stream_id, h2.errors.ErrorCodes.REFUSED_STREAM)
        elif isinstance(event, h2.events.RequestReceived):
            self.requests[event.stream_id] = (event.headers, bytearray())
            self.server.in_progress += 1
        elif isinstance(event, h2.events.DataReceived):
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if event.stream_id in self.requests:
                body = self.requests[event.stream_id][1]
                body += event.data[:BODY_BYTES - len(body)]
        elif isinstance(event, h2.events.StreamEnded) and event.stream_id in self.requests:
            task = asyncio.ensure_future(self.respond(event.stream_id))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        elif isinstance(event, h2.events.StreamReset) and self.requests.pop(event.stream_id, None):
            self.server.in_progress -= 1

    async def respond(self, stream):
        headers, body = self.requests[stream]
        in_progress = self.server.in_progress
        try:
            await asyncio.sleep(self.server.delay)
        finally:
            if self.requests.pop(stream, None):
                self.server.in_progress -= 1
        fields = dict(headers)
        device = fields[":path"].rpartition("/")[2]
        answer = self.server.scripted(device) or self.checked(headers, bytes(body))
        self.server.write({
            "connection": self.number, "inProgress": in_progress, "device": device, "headers": fields,
            "payload": body.decode(errors="replace"), "bytes": len(body), **answer})
        self.send(stream, answer, fields.get("apns-id") or str(uuid.uuid4()))

    def checked(self, headers, body):
        try:
            self.server.provider.check(headers, body, self.tokens)
        except Rejection as rejection:
            return {"status": rejection.status, "reason": rejection.reason}
        if self.limit < STREAMS:
            self.allow(STREAMS)
        return {"status": 200}

    def send(self, stream, answer, apns_id):
        end = answer.get("end")
        if answer.get("reason") == "ExpiredProviderToken":
            self.tokens.allow_renewal()
        try:
            if end == "drop":
                return self.writer.transport.abort()
            if end == "goaway":
                # All later streams, this one included, were not processed.
                self.h2.close_connection(last_stream_id=max(stream - 2, 0))
                self.flush()
                return self.writer.close()
            if end == "reset":
                self.h2.reset_stream(stream)
                return self.flush()
            headers = [(":status", str(answer["status"])), ("apns-id", apns_id)]
            headers += [("retry-after", answer["retry-after"])] if "retry-after" in answer else []
            body = {key: answer[key] for key in ("reason", "timestamp") if key in answer}
            self.h2.send_headers(stream, headers, end_stream=not body)
            if body:
                self.h2.send_data(stream, json.dumps(body).encode(), end_stream=True)
            self.flush()
        except h2.exceptions.ProtocolError:
            # The sender has ended the stream or the connection.
            pass


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="holds the keys; receives arrived.jsonl")
    parser.add_argument("--port", type=int, default=0, help="any free port by default")
    parser.add_argument("--team-id", default="DEF123GHIJ")
    parser.add_argument("--key-id", default="ABC123DEFG")
    parser.add_argument("--topic", default="com.example.app")
    parser.add_argument("--answers", help="JSON file of errors to answer")
    parser.add_argument("--delay", type=float, default=0, help="seconds until each answer")
    options = parser.parse_args()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{options.folder}/server.pem", f"{options.folder}/server.key")
    context.set_alpn_protocols(["h2"])
    listener = await asyncio.start_server(Server(options).serve, "127.0.0.1", options.port, ssl=context)
    print(f"https://localhost:{listener.sockets[0].getsockname()[1]}", flush=True)
    async with listener:
        await listener.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
