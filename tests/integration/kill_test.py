#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Kills a worker, with SIGKILL, at a random moment of a run; again and again.

Each run ends by itself, soon, with exit code 0 (it was faster), 3 (the host had not answered yet) or 4, and
a first line that names the host and says which of both it is; the workers that were not killed take the next program; nobody is left behind.

Usage: kill_test.py TFRT TFRT_WORKER MNIST_FOLDER [ROUNDS [SEED]]
"""

import os
import random
import signal
import sys
import time

from cluster import PATIENCE_S, ClusterTest, hosts, main, marked, runs

MNIST = sys.argv[3]
ROUNDS = int(sys.argv[4]) if len(sys.argv) > 4 else 10
SEED = int(sys.argv[5]) if len(sys.argv) > 5 else random.SystemRandom().randrange(1 << 32)

DIGITS = [
    os.path.join(MNIST, "mnist.mlir"),
    "--arg=images=" + os.path.join(MNIST, "data/test-images-idx3-ubyte.gz"),
    "--arg=labels=" + os.path.join(MNIST, "data/test-labels-idx1-ubyte.gz"),
]


LONG = """
func.func @one() -> i32 {
  %one = tfrt.constant.i32 1
  tfrt.return %one : i32
}

func.func @main() -> i32 {
  %c0 = tfrt.new.chain
  %there = tfrt.call @one() {host = 1 : i32} : () -> (i32)
  %c1 = tfrt.print.i32 %there, %c0
  %count = tfrt.constant.i32 2000000000
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %sum:2 = tfrt.repeat.i32 %count, %zero, %one : i32, i32 {
    %more = tfrt.call @one() {host = 1 : i32} : () -> (i32)
    %next = tfrt.add.i32 %zero, %more
    %twice = tfrt.add.i32 %one, %one
    tfrt.return %next, %twice : i32, i32
  }
  tfrt.return %sum#0 : i32
}
"""

# After a loss, a turn of this loop makes an error and nothing else.
STUCK = LONG.replace("%twice = tfrt.add.i32 %one, %one", "%twice = tfrt.constant.i32 2")

# So does a turn of this one, on each host.
REDUCING = """
func.func @one() -> i32 {
  %one = tfrt.constant.i32 1
  tfrt.return %one : i32
}

func.func @turns(%count: i32) -> !tfrt.chain {
  %g = tfrt_dist.world
  %c = tfrt.new.chain
  %t = "tfrt_dht.create_uninitialized_tensor.i32.1"() {shape = [4 : i64]} : () -> !tfrt_tensor.tensor
  %d = "tfrt_dht.fill_tensor_with_constant.i32"(%t, %c) {value = 1 : i32} : (!tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %r:3 = tfrt.repeat.i32 %count, %d, %g, %t : !tfrt.chain, !tfrt_dist.group, !tfrt_tensor.tensor {
    %n, %f = tfrt_dist.all_reduce %g, %t, %d {reduction = "sum"}
    tfrt.return %f, %g, %n : !tfrt.chain, !tfrt_dist.group, !tfrt_tensor.tensor
  }
  tfrt.return %r#0 : !tfrt.chain
}

func.func @main() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %there = tfrt.call @one() {host = 1 : i32} : () -> (i32)
  %c1 = tfrt.print.i32 %there, %c0
  %count = tfrt.constant.i32 2000000000
  %l = tfrt_dist.call_all @turns(%count) : (i32) -> (!tfrt_dist.list)
  %zero = tfrt.constant.i32 0
  %r = tfrt_dist.list.get %l, %zero : !tfrt.chain
  tfrt.return %r : !tfrt.chain
}
"""

# The loops begin behind the first call: a host with one thread would run that behind its loop.
BOTH = """
func.func @one() -> i32 {
  %one = tfrt.constant.i32 1
  tfrt.return %one : i32
}

func.func @long(%count: i32) -> i32 {
  %zero = tfrt.constant.i32 0
  %sum = tfrt.repeat.i32 %count, %zero : i32 {
    %next = tfrt.add.i32 %zero, %zero
    tfrt.return %next : i32
  }
  tfrt.return %sum : i32
}

