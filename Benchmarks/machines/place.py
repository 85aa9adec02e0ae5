"""An origin and a publish target, both served by one nginx, so that they use little processor time.

It accepts PUT requests like S3 and checks no signatures, because workers are measured.
"""

import os
import shutil
import subprocess
import tempfile

from machines.cluster import free_ports, wait_for

CONFIGURATION = """
daemon off;
{user}
worker_processes 1;
error_log {folder}/error.log;
pid {folder}/pid;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    keepalive_requests 100000;
    client_max_body_size 100m;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    types {{
        image/jpeg jpg; image/png png; image/webp webp; image/gif gif; image/heic heic; image/avif avif;
        video/mp4 mp4; video/quicktime mov; audio/mpeg mp3; text/html html;
    }}
    server {{
        listen 127.0.0.1:{port};
        location /sources/ {{ alias {sources}/; }}
        location / {{
            root {folder}/published;
            dav_methods PUT;
            create_full_put_path on;
            # S3 returns an ETag for an accepted object.
            add_header ETag taken always;
        }}
    }}
}}
"""


class Place:
    """`with Place(folder) as place: place.url(name), place.environment`."""

    def __init__(self, sources):
        self.sources = sources
        self.count = 0

    def __enter__(self):
        program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        if program is None:
            raise SystemExit("nginx is missing; make deps-bench")
        self.folder = tempfile.mkdtemp(prefix="place-")
        os.chmod(self.folder, 0o755)
        os.makedirs(os.path.join(self.folder, "published"))
        self.port = free_ports(1)[0]
        path = os.path.join(self.folder, "nginx.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(
                folder=self.folder, port=self.port, sources=self.sources,
                user="user root;" if os.geteuid() == 0 else ""))
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", program, "-p", self.folder, "-c", path], stderr=subprocess.DEVNULL)
        wait_for(self.port)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, name):
        """A different URL each time, so that no result is reused."""
        self.count += 1
        return f"http://127.0.0.1:{self.port}/sources/{name}?n={self.count}"

    @property
    def environment(self):
        return {
            "ATTACHPREP_PUBLISH": "s3://media/push", "ATTACHPREP_S3_ENDPOINT": f"http://127.0.0.1:{self.port}",
            "ATTACHPREP_S3_PATH_STYLE": "true", "AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench",
            "AWS_REGION": "us-east-1",
        }

    def published(self):
        """The number of published manifests."""
        return sum("manifest.json" in names for _, _, names in os.walk(os.path.join(self.folder, "published")))
