# SPDX-License-Identifier: Apache-2.0
"""Three workers with a program that does not end, for the tests of what can be seen of it."""

import json
import time

from cluster import PATIENCE_S, ClusterTest, hosts

# Host 0 waits for host 1, which waits for host 2, whose one thread turns for ever in a loop. Host 2
# is also given what host 1 is to make.
SPINS = """func.func @again(%x: i32) -> (i32, i1) {
  %go = tfrt.constant.i1 true
  tfrt.return %x, %go : i32, i1
}
func.func @spin(%x: i32, %ch: !tfrt.chain) -> i32 {
  %printed = tfrt.print.i32 %x, %ch
  %y = "tfrt_test.identity"(%printed, %x) : (!tfrt.chain, i32) -> i32
  %go = tfrt.constant.i1 true
  %r = tfrt.while %go @again(%y) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}
func.func @middle(%x: i32) -> i32 {
  %ch = tfrt.new.chain
  %r = tfrt.call @spin(%x, %ch) {host = 2 : i32} : (i32, !tfrt.chain) -> i32
  tfrt.return %r : i32
}
func.func @use(%x: i32) -> i32 {
  %r = tfrt.add.i32 %x, %x
  tfrt.return %r : i32
}
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %a = tfrt.call @middle(%one) {host = 1 : i32} : (i32) -> i32
  %b = tfrt.call @use(%a) {host = 2 : i32} : (i32) -> i32
  tfrt.return %b : i32
}
"""


class RunningTest(ClusterTest):
    def ask_json(self, *arguments):
        code, out, err = self.ask(*arguments, "-o=json")
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def begin(self, text=SPINS, flags=()):
        """Three workers with a program that waits, and its coordinator."""
        workers = self.start_workers(3, "--heartbeat-ms=200", "--silence-ms=5000", *flags)
        process = self.start(self.write("waits.mlir", text), hosts(workers))
        self.assertIn("int32 = 1", process.stdout.readline())
        return workers, process

    def calls(self, workers):
        """The calls, by function, once there are as many as are made."""
        end = time.monotonic() + PATIENCE_S
        while True:
            calls = {call["function"]: call for call in self.ask_json("list", "calls", hosts(workers))}
            if {"middle", "spin", "use"} <= set(calls):
                return calls
            self.assertLess(time.monotonic(), end, calls)
