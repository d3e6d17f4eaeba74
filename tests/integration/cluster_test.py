#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a user sees of `tfrt run` on a cluster of real processes: output, errors, exit codes,
signals, and that nothing is left behind.

Usage: cluster_test.py TFRT TFRT_WORKER MNIST_FOLDER
"""

import fcntl
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import termios
import time
import unittest

from cluster import PATIENCE_S, UNUSED, ClusterTest, hosts, main, marked, strike

NO_SIGNALS = (
    "TSAN_OPTIONS" in os.environ,
    "ThreadSanitizer holds signals back from a thread that waits inside of fwrite",
)

MNIST = sys.argv[3]
DIGITS = [
    os.path.join(MNIST, "mnist.mlir"),
    "--arg=images=" + os.path.join(MNIST, "data/test-images-idx3-ubyte.gz"),
    "--arg=labels=" + os.path.join(MNIST, "data/test-labels-idx1-ubyte.gz"),
]

# Each host prints; the chain orders the lines.
PRINTS = """func.func @say(%i: i32, %ch: !tfrt.chain) -> (i32, !tfrt.chain) {
  %printed = tfrt.print.i32 %i, %ch
  %sum = tfrt.add.i32 %i, %i
  tfrt.return %sum, %printed : i32, !tfrt.chain
}
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %a, %ch1 = tfrt.call @say(%one, %ch) {host = 2 : i32} : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
  %b, %ch2 = tfrt.call @say(%a, %ch1) {host = 1 : i32} : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
  %c, %ch3 = tfrt.call @say(%b, %ch2) {host = 0 : i32} : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
  %d, %ch4 = tfrt.call @say(%c, %ch3) {host = 2 : i32} : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %d : i32
}
"""

# Each host gives its rank times @N@; functions and keys have the same names whatever @N@ is.
SAME_NAMES = """func.func @turn(%c: !tfrt.chain) -> i32 {
  %me = tfrt_dist.rank
  %self = tfrt_dist.host %me
  %key = tfrt_dist.key "k"
  %n = tfrt.constant.i32 @N@
  %x = tfrt.mul.i32 %me, %n
  %c1 = tfrt_dist.send %self, %key, %x, %c
  %y, %c2 = tfrt_dist.recv %self, %key, %c : i32
  tfrt.return %y : i32
}
func.func @main() -> i32 {
  %c = tfrt.new.chain
  %l = tfrt_dist.call_all @turn(%c) : (!tfrt.chain) -> (!tfrt_dist.list)
  %s = tfrt_dist.list.sum %l : i32
  tfrt.return %s : i32
}
"""

# All wait for what nobody sends: for a message, and for a host that doesn't come to a collective.
WAITING = """func.func @wait(%c: !tfrt.chain) -> i32 {
  %me = tfrt_dist.rank
  %one = tfrt.constant.i32 1
  %h = tfrt_dist.host %one
  %key = tfrt_dist.key "never"
  %x, %c1 = tfrt_dist.recv %h, %key, %c : i32
  %g = tfrt_dist.group [0, 1]
  %c2 = tfrt_dist.barrier %g, %c
  %c3 = tfrt.merge.chains %c1, %c2 : !tfrt.chain, !tfrt.chain
  tfrt.return %x : i32
}
func.func @main() -> (i32, i32) {
  %c = tfrt.new.chain
  %x = tfrt.call @wait(%c) {host = 0 : i32} : (!tfrt.chain) -> i32
  %y = tfrt.call @wait(%c) {host = 2 : i32} : (!tfrt.chain) -> i32
  tfrt.return %x, %y : i32, i32
}
"""

# Nobody uses what the prints give. The text is so long that it has to be asked for.
UNORDERED = """func.func @say(%x: i32, %text: !tfrt.string) -> i32 {
  %ch = tfrt.new.chain
  %d = "tfrt_test.print_string"(%text, %ch) : (!tfrt.string, !tfrt.chain) -> (!tfrt.chain)
  tfrt.return %x : i32
}
func.func @main(%text: !tfrt.string) -> i32 {
  %ch = tfrt.new.chain
  %x = tfrt.constant.i32 7
  %y = tfrt.call @say(%x, %text) {host = 1 : i32} : (i32, !tfrt.string) -> i32
  %d = "tfrt_test.print_string"(%text, %ch) : (!tfrt.string, !tfrt.chain) -> (!tfrt.chain)
  tfrt.return %x : i32
}
"""

# Host 0 waits for host 2, and host 1 calls it for the first time when the file (a pipe) has been
# read; what host 1 calls on host 0 has nothing to do with it.
FENCE = """func.func @wait() -> i32 {
  %ch = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %h = tfrt_dist.host %zero
  %key = "tfrt_test.get_string"() {value = "never"} : () -> !tfrt.string
  %x, %ch1 = tfrt_dist.recv %h, %key, %ch : i32
  tfrt.return %x : i32
}
func.func @seven() -> i32 {
  %x = tfrt.constant.i32 7
  tfrt.return %x : i32
}
func.func @ask(%path: !tfrt.string) -> (i32, i32) {
  %ch = tfrt.new.chain
  %two = tfrt.constant.i32 2
  %text = "tfrt_test.read_string_from_file"(%path) : (!tfrt.string) -> !tfrt.string
  %printed = "tfrt_test.print_string"(%text, %ch) : (!tfrt.string, !tfrt.chain) -> (!tfrt.chain)
  %late = "tfrt_test.identity"(%printed, %two) : (!tfrt.chain, i32) -> i32
  %h = tfrt_dist.host %late
  %x = tfrt_dist.call %h @seven() : (!tfrt_dist.host) -> i32
  %y = tfrt.call @seven() {host = 0 : i32} : () -> i32
  tfrt.return %x, %y : i32, i32
}
func.func @main(%path: !tfrt.string) -> (i32, i32, i32) {
  %w = tfrt.call @wait() {host = 2 : i32} : () -> i32
  %x, %y = tfrt.call @ask(%path) {host = 1 : i32} : (!tfrt.string) -> (i32, i32)
  tfrt.return %w, %x, %y : i32, i32, i32
}
"""
FENCE_LATE_LINE = 20
FENCE_WAIT_LINE = 25

# A constant of fcntl(2); Python has a name for it since 3.10.
F_SETPIPE_SZ = 1031

# Gives no result, but prints.
SILENT = """func.func @say(%ch: !tfrt.chain) -> !tfrt.chain {
  %one = tfrt.constant.i32 1
  %printed = tfrt.print.i32 %one, %ch
  tfrt.return %printed : !tfrt.chain
}
func.func @main() {
  %ch = tfrt.new.chain
  %n = tfrt.constant.i32 50
  %done = tfrt.repeat.i32 %n, %ch : !tfrt.chain {
    %next = tfrt.call @say(%ch) {host = 1 : i32} : (!tfrt.chain) -> !tfrt.chain
    tfrt.return %next : !tfrt.chain
  }
  tfrt.return
}
"""

# Divides by zero on host 1.
FAILS = """func.func @divide(%a: i32, %b: i32) -> i32 {
  %q, %r = tfrt.div.i32 %a, %b
  tfrt.return %q : i32
}
func.func @main() -> (i32, i32) {
  %seven = tfrt.constant.i32 7
  %zero = tfrt.constant.i32 0
  %q = tfrt.call @divide(%seven, %zero) {host = 1 : i32} : (i32, i32) -> i32
  %p = tfrt.call @divide(%seven, %seven) {host = 1 : i32} : (i32, i32) -> i32
  tfrt.return %p, %q : i32, i32
}
"""

# The body of a loop has no name of its own.
FAILS_IN_LOOP = """func.func @divide(%n: i32) -> i32 {
  %q = tfrt.repeat.i32 %n, %n : i32 {
    %zero = tfrt.constant.i32 0
    %x, %r = tfrt.div.i32 %n, %zero
    tfrt.return %x : i32
  }
  tfrt.return %q : i32
}
func.func @main() -> i32 {
  %two = tfrt.constant.i32 2
  %q = tfrt.call @divide(%two) {host = 1 : i32} : (i32) -> i32
  tfrt.return %q : i32
}
"""

# One division by zero on host 2 is three results, one on host 1 is the fourth.
WAYS = """func.func @divide(%x: i32) -> (i32, i32) {
  %zero = tfrt.constant.i32 0
  %q, %r = tfrt.div.i32 %x, %zero
  tfrt.return %q, %r : i32, i32
}
func.func @twice(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @main() -> (i32, i32, i32, i32) {
  %one = tfrt.constant.i32 1
  %a, %b = tfrt.call @divide(%one) {host = 2 : i32} : (i32) -> (i32, i32)
  %c = tfrt.call @twice(%a) {host = 1 : i32} : (i32) -> i32
  %d, %e = tfrt.call @divide(%one) {host = 1 : i32} : (i32) -> (i32, i32)
  tfrt.return %a, %b, %c, %d : i32, i32, i32, i32
}
"""

# Host 1 says that it has begun, and is in a kernel then that listens to nobody.
STUCK = """func.func @stuck(%us: i32, %x: i32) -> !tfrt.chain {
  %slept = "tfrt_test.blocking.usleep"(%us) : (i32) -> !tfrt.chain
  %ch = tfrt.new.chain
  %printed = tfrt.print.i32 %x, %ch
  %both = tfrt.merge.chains %slept, %printed : !tfrt.chain, !tfrt.chain
  tfrt.return %both : !tfrt.chain
}
func.func @main() -> (i32, !tfrt.chain) {
  %one = tfrt.constant.i32 1
  %us = tfrt.constant.i32 50000000
  %two = tfrt.add.i32 %one, %one
  %r = tfrt.call @stuck(%us, %one) {host = 1 : i32} : (i32, i32) -> !tfrt.chain
  tfrt.return %two, %r : i32, !tfrt.chain
}
"""

# Host 1 says that it runs, then turns for ever.
ENDLESS = """func.func @again(%x: i32) -> (i32, i1) {
  %go = tfrt.constant.i1 true
  tfrt.return %x, %go : i32, i1
}
func.func @spin(%ch: !tfrt.chain) -> i32 {
  %one = tfrt.constant.i32 1
  %go = tfrt.constant.i1 true
  %printed = tfrt.print.i32 %one, %ch
  %x = "tfrt_test.identity"(%printed, %one) : (!tfrt.chain, i32) -> i32
  %r = tfrt.while %go @again(%x) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %r = tfrt.call @spin(%ch) {host = 1 : i32} : (!tfrt.chain) -> i32
  tfrt.return %r : i32
}
"""
# Host 1 prints lines for ever, each when the one before it is out.
LINES = """func.func @again(%x: i32, %ch: !tfrt.chain) -> (i32, !tfrt.chain, i1) {
  %true = tfrt.constant.i1 true
  %printed = tfrt.print.i32 %x, %ch
  %go = "tfrt_test.identity"(%printed, %true) : (!tfrt.chain, i1) -> i1
  tfrt.return %x, %printed, %go : i32, !tfrt.chain, i1
}
func.func @spin(%ch: !tfrt.chain) -> i32 {
  %one = tfrt.constant.i32 1
  %go = tfrt.constant.i1 true
  %r:2 = tfrt.while %go @again(%one, %ch) parallel_iterations(1) : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %r#0 : i32
}
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %r = tfrt.call @spin(%ch) {host = 1 : i32} : (!tfrt.chain) -> i32
  tfrt.return %r : i32
}
"""

# On host 1, two kernels use memory without an order.
RACE = """func.func @work() -> i32 {
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c0 = tfrt.new.chain
  %c1 = tfrt_dht.fill_tensor_with_constant.f32 %t, %c0 2.0 : f32
  %u = tfrt_tensor.relu %t
  %n = tfrt.constant.i32 7
  tfrt.return %n : i32
}
func.func @main() -> i32 {
  %n = tfrt.call @work() {host = 1 : i32} : () -> (i32)
  tfrt.return %n : i32
}
"""

# Where @spin is called.
ENDLESS_CALL = "endless.mlir:15:"


class TestLocal(ClusterTest):
    def test_digits(self):
        result = self.run_tfrt(*DIGITS, "--local=3")
        self.expect(result, 0)
        for line in (
            "host 0: 334 digits, 334 right",
            "host 1: 333 digits, 330 right",
            "host 2: 333 digits, 332 right",
            "accuracy: 99.60 % (996 of 1000)",
            "'main' returned 996,1000",
        ):
            self.assertIn(line + "\n", result[1])
        self.assertEqual(result[2], "")
        self.expect_nothing_left()

    def test_lines_come_in_the_order_of_chains_with_their_rank(self):
        path = self.write("prints.mlir", PRINTS)
        out = "[2] int32 = 1\n[1] int32 = 2\nint32 = 4\n[2] int32 = 8\n'main' returned 16\n"
        self.expect(self.run_tfrt(path, "--local=3"), 0, out, "")

    def test_lines_that_nothing_orders_come_before_the_results(self):
        text = "x" * 100000
        program = self.write("unordered.mlir", UNORDERED)
        for _ in range(10):
            result = self.run_tfrt(program, "--local=2", "--arg=text=" + text)
            self.expect(result, 0)
            *lines, last = result[1].splitlines()
            self.assertEqual(last, "'main' returned 7")
            self.assertEqual([line.count("x") for line in lines], [100000, 100000])

    def test_without_results_a_run_ends_behind_its_last_line(self):
        path = self.write("silent.mlir", SILENT)
        out = "".join("[1] int32 = 1\n" for _ in range(50))
        for _ in range(5):
            self.expect(self.run_tfrt(path, "--local=2"), 0, out, "")

    def test_a_race_of_a_worker_is_the_end_of_the_run(self):
        path = self.write("race.mlir", RACE)
        flags = [path, "--local=2", "--no-insert-chains"]
        self.expect(self.run_tfrt(*flags), 0, "'main' returned 7\n", "")
        code, out, err = self.run_tfrt(*flags, "--check_races")
        self.assertEqual((code, out), (9, "'main' returned 7\n"), err)
        self.assertIn("race: 'tfrt_", err)
        self.expect_nothing_left()

    def test_an_error_says_where_it_began(self):
        path = self.write("fails.mlir", FAILS)
        code, out, err = self.run_tfrt(path, "--local=2")
        self.assertEqual(code, 1, err)
        self.assertEqual(out, "'main' returned 1,<<error: Divide by zero>>\n")
        first = err.splitlines()[0]
        for part in ("Divide by zero", "@divide", "fails.mlir:2:", "host 1"):
            self.assertIn(part, first)

    def test_an_error_in_a_loop_names_the_function_with_the_loop(self):
        path = self.write("loop.mlir", FAILS_IN_LOOP)
        self.expect(self.run_tfrt(path, "--local=2"), 1, None,
                    f"[in @divide, tfrt.div.i32, {path}:4:14, host 1]")

    def test_each_error_is_told_once(self):
        """However many results it has reached, and by whatever way."""
        path = self.write("ways.mlir", WAYS)
        code, out, err = self.run_tfrt(path, "--local=3", "-v")
        self.assertEqual(code, 1, err)
        self.assertEqual(out, "'main' returned %s\n" % ",".join(4 * ["<<error: Divide by zero>>"]))
        text = "tfrt: %sINTERNAL: Divide by zero [in @divide, tfrt.div.i32, " + path + ":3:12, host %d]"
        self.assertEqual(err.splitlines(), [text % ("", 2), text % ("  result 3: ", 1)])

    def test_json(self):
        path = self.write("fails.mlir", FAILS)
        code, out, _ = self.run_tfrt(path, "--local=2", "-o=json")
        self.assertEqual(code, 1)
        results = json.loads(out)["results"]
        self.assertEqual(results[0], {"type": "i32", "value": "1"})
        self.assertEqual(results[1]["error"]["line"], 2)

    def test_a_host_that_is_not_there(self):
        path = self.write("prints.mlir", PRINTS)
        result = self.run_tfrt(path, "--local=2")
        self.expect(result, 1, None, "the call asks for host 2, the job has 2 hosts")
        self.assertIn("prints.mlir:12:", result[2])
        result = self.run_tfrt(path, "--local=1")
        self.expect(result, 1)
        self.assertRegex(result[2], r"the call asks for host 2, the job has 1 host\b")

    def test_a_timeout(self):
        path = self.write("endless.mlir", ENDLESS)
        self.expect(self.run_until("int32 = 1\n", path, "--local=2"), 6)
        self.expect_nothing_left()

    def test_a_timeout_of_what_no_result_needs(self):
        path = self.write("unused.mlir", UNUSED)
        workers = self.start_workers(2)
        for flag in "--local=2", hosts(workers):
            returned = "'main' returned 0\n"
            code, out, err = self.run_until(returned, path, flag)
            self.assertEqual((code, out), (6, returned), err)
            # Host 0 and this process look at their clocks; who is first tells it in its own words.
            self.assertRegex(err, r"\Atfrt: DEADLINE_EXCEEDED: the [^\n]*\n\Z")
        self.expect_idle(workers)

    def test_no_worker_outlives_a_coordinator_that_is_killed(self):
        path = self.write("endless.mlir", ENDLESS)
        process = self.start(path, "--local=2")
        self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
        self.assertEqual(len(marked(self.mark)), 3)
        process.kill()
        self.expect_nothing_left()

    def test_a_stopped_worker_is_not_waited_for(self):
        path = self.write("endless.mlir", ENDLESS)
        process = self.start(path, "--local=2", "--heartbeat-ms=100", "--silence-ms=1000")
        self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
        victim = max(pid for pid in marked(self.mark) if pid != process.pid)
        os.kill(victim, signal.SIGSTOP)
        self.assertIn("lost host", process.stderr.readline())
        # A worker that is not stopped has 5 s to end by itself.
        self.assertEqual(process.wait(4), 4)
        self.expect_nothing_left()

    @unittest.skipIf(*NO_SIGNALS)
    def test_nobody_reads_what_is_printed(self):
        path = self.write("lines.mlir", LINES)
        ends = ((["--timeout=2000"], 0, 6), ([], 1, 5), ([], 2, 5))
        for flags, signals, code in ends:
            reading, writing = os.pipe()
            fcntl.fcntl(writing, F_SETPIPE_SZ, 4096)
            process = subprocess.Popen(
                [self.tfrt, "run", path, "--local=2", *flags],
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=subprocess.DEVNULL,
                env=self.environment,
            )
            self.addCleanup(process.kill)
            os.close(writing)
            self.fill(reading, process)
            for _ in range(signals):
                process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(PATIENCE_S), code)
            self.expect_nothing_left()
            os.close(reading)

    @unittest.skipIf(*NO_SIGNALS)
    def test_nobody_reads_what_a_verb_prints(self):
        """More than a pipe takes, of workers that are not there."""
        there_not = ",".join("127.0.0.1:%d" % (i + 1) for i in range(60))
        for number in (signal.SIGINT, signal.SIGTERM):
            reading, writing = os.pipe()
            self.addCleanup(os.close, reading)
            fcntl.fcntl(writing, F_SETPIPE_SZ, 4096)
            process = subprocess.Popen(
                [self.tfrt, "status", "-o=json", "--hosts=" + there_not],
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=subprocess.DEVNULL,
                env=self.environment,
            )
            os.close(writing)
            self.addCleanup(process.kill)
            self.fill(reading, process)
            process.send_signal(number)
            self.assertEqual(process.wait(PATIENCE_S), 5)

    def fill(self, reading, process):
        """Waits until the pipe `reading`, which has a page, holds so much that a writer waits, or
        `process`, whose time may be up before that, has ended."""
        end = time.monotonic() + PATIENCE_S
        waiting = bytearray(4)
        full = 4096 - len("[1] int32 = 1\n")
        while process.poll() is None and int.from_bytes(waiting, sys.byteorder) < full:
            self.assertLess(time.monotonic(), end)
            fcntl.ioctl(reading, termios.FIONREAD, waiting)

    def test_a_reader_that_leaves_ends_the_run(self):
        path = self.write("lines.mlir", LINES)
        process = self.start(path, "--local=2")
        self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
        process.stdout.close()
        self.assertEqual(process.wait(PATIENCE_S), -signal.SIGPIPE)
        self.expect_nothing_left()

    def test_a_reader_that_leaves_leaves_no_job_and_has_a_trace(self):
        workers = self.start_workers(2)
        trace = os.path.join(self.folder, "trace.json")
        path = self.write("lines.mlir", LINES)
        process = self.start(path, hosts(workers), "--trace=" + trace)
        self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
        process.stdout.close()
        self.assertEqual(process.wait(PATIENCE_S), -signal.SIGPIPE)
        self.assertEqual(process.stderr.read(), "")
        # The hosts have heard of the end before this process ended: no silence has to tell them.
        self.assertEqual([status["jobs"] for status in self.status(workers)], [0, 0])
        with open(trace, encoding="utf-8") as stream:
            self.assertIn("traceEvents", json.load(stream))

    def test_a_verb_whose_reader_leaves(self):
        workers = self.start_workers(2)
        for verb in (["status"], ["list", "hosts", "-o=json"], ["dump"]):
            reading, writing = os.pipe()
            os.close(reading)
            process = subprocess.Popen(
                [self.tfrt, *verb, hosts(workers)],
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=subprocess.PIPE,
                env=self.environment,
                universal_newlines=True,
            )
            os.close(writing)
            self.addCleanup(process.kill)
            _, err = process.communicate(timeout=PATIENCE_S)
            self.assertEqual((process.returncode, err), (-signal.SIGPIPE, ""), verb)

    def test_a_path_that_is_long_and_odd(self):
        folder = os.path.join(self.folder, "a b", *["\u00fc" * 100] * 4)
        os.makedirs(folder)
        path = os.path.join(folder, "fails.mlir")
        with open(os.fsencode(path), "w", encoding="utf-8") as stream:
            stream.write(FAILS)
        self.expect(self.run_tfrt(path, "--local=2"), 1, None, "Divide by zero")

    def test_a_worker_that_is_not_there(self):
        path = self.write("prints.mlir", PRINTS)
        result = self.run_tfrt(path, "--local=2", "--worker=/nowhere/tfrt_worker")
        self.expect(result, 3, "", "/nowhere/tfrt_worker")
        result = self.run_tfrt(path, "--local=2", "--worker=/bin/false")
        self.expect(result, 3, "", "worker 0 ended before it listened (exit code 1)")

    def test_wrong_flags(self):
        path = self.write("prints.mlir", PRINTS)
        self.expect(self.run_tfrt(path, "--local=0"), 2, "", "--local wants a number")
        self.expect(self.run_tfrt(path, "--hosts=a:1,,b:2"), 2, "", "host 1 has no address")
        self.expect(self.run_tfrt(path, "--hosts=a:1", "--local=1"), 2, "", "not both")
        result = self.run_tfrt(path, "--local=1", "--cluster-key-file=x")
        self.expect(result, 2, "", "--local makes a key of its own")
        self.expect(self.run_tfrt(path, "--local=1", "--silence-ms=10"), 2, "", "--silence-ms")

    def test_a_trace_has_a_row_for_each_host(self):
        trace = os.path.join(self.folder, "trace.json")
        self.expect(self.run_tfrt(*DIGITS, "--local=3", "--trace=" + trace), 0)
        with open(trace, encoding="utf-8") as stream:
            events = json.load(stream)["traceEvents"]
        spans = [event for event in events if event["ph"] == "X"]
        for rank in range(3):
            names = [event["name"] for event in spans if event["pid"] == rank]
            # One for each batch of 50 digits, of 333 or 334.
            self.assertEqual(names.count("tfrt_tensor.argmax"), 7, rank)
        # One clock: nothing begins long before or after the rest.
        times = [event["ts"] for event in spans]
        self.assertLess(max(times) - min(times), PATIENCE_S * 1e6)


class TestHosts(ClusterTest):
    def test_digits_again_and_again_on_the_same_workers(self):
        workers = self.start_workers(3, "--data-directory=" + MNIST)
        for _ in range(3):
            result = self.run_tfrt(*DIGITS, hosts(workers))
            self.expect(result, 0)
            self.assertIn("accuracy: 99.60 % (996 of 1000)\n", result[1])
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
            self.assertEqual(worker.wait(PATIENCE_S), 0)
        self.expect_nothing_left()

    def test_programs_of_the_same_names_have_nothing_in_common(self):
        workers = self.start_workers(3)
        paths = [(n, self.write("p%d.mlir" % n, SAME_NAMES.replace("@N@", str(n)))) for n in range(1, 7)]
        processes = [(n, self.start(path, hosts(workers))) for n, path in paths]
        for n, process in processes:
            self.expect(self.finish(process), 0, "'main' returned %d\n" % (3 * n), "")
        self.expect_idle(workers)

    def test_proxies_of_the_environment_are_for_others(self):
        nobody = "http://127.0.0.1:9"
        for name in ("http_proxy", "https_proxy", "grpc_proxy", "all_proxy"):
            self.environment.update({name: nobody, name.upper(): nobody})
        path = self.write("prints.mlir", PRINTS)
        self.expect(self.run_tfrt(path, hosts(self.start_workers(3))), 0)
        self.expect(self.run_tfrt(path, "--local=3"), 0)

    def processor_seconds(self, workers):
        """What all threads of the workers, and of those that have ended, took so far."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        ticks = 0
        for worker in workers:
            with open("/proc/%d/stat" % worker.pid, encoding="ascii") as stream:
                ticks += sum(map(int, stream.read().rsplit(")", 1)[1].split()[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK") + ended.ru_utime + ended.ru_stime

    def test_who_waits_takes_no_processor(self):
        workers = self.start_workers(3)
        path = self.write("waiting.mlir", WAITING)
        taken = []
        for timeout in (100, 3100):
            before = self.processor_seconds(workers)
            self.expect(self.run_tfrt(path, hosts(workers), "--timeout=%d" % timeout), 6)
            taken.append(self.processor_seconds(workers) - before)
        # The second run waits three seconds longer: the four processes use little processor time
        # for that.
        self.assertLess(taken[1] - taken[0], 0.5, taken)

    def test_interrupt_of_what_no_result_needs(self):
        workers = self.start_workers(2)
        process = self.start(self.write("unused.mlir", UNUSED), hosts(workers))
        self.await_counts(workers[1], {"incoming_calls": 1})
        process.send_signal(signal.SIGINT)
        self.expect(self.finish(process), 5, "'main' returned 0\n", "tfrt: CANCELLED: Cancelled by SIGINT\n")
        self.expect_idle(workers)

    def test_cancel_of_what_no_result_needs(self):
        workers = self.start_workers(2)
        process = self.start(self.write("unused.mlir", UNUSED), hosts(workers), "-o=json")
        self.await_counts(workers[1], {"incoming_calls": 1})
        _, out, _ = self.ask("list", "jobs", hosts(workers), "-o=json")
        self.expect(self.ask("cancel", json.loads(out)[0]["job"], hosts(workers)), 0)
        code, out, err = self.finish(process)
        self.assertEqual(code, 5, err)
        self.assertEqual(err, "tfrt: CANCELLED: cancelled by an administrator (tfrt cancel) [in host 0]\n")
        said = json.loads(out)
        self.assertEqual(said["results"], [{"type": "i32", "value": "0"}])
        self.assertEqual(said["error"]["code"], "CANCELLED")
        self.expect_idle(workers)

    def test_interrupt_of_what_does_not_end(self):
        """A kernel that listens to nobody: the second interrupt is for the job, and host 0 says what is
        known."""
        workers = self.start_workers(2)
        process = self.start(self.write("stuck.mlir", STUCK), hosts(workers), "-o=json")
        self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        code, out, err = self.finish(process)
        self.assertEqual(code, 5, err)
        first, second = json.loads(out)["results"]
        self.assertEqual(first, {"type": "i32", "value": "2"})
        self.assertEqual(second["error"]["code"], "CANCELLED")
        self.assertIn("line", second["error"])

    def test_interrupt_of_what_gives_no_results(self):
        workers = self.start_workers(3)
        head, main = ENDLESS.split("func.func @main")
        main = main.replace("() -> i32 {", "() {", 1).replace("tfrt.return %r : i32", "tfrt.return")
        path = self.write("endless.mlir", head + "func.func @main" + main)
        process = self.start(path, hosts(workers))
        self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
        process.send_signal(signal.SIGINT)
        self.expect(self.finish(process), 5, "", "Cancelled")
        self.expect_workers_run(workers)

    def expect_workers_run(self, workers):
        """Each takes a program; with one thread, so nothing of the last one still runs."""
        path = self.write("prints.mlir", PRINTS)
        result = self.run_tfrt(path, hosts(workers))
        self.expect(result, 0, None, "")
        self.expect_idle(workers)

    def test_status_shows_what_is_alive(self):
        workers = self.start_workers(3)
        self.expect_idle(workers)
        path = self.write("endless.mlir", ENDLESS)
        process = self.start(path, hosts(workers))
        self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
        status = self.status(workers)
        self.assertEqual([host["jobs"] for host in status], [1, 1, 1])
        self.assertEqual([host["outgoing_calls"] for host in status], [1, 0, 0])
        self.assertEqual([host["incoming_calls"] for host in status], [0, 1, 0])
        process.send_signal(signal.SIGINT)
        self.expect(self.finish(process), 5)
        self.expect_idle(workers)

    def test_status_of_a_host_that_is_not_there(self):
        worker = self.start_worker()
        gone = self.start_worker()
        gone.kill()
        gone.wait()
        result = subprocess.run(
            [self.tfrt, "status", hosts([worker, gone])],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            timeout=PATIENCE_S,
            check=False,
        )
        self.assertEqual(result.returncode, 3, result)
        titles, first, second = result.stdout.splitlines()
        self.assertIn("OBJECTS", titles)
        self.assertTrue(first.startswith(worker.address) and " serving " in first, first)
        self.assertTrue(second.startswith(gone.address) and " no answer" in second, second)
        self.assertIn(gone.address, result.stderr)

    def test_interrupt_stops_what_runs_elsewhere(self):
        workers = self.start_workers(3)
        path = self.write("endless.mlir", ENDLESS)
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start(path, hosts(workers))
            self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
            process.send_signal(number)
            result = self.finish(process)
            name = signal.Signals(number).name
            self.expect(result, 5, "'main' returned <<error: Cancelled by %s>>\n" % name)
            self.expect_workers_run(workers)

    def test_a_coordinator_that_is_killed_leaves_workers_free(self):
        workers = self.start_workers(3)
        path = self.write("endless.mlir", ENDLESS)
        process = self.start(path, hosts(workers))
        self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
        process.kill()
        process.wait(PATIENCE_S)
        self.expect_workers_run(workers)

    def test_a_lost_host_is_named_with_its_function_and_line(self):
        workers = self.start_workers(4)
        path = self.write("endless.mlir", ENDLESS)
        process = self.start(path, hosts(workers[:3]))
        self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
        workers[1].kill()
        code, _, err = self.finish(process)
        self.assertEqual(code, 4, err)
        # It is the first line, unless host 0's answer takes longer than the client waits with its own.
        parts = ("host 1", workers[1].address, "@spin", ENDLESS_CALL)
        self.assertTrue(any(all(part in line for part in parts) for line in err.splitlines()), err)
        # The others take the next program.
        self.expect_workers_run([workers[0], workers[2], workers[3]])

    def test_a_lost_root_is_named(self):
        workers = self.start_workers(4)
        path = self.write("endless.mlir", ENDLESS)
        process = self.start(path, hosts(workers[:3]))
        self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
        workers[0].kill()
        code, _, err = self.finish(process)
        self.assertEqual(code, 4, err)
        first = err.splitlines()[0]
        for part in ("host 0", workers[0].address, "main"):
            self.assertIn(part, first)
        self.expect_workers_run(workers[1:])

    def test_a_frozen_host_is_lost_and_may_come_back(self):
        times = ("--heartbeat-ms=200", "--silence-ms=2000")
        workers = self.start_workers(3, *times)
        path = self.write("endless.mlir", ENDLESS)
        process = self.start(path, hosts(workers), *times)
        self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
        strike(workers[1], signal.SIGSTOP)
        code, _, err = self.finish(process)
        self.assertEqual(code, 4, err)
        self.assertIn("lost host 1", err.splitlines()[0])
        # Nobody talks to it under the old session any more; the next program has a new one.
        workers[1].send_signal(signal.SIGCONT)
        self.expect_workers_run(workers)

    def test_a_frozen_coordinator_is_lost_and_says_so_when_it_comes_back(self):
        times = ("--heartbeat-ms=200", "--silence-ms=2000")
        workers = self.start_workers(3, *times)
        path = self.write("endless.mlir", ENDLESS)
        process = self.start(path, hosts(workers), *times)
        self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
        strike(process, signal.SIGSTOP)
        # Nobody hears of it, so its silence decides.
        self.expect_idle(workers)
        process.send_signal(signal.SIGCONT)
        self.expect(self.finish(process), 4, None, "lost")
        self.expect_workers_run(workers)

    def test_a_frozen_host_has_no_part_in_the_job_when_it_comes_back(self):
        times = ("--heartbeat-ms=200", "--silence-ms=5000")
        workers = self.start_workers(3, *times)
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        path = self.write("fence.mlir", FENCE)
        process = self.start(path, hosts(workers), "--arg=path=" + pipe, "-v", *times)
        self.await_counts(workers[2], {"incoming_calls": 1})
        self.await_counts(workers[1], {"incoming_calls": 1})
        strike(workers[2], signal.SIGSTOP)
        self.await_counts(workers[0], {"outgoing_calls": 1, "jobs": 1})
        workers[2].send_signal(signal.SIGCONT)
        # It has lost the root, so it frees all of the job, which goes on without it.
        self.expect_idle([workers[2]])
        self.assertEqual(self.counts(workers[1], "jobs", "incoming_calls"), [1, 1])
        self.assertIsNone(process.poll())
        # The link between hosts 1 and 2 works: the host that asks gets the answer, and waits for no
        # silence.
        with open(pipe, "w", encoding="utf-8") as stream:
            stream.write("now")
        code, out, err = self.finish(process)
        self.assertEqual(code, 4, err)
        last = out.splitlines()[-1]
        self.assertRegex(last, r"^'main' returned <<error: .*>>,<<error: .*>>,7$")
        loss = r"host %d lost host 2 .* while it ran @%s: .*%s.* .*fence.mlir:%d:"
        self.assertRegex(err, loss % (0, "wait", "no sign of life", FENCE_WAIT_LINE))
        self.assertRegex(err, loss % (1, "seven", "host 2 .*lost ", FENCE_LATE_LINE))
        self.expect_idle(workers)
        self.expect_workers_run(workers)

    def await_draining(self, worker):
        end = time.monotonic() + PATIENCE_S
        while True:
            code, out, err = self.ask("list", "hosts", hosts([worker]), "-o=json")
            self.assertEqual(code, 0, err)
            if json.loads(out)[0]["state"] == "draining":
                return
            self.assertLess(time.monotonic(), end, "it doesn't drain")

    def test_a_worker_that_drains_finishes_what_runs(self):
        workers = self.start_workers(2)
        path = self.write("endless.mlir", ENDLESS)
        process = self.start(path, hosts(workers))
        self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
        workers[1].send_signal(signal.SIGTERM)
        self.await_draining(workers[1])
        # It takes no more jobs, and the one that it has goes on until it is cancelled.
        refused = self.run_tfrt(path, hosts(workers))
        self.expect(refused, 3, None, workers[1].address)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.expect(self.finish(process), 5)
        self.assertEqual(workers[1].wait(PATIENCE_S), 0)


class TestForming(ClusterTest):
    def setUp(self):
        super().setUp()
        self.program = self.write("prints.mlir", PRINTS)

    def key_file(self, name, key):
        return "--cluster-key-file=" + self.write(name, key + "\n")

    def test_a_wrong_key(self):
        worker = self.start_worker(self.key_file("right", "one key"))
        result = self.run_tfrt(self.program, hosts([worker]), self.key_file("wrong", "another"))
        self.expect(result, 8, "", worker.address)
        result = self.run_tfrt(self.program, hosts([worker]))
        self.expect(result, 8, "", worker.address)
        path = self.write("nothing.mlir", "func.func @main() {\n  tfrt.return\n}\n")
        self.expect(self.run_tfrt(path, hosts([worker]), self.key_file("r", "one key")), 0, "", "")

    def test_nobody_listens(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = "127.0.0.1:%d" % free.getsockname()[1]
            result = self.run_tfrt(self.program, "--hosts=" + address)
        self.expect(result, 3, "", address)

    def test_a_host_that_does_not_answer(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            address = "127.0.0.1:%d" % silent.getsockname()[1]
            result = self.run_tfrt(
                self.program, "--hosts=" + address, "--heartbeat-ms=100", "--silence-ms=1000"
            )
        self.expect(result, 3, "", address)

    def test_a_name_that_does_not_exist(self):
        result = self.run_tfrt(self.program, "--hosts=no-such-host.invalid:7000")
        self.expect(result, 3, "", "no-such-host.invalid:7000")

    def test_an_address_that_is_none(self):
        result = self.run_tfrt(self.program, "--hosts=127.0.0.1")
        self.assertIn(result[0], (2, 3), result)
        self.assertIn("127.0.0.1", result[2])

    def test_the_same_host_twice(self):
        worker = self.start_worker()
        result = self.run_tfrt(self.program, hosts([worker, worker]))
        self.expect(result, 2, "", "are the same process")

    def test_an_interrupt_while_the_cluster_forms(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            address = "127.0.0.1:%d" % silent.getsockname()[1]
            process = self.start(self.program, "--hosts=" + address)
            # The first byte shows that it dials.
            connection, _ = silent.accept()
            connection.recv(1)
            process.send_signal(signal.SIGINT)
            self.expect(self.finish(process), 5, "", "Cancelled")
            connection.close()


if __name__ == "__main__":
    main()
