"""Three PostgreSQL servers of a campaign: a primary, a synchronous standby and an asynchronous one."""

import glob
import os
import pwd
import shutil
import signal
import subprocess
import threading
import time

from machines import Machine, run

CONFIGURATION = """
data_directory = '{disk}/data'
hba_file = '{folder}/pg_hba.conf'
ident_file = '{folder}/pg_ident.conf'
external_pid_file = ''
listen_addresses = '{address}'
unix_socket_directories = '{sockets}'
shared_buffers = 32MB
max_connections = 100
dynamic_shared_memory_type = mmap
fsync = on
synchronous_commit = on
wal_level = replica
wal_log_hints = on
max_wal_size = 32MB
min_wal_size = 8MB
wal_keep_size = 32MB
checkpoint_timeout = 60s
autovacuum_naptime = 5s
hot_standby = on
wal_sender_timeout = 5s
wal_receiver_timeout = 5s
wal_receiver_status_interval = 1s
wal_retrieve_retry_interval = 500ms
tcp_keepalives_idle = 5
tcp_keepalives_interval = 3
tcp_keepalives_count = 3
tcp_user_timeout = 15000
client_connection_check_interval = 5s
log_line_prefix = '%m [%p] '
lc_messages = 'C.UTF-8'
jit = off
"""
ACCESS = """
local all all trust
host all all 10.77.0.0/24 trust
host replication all 10.77.0.0/24 trust
"""
QUEUE = "queue"
# How long a standby may take to follow a new primary before its data is made again.
FOLLOW_SECONDS = 8


def program(name):
    """The newest installed version; ATTACHPREP_POSTGRES_BIN is the folder of another one."""
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
    return os.path.join(os.environ.get("ATTACHPREP_POSTGRES_BIN") or folders[-1], name)


