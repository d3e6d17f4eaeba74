#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Asynchronous programs whose regions and functions run on other hosts.

Usage: async_hosts_test.py TFRT TFRT_WORKER PROGRAM.mlir
"""

import signal
import sys

from cluster import ClusterTest, hosts, main

PROGRAM = sys.argv[3]
# A value whose region fails on host 1 is awaited on host 2.
FAILS = """func.func @main() -> i64 {
  %false = arith.constant false
  %t, %v = async.execute -> !async.value<i64> attributes {host = 1 : i32} {
    cf.assert %false, "on host 1"
    %c = arith.constant 1 : i64
    async.yield %c : i64
  }
  %u, %w = async.execute -> !async.value<i64> attributes {host = 2 : i32} {
    %x = async.await %v : !async.value<i64>
    async.yield %x : i64
  }
  %r = async.await %w : !async.value<i64>
  return %r : i64
}
"""
# The region on host 1 says that it runs, then turns for ever; the others are done.
ENDLESS = """func.func @main() -> i64 {
  %true = arith.constant true
  %c7 = arith.constant 7 : i64
  %u, %w = async.execute -> !async.value<i64> attributes {host = 2 : i32} {
    async.yield %c7 : i64
  }
  %x = async.await %w : !async.value<i64>
  %t, %v = async.execute -> !async.value<i64> attributes {host = 1 : i32} {
    vector.print %x : i64
    %end = scf.while (%a = %x) : (i64) -> i64 {
      scf.condition(%true) %a : i64
    } do {
    ^bb0(%b: i64):
      scf.yield %b : i64
    }
    async.yield %end : i64
  }
  %r = async.await %v : !async.value<i64>
  return %r : i64
}
"""
# The same in a function on host 1 that a call starts; a region on host 2 waits for its value.
ENDLESS_CALL = """async.func @turns(%a: i64) -> !async.value<i64> {
  vector.print %a : i64
  cf.br ^turn(%a : i64)
^turn(%i: i64):
  cf.br ^turn(%i : i64)
}
func.func @main() -> i64 {
  %c7 = arith.constant 7 : i64
  %v = async.call @turns(%c7) {host = 1 : i32} : (i64) -> !async.value<i64>
  %t, %w = async.execute -> !async.value<i64> attributes {host = 2 : i32} {
    %x = async.await %v : !async.value<i64>
    async.yield %x : i64
  }
  %r = async.await %w : !async.value<i64>
  return %r : i64
}
"""


class AsyncHostsTest(ClusterTest):
    def outcome(self, path, *flags):
        """Exit code, output and first line of what went wrong."""
        code, out, err = self.run_tfrt(path, *flags)
        return code, out.splitlines(), err.splitlines()[:1]

    def test_regions_and_functions_run_where_they_say(self):
        expected = ["[2] 10", "[1] 10", "35", "13", "1", "'main' returned 35"]
        for flag in ("--local=3", "--in-process=3"):
            with self.subTest(flag):
                self.assertEqual(self.outcome(PROGRAM, flag), (0, expected, []))
        self.expect_nothing_left()

    def test_an_error_crosses_hosts_with_its_place(self):
        path = self.write("fails.mlir", FAILS)
        code, out, err = self.outcome(path, "--local=3")
        self.assertEqual((code, out), (1, ["'main' returned <<error: on host 1>>"]))
        self.assertIn("on host 1", err[0])
        self.assertIn("fails.mlir:4:", err[0])
        self.expect_nothing_left()

    def test_a_killed_host_fails_the_region_that_it_runs(self):
        path = self.write("endless.mlir", ENDLESS)
        workers = [self.start_worker() for _ in range(3)]
        process = self.start(path, hosts(workers))
        self.assertIn("7", process.stdout.readline())
        workers[1].kill()
        code, _, err = self.finish(process)
        self.assertEqual(code, 4, err)
        self.assertIn("host 1", err.splitlines()[0])
        self.expect_idle([workers[0], workers[2]])

    def test_a_cancel_ends_what_runs_on_other_hosts(self):
        # In the second one the call is cancelled, and so is the region that waits for its value.
        for name, text, place in (("endless.mlir", ENDLESS, "endless.mlir:8:"),
                                  ("endless_call.mlir", ENDLESS_CALL, "endless_call.mlir:")):
            with self.subTest(name):
                workers = [self.start_worker() for _ in range(3)]
                process = self.start(self.write(name, text), hosts(workers))
                self.assertIn("7", process.stdout.readline())
                process.send_signal(signal.SIGINT)
                code, _, err = self.finish(process)
                self.assertEqual(code, 5, err)
                self.assertIn("CANCELLED", err.splitlines()[0])
                self.assertIn(place, err.splitlines()[0])
                self.expect_idle(workers)


if __name__ == "__main__":
    main()
