#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What who runs `tfrt_worker` sees: its line, files, signals, errors, and how it stands strangers.

Usage: worker_test.py TFRT TFRT_WORKER
"""

import contextlib
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

TFRT, WORKER = sys.argv[1:3]

# Seconds after which something that should have happened never will.
PATIENCE = 120

# As in a terminal, whatever process started the test.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

IS_SANITIZED = "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ

SUM = """func.func @main() -> i32 {
  %a = tfrt.constant.i32 40
  %b = tfrt.constant.i32 2
  %sum = tfrt.add.i32 %a, %b
  tfrt.return %sum : i32
}
"""

# Calls host 1 twenty thousand times, each with what the one before gave.
MANY_CALLS = """func.func @next(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %y = tfrt.add.i32 %x, %one
  tfrt.return %y : i32
}
func.func @main() -> i32 {
  %count = tfrt.constant.i32 20000
  %zero = tfrt.constant.i32 0
  %r = tfrt.repeat.i32 %count, %zero : i32 {
    %y = tfrt.call @next(%zero) {host = 1 : i32} : (i32) -> i32
    tfrt.return %y : i32
  }
  tfrt.return %r : i32
}
"""

# Prints a line, then turns for ever.
ENDLESS = """func.func @again(%x: i32) -> (i32, i1) {
  %go = tfrt.constant.i1 true
  tfrt.return %x, %go : i32, i1
}
func.func @main() -> i32 {
  %start = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %go = tfrt.constant.i1 true
  %printed = tfrt.print.i32 %one, %start
  %x = "tfrt_test.identity"(%printed, %one) : (!tfrt.chain, i32) -> i32
  %r = tfrt.while %go @again(%x) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}
