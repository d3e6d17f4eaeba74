#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What hosts do together, between real processes.

Usage: collectives_test.py TFRT TFRT_WORKER REGRESSION.mlir
"""

import json
import os
import re
import signal
import sys

from cluster import ClusterTest, hosts, main

REGRESSION = sys.argv[3]

# Each host has @N@ rows, other ones than its neighbour, and prints some of every result.
LARGE = """func.func @part(%ch: !tfrt.chain) -> !tfrt.chain {
  %me = tfrt_dist.rank
  %g = tfrt_dist.world
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [@N@ : i64, 3 : i64]
  %c0 = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch 0.1 : f32
  %factor = tfrt.call @factor(%me) : (i32) -> f32
  %x = tfrt.call @scaled(%t, %factor, %c0) : (!tfrt_tensor.tensor, f32, !tfrt.chain) -> !tfrt_tensor.tensor
  %a, %c1 = tfrt_dist.all_reduce %g, %x, %ch {reduction = "mean"}
  %p1 = tfrt_dht.print_tensor %a, %c1
  %b, %c2 = tfrt_dist.reduce_scatter %g, %x, %p1 {reduction = "prod"}
  %p2 = tfrt_dht.print_tensor %b, %c2
  %d, %c3 = tfrt_dist.all_gather %g, %b, %p2
  %s = tfrt_tensor.sum %d axis 0
  %p3 = tfrt_dht.print_tensor %s, %c3
  %e, %c4 = tfrt_dist.all_to_all %g, %x, %p3
  %u = tfrt_tensor.sum %e axis 0
  %p4 = tfrt_dht.print_tensor %u, %c4
  %f, %c5 = tfrt_dist.broadcast %g, %x, %p4 {root = 1 : i32}
  %p5 = tfrt_dht.print_tensor %f, %c5
  %h, %c6 = tfrt_dist.reduce %g, %x, %p5 {reduction = "max", root = 1 : i32}
  %p6 = tfrt_dht.print_tensor %h, %c6
  tfrt.return %p6 : !tfrt.chain
}
func.func @factor(%me: i32) -> f32 {
  %one = tfrt.constant.f32 1.1
  %two = tfrt.constant.f32 2.3
  %first:2 = tfrt.repeat.i32 %me, %one, %two : f32, f32 {
    %next = "tfrt.multiply.f32"(%one, %two) : (f32, f32) -> f32
    tfrt.return %next, %two : f32, f32
  }
  tfrt.return %first#0 : f32
}
func.func @scaled(%t: !tfrt_tensor.tensor, %factor: f32, %ch: !tfrt.chain) -> !tfrt_tensor.tensor {
  %u = "tfrt_test.identity"(%ch, %t) : (!tfrt.chain, !tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  %x = tfrt_tensor.scale %u, %factor
  tfrt.return %x : !tfrt_tensor.tensor
}
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %l = tfrt_dist.call_all @part(%ch) : (!tfrt.chain) -> (!tfrt_dist.list)
  %n = tfrt_dist.list.size %l
  tfrt.return %n : i32
}
"""

# All reduce until somebody ends it; each says when it begins.
FOREVER = """func.func @part(%ch: !tfrt.chain) -> i32 {
  %me = tfrt_dist.rank
  %g = tfrt_dist.world
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [@N@ : i64]
  %c0 = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch 1.0 : f32
  %c1 = tfrt_dist.barrier %g, %c0
  %p = tfrt.print.i32 %me, %c1
  %count = tfrt.constant.i32 2000
  %r:3 = tfrt.repeat.i32 %count, %g, %t, %p : !tfrt_dist.group, !tfrt_tensor.tensor, !tfrt.chain {
    %s, %c = tfrt_dist.all_reduce %g, %t, %p {reduction = "max"}
    tfrt.return %g, %s, %c : !tfrt_dist.group, !tfrt_tensor.tensor, !tfrt.chain
  }
  %done = "tfrt_test.identity"(%r#2, %me) : (!tfrt.chain, i32) -> i32
  tfrt.return %done : i32
}
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %l = tfrt_dist.call_all @part(%ch) : (!tfrt.chain) -> (!tfrt_dist.list)
  %s = tfrt_dist.list.sum %l : i32
  tfrt.return %s : i32
}
"""

# Hosts 0, 1 and 3 add up tensors of their devices, or would: host 2 never begins. Each says when it
# comes to that; what host @FIRST@ gives is the first result.
ON_DEVICES = """func.func @make(%ch: !tfrt.chain) -> (!tfrt_gpu.tensor, !tfrt.chain) {
  %device = tfrt_gpu.device.current
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %size = tfrt.constant.i64 4000000
  %one = tfrt.constant.i32 1
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch
  %c0 = tfrt_gpu.mem.set %buffer, %one, %stream, %ch : !tfrt_gpu.buffer, i32
  %shape = ts.build_shape [1000000 : i64]
  %tensor = tfrt_gpu.tensor.make.i32 %buffer, %shape, %c0
  tfrt.return %tensor, %c0 : !tfrt_gpu.tensor, !tfrt.chain
}
func.func @join(%ch: !tfrt.chain) -> !tfrt_gpu.tensor {
  %me = tfrt_dist.rank
  %g = tfrt_dist.world
  %own, %c0 = tfrt.call @make(%ch) : (!tfrt.chain) -> (!tfrt_gpu.tensor, !tfrt.chain)
  %c1 = tfrt_dist.barrier %g, %c0
  %c2 = tfrt.print.i32 %me, %c1
  %sum, %c3 = tfrt_dist.all_reduce %g, %own, %c2 {reduction = "sum"}
  tfrt.return %sum : !tfrt_gpu.tensor
}
func.func @stay_away(%ch: !tfrt.chain) -> !tfrt_gpu.tensor {
  %me = tfrt_dist.rank
  %g = tfrt_dist.world
  %c0 = tfrt_dist.barrier %g, %ch
  %c1 = tfrt.print.i32 %me, %c0
  %self = tfrt_dist.host %me
  %never = tfrt_dist.key "never"
  %x, %c2 = tfrt_dist.recv %self, %never, %c1 : !tfrt_gpu.tensor
  tfrt.return %x : !tfrt_gpu.tensor
}
func.func @main() -> (!tfrt_gpu.tensor, !tfrt_gpu.tensor, !tfrt_gpu.tensor, !tfrt_gpu.tensor, !tfrt_gpu.tensor) {
  %ch = tfrt.new.chain
  %r0 = tfrt.call @join(%ch) {host = 0 : i32, device = "cpu:0"} : (!tfrt.chain) -> !tfrt_gpu.tensor
  %r1 = tfrt.call @join(%ch) {host = 1 : i32, device = "cpu:0"} : (!tfrt.chain) -> !tfrt_gpu.tensor
  %r2 = tfrt.call @stay_away(%ch) {host = 2 : i32} : (!tfrt.chain) -> !tfrt_gpu.tensor
  %r3 = tfrt.call @join(%ch) {host = 3 : i32, device = "cpu:0"} : (!tfrt.chain) -> !tfrt_gpu.tensor
  tfrt.return %r@FIRST@, %r0, %r1, %r2, %r3 : !tfrt_gpu.tensor, !tfrt_gpu.tensor, !tfrt_gpu.tensor, !tfrt_gpu.tensor, !tfrt_gpu.tensor
}
"""

# Four that nothing orders: each begins when its operand is there, which is another one first on each host.
UNORDERED = """func.func @same(%t: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %u = tfrt_tensor.concat %t, %t
  tfrt.return %u : !tfrt_tensor.tensor
}
func.func @part(%ch: !tfrt.chain) -> i32 {
  %g = tfrt_dist.world
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [30000 : i64]
  %c = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch 0.5 : f32
  %own = "tfrt_test.identity"(%c, %t) : (!tfrt.chain, !tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  %x0 = tfrt.call @same(%own) {host = 0 : i32} : (!tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  %x1 = tfrt.call @same(%own) {host = 1 : i32} : (!tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  %x2 = tfrt.call @same(%own) {host = 2 : i32} : (!tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  %x3 = tfrt.call @same(%own) {host = 3 : i32} : (!tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  %a0, %c0 = tfrt_dist.all_gather %g, %x0, %ch
  %a1, %c1 = tfrt_dist.all_gather %g, %x1, %ch
  %a2, %c2 = tfrt_dist.all_gather %g, %x2, %ch
  %a3, %c3 = tfrt_dist.all_gather %g, %x3, %ch
  %all = tfrt.merge.chains %c0, %c1, %c2, %c3 : !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain
  %one = tfrt.constant.i32 1
  %r = "tfrt_test.identity"(%all, %one) : (!tfrt.chain, i32) -> i32
  tfrt.return %r : i32
}
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %l = tfrt_dist.call_all @part(%ch) : (!tfrt.chain) -> (!tfrt_dist.list)
  %s = tfrt_dist.list.sum %l : i32
  tfrt.return %s : i32
}
"""

# Host 1 meets the others, and then does @THEN@ and would meet them again; in another group they do.
CALLED_OFF = """func.func @meet(%ch: !tfrt.chain) -> !tfrt.chain {
  %g = tfrt_dist.world
  %c = tfrt_dist.barrier %g, %ch
  tfrt.return %c : !tfrt.chain
}
func.func @twice(%ch: !tfrt.chain) -> !tfrt.chain {
  %c1 = tfrt.call @meet(%ch) : (!tfrt.chain) -> !tfrt.chain
  %c2 = tfrt.call @meet(%c1) : (!tfrt.chain) -> !tfrt.chain
  tfrt.return %c2 : !tfrt.chain
}
func.func @once(%ch: !tfrt.chain) -> !tfrt.chain {
  %one = tfrt.constant.i32 1
  %c1 = tfrt.call @meet(%ch) : (!tfrt.chain) -> !tfrt.chain
  %c2 = tfrt.print.i32 %one, %c1
  %x, %c3 = @THEN@
  %go = "tfrt.lessequal.i32"(%x, %x) : (i32, i32) -> i1
  %c4 = tfrt.cond %go @meet @meet(%c3) : (!tfrt.chain) -> (!tfrt.chain)
  tfrt.return %c4 : !tfrt.chain
}
func.func @other(%ch: !tfrt.chain) -> i32 {
  %g = tfrt_dist.world {name = "other"}
  %c = tfrt_dist.barrier %g, %ch
  %seven = tfrt.constant.i32 7
  %x = "tfrt_test.identity"(%c, %seven) : (!tfrt.chain, i32) -> i32
  tfrt.return %x : i32
}
func.func @main() -> (i32, !tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %ch = tfrt.new.chain
  %l = tfrt_dist.call_all @other(%ch) : (!tfrt.chain) -> (!tfrt_dist.list)
  %s = tfrt_dist.list.sum %l : i32
  %r1 = tfrt.call @once(%ch) {host = 1 : i32@OPTIONS@} : (!tfrt.chain) -> !tfrt.chain
  %r0 = tfrt.call @twice(%ch) {host = 0 : i32} : (!tfrt.chain) -> !tfrt.chain
  %r2 = tfrt.call @twice(%ch) {host = 2 : i32} : (!tfrt.chain) -> !tfrt.chain
  tfrt.return %s, %r0, %r1, %r2 : i32, !tfrt.chain, !tfrt.chain, !tfrt.chain
}
"""
WAIT_FOR_EVER = """tfrt.call @forever(%c2) : (!tfrt.chain) -> (i32, !tfrt.chain)"""
CANCEL_ITSELF = """"tfrt_test.cancel"(%c2) : (!tfrt.chain) -> (i32, !tfrt.chain)"""
FOREVER_FUNCTION = """func.func @forever(%ch: !tfrt.chain) -> (i32, !tfrt.chain) {
  %me = tfrt_dist.rank
  %h = tfrt_dist.host %me
  %never = tfrt_dist.key "never"
  %x, %c = tfrt_dist.recv %h, %never, %ch : i32
  tfrt.return %x, %c : i32, !tfrt.chain
}
"""


class TestCollectives(ClusterTest):
    def outcome(self, path, *flags):
        code, out, err = self.run_tfrt(path, *flags)
        self.assertEqual(code, 0, err)
        return sorted(out.splitlines())

    def test_workers_give_what_one_process_does(self):
        # Some bytes, more than one message, more than a bulk channel's window, larger chunks.
        for rows, counts in (5, (2, 3, 4)), (30000, (2, 3, 4)), (400001, (2, 3, 4)), (1400001, (3,)):
            path = self.write("large.mlir", LARGE.replace("@N@", str(rows)))
            for count in counts:
                with self.subTest(rows=rows, count=count):
                    oracle = self.outcome(path, "--in-process=%d" % count)
                    self.assertEqual(len(oracle), 6 * count + 1)
                    self.assertEqual(self.outcome(path, "--local=%d" % count), oracle)
        self.expect_nothing_left()

    def test_nothing_is_left_in_workers(self):
        workers = self.start_workers(4)
        path = self.write("large.mlir", LARGE.replace("@N@", "30000"))
        for _ in range(3):
            self.outcome(path, hosts(workers))
        self.expect_idle(workers)

    def test_what_nothing_orders_is_an_error_and_no_wait(self):
        workers = self.start_workers(4)
        path = self.write("unordered.mlir", UNORDERED)
        for _ in range(5):
            for flag in (hosts(workers), "--in-process=4"):
                code, _, err = self.run_tfrt(path, flag)
                # They may have been quick enough not to overlap.
                self.assertIn(code, (0, 1), err)
                self.assertIn("order them by their chains" if code else "", err)
            self.expect_idle(workers)

    def start_forever(self, workers, size):
        path = self.write("forever.mlir", FOREVER.replace("@N@", str(size)))
        process = self.start(path, hosts(workers))
        for _ in workers:
            self.assertIn("int32 = ", process.stdout.readline())
        return process

    def test_a_lost_member_ends_it_for_all(self):
        for size in (3, 1000000, 4200000):
            for lost in (1, 3):
                with self.subTest(size=size, lost=lost):
                    workers = self.start_workers(4)
                    process = self.start_forever(workers, size)
                    workers[lost].kill()
                    code, _, err = self.finish(process)
                    self.assertEqual(code, 4, err)
                    self.assertIn("lost host %d (" % lost, err)
                    self.assertIn(workers[lost].address, err)
                    self.assertIn("forever.mlir:", err)
                    workers[lost].wait()
                    del workers[lost]
                    self.expect_idle(workers)

    def test_a_lost_member_ends_it_for_tensors_of_devices(self):
        workers = self.start_workers(4)
        for first in (0, 1, 3):
            with self.subTest(first=first):
                path = self.write("devices.mlir", ON_DEVICES.replace("@FIRST@", str(first)))
                process = self.start(path, hosts(workers))
                for _ in workers:
                    self.assertIn("int32 = ", process.stdout.readline())
                lost = workers[2]
                lost.kill()
                code, out, err = self.finish(process)
                self.assertEqual(code, 4, err)
                name = r"host 2 \([^)]*%s\)" % re.escape(lost.address)
                self.assertEqual(len(re.findall("<<error: [^>]*" + name, out)), 5, out)
                # The first host that sees it reports it to the others, so the place is that of any
                # of them, or of the call that was lost.
                op = "(join, tfrt_dist.all_reduce|main, tfrt.call)"
                place = r"in @%s, [^ ]*devices.mlir:\d+:\d+, host [013]\]" % op
                self.assertRegex(err, "%s.*%s" % (name, place))
                lost.wait()
                self.expect_idle([worker for worker in workers if worker is not lost])
                workers[2] = self.start_worker()

    def test_an_interrupt_ends_it(self):
        workers = self.start_workers(3)
        process = self.start_forever(workers, 100000)
        process.send_signal(signal.SIGINT)
        code, _, err = self.finish(process)
        self.assertEqual(code, 5, err)
        self.expect_idle(workers)

    def write_called_off(self, then, options=""):
        text = FOREVER_FUNCTION + CALLED_OFF.replace("@THEN@", then).replace("@OPTIONS@", options)
        return self.write("called_off.mlir", text)

    def expect_called_off(self, result, code, reason):
        """Three errors, two of them of who would have waited, and what has nothing to do with it."""
        self.assertEqual(result[0], code, result)
        returned = [line for line in result[1].splitlines() if "returned" in line][0]
        self.assertIn("returned 21,", returned)
        told = "<<error: a call that takes part in this group was called off: "
        self.assertEqual(len(re.findall(told + reason, returned)), 2, returned)
        self.assertEqual(returned.count("<<error: "), 3, returned)
        self.assertIn("called_off.mlir:", result[2])

    def test_a_call_that_is_late_is_not_waited_for(self):
        path = self.write_called_off(WAIT_FOR_EVER, ", deadline_ms = 300 : i32")
        workers = self.start_workers(3)
        result = self.run_tfrt(path, hosts(workers))
        # Host 1 and its caller both see to it; who waits hears the first of them.
        reason = "(the call of @once took too long|the deadline of the call of @once has passed)"
        self.expect_called_off(result, 6, reason)
        self.expect_idle(workers)

    def test_a_call_that_somebody_cancels_is_not_waited_for(self):
        path = self.write_called_off(WAIT_FOR_EVER)
        workers = self.start_workers(3)
        process = self.start(path, hosts(workers))
        self.assertIn("int32 = 1", process.stdout.readline())
        code, out, err = self.ask("list", "calls", hosts(workers), "-o=json")
        self.assertEqual(code, 0, err)
        once = [call["call"] for call in json.loads(out) if call["function"] == "once"]
        self.expect(self.ask("cancel", once[0], hosts(workers)), 0)
        self.expect_called_off(self.finish(process), 5, "")
        self.expect_idle(workers)

    def test_a_call_that_cancels_itself_is_not_waited_for(self):
        path = self.write_called_off(CANCEL_ITSELF)
        for flag in "--local=3", "--in-process=3":
            with self.subTest(flag):
                self.expect_called_off(self.run_tfrt(path, flag), 5, "")

    def test_the_example_finds_its_weights(self):
        for flags in ([], ["--in-process=4"], ["--local=4"], ["--local=5"]):
            with self.subTest(flags):
                code, out, err = self.run_tfrt(REGRESSION, *flags)
                self.assertEqual(code, 0, err)
                values = out.splitlines()[0].rsplit("[", 1)[1].rstrip("]").split(",")
                for value, right in zip(map(float, values), (2, -3, 1)):
                    self.assertAlmostEqual(value, right, places=4)
        readme = os.path.join(os.path.dirname(REGRESSION), "README.md")
        with open(readme, encoding="utf-8") as stream:
            shown = stream.read()
        for line in self.run_tfrt(REGRESSION, "--local=4")[1].splitlines():
            self.assertIn("    %s\n" % line, shown)


if __name__ == "__main__":
    main()
