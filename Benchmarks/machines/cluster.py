"""A cluster of three NATS servers on loopback, with its storage in a folder of the benchmark."""

import os
import shutil
import socket
import subprocess
import tempfile
import time

INSTALL = os.path.join(os.path.dirname(__file__), "../../tools/nats-server/install")
CONFIGURATION = """
server_name: "node{number}"
listen: "127.0.0.1:{client}"
jetstream {{ store_dir: "{folder}/node{number}" }}
cluster {{ name: "bench", listen: "127.0.0.1:{route}", routes: [{routes}] }}
"""


class Cluster:
    """`with Cluster() as cluster: cluster.addresses`; a single server needs no consensus."""

    def __init__(self, servers=3):
        self.count = servers

    def __enter__(self):
        program = subprocess.run([INSTALL], check=True, capture_output=True, text=True).stdout.strip()
        self.folder = tempfile.mkdtemp(prefix="nats-")
        clients, routes = free_ports(self.count), free_ports(self.count)
        known = ", ".join(f'"nats://127.0.0.1:{port}"' for port in routes)
        self.processes = []
        for number in range(self.count):
            path = os.path.join(self.folder, f"node{number}.conf")
            text = CONFIGURATION.format(number=number, client=clients[number], route=routes[number], routes=known,
                                        folder=self.folder)
            with open(path, "w", encoding="utf-8") as file:
                # A single server with a cluster configuration would wait for peers forever.
                file.write(text if self.count > 1 else "\n".join(
                    line for line in text.splitlines() if not line.startswith("cluster")))
            self.processes.append(subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", program, "-c", path], stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL))
        for port in clients:
            wait_for(port)
        self.addresses = ",".join(f"nats://127.0.0.1:{port}" for port in clients)
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def wait_for(port):
    for _ in range(500):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise SystemExit(f"nothing listens on port {port}")


def free_ports(count):
    """Free ports, all bound before the first is released, so that no two are equal."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