"""

# Keeps a thread for ten minutes and ignores cancels; prints lines meanwhile. Each line waits until
# the one before was seen, so with the last one the thread is busy for long.
DEAF_LINES = 50
DEAF = """func.func @main() -> !tfrt.chain {
  %time = tfrt.constant.i32 600000000
  %slept = "tfrt_test.blocking.usleep"(%time) : (i32) -> !tfrt.chain
  %c0 = tfrt.new.chain
""" + "".join(f"  %c{i + 1} = tfrt.print.i32 %time, %c{i}\n" for i in range(DEAF_LINES)) + """
  tfrt.return %slept : !tfrt.chain
}
"""


class Process:
    """A process whose output is read line by line, and whose standard error is gathered."""

    def __init__(self, command, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        self.popen = subprocess.Popen(command, universal_newlines=True, **options)
        self.logged = []
        self.has_news = threading.Condition()
        self.is_over = not self.popen.stderr
        self.reader = threading.Thread(target=self.gather)
        if self.popen.stderr:
            self.reader.start()

    def gather(self):
        for line in self.popen.stderr:
            with self.has_news:
                self.logged.append(line)
                self.has_news.notify_all()
        with self.has_news:
            self.is_over = True
            self.has_news.notify_all()

    def line(self):
        """The next line, "" at the end. Who waits too long gets the end."""
        timer = threading.Timer(PATIENCE, self.popen.kill)
        timer.start()
        line = self.popen.stdout.readline()
        timer.cancel()
        return line

    def log(self):
        with self.has_news:
            return "".join(self.logged)

    def wait_for_log(self, text):
        """Waits until it has said so, or nothing more. Returns what it has said."""
        with self.has_news:
            self.has_news.wait_for(
                lambda: self.is_over or text in "".join(self.logged), timeout=PATIENCE)
        return self.log()

    def wait(self):
        code = self.popen.wait(timeout=PATIENCE)
        if self.popen.stderr:
            self.reader.join()
        return code

    def stop(self, number=signal.SIGTERM):
        self.popen.send_signal(number)
        return self.wait()

    def close(self):
        self.popen.kill()
        self.wait()
        for stream in self.popen.stdout, self.popen.stderr:
            if stream:
                stream.close()


def run(*command):
    return subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        universal_newlines=True,
        timeout=PATIENCE,
        check=False,
    )


class WorkerTest(unittest.TestCase):
    def setUp(self):
        # Not in Bazel's own folder: a unix socket's path may have 107 characters.
        folder = tempfile.TemporaryDirectory(dir="/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(text)
        return path

    def read(self, path):
        with open(path, encoding="utf-8") as stream:
            return stream.read()

    def start(self, *command, **options):
        process = Process(command, **options)
        self.addCleanup(process.close)
        return process

    def start_worker(self, *flags, **options):
        """A worker that listens, with its address."""
        worker = self.start(WORKER, *flags, **options)
        line = worker.line()
        match = re.fullmatch(r"tfrt_worker: listening on (\S+)\n", line)
        self.assertTrue(match, line + worker.log())
        worker.address = match.group(1)
        return worker

    def expect_served(self, worker, *flags):
        result = run(TFRT, "run", "--hosts", worker.address, *flags, self.path("sum.mlir", SUM))
        self.assertEqual(result.returncode, 0, result.stderr + worker.log())
        self.assertEqual(result.stdout, "'main' returned 42\n")

    def expect_refused(self, code, text, *flags, **options):
        """The worker does not start, and says why on one line."""
        worker = self.start(WORKER, *flags, **options)
        self.assertEqual(worker.line(), "")
        self.assertEqual(worker.wait(), code, worker.log())
        self.assertIn(text, worker.log())
        self.assertEqual(worker.log().count("\n"), 1, worker.log())

    # --- Coming and going ------------------------------------------------------

    def test_line_and_files_say_where_it_is(self):
        pid, ready = self.path("pid"), self.path("ready")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            worker = self.start_worker("--pid-file", pid, "--ready-file", ready)
            self.assertRegex(worker.address, r"^127\.0\.0\.1:[1-9][0-9]*$")
            self.assertEqual(self.read(pid), f"{worker.popen.pid}\n")
            self.assertEqual(self.read(ready), worker.address + "\n")
            self.expect_served(worker)
            self.assertEqual(worker.stop(number), 0, worker.log())
            self.assertEqual(worker.popen.stdout.read(), "")
            self.assertEqual(os.listdir(self.folder), ["sum.mlir"])
            self.assertTrue(worker.log().endswith("info: ended\n"), worker.log())
            self.assertRegex(worker.log(), r"info: [0-9a-f]{8} opened by .*, as host 0 of 1 \[host=0 job=1\]\n")
            self.assertRegex(worker.log(), r"info: closed.* \[host=0 job=1\]\n")

    def test_who_was_started_to_outlive_its_terminal_does(self):
        worker = self.start_worker(
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        worker.popen.send_signal(signal.SIGHUP)
        self.expect_served(worker)
        self.assertEqual(worker.stop(), 0, worker.log())
        self.assertNotIn("SIGHUP", worker.log())

    @unittest.skipIf(
        "TSAN_OPTIONS" in os.environ,
        "ThreadSanitizer holds signals back from a thread that waits inside of open",
    )
    def test_a_signal_ends_who_waits_for_a_reader_of_its_ready_file(self):
        pid, ready = self.path("pid"), self.path("ready")
        os.mkfifo(ready)
        worker = self.start(WORKER, "--pid-file", pid, "--ready-file", ready)
        end = time.monotonic() + PATIENCE
        # The pid file is written first, under another name until it is whole.
        while "pid" not in os.listdir(self.folder):
            self.assertLess(time.monotonic(), end)
        self.assertEqual(worker.stop(), 0, worker.log())
        self.assertEqual(os.listdir(self.folder), ["ready"])

    def test_a_fixed_port_is_free_again_at_once(self):
        address = self.start_worker().address
        self.doCleanups()
        self.setUp()
        worker = self.start_worker("--listen", address)
        self.expect_served(worker)
        self.assertEqual(worker.stop(), 0)
        worker = self.start_worker("--listen", address)
        self.assertEqual(worker.stop(), 0)

    def test_port_in_use(self):
        worker = self.start_worker()
        self.expect_refused(1, "address already in use", "--listen", worker.address)
        self.expect_served(worker)
        self.assertEqual(worker.stop(), 0)

    def test_a_unix_socket_in_use(self):
        flag = "--listen=unix:" + self.path("socket")
        worker = self.start_worker(flag)
        self.expect_refused(1, "address already in use", flag)
        self.expect_served(worker)
        # A file that a killed process left behind is in nobody's way.
        worker.stop(signal.SIGKILL)
        worker = self.start_worker(flag)
        self.expect_served(worker)
        self.assertEqual(worker.stop(), 0)

    def test_unix_socket(self):
        worker = self.start_worker("--listen=unix:" + self.path("socket"))
        self.expect_served(worker)
        self.assertEqual(worker.stop(), 0)

    def test_who_writes_the_ready_file_last_has_it(self):
        ready = self.path("ready")
        first = self.start_worker("--ready-file", ready)
        second = self.start_worker("--ready-file", ready)
        self.assertEqual(self.read(ready), second.address + "\n")
        self.assertEqual(first.stop(), 0)
        self.assertEqual(self.read(ready), second.address + "\n")
        self.assertEqual(second.stop(), 0)
        self.assertFalse(os.path.exists(ready))

    def test_it_ends_with_its_standard_input(self):
        worker = self.start_worker("--stop-with-stdin", stdin=subprocess.PIPE)
        worker.popen.stdin.write("nobody reads this\n")
        worker.popen.stdin.flush()
        self.expect_served(worker)
        worker.popen.stdin.close()
        self.assertEqual(worker.wait(), 0, worker.log())

    def test_it_ends_when_its_starter_is_killed(self):
        # The pipe of one that can't say goodbye, with a job that would never end.
        starter = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        worker = self.start_worker("--stop-with-stdin", stdin=starter.stdout)
        starter.stdout.close()
        client = self.start(TFRT, "run", "--hosts", worker.address,
                            self.path("endless.mlir", ENDLESS))
        self.assertEqual(client.line(), "int32 = 1\n")
        starter.kill()
        starter.wait()
        starter.stdin.close()
        self.assertEqual(worker.wait(), 0, worker.log())
        self.assertNotEqual(client.wait(), 0)

    def test_nobody_may_read_what_it_says(self):
        reader, writer = os.pipe()
        worker = self.start_worker("--log-level=debug", stderr=writer)
        os.close(writer)
        os.close(reader)
        worker.popen.stdout.close()
        self.expect_served(worker)
        self.assertEqual(worker.stop(), 0)

    def test_a_client_that_is_killed_is_told_and_forgotten(self):
        worker = self.start_worker("--log-format=json", "--heartbeat-ms=100", "--silence-ms=1000")
        client = self.start_endless(worker)
        client.popen.kill()
        lost = worker.wait_for_log('"severity":"warning"')
        self.assertIn('"severity":"warning"', lost)
        self.assertEqual(worker.stop(), 0, worker.log())
        for line in worker.log().splitlines():
            self.assertIn("message", json.loads(line))

    # --- Draining --------------------------------------------------------------

    def start_endless(self, worker):
        client = self.start(TFRT, "run", "--hosts", worker.address,
                            self.path("endless.mlir", ENDLESS))
        self.assertEqual(client.line(), "int32 = 1\n", client.log() + worker.log())
        return client

    def test_a_job_that_runs_may_finish(self):
        worker = self.start_worker()
        client = self.start_endless(worker)
        worker.popen.send_signal(signal.SIGTERM)
        self.assertIn("draining: 1 job may go on", worker.wait_for_log("draining"))
        refused = run(TFRT, "run", "--hosts", worker.address, self.path("sum.mlir", SUM))
        self.assertEqual(refused.returncode, 3, refused.stderr)
        self.assertIn("takes no", refused.stderr)
        self.assertIsNone(worker.popen.poll())
        self.assertEqual(client.stop(signal.SIGINT), 5, client.log())
        self.assertEqual(worker.wait(), 0, worker.log())

    def test_a_second_signal_ends_it_at_once(self):
        worker = self.start_worker()
        client = self.start_endless(worker)
        worker.popen.send_signal(signal.SIGTERM)
        self.assertIn("draining: 1 job may go on", worker.wait_for_log("draining"))
        self.assertEqual(worker.stop(signal.SIGINT), 0, worker.log())
        self.assertNotEqual(client.wait(), 0)
        self.assertNotEqual(client.log(), "")

    def test_more_signals_change_nothing(self):
        worker = self.start_worker()
        for _ in range(20):
            worker.popen.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(), 0, worker.log())

    def test_the_time_to_drain_is_limited(self):
        worker = self.start_worker("--drain-timeout-ms=100")
        client = self.start_endless(worker)
        self.assertEqual(worker.stop(), 0, worker.log())
        self.assertIn("the time to drain is over", worker.log())
        self.assertNotEqual(client.wait(), 0)

    def test_kernels_that_do_not_end_lose_their_process(self):
        pid, ready = self.path("pid"), self.path("ready")
        flags = ("--stop-with-stdin", "--pid-file", pid, "--ready-file", ready)
        worker = self.start_worker(*flags, stdin=subprocess.PIPE)
        client = self.start(TFRT, "run", "--hosts", worker.address, self.path("deaf.mlir", DEAF))
        for _ in range(DEAF_LINES):
            self.assertEqual(client.line(), "int32 = 600000000\n", client.log() + worker.log())
        worker.popen.stdin.close()
        self.assertEqual(worker.wait(), 1, worker.log())
        self.assertIn("kernels still run", worker.log())
        self.assertEqual(os.listdir(self.folder), ["deaf.mlir"])
        self.assertNotEqual(client.wait(), 0)

    # --- Wrong use -------------------------------------------------------------

    def test_wrong_flags_and_files(self):
        for text, *flags in (
            ("unknown flag '--nonsense'", "--nonsense"),
            ("programs come from `tfrt run`", "program.mlir"),
            ("--listen: 'x' is no address", "--listen=x"),
            ("--listen", "--listen=127.0.0.1:65536"),
            ("--data-directory", "--data-directory=" + self.path("nowhere")),
            ("--cluster-key-file", "--cluster-key-file=" + self.path("nowhere")),
            ("--log-level", "--log-level=loud"),
            ("--pid-file", "--pid-file=" + self.path("nowhere/pid")),
            ("--ready-file", "--ready-file=" + self.path("nowhere/ready")),
            ("--stop-with-stdin", "--stop-with-stdin"),
        ):
            self.expect_refused(2, text, "--log-level=warning", *flags)

    def test_help(self):
        result = run(WORKER, "--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("tfrt run --hosts", result.stdout)
        self.assertEqual(result.stderr, "")

    def test_other_machines_only_on_purpose(self):
        for address in ("0.0.0.0:0", "[::]:0"):
            self.expect_refused(2, "--insecure-network", "--listen", address)
        worker = self.start_worker("--listen=0.0.0.0:0", "--insecure-network")
        warning = "warning: --insecure-network"
        self.assertIn(warning, worker.wait_for_log(warning))
        self.assertEqual(worker.stop(), 0)

    def test_a_key_crosses_no_network_in_clear(self):
        key, program = self.path("key", "secret\n"), self.path("sum.mlir", SUM)
        for verb in (["run", program], ["status"]):
            result = run(TFRT, *verb, "--hosts=127.0.0.1:1,192.0.2.1:7000", "--cluster-key-file", key)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn("the cluster key would cross the network to 192.0.2.1:7000", result.stderr)
        # The user says that the network is trusted: it dials, and finds nobody.
        result = run(TFRT, "status", "--hosts=192.0.2.1:7000", "--cluster-key-file", key,
                     "--insecure-network", "--timeout=100")
        self.assertNotIn("would cross the network", result.stderr)
        self.assertNotEqual(result.returncode, 0)

    def test_a_key_that_all_users_can_read_is_warned_of(self):
        key = self.path("key", "secret\n")
        os.chmod(key, 0o644)
        warning = "all users can read the key in " + key
        worker = self.start_worker("--cluster-key-file", key)
        self.assertIn("warning: " + warning, worker.wait_for_log(warning))
        self.assertEqual(worker.stop(), 0)

    def test_a_pid_file_does_not_follow_links(self):
        target, link = self.path("target", "precious\n"), self.path("link")
        os.symlink(target, link)
        self.expect_refused(2, "is a symbolic link", "--listen=127.0.0.1:0", "--pid-file=" + link)
        with open(target, encoding="utf-8") as stream:
            self.assertEqual(stream.read(), "precious\n")

    def test_wrong_key(self):
        key, other = self.path("key", "secret\n"), self.path("other", "guess\n")
        worker = self.start_worker("--cluster-key-file", key)
        program = self.path("sum.mlir", SUM)
        for flags in ((), ("--cluster-key-file", other)):
            result = run(TFRT, "run", "--hosts", worker.address, *flags, program)
            self.assertEqual(result.returncode, 8, result.stderr)
        self.expect_served(worker, "--cluster-key-file", key)
        self.assertEqual(worker.stop(), 0)

    # --- Strangers -------------------------------------------------------------

    def connect(self, worker):
        host, port = worker.address.rsplit(":", 1)
        return socket.create_connection((host, int(port)), timeout=PATIENCE)

    def say(self, worker, text):
        """Says it and listens until the worker hangs up, or has answered."""
        with self.connect(worker) as stream:
            try:
                stream.sendall(text)
                stream.shutdown(socket.SHUT_WR)
                while stream.recv(65536):
                    pass
            except OSError:  # it hung up first
                pass

    def resident_bytes(self, worker):
        with open(f"/proc/{worker.popen.pid}/statm", encoding="ascii") as stream:
            return int(stream.read().split()[1]) * resource.getpagesize()

    def expect_room_or_refusal(self, limit, amount):
        """A worker under |limit| listens and ends when it is told to, or says what it lacks."""

        def set_limit():
            resource.setrlimit(limit, (amount, amount))

        process = subprocess.Popen([WORKER, "--log-level=warning"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, preexec_fn=set_limit)
        try:
            line = process.stdout.readline()
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
        if line:
            self.assertEqual(process.returncode, 0, f"{amount}: {errors}")
            return True
        self.assertIn(process.returncode, (1, 2), f"{amount}: {errors}")
        self.assertRegex(errors, r"\Atfrt_worker: .+\(ulimit -\w\b.*\n\Z", amount)
        return False

    @unittest.skipIf(IS_SANITIZED, "a sanitizer wants descriptors of its own as the process ends")
    def test_few_descriptors_are_refused_in_one_line(self):
        can_start = [self.expect_room_or_refusal(resource.RLIMIT_NOFILE, count)
                     for count in range(4, 33)]
        self.assertEqual(can_start, sorted(can_start))
        self.assertTrue(can_start[-1])
        self.assertFalse(can_start[0])

    @unittest.skipIf(IS_SANITIZED, "a sanitizer takes more of the address space than there is")
    def test_little_address_space_is_refused_in_one_line(self):
        can_start = [self.expect_room_or_refusal(resource.RLIMIT_AS, mebibytes << 20)
                     for mebibytes in [*range(40, 420, 20), 4096]]
        self.assertTrue(can_start[-1])
        self.assertFalse(can_start[0])

    def test_strangers_are_stood(self):
        worker = self.start_worker()
        http2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        noise = bytes(i * 7919 % 251 for i in range(4096))
        for text in (
            b"GET / HTTP/1.1\r\nHost: worker\r\n\r\n",
            noise,
            http2 + noise,
            http2 + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00" + noise,
            http2 + b"\xff\xff\xff\x00\xff\xff\xff\xff\xff" + noise,
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + noise,
            b"\x00" * 100000,
            b"",
        ):
            self.say(worker, text)
        half_open = []
        for i in range(50):
            half_open.append(self.connect(worker))
            self.addCleanup(half_open[-1].close)
            half_open[-1].sendall(http2[:i % len(http2)])
        self.expect_served(worker)
        # It hangs up on who says nothing for some seconds.
        with contextlib.suppress(ConnectionResetError):
            while half_open[0].recv(4096):
                pass
        half_open.append(self.connect(worker))
        self.addCleanup(half_open[-1].close)
        self.assertEqual(worker.stop(), 0, worker.log())

    def test_a_thousand_connections_leave_nothing(self):
        worker = self.start_worker()

        def knock(count):
            for _ in range(count):
                self.connect(worker).close()
            self.expect_served(worker)
            return self.resident_bytes(worker)

        before = knock(100)
        after = knock(1000)
        if not IS_SANITIZED:  # they keep what was freed
            self.assertLess(after, before + (16 << 20))
        self.assertEqual(worker.stop(), 0, worker.log())

    def test_calls_leave_no_memory_in_use(self):
        workers = [self.start_worker("--threads=1") for _ in range(2)]
        flag = "--hosts=" + ",".join(worker.address for worker in workers)
        path = self.path("many_calls.mlir", MANY_CALLS)

        def call():
            result = run(TFRT, "run", flag, path)
            self.assertEqual((result.returncode, result.stdout), (0, "'main' returned 20000\n"), result.stderr)
            return [self.resident_bytes(worker) for worker in workers]

        before = call()
        for _ in range(4):
            after = call()
        if not IS_SANITIZED:  # they keep what was freed
            # Eighty thousand calls: at 16 bytes for each that is too much already.
            for rank in range(2):
                self.assertLess(after[rank], before[rank] + (1 << 20))
        for worker in workers:
            self.assertEqual(worker.stop(), 0, worker.log())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
