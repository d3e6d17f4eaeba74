#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What crosses each link between real workers: frames and bytes, counted by those who send and by those
who receive, in `tfrt status`.

Usage: links_test.py TFRT TFRT_WORKER
"""

import time

from cluster import PATIENCE_S, ClusterTest, hosts, main

ROUNDS = 200

# The most frames that go on a link once for a job: its binding to the session, the program, its
# end.
ONCE = 12

NUMBER = """func.func @next(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %y = tfrt.add.i32 %x, %one
  tfrt.return %y : i32
}
func.func @main() -> i32 {
  %v0 = tfrt.constant.i32 0
  %sum = tfrt.constant.i32 0
  %rounds = tfrt.constant.i32 @ROUNDS@
  %r:2 = tfrt.repeat.i32 %rounds, %v0, %sum : i32, i32 {
@CALLS@
    %next = tfrt.add.i32 %sum, %v@LAST@
    tfrt.return %v0, %next : i32, i32
  }
  tfrt.return %r#1 : i32
}
"""

# A turn begins when the number has come from the last host. Only the next host uses the other
# hosts' results.
LOOP = """func.func @next(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %y = tfrt.add.i32 %x, %one
  tfrt.return %y : i32
}
func.func @turn(%v0: i32) -> (i32, i1) {
@CALLS@
  %most = tfrt.constant.i32 @MOST@
  %again = "tfrt.lessequal.i32"(%v@LAST@, %most) : (i32, i32) -> (i1)
  tfrt.return %v@LAST@, %again : i32, i1
}
func.func @main() -> i32 {
  %zero = tfrt.constant.i32 0
  %true = tfrt.constant.i1 1
  %r = tfrt.while %true @turn(%zero) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}
