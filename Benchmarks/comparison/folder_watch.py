"""Events in a folder and in its new subfolders, with their times (inotify)."""

import ctypes
import os
import select
import struct
import threading
import time

MODIFY, CLOSE_WRITE, MOVED_TO, CREATE = 0x2, 0x8, 0x80, 0x100
IS_FOLDER = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


class Event:
    """An event of `file` in `folder`, which is empty for the watched folder itself."""

    def __init__(self, at, mask, folder, file):
        self.at, self.mask, self.folder, self.file = at, mask, folder, file


class FolderWatch:
    """Collects events as a context manager; with `is_shallow` only moves into the folder itself."""

    def __init__(self, path, is_shallow=False):
        self.path = path
        self.mask = MOVED_TO if is_shallow else MODIFY | CLOSE_WRITE | MOVED_TO | CREATE
        self.events = []

    def __enter__(self):
        os.makedirs(self.path, exist_ok=True)
        self.descriptor = LIBC.inotify_init1(os.O_CLOEXEC)
        self.folders = {self.watch(self.path): ""}
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def watch(self, path):
        return LIBC.inotify_add_watch(self.descriptor, path.encode(), self.mask)

    def run(self):
        while not self.ends.is_set():
            if select.select([self.descriptor], [], [], 0.05)[0]:
                self.take(os.read(self.descriptor, 65536), time.perf_counter())

    def take(self, data, now):
        offset = 0
        while offset < len(data):
            number, mask, _, length = struct.unpack_from("iIII", data, offset)
            name = data[offset + 16:offset + 16 + length].rstrip(b"\0").decode()
            offset += 16 + length
            self.events.append(Event(now, mask, self.folders.get(number, "?"), name))
            if mask & IS_FOLDER and mask & CREATE:
                self.folders[self.watch(os.path.join(self.path, name))] = name

    def __exit__(self, *_):
        time.sleep(0.1)
        self.ends.set()
        self.thread.join()
        os.close(self.descriptor)

    def arrivals(self):
        """The time at which each folder was published, by name."""
        return {event.file: event.at for event in self.events
                if event.folder == "" and event.mask & MOVED_TO and not event.file.startswith(".")}
