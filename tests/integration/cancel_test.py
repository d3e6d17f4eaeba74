#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""After a cancel no kernel starts, on any host. Each kernel of the program reads a pipe to its end:
so the test knows of each that has started, and lets it go on by closing the pipe.

Usage: cancel_test.py TFRT TFRT_WORKER
"""

import errno
import json
import os
import signal
import tempfile
import time

from cluster import PATIENCE_S, ClusterTest, hosts, main

# Host 0 calls host 1, which calls host 2; on each, kernels follow each other.
PIPES = """func.func @spin(%path: !tfrt.string) -> !tfrt.string {
  %n = tfrt.constant.i32 1000000
  %r = tfrt.repeat.i32 %n, %path : !tfrt.string {
    %text = "tfrt_test.read_string_from_file"(%path) : (!tfrt.string) -> !tfrt.string
    %next = "tfrt_test.append_string"(%path, %text) : (!tfrt.string, !tfrt.string) -> !tfrt.string
    tfrt.return %next : !tfrt.string
  }
  tfrt.return %r : !tfrt.string
}
func.func @nested(%a: !tfrt.string, %b: !tfrt.string) -> (!tfrt.string, !tfrt.string) {
  %x = tfrt.call @spin(%b) {host = 2 : i32} : (!tfrt.string) -> !tfrt.string
  %y = tfrt.call @spin(%a) : (!tfrt.string) -> !tfrt.string
  tfrt.return %x, %y : !tfrt.string, !tfrt.string
}
func.func @main(%p0: !tfrt.string, %p1: !tfrt.string, %p2: !tfrt.string) -> (!tfrt.string, !tfrt.string, !tfrt.string) {
  %x, %y = tfrt.call @nested(%p1, %p2) {host = 1 : i32} : (!tfrt.string, !tfrt.string) -> (!tfrt.string, !tfrt.string)
  %z = tfrt.call @spin(%p0) : (!tfrt.string) -> !tfrt.string
  tfrt.return %x, %y, %z : !tfrt.string, !tfrt.string, !tfrt.string
}
"""

# A call's first result is given by the kernel that it is in, the second needs another one.
ONE_PIPE = """func.func @read(%path: !tfrt.string) -> (!tfrt.string, !tfrt.string) {
  %text = "tfrt_test.read_string_from_file"(%path) : (!tfrt.string) -> !tfrt.string
  %more = "tfrt_test.append_string"(%text, %text) : (!tfrt.string, !tfrt.string) -> !tfrt.string
  tfrt.return %text, %more : !tfrt.string, !tfrt.string
}
func.func @main(%p: !tfrt.string) -> (!tfrt.string, !tfrt.string) {
  %x, %y = tfrt.call @read(%p) {host = 1 : i32} : (!tfrt.string) -> (!tfrt.string, !tfrt.string)
  tfrt.return %x, %y : !tfrt.string, !tfrt.string
}
"""

# For a first try: a machine that is too slow for it is given more.
FIRST_LIMIT_S = 2


class CancelTest(ClusterTest):
    def setUp(self):
        super().setUp()
        self.held = []  # pipes, each with a kernel that reads it
        self.addCleanup(self.let_go_on)

    def launch(self, workers, *flags):
        """The coordinator of a program in which each of the workers reads a pipe of its own."""
        folder = tempfile.mkdtemp(dir=self.folder)
        self.pipes = [os.path.join(folder, "pipe%d" % rank) for rank in range(3)]
        for pipe in self.pipes:
            os.mkfifo(pipe)
        arguments = ["--arg=p%d=%s" % item for item in enumerate(self.pipes)]
        return self.start(self.write("pipes.mlir", PIPES), hosts(workers), *arguments, *flags)

    def begin(self):
        """Three workers, each in a kernel that waits for its pipe, behind some others."""
        workers = self.start_workers(3)
        process = self.launch(workers)
        self.assertTrue(self.drive(time.monotonic() + PATIENCE_S), "no kernel reads a pipe")
        return workers, process

    def begin_within_a_limit(self):
        """The same for a job with a time limit, which has not passed yet: a machine that is too
        slow for that is given twice the time, again and again."""
        limit_s = FIRST_LIMIT_S
        while True:
            workers = self.start_workers(3)
            end = time.monotonic() + limit_s
            process = self.launch(workers, "--timeout=%d" % (1000 * limit_s))
            if self.drive(end):
                return workers, process
            for child in (process, *workers):
                child.kill()
            limit_s *= 2

    def drive(self, end):
        """Lets some kernels go on and holds the next one on each host; false if that was not over
        before `end`."""
        for _ in range(4):
            for pipe in self.pipes:
                self.hold(pipe, end)
                self.let_go_on()
        for pipe in self.pipes:
            self.hold(pipe, end)
        if time.monotonic() < end:
            return True
        self.let_go_on()
        return False

    def hold(self, pipe, end):
        """Opens `pipe` as soon as a kernel reads it, which then waits for what is written."""
        while time.monotonic() < end:
            try:
                self.held.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
                return
            except OSError as error:
                self.assertEqual(error.errno, errno.ENXIO)

    def let_go_on(self):
        """Ends the kernels that are held."""
        while self.held:
            os.close(self.held.pop())

    def is_read(self, pipe):
        """Whether a kernel reads `pipe`, or has begun to and waits for a writer."""
        try:
            os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
            return True
        except OSError as error:
            self.assertEqual(error.errno, errno.ENXIO)
            return False

    def await_reported(self, workers, verb, noun, states):
        """Until all that `verb` says of `noun` is in one of the states."""
        end = time.monotonic() + PATIENCE_S
        while True:
            code, out, err = self.ask(*verb, hosts(workers), "-o=json")
            self.assertEqual(code, 0, err)
            told = json.loads(out)
            found = [entry["state"] for entry in (told[noun] if noun else told)]
            if found and all(state in states for state in found):
                return found
            self.assertLess(time.monotonic(), end, told)

    def expect_no_kernel_starts(self, workers, process):
        """All hosts know that it is cancelled, and each is still in the kernel that it was in."""
        self.let_go_on()
        out, err = process.communicate(timeout=PATIENCE_S)
        self.expect_idle(workers)
        for pipe in self.pipes:
            self.assertFalse(self.is_read(pipe))
        return process.returncode, out, err

    def test_after_an_interrupt_no_kernel_starts(self):
        workers, process = self.begin()
        process.send_signal(signal.SIGINT)
        self.assertEqual(len(self.await_reported(workers, ["list", "calls"], None, ["cancelled"])), 2)
        self.await_reported(workers, ["dump"], "nodes", ["cancelled"])
        code, out, err = self.expect_no_kernel_starts(workers, process)
        self.assertEqual(code, 5, err)
        self.assertEqual(out.count("<<error: Cancelled by SIGINT>>"), 3, out)

    def test_after_a_time_limit_no_kernel_starts(self):
        workers, process = self.begin_within_a_limit()
        self.await_reported(workers, ["dump"], "nodes", ["cancelled"])
        code, out, err = self.expect_no_kernel_starts(workers, process)
        self.assertEqual(code, 6, err)
        self.assertEqual(out.count("<<error: "), 3, out)

    def test_after_the_loss_of_the_coordinator_no_kernel_starts(self):
        workers, process = self.begin()
        process.kill()
        self.await_reported(workers, ["list", "calls"], None, ["cancelled"])
        # The root, which is no call, may hear of it last.
        self.await_reported(workers, ["dump"], "nodes", ["cancelled"])
        self.assertEqual(self.expect_no_kernel_starts(workers, process)[0], -signal.SIGKILL)

    def test_a_call_that_is_told_to_stop_keeps_what_its_kernel_gives(self):
        workers = self.start_workers(2)
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        process = self.start(self.write("one_pipe.mlir", ONE_PIPE), hosts(workers), "--arg=p=" + pipe)
        # Both ends of a pipe: the kernel is in it, and waits.
        self.hold(pipe, time.monotonic() + PATIENCE_S)
        calls = json.loads(self.ask("list", "calls", hosts(workers), "-o=json")[1])
        code, out, err = self.ask("cancel", calls[0]["call"], hosts(workers))
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(
            out,
            "told %s to stop: it starts no kernel any more; results that are known, or that a kernel "
            "gives which runs, stay\n" % calls[0]["call"],
        )
        self.let_go_on()
        out, err = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 5, err)
        self.assertEqual(
            out,
            "'main' returned !tfrt.string value,"
            "<<error: cancelled by an administrator (tfrt cancel) while it ran @read>>\n",
        )
        self.assertRegex(err, r"while it ran @read \[in @main, [^@]*one_pipe\.mlir:7:\d+, host 0\]")


if __name__ == "__main__":
    main()
