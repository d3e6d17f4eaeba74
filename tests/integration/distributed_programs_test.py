#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Programs for any number of hosts: they print the same on workers and in one process.

Usage: distributed_programs_test.py TFRT TFRT_WORKER MLIR_TO_BEF BEF_TO_MLIR EXAMPLES PROGRAM.mlir...

One process (`--in-process=N`), which has no network, is the oracle of the workers
(`--local=N`); what it prints for three hosts stands in PROGRAM.out.
"""

import os
import signal
import subprocess
import sys

from cluster import ClusterTest, hosts, main

MLIR_TO_BEF, BEF_TO_MLIR, EXAMPLES = sys.argv[3:6]
PROGRAMS = [path for path in sys.argv[6:] if path.endswith(".mlir")]
DIGITS = [
    os.path.join(EXAMPLES, "digits_everywhere/digits.mlir"),
    "--arg=images=" + os.path.join(EXAMPLES, "mnist/data/test-images-idx3-ubyte.gz"),
    "--arg=labels=" + os.path.join(EXAMPLES, "mnist/data/test-labels-idx1-ubyte.gz"),
]

# Each host gives its rank, but host 1 says that it runs, then turns for ever.
STUCK = """func.func @again(%x: i32) -> (i32, i1) {
  %go = tfrt.constant.i1 true
  tfrt.return %x, %go : i32, i1
}
func.func @rank_or_spin(%ch: !tfrt.chain) -> i32 {
  %me = tfrt_dist.rank
  %one = tfrt.constant.i32 1
  %spins = "tfrt.equal.i32"(%me, %one) : (i32, i32) -> i1
  %r = tfrt.if %spins, %me, %ch : (i32, !tfrt.chain) -> (i32) {
    %go = tfrt.constant.i1 true
    %printed = tfrt.print.i32 %me, %ch
    %x = "tfrt_test.identity"(%printed, %me) : (!tfrt.chain, i32) -> i32
    %end = tfrt.while %go @again(%x) parallel_iterations(1) : (i32) -> (i32)
    tfrt.return %end : i32
  } else {
    tfrt.return %me : i32
  }
  tfrt.return %r : i32
}
func.func @main() -> (i32, i32, i32, i32, i32) {
  %ch = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %l = tfrt_dist.call_all @rank_or_spin(%ch) : (!tfrt.chain) -> (!tfrt_dist.list)
  %a = tfrt_dist.list.get %l, %zero : i32
  %b = tfrt_dist.list.get %l, %one : i32
  %c = tfrt_dist.list.get %l, %two : i32
  %s = tfrt_dist.list.sum %l : i32
  %n = tfrt_dist.list.size %l
  tfrt.return %a, %b, %c, %s, %n : i32, i32, i32, i32, i32
}
"""
# Host 1 is asked for what no host has.
LACKING = """func.func @f(%ch0: !tfrt.chain) -> !tfrt.chain {
  %value = tfrt.constant.i32 1
  %ch1 = tfrt.print.i32 %value, %ch0
  tfrt.return %ch1 : !tfrt.chain
}
func.func @main() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt.call @f(%ch0) {host = 0 : i32, device = "cpu:0"} : (!tfrt.chain) -> !tfrt.chain
  %ch2 = tfrt.call @f(%ch1) {host = 1 : i32, device = "tpu:3"} : (!tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}
