"""A folder on an https server with a host name, with the rate and round trip of each network."""

import os
import subprocess
import sys
import urllib.parse

from origin import namespace
from origin.authority import Authority
from origin.network import UNSHAPED
from origin.shaping_server import ShapingServer

DOMAIN = "origin.test"
HERE = os.path.dirname(os.path.abspath(__file__))
# Round trip of TCP's handshake; those of TLS and HTTP are made by client and server themselves.
ROUND_TRIPS = "2"


class Origin:
    """The servers run until `close`. `options` are the options that a worker needs to connect."""

    def __init__(self, folder, work, networks):
        authority = Authority(work, DOMAIN)
        self.networks = networks
        self.has_names = namespace.is_inside()
        if self.has_names:
            self.names = started("name_server.py", *[f"{host(network)}={network.milliseconds}" for network in networks])
            self.names.stdout.readline()
        self.files = started("file_server.py", folder, authority.certificate, authority.key)
        port = int(self.files.stdout.readline())
        shaped = [network for network in networks if network.name != UNSHAPED]
        self.links = ShapingServer([network.name for network in shaped], "--round-trips", ROUND_TRIPS,
                                   "--upstream", f"http://127.0.0.1:{port}") if shaped else None
        self.ports = {UNSHAPED: port, **{network.name: link for network, link in zip(
            shaped, self.links.ports if self.links else [])}}
        self.options = ["--ca-file", authority.trusted, *self.server_names()]

    def server_names(self):
        """Options for when no name server can be started."""
        if self.has_names:
            return []
        return [word for network in self.networks for word in
                ["--resolve", f"{host(network)}:{self.ports[network.name]}:127.0.0.1"]]

    def address(self, network, file, number):
        """The URL of a file, different for each number."""
        return f"https://{host(network)}:{self.ports[network.name]}/{urllib.parse.quote(file)}?{number}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in [self.files, *([self.names] if self.has_names else []),
                        *([self.links.process] if self.links else [])]:
            process.terminate()
            process.wait()


def host(network):
    return f"{network.name}.{DOMAIN}"


def started(script, *words):
    return subprocess.Popen([sys.executable, os.path.join(HERE, script), *words], stdout=subprocess.PIPE, text=True)
