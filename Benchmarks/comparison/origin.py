"""The origin: nginx on loopback with sendfile, which uses little processor time; run by the benchmark."""

import math
import os
import shutil
import socket
import subprocess
import tempfile
import time

from places import BENCH

CONFIGURATION = """
daemon off;
worker_processes 1;
error_log {folder}/error.log;
pid {folder}/pid;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 100000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    log_format times "$msec $request_time $arg_n";
    types {{
        image/jpeg jpg; image/png png; image/webp webp; image/gif gif; image/heic heic; image/avif avif;
        image/tiff tiff; video/mp4 mp4; video/quicktime mov; audio/mpeg mp3; audio/mp4 m4a; audio/wav wav;
        audio/aiff aiff; text/html html;
    }}
    server {{
        listen 127.0.0.1:{port};
        root {root};
        # A slow link, so that many downloads are in flight at a time.
        location /slow/ {{
            alias {root}/;
            limit_rate 256k;
        }}
        # Requests whose start times are logged.
        location /timed/ {{
            alias {root}/;
            access_log {folder}/times times;
        }}
    }}
}}
"""


class Origin:
    """Serves a folder: `with Origin(folder) as origin: origin.url(file)`."""

    def __init__(self, root):
        self.root = root
        self.count = 0

    def __enter__(self):
        program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        if program is None:
            raise SystemExit("side-by-side: nginx is missing; make deps-bench, or apt-get install nginx-light")
        self.folder = tempfile.mkdtemp(prefix="origin-", dir=BENCH)
        # Readable for nginx's worker user, whichever user runs the benchmark.
        os.chmod(self.folder, 0o755)
        self.port = free_port()
        path = os.path.join(self.folder, "nginx.conf")
        with open(path, "w", encoding="utf-8") as file:
            user = "user root;\n" if os.geteuid() == 0 else ""
            file.write(user + CONFIGURATION.format(folder=self.folder, port=self.port, root=self.root))
        # Ends the server if the benchmark is killed.
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", program, "-p", self.folder, "-c", path],
                                        stderr=subprocess.DEVNULL)
        self.wait()
        return self

    def wait(self):
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise SystemExit(f"side-by-side: nginx does not answer; see {self.folder}/error.log")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, file):
        """A different URL each time, so that no result is reused."""
        return self.address(f"{file.part}/{file.name}")

    def slow_url(self, file):
        """The same, limited to 256 KiB/s."""
        return self.address(f"slow/{file.part}/{file.name}")

    def timed_url(self, file):
        """The same, with a log of the request time."""
        return self.address(f"timed/{file.part}/{file.name}")

    def begun(self):
        """The time of the first request for each timed URL, by its number; seconds of `time.time`."""
        found = {}
        with open(os.path.join(self.folder, "times"), encoding="ascii") as file:
            for line in file:
                ended, took, number = line.split()
                found[int(number)] = min(float(ended) - float(took), found.get(int(number), math.inf))
        return found

    def address(self, path):
        self.count += 1
        return f"http://127.0.0.1:{self.port}/{path}?n={self.count}"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
