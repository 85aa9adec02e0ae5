"""A PostgreSQL server on loopback, with its data in a folder of the benchmark and its flushes as they come."""

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time


class Database:
    """`with Database() as database: … database.url`"""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="postgres-")
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        # PostgreSQL refuses to run as root.
        user = pwd.getpwnam("postgres")
        self.prefix = ["setpriv", "--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--init-groups"] \
            if os.geteuid() == 0 else []
        if self.prefix:
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        data = os.path.join(self.folder, "data")
        self.run([os.path.join(programs, "initdb"), "-D", data, "-A", "trust", "-U", "postgres"])
        settings = ["-c", f"port={port}", "-c", "listen_addresses=127.0.0.1",
                    "-c", f"unix_socket_directories={self.folder}", "-c", "shared_buffers=256MB", "-c", "max_wal_size=4GB"]
        self.server = subprocess.Popen(
            [*self.prefix, os.path.join(programs, "postgres"), "-D", data, *settings], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.keys = os.path.join(self.folder, "queue.keys")
        with open(self.keys, "w", encoding="ascii") as file:
            file.write("k1:" + "A" * 43 + "=\n")
        self.url = f"postgres://postgres@127.0.0.1:{port}/postgres"
        for _ in range(500):
            if subprocess.run([os.path.join(programs, "pg_isready"), "-q", "-d", self.url]).returncode == 0:
                return self
            time.sleep(0.02)
        raise SystemExit("PostgreSQL does not start")

    def run(self, command):
        subprocess.run([*self.prefix, *command], check=True, stdout=subprocess.DEVNULL, cwd=self.folder)

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
