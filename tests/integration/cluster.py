# SPDX-License-Identifier: Apache-2.0
"""Real processes for the tests of clusters: workers, the coordinator, and who is left behind.

Every process that a test starts, and every process that those start, carries the same mark in
its environment. So a test can say that nothing is left running, whoever started it.
"""

import json
import contextlib
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MARK = "TFRT_TEST_MARK"

# The counts that are zero in a worker that runs nothing.
COUNTS = (
    "jobs",
    "objects",
    "remote_values",
    "outgoing_calls",
    "incoming_calls",
    "incoming_wants",
    "transfers",
)

# Host 1 waits for what nobody sends, and no result for that.
UNUSED = """func.func @wait(%x: i32) -> i32 {
  %ch0 = tfrt.new.chain
  %h = tfrt_dist.host %x
  %key = "tfrt_test.get_string"() {value = "never"} : () -> !tfrt.string
  %v, %ch1 = tfrt_dist.recv %h, %key, %ch0 : i32
  tfrt.return %v : i32
}

func.func @main() -> i32 {
  %z = tfrt.constant.i32 0
  %v = tfrt.call @wait(%z) {host = 1 : i32} : (i32) -> (i32)
  tfrt.return %z : i32
}
"""

# A wait that takes longer has failed. Sanitizers on a busy machine are slow.
PATIENCE_S = 60


def marked(mark):
    """The pids of living processes that carry `mark`."""
    wanted = ("%s=%s" % (MARK, mark)).encode()
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open("/proc/%s/environ" % name, "rb") as stream:
                environment = stream.read().split(b"\0")
            with open("/proc/%s/stat" % name, "rb") as stream:
                state = stream.read().rsplit(b")", 1)[1].split()[0]
        except OSError:
            continue
        if wanted in environment and state != b"Z":
            found.append(int(name))
    return found


def runs(pid, program):
    """True if the living process `pid` was started as `program`: not as a helper of a sanitizer,
    nor as a copy of its parent that has not become another program yet."""
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as stream:
            return os.path.basename(stream.read().split(b"\0")[0]) == program.encode()
    except OSError:
        return False


class ClusterTest(unittest.TestCase):
    """A folder, a mark, and workers that end with the test."""

    tfrt = None  # paths of the programs; set by the test's main
    tfrt_worker = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.mark = secrets.token_hex(16)
        self.environment = dict(os.environ, **{MARK: self.mark})
        self.addCleanup(self.kill_all)

    def kill_all(self):
        for pid in marked(self.mark):
            # One that was on its way out may have arrived.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def expect_nothing_left(self):
        """Whoever is on its way out has a moment for that."""
        end = time.monotonic() + PATIENCE_S
        while marked(self.mark):
            self.assertLess(time.monotonic(), end, "still running: %s" % marked(self.mark))

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        # Some are keys, which their owner alone may read.
        os.chmod(path, 0o600)
        return path

    def start_worker(self, *flags, environment=None, stderr=None):
        """A worker that listens; its address is in `.address`."""
        process = subprocess.Popen(
            [self.tfrt_worker, "--listen=127.0.0.1:0", "--threads=1", "--log-level=error", *flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment or self.environment,
            universal_newlines=True,
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        line = process.stdout.readline()
        prefix = "tfrt_worker: listening on "
        self.assertTrue(line.startswith(prefix), line)
        process.address = line[len(prefix) :].strip()
        return process

    def start_workers(self, count, *flags):
        return [self.start_worker(*flags) for _ in range(count)]

    def start(self, *arguments):
        """The coordinator, running."""
        return self.start_verb("run", *arguments)

    def start_verb(self, *arguments):
        """Any verb, running."""
        process = subprocess.Popen(
            [self.tfrt, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
            universal_newlines=True,
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def finish(self, process):
        """Its exit code, output and errors."""
        out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, err

    def run_tfrt(self, *arguments):
        return self.finish(self.start(*arguments))

    def run_until(self, returned, *arguments):
        """Runs a program that its time limit ends. The limit, which holds for the start as well, grows
        until the output has `returned`: nobody knows how slow a machine is."""
        for limit_ms in (300, 3000, 30000):
            result = self.run_tfrt(*arguments, "--timeout=%d" % limit_ms)
            if returned in result[1]:
                break
        return result

    def ask(self, *arguments):
        """What any verb of tfrt does: its exit code, output and errors."""
        process = subprocess.run(
            [self.tfrt, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
            universal_newlines=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return process.returncode, process.stdout, process.stderr

    def status(self, workers):
        """What the workers say of themselves, by rank."""
        process = subprocess.run(
            [self.tfrt, "status", hosts(workers), "-o=json"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=self.environment,
            universal_newlines=True,
            timeout=PATIENCE_S,
            check=True,
        )
        return [host["status"] for host in json.loads(process.stdout)]

    def counts(self, worker, *names):
        status = self.status([worker])[0]
        return [status[name] for name in names]

    def await_counts(self, worker, counts):
        """Waits until so much is alive in a worker because of others."""
        end = time.monotonic() + PATIENCE_S
        while self.counts(worker, *counts) != list(counts.values()):
            self.assertLess(time.monotonic(), end, self.status([worker]))

    def expect_idle(self, workers):
        """Soon nothing is alive in the workers because of others."""
        end = time.monotonic() + PATIENCE_S
        while True:
            counts = [{name: status[name] for name in COUNTS} for status in self.status(workers)]
            if not any(sum(count.values()) for count in counts):
                return
            self.assertLess(time.monotonic(), end, "still alive: %s" % counts)

    def expect(self, result, code, out=None, err=None):
        self.assertEqual(result[0], code, result)
        if out is not None:
            self.assertEqual(result[1], out)
        if err is not None:
            self.assertIn(err, result[2])


def hosts(workers):
    """The flag that names `workers` by rank."""
    return "--hosts=" + ",".join(worker.address for worker in workers)


def strike(process, number):
    """Kills or stops a process, as `number` is SIGKILL or SIGSTOP. Returns when none of its threads runs
    any more: the signal alone does not wait for that."""
    process.send_signal(number)
    if number == signal.SIGSTOP:
        os.waitpid(process.pid, os.WUNTRACED)
    else:
        process.wait()


def reason(trace):
    """The line of a traceback that says what was wrong."""
    lines = trace.rsplit("Traceback (most recent call last):\n", 1)[-1].splitlines()
    return next((line for line in lines if line and not line.startswith(" ")), lines[-1])


def main(verbosity=1):
    """Runs the tests of the file that calls it: its first arguments are tfrt and tfrt_worker.

    Whoever shows the end of a log only still shows why each test failed.
    """
    ClusterTest.tfrt, ClusterTest.tfrt_worker = sys.argv[1:3]
    result = unittest.main(argv=sys.argv[:1], verbosity=verbosity, exit=False).result
    for test, trace in result.failures + result.errors:
        print("%s: %s" % (test.id(), reason(trace)), file=sys.stderr)
    sys.exit(not result.wasSuccessful())
