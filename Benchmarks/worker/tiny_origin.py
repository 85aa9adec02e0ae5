"""An origin in a process of its own: every path is the same small file; a POST is counted as a webhook."""

import asyncio
import multiprocessing


class _Connection(asyncio.Protocol):
    def __init__(self, body, webhooks):
        self.body, self.webhooks, self.received = body, webhooks, b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.received += data
        while b"\r\n\r\n" in self.received:
            head, _, rest = self.received.partition(b"\r\n\r\n")
            lengths = [line[15:] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
            length = int(lengths[0]) if lengths else 0
            if len(rest) < length:
                return
            self.received = rest[length:]
            self.respond(head)

    def respond(self, head):
        if head.startswith(b"POST"):
            self.webhooks.value += 1
            self.transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        else:
            self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n"
                                 % len(self.body) + self.body)


class TinyOrigin:
    """`url` is its address without a path, `webhooks` the number of webhooks received."""

    def __init__(self, body):
        ready, port = multiprocessing.Pipe()
        self._webhooks = multiprocessing.Value("q", 0, lock=False)
        self._process = multiprocessing.Process(target=self._serve, args=(body, port), daemon=True)
        self._process.start()
        self.url = f"http://127.0.0.1:{ready.recv()}"

    @property
    def webhooks(self):
        return self._webhooks.value

    def stop(self):
        self._process.terminate()

    def _serve(self, body, port):
        async def serve():
            server = await asyncio.get_running_loop().create_server(
                lambda: _Connection(body, self._webhooks), "127.0.0.1", 0)
            port.send(server.sockets[0].getsockname()[1])
            await server.serve_forever()

        asyncio.run(serve())
