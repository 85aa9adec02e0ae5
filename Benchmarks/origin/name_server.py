"""A name server on loopback: python3 name_server.py NAME=MILLISECONDS... Prints a line when it listens.

Every name that ends in one of these names resolves to 127.0.0.1, after the given delay: the round trip to a resolver.
"""

import socket
import struct
import sys
import threading

TYPE_A, CLASS_IN = 1, 1
ADDRESS = socket.inet_aton("127.0.0.1")


def question(query):
    """The name in the question, its type, and the offset of the question's end."""
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode("ascii", "replace").lower())
        at += 1 + query[at]
    return ".".join(labels), struct.unpack_from("!H", query, at + 1)[0], at + 5


def answer(query, kind, end, is_known):
    """One address, no address of that type, or no such name."""
    count = 1 if is_known and kind == TYPE_A else 0
    flags = 0x8580 if is_known else 0x8583
    head = query[:2] + struct.pack("!HHHHH", flags, 1, count, 0, 0)
    record = struct.pack("!HHHIH", 0xC00C, TYPE_A, CLASS_IN, 0, len(ADDRESS)) + ADDRESS
    return head + query[12:end] + record * count


def serve(port, delays):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", port))
    print("listening", flush=True)
    while True:
        query, client = server.recvfrom(4096)
        name, kind, end = question(query)
        delay = next((delay for suffix, delay in delays.items() if name.endswith(suffix)), None)
        said = answer(query, kind, end, delay is not None)
        threading.Timer((delay or 0) / 1000, server.sendto, (said, client)).start()


if __name__ == "__main__":
    serve(53, {name: float(delay) for name, delay in (word.split("=") for word in sys.argv[1:])})
