#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Peers that mean harm: each attack costs the worker bounded memory, and nothing of it is left; an
honest program that comes then gets its result.

Usage: hostile_test.py TFRT TFRT_WORKER [--seconds=N] PROTO_FILE...
"""

import os
import socket
import subprocess
import sys
import tempfile
import time

SECONDS = 2.0
PROTO_FILES = []
for argument in sys.argv[3:]:
    if argument.startswith("--seconds="):
        SECONDS = float(argument.split("=")[1])
    else:
        PROTO_FILES.append(argument)
del sys.argv[3:]
STUBS = tempfile.TemporaryDirectory()
subprocess.run(["protoc", "-I.", "--python_out=" + STUBS.name, *PROTO_FILES], check=True)
sys.path[:0] = [STUBS.name, "tests/integration"]

import hostile  # pylint: disable=wrong-import-position
import hostile_peer  # pylint: disable=wrong-import-position
from cluster import ClusterTest, hosts, main  # pylint: disable=wrong-import-position
from proto import batch_pb2 as batch  # pylint: disable=wrong-import-position
from proto import job_pb2 as job  # pylint: disable=wrong-import-position
from proto import object_pb2 as objects  # pylint: disable=wrong-import-position

IS_SANITIZED = "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ
MAX_COST_KIB = 64 << 10
STATUS = hostile_peer.STATUS

SUM = """func.func @main() -> i32 {
  %a = tfrt.constant.i32 40
  %b = tfrt.constant.i32 2
  %sum = tfrt.add.i32 %a, %b
  tfrt.return %sum : i32
}
"""


def most_memory(worker):
    with open("/proc/%d/status" % worker.pid, encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


class HostileTest(ClusterTest):
    def setUp(self):
        super().setUp()
        self.worker = self.start_worker("--silence-ms=2000", "--heartbeat-ms=200")
        self.program = self.write("sum.mlir", SUM)
        self.expect_service()
        self.before = most_memory(self.worker)
        self.end = time.monotonic() + SECONDS

    def tearDown(self):
        """The worker has paid little, has nothing left, and serves."""
        self.expect_idle([self.worker])
        cost = most_memory(self.worker) - self.before
        self.expect_service()
        took = time.monotonic() - self.end + SECONDS
        print("%s: %d KiB, %.1f s" % (self.id().split(".")[-1], cost, took), file=sys.stderr)
        if not IS_SANITIZED:
            self.assertLess(cost, MAX_COST_KIB)

    def expect_service(self):
        self.expect(self.run_tfrt(self.program, hosts([self.worker])), 0, "'main' returned 42\n")

    def peer(self, **options):
        peer = hostile_peer.Peer(self.worker.address, **options)
        self.addCleanup(peer.leave)
        return peer

    def address(self):
        host, port = self.worker.address.rsplit(":", 1)
        return host, int(port)

    def test_rapid_reset(self):
        self.assertGreater(hostile.rapid_reset(self.address(), SECONDS, 3), 0)

    def test_slow_frames(self):
        """A hundred streams whose headers come a byte at a time, and none of which ever says Hello."""
        block = hostile.header_block(hostile.CONTROL)
        head = hostile.frame(hostile.HEADERS, hostile.END_HEADERS, 1, block)
        data = hostile.PREFACE + hostile.frame(hostile.SETTINGS, 0, 0, b"") + head
        # A message of a megabyte begins, and does not come.
        data += hostile.frame(0, 0, 1, b"\0\0\x10\0\0" + b"x" * 64)
        streams = []
        for _ in range(100):
            stream = socket.create_connection(self.address(), timeout=5)
            self.addCleanup(stream.close)
            streams.append(stream)
        for position in range(len(data)):
            for stream in list(streams):
                try:
                    stream.sendall(data[position : position + 1])
                except OSError:
                    streams.remove(stream)
            if time.monotonic() > self.end:
                break
        self.expect_service()
        for stream in streams:
            stream.close()

    def test_never_acknowledges(self):
        self.assertGreater(hostile_peer.never_acknowledge(self.worker.address, self.end), 0)

    def test_cycles(self):
        """In jobs none of which is closed."""
        peer = self.peer()
        hostile_peer.make_cycles(peer, 100, False)
        peer.leave()

    def test_cycles_in_jobs_that_are_closed(self):
        """Nothing is left while the session goes on."""
        peer = self.peer()
        hostile_peer.make_cycles(peer, 50, True)
        self.expect_idle([self.worker])
        self.assertFalse(peer.over.is_set(), peer.ending)
        peer.leave()

    def test_references_of_every_kind(self):
        peer = self.peer()
        hostile_peer.make_references(peer)
        peer.leave()

    def test_replayed_handshakes(self):
        self.assertGreater(hostile_peer.replay_handshakes(self.worker.address, self.end), 5)

    def test_huge_counts(self):
        """Numbers at the ends of what their fields hold. Each ends at most its own session."""
        ranges = [objects.ObjectRange(namer=1, first_number=n, number_count=2**32 - 1, first_index=i,
                                      index_count=2**32 - 1)
                  for n in (0, 2**64 - 1) for i in (0, 2**32 - 1)]
        many = job.View(epoch=2**32 - 1, members=[job.Member(rank=n, incarnation=n + 1)
                                                  for n in range(5000)])
        attacks = [
            lambda p: p.send(batch.FRAME_RELEASE, objects.Release(ranges=ranges)),
            lambda p: p.send(batch.FRAME_RELEASE, objects.Release(ranges=ranges[:1] * 1024)),
            lambda p: p.send(batch.FRAME_WANT, objects.Want(want=2**64 - 1)),
            lambda p: p.send(batch.FRAME_WANT, objects.Want(want=1, window=2**64 - 1,
                                                            offset=2**64 - 1)),
            lambda p: p.send(batch.FRAME_UNWANT, objects.Unwant(want=2**64 - 1)),
            lambda p: p.send(batch.FRAME_JOB_OPEN, job.JobOpen(
                job_id=b"x" * 16, key=p.job_key, view=many, root=2**32 - 1), 2),
            lambda p: p.invoke(2**48, STATUS),
            lambda p: p.invoke(2**64 - 1, STATUS),
            lambda p: p.invoke(1, 2**32 - 1),
            lambda p: p.invoke(1, STATUS, depth=2**32 - 1),
            lambda p: p.send(batch.FRAME_INVOKE, b"\xff" * 1000),
            lambda p: p.put([batch.Frame(kind=2**32 - 1)]),
            lambda p: p.put([batch.Frame(kind=batch.FRAME_INVOKE)] * 10000),
            lambda p: p.put([], first_seq=0, ack=2**64 - 1),
            lambda p: p.put([batch.Frame(kind=batch.FRAME_INVOKE)], first_seq=2**64 - 1),
            lambda p: p.put([], first_seq=0, call_limit=2**64 - 1, want_limit=2**64 - 1),
            lambda p: p.put([batch.Frame(kind=batch.FRAME_INVOKE, job=1, body=b"\0" * (3 << 20))]),
            lambda p: p.put([batch.Frame(kind=batch.FRAME_INVOKE, job=1, budget_us=2**64 - 1)],
                            age_us=2**64 - 1),
        ]
        for attack in attacks:
            peer = self.peer()
            peer.open_job()
            attack(peer)
            self.expect_service()
            peer.leave()

    def test_huge_hello(self):
        for hello in ({"name": "x" * 65536}, {"version_max": 2**32 - 1, "version_min": 2**32 - 1},
                      {"session": 0}, {"connection": 0}, {"next_call": 2**64 - 1},
                      {"features": 2**64 - 1}, {"incarnation": 0}):
            self.peer(hello=hello).leave()


if __name__ == "__main__":
    main()
