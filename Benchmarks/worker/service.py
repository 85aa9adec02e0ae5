"""A running `attachprep serve` or `worker`, and requests to it."""

import http.client
import json
import subprocess
import sys
import threading

from place import ATTACHPREP


class Process:
    """A running `attachprep` on a free port that it prints; optionally pinned to a core."""

    def __init__(self, command, options, environment=None, core=None):
        held = [] if core is None else ["taskset", "--cpu-list", str(core)]
        self.process = subprocess.Popen(
            [*held, ATTACHPREP, command, "--port", "0", "--allow-private-network", "--log-format", "json", *options],
            stderr=subprocess.PIPE, text=True, env=environment)
        for line in self.process.stderr:
            if '"serving"' in line or '"working"' in line:
                self.port = int(json.loads(line)["url"].rsplit(":", 1)[1])
                break
        else:
            sys.exit(f"attachprep {command} did not start")
        # The log is drained, so that the process never blocks on it.
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Service(Process):
    """The service with a separate data folder."""

    def __init__(self, folder, *options, environment=None):
        super().__init__("serve", ["--data", folder, *options], environment)


def ask(connection, method, path, body=None, kind="application/json", headers=None):
    """The JSON of a response; any status other than success ends the benchmark."""
    connection.request(method, path, body, {**({"Content-Type": kind} if body else {}), **(headers or {})})
    answer = connection.getresponse()
    data = answer.read()
    if answer.status >= 300:
        sys.exit(f"{method} {path} gave {answer.status}: {data[:200]}")
    return json.loads(data)
