#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A worker among clients that mean harm (hostile.py), and among more honest ones than it has
descriptors for: it serves on, within bounds.

Usage: strangers_test.py TFRT TFRT_WORKER
"""

import os
import resource
import threading
import unittest

import hostile
from cluster import ClusterTest, hosts, main

IS_SANITIZED = "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ

# An attack may cost a worker so much, in KiB.
MAX_COST_KIB = 64 << 10

# Calls host 1 ten thousand times, each with what the one before gave.
CALLS = """func.func @next(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %y = tfrt.add.i32 %x, %one
  tfrt.return %y : i32
}
func.func @main() -> i32 {
  %count = tfrt.constant.i32 10000
  %zero = tfrt.constant.i32 0
  %r = tfrt.repeat.i32 %count, %zero : i32 {
    %y = tfrt.call @next(%zero) {host = 1 : i32} : (i32) -> i32
    tfrt.return %y : i32
  }
  tfrt.return %r : i32
}
"""

SUM = """func.func @main() -> i32 {
  %a = tfrt.constant.i32 40
  %b = tfrt.constant.i32 2
  %sum = tfrt.add.i32 %a, %b
  tfrt.return %sum : i32
}
"""


def address_of(worker):
    host, port = worker.address.rsplit(":", 1)
    return host, int(port)


def most_memory(worker):
    """The most memory that the process has held, in KiB."""
    with open("/proc/%d/status" % worker.pid, encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


class StrangersTest(ClusterTest):
    def limit_descriptors(self, worker, count):
        resource.prlimit(worker.pid, resource.RLIMIT_NOFILE, (count, count))

    def test_streams_that_are_reset_at_once_cost_little_and_no_job(self):
        workers = self.start_workers(2)
        program = self.write("calls.mlir", CALLS)
        self.expect(self.run_tfrt(program, hosts(workers)), 0)
        before = most_memory(workers[1])
        process = self.start(program, hosts(workers))
        self.assertGreater(hostile.rapid_reset(address_of(workers[1]), 3, 4), 0)
        self.expect(self.finish(process), 0)
        cost = most_memory(workers[1]) - before
        if not IS_SANITIZED:
            self.assertLess(cost, MAX_COST_KIB)
        self.expect(self.run_tfrt(program, hosts(workers)), 0)

    def test_connections_that_say_nothing_make_room(self):
        worker = self.start_worker()
        self.limit_descriptors(worker, 128)
        streams = hostile.open_idle(address_of(worker), 200)
        for stream in streams:
            self.addCleanup(stream.close)
        program = self.write("sum.mlir", SUM)
        self.expect(self.run_tfrt(program, hosts([worker])), 0, "'main' returned 42\n")
        for stream in streams:
            stream.close()
        self.assertGreater(len(streams), 100)
        self.expect(self.run_tfrt(program, hosts([worker])), 0, "'main' returned 42\n")
        self.assertIsNone(worker.poll())

    @unittest.skipIf(IS_SANITIZED, "a sanitizer wants descriptors of its own")
    def test_more_clients_than_descriptors_are_served_in_turn(self):
        worker = self.start_worker()
        self.limit_descriptors(worker, 48)
        program = self.write("sum.mlir", SUM)
        results = []
        threads = [
            threading.Thread(
                target=lambda: results.append(self.run_tfrt(program, hosts([worker])))
            )
            for _ in range(60)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in results:
            self.expect(result, 0, "'main' returned 42\n")
        self.assertEqual(len(results), 60)
        self.assertIsNone(worker.poll())


if __name__ == "__main__":
    main()
