"""Loopback ports through which files, or another server, have the rate and round trip of a network."""

import subprocess

from place import SHAPING_SERVER


class ShapingServer:
    """A running ShapingServer and the ports that it printed, one for each network."""

    def __init__(self, networks, *options):
        listen = [word for network in networks for word in ["--listen", f"{network}=0"]]
        self.process = subprocess.Popen([SHAPING_SERVER, *listen, *options], stdout=subprocess.PIPE, text=True)
        self.ports = [int(self.process.stdout.readline().rsplit(":", 1)[1]) for _ in networks]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
