#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that go on without who has started them: `tfrt run --detach`, `tfrt attach`, on real processes,
also when some of them are killed.

Usage: detach_test.py TFRT TFRT_WORKER
"""

import json
import os
import re
import signal
import subprocess
import time

from cluster import PATIENCE_S, UNUSED, ClusterTest, hosts, main, strike

# Host 1 says 1, turns in a loop until it has counted to `n`, and says how far that is; then host 0 does.
SPINS = """func.func @turn(%i: i32, %one: i32, %n: i32) -> (i32, i32, i32, i1) {
  %next = tfrt.add.i32 %i, %one
  %go = "tfrt.lessequal.i32"(%next, %n) : (i32, i32) -> i1
  tfrt.return %next, %one, %n, %go : i32, i32, i32, i1
}
func.func @spin(%n: i32, %ch: !tfrt.chain) -> (i32, !tfrt.chain) {
  %hello = tfrt.constant.i32 1
  %ch1 = tfrt.print.i32 %hello, %ch
  %last = "tfrt_test.identity"(%ch1, %n) : (!tfrt.chain, i32) -> i32
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %go = tfrt.constant.i1 true
  %end:3 = tfrt.while %go @turn(%zero, %one, %last) parallel_iterations(1) : (i32, i32, i32) -> (i32, i32, i32)
  %ch2 = tfrt.print.i32 %end#0, %ch1
  tfrt.return %end#0, %ch2 : i32, !tfrt.chain
}
func.func @main(%n: i32) -> (i32, i32) {
  %ch = tfrt.new.chain
  %first = tfrt.constant.i32 0
  %ch1 = tfrt.print.i32 %first, %ch
  %r, %ch2 = tfrt.call @spin(%n, %ch1) {host = 1 : i32} : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
  %ch3 = tfrt.print.i32 %r, %ch2
  tfrt.return %r, %n : i32, i32
}
"""

FAILS = """func.func @main() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %zero = tfrt.constant.i32 0
  %q, %r = tfrt.div.i32 %one, %zero
  tfrt.return %one, %q : i32, i32
}
"""

# Prints a line, and has enough results that each attach fetches them for a while.
MANY = 2000
MANY_RESULTS = """func.func @main() -> (%s) {
  %%ch = tfrt.new.chain
  %%one = tfrt.constant.i32 1
  %%ch1 = tfrt.print.i32 %%one, %%ch
  %%x = "tfrt_test.identity"(%%ch1, %%one) : (!tfrt.chain, i32) -> i32
  tfrt.return %s : %s
}
""" % tuple(", ".join(MANY * [word]) for word in ("i32", "%x", "i32"))

RETURNED = "int32 = 0\n[1] int32 = 1\n[1] int32 = %d\nint32 = %d\n'main' returned %d,%d\n"

# Some are long enough to be looked at, some never end by themselves.
SHORT, LONG, FOR_EVER = 100, 1000000, 2000000000


def returned(n):
    return RETURNED % (n + 1, n + 1, n + 1, n)


class DetachTest(ClusterTest):
    def begin(self, n, *flags):
        """Two workers, and the name of a job on them that has been left to run."""
        workers = self.start_workers(2, "--heartbeat-ms=200", "--silence-ms=5000")
        return workers, self.detach(workers, n, *flags)

    def detach(self, workers, n, *flags):
        program = self.write("spins.mlir", SPINS)
        code, out, err = self.run_tfrt(program, "--arg=n=%d" % n, hosts(workers), "--detach", *flags)
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, "^[0-9a-f]{32}\n$")
        return out.strip()

    def attach(self, workers, job, *flags):
        return self.ask("attach", job, hosts(workers), *flags)

    def states(self, workers):
        code, out, err = self.ask("list", "jobs", hosts(workers), "-o=json")
        self.assertEqual(code, 0, err)
        return {job["job"]: job["state"] for job in json.loads(out)}

    def expect_followers(self, workers, roots):
        """Soon those who follow a job are jobs themselves on `roots` alone."""
        end = time.monotonic() + PATIENCE_S
        while True:
            code, out, err = self.ask("list", "jobs", hosts(workers), "-o=json")
            self.assertEqual(code, 0, err)
            found = [job["root"] for job in json.loads(out) if job["name"] == "attach"]
            if found == [worker.address for worker in roots]:
                return
            self.assertLess(time.monotonic(), end, found)

    def expect_kept(self, workers, count):
        """Nothing but so many results is left."""
        self.expect_idle(workers)
        self.assertEqual(sum(status["kept_jobs"] for status in self.status(workers)), count)

    def test_a_job_is_attached_to_from_anywhere_while_it_runs_and_after(self):
        workers, job = self.begin(LONG)
        self.expect(self.attach(workers, job), 0, returned(LONG))
        self.expect(self.attach(workers, job[:6]), 0, returned(LONG))
        code, out, err = self.attach(workers, job, "-o=json")
        self.assertEqual(code, 0, err)
        results = json.loads(out.splitlines()[-1])
        self.assertEqual([value["value"] for value in results["results"]], [str(LONG + 1), str(LONG)])
        self.assertEqual(self.states(workers), {job[:8]: "kept"})
        self.expect_kept(workers, 1)
        self.expect_nothing_left_but(workers)

    def expect_nothing_left_but(self, workers):
        for worker in workers:
            worker.terminate()
            self.assertEqual(worker.wait(PATIENCE_S), 0)
        self.expect_nothing_left()

    def test_who_has_started_or_follows_it_may_be_killed(self):
        workers = self.start_workers(2, "--heartbeat-ms=200", "--silence-ms=5000")
        program = self.write("spins.mlir", SPINS)
        starter = self.start(program, "--arg=n=%d" % FOR_EVER, hosts(workers), "--detach")
        job = starter.stdout.readline().strip()
        starter.kill()
        starter.wait(PATIENCE_S)
        first = self.start_verb("attach", job, hosts(workers))
        self.assertEqual(first.stdout.readline(), "int32 = 0\n")
        first.kill()
        first.wait(PATIENCE_S)
        # Nobody has taken what it said; and SIGINT ends who follows, not the job.
        second = self.start_verb("attach", job, hosts(workers))
        self.assertEqual(second.stdout.readline(), "int32 = 0\n")
        self.assertEqual(second.stdout.readline(), "[1] int32 = 1\n")
        self.expect_followers(workers, workers[:1])
        second.send_signal(signal.SIGINT)
        self.expect(self.finish(second), 5, "", "the job goes on")
        self.assertEqual(self.states(workers)[job[:8]], "detached")
        third = self.start_verb("attach", job, hosts(workers))
        self.assertEqual(third.stdout.readline(), "int32 = 0\n")
        self.expect(self.ask("cancel", job, hosts(workers)), 0)
        code, _, err = self.finish(third)
        self.assertEqual(code, 5, err)
        self.assertIn("CANCELLED: cancelled by an administrator", err)
        self.expect(self.attach(workers, job), 5)
        # The cancelled one is forgotten when it is cancelled again.
        self.expect(self.ask("cancel", job, hosts(workers)), 0)
        self.expect(self.attach(workers, job), 2, "", "there is no job")
        self.expect_kept(workers, 0)

    def test_a_name_that_could_not_be_printed_is_told_elsewhere(self):
        workers = self.start_workers(2)
        program = self.write("spins.mlir", SPINS)
        command = [self.tfrt, "run", program, "--arg=n=%d" % SHORT, hosts(workers), "--detach"]
        for full in (True, False):
            writing = os.open("/dev/full", os.O_WRONLY)
            if not full:
                os.close(writing)
                reading, writing = os.pipe()
                os.close(reading)
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=subprocess.PIPE,
                env=self.environment,
                universal_newlines=True,
            )
            os.close(writing)
            self.addCleanup(process.kill)
            _, err = process.communicate(timeout=PATIENCE_S)
            self.assertEqual(process.returncode, 1 if full else -signal.SIGPIPE, err)
            job = re.match("tfrt: the job is ([0-9a-f]{32})\n", err)
            self.assertTrue(job, err)
            self.expect(self.attach(workers, job.group(1)), 0, returned(SHORT))

    def test_without_detach_the_job_ends_with_who_has_started_it(self):
        workers = self.start_workers(2, "--heartbeat-ms=200", "--silence-ms=5000")
        program = self.write("spins.mlir", SPINS)
        starter = self.start(program, "--arg=n=%d" % FOR_EVER, hosts(workers))
        self.assertEqual(starter.stdout.readline(), "int32 = 0\n")
        job = list(self.states(workers))[0]
        self.expect(self.attach(workers, job), 2, "", "was not started with --detach")
        starter.kill()
        self.expect_kept(workers, 0)

    def test_a_lost_worker_is_what_the_job_ends_with(self):
        workers, job = self.begin(FOR_EVER)
        follower = self.start_verb("attach", job, hosts(workers))
        self.assertEqual(follower.stdout.readline(), "int32 = 0\n")
        self.assertEqual(follower.stdout.readline(), "[1] int32 = 1\n")
        workers[1].kill()
        self.expect(self.finish(follower), 4, None, "lost host 1")
        self.expect(self.attach(workers, job), 4, None, "lost host 1")
        self.expect_kept(workers[:1], 1)

    def test_with_host_0_the_job_is_lost(self):
        workers, job = self.begin(FOR_EVER)
        follower = self.start_verb("attach", job, hosts(workers), "-o=json")
        self.assertEqual(follower.stdout.readline(), "int32 = 0\n")
        workers[0].kill()
        code, out, err = self.finish(follower)
        self.expect((code, out, err), 4, None, "lost with its host 0")
        self.assertIn(workers[0].address, err)
        self.assertEqual(json.loads(out.splitlines()[-1])["error"]["code"], "UNAVAILABLE")
        self.expect_kept(workers[1:], 0)
        result = self.attach(workers, job)
        self.expect(result, 3, "", "there is no job '%s' on the workers that answer" % job)
        self.assertIn(workers[0].address, result[2])
        self.expect(self.attach(workers[1:], job), 2, "", "there is no job")

    def test_it_ends_as_the_run_would_have(self):
        workers = self.start_workers(1)
        program = self.write("fails.mlir", FAILS)
        right = self.run_tfrt(program, hosts(workers))
        self.assertEqual(right[0], 1)
        code, job, err = self.run_tfrt(program, hosts(workers), "--detach", "-o=json")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.attach(workers, json.loads(job)["job"]), right)

    def test_a_deadline_holds_without_anybody(self):
        # Time enough to begin the job on a slow machine: it counts, too.
        workers, job = self.begin(FOR_EVER, "--timeout=6000")
        self.expect(self.attach(workers, job), 6, None, "DEADLINE_EXCEEDED")
        self.expect_kept(workers, 1)

    def test_what_was_cut_off_that_no_result_needs_is_told_to_whoever_attaches(self):
        workers = self.start_workers(2)
        code, job, err = self.run_tfrt(self.write("unused.mlir", UNUSED), hosts(workers), "--detach")
        self.assertEqual(code, 0, err)
        job = job.strip()
        self.await_counts(workers[1], {"incoming_calls": 1})
        follower = self.start_verb("attach", job, hosts(workers))
        self.expect_followers(workers, workers[:1])
        self.expect(self.ask("cancel", job, hosts(workers)), 0)
        why = "tfrt: CANCELLED: cancelled by an administrator (tfrt cancel) [in host 0]\n"
        right = (5, "'main' returned 0\n", why)
        self.assertEqual(self.finish(follower), right)
        self.assertEqual(self.attach(workers, job), right)
        self.expect_kept(workers, 1)

    def test_a_host_0_that_does_not_answer_is_named(self):
        workers, job = self.begin(FOR_EVER)
        strike(workers[0], signal.SIGSTOP)
        code, out, err = self.attach(workers, job, "--timeout=2000")
        workers[0].send_signal(signal.SIGCONT)
        self.assertEqual((code, out), (6, ""), err)
        self.assertIn(workers[0].address + ": no answer in 2000 ms", err)
        self.expect(self.ask("cancel", job, hosts(workers)), 0)

    def test_results_are_kept_for_as_long_as_was_asked_for(self):
        workers, job = self.begin(SHORT, "--keep-ms=1")
        end = time.monotonic() + PATIENCE_S
        while self.states(workers):
            self.assertLess(time.monotonic(), end)
        self.expect(self.attach(workers, job), 2, "", "(any more)")
        self.expect_kept(workers, 0)

    def test_who_follows_a_job_that_is_forgotten_learns_its_end(self):
        workers, job = self.begin(FOR_EVER, "--keep-ms=1")
        follower = self.start_verb("attach", job, hosts(workers))
        self.assertEqual(follower.stdout.readline(), "int32 = 0\n")
        # Its end comes and goes while nobody looks.
        strike(follower, signal.SIGSTOP)
        self.expect(self.ask("cancel", job, hosts(workers)), 0)
        end = time.monotonic() + PATIENCE_S
        while job[:8] in self.states(workers):
            self.assertLess(time.monotonic(), end)
        follower.send_signal(signal.SIGCONT)
        self.expect(self.finish(follower), 5, None, "CANCELLED: cancelled by an administrator")
        self.expect_kept(workers, 0)

    def test_who_follows_a_job_that_is_cancelled_twice_learns_its_end(self):
        workers, job = self.begin(FOR_EVER)
        follower = self.start_verb("attach", job, hosts(workers))
        self.assertEqual(follower.stdout.readline(), "int32 = 0\n")
        strike(follower, signal.SIGSTOP)
        self.expect(self.ask("cancel", job, hosts(workers)), 0)
        self.await_kept(workers, job)
        self.expect(self.ask("cancel", job, hosts(workers)), 0)
        self.assertNotIn(job[:8], self.states(workers))
        follower.send_signal(signal.SIGCONT)
        self.expect(self.finish(follower), 5, None, "CANCELLED: cancelled by an administrator")
        self.expect_kept(workers, 0)

    def keep_many(self):
        """A worker, and the name of a job on it that is over and has many results."""
        workers = self.start_workers(1)
        program = self.write("many.mlir", MANY_RESULTS)
        code, out, err = self.run_tfrt(program, hosts(workers), "--detach")
        self.assertEqual(code, 0, err)
        job = out.strip()
        self.await_kept(workers, job)
        return workers, job

    def follow_line(self, workers, job):
        """An attach that has shown the one line of `job`, and fetches what it returned."""
        follower = self.start_verb("attach", job, hosts(workers))
        self.assertEqual(follower.stdout.readline(), "int32 = 1\n")
        return follower

    def await_kept(self, workers, job):
        end = time.monotonic() + PATIENCE_S
        while self.states(workers)[job[:8]] != "kept":
            self.assertLess(time.monotonic(), end)

    def test_who_fetches_what_is_forgotten_gets_it(self):
        workers, job = self.keep_many()
        follower = self.follow_line(workers, job)
        strike(follower, signal.SIGSTOP)
        self.expect(self.ask("cancel", job, hosts(workers)), 0)
        follower.send_signal(signal.SIGCONT)
        self.expect(self.finish(follower), 0, "'main' returned %s\n" % ",".join(MANY * ["1"]))
        self.expect(self.attach(workers, job), 2, "", "there is no job")

    def interrupt_while_fetching(self, workers, job):
        """How an attach ends that is interrupted while host 0 does not answer."""
        follower = self.follow_line(workers, job)
        strike(workers[0], signal.SIGSTOP)
        follower.send_signal(signal.SIGINT)
        result = self.finish(follower)
        workers[0].send_signal(signal.SIGCONT)
        return result

    def test_who_is_interrupted_while_fetching_prints_no_result(self):
        workers, job = self.keep_many()
        result = self.interrupt_while_fetching(workers, job)
        end = time.monotonic() + PATIENCE_S
        while result[0] == 0 and time.monotonic() < end:
            # It had fetched all before its worker was stopped.
            result = self.interrupt_while_fetching(workers, job)
        self.expect(result, 5, "", "host 0 keeps what the job has returned")
        self.expect(self.attach(workers, job), 0, "int32 = 1\n'main' returned %s\n" % ",".join(MANY * ["1"]))

    def test_what_makes_no_sense_is_one_line(self):
        workers, job = self.begin(SHORT)
        program = self.write("spins.mlir", SPINS)
        flags = (program, "--arg=n=1", "--detach")
        self.expect(self.run_tfrt(*flags), 2, "", "--detach needs workers that go on")
        self.expect(self.run_tfrt(*flags, "--local=2"), 2, "", "--detach needs workers that go on")
        self.expect(
            self.run_tfrt(*flags, hosts(workers), "--trace=x.json"), 2, "", "--trace collects at the end"
        )
        self.expect(
            self.run_tfrt(program, hosts(workers), "--keep-ms=5"), 2, "", "--keep-ms goes with --detach"
        )
        self.expect(self.ask("attach", hosts(workers)), 2, "", "name one job")
        self.expect(self.attach(workers, "what?"), 2, "", "there is no job 'what?'")
        self.expect(self.attach(workers[1:], job), 2, "", "")
        # One that is not there changes nothing.
        flag = hosts(workers) + ",127.0.0.1:1"
        self.expect(self.ask("attach", job, flag), 0, returned(SHORT))


if __name__ == "__main__":
    main(verbosity=2)