"""
# Host 0 cancels its request when host 2, which is to print then, has said that it runs. Host 2 is
# called by host 0, or, with @pass, by host 1.
# A kernel on host 2 that doesn't come back in time, and a result that doesn't depend on it.
BLOCKED = """
func.func @nap() -> i32 {
  %c0 = tfrt.new.chain
  %x = tfrt.constant.i32 3
  %c1 = tfrt.print.i32 %x, %c0
  %us = tfrt.constant.i32 20000000
  %r = tfrt.call @sleep(%us, %c1) : (i32, !tfrt.chain) -> i32
  tfrt.return %r : i32
}
func.func @sleep(%us: i32, %ch: !tfrt.chain) -> i32 {
  %late = "tfrt_test.identity"(%ch, %us) : (!tfrt.chain, i32) -> i32
  %c = "tfrt_test.blocking.usleep"(%late) : (i32) -> !tfrt.chain
  %one = tfrt.constant.i32 1
  %r = "tfrt_test.identity"(%c, %one) : (!tfrt.chain, i32) -> i32
  tfrt.return %r : i32
}
func.func @relay() -> i32 {
  %r = tfrt.call @nap() {host = 2 : i32} : () -> i32
  tfrt.return %r : i32
}
func.func @main() -> (i32, i32) {
  %r = tfrt.call @relay() {host = 1 : i32} : () -> i32
  %two = tfrt.constant.i32 2
  tfrt.return %r, %two : i32, i32
}
"""

CANCELS = """func.func @say(%x: i32, %go: !tfrt.chain) -> i32 {
  %ch = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %root = tfrt_dist.host %zero
  %key = tfrt_dist.key "here"
  %sent = tfrt_dist.send %root, %key, %x, %ch
  %printed = tfrt.print.i32 %x, %go
  %said = "tfrt_test.identity"(%printed, %x) : (!tfrt.chain, i32) -> i32
  tfrt.return %said : i32
}
func.func @pass(%x: i32, %go: !tfrt.chain) -> i32 {
  %said = tfrt.call @say(%x, %go) {host = 2 : i32} : (i32, !tfrt.chain) -> i32
  tfrt.return %said : i32
}
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %seven = tfrt.constant.i32 7
  %two = tfrt.constant.i32 2
  %h = tfrt_dist.host %two
  %key = tfrt_dist.key "here"
  %x, %here = tfrt_dist.recv %h, %key, %ch : i32
  %zero, %go = "tfrt_test.cancel"(%here) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %said = tfrt.call @CALLEE(%seven, %go) {host = RANK : i32} : (i32, !tfrt.chain) -> i32
  tfrt.return %said : i32
}
"""
# A call on host 2 cancels itself; its caller and other calls there go on.
CANCELS_ITSELF = """func.func @stop(%x: i32) -> i32 {
  %ch = tfrt.new.chain
  %zero, %go = "tfrt_test.cancel"(%ch) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %y = "tfrt_test.identity"(%go, %x) : (!tfrt.chain, i32) -> i32
  tfrt.return %y : i32
}
func.func @twice(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @both(%x: i32) -> (i32, i32) {
  %a = tfrt.call @stop(%x) {host = 2 : i32} : (i32) -> i32
  %b = tfrt.call @twice(%x) {host = 2 : i32} : (i32) -> i32
  tfrt.return %a, %b : i32, i32
}
func.func @main() -> (i32, i32, i32) {
  %x = tfrt.constant.i32 21
  %a, %b = tfrt.call @both(%x) {host = 1 : i32} : (i32) -> (i32, i32)
  %c, %d = tfrt.call @both(%b) {host = 0 : i32} : (i32) -> (i32, i32)
  tfrt.return %a, %b, %d : i32, i32, i32
}
"""
# Host 1 waits for what nobody sends, and nobody for host 1.
UNSENT = """func.func @wait(%from: i32, %ch0: !tfrt.chain) -> i32 {
  %h = tfrt_dist.host %from
  %key = tfrt_dist.key "never"
  %x, %ch1 = tfrt_dist.recv %h, %key, %ch0 : i32
  %ch2 = tfrt.print.i32 %x, %ch1
  tfrt.return %x : i32
}
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %x = tfrt.call @wait(%one, %ch) {host = 1 : i32} : (i32, !tfrt.chain) -> i32
  tfrt.return %one : i32
}
"""
# Where @rank_or_spin is called.
STUCK_CALL = "stuck.mlir:25:"


class TestPrograms(ClusterTest):
    def outcome(self, path, *flags):
        """Exit code and output. What no chain orders may come in any order."""
        code, out, err = self.run_tfrt(path, *flags)
        self.assertIn(code, (0, 1), err)
        return code, sorted(out.splitlines())

    def test_one_process_prints_what_is_expected(self):
        self.assertGreaterEqual(len(PROGRAMS), 4)
        for path in PROGRAMS:
            with open(os.path.splitext(path)[0] + ".out", encoding="utf-8") as stream:
                expected = sorted(stream.read().splitlines())
            with self.subTest(path):
                self.assertEqual(self.outcome(path, "--in-process=3")[1], expected)

    def test_workers_print_what_one_process_does(self):
        for path in PROGRAMS:
            for count in (1, 2, 3, 5):
                with self.subTest(path=path, count=count):
                    oracle = self.outcome(path, "--in-process=%d" % count)
                    self.assertEqual(self.outcome(path, "--local=%d" % count), oracle)
        self.expect_nothing_left()

    def test_without_a_cluster_there_is_one_host(self):
        for path in PROGRAMS:
            with self.subTest(path):
                self.assertEqual(self.outcome(path), self.outcome(path, "--in-process=1"))

    def test_the_way_to_bef_and_back_changes_nothing(self):
        for path in PROGRAMS:
            bef = os.path.join(self.folder, "program.bef")
            text = os.path.join(self.folder, "program.mlir")
            subprocess.run([MLIR_TO_BEF, path, "-o", bef], check=True)
            subprocess.run([BEF_TO_MLIR, bef, "-o", text], check=True)
            with self.subTest(path):
                expected = self.outcome(path, "--in-process=2")
                self.assertEqual(self.outcome(bef, "--in-process=2"), expected)
                self.assertEqual(self.outcome(text, "--in-process=2"), expected)

    def test_a_host_that_lacks_a_device_is_told_before_anything_runs(self):
        path = self.write("placed.mlir", LACKING)
        for flags in (["--in-process=2"], ["--local=2"]):
            with self.subTest(flags):
                code, out, err = self.run_tfrt(path, *flags)
                self.assertEqual((code, out), (3, ""), err)
                for part in ("placed.mlir:9:", "host 1 lacks the device tpu:3 of a call",
                             "only of: cpu, cuda"):
                    self.assertIn(part, err)
        self.expect_nothing_left()

    def test_the_digits_are_the_same_on_any_number_of_hosts(self):
        for flags in ([], ["--in-process=4"], ["--local=1"], ["--local=4"], ["--local=5"]):
            with self.subTest(flags):
                code, out, err = self.run_tfrt(*DIGITS, *flags)
                self.assertEqual(code, 0, err)
                count = int(flags[0].split("=")[1]) if flags else 1
                lines = out.splitlines()
                self.assertEqual(
                    lines[-2:], ["accuracy: 99.60 % (996 of 1000)", "'main' returned 996,1000"]
                )
                hosts = [line.split(":")[0] for line in lines[:-2]]
                self.assertEqual(hosts, ["host %d" % rank for rank in range(count)])
        self.expect_nothing_left()

    def test_a_lost_host_is_the_loss_of_its_element_alone(self):
        workers = self.start_workers(3)
        process = self.start(self.write("stuck.mlir", STUCK), hosts(workers))
        self.assertEqual(process.stdout.readline(), "[1] int32 = 1\n")
        workers[1].kill()
        code, out, err = self.finish(process)
        self.assertEqual(code, 4, err)
        lost = r"<<error: host 0 lost host 1 \([^)]*\) while it ran @rank_or_spin: its process is gone>>"
        self.assertRegex(out, r"^'main' returned 0,%s,2,%s,3\n$" % (lost, lost))
        # It is the first line, unless host 0's answer takes longer than the client waits with its own.
        parts = ("host 1", workers[1].address, "@rank_or_spin", STUCK_CALL)
        self.assertTrue(any(all(part in line for part in parts) for line in err.splitlines()), err)

    def test_a_time_limit_ends_calls_on_all_hosts(self):
        path = self.write("stuck.mlir", STUCK)
        returned = "'main' returned 0,<<error: "
        code, out, err = self.run_until(returned, path, "--local=3")
        self.assertEqual(code, 6, err)
        self.assertIn(returned, out)
        self.expect_nothing_left()

    def test_a_kernel_that_cancels_ends_what_its_host_has_called(self):
        direct = CANCELS.replace("CALLEE", "say").replace("RANK", "2")
        passed = CANCELS.replace("CALLEE", "pass").replace("RANK", "1")
        # Between hosts the chain that host 2 waits for may overtake a cancel that comes by host 1.
        for text, flag in ((direct, "--local=3"), (direct, "--in-process=3"),
                           (passed, "--in-process=3")):
            with self.subTest(flag=flag, passed=text is passed):
                result = self.run_tfrt(self.write("cancels.mlir", text), flag)
                self.expect(result, 5, "'main' returned <<error: Cancelled>>\n", "CANCELLED")
        self.expect_nothing_left()

    def test_a_call_that_cancels_itself_ends_alone(self):
        path = self.write("itself.mlir", CANCELS_ITSELF)
        for flag in ("--local=3", "--in-process=3"):
            with self.subTest(flag):
                result = self.run_tfrt(path, flag)
                self.expect(result, 5, "'main' returned <<error: Cancelled>>,42,84\n", "CANCELLED")
        self.expect_nothing_left()

    def test_what_is_known_is_printed_though_a_kernel_is_stuck(self):
        path = self.write("blocked.mlir", BLOCKED)
        for number, code in ((signal.SIGINT, 5), (signal.SIGTERM, 5)):
            with self.subTest(number):
                process = self.start(path, "--local=3")
                self.assertEqual(process.stdout.readline(), "[2] int32 = 3\n")
                # The first one cancels the call; the second one doesn't wait for it any more.
                process.send_signal(number)
                process.send_signal(number)
                result = self.finish(process)
                name = signal.Signals(number).name
                self.expect(result, code, "'main' returned <<error: Cancelled by %s>>,2\n" % name,
                            "tfrt: CANCELLED: Cancelled by %s" % name)
        result = self.run_tfrt(path, "--local=3", "--timeout=1000")
        self.expect(result, 6, "[2] int32 = 3\n"
                    "'main' returned <<error: the time that --timeout gives is over>>,2\n")

    def test_in_process_ends_when_the_results_are_there(self):
        result = self.run_tfrt(self.write("unsent.mlir", UNSENT), "--in-process=2")
        self.expect(result, 0, "'main' returned 1\n", "")

    def test_in_process_is_no_cluster(self):
        result = self.run_tfrt(PROGRAMS[0], "--in-process=2", "--local=2")
        self.expect(result, 2, "", "--in-process is no cluster: give it alone, or --local")
        result = self.run_tfrt(PROGRAMS[0], "--in-process=2", "--hosts=a:1")
        self.expect(result, 2, "", "--in-process is no cluster: give it alone, or --hosts")
        self.expect(self.run_tfrt(PROGRAMS[0], "--in-process=0"), 2, "", "--in-process wants")


if __name__ == "__main__":
    main()
