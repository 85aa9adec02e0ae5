"""A fresh Debian 12 in a folder, for tests that install into it by chroot. Needs root and debootstrap.

The base system and downloaded packages are kept in ~/.cache/attachprep. ATTACHPREP_DEBIAN_MIRROR names another mirror.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "attachprep"
MIRROR = os.environ.get("ATTACHPREP_DEBIAN_MIRROR", "http://deb.debian.org/debian")
counts = {"passed": 0, "failed": 0}


def check(sentence, is_true, detail=""):
    counts["passed" if is_true else "failed"] += 1
    print(("ok      " if is_true else "FAILED  ") + sentence, "" if is_true else detail, flush=True)


def finish():
    """Prints the counts and ends the program."""
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    sys.exit(1 if counts["failed"] else 0)


class System:
    """A Debian system in a folder; commands run in it by chroot, with the network of this machine."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def path(self, inner):
        return self.folder / inner.lstrip("/")

    def run(self, *command, user=None, text=None, is_required=True, environment=None):
        drop = []
        if user:
            group = {"nobody": "nogroup"}.get(user, user)
            drop = ["setpriv", f"--reuid={user}", f"--regid={group}", "--init-groups", "--reset-env"]
        finished = subprocess.run(
            ["chroot", str(self.folder), *drop, *command], capture_output=True, text=True, input=text,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive",
                 **(environment or {})})
        if is_required and finished.returncode != 0:
            print(finished.stdout[-3000:] + finished.stderr[-3000:])
            raise SystemExit(f"test: {' '.join(command)} ended with {finished.returncode}")
        return finished

    def install(self, deb):
        shutil.copy(deb, self.path("/tmp/package.deb"))
        return self.run("apt-get", "install", "--yes", "--no-install-recommends", "/tmp/package.deb")

    def files(self):
        """All paths, without those that any installation of a package changes."""
        skipped = {self.path(name) for name in (
            "/proc", "/dev", "/tmp", "/run", "/var/cache", "/var/log", "/var/lib/dpkg", "/var/lib/apt",
            "/var/lib/systemd/deb-systemd-helper-enabled")}
        found = set()
        for parent, folders, names in os.walk(self.folder):
            folders[:] = [name for name in folders if pathlib.Path(parent, name) not in skipped]
            found |= {str(pathlib.Path(parent, name).relative_to(self.folder)) for name in folders + names}
        # Backups of the user database.
        return {name for name in found if not name.startswith("etc/") or not name.endswith("-")}


@contextlib.contextmanager
def system():
    base = CACHE / f"debian-bookworm-{architecture()}.tar"
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="attachprep-system.", ignore_cleanup_errors=True) as folder:
        root = pathlib.Path(folder, "root")
        if not base.exists():
            print(f"Making {base} from {MIRROR}", flush=True)
            fresh = pathlib.Path(folder, "fresh")
            run("debootstrap", "--variant=minbase", "bookworm", str(fresh), MIRROR)
            run("tar", "--create", "--file", f"{base}.new", "--numeric-owner", "--directory", str(fresh), ".")
            os.rename(f"{base}.new", base)
            shutil.rmtree(fresh)
        root.mkdir()
        root.chmod(0o755)
        run("tar", "--extract", "--file", str(base), "--numeric-owner", "--directory", str(root))
        archives = CACHE / "archives"
        (archives / "partial").mkdir(parents=True, exist_ok=True)
        mounts = [["-t", "proc", "proc", root / "proc"], ["--bind", "/dev", root / "dev"],
                  ["--bind", archives, root / "var/cache/apt/archives"]]
        for mount in mounts:
            run("mount", *map(str, mount))
        # No service starts when a package is installed; the package's own scripts see no running systemd either.
        policy = root / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
        (root / "etc/apt/apt.conf.d/99test").write_text(
            'Binary::apt-get::APT::Keep-Downloaded-Packages "true";\nAPT::Keep-Downloaded-Packages "true";\n')
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        try:
            yield System(root)
        finally:
            for mount in reversed(mounts):
                subprocess.run(["umount", "--lazy", str(mount[-1])])


def until(read, is_reached, seconds=30):
    end = time.monotonic() + seconds
    while not is_reached(value := read()) and time.monotonic() < end:
        time.sleep(0.1)
    return value


def field(deb, name):
    return output("dpkg-deb", "--field", deb, name)


def architecture():
    return output("dpkg", "--print-architecture")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def run(*command):
    finished = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if finished.returncode != 0:
        print(finished.stdout[-3000:])
        raise SystemExit(f"test: {' '.join(command)} ended with {finished.returncode}")