class Database(Machine):
    """A server, which is not run by root."""

    megabytes = 256

    def __init__(self, name, network, folder, log):
        super().__init__(name, network, folder, log)
        self.sockets = f"{folder}/{name}.run"
        os.makedirs(self.sockets)
        shutil.chown(self.sockets, "postgres")
        self.configuration = f"{folder}/{name}.conf"
        self.arguments = [*as_user(), program("postgres"), "-c", f"config_file={self.configuration}"]
        self.environment = {}
        # The server that it follows; and whose name a primary waits for before it reports a commit.
        self.source, self.synchronous = None, None

    def mount(self):
        super().mount()
        shutil.chown(self.disk, "postgres")
        shutil.chown(f"{self.disk}/tmp", "postgres")

    def configure(self, source=None, synchronous=None):
        self.source, self.synchronous = source, synchronous
        text = CONFIGURATION.format(disk=self.disk, folder=self.folder, address=self.address, sockets=self.sockets)
        if synchronous:
            text += f"synchronous_standby_names = 'FIRST 1 (\"{synchronous.name}\")'\n"
        if source:
            text += (f"primary_conninfo = 'host={source.address} user=postgres application_name={self.name} "
                     "connect_timeout=2 tcp_user_timeout=5000'\n")
        with open(self.configuration, "w", encoding="utf-8") as file:
            file.write(text)

    def inside(self, *arguments, seconds=60):
        """Runs a program as the servers' user, in the network of this machine."""
        command = ["nsenter", f"--net=/run/netns/{self.name}", *as_user(), *arguments]
        result = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
        with open(self.disk + ".log", "a", encoding="utf-8") as file:
            file.write(f"{' '.join(arguments)}: {result.returncode}\n{result.stdout}{result.stderr}")
        return result.returncode == 0

    def psql(self, sql, database="postgres", seconds=10):
        """The answer as a text; empty when there is none."""
        command = [program("psql"), "-XqAt", "-h", self.sockets, "-U", "postgres", "-d", database, "-c", sql]
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=True).stdout.strip()
        except (subprocess.SubprocessError, OSError):
            return ""

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def answers(self):
        return self.psql("SELECT 1", seconds=3) == "1"

    def is_primary(self):
        return self.psql("SELECT pg_is_in_recovery()", seconds=3) == "f"

    def streams_to(self, standby):
        sql = f"SELECT 1 FROM pg_stat_replication WHERE application_name = '{standby.name}' AND state = 'streaming'"
        return self.psql(sql, seconds=3) == "1"

    # MARK: Data

    def make(self):
        """The data of a new primary."""
        self.inside(program("initdb"), "-D", f"{self.disk}/data", "-U", "postgres", "-A", "trust", "-E", "UTF8",
                    "--locale=C.UTF-8", "--wal-segsize=1", "--no-instructions")

    def copy(self, source):
        """The data of a standby, from the beginning."""
        shutil.rmtree(f"{self.disk}/data", ignore_errors=True)
        return self.inside(
            program("pg_basebackup"), "-D", f"{self.disk}/data", "-d", conninfo(source), "-X", "stream", "-c", "fast",
            "--no-slot") and self.mark()

    def rewind(self, source):
        """The data of a standby, from that of a former primary."""
        return self.inside(
            program("pg_rewind"), "-D", f"{self.disk}/data", f"--source-server={conninfo(source)}",
            f"--config-file={self.configuration}") and self.mark()

    def mark(self):
        path = f"{self.disk}/data/standby.signal"
        with open(path, "w", encoding="utf-8"):
            pass
        shutil.chown(path, "postgres")
        return True

    # MARK: Faults

    def processes(self):
        """The server's processes, its first one last."""
        children = run("ps", "-o", "pid=", "--ppid", str(self.process.pid), check=False).split()
        return [int(number) for number in children] + [self.process.pid]

    def signal_all(self, number):
        for process in self.processes():
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def kill(self, number=signal.SIGKILL):
        with self.lock:
            self.is_wanted = False
            if self.process is None:
                return
            if number == signal.SIGKILL and self.process.poll() is None:
                # The first one is stopped, so that it starts no others.
                self.process.send_signal(signal.SIGSTOP)
                others = self.processes()[:-1]
                self.signal_all(signal.SIGKILL)
                self.wait_for_end(others)
            else:
                self.process.send_signal(number)
            self.process.wait()

    @staticmethod
    def wait_for_end(processes):
        while any(os.path.exists(f"/proc/{process}") and state(process) != "Z" for process in processes):
            time.sleep(0.02)

    def down(self, fault):
        others = self.processes()[:-1]
        if fault["victim"] == "backend" and others:
            victim = others[fault["number"] % len(others)]
            with open(f"/proc/{victim}/cmdline", "rb") as file:
                is_startup = b"startup" in file.read()
            # The server ends all sessions and recovers.
            os.kill(victim, signal.SIGKILL)
            time.sleep(fault["seconds"])
            if is_startup and self.process.poll() is not None:
                # A standby without its startup process ends; its operator starts it again.
                self.start()
            return None
        if fault["victim"] == "postmaster":
            self.is_wanted = False
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            time.sleep(fault["seconds"])
            for process in others:
                # Those that have not noticed it would keep the new server from starting.
                if os.path.exists(f"/proc/{process}"):
                    os.kill(process, signal.SIGKILL)
            self.wait_for_end(others)
            return self.start()
        super().down(fault)

    def stop(self, fault):
        with self.lock:
            self.signal_all(signal.SIGSTOP)
            time.sleep(fault["seconds"])
            self.signal_all(signal.SIGCONT)

    def after_full_disk(self):
        """A server without space for its log ends; its operator starts it again."""
        if self.process.poll() is not None:
            self.log("ended by its full disk", target=self.name)
            self.start()


