# SPDX-License-Identifier: Apache-2.0
"""Workers on machines of their own: network namespaces behind one switch, with faults at will.

A test that uses this calls enter() first: it goes on in a user namespace with a network, mounts and
processes of its own, where it is root. So it needs no rights, and leaves nothing behind, however it
ends. Where the system allows no such namespace, enter() says so in one word and ends the test.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

INSIDE = "TFRT_FAULTS_INSIDE"
TOOLS = ("unshare", "nsenter", "ip", "tc", "nft", "ss")

# These counts are zero in a worker that runs nothing.
COUNTS = ("jobs", "objects", "remote_values", "outgoing_calls", "incoming_calls", "incoming_wants",
          "transfers")

# A program that takes longer hangs.
PATIENCE_S = 90
PORT = 7000


def run(*command, check=True):
    """What a command prints."""
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, universal_newlines=True, check=False)
    if check and result.returncode:
        raise RuntimeError("%s: %s" % (" ".join(command), result.stdout))
    return result.stdout


def enter():
    """Goes on in a namespace, or ends with "skipped"."""
    if os.environ.get(INSIDE):
        return
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    box = ["unshare", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child",
           "--mount-proc"]
    trial = ("ip link add trial type bridge && unshare --net true && nft add table inet trial && "
             "mount -t tmpfs none /mnt")
    try:
        subprocess.run([*box, "sh", "-c", trial], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        print("skipped: no network namespaces here")
        sys.exit(0)
    os.environ[INSIDE] = "1"
    os.execvp(box[0], [*box, sys.executable, *sys.argv])


class Machine:
    """A network namespace with one address."""

    def __init__(self, lab, index):
        self.address = "10.%d.0.%d" % (lab.number, index + 1)
        self.timer = None
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"],
                                       stdin=subprocess.DEVNULL)
        lab.processes.append(self.holder)
        outside = os.readlink("/proc/self/ns/net")
        while os.readlink("/proc/%d/ns/net" % self.holder.pid) == outside:
            pass
        near = "v%dm%d" % (lab.number, index)
        run("ip", "link", "add", near, "type", "veth", "peer", "name", "eth0", "netns",
            str(self.holder.pid))
        run("ip", "link", "set", near, "master", lab.switch, "up")
        self.run("ip", "link", "set", "lo", "up")
        self.run("ip", "addr", "add", self.address + "/24", "dev", "eth0")
        self.run("ip", "link", "set", "eth0", "up")

    def inside(self, *command):
        return ["nsenter", "--target", str(self.holder.pid), "--net", *command]

    def run(self, *command, check=True):
        return run(*self.inside(*command), check=check)

    def drop(self, chain, match):
        """Packets that come ("input") or go ("output") and match are lost."""
        self.run("nft", "add table inet f; add chain inet f %s { type filter hook %s priority 0; }; "
                 "add rule inet f %s %s drop" % (chain, chain, chain, match))

    def heal_after(self, seconds):
        self.timer = threading.Timer(seconds, self.heal)
        self.timer.start()

    def heal(self):
        if self.timer and self.timer is not threading.current_thread():
            self.timer.cancel()
            self.timer.join()
        self.run("nft", "flush ruleset")
        self.run("tc", "qdisc", "del", "dev", "eth0", "root", check=False)

    def slow(self, rate):
        self.run("tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", rate, "burst",
                 "64kb", "latency", "200ms")


class Worker(Machine):
    """A machine with a worker, which logs to a small disk of its own."""

    def __init__(self, lab, index, flags):
        super().__init__(lab, index)
        self.lab = lab
        self.flags = flags
        self.disk = os.path.join(lab.folder, "disk%d" % index)
        os.mkdir(self.disk)
        run("mount", "-t", "tmpfs", "-o", "size=256k", "none", self.disk)
        self.log = os.path.join(self.disk, "log")
        self.name = "%s:%d" % (self.address, PORT)
        self.start()

    def start(self):
        """Starts the process, the first one or the next."""
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                self.inside(self.lab.tfrt_worker, "--listen=" + self.name, "--insecure-network",
                            "--threads=2", "--log-level=error", "--data-directory=" + self.disk,
                            *self.flags),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                universal_newlines=True,
                # A group that loses its shell is continued by the kernel.
                start_new_session=True)
        self.lab.processes.append(self.process)
        line = self.process.stdout.readline()
        if "listening" not in line:
            raise RuntimeError("%s: %s" % (self.name, open(self.log, encoding="utf-8").read()))

    @property
    def pid(self):
        return self.process.pid

    def figures(self):
        """Memory in KiB, descriptors, threads."""
        with open("/proc/%d/status" % self.pid, encoding="ascii") as lines:
            fields = dict(line.split(":", 1) for line in lines)
        return {"rss": int(fields["VmRSS"].split()[0]), "most": int(fields["VmHWM"].split()[0]),
                "size": int(fields["VmSize"].split()[0]), "threads": int(fields["Threads"]),
                "descriptors": len(os.listdir("/proc/%d/fd" % self.pid))}

    def limit(self, kind, value):
        resource.prlimit(self.pid, kind, (value, resource.prlimit(self.pid, kind)[1]))


class Client:
    """The coordinator, with the time of each line that it prints."""

    def __init__(self, lab, *arguments):
        self.lines = []  # (time, "out" or "err", text)
        self.news = threading.Condition()
        self.process = subprocess.Popen(
            lab.client.inside(lab.tfrt, "run", *arguments), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        lab.processes.append(self.process)
        self.readers = [threading.Thread(target=self.read, args=pair, daemon=True)
                        for pair in ((self.process.stdout, "out"), (self.process.stderr, "err"))]
        for reader in self.readers:
            reader.start()

    def read(self, stream, kind):
        for line in stream:
            with self.news:
                self.lines.append((time.monotonic(), kind, line.rstrip("\n")))
                self.news.notify_all()
        with self.news:
            self.news.notify_all()

    def first(self, kind, part=""):
        return next((line for line in self.lines if line[1] == kind and part in line[2]), None)

    def await_line(self, part):
        """Waits until the program has printed `part`; True unless the client ends first."""
        end = time.monotonic() + PATIENCE_S
        with self.news:
            while not self.first("out", part):
                # A client that has ended may have printed it, and this process not have read it yet.
                is_over = not any(reader.is_alive() for reader in self.readers)
                if is_over or time.monotonic() > end:
                    return False
                self.news.wait(0.2)
        return True

    def finish(self):
        """Its exit code; None if it hangs."""
        try:
            code = self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None
        for reader in self.readers:
            reader.join()
        return code


class Lab:
    """A switch, workers, and a machine for clients."""

    numbers = iter(range(1, 250))
    lock = threading.Lock()

    def __init__(self, tfrt, tfrt_worker, count, flags=()):
        self.tfrt = os.path.abspath(tfrt)
        self.tfrt_worker = os.path.abspath(tfrt_worker)
        with Lab.lock:
            self.number = next(Lab.numbers)
        self.processes = []
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = self.scratch.name
        self.switch = "switch%d" % self.number
        run("ip", "link", "add", self.switch, "type", "bridge")
        run("ip", "link", "set", self.switch, "up")
        self.workers = []
        try:
            self.workers = [Worker(self, index, flags) for index in range(count)]
            self.client = Machine(self, count)
        except BaseException:
            self.close()
            raise

    def close(self):
        for worker in self.workers:
            if worker.timer:
                worker.timer.join()
        for process in self.processes:
            if process.poll() is None:
                process.kill()
        for process in self.processes:
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()
        run("ip", "link", "del", self.switch, check=False)
        for index in range(len(self.workers)):
            run("umount", "-l", os.path.join(self.folder, "disk%d" % index), check=False)
        self.scratch.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def hosts(self, workers=None):
        return "--hosts=" + ",".join(worker.name for worker in workers or self.workers)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        return path

    def status(self, workers):
        """What the workers say of themselves; None for one that does not answer."""
        out = self.client.run(self.tfrt, "status", self.hosts(workers), "-o=json", "--timeout=3000",
                              check=False)
        begin = out.find("[")
        try:
            return [host.get("status") for host in json.loads(out[begin:])]
        except ValueError:
            return [None] * len(workers)

    def left(self, workers):
        """What is not zero in the workers."""
        found = []
        for worker, status in zip(workers, self.status(workers)):
            if not status:
                found.append("%s does not answer" % worker.name)
                continue
            found += ["%s: %d %s" % (worker.name, status[name], name.replace("_", " "))
                      for name in COUNTS if status[name]]
        return found

    def await_idle(self, workers, patience_s=30):
        """Waits until nothing is left in the workers; what is left, and after how many seconds."""
        begin = time.monotonic()
        while True:
            found = self.left(workers)
            took = time.monotonic() - begin
            if not found or took > patience_s:
                return found, took

    def await_count(self, worker, name):
        """Waits until the worker counts something; False if it never does."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            status = self.status([worker])[0]
            if status and status[name]:
                return True
        return False


def stop(process):
    """Sends SIGSTOP, and waits until no thread runs."""
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)
