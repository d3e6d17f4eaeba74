#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The worker as seen by a probe: grpc.health.v1.Health, asked with stock grpcio. The messages have one
field each, which is written and read here by hand.

Usage: health_test.py TFRT TFRT_WORKER
"""

import os
import signal
import subprocess
import threading
import time

import grpc

from cluster import PATIENCE_S, ClusterTest, hosts, main

SERVING, NOT_SERVING, SERVICE_UNKNOWN = 1, 2, 3
MAX_CALLS = 256
CHECK, WATCH = "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"

# Prints, then turns for ever.
ENDLESS = """func.func @again(%x: i32) -> (i32, i1) {
  %go = tfrt.constant.i1 true
  tfrt.return %x, %go : i32, i1
}
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %go = tfrt.constant.i1 true
  %printed = tfrt.print.i32 %one, %ch
  %x = "tfrt_test.identity"(%printed, %one) : (!tfrt.chain, i32) -> i32
  %r = tfrt.while %go @again(%x) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}
"""


def request(service):
    """A HealthCheckRequest."""
    return b"\x0a" + bytes([len(service)]) + service.encode() if service else b""


def status(response):
    """The field of a HealthCheckResponse."""
    assert len(response) == 2 and response[0] == 8, response
    return response[1]


class HealthTest(ClusterTest):
    def open(self, worker):
        channel = grpc.insecure_channel(worker.address)
        self.addCleanup(channel.close)
        return channel

    def check(self, channel, message):
        return status(channel.unary_unary(CHECK)(message, timeout=PATIENCE_S))

    def code(self, channel, message):
        with self.assertRaises(grpc.RpcError) as raised:
            self.check(channel, message)
        return raised.exception.code()

    def test_a_worker_serves(self):
        key = self.write("key", "a secret of the cluster\n")
        os.chmod(key, 0o600)
        channel = self.open(self.start_worker("--cluster-key-file=" + key))
        for _ in range(20):
            self.assertEqual(self.check(channel, request("")), SERVING)
            self.assertEqual(self.check(channel, request("tfrt.peer.v1.Peer")), SERVING)

    def test_what_is_not_here_is_said(self):
        channel = self.open(self.start_worker())
        self.assertEqual(self.code(channel, request("another")), grpc.StatusCode.NOT_FOUND)
        watch = channel.unary_stream(WATCH)(request("another"), timeout=PATIENCE_S)
        self.assertEqual(status(next(watch)), SERVICE_UNKNOWN)
        watch.cancel()

    def test_what_is_no_request_is_refused(self):
        channel = self.open(self.start_worker())
        bad = (
            b"\x0a",
            b"\x0a\x05abc",
            b"\x0b",
            b"\x80",
            b"\xff" * 11,
            b"\x0a\xff\xff\xff\xff\x0f",
            b"\x0a\x00" * 600,
        )
        for message in bad:
            self.assertEqual(self.code(channel, message), grpc.StatusCode.INVALID_ARGUMENT, message)
        # Fields that are not known are passed over.
        self.assertEqual(self.check(channel, b"\x10\x07\x19" + b"\0" * 8 + b"\x22\x01x"), SERVING)

    def test_a_watcher_hears_of_the_drain_and_of_the_end(self):
        worker = self.start_worker()
        process = self.start(self.write("endless.mlir", ENDLESS), hosts([worker]))
        self.assertIn("int32 = 1", process.stdout.readline())
        channel = self.open(worker)
        watches = [channel.unary_stream(WATCH)(request(""), timeout=PATIENCE_S) for _ in range(3)]
        for watch in watches:
            self.assertEqual(status(next(watch)), SERVING)
        watches[0].cancel()
        subprocess.run([self.tfrt, "drain", worker.address], stdout=subprocess.PIPE, check=True)
        for watch in watches[1:]:
            self.assertEqual(status(next(watch)), NOT_SERVING)
        self.assertEqual(self.check(channel, request("")), NOT_SERVING)
        process.send_signal(signal.SIGINT)
        self.expect(self.finish(process), 5)
        for watch in watches[1:]:
            with self.assertRaises(grpc.RpcError):
                next(watch)
        self.assertEqual(worker.wait(timeout=PATIENCE_S), 0)

    def test_calls_that_stay_open_are_limited(self):
        channel = self.open(self.start_worker())
        watches = [
            channel.unary_stream(WATCH)(request(""), timeout=4 * PATIENCE_S)
            for _ in range(MAX_CALLS)
        ]
        for watch in watches:
            self.assertEqual(status(next(watch)), SERVING)
        self.assertEqual(self.code(channel, request("")), grpc.StatusCode.RESOURCE_EXHAUSTED)
        with self.assertRaises(grpc.RpcError) as raised:
            next(channel.unary_stream(WATCH)(request(""), timeout=PATIENCE_S))
        self.assertEqual(raised.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        # Soon after one has gone there is room again; the others are as they were.
        watches.pop().cancel()
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.assertEqual(self.check(channel, request("")), SERVING)
                break
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
            self.assertLess(time.monotonic(), end)
        self.assertTrue(all(watch.is_active() for watch in watches))
        for watch in watches:
            watch.cancel()

    def test_a_call_whose_request_does_not_come_ends(self):
        channel = self.open(self.start_worker())
        watch = channel.unary_stream(WATCH)(request(""), timeout=4 * PATIENCE_S)
        self.assertEqual(status(next(watch)), SERVING)
        over = threading.Event()
        self.addCleanup(over.set)

        def nothing():
            over.wait()
            yield from ()

        calls = [
            channel.stream_stream(method)(nothing(), timeout=PATIENCE_S)
            for method in (CHECK, WATCH)
        ]
        for call in calls:
            with self.assertRaises(grpc.RpcError) as raised:
                next(call)
            self.assertEqual(raised.exception.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
            self.assertIn("no HealthCheckRequest came", raised.exception.details())
        # A call whose request came may stay.
        self.assertTrue(watch.is_active())
        watch.cancel()

    def test_many_probes_come_and_go(self):
        worker = self.start_worker()
        failures = []

        def probe():
            channel = grpc.insecure_channel(
                worker.address, options=[("grpc.use_local_subchannel_pool", 1)]
            )
            for turn in range(20):
                if self.check(channel, request("")) != SERVING:
                    failures.append(turn)
                watch = channel.unary_stream(WATCH)(request(""), timeout=PATIENCE_S)
                if turn % 2 and status(next(watch)) != SERVING:
                    failures.append(turn)
                watch.cancel()
            channel.close()

        threads = [threading.Thread(target=probe) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.expect_idle([worker])
        worker.terminate()
        self.assertEqual(worker.wait(timeout=PATIENCE_S), 0)


if __name__ == "__main__":
    main()