func.func @main() -> (i32, i32) {
  %c0 = tfrt.new.chain
  %there = tfrt.call @one() {host = 1 : i32} : () -> (i32)
  %c1 = tfrt.print.i32 %there, %c0
  %most = tfrt.constant.i32 2000000000
  %count = tfrt.add.i32 %most, %there
  %a = tfrt.call @long(%count) {host = 1 : i32OPTIONS} : (i32) -> (i32)
  %b = tfrt.call @long(%count) {host = 2 : i32} : (i32) -> (i32)
  tfrt.return %a, %b : i32, i32
}
"""


class KillTest(ClusterTest):
    def worker(self):
        return self.start_worker("--data-directory=" + MNIST)

    def measure(self, workers):
        begin = time.monotonic()
        self.expect(self.run_tfrt(*DIGITS, hosts(workers)), 0)
        return time.monotonic() - begin

    def kill_one(self, workers, victim, delay):
        """Runs the digits, and kills the worker `victim` after `delay` seconds."""
        process = self.start(*DIGITS, hosts(workers))
        end = time.monotonic() + delay
        while time.monotonic() < end and process.poll() is None:
            pass
        workers[victim].kill()
        begin = time.monotonic()
        code, out, err = self.finish(process)
        took = time.monotonic() - begin
        context = "seed %d, host %d after %.4f s: %s" % (SEED, victim, delay, (code, out, err))
        self.assertIn(code, (0, 3, 4), context)
        if code != 0:
            first = err.splitlines()[0]
            self.assertIn("host %d" % victim, first, context)
            self.assertIn(workers[victim].address, first, context)
            self.assertEqual("is not there" in first, code == 3, context)
        return code, took

    def kill_local(self, rank):
        """Kills that worker of --local."""
        for pid in marked(self.mark):
            with open("/proc/%d/cmdline" % pid, encoding="utf-8") as stream:
                if "\0local-%d\0" % rank in stream.read():
                    os.kill(pid, signal.SIGKILL)

    def start_long(self, *flags, program=LONG):
        """Starts a run that would go on for hours, as a rule of a loop on host 0 over a call on host 1; returns
        when the first line of the program is there."""
        path = self.write("long.mlir", program)
        process = self.start(path, *flags)
        self.assertEqual(process.stdout.readline(), "int32 = 1\n")
        return process

    def test_a_loss_in_a_long_run_is_told_at_once(self):
        workers = [self.worker() for _ in range(3)]
        process = self.start_long(hosts(workers))
        workers[1].kill()
        line = process.stderr.readline()
        self.assertIn("lost host 1", line)
        self.assertIn(workers[1].address, line)
        self.assertIn("still waiting for @main", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(process)[0], 5)
        self.expect_idle([workers[0], workers[2]])

    def test_loops_that_only_carry_errors_end_by_themselves(self):
        for program in (STUCK, REDUCING):
            workers = [self.worker() for _ in range(3)]
            process = self.start_long(hosts(workers), program=program)
            workers[1].kill()
            code, _, err = self.finish(process)
            self.assertEqual(code, 4, err)
            self.assertRegex(err, "host [02] lost host 1")
            self.expect_idle([workers[0], workers[2]])

    def test_a_loss_ends_a_long_run_where_the_user_wants_that(self):
        workers = [self.worker() for _ in range(3)]
        process = self.start_long(hosts(workers), "--stop-on-loss")
        workers[1].kill()
        code, _, err = self.finish(process)
        self.assertEqual(code, 4, err)
        self.assertEqual(err.count("the client lost host 1"), 1, err)
        self.assertNotIn("still waiting", err)
        self.expect_idle([workers[0], workers[2]])

    def test_the_first_lines_say_what_is_still_waited_for(self):
        workers = [self.worker() for _ in range(3)]
        process = self.start_long(hosts(workers), program=BOTH.replace("OPTIONS", ""))
        workers[1].kill()
        self.assertIn("lost host 1", process.stderr.readline())
        self.assertRegex(
            process.stderr.readline(),
            "still waiting for @main, for @long on host 2, called at .*long.mlir:23:8 .--stop-on-loss would end it",
        )
        process.send_signal(signal.SIGINT)
        code, _, err = self.finish(process)
        # Host 0's error of the same loss, with the place, unless the interrupt reached host 0 before it had noticed the loss.
        self.assertIn(code, (4, 5), err)
        self.assertIn("while it ran @long" if code == 4 else "Cancelled by SIGINT", err)
        self.expect_idle([workers[0], workers[2]])

    def test_the_loss_behind_a_call_that_is_made_again_is_told(self):
        workers = [self.worker() for _ in range(3)]
        again = BOTH.replace("OPTIONS", ", pure, retries = 1 : i32")
        process = self.start_long(hosts(workers), "--stop-on-loss", program=again)
        workers[1].kill()
        self.assertIn("lost host 1", process.stderr.readline())
        line = process.stderr.readline()
        self.assertIn("still waiting for @main, for @long on host 2", line)
        self.assertIn("calls that have retries are made again", line)
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(process)[0], 5)
        self.expect_idle([workers[0], workers[2]])

    def test_a_loss_ends_a_long_local_run(self):
        process = self.start_long("--local=3")
        self.kill_local(1)
        code, _, err = self.finish(process)
        self.assertEqual(code, 4, err)
        self.assertIn("lost host 1 (local-1", err.splitlines()[0])
        self.expect_nothing_left()

    def test_a_local_run_goes_on_where_the_user_wants_that(self):
        cluster = self.write("cluster.yaml", "local: 3\nstop-on-loss: false\n")
        for flags in (["--local=3", "--stop-on-loss=false"], ["--cluster=" + cluster]):
            process = self.start_long(*flags)
            self.kill_local(1)
            self.assertIn("lost host 1 (local-1", process.stderr.readline())
            self.assertIn("still waiting for @main", process.stderr.readline())
            process.send_signal(signal.SIGINT)
            self.assertEqual(self.finish(process)[0], 5)
            self.expect_nothing_left()

    def test_the_command_line_decides_whether_a_loss_ends_the_run(self):
        cluster = self.write("cluster.yaml", "local: 3\nstop-on-loss: false\n")
        process = self.start_long("--cluster=" + cluster, "--stop-on-loss")
        self.kill_local(1)
        code, _, err = self.finish(process)
        self.assertEqual(code, 4, err)
        self.assertNotIn("still waiting", err)
        self.expect_nothing_left()

    def test_a_killed_worker_is_a_clean_end(self):
        numbers = random.Random(SEED)
        workers = [self.worker() for _ in range(3)]
        length = min(self.measure(workers) for _ in range(3))
        codes = {0: 0, 3: 0, 4: 0}
        longest = 0.0
        for _ in range(ROUNDS):
            victim = numbers.randrange(3)
            code, took = self.kill_one(workers, victim, numbers.uniform(0, length))
            codes[code] += 1
            longest = max(longest, took)
            for rank, worker in enumerate(workers):
                if rank != victim:
                    self.assertIsNone(worker.poll(), "host %d ended, too; seed %d" % (rank, SEED))
            self.expect_idle([worker for rank, worker in enumerate(workers) if rank != victim])
            workers[victim] = self.worker()
        self.measure(workers)
        for worker in workers:
            worker.terminate()
            self.assertEqual(worker.wait(PATIENCE_S), 0)
        self.expect_nothing_left()
        print(
            "seed %d: %d kills in runs of %.3f s; exit codes %s; longest end after a kill %.3f s"
            % (SEED, ROUNDS, length, codes, longest)
        )

    def test_a_killed_local_worker_is_a_clean_end_too(self):
        numbers = random.Random(SEED + 1)
        begin = time.monotonic()
        self.expect(self.run_tfrt(*DIGITS, "--local=3"), 0)
        length = time.monotonic() - begin
        codes = {0: 0, 3: 0, 4: 0}
        for _ in range(ROUNDS):
            delay = numbers.uniform(0, length)
            process = self.start(*DIGITS, "--local=3")
            end = time.monotonic() + delay
            while time.monotonic() < end and process.poll() is None:
                pass
            workers = [pid for pid in marked(self.mark) if runs(pid, "tfrt_worker")]
            if workers:
                os.kill(numbers.choice(workers), signal.SIGKILL)
            code, out, err = self.finish(process)
            context = "seed %d, after %.4f s: %s" % (SEED, delay, (code, out, err))
            self.assertIn(code, codes, context)
            if code != 0:
                self.assertRegex(err.splitlines()[0], "host [0-2]|worker [0-2]", context)
            codes[code] += 1
            self.expect_nothing_left()
        print("seed %d: %d kills of local workers; exit codes %s" % (SEED, ROUNDS, codes))


if __name__ == "__main__":
    main()
