"""Runs each peer over a list of URLs; None if it is not installed."""

import json
import os
import shutil
import subprocess
import time
import urllib.request

from origin import free_port
from places import PEERS, VENV, empty, make_result_folder
from process import run

PYTHON = os.path.join(VENV, "bin/python")
MODULES = {"python worker": "pycurl, magic, pyvips, av", "thumbor": "thumbor"}
PROGRAMS = ["curl", "file", "vips", "vipsthumbnail", "ffmpeg", "ffprobe"]
# Kinds that every thumbor supports; it keeps animations animated, which is different work.
THUMBOR_KINDS = ["jpeg", "png", "webp"]


def missing(name):
    """What is missing for a peer; None if it can be measured."""
    if name == "shell pipeline":
        return ", ".join(program for program in PROGRAMS if shutil.which(program) is None)
    if name in MODULES:
        tried = subprocess.run([PYTHON, "-c", f"import {MODULES[name]}"], stderr=subprocess.PIPE, text=True)
        return "" if tried.returncode == 0 else tried.stderr.strip().splitlines()[-1]
    return "" if shutil.which(name) else name


class Work:
    """A folder with a list of URLs, for one run."""

    def __init__(self, urls):
        self.urls = urls

    def __enter__(self):
        self.folder = make_result_folder("peer-")
        self.list = os.path.join(self.folder, "list")
        self.output = os.path.join(self.folder, "prepared")
        with open(self.list, "w", encoding="utf-8") as file:
            file.writelines(url + "\n" for url in self.urls)
        return self

    def __exit__(self, *_):
        empty(self.folder)


def python_command(work, concurrency, side=None):
    return [PYTHON, os.path.join(PEERS, "python-worker"), work.list, work.output, "--concurrency", str(concurrency),
            *(["--thumbnail", str(side)] if side else [])]


def python_worker(urls, concurrency=8, side=None, may_reject=False):
    with Work(urls) as work:
        spent = run(python_command(work, concurrency, side))
    if not may_reject:
        expect_all(urls, spent.output)
    return spent


def errors(output):
    """The errors of the Python worker by URL."""
    answers = [json.loads(line) for line in output.splitlines()]
    return {answer["url"]: answer["error"] for answer in answers if "error" in answer}


def expect_all(urls, output):
    """Checks that every output line of the Python worker reports success."""
    answers = [json.loads(line) for line in output.splitlines()]
    for answer in answers:
        if "error" in answer:
            raise SystemExit(f"side-by-side: the Python worker: {answer['url']}: {answer['error']}")
    expect("the Python worker", len(urls), answers)


def pipeline_command(work, concurrency):
    return [os.path.join(PEERS, "pipeline"), work.list, work.output, str(concurrency)]


def pipeline(urls, concurrency=8):
    with Work(urls) as work:
        spent = run(pipeline_command(work, concurrency))
        expect("the shell pipeline", len(urls), [name for name in os.listdir(work.output) if ".attachment." in name])
    return spent


def expect(name, count, done):
    if len(done) != count:
        raise SystemExit(f"side-by-side: {name} made {len(done)} of {count}")


class Thumbor:
    """One warm thumbor process for each core, as a context manager."""

    def __enter__(self):
        self.ports = [free_port() for _ in os.sched_getaffinity(0)]
        self.processes = [subprocess.Popen(self.command(port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                          for port in self.ports]
        for port in self.ports:
            self.wait(port)
        return self

    def command(self, port):
        return [os.path.join(VENV, "bin/thumbor"), "--ip", "127.0.0.1", "--port", str(port), "--conf",
                os.path.join(PEERS, "thumbor.conf"), "--processes", "1", "--log-level", "error"]

    def wait(self, port):
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/healthcheck", timeout=5).close()
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("side-by-side: thumbor does not answer")

    def __exit__(self, *_):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait()

    def batch(self, urls, concurrency=8):
        with Work(urls) as work:
            spent = run([PYTHON, os.path.join(PEERS, "thumbor-batch"), work.list, str(concurrency),
                         *map(str, self.ports)])
        answers = [json.loads(line) for line in spent.output.splitlines()]
        expect("thumbor", len(urls), [answer for answer in answers if answer["status"] == 200])
        return spent
