#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Looking at a cluster that runs, and ending what runs on it: `tfrt list`, `dump`, `status`, `cancel`,
`drain`, on real processes, also when some of them don't get on or have died.

Usage: seeing_test.py TFRT TFRT_WORKER
"""

import json
import os
import signal
import subprocess
import time

from cluster import PATIENCE_S, hosts, main, strike
from running import SPINS, RunningTest

# Where SPINS begins to turn, and where that is called.
SPIN_LINE, SPIN_CALL_LINE = 5, 14

# Behind @spin: no other host has to do with it.
ALONE = """func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %ch = tfrt.new.chain
  %r = tfrt.call @spin(%one, %ch) : (i32, !tfrt.chain) -> i32
  tfrt.return %r : i32
}
"""

# A tensor of 1,000,000 bytes is made on host 1 and used on host 2, which then waits for ever.
HANDED_ON = """func.func @make(%ch: !tfrt.chain) -> (!tfrt_tensor.tensor, !tfrt.chain) {
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [500 : i64, 500 : i64]
  %c = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch 1.0 : f32
  tfrt.return %t, %c : !tfrt_tensor.tensor, !tfrt.chain
}
func.func @use(%t: !tfrt_tensor.tensor, %ch: !tfrt.chain) -> i32 {
  %two = tfrt.constant.i32 2
  %one = tfrt.constant.i32 1
  %printed = tfrt.print.i32 %one, %ch
  %u = tfrt_dist.fetch %t : !tfrt_tensor.tensor
  %h = tfrt_dist.host %two
  %k = tfrt_dist.key "never"
  %v, %ch1 = tfrt_dist.recv %h, %k, %ch : i32
  tfrt.return %v : i32
}
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %t, %ch1 = tfrt.call @make(%ch) {host = 1 : i32} : (!tfrt.chain) -> (!tfrt_tensor.tensor, !tfrt.chain)
  %r = tfrt.call @use(%t, %ch1) {host = 2 : i32} : (!tfrt_tensor.tensor, !tfrt.chain) -> i32
  tfrt.return %r : i32
}
"""

# Host 1 waits for a message that host 2, which is called with nothing to do, never sends.
RECEIVES = """func.func @wait(%x: i32, %ch: !tfrt.chain) -> i32 {
  %printed = tfrt.print.i32 %x, %ch
  %two = tfrt.constant.i32 2
  %h = tfrt_dist.host %two
  %k = tfrt_dist.key "never"
  %v, %ch1 = tfrt_dist.recv %h, %k, %ch : i32
  tfrt.return %v : i32
}
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %v = tfrt.call @wait(%one, %ch) {host = 1 : i32} : (i32, !tfrt.chain) -> i32
  tfrt.return %v : i32
}
"""

# Hosts 0 and 1 combine what they have with host 2, which nobody has asked to.
COMBINES = """func.func @join(%x: i32, %ch: !tfrt.chain) -> i32 {
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch 1.0 : f32
  %all = tfrt_dist.world
  %printed = tfrt.print.i32 %x, %ch1
  %sum, %ch2 = tfrt_dist.all_reduce %all, %t, %printed {reduction = "sum"}
  %y = "tfrt_test.identity"(%ch2, %x) : (!tfrt.chain, i32) -> i32
  tfrt.return %y : i32
}
func.func @main() -> (i32, i32) {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %a = tfrt.call @join(%one, %ch) : (i32, !tfrt.chain) -> i32
  %b = tfrt.call @join(%one, %ch) {host = 1 : i32} : (i32, !tfrt.chain) -> i32
  tfrt.return %a, %b : i32, i32
}
"""

# Each of two calls is given what the two before it are to make, which begin with a wait without end.
LAYERS = 24
LAYERED = RECEIVES[: RECEIVES.index("func.func @main")] + """func.func @both(%x: i32, %y: i32) -> i32 {
  %z = tfrt.add.i32 %x, %y
  tfrt.return %z : i32
}
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %a0 = tfrt.call @wait(%one, %ch) {host = 1 : i32} : (i32, !tfrt.chain) -> i32
  %b0 = tfrt.add.i32 %a0, %one
