"""Serves a folder over https: python3 file_server.py FOLDER CERTIFICATE KEY. Prints its port; SIGTERM ends it.

No response can be reused: no ETag, no date, no session tickets, and Cache-Control forbids caching.
"""

import functools
import http.server
import ssl
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def send_header(self, keyword, value):
        if keyword != "Last-Modified":
            super().send_header(keyword, value)

    def end_headers(self):
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128

    def __init__(self, folder, certificate, key):
        super().__init__(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.context.num_tickets = 0

    def get_request(self):
        """The handshake runs on the connection's thread, because it waits for the network's round trips."""
        connection, address = super().get_request()
        return self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, request, client_address):
        """A client that disconnects at its deadline is not an error."""


if __name__ == "__main__":
    server = Server(*sys.argv[1:])
    print(server.server_address[1], flush=True)
    server.serve_forever()
