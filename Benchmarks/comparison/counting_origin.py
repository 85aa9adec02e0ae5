"""An origin that sends at full speed and counts the bytes that the receiver's kernel has acknowledged."""

import os
import socket
import struct
import threading

# Offset of `tcpi_bytes_acked` in struct tcp_info.
BYTES_ACKED = 120
PIECE = 65536


class CountingOrigin:
    """Serves one file, once, as a context manager; with `declares` false in chunks without a length.

    `acknowledged` is set when the connection has ended: headers and body that reached the receiver's kernel, whether
    the process has read them or not.
    """

    def __init__(self, path, kind, declares=True):
        self.path, self.kind, self.declares = path, kind, declares
        self.acknowledged = None
        self.is_over = threading.Event()

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/file"
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.wait(10)
        self.listener.close()

    def serve(self):
        connection, _ = self.listener.accept()
        with connection:
            connection.recv(65536)
            try:
                self.answer(connection)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(PIECE):
                    pass
            except OSError:
                # The client disconnected, as expected.
                pass
            information = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            self.acknowledged = struct.unpack_from("Q", information, BYTES_ACKED)[0]
        self.is_over.set()

    def answer(self, connection):
        size = os.path.getsize(self.path)
        length = f"Content-Length: {size}" if self.declares else "Transfer-Encoding: chunked"
        connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Type: {self.kind}\r\n{length}\r\n\r\n".encode())
        with open(self.path, "rb") as file:
            while piece := file.read(PIECE):
                connection.sendall(piece if self.declares else b"%x\r\n%s\r\n" % (len(piece), piece))
        if not self.declares:
            connection.sendall(b"0\r\n\r\n")
