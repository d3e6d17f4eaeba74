#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Workers whose clocks differ by minutes and hours, each in a time namespace of its own: deadlines are
kept, neither early nor never, and a trace shows all of them on one clock.

Usage: clocks_test.py TFRT TFRT_WORKER
"""

import json
import os
import subprocess
import unittest

from cluster import PATIENCE_S, ClusterTest, hosts, main

# The offset of each worker's clock, in seconds.
OFFSETS = (0, 600, 6000)

# Nobody looks at a clock that is as far off as that and takes what has come for late.
AHEAD = ["unshare", "--user", "--map-root-user", "--time", "--fork", "--kill-child"]

# Each host calls on to the next.
NESTED = """func.func @inner(%x: i32) -> i32 {
  %y = "tfrt_test.async_copy.with_delay.i32"(%x) : (i32) -> i32
  tfrt.return %y : i32
}
func.func @outer(%x: i32) -> i32 {
  %y = tfrt.call @inner(%x) {host = 2 : i32, deadline_ms = 50000 : i32} : (i32) -> i32
  tfrt.return %y : i32
}
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %y = tfrt.call @outer(%one) {host = 1 : i32, deadline_ms = 50000 : i32} : (i32) -> i32
  tfrt.return %y : i32
}
"""

# Host 2 turns until its time is over.
ENDLESS = """func.func @again(%x: i32) -> (i32, i1) {
  %go = tfrt.constant.i1 true
  tfrt.return %x, %go : i32, i1
}
func.func @spin(%x: i32) -> i32 {
  %go = tfrt.constant.i1 true
  %r = tfrt.while %go @again(%x) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}
func.func @outer(%x: i32) -> i32 {
  %y = tfrt.call @spin(%x) {host = 2 : i32} : (i32) -> i32
  tfrt.return %y : i32
}
func.func @main() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %y = tfrt.call @outer(%one) {host = 1 : i32@OPTION@} : (i32) -> i32
  tfrt.return %one, %y : i32, i32
}
"""


def can_be_ahead():
    command = AHEAD + ["--monotonic", "600", "--boottime", "600", "true"]
    try:
        return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0
    except OSError:
        return False


@unittest.skipUnless(can_be_ahead(), "this system gives no process a clock of its own")
class ClocksTest(ClusterTest):
    def start_ahead(self, seconds):
        """A worker whose clock is ahead of ours."""
        script = "#!/bin/sh\nexec %s --monotonic %d --boottime %d %s \"$@\"\n"
        path = self.write("ahead_%d" % seconds, script % (" ".join(AHEAD), seconds, seconds, self.tfrt_worker))
        os.chmod(path, 0o700)
        program, self.tfrt_worker = self.tfrt_worker, path
        try:
            return self.start_worker()
        finally:
            self.tfrt_worker = program

    def setUp(self):
        super().setUp()
        workers = [self.start_ahead(seconds) for seconds in OFFSETS]
        # The caller's clock is behind the callee's, and ahead of it.
        self.orders = [workers, workers[::-1]]

    def test_what_takes_no_time_is_not_late(self):
        path = self.write("nested.mlir", NESTED)
        for workers in self.orders:
            result = self.run_tfrt(path, hosts(workers), "--timeout=50000")
            self.expect(result, 0, "'main' returned 1\n", "")
            self.expect_idle(workers)

    def test_what_never_ends_ends_in_time(self):
        returned = "'main' returned 1,<<error: "
        limited = self.write("limited.mlir", ENDLESS.replace("@OPTION@", ", deadline_ms = 300 : i32"))
        endless = self.write("endless.mlir", ENDLESS.replace("@OPTION@", ""))
        for workers in self.orders:
            # No longer than a test may take, that is, and nobody goes on for itself.
            for code, out, err in (
                self.run_tfrt(limited, hosts(workers), "--timeout=600000"),
                self.run_until(returned, endless, hosts(workers)),
            ):
                self.assertEqual(code, 6, err)
                self.assertIn(returned, out)
                self.assertIn("DEADLINE_EXCEEDED", err)
                self.expect_idle(workers)

    def test_a_trace_has_one_clock(self):
        path = self.write("nested.mlir", NESTED)
        trace = os.path.join(self.folder, "trace.json")
        for workers in self.orders:
            result = self.run_tfrt(path, hosts(workers), "--trace=" + trace)
            self.expect(result, 0, "'main' returned 1\n", "")
            with open(trace, encoding="utf-8") as stream:
                events = json.load(stream)["traceEvents"]
            times = [event["ts"] for event in events if event["ph"] in "Xsf"]
            self.assertLess(max(times) - min(times), PATIENCE_S * 1e6)
            begins, ends = ({e["id"]: e for e in events if e["ph"] == phase} for phase in "sf")
            self.assertEqual(len(begins), 2)
            for name, begin in begins.items():
                self.assertLessEqual(begin["ts"], ends[name]["ts"])
            code, out, err = self.ask("trace", hosts(workers), "--for=1", "--file=" + trace, "-o=json")
            self.assertEqual(code, 0, err)
            offsets = [host["clock_offset_us"] / 1e6 for host in json.loads(out)["hosts"]]
            right = OFFSETS if workers is self.orders[0] else OFFSETS[::-1]
            for offset, seconds in zip(offsets, right):
                self.assertAlmostEqual(offset, -seconds, delta=1)


if __name__ == "__main__":
    main()
