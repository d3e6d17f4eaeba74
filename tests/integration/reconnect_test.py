#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Connections between real processes that are reset again and again, and a worker that is another
one at the same address: what was called runs once, and who is new gets nothing of who was there.

Usage: reconnect_test.py TFRT TFRT_WORKER
"""

import collections
import os
import random
import selectors
import signal
import socket
import struct
import threading

from cluster import PATIENCE_S, ClusterTest, hosts, main, strike

# Each host prints what it is called with; host 1 calls on to host 2.
PROGRAM = """func.func @inner(%x: i32) -> i32 {
  %ch = tfrt.new.chain
  %p = tfrt.print.i32 %x, %ch
  %y = "tfrt_test.identity"(%p, %x) : (!tfrt.chain, i32) -> i32
  tfrt.return %y : i32
}
func.func @outer(%x: i32) -> i32 {
  %y = tfrt.call @inner(%x) {host = 2 : i32} : (i32) -> i32
  %z = tfrt.call @inner(%y) : (i32) -> i32
  tfrt.return %z : i32
}
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %zero = tfrt.constant.i32 0
  %rounds = tfrt.constant.i32 @ROUNDS@
  %x:2 = tfrt.repeat.i32 %rounds, %zero, %one : i32, i32 {
    %a = tfrt.call @outer(%zero) {host = 1 : i32} : (i32) -> i32
    %next = tfrt.add.i32 %a, %one
    tfrt.return %next, %one : i32, i32
  }
  tfrt.return %x#0 : i32
}
"""
ROUNDS = 300

# Waits on host 1 for what nobody sends.
WAITS = """func.func @wait(%ch: !tfrt.chain) -> i32 {
  %me = tfrt_dist.rank
  %h = tfrt_dist.host %me
  %p = tfrt.print.i32 %me, %ch
  %key = tfrt_dist.key "never"
  %v, %c = tfrt_dist.recv %h, %key, %p : i32
  tfrt.return %v : i32
}
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %x = tfrt.call @wait(%ch) {host = 1 : i32} : (!tfrt.chain) -> i32
  tfrt.return %x : i32
}
"""


class Proxy:
    """A port in front of a worker. What goes through is passed on, until `reset`, which ends all
    connections at once, as a network does that forgets them."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.target = (host, int(port))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.others = {}  # the other end of each socket
        self.resets = 0
        self.wish, self.wake = os.pipe()
        self.selector.register(self.wish, selectors.EVENT_READ)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def reset(self):
        os.write(self.wake, b"r")

    def close(self):
        os.write(self.wake, b"q")
        self.thread.join()
        for end in (self.wish, self.wake):
            os.close(end)
        self.listener.close()

    def drop(self, end):
        for one in (end, self.others.pop(end)):
            self.others.pop(one, None)
            self.selector.unregister(one)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            one.close()

    def accept(self):
        near, _ = self.listener.accept()
        try:
            far = socket.create_connection(self.target)
        except OSError:
            near.close()
            return
        self.others[near] = far
        self.others[far] = near
        for end in (near, far):
            self.selector.register(end, selectors.EVENT_READ)

    def pass_on(self, end):
        if end not in self.others:
            return
        try:
            data = end.recv(1 << 16)
            if data:
                self.others[end].sendall(data)
                return
        except OSError:
            pass
        self.drop(end)

    def run(self):
        while True:
            for key, _ in self.selector.select():
                if key.fileobj is self.listener:
                    self.accept()
                elif key.fileobj != self.wish:
                    self.pass_on(key.fileobj)
                else:
                    if os.read(self.wish, 1) == b"q":
                        while self.others:
                            self.drop(next(iter(self.others)))
                        return
                    while self.others:
                        self.resets += 1
                        self.drop(next(iter(self.others)))


class ReconnectTest(ClusterTest):
    def start_behind(self, workers, proxies, text):
        addresses = [proxy.address for proxy in proxies]
        # Nobody takes the silence of a busy machine for death.
        flags = ["--hosts=" + ",".join(addresses), "--silence-ms=30000"]
        return self.start(self.write("program.mlir", text), *flags)

    def test_what_is_called_runs_once_whatever_connections_break(self):
        numbers = random.Random(1)
        workers = self.start_workers(3, "--silence-ms=30000")
        proxies = [Proxy(worker.address) for worker in workers]
        for proxy in proxies:
            self.addCleanup(proxy.close)
        process = self.start_behind(workers, proxies, PROGRAM.replace("@ROUNDS@", str(ROUNDS)))
        lines = []
        # A reset behind each few lines, so that some of the run is left, however fast it is.
        for line in iter(process.stdout.readline, ""):
            lines.append(line)
            if len(lines) % 20 == 0:
                numbers.choice(proxies).reset()
        code, _, err = self.finish(process)
        self.assertEqual(code, 0, err)
        self.assertEqual(lines[-1], "'main' returned %d\n" % ROUNDS)
        seen = collections.Counter(lines[:-1])
        for number in range(ROUNDS):
            for rank in (1, 2):
                self.assertEqual(seen.pop("[%d] int32 = %d\n" % (rank, number), 0), 1)
        self.assertFalse(seen)
        self.assertGreater(sum(proxy.resets for proxy in proxies), 0)
        self.expect_idle(workers)

    def test_who_dies_behind_a_relay_that_hangs_up_is_lost(self):
        workers = self.start_workers(2)
        proxies = [Proxy(worker.address) for worker in workers]
        for proxy in proxies:
            self.addCleanup(proxy.close)
        process = self.start(
            self.write("waits.mlir", WAITS),
            "--hosts=" + ",".join(proxy.address for proxy in proxies),
        )
        self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
        workers[1].kill()
        result = self.finish(process)
        self.expect(result, 4, None, "lost host 1 ")
        self.assertIn("waits.mlir:", result[2])
        self.expect_idle(workers[:1])

    def test_who_is_new_at_an_address_gets_nothing_of_who_was_there(self):
        workers = self.start_workers(2)
        process = self.start(self.write("waits.mlir", WAITS), hosts(workers))
        self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
        # Host 0 hears of the death when somebody else has the address already.
        strike(workers[0], signal.SIGSTOP)
        address = workers[1].address
        workers[1].kill()
        workers[1].wait()
        workers[1] = self.start_worker("--listen=" + address)
        self.assertEqual(workers[1].address, address)
        workers[0].send_signal(signal.SIGCONT)
        result = self.finish(process)
        self.expect(result, 4, None, "lost host 1 ")
        self.assertIn("waits.mlir:", result[2])
        self.expect_idle(workers)
        # It is as good as any.
        process = self.start(self.write("waits.mlir", WAITS), hosts(workers))
        self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
        process.send_signal(signal.SIGINT)
        self.expect(self.finish(process), 5)
        self.expect_idle(workers)


if __name__ == "__main__":
    main()
