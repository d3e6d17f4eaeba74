#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs on two to eight workers, and what may happen to processes at any moment: workers
are killed or stand still for a while, the program is interrupted, its coordinator is killed.

Each run ends by itself, with the exit code that fits. What did not depend on a lost host is right,
and so is what is pure and may run again; the rest is right, too, or an error that names the host,
and the place in the program where it was called. Nothing is left in those workers that live.

Usage: fault_test.py TFRT TFRT_WORKER [ROUNDS [SEED]]
"""

import json
import os
import random
import signal
import sys
import time

from cluster import PATIENCE_S, ClusterTest, hosts, main

ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 12
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else random.SystemRandom().randrange(1 << 32)

# So long that nobody takes the silence of a busy machine for death.
LIVELINESS = ["--silence-ms=30000"]

FUNCTIONS = """func.func @double(%x: i32) -> i32 {
  %late = "tfrt_test.async_copy.with_delay.i32"(%x) : (i32) -> i32
  %y = tfrt.add.i32 %late, %late
  tfrt.return %y : i32
}
func.func @twice(%s: !tfrt.string) -> !tfrt.string {
  %t = "tfrt_test.append_string"(%s, %s) : (!tfrt.string, !tfrt.string) -> !tfrt.string
  tfrt.return %t : !tfrt.string
}
func.func @reduce(%x: i32, %rounds: i32) -> i32 {
  %ch = tfrt.new.chain
  %me = tfrt_dist.rank
  %g = tfrt_dist.world
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [@SIZE@ : i64]
  %c = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch 1.0 : f32
  %r:3 = tfrt.repeat.i32 %rounds, %g, %t, %c : !tfrt_dist.group, !tfrt_tensor.tensor, !tfrt.chain {
    %s, %c1 = tfrt_dist.all_reduce %g, %t, %c {reduction = "max"}
    tfrt.return %g, %s, %c1 : !tfrt_dist.group, !tfrt_tensor.tensor, !tfrt.chain
  }
  %done = "tfrt_test.identity"(%r#2, %me) : (!tfrt.chain, i32) -> i32
  %y = tfrt.add.i32 %done, %x
  tfrt.return %y : i32
}
func.func @pass(%x: i32, %n: i32) -> i32 {
  %c = tfrt.new.chain
  %me = tfrt_dist.rank
  %one = tfrt.constant.i32 1
  %minus = tfrt.constant.i32 -1
  %up = tfrt.add.i32 %me, %one
  %q, %next = tfrt.div.i32 %up, %n
  %n1 = tfrt.add.i32 %n, %minus
  %down = tfrt.add.i32 %me, %n1
  %q1, %before = tfrt.div.i32 %down, %n
  %to = tfrt_dist.host %next
  %from = tfrt_dist.host %before
  %key = tfrt_dist.key "to the next"
  %late = tfrt.call @double(%x) : (i32) -> i32
  %sent = tfrt.add.i32 %late, %me
  %c1 = tfrt_dist.send %to, %key, %sent, %c
  %got, %c2 = tfrt_dist.recv %from, %key, %c : i32
  %both = tfrt.merge.chains %c1, %c2 : !tfrt.chain, !tfrt.chain
  %y = "tfrt_test.identity"(%both, %got) : (!tfrt.chain, i32) -> i32
  tfrt.return %y : i32
}
"""


class Program:
    """A program for `count` hosts: its text, and of each result its value and whom it needs."""

    def __init__(self, numbers, count):
        self.numbers = numbers
        self.count = count
        self.functions = [FUNCTIONS.replace("@SIZE@", str(numbers.choice((1, 1000, 100000))))]
        self.lines = ["%one = tfrt.constant.i32 1"]
        self.results = []  # (name, type, value, hosts that it needs; None: it may run again)
        for index in range(numbers.randrange(2, 6)):
            numbers.choice((self.chain, self.chain, self.texts, self.nest, self.all_hosts))(index)
        names = ", ".join(result[0] for result in self.results)
        types = ", ".join(result[1] for result in self.results)
        self.lines.append("tfrt.return %s : %s" % (names, types))
        self.text = "%sfunc.func @main() -> (%s) {\n  %s\n}\n" % (
            "".join(self.functions),
            types,
            "\n  ".join(self.lines),
        )

    def chain(self, index):
        """Calls that double a number, each where the dice say."""
        pure = self.numbers.random() < 0.6
        options = ", pure, retries = %d : i32" % self.count if pure else ""
        needed = set()
        value = "%one"
        length = self.numbers.randrange(1, 12)
        for step in range(length):
            host = self.numbers.randrange(self.count)
            needed.add(host)
            name = "%%n%d_%d" % (index, step)
            self.lines.append(
                "%s = tfrt.call @double(%s) {host = %d : i32%s} : (i32) -> i32"
                % (name, value, host, options)
            )
            value = name
        self.results.append((value, "i32", str(1 << length), None if pure else needed))

    def texts(self, index):
        """The same with a text, which stays where it was made until somebody uses it."""
        self.lines.append(
            '%%t%d = "tfrt_test.get_string"() {value = "%s"} : () -> !tfrt.string' % (index, "x" * 64)
        )
        value = "%%t%d" % index
        length = self.numbers.randrange(6, 10)
        for step in range(length):
            name = "%%t%d_%d" % (index, step)
            self.lines.append(
                "%s = tfrt.call @twice(%s) {host = %d : i32, pure, retries = %d : i32}"
                " : (!tfrt.string) -> !tfrt.string"
                % (name, value, self.numbers.randrange(self.count), self.count)
            )
            value = name
        # Brought to host 0, where it is safe.
        self.lines.append(
            '%%t%d_z = "tfrt_test.append_string"(%s, %s)'
            " : (!tfrt.string, !tfrt.string) -> !tfrt.string" % (index, value, value)
        )
        text = "x" * (64 << (length + 1))
        self.results.append(("%%t%d_z" % index, "!tfrt.string", text, None))

    def nest(self, index):
        """Calls within calls, on the way from host to host."""
        path = [self.numbers.randrange(self.count) for _ in range(self.numbers.randrange(1, 5))]
        below = "double"
        for step, host in enumerate(path):
            name = "nest%d_%d" % (index, step)
            self.functions.append(
                "func.func @%s(%%x: i32) -> i32 {\n"
                "  %%y = tfrt.call @%s(%%x) {host = %d : i32} : (i32) -> i32\n"
                "  %%z = tfrt.call @double(%%y) : (i32) -> i32\n"
                "  tfrt.return %%z : i32\n}\n" % (name, below, host)
            )
            below = name
        self.lines.append("%%m%d = tfrt.call @%s(%%one) : (i32) -> i32" % (index, below))
        self.results.append(("%%m%d" % index, "i32", str(2 << len(path)), set(path)))

    def all_hosts(self, index):
        """A function on all hosts at once: a collective, messages by key, or neither. Only one of
        the first kind, as the turns of two would have no order."""
        kinds = ["double"]
        if not any(result[3] == "all" for result in self.results):
            kinds += ["reduce", "pass"]
        kind = self.numbers.choice(kinds)
        extra = {"double": "", "reduce": ", %%e%d" % index, "pass": ", %%e%d" % index}[kind]
        number = self.numbers.randrange(1, 30) if kind == "reduce" else self.count
        self.lines.append("%%e%d = tfrt.constant.i32 %d" % (index, number))
        self.lines.append(
            "%%l%d = tfrt_dist.call_all @%s(%%one%s) : (%s) -> (!tfrt_dist.list)"
            % (index, kind, extra, "i32, i32" if extra else "i32")
        )
        self.lines.append("%%s%d = tfrt_dist.list.sum %%l%d : i32" % (index, index))
        ranks = self.count * (self.count - 1) // 2
        value = {"double": 0, "reduce": ranks + self.count, "pass": ranks + 2 * self.count}[kind]
        value = value or 2 * self.count
        needed = set(range(self.count)) if kind == "double" else "all"
        self.results.append(("%%s%d" % index, "i32", str(value), needed))

    def needs(self, index, lost):
        needed = self.results[index][3]
        if needed is None:
            return False
        return needed == "all" or bool(needed & lost)


class FaultTest(ClusterTest):
    def setUp(self):
        super().setUp()
        if "TSAN_OPTIONS" in os.environ:
            # A process that is interrupted on its way out ends at once, and leaves its threads as
            # they are.
            self.environment["TSAN_OPTIONS"] += ":report_thread_leaks=0"

    def worker(self):
        return self.start_worker(*LIVELINESS)

    # --- What happens ---------------------------------------------------------------

    def kill(self, process, workers, numbers):
        victims = numbers.sample(range(len(workers)), 1 if numbers.random() < 0.7 else 2)
        for victim in victims:
            workers[victim].kill()
            if numbers.random() < 0.5:
                time.sleep(numbers.uniform(0, 0.02))
        return set(victims)

    def stand_still(self, process, workers, numbers):
        victim = numbers.randrange(len(workers))
        workers[victim].send_signal(signal.SIGSTOP)
        time.sleep(numbers.uniform(0, 0.3))
        workers[victim].send_signal(signal.SIGCONT)
        return set()

    def interrupt(self, process, workers, numbers):
        process.send_signal(signal.SIGINT)
        return set()

    def kill_coordinator(self, process, workers, numbers):
        process.kill()
        return set()

    # --- What must come of it -------------------------------------------------------

    @staticmethod
    def names(error, lost):
        return any("host %d" % host in error["message"] for host in lost)

    def check_error(self, error, lost, context):
        self.assertEqual(error["code"], "UNAVAILABLE", context)
        self.assertTrue(self.names(error, lost), context)
        self.assertIn("fault.mlir", error.get("file", ""), context)
        self.assertGreater(error.get("line", 0), 0, context)

    def check_results(self, program, out, lost, is_cancelled, context):
        answer = json.loads(out)
        results = answer.get("results")
        if results is None:  # it didn't begin, or host 0 is lost
            self.assertTrue(is_cancelled or self.names(answer["error"], lost), context)
            return
        self.assertEqual(len(results), len(program.results), context)
        for index, result in enumerate(results):
            if "error" not in result:
                self.assertEqual(result["value"], program.results[index][2], context)
            elif is_cancelled:
                self.assertEqual(result["error"]["code"], "CANCELLED", context)
            elif 0 in lost:
                self.assertIn("host", result["error"]["message"], context)
            else:
                self.assertTrue(program.needs(index, lost), context)
                self.check_error(result["error"], lost, context)

    def check_end(self, program, fault, result, lost, context):
        code, out, err = result
        if fault == "kill_coordinator" and code == -signal.SIGKILL:
            return
        # An interrupt may come before it is waited for.
        is_cancelled = fault == "interrupt"
        allowed = {0, 5, -signal.SIGINT} if is_cancelled else {0, 3, 4} if lost else {0}
        self.assertIn(code, allowed, context)
        if code == 3:
            self.assertTrue(any("host %d" % host in err for host in lost), context)
        elif is_cancelled and "ended at once" in err:
            # Interrupted while it said what came of it, which is more than a pipe holds.
            self.assertEqual(code, 5, context)
        elif out:
            self.check_results(program, out, lost, is_cancelled, context)
        if code == 4:
            self.assertTrue(any("host %d" % host in err.splitlines()[0] for host in lost), context)

    # --- A round --------------------------------------------------------------------

    def run_once(self, program, workers):
        return self.start(self.path, hosts(workers), "-o=json", *LIVELINESS)

    def length_of(self, program, workers):
        begin = time.monotonic()
        result = self.finish(self.run_once(program, workers))
        self.assertEqual(result[0], 0, (result, program.text))
        self.check_results(program, result[1], set(), False, (result, program.text))
        return time.monotonic() - begin

    def round(self, number):
        numbers = random.Random("%d %d" % (SEED, number))
        count = numbers.randrange(2, 9)
        program = Program(numbers, count)
        self.path = self.write("fault.mlir", program.text)
        while len(self.workers) < count:
            self.workers.append(self.worker())
        workers = self.workers[:count]
        length = self.length_of(program, workers)
        faults = ["kill", "kill", "stand_still", "interrupt", "kill_coordinator"]
        fault = numbers.choice(faults)
        delay = numbers.uniform(0, length)
        process = self.run_once(program, workers)
        time.sleep(delay)
        begin = time.monotonic()
        lost = getattr(self, fault)(process, workers, numbers)
        result = self.finish(process)
        took = time.monotonic() - begin
        context = "seed %d, round %d: %s of %s after %.4f s: %s\n%s" % (
            *(SEED, number, fault, lost, delay, result, program.text),
        )
        self.check_end(program, fault, result, lost, context)
        self.assertLess(took, PATIENCE_S, context)
        if fault == "kill":
            for rank in sorted(lost, reverse=True):
                workers[rank].wait()
                del self.workers[rank]
        for worker in self.workers:
            self.assertIsNone(worker.poll(), context)
        if self.workers:
            self.expect_idle(self.workers)
        return fault, result[0], took

    def test_whatever_happens_to_processes(self):
        self.workers = []
        seen = {}
        longest = 0.0
        for number in range(ROUNDS):
            fault, code, took = self.round(number)
            seen[fault, code] = seen.get((fault, code), 0) + 1
            longest = max(longest, took)
        for worker in self.workers:
            worker.terminate()
        for worker in self.workers:
            self.assertEqual(worker.wait(PATIENCE_S), 0)
        self.expect_nothing_left()
        print("seed %d: %d rounds, longest end %.3f s" % (SEED, ROUNDS, longest))
        for (fault, code), times in sorted(seen.items()):
            print("  %s, exit code %d: %d" % (fault, code, times))


if __name__ == "__main__":
    main()