"""

# A payload of SIZE bytes that each host passes on as one of its own.
SIZE = 1 << 20
TENSOR = """func.func @make() -> !tfrt_tensor.tensor {
  %ch = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [262144 : i64]
  %c = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch 0.5 : f32
  %u = "tfrt_test.identity"(%c, %t) : (!tfrt.chain, !tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  tfrt.return %u : !tfrt_tensor.tensor
}
func.func @twice(%t: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %two = tfrt.constant.f32 2.0
  %u = tfrt_tensor.scale %t, %two
  tfrt.return %u : !tfrt_tensor.tensor
}
func.func @show(%t: !tfrt_tensor.tensor) -> !tfrt.chain {
  %ch = tfrt.new.chain
  %s = tfrt_tensor.sum %t axis 0
  %p = tfrt_dht.print_tensor %s, %ch
  tfrt.return %p : !tfrt.chain
}
func.func @main() -> !tfrt.chain {
  %v1 = tfrt.call @make() {host = 1 : i32} : () -> !tfrt_tensor.tensor
@CALLS@
  %p = tfrt.call @show(%v@LAST@) {host = @LAST@ : i32} : (!tfrt_tensor.tensor) -> !tfrt.chain
  tfrt.return %p : !tfrt.chain
}
"""

KINDS = ("frames", "bytes", "payload_bytes")


def chain(count):
    """The calls of a chain over all hosts but the first, each on what the one before has given."""
    calls = [
        "    %%v%d = tfrt.call @next(%%v%d) {host = %d : i32} : (i32) -> i32" % (host, host - 1, host)
        for host in range(1, count)
    ]
    return "\n".join(calls)


class LinksTest(ClusterTest):
    def read(self, workers):
        """By kind, sender and receiver: what each host says it has sent to others, and received."""
        told = self.status(workers)
        ranks = {host["incarnation"]: rank for rank, host in enumerate(told)}
        sent = {kind: {} for kind in KINDS}
        received = {kind: {} for kind in KINDS}
        for rank, host in enumerate(told):
            for peer in host["peers"]:
                other = ranks.get(peer["incarnation"])
                if other is None:
                    continue
                for kind in KINDS:
                    sent[kind][rank, other] = peer[kind + "_sent"]
                    received[kind][other, rank] = peer[kind + "_received"]
        return sent, received

    def settled(self, workers):
        """The counts when nothing is under way any more: both ends say the same."""
        self.expect_idle(workers)
        end = time.monotonic() + PATIENCE_S
        last = None
        while True:
            sent, received = self.read(workers)
            agreed = sent["frames"] == received["frames"]
            if agreed and last == sent["frames"]:
                self.assertEqual(sent["payload_bytes"], received["payload_bytes"])
                return sent
            last = sent["frames"]
            self.assertLess(time.monotonic(), end, (sent, received))

    def crossing(self, workers, text, out):
        """What a run of the program takes on each link, when all know each other and the program."""
        path = self.write("program.mlir", text)
        self.expect(self.run_tfrt(path, hosts(workers)), 0, out, "")
        before = self.settled(workers)
        self.expect(self.run_tfrt(path, hosts(workers)), 0, out, "")
        after = self.settled(workers)
        return {
            kind: {link: count - before[kind].get(link, 0) for link, count in after[kind].items()}
            for kind in KINDS
        }

    def workers_for(self, count):
        # Heartbeats are no frames, but bytes.
        return self.start_workers(count, "--heartbeat-ms=5000", "--silence-ms=30000")

    def test_each_call_of_a_chain_is_shipped_at_once_and_its_value_goes_to_the_next_host(self):
        for count in (3, 5, 8):
            with self.subTest(count=count):
                workers = self.workers_for(count)
                last = count - 1
                text = NUMBER.replace("@ROUNDS@", str(ROUNDS)).replace("@CALLS@", chain(count))
                text = text.replace("@LAST@", str(last))
                out = "'main' returned %d\n" % (ROUNDS * last)
                frames = self.crossing(workers, text, out)["frames"]
                for (a, b), number in frames.items():
                    if a == 0:
                        # An Invoke, and what is given back, which goes in few messages.
                        self.assertGreaterEqual(number, ROUNDS, (a, b))
                        self.assertLessEqual(number, 2 * ROUNDS + ONCE, (a, b))
                    elif b == 0:
                        # The result and that it is done, mostly in one.
                        self.assertGreaterEqual(number, ROUNDS, (a, b))
                        self.assertLessEqual(number, 2 * ROUNDS + ONCE, (a, b))
                    elif b == a + 1:
                        # A Push; also a Resolve, if the other host asked before the Push came.
                        self.assertGreaterEqual(number, ROUNDS, (a, b))
                        self.assertLessEqual(number, 2 * ROUNDS + ONCE, (a, b))
                    elif b == a - 1:
                        # It asks when nobody has pushed in time: a Want, and an Unwant.
                        self.assertLessEqual(number, 2 * ROUNDS + ONCE, (a, b))
                    else:
                        self.assertLessEqual(number, ONCE, (a, b))

    def test_results_that_a_loop_does_not_look_at_share_messages(self):
        count = 4
        workers = self.workers_for(count)
        last = count - 1
        text = LOOP.replace("@CALLS@", chain(count)).replace("@LAST@", str(last))
        text = text.replace("@MOST@", str(ROUNDS * last - 1))
        crossed = self.crossing(workers, text, "'main' returned %d\n" % (ROUNDS * last))
        for host in range(1, count):
            self.assertGreaterEqual(crossed["frames"][host, 0], ROUNDS, host)
        # So there is less around each of them.
        for host in range(1, last):
            self.assertLess(crossed["bytes"][host, 0], 0.75 * crossed["bytes"][last, 0], host)

    def test_a_payload_goes_from_each_host_to_the_next_once_and_nowhere_else(self):
        for count in (3, 5, 8):
            with self.subTest(count=count):
                workers = self.workers_for(count)
                last = count - 1
                calls = [
                    "  %%v%d = tfrt.call @twice(%%v%d) {host = %d : i32}"
                    " : (!tfrt_tensor.tensor) -> !tfrt_tensor.tensor" % (host, host - 1, host)
                    for host in range(2, count)
                ]
                text = TENSOR.replace("@CALLS@", "\n".join(calls)).replace("@LAST@", str(last))
                total = SIZE // 4 * 0.5 * 2 ** (last - 1)
                out = "[%d] DenseHostTensor dtype = f32, shape = [], values = [%e]\n" % (last, total)
                out += "'main' returned !tfrt.chain value\n"
                crossed = self.crossing(workers, text, out)
                for (a, b), number in crossed["payload_bytes"].items():
                    self.assertEqual(number, SIZE if a > 0 and b == a + 1 else 0, (a, b))
                # And in no message.
                for link, number in crossed["bytes"].items():
                    self.assertLess(number, 16384, link)


if __name__ == "__main__":
    main()
