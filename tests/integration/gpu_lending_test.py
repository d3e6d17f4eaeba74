#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tensors of GPUs between real workers of one machine, over the fake driver: their memory is lent, and
no payload is sent.

Usage: gpu_lending_test.py TFRT TFRT_WORKER DRIVER
"""

import os
import signal
import sys
import time

from cluster import PATIENCE_S, ClusterTest, hosts, main, strike

SIZE = 1 << 20

# Host 0 makes a tensor; host @USER@ uses it @USES@ times, each time with a copy of its own, and adds
# its first and last number.
PROGRAM = """func.func @main() -> i32 {
  %ch0 = tfrt.new.chain
  %t0, %ch1 = tfrt.call @make(%ch0) {host = 0 : i32, device = "cuda:0"} : (!tfrt.chain) -> (!tfrt_gpu.tensor, !tfrt.chain)
@MOVES@
  %zero = tfrt.constant.i32 0
  %true = tfrt.constant.i1 1
  %r:3 = tfrt.while %true @turn(%zero, %t@LAST@, %ch1) parallel_iterations(1) : (i32, !tfrt_gpu.tensor, !tfrt.chain) -> (i32, !tfrt_gpu.tensor, !tfrt.chain)
  tfrt.return %r#0 : i32
}
func.func @turn(%v: i32, %t: !tfrt_gpu.tensor, %ch: !tfrt.chain) -> (i32, !tfrt_gpu.tensor, !tfrt.chain, i1) {
  %limit = tfrt.constant.i32 @LIMIT@
  %w = tfrt.call @use(%v, %t, %ch) {host = @USER@ : i32, device = "@DEVICE@"} : (i32, !tfrt_gpu.tensor, !tfrt.chain) -> (i32)
  %again = "tfrt.lessequal.i32"(%w, %limit) : (i32, i32) -> (i1)
  tfrt.return %w, %t, %ch, %again : i32, !tfrt_gpu.tensor, !tfrt.chain, i1
}
func.func @make(%ch0: !tfrt.chain) -> (!tfrt_gpu.tensor, !tfrt.chain) {
  %device = tfrt_gpu.device.current
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %size = tfrt.constant.i64 @SIZE@
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %number = tfrt.constant.i32 7
  %ch1 = tfrt_gpu.mem.set %buffer, %number, %stream, %ch0 : !tfrt_gpu.buffer, i32
  %shape = ts.build_shape [@COUNT@ : i64]
  %t = tfrt_gpu.tensor.make.i32 %buffer, %shape, %ch1
  tfrt.return %t, %ch1 : !tfrt_gpu.tensor, !tfrt.chain
}
func.func @copy(%t: !tfrt_gpu.tensor, %ch0: !tfrt.chain) -> !tfrt_gpu.tensor {
  %device = tfrt_gpu.device.current
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %size = tfrt.constant.i64 @SIZE@
  %from = tfrt_gpu.tensor.get_buffer %t
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %ch1 = tfrt_gpu.mem.copy %buffer, %from, %stream, %ch0 : !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %shape = ts.build_shape [@COUNT@ : i64]
  %u = tfrt_gpu.tensor.make.i32 %buffer, %shape, %ch1
  tfrt.return %u : !tfrt_gpu.tensor
}
func.func @use(%v: i32, %t: !tfrt_gpu.tensor, %ch0: !tfrt.chain) -> i32 {
  %device = tfrt_gpu.device.current
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %buffer = tfrt_gpu.tensor.get_buffer %t
  %zero = tfrt.constant.ui64 0
  %offset = tfrt.constant.ui64 @END@
  %four = tfrt.constant.ui64 4
  %first = tfrt_gpu.mem.view %buffer, %zero, %four
  %last = tfrt_gpu.mem.view %buffer, %offset, %four
  %size = tfrt.constant.i64 4
  %a = tfrt_gpu.mem.allocate_host %context, %size, %ch0
  %b = tfrt_gpu.mem.allocate_host %context, %size, %ch0
  %ch1 = tfrt_gpu.mem.copy %a, %first, %stream, %ch0 : !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch2 = tfrt_gpu.mem.copy %b, %last, %stream, %ch1 : !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch3 = tfrt_gpu.stream.synchronize %stream, %ch2
  %m = tfrt_gpu.mem.load %a, %ch3 : i32
  %n = tfrt_gpu.mem.load %b, %ch3 : i32
  %x = tfrt.add.i32 %v, %m
  %w = tfrt.add.i32 %x, %n
  tfrt.return %w : i32
}
"""

MOVE = (
    '  %t@TO@ = tfrt.call @copy(%t@FROM@, %ch1) {host = @TO@ : i32, device = "cuda:0"} : '
    "(!tfrt_gpu.tensor, !tfrt.chain) -> !tfrt_gpu.tensor"
)


def program(uses, user=1, device="cuda:0", moves=0):
    """The tensor goes from host 0 over hosts 1 to `moves`, then to `user`."""
    calls = [MOVE.replace("@TO@", str(i)).replace("@FROM@", str(i - 1)) for i in range(1, moves + 1)]
    text = PROGRAM.replace("@MOVES@", "\n".join(calls)).replace("@LAST@", str(moves))
    text = text.replace("@LIMIT@", str(14 * (uses - 1))).replace("@USER@", str(user))
    text = text.replace("@DEVICE@", device).replace("@SIZE@", str(SIZE))
    return text.replace("@COUNT@", str(SIZE // 4)).replace("@END@", str(SIZE - 4))


def descriptors(worker):
    return len(os.listdir("/proc/%d/fd" % worker.pid))


class GpuLendingTest(ClusterTest):
    """Each worker opens what the system offers under the driver's name: the fake one."""

    def setUp(self):
        super().setUp()
        os.symlink(os.path.abspath(DRIVER), os.path.join(self.folder, "libcuda.so.1"))
        self.environment["LD_LIBRARY_PATH"] = self.folder

    def crossed(self, workers, kind):
        """The payloads that the workers have `kind`, in bytes, by rank."""
        return [
            sum(peer["payload_bytes_" + kind] for peer in status["peers"])
            for status in self.status(workers)
        ]

    def run_program(self, workers, uses, **where):
        path = self.write("lending.mlir", program(uses, **where))
        return self.run_tfrt(path, hosts(workers))

    def expect_sum(self, result, uses):
        self.expect(result, 0, out="'main' returned %d\n" % (14 * uses))

    def test_nothing_is_sent_between_gpus_of_one_machine(self):
        workers = self.start_workers(2)
        self.expect_sum(self.run_program(workers, 3), 3)
        self.assertEqual(self.crossed(workers, "borrowed"), [0, 3 * SIZE])
        self.expect_sum(self.run_program(workers, 2, device="cuda:1"), 2)
        self.assertEqual(self.crossed(workers, "sent"), [0, 0])
        self.assertEqual(self.crossed(workers, "received"), [0, 0])
        self.expect_idle(workers)

    def test_from_host_to_host_to_host(self):
        workers = self.start_workers(3)
        self.expect_sum(self.run_program(workers, 2, user=2, moves=1), 2)
        self.assertEqual(self.crossed(workers, "borrowed"), [0, SIZE, 2 * SIZE])
        # Host 0, whose loop passes the tensor on, has it in the memory of the host.
        self.assertEqual(self.crossed(workers, "received")[1:], [0, 0])
        self.expect_idle(workers)

    def test_a_host_that_needs_it_elsewhere_is_sent_it(self):
        workers = self.start_workers(2)
        self.expect_sum(self.run_program(workers, 2, device="cpu:0"), 2)
        self.assertEqual(self.crossed(workers, "borrowed"), [0, 0])
        self.assertEqual(self.crossed(workers, "received"), [0, 2 * SIZE])

    def test_a_worker_that_lends_nothing_sends(self):
        workers = [self.start_worker("--lend-memory=false"), self.start_worker()]
        self.expect_sum(self.run_program(workers, 2), 2)
        self.assertEqual(self.crossed(workers, "borrowed"), [0, 0])
        self.assertEqual(self.crossed(workers, "received"), [0, 2 * SIZE])

    def test_many_uses_leave_no_descriptor(self):
        workers = self.start_workers(2)
        self.expect_sum(self.run_program(workers, 5), 5)
        self.expect_idle(workers)
        before = [descriptors(worker) for worker in workers]
        self.expect_sum(self.run_program(workers, 200), 200)
        self.expect_idle(workers)
        self.assertEqual([descriptors(worker) for worker in workers], before)
        self.assertEqual(self.crossed(workers, "sent"), [0, 0])

    def kill_amid(self, workers, rank):
        """Kills host `rank` when some tensors have crossed and more are on their way."""
        path = self.write("lending.mlir", program(1000000))
        process = self.start(path, hosts(workers))
        end = time.monotonic() + PATIENCE_S
        while self.crossed(workers, "borrowed")[1] < 5 * SIZE:
            self.assertLess(time.monotonic(), end)
            self.assertIsNone(process.poll())
        strike(workers[rank], signal.SIGKILL)
        code, _, err = self.finish(process)
        self.assertEqual(code, 4, err)
        self.assertIn("host %d" % rank, err)

    def test_a_borrower_that_is_killed_harms_nobody(self):
        workers = self.start_workers(2)
        self.kill_amid(workers, 1)
        self.expect_idle(workers[:1])
        workers[1] = self.start_worker()
        self.expect_sum(self.run_program(workers, 3), 3)
        self.assertEqual(self.crossed(workers, "sent")[0], 0)

    def test_a_lender_that_is_killed_harms_nobody(self):
        workers = self.start_workers(2)
        self.kill_amid(workers, 0)
        self.expect_idle(workers[1:])
        workers[0] = self.start_worker()
        self.expect_sum(self.run_program(workers, 3), 3)
        self.assertEqual(self.crossed(workers, "sent")[0], 0)


if __name__ == "__main__":
    DRIVER = sys.argv[3]
    main()
