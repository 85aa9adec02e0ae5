"""Machines of a campaign: each has a network namespace, a disk of its own, and one process."""

import os
import signal
import struct
import subprocess
import threading
import time

# Nobody has it: the bridge sends such frames to all, and all drop them, as a cable that is cut does.
NOBODY = "02:00:00:00:00:ff"


def run(*arguments, check=True):
    result = subprocess.run(arguments, capture_output=True, text=True)
    if check and result.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: {result.stderr.strip()}")
    return result.stdout


class Network:
    """A bridge in the campaign's own namespace; the machine outside sees nothing of it."""

    def __init__(self):
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "bridge", "type", "bridge")
        run("ip", "addr", "add", "10.77.0.1/24", "dev", "bridge")
        run("ip", "link", "set", "bridge", "up")
        self.addresses = {"outside": "10.77.0.1"}
        self.devices = {"outside": ([], "bridge")}

    def add(self, name):
        address = f"10.77.0.{len(self.addresses) + 1}"
        self.addresses[name], self.devices[name] = address, (["-n", name], "eth0")
        run("ip", "netns", "add", name)
        run("ip", "link", "add", f"v-{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", f"v-{name}", "master", "bridge", "up")
        run("ip", "-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
        for device in ["eth0", "lo"]:
            run("ip", "-n", name, "link", "set", device, "up")
        return address

    def cut(self, sender, receiver):
        inside, device = self.devices[sender]
        run("ip", *inside, "neigh", "replace", self.addresses[receiver], "lladdr", NOBODY, "dev", device, "nud",
            "permanent")

    def join(self, sender, receiver):
        inside, device = self.devices[sender]
        run("ip", *inside, "neigh", "del", self.addresses[receiver], "dev", device, check=False)

    def slow(self, name, kilobits):
        for inside, device in [(["-n", name], "eth0"), ([], f"v-{name}")]:
            run("tc", *inside, "qdisc", "replace", "dev", device, "root", "tbf", "rate", f"{kilobits}kbit", "burst",
                "4k", "latency", "400ms")

    def fast(self, name):
        for inside, device in [(["-n", name], "eth0"), ([], f"v-{name}")]:
            run("tc", *inside, "qdisc", "del", "dev", device, "root", check=False)


class Machine:
    """A process that is killed, stopped, restarted, and whose disk and network are disturbed."""

    # Size of its disk.
    megabytes = 192

    def __init__(self, name, network, folder, log):
        self.name, self.network, self.folder, self.log = name, network, folder, log
        self.address = network.add(name)
        self.disk = os.path.join(folder, name)
        self.image = self.disk + ".img"
        self.lock = threading.RLock()
        self.process = None
        self.is_wanted = False
        os.mkdir(self.disk)
        with open(self.image, "wb") as file:
            file.truncate(self.megabytes << 20)
        run("mkfs.ext4", "-q", "-m", "0", self.image)
        self.mount()
        self.set_clock(0)

    def mount(self):
        run("mount", "-o", "loop,commit=300", self.image, self.disk)
        os.makedirs(f"{self.disk}/tmp", exist_ok=True)

    def start(self):
        with self.lock:
            self.is_wanted = True
            with open(self.disk + ".log", "ab") as output:
                self.process = subprocess.Popen(
                    ["nsenter", f"--net=/run/netns/{self.name}", *self.arguments], stdout=output, stderr=output,
                    env={**os.environ, **self.environment, "TMPDIR": f"{self.disk}/tmp"})

    def kill(self, number=signal.SIGKILL):
        with self.lock:
            self.is_wanted = False
            if self.process is None:
                return
            self.process.send_signal(number)
            self.process.wait()

    def check(self):
        """Restarts a process that ended without a fault, as systemd would; returns its status."""
        with self.lock:
            if not self.is_wanted or self.process.poll() is None:
                return None
            status = self.process.returncode
            self.start()
            return status

    def set_clock(self, seconds):
        with open(self.disk + ".clock", "r+b" if os.path.exists(self.disk + ".clock") else "wb") as file:
            file.write(struct.pack("=q", int(seconds * 1e9)))

    # MARK: Faults

    def suffer(self, fault):
        {"kill": self.down, "stop": self.stop, "slow network": self.slow_network, "partition": self.partition,
         "slow disk": self.slow_disk, "full disk": self.full_disk, "power": self.power, "clock": self.clock,
         }[fault["kind"]](fault)

    def down(self, fault):
        self.kill()
        time.sleep(fault["seconds"])
        self.start()

    def stop(self, fault):
        with self.lock:
            self.process.send_signal(signal.SIGSTOP)
            time.sleep(fault["seconds"])
            self.process.send_signal(signal.SIGCONT)

    def slow_network(self, fault):
        self.network.slow(self.name, fault["kilobits"])
        time.sleep(fault["seconds"])
        self.network.fast(self.name)

    def partition(self, fault):
        pairs = [(self.name, other) for other in fault["from"] if fault["direction"] != "in"]
        pairs += [(other, self.name) for other in fault["from"] if fault["direction"] != "out"]
        for pair in pairs:
            self.network.cut(*pair)
        time.sleep(fault["seconds"])
        for pair in pairs:
            self.network.join(*pair)

    def slow_disk(self, fault):
        """Its file system answers for 50 ms after each pause."""
        end = time.monotonic() + fault["seconds"]
        while time.monotonic() < end:
            run("fsfreeze", "--freeze", self.disk)
            time.sleep(fault["milliseconds"] / 1000)
            run("fsfreeze", "--unfreeze", self.disk)
            time.sleep(0.05)

    def full_disk(self, fault):
        path = os.path.join(self.disk, "filler")
        with open(path, "wb") as file:
            for size in [1 << 20, 4096]:
                try:
                    while True:
                        os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), size)
                except OSError:
                    pass
        time.sleep(fault["seconds"])
        os.remove(path)
        self.after_full_disk()

    def after_full_disk(self):
        pass

    def power(self, fault):
        """Only what was flushed to its disk survives: the file behind the mount has no more than that."""
        self.lose_power(fault["seconds"])
        self.start()

    def lose_power(self, seconds):
        self.kill()
        run("cp", "--sparse=always", self.image, self.image + ".kept")
        time.sleep(seconds)
        run("umount", self.disk)
        os.replace(self.image + ".kept", self.image)
        self.mount()

    def clock(self, fault):
        self.set_clock(fault["offset"])
        time.sleep(fault["seconds"])
        self.set_clock(0)


class Worker(Machine):
    def configure(self, program, options, environment):
        command = self.name.split("-")[0]
        host = ["--host", self.address] if command == "serve" else []
        self.arguments = [
            program, command, *host, "--port", "8080", "--data", f"{self.disk}/state", "--log-format", "json",
            *options]
        self.environment = {
            **environment, "LD_PRELOAD": f"{self.folder}/bin/clock.so", "FAULTS_CLOCK": f"{self.disk}.clock",
        }