""" + "".join(
    "  %%%s%d = tfrt.call @both(%%a%d, %%b%d) {host = %d : i32} : (i32, i32) -> i32\n"
    % (name, layer, layer - 1, layer - 1, host)
    for layer in range(1, LAYERS)
    for name, host in (("a", 1), ("b", 2))
) + "  tfrt.return %%b%d : i32\n}\n" % (LAYERS - 1)

SUM = """func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %two = tfrt.add.i32 %one, %one
  tfrt.return %two : i32
}
"""


# Prints a line on each of two hosts.
LINES = """func.func @line(%ch: !tfrt.chain) -> !tfrt.chain {
  %one = tfrt.constant.i32 1
  %printed = tfrt.print.i32 %one, %ch
  tfrt.return %printed : !tfrt.chain
}
func.func @main() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt.call @line(%ch0) {host = 1 : i32} : (!tfrt.chain) -> !tfrt.chain
  %ch2 = tfrt.call @line(%ch1) : (!tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}
"""


class SeeingTest(RunningTest):
    def test_what_runs_is_listed(self):
        workers, process = self.begin()
        calls = self.calls(workers)
        root, middle, last = [worker.address for worker in workers]
        self.assertEqual([calls["middle"][side] for side in ("from", "to")], [root, middle])
        self.assertEqual([calls["spin"][side] for side in ("from", "to")], [middle, last])
        self.assertIn("waits.mlir:%d:" % SPIN_CALL_LINE, calls["spin"]["at"])
        jobs = self.ask_json("list", "jobs", hosts(workers))
        self.assertEqual(len(jobs), 1)
        self.assertIn("waits.mlir", jobs[0]["name"])
        self.assertEqual([jobs[0]["hosts"], jobs[0]["root"]], [3, root])
        self.assertEqual({call["job"] for call in calls.values()}, {jobs[0]["job"]})
        listed = self.ask_json("list", "hosts", hosts(workers))
        self.assertEqual([host["host"] for host in listed], [root, middle, last])
        self.assertEqual([host["calls"] for host in listed], [0, 1, 2])
        objects = self.ask_json("list", "objects", hosts(workers))
        self.assertIn(
            (last, "object", "spin", "waiting"),
            [(o["host"], o["kind"], o["function"], o["state"]) for o in objects],
        )
        self.assertIn(
            (middle, "remote", last, "spin"),
            [(o["host"], o["kind"], o["owner"], o["function"]) for o in objects],
        )
        programs = [o for o in objects if o["type"] == "!tfrt.program"]
        self.assertTrue(all(program["bytes"] > 100 for program in programs))
        code, out, err = self.ask("status", hosts(workers))
        self.assertEqual(code, 0, err)
        for text in ("CALL ", calls["spin"]["call"], "FUNCTION", "remote"):
            self.assertIn(text, out)
        # Each live thing has an age, which grows.
        before = calls["spin"]["age_s"]
        end = time.monotonic() + PATIENCE_S
        while self.calls(workers)["spin"]["age_s"] < before + 0.2:
            self.assertLess(time.monotonic(), end)
        process.send_signal(signal.SIGINT)
        self.expect(self.finish(process), 5)
        self.expect_idle(workers)
        for noun in ("jobs", "calls", "objects"):
            self.assertEqual(self.ask_json("list", noun, hosts(workers)), [])

    def test_a_dump_names_what_all_wait_for_though_its_thread_is_stuck(self):
        workers, _ = self.begin()
        self.calls(workers)
        begin = time.monotonic()
        graph = self.ask_json("dump", hosts(workers))
        self.assertLess(time.monotonic() - begin, PATIENCE_S)
        culprit = graph["waits_for"]
        self.assertEqual([culprit["function"], culprit["host"]], ["spin", workers[2].address])
        # All four: who was given the value that is to be made, too.
        self.assertEqual([culprit["waiters"], len(graph["nodes"])], [4, 4])
        self.assertEqual(culprit["operation"]["kind"], "kernel")
        self.assertIn(culprit["operation"]["function"], ("spin", "again"))
        self.assertIn("waits.mlir:%d:" % SPIN_CALL_LINE, culprit["at"])
        code, out, _ = self.ask("dump", hosts(workers))
        self.assertEqual(code, 0)
        first = out.splitlines()[0]
        self.assertTrue(first.startswith("4 of 4 calls wait for call "), out)
        for part in ("@spin", workers[2].address, "waits.mlir:%d:" % SPIN_CALL_LINE):
            self.assertIn(part, first)
        self.assertIn("start 1 of @main on " + workers[0].address, out)

    def test_a_kernel_in_a_file_whose_name_is_no_text_disturbs_nothing(self):
        """Heartbeats name it: bytes that are no UTF-8, or a name that is cut within a character."""
        spin = SPINS[: SPINS.index("func.func @middle")]
        deep = "/".join(["\u00e9" * 120] * 3)
        for name in ("caf\udce9.mlir", deep + "/waits.mlir", "x" + deep + "/waits.mlir"):
            os.makedirs(os.path.dirname(os.path.join(self.folder, name)), exist_ok=True)
            workers = self.start_workers(2, "--heartbeat-ms=20", "--silence-ms=5000")
            process = self.start(self.write(name, spin + ALONE), hosts(workers))
            self.assertIn("int32 = 1", process.stdout.readline())
            for _ in range(10):
                culprit = self.ask_json("dump", hosts(workers))["waits_for"]
                self.assertEqual(culprit["function"], "main")
            self.assertEqual([status["resumes"] for status in self.status(workers)], [0, 0])
            process.send_signal(signal.SIGINT)
            self.expect(self.finish(process), 5)

    def test_one_call_waits_for_itself(self):
        spin = SPINS[: SPINS.index("func.func @middle")]
        workers, _ = self.begin(spin + ALONE)
        code, out, err = self.ask("dump", hosts(workers))
        self.assertEqual(code, 0, err)
        begin = "1 of 1 call waits for start 1 of @main on " + workers[0].address
        self.assertTrue(out.startswith(begin), out)

    def test_a_payload_is_where_it_is_used_and_not_where_it_is_handed_on(self):
        workers, process = self.begin(HANDED_ON)
        addresses = [worker.address for worker in workers]
        end = time.monotonic() + PATIENCE_S
        while True:
            tensors = [
                (addresses.index(o["host"]), o["kind"], o["state"])
                for o in self.ask_json("list", "objects", hosts(workers))
                if o["bytes"] == 1000000
            ]
            if (2, "remote", "ready") in tensors:
                break
            self.assertLess(time.monotonic(), end, tensors)
        # Host 0 knows of it, that it is at host 1, and has nothing of it.
        right = [(0, "remote", "there"), (1, "object", "ready"), (2, "remote", "ready")]
        self.assertEqual(sorted(tensors), right)
        process.send_signal(signal.SIGINT)
        self.expect(self.finish(process), 5)
        self.expect_idle(workers)

    def test_a_dump_names_a_message_that_does_not_come(self):
        workers, _ = self.begin(RECEIVES)
        culprit = self.ask_json("dump", hosts(workers))["waits_for"]
        self.assertEqual([culprit["function"], culprit["host"]], ["wait", workers[1].address])
        operation = culprit["operation"]
        self.assertEqual(
            [operation["kind"], operation["sender"], operation["key"]], ["receive", "2", "never"]
        )

    def test_a_dump_says_once_what_a_call_waits_for(self):
        workers, process = self.begin(LAYERED)
        # Two in each layer, the call that waits, and the start.
        calls = 2 * LAYERS
        end = time.monotonic() + PATIENCE_S
        while len(self.ask_json("dump", hosts(workers))["nodes"]) < calls:
            self.assertLess(time.monotonic(), end)
        code, out, err = self.ask("dump", hosts(workers))
        self.assertEqual(code, 0, err)
        self.assertEqual(out.count("in kernel tfrt_dist.recv of @wait at "), 2, out)
        # A line for each of the two that a call waits for, and for each that the start does.
        self.assertLess(len(out.splitlines()), 4 * calls)
        self.assertGreater(out.count(" (see above)"), LAYERS)
        process.send_signal(signal.SIGINT)
        self.expect(self.finish(process), 5)

    def test_a_dump_names_the_collective_that_a_host_does_not_join(self):
        workers, process = self.begin(COMBINES)
        # The other line: both hosts are in it by then, or about to be.
        self.assertIn("int32 = 1", process.stdout.readline())
        end = time.monotonic() + PATIENCE_S
        while True:
            culprit = self.ask_json("dump", hosts(workers))["waits_for"]
            operation = culprit.get("operation", {})
            if operation.get("kind") == "receive":
                break
            self.assertLess(time.monotonic(), end, culprit)
        self.assertEqual([operation["name"], operation["function"]], ["tfrt_dist.all_reduce", "join"])
        self.assertEqual([operation["sender"], culprit["function"]], ["2", "join"])
        _, out, _ = self.ask("dump", hosts(workers))
        place = "waits.mlir:%d:" % (COMBINES[: COMBINES.index("%sum")].count("\n") + 1)
        self.assertIn("in kernel tfrt_dist.all_reduce of @join at ", out)
        self.assertIn(place, out)
        self.assertIn(", which waits for a message from host 2 ", out)

    def test_a_host_that_stands_still_is_a_line_and_what_is_waited_for(self):
        workers, _ = self.begin()
        self.calls(workers)
        strike(workers[2], signal.SIGSTOP)
        code, out, err = self.ask("dump", hosts(workers), "--timeout=3000")
        self.assertEqual(code, 6, err)
        self.assertIn(workers[2].address + ": no answer in 3000 ms", err)
        self.assertIn(workers[2].address, out.splitlines()[0])
        self.assertIn("does not answer", out.splitlines()[0])
        code, out, err = self.ask("list", "hosts", hosts(workers), "--timeout=3000")
        self.assertEqual(code, 6, err)
        self.assertEqual(out.count("serving"), 2, out)
        self.assertEqual(out.count("no answer"), 1, out)
        workers[2].send_signal(signal.SIGCONT)

    def test_a_host_that_wants_another_key_has_answered(self):
        worker = self.start_worker("--cluster-key-file=" + self.write("key", "secret\n"))
        others = [self.start_worker(), worker]
        for verb in (["status"], ["list", "hosts"]):
            code, out, _ = self.ask(*verb, hosts(others) + ",127.0.0.1:1")
            self.assertEqual(code, 8, out)
            self.assertEqual((out.count("refused"), out.count("no answer")), (1, 1), out)

    def test_what_is_not_known_is_null_for_programs(self):
        workers, process = self.begin()
        code, out, err = self.ask("status", hosts(workers), "-o=json")
        self.assertEqual(code, 0, err)
        # The asking client listens nowhere, so nobody knows an address of it.
        self.assertIn('"address":null', out)
        self.assertNotIn('"-"', out)
        process.send_signal(signal.SIGINT)

    def test_the_kernel_of_the_job_itself_is_told(self):
        """Two jobs run one program, from files of two names. Host 2 has one thread."""
        workers, first = self.begin()
        second = self.start(self.write("others.mlir", SPINS), hosts(workers))
        end = time.monotonic() + PATIENCE_S
        told = []
        # The hosts answer one after the other: a call that is made between two answers stands in the
        # callee's alone, and nothing says where it is made.
        while not told or len(spins) < 2 or not all("at" in node for node in spins):
            self.assertLess(time.monotonic(), end)
            nodes = self.ask_json("dump", hosts(workers))["nodes"]
            spins = [node for node in nodes if node.get("function") == "spin"]
            told = [node for node in spins if "operation" in node]
        for node in told:
            self.assertEqual(node["operation"]["at"].split(":")[0], node["at"].split(":")[0], nodes)
        for process in (second, first):
            process.send_signal(signal.SIGINT)

    def test_a_host_that_is_dead_is_a_line(self):
        workers, process = self.begin()
        workers[2].kill()
        code, out, err = self.ask("list", "hosts", hosts(workers))
        self.assertEqual(code, 3, err)
        self.assertEqual(out.count("serving"), 2, out)
        self.assertIn(workers[2].address, err)
        # It is asked by itself, so it is named by its address alone.
        self.assertNotIn("host 0", err)
        self.expect(self.finish(process), 4)
        self.expect_idle(workers[:2])

    def test_a_job_is_cancelled_by_its_name(self):
        workers, process = self.begin()
        job = self.ask_json("list", "jobs", hosts(workers))[0]["job"]
        code, out, err = self.ask("cancel", job, hosts(workers))
        self.assertEqual([code, out], [0, "cancelled %s\n" % job], err)
        result = self.finish(process)
        self.expect(result, 5, None, "tfrt cancel")
        self.expect_idle(workers)
        code, _, err = self.ask("cancel", job, hosts(workers))
        self.assertEqual(code, 2)
        self.assertIn("there is no job or call '%s'" % job, err)
        # The JSON output has the error, too.
        for verb in ("cancel", "attach", "trace"):
            code, out, err = self.ask(verb, job, hosts(workers), "-o=json")
            self.assertEqual(code, 2, verb)
            error = json.loads(out)["error"]
            self.assertEqual(error["code"], "INVALID_ARGUMENT", verb)
            self.assertIn(error["message"], err)

    def cancel_and_lose(self, signal_number):
        """What a cancel says whose worker is given a signal when it has told of its job; whose
        address that is; and the job. Another worker lets the cancel wait until then."""
        lost, late = self.start_workers(2)
        spin = SPINS[: SPINS.index("func.func @middle")]
        process = self.start(self.write("alone.mlir", spin + ALONE), hosts([lost]))
        self.assertEqual(process.stdout.readline(), "int32 = 1\n")
        job = self.ask_json("list", "jobs", hosts([lost]))[0]["job"]
        strike(late, signal.SIGSTOP)
        cancel = self.start_verb("cancel", job, hosts([lost, late]), "--timeout=4000")
        end = time.monotonic() + PATIENCE_S
        while "cancel" not in (job["name"] for job in self.ask_json("list", "jobs", hosts([lost]))):
            self.assertLess(time.monotonic(), end)
        strike(lost, signal_number)
        late.send_signal(signal.SIGCONT)
        result = self.finish(cancel)
        lost.kill()
        self.finish(process)
        return result, lost.address, job

    def test_a_cancel_of_what_is_lost_meanwhile_says_so(self):
        for signal_number, code, text in (
            (signal.SIGKILL, 4, "lost a host"),
            (signal.SIGSTOP, 6, "no answer in 4000 ms"),
        ):
            result, address, job = self.cancel_and_lose(signal_number)
            end = time.monotonic() + PATIENCE_S
            while "there is no job or call" in result[2] and time.monotonic() < end:
                # It had not told of the job yet.
                result, address, job = self.cancel_and_lose(signal_number)
            self.expect(result, code, "", text)
            self.assertEqual(result[2].count("\n"), 1, result)
            self.assertIn("tfrt: ", result[2])
            self.assertIn(address, result[2])
            self.assertNotIn("was over", result[2])

    def test_a_call_is_cancelled_by_its_name(self):
        workers, process = self.begin()
        call = self.calls(workers)["spin"]["call"]
        self.assertEqual(
            self.ask_json("cancel", call, hosts(workers)), {"cancelled": call}
        )
        first = self.expect_first_line(self.finish(process))
        self.assertRegex(
            first, r"while it ran @spin \[in @middle, [^@]*waits\.mlir:%d:\d+, host 1\]$" % SPIN_CALL_LINE
        )
        self.expect_idle(workers)

    def test_a_call_is_cancelled_on_its_host_alone(self):
        workers, process = self.begin()
        call = self.calls(workers)["spin"]["call"]
        code, _, err = self.ask("cancel", call, hosts(workers[2:]))
        self.assertEqual(code, 0, err)
        # Nobody was asked where it is made.
        first = self.expect_first_line(self.finish(process))
        self.assertRegex(
            first, r"while it ran @spin \[in @spin, [^@]*waits\.mlir:%d:\d+, host 2\]$" % SPIN_LINE
        )
        self.expect_idle(workers)

    def expect_first_line(self, result):
        """The first line of the error of a run that was cancelled."""
        self.expect(result, 5, None, "CANCELLED: cancelled by an administrator (tfrt cancel) ")
        return result[2].splitlines()[0]

    def test_drained_workers_end_with_what_they_run(self):
        workers, process = self.begin()
        code, out, err = self.ask("drain", workers[1].address, hosts(workers))
        self.assertEqual((code, out), (2, ""))
        self.assertIn(workers[1].address + ", and --hosts or --hostfile: name the workers in one way", err)
        code, out, err = self.ask("drain", workers[1].address)
        self.assertEqual(code, 0, err)
        self.assertRegex(out, workers[1].address + " +draining +1\n")
        again = self.ask_json("drain", workers[1].address)
        self.assertEqual(again, [{"host": workers[1].address, "state": "draining", "jobs": 1}])
        listed = self.ask_json("list", "hosts", hosts(workers))
        self.assertEqual([host["state"] for host in listed], ["serving", "draining", "serving"])
        # No other job any more, but this one goes on.
        self.expect(self.run_tfrt(self.write("sum.mlir", SUM), hosts(workers)), 3)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.expect(self.finish(process), 5)
        self.assertEqual(workers[1].wait(timeout=PATIENCE_S), 0)

    def test_who_only_asks_is_no_job_and_holds_up_no_drain(self):
        worker = self.start_worker("--drain-timeout-ms=600000")
        path = self.write("trace.json", "")
        trace = self.start_verb("trace", hosts([worker]), "--for=600000", "--file=" + path)
        end = time.monotonic() + PATIENCE_S
        while "trace" not in (job["name"] for job in self.ask_json("list", "jobs", hosts([worker]))):
            self.assertLess(time.monotonic(), end)
        self.assertEqual(self.counts(worker, "jobs"), [0])
        drained = self.ask_json("drain", worker.address)
        self.assertEqual(drained, [{"host": worker.address, "state": "draining", "jobs": 0}])
        self.assertEqual(worker.wait(timeout=PATIENCE_S), 0)
        trace.send_signal(signal.SIGINT)
        self.finish(trace)

    def test_where_nobody_answers_there_is_an_error_and_nothing_else(self):
        workers = self.start_workers(2)
        for worker in workers:
            worker.kill()
            worker.wait()
        path = os.path.join(self.folder, "seen.json")
        for verb in (
            ["list", "hosts"],
            ["list", "jobs"],
            ["list", "calls"],
            ["list", "objects"],
            ["dump"],
            ["drain"],
            ["cancel", "abc"],
            ["attach", "abc"],
            ["trace", "--for=10", "--file=" + path],
            ["trace", "abc", "--for=10", "--file=" + path],
        ):
            code, out, err = self.ask(*verb, hosts(workers))
            self.assertEqual((code, out), (3, ""), verb)
            for worker in workers:
                self.assertEqual(err.count(worker.address + ": "), 1, err)
            code, out, _ = self.ask(*verb, hosts(workers), "-o=json")
            self.assertEqual(code, 3, verb)
            error = json.loads(out)["error"]
            self.assertEqual(error["code"], "UNAVAILABLE")
            self.assertIn(workers[0].address, error["message"])
            self.assertFalse(os.path.exists(path))

    def test_what_is_not_found_may_be_on_a_worker_that_does_not_answer(self):
        here, gone, still = self.start_workers(3)
        strike(gone, signal.SIGKILL)
        strike(still, signal.SIGSTOP)
        path = os.path.join(self.folder, "seen.json")
        for verb in (["cancel", "abc"], ["attach", "abc"], ["trace", "abc", "--file=" + path]):
            for workers, code, name, silent in (
                ([here, gone], 3, "UNAVAILABLE", gone),
                ([here, still], 6, "DEADLINE_EXCEEDED", still),
                ([here], 2, "INVALID_ARGUMENT", None),
            ):
                found = self.ask(*verb, hosts(workers), "--timeout=2000", "-o=json")
                self.assertEqual(found[0], code, found)
                error = json.loads(found[1])["error"]
                self.assertEqual(error["code"], name)
                self.assertRegex(error["message"], r"\Athere is no .*'abc' on the workers")
                self.assertEqual(found[2], "tfrt: %s: %s\n" % (name, error["message"]))
                if silent:
                    self.assertIn("this one may have it: " + silent.address, error["message"])
        still.send_signal(signal.SIGCONT)

    def test_who_can_not_say_it_fails_with_one_line(self):
        workers = self.start_workers(2)
        program = self.write("lines.mlir", LINES)
        for verb in (["run", program], ["list", "jobs"], ["status", "-o=json"], ["dump"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                process = subprocess.run(
                    [self.tfrt, *verb, hosts(workers)],
                    stdin=subprocess.DEVNULL,
                    stdout=full,
                    stderr=subprocess.PIPE,
                    env=self.environment,
                    universal_newlines=True,
                    timeout=PATIENCE_S,
                    check=False,
                )
            self.assertEqual(process.returncode, 1, verb)
            self.assertRegex(process.stderr, "^tfrt: DATA_LOSS: can't write to the standard output.*\n$")
        self.expect_idle(workers)

    def test_wrong_usage(self):
        for arguments, part in (
            (["list"], "name the workers"),
            (["list", "--hosts=a:1"], "hosts, jobs, calls or objects"),
            (["list", "dogs", "--hosts=a:1"], "hosts, jobs, calls or objects"),
            (["cancel", "--hosts=a:1"], "name one job or call"),
            (["drain"], "name the workers"),
            (["dump", "--hosts=a:1", "-o=xml"], "there are text and json"),
            (["dump", "--hosts=a:1", "all"], "'all' is no flag"),
        ):
            code, out, err = self.ask(*arguments)
            self.assertEqual([code, out], [2, ""], arguments)
            self.assertIn(part, err)
        for verb in (["list", "jobs"], ["status"], ["dump"], ["trace"], ["attach"], ["cancel"], ["drain"]):
            for wrong in ("--nonsense", "--timeout=x", "--tls-dir=", "--cluster=/nowhere.yaml"):
                for line in ([*verb, wrong, "-o", "json"], [*verb, "-o=json", wrong]):
                    code, out, err = self.ask(*line)
                    self.assertEqual(code, 2, line)
                    error = json.loads(out)["error"]
                    self.assertEqual(err, "tfrt: %s: %s\n" % (error["code"], error["message"]))


if __name__ == "__main__":
    main()
