"""An origin that records the time at which the last byte of a file was sent.

It sends at the speed of loopback; the last byte counts as sent when the last send call returns, although the receiver
may still have much to read. With `holds`, the last kilobyte is sent only when the receiver's kernel has accepted the
rest and the receiver had time to read it. This simulates a network slower than loopback, where early work is nearly
finished when the last byte arrives.
"""

import fcntl
import socket
import struct
import termios
import threading
import time

LAST = 1024
MOMENT = 0.03


class TimedOrigin:
    """Serves the bytes of one file under any path, as a context manager."""

    def __init__(self, path, kind="application/octet-stream", holds=False):
        with open(path, "rb") as file:
            self.body = file.read()
        self.kind, self.holds = kind, holds
        self.sent = {}

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def since(self, request):
        """The time at which the last byte for a request of `warm` was sent."""
        return self.sent[request.manifest["source"]["url"].rsplit("/", 1)[1]]

    def urls(self, count):
        return [self.url(str(number)) for number in range(count)]

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/{name}"

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection:
            while name := self.request(connection):
                head = f"HTTP/1.1 200 OK\r\nContent-Type: {self.kind}\r\nContent-Length: {len(self.body)}\r\n\r\n"
                connection.sendall(head.encode() + self.body[:-LAST])
                if self.holds:
                    self.drain(connection)
                connection.sendall(self.body[-LAST:])
                self.sent[name] = time.perf_counter()

    def request(self, connection):
        """The path of the next request; None at the end of the connection."""
        data = b""
        while b"\r\n\r\n" not in data:
            more = connection.recv(65536)
            if not more:
                return ""
            data += more
        return data.split(b" ", 2)[1].decode().lstrip("/")

    def drain(self, connection):
        while struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, b"\0\0\0\0"))[0]:
            time.sleep(0.001)
        time.sleep(MOMENT)