class Cluster:
    """Who is the primary, and the change of it."""

    def __init__(self, databases, network, folder, log):
        self.primary, self.synchronous, self.asynchronous = databases
        self.all, self.network, self.log = databases, network, log
        self.locks = sorted(databases, key=lambda one: one.name)
        self.promotions = {"rewind": 0, "copy": 0, "copy after rewind": 0, "standby made again": 0}
        self.lock = threading.Lock()
        for name, text in [("pg_hba.conf", ACCESS), ("pg_ident.conf", "")]:
            with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
                file.write(text)

    def start(self):
        self.primary.make()
        self.primary.configure()
        self.primary.start()
        wait_for("the primary", self.primary.answers)
        self.primary.psql(f"CREATE ROLE {QUEUE} LOGIN")
        self.primary.psql(f"CREATE DATABASE {QUEUE} OWNER {QUEUE}")
        for standby in [self.synchronous, self.asynchronous]:
            standby.configure(source=self.primary)
            standby.copy(self.primary)
            standby.start()
            wait_for(standby.name, lambda standby=standby: self.primary.streams_to(standby))
        self.primary.configure(synchronous=self.synchronous)
        self.primary.reload()

    def promote(self, fault):
        """The primary fails and is fenced, the synchronous standby becomes the primary, the others follow it."""
        for database in self.locks:
            database.lock.acquire()
        try:
            self.fail(self.primary, fault)
            self.change(fault)
        finally:
            for database in self.locks:
                database.lock.release()

    def fail(self, primary, fault):
        others = [name for name in self.network.addresses if name != primary.name]
        cause = fault["cause"]
        if cause == "kill":
            primary.kill()
        if cause == "stop":
            primary.signal_all(signal.SIGSTOP)
        if cause == "partition":
            for other in others:
                self.network.cut(primary.name, other)
                self.network.cut(other, primary.name)
        if cause == "standby first":
            # The standby is away when the primary fails: it has less than the primary.
            for standby in [self.synchronous, self.asynchronous]:
                self.network.cut(primary.name, standby.name)
                self.network.cut(standby.name, primary.name)
            time.sleep(fault["seconds"])
            primary.kill()
            primary.start()
        time.sleep(fault["seconds"])
        if cause == "power":
            primary.lose_power(0.1)
        primary.kill()
        for other in others:
            self.network.join(primary.name, other)
            self.network.join(other, primary.name)

    def change(self, fault):
        former, new, third = self.primary, self.synchronous, self.asynchronous
        began = time.monotonic()
        new.configure(synchronous=third)
        new.reload()
        wait_for(f"{new.name}, to be promoted", new.answers)
        new.psql("SELECT pg_promote(true, 30)", seconds=40)
        wait_for(f"the promotion of {new.name}", new.is_primary)
        self.log("promoted", target=new.name, before=former.name, seconds=round(time.monotonic() - began, 2))
        # pg_rewind reads the timeline from the last checkpoint.
        new.psql("CHECKPOINT", seconds=30)
        third.configure(source=new)
        third.reload()
        if not holds(lambda: new.streams_to(third), FOLLOW_SECONDS):
            # It had received more than the new primary.
            self.promotions["standby made again"] += 1
            third.kill()
            self.attach(third, new, fault["rejoin"])
        with self.lock:
            self.primary, self.synchronous, self.asynchronous = new, third, former
        former.configure(source=new)
        self.attach(former, new, fault["rejoin"])

    def attach(self, database, source, way):
        database.configure(source=source)
        if way == "rewind" and database.rewind(source):
            database.start()
            if holds(lambda: source.streams_to(database), FOLLOW_SECONDS):
                self.promotions["rewind"] += 1
                return self.log("attached", target=database.name, source=source.name, way=way)
            # PostgreSQL 15 then ends at times with "unexpected previous timeline ID".
            database.kill()
        self.promotions["copy after rewind" if way == "rewind" else "copy"] += 1
        if not database.copy(source):
            raise RuntimeError(f"{database.name} cannot be copied from {source.name}")
        database.start()
        wait_for(f"{database.name}, to follow {source.name}", lambda: source.streams_to(database))
        self.log("attached", target=database.name, source=source.name, way="copy")


def conninfo(source):
    return f"host={source.address} user=postgres dbname=postgres connect_timeout=5"


def as_user():
    user = pwd.getpwnam("postgres")
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--"]


def state(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def holds(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def wait_for(what, condition, seconds=60):
    if not holds(condition, seconds):
        raise RuntimeError(f"waited {seconds} s for {what}")
