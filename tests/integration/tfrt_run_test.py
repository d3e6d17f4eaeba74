#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a user sees of `tfrt run`: output, errors, exit codes, signals.

Usage: tfrt_run_test.py TFRT MNIST_FOLDER
"""

import errno
import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

TFRT, MNIST = sys.argv[1:3]

SUM = """func.func @main(%a: i32, %b: i32) -> (i32, i32) {
  %start = tfrt.new.chain
  %sum = tfrt.add.i32 %a, %b
  %printed = tfrt.print.i32 %sum, %start
  %q, %r = tfrt.div.i32 %a, %b
  tfrt.return %sum, %q : i32, i32
}
func.func @other() -> i1 {
  %t = tfrt.constant.i1 true
  tfrt.return %t : i1
}
"""

# Prints a line, then turns for ever.
ENDLESS = """func.func @again(%x: i32) -> (i32, i1) {
  %go = tfrt.constant.i1 true
  tfrt.return %x, %go : i32, i1
}
func.func @main() -> i32 {
  %start = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %go = tfrt.constant.i1 true
  %printed = tfrt.print.i32 %one, %start
  %x = "tfrt_test.identity"(%printed, %one) : (!tfrt.chain, i32) -> i32
  %r = tfrt.while %go @again(%x) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}
"""

# Calls itself for ever, and has something to do after each call.
ENDLESS_CALLS = """func.func @f(%n: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %m = tfrt.add.i32 %n, %one
  %r = tfrt.call @f(%m) : (i32) -> i32
  %s = tfrt.add.i32 %r, %one
  tfrt.return %s : i32
}
func.func @main() -> i32 {
  %z = tfrt.constant.i32 0
  %r = tfrt.call @f(%z) : (i32) -> i32
  tfrt.return %r : i32
}
"""

# Prints for ever, on host 1 if it has one, and never looks at the chain of a line.
ENDLESS_LINES = """func.func @again(%x: i32) -> (i32, i1) {
  %ch = tfrt.new.chain
  %printed = tfrt.print.i32 %x, %ch
  %go = tfrt.constant.i1 true
  tfrt.return %x, %go : i32, i1
}
func.func @spin(%x: i32) -> i32 {
  %go = tfrt.constant.i1 true
  %r = tfrt.while %go @again(%x) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %r = tfrt.call @spin(%one) {host = 1 : i32} : (i32) -> i32
  tfrt.return %r : i32
}
"""

# Its one result does not need what sleeps. The line says that this may have begun.
SLEEPS = """func.func @main(%us: i32, %x: i32) -> i32 {
  %slept = "tfrt_test.blocking.usleep"(%us) : (i32) -> !tfrt.chain
  %start = tfrt.new.chain
  %sum = tfrt.add.i32 %x, %x
  %printed = tfrt.print.i32 %sum, %start
  tfrt.return %sum : i32
}
"""

# One result is known; the other comes when the sleep is over.
SLEEPS_LONG = """func.func @main(%us: i32, %x: i32) -> (i32, !tfrt.chain) {
  %slept = "tfrt_test.blocking.usleep"(%us) : (i32) -> !tfrt.chain
  %start = tfrt.new.chain
  %sum = tfrt.add.i32 %x, %x
  %printed = tfrt.print.i32 %sum, %start
  tfrt.return %sum, %slept : i32, !tfrt.chain
}
"""

# All hosts meet %turns times, each from a thread for blocking kernels; then host %bad, if there is
# one, brings an error.
MEETINGS = """func.func @part(%turns: i32, %bad: i32) -> !tfrt.chain {
  %ch = tfrt.new.chain
  %me = tfrt_dist.rank
  %g = tfrt_dist.world
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %c0 = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch 2.0 : f32
  %r:3 = tfrt.repeat.i32 %turns, %g, %t, %c0 : !tfrt_dist.group, !tfrt_tensor.tensor, !tfrt.chain {
    %zero = tfrt.constant.i32 0
    %there = "tfrt_test.blocking.usleep"(%zero) : (i32) -> !tfrt.chain
    %c1 = tfrt.merge.chains %there, %c0 : !tfrt.chain, !tfrt.chain
    %c2 = tfrt_dist.barrier %g, %c1
    %s, %c3 = tfrt_dist.all_reduce %g, %t, %c2 {reduction = "mean"}
    %b, %c4 = tfrt_dist.broadcast %g, %s, %c3 {root = 7 : i32}
    tfrt.return %g, %b, %c4 : !tfrt_dist.group, !tfrt_tensor.tensor, !tfrt.chain
  }
  %one = tfrt.constant.i32 1
  %distance = "tfrt.minus.i32"(%me, %bad) : (i32, i32) -> i32
  %q, %rest = tfrt.div.i32 %one, %distance
  %ready = "tfrt_test.blocking.usleep"(%rest) : (i32) -> !tfrt.chain
  %x = "tfrt_test.identity"(%ready, %r#1) : (!tfrt.chain, !tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  %u, %c5 = tfrt_dist.all_gather %g, %x, %r#2
  %sum = tfrt_tensor.sum %u axis 0
  %p = tfrt_dht.print_tensor %sum, %c5
  tfrt.return %p : !tfrt.chain
}
func.func @main(%turns: i32, %bad: i32) -> !tfrt.chain {
  %l = tfrt_dist.call_all @part(%turns, %bad) : (i32, i32) -> (!tfrt_dist.list)
  %leaf = tfrt.constant.i32 18
  %r = tfrt_dist.list.get %l, %leaf : !tfrt.chain
  tfrt.return %r : !tfrt.chain
}
"""

# The types of its results, the divisions that make them, their names, and the types again.
MANY_DIVISIONS = """func.func @main() -> (%s) {
  %%one = tfrt.constant.i32 1
  %%zero = tfrt.constant.i32 0
%s  tfrt.return %s : %s
}
"""

# A run that takes longer has failed.
PATIENCE_S = 60

NO_SIGNALS = (
    "TSAN_OPTIONS" in os.environ,
    "ThreadSanitizer holds signals back from a thread that waits inside of open",
)


IS_SANITIZED = "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ


def run(*arguments, **options):
    return subprocess.run(
        [TFRT, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        universal_newlines=True,
        check=False,
        timeout=PATIENCE_S,
        **options,
    )


class TfrtRunTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        return path

    def expect(self, result, code, stdout=None, stderr=None):
        self.assertEqual(result.returncode, code, result.stderr)
        if stdout is not None:
            self.assertEqual(result.stdout, stdout)
        if stderr is not None:
            self.assertIn(stderr, result.stderr)

    def test_results_and_prints(self):
        path = self.write("sum.mlir", SUM)
        result = run("run", path, "--arg", "a=7", "--arg", "1=2")
        self.expect(result, 0, "int32 = 9\n'main' returned 9,3\n", "")

    def test_another_function(self):
        path = self.write("sum.mlir", SUM)
        self.expect(run("run", "--function=other", path), 0, "'other' returned 1\n")
        self.expect(run("run", "--function=none", path), 2, "", "there is no function 'none'")

    def test_error_of_the_program(self):
        path = self.write("sum.mlir", SUM)
        result = run("run", path, "--arg=a=7", "--arg=b=0")
        self.expect(result, 1, "int32 = 7\n'main' returned 7,<<error: Divide by zero>>\n")
        self.assertIn("Divide by zero", result.stderr)
        self.assertIn("@main", result.stderr)
        self.assertIn("sum.mlir:5:12", result.stderr)

    def test_json(self):
        path = self.write("sum.mlir", SUM)
        result = run("run", "-o", "json", path, "--arg=a=7", "--arg=b=0")
        self.assertEqual(result.returncode, 1)
        printed, line = result.stdout.splitlines()
        self.assertEqual(printed, "int32 = 7")
        parsed = json.loads(line)
        self.assertEqual(parsed["function"], "main")
        self.assertEqual(parsed["results"][0], {"type": "i32", "value": "7"})
        self.assertEqual(parsed["results"][1]["error"]["line"], 5)

    def test_trace(self):
        path = self.write("sum.mlir", SUM)
        trace = os.path.join(self.folder.name, "trace.json")
        self.expect(run("run", path, "--arg=a=1", "--arg=b=1", "--trace", trace), 0)
        with open(trace, encoding="utf-8") as stream:
            events = json.load(stream)["traceEvents"]
        names = [event["name"] for event in events]
        self.assertEqual(names.count("tfrt.div.i32"), 1)
        self.assertEqual(names.count("process_name"), 1)

    def test_bad_input_is_one_clear_error(self):
        path = self.write("sum.mlir", SUM)
        self.expect(run("run", path, "--arg=a=x", "--arg=b=1"), 2, "", "--arg a: 'x' is no i32")
        self.expect(run("run", path, "--arg=a=1"), 2, "", "give --arg b=VALUE")
        self.expect(run("run", path, "--nonsense"), 2, "", "unknown flag '--nonsense'")
        self.expect(run("run"), 2, "", "give one program")
        self.expect(run("run", "/nowhere.mlir"), 2, "", "/nowhere.mlir")
        self.expect(run("fly"), 2, "", "there is no verb 'fly'")
        for flag in ("-h", "help"):
            self.expect(run(flag), 0, run("--help").stdout)
        broken = self.write("broken.mlir", "func.func @main() {\n  tfrt.foo\n}\n")
        self.expect(run("run", broken), 2, "", "broken.mlir:2:")
        cut = self.write("cut.bef", "\x0b")
        self.expect(run("run", cut), 2, "")
        broken = self.write("broken.bef", "\x0b\x00\x01nothing\n\x02 to read\n")
        result = run("run", broken)
        self.expect(result, 2, "", "BEF")
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for other in ("", "\x01\x02\x03\n\x04\n\x05"):
            result = run("run", self.write("other.bef", other))
            self.expect(result, 2, "", "other.bef: ")
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        unknown = self.write("unknown.mlir", 'func.func @main() {\n  "a.b"() : () -> ()\n  tfrt.return\n}\n')
        self.expect(run("run", unknown), 2, "", "unknown kernel name 'a.b'")

    def test_a_race_is_logged_where_that_is_asked_for(self):
        path = self.write("race.mlir", """func.func @main() {
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c0 = tfrt.new.chain
  %c1 = tfrt_dht.fill_tensor_with_constant.f32 %t, %c0 2.0 : f32
  %u = tfrt_tensor.relu %t
  tfrt.return
}
""")
        result = run("run", "--no-insert-chains", "--check_races", path)
        self.expect(result, 9, "")
        # The message names the kernel that ran second first; either may be that.
        self.assertRegex(result.stderr,
                         "race: 'tfrt_dht.fill_tensor_with_constant.f32' writes to memory that 'tfrt_tensor.relu'|"
                         "race: 'tfrt_tensor.relu' reads memory that 'tfrt_dht.fill_tensor_with_constant.f32'")
        self.assertEqual(run("run", "--no-insert-chains", "--check_races", "--in-process=2", path).returncode, 9)
        self.expect(run("run", "--no-insert-chains", path), 0, "")
        # The compiler puts in what is missing.
        result = run("run", "--check_races", path)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_json_of_an_error_without_results(self):
        result = run("run", "-o", "json", "/nowhere.mlir")
        self.assertEqual(result.returncode, 2)
        error = json.loads(result.stdout)["error"]
        self.assertEqual(error["code"], "NOT_FOUND")
        self.assertIn("/nowhere.mlir", error["message"])

    def test_json_of_wrong_usage_wherever_it_stands(self):
        path = self.write("sum.mlir", SUM)
        for arguments, part in (
            (("run", "--nonsense"), "unknown flag '--nonsense'"),
            (("run", path, "--timeout=x"), "--timeout wants a number"),
            (("run", path, "--trace="), "--trace wants a value, FILE, and this one is empty"),
            (("run",), "give one program"),
            (("run", path, "--local=1", "--in-process=2"), "--in-process is no cluster"),
            (("run", path, path), "give one program"),
            (("run", path, "--cluster=/nowhere.yaml"), "/nowhere.yaml"),
            (("run", path, "--arg=a=1"), "give --arg b=VALUE"),
            (("certs", "show"), "say what to do and in which folder"),
            (("certs", "make", "x"), "say what to do and in which folder"),
            (("certs", "init", "x"), "-o json goes with tfrt certs show"),
            (("certs", "show", "x", "--nonsense"), "unknown flag '--nonsense'"),
            (("certs", "show", ""), "say what to do and in which folder"),
            (("fly",), "there is no verb 'fly'"),
        ):
            for asked in (("-o", "json"), ("-o=json",), ("--o=json",), ("-o=text", "--o", "json")):
                for line in ((arguments[0], *asked, *arguments[1:]), arguments + asked):
                    result = run(*line)
                    self.expect(result, 2, None, part)
                    error = json.loads(result.stdout)["error"]
                    self.assertEqual(error["message"], result.stderr.split(": ", 2)[2].splitlines()[0])
                    self.assertIn(part, error["message"])
        for line in (("run", "-o"), ("run", "-o=json", "-o=text"), ("run", "--", "-o=json", path)):
            self.expect(run(*line), 2, "", "")
        # A value that only looks like a flag is still a value.
        self.expect(run("run", path, "--function", "-o=json"), 2, "", "there is no function '-o=json'")

    def test_an_empty_name_of_a_file_is_one_clear_error(self):
        path = self.write("sum.mlir", SUM)
        for flag in ("hostfile", "cluster", "cluster-key-file", "tls-dir", "worker", "trace"):
            said = "tfrt: INVALID_ARGUMENT: --%s wants a value, %s, and this one is empty\n"
            said %= (flag, "DIR" if flag == "tls-dir" else "FILE")
            for words in (("--%s=" % flag,), ("--" + flag, "")):
                result = run("run", path, "--arg=a=1", "--arg=b=1", *words)
                self.assertEqual((result.returncode, result.stdout, result.stderr), (2, "", said))
        result = run("trace", "--hosts=127.0.0.1:1", "--file=")
        self.expect(result, 2, "", "--file wants a value, FILE, and this one is empty")
        self.expect(run("run", ""), 2, "", "can't open '' (an empty name): No such file or directory")
        file = self.write("c.yaml", "# a trace\ntrace: ''\n")
        self.expect(run("run", path, "--cluster", file), 2, "", "c.yaml:2: --trace wants a value")

    def test_an_error_commands_no_terminal_whatever_a_name_has(self):
        result = run("run", "a\u009b\u001b[2J\n\u00e9\udce9.mlir")
        self.expect(result, 2, "", "can't open a\\u009b\\u001b[2J\\n\u00e9\\ufffd.mlir: No such")

    @unittest.skipIf(IS_SANITIZED, "a sanitizer takes more of the address space than there is")
    def test_recursion_without_end_ends_when_memory_is_out(self):
        path = self.write("endless.mlir", ENDLESS_CALLS)
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))
        for threads in (1, 2):
            result = run("run", path, "--threads=%d" % threads, preexec_fn=limit)
            self.assertEqual(
                (result.returncode, result.stderr.splitlines()[0]),
                (1, "tfrt: RESOURCE_EXHAUSTED: memory is out"),
            )

    @unittest.skipIf(IS_SANITIZED, "a sanitizer wants descriptors of its own")
    def test_few_descriptors_are_one_clear_error(self):
        path = self.write("sum.mlir", SUM)
        ran = []
        # With fewer no program is loaded at all.
        for count in range(4, 20):
            limit = lambda count=count: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
            result = run("run", path, "--arg=a=1", "--arg=b=1", preexec_fn=limit)
            ran.append(result.returncode == 0)
            if ran[-1]:
                continue
            self.expect(result, 2, "")
            self.assertRegex(
                result.stderr,
                r"\Atfrt: RESOURCE_EXHAUSTED: .*the limit is %d, raise it \(ulimit -n\)\n\Z" % count,
            )
            self.assertEqual(run("list", "jobs", "--hosts=a:1", preexec_fn=limit).stderr, result.stderr)
        self.assertEqual((ran, ran[0], ran[-1]), (sorted(ran), False, True))

    def test_output_that_goes_nowhere(self):
        path = self.write("sum.mlir", SUM)
        command = '"$0" run "$1" --arg=a=1 --arg=b=1 '
        for closed in (">/dev/full", ">&-", "<&- >&- 2>&3"):
            result = subprocess.run(
                ["/bin/sh", "-c", "exec 3>&2; " + command + closed, TFRT, path],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                universal_newlines=True,
                check=False,
            )
            self.assertEqual(result.returncode, 1, closed)
            cause = "No space left on device" if "full" in closed else "Bad file descriptor"
            self.assertIn("can't write to the standard output: " + cause, result.stderr)
        for question in ("--help", "--version", "run --help", "certs show --help", "list --version"):
            result = subprocess.run(
                ["/bin/sh", "-c", '"$0" %s >/dev/full' % question, TFRT],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                universal_newlines=True,
                check=False,
            )
            self.assertIn(result.returncode, (1, 2), question)
            self.assertRegex(
                result.stderr,
                r"\Atfrt: (DATA_LOSS: )?can't write to the standard output: No space left on device\n\Z",
            )
        result = subprocess.run(
            ["/bin/sh", "-c", command + "2>&-", TFRT, path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            universal_newlines=True,
            check=False,
        )
        self.assertEqual((result.returncode, result.stdout), (0, "int32 = 2\n'main' returned 2,1\n"))

    def test_a_trace_that_cannot_be_written(self):
        path = self.write("sum.mlir", SUM)
        # Known before: nothing runs.
        result = run("run", path, "--arg=a=1", "--arg=b=1", "--trace=/nowhere/trace")
        self.expect(result, 2, "", "can't create a file beside /nowhere/trace")
        result = run("run", path, "--arg=a=1", "--arg=b=1", "--trace=/dev/full")
        self.expect(result, 1, "int32 = 2\n'main' returned 2,1\n", "can't write /dev/full")

    def test_timeout(self):
        path = self.write("endless.mlir", ENDLESS)
        # 1: over before the program runs.
        for limit_ms in ("1", "50"):
            result = run("run", path, "--timeout", limit_ms)
            self.expect(result, 6, None, "the time that --timeout gives is over")

    def test_interrupt(self):
        path = self.write("endless.mlir", ENDLESS)
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen(
                [TFRT, "run", path],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                universal_newlines=True,
            )
            # The line says that the program runs, so signals are listened to.
            self.assertEqual(process.stdout.readline(), "int32 = 1\n")
            process.send_signal(number)
            stdout, _ = process.communicate()
            self.assertEqual(process.returncode, 5)
            name = signal.Signals(number).name
            self.assertEqual(stdout, "'main' returned <<error: Cancelled by %s>>\n" % name)

    def interrupt(self, text, micros, signals, *flags):
        """What a run says as JSON that has printed its line and gets `signals` interrupts then."""
        process = self.start(
            self.write("sleeps.mlir", text),
            "--arg=us=%d" % micros,
            "--arg=x=3",
            "-o=json",
            *flags,
            stdout=subprocess.PIPE,
        )
        self.assertIn("int32 = 6\n", process.stdout.readline())
        for _ in range(signals):
            process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 5, stderr)
        self.assertEqual(stderr.splitlines()[0], "tfrt: CANCELLED: Cancelled by SIGINT")
        return json.loads(stdout.splitlines()[-1]), stderr

    def test_a_job_has_up_to_1024_hosts(self):
        path = self.write("last.mlir", """
            func.func @rank() -> i32 {
              %rank = tfrt_dist.rank
              tfrt.return %rank : i32
            }
            func.func @main() -> i32 {
              %last = tfrt.call @rank() {host = 1023 : i32} : () -> i32
              tfrt.return %last : i32
            }
        """)
        done = run("run", path, "--in-process=1024")
        self.assertEqual((done.returncode, done.stdout), (0, "'main' returned 1023\n"), done.stderr)
        done = run("run", path, "--in-process=1025")
        self.assertEqual(done.returncode, 2)
        self.assertIn("from 1 to 1024", done.stderr)

    def test_a_large_group_meets_on_many_threads(self):
        # More than 16 members have a tree of two levels.
        path = self.write("meetings.mlir", MEETINGS)
        flags = ["--in-process=20", "--threads=4", "--arg", "turns=20", "--arg"]
        done = run("run", path, *flags, "bad=20")
        line = "DenseHostTensor dtype = f32, shape = [], values = [4.000000e+01]"
        lines = [line, *("[%d] %s" % (rank, line) for rank in range(1, 20))]
        sums = [text for text in done.stdout.splitlines() if "Tensor" in text]
        self.assertEqual(sorted(sums), sorted(lines), done.stderr)
        for bad in 0, 3, 19:
            done = run("run", path, *flags, "bad=%d" % bad)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("Divide by zero", done.stderr)

    def test_what_is_known_is_printed_after_an_interrupt(self):
        """The result is known; what no result needs runs on for a while, or for too long."""
        for flags in ([], ["--in-process=3"]):
            for micros, signals in ((500000, 1), (50000000, 2)):
                is_at_once = None
                # A kernel that has not begun when the interrupt comes never does.
                while is_at_once != (signals == 2):
                    said, stderr = self.interrupt(SLEEPS, micros, signals, *flags)
                    self.assertEqual(said["results"], [{"type": "i32", "value": "6"}])
                    self.assertEqual(said["error"]["code"], "CANCELLED")
                    is_at_once = "a kernel was still running" in stderr
                    self.assertTrue(signals == 2 or not is_at_once, stderr)

    def test_what_is_known_is_printed_when_the_rest_does_not_end(self):
        stderr = ""
        while "a kernel was still running" not in stderr:
            said, stderr = self.interrupt(SLEEPS_LONG, 50000000, 2)
            self.assertEqual(said["results"][0], {"type": "i32", "value": "6"})
            self.assertEqual(said["results"][1]["error"]["code"], "CANCELLED")

    def test_what_is_known_is_printed_when_the_time_is_over(self):
        path = self.write("sleeps.mlir", SLEEPS)
        flags = ["--arg=us=1500000", "--arg=x=3", "--timeout=1000", "-o=json"]
        result = run("run", path, *flags)
        self.expect(result, 6, None, "tfrt: DEADLINE_EXCEEDED: the time that --timeout gives is over\n")
        said = json.loads(result.stdout.splitlines()[-1])
        self.assertEqual(said["results"], [{"type": "i32", "value": "6"}])
        self.assertEqual(said["error"]["code"], "DEADLINE_EXCEEDED")

    def start(self, *arguments, **options):
        process = subprocess.Popen(
            [TFRT, "run", *arguments],
            stderr=subprocess.PIPE,
            universal_newlines=True,
            **options,
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def open_fifo(self, path):
        """The writing end of `path`, once it is being read."""
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                self.assertEqual(error.errno, errno.ENXIO)
                self.assertLess(time.monotonic(), end)

    def feed(self, pipe):
        """Gives the reader of `pipe` a byte, and waits until it is taken: now the next is waited for."""
        self.addCleanup(os.close, pipe)
        os.write(pipe, b" ")
        end = time.monotonic() + PATIENCE_S
        waiting = bytearray(4)
        while True:
            fcntl.ioctl(pipe, termios.FIONREAD, waiting)
            if not any(waiting):
                return
            self.assertLess(time.monotonic(), end)

    def expect_interrupted(self, process, number):
        process.send_signal(number)
        _, stderr = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 5, stderr)
        self.assertIn("CANCELLED", stderr)

    @unittest.skipIf(*NO_SIGNALS)
    def test_interrupt_while_a_file_is_read(self):
        fifo = os.path.join(self.folder.name, "fifo")
        os.mkfifo(fifo)
        digits = [os.path.join(MNIST, "mnist.mlir"), "--arg=images=" + fifo]
        # Programs are read before a host is asked for anything.
        for arguments in ([fifo], [fifo, "--hosts=127.0.0.1:1"], [*digits, "--arg=labels=" + fifo]):
            for number in (signal.SIGINT, signal.SIGTERM):
                process = self.start(*arguments, stdin=subprocess.DEVNULL)
                self.feed(self.open_fifo(fifo))
                self.expect_interrupted(process, number)
        reading, writing = os.pipe()
        process = self.start("-", stdin=reading)
        os.close(reading)
        self.feed(writing)
        self.expect_interrupted(process, signal.SIGINT)

    @unittest.skipIf(*NO_SIGNALS)
    def test_timeout_while_a_file_is_read(self):
        fifo = os.path.join(self.folder.name, "fifo")
        os.mkfifo(fifo)
        result = run("run", fifo, "--timeout=50")
        self.expect(result, 6, "", "the time that --timeout gives is over")
        result = run("run", fifo, "--timeout=50", "-o=json")
        self.expect(result, 6, None, "the time that --timeout gives is over")
        self.assertEqual(json.loads(result.stdout)["error"]["code"], "DEADLINE_EXCEEDED")

    def test_a_reader_that_leaves_ends_the_run(self):
        path = self.write("lines.mlir", ENDLESS_LINES)
        for flags, line in (([], "int32 = 1\n"), (["--in-process=2"], "[1] int32 = 1\n")):
            process = self.start(path, *flags, stdout=subprocess.PIPE)
            self.assertEqual(process.stdout.readline(), line)
            process.stdout.close()
            self.assertEqual(process.wait(PATIENCE_S), -signal.SIGPIPE)

    def test_a_program_in_a_file_with_a_strange_name_or_a_mark_at_its_beginning(self):
        text = "\ufefffunc.func @main() -> i32 {\n  %a = tfrt.constant.i32 7\n  tfrt.return %a : i32\n}\n"
        path = self.write("-x.mlir", text)
        result = subprocess.run(
            [os.path.abspath(TFRT), "run", "--", "-x.mlir"],
            cwd=os.path.dirname(path),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            check=False,
        )
        self.expect(result, 0, "'main' returned 7\n", "")
        # Columns are counted behind the mark.
        result = run("run", self.write("bad.mlir", "\ufeffx"))
        self.assertIn("bad.mlir:1:1: error", result.stderr)

    def test_a_mistake_is_told_once(self):
        path = self.write("bad.mlir", "func.func @main() {\n  %a = my.question\n}\n")
        result = run("run", path)
        self.assertEqual(result.stderr.count("my.question'"), 1, result.stderr)
        self.assertTrue(result.stderr.endswith("bad.mlir can't be translated\n"), result.stderr)
        error = json.loads(run("run", path, "-o=json").stdout)["error"]
        self.assertIn("bad.mlir:2:8: custom op 'my.question' is unknown", error["message"])

    def test_certificates_are_renewed_with_their_keys(self):
        folder = tempfile.mkdtemp(dir=self.folder.name)
        certs = os.path.join(folder, "certs")
        flags = ("--host=node1+10.0.0.1,node2", "--valid=20d")
        self.assertEqual(run("certs", "init", certs, *flags).returncode, 0)
        shown = run("certs", "show", certs).stdout
        # Hosts' and clients' alike, but not the authority.
        self.assertEqual(shown.count("; RENEW it: `tfrt certs renew`\n"), 3, shown)
        before = {name: self.read_file(certs, name) for name in os.listdir(certs)}
        self.expect(
            run("certs", "renew", certs, "--name=node1,client"), 0,
            certs + ": renewed node1.pem; copy it in place of the old one, node1.key stays as it is\n"
            + certs + ": renewed client.pem; copy it in place of the old one, client.key stays as it is\n")
        changed = sorted(name for name in before if self.read_file(certs, name) != before[name])
        self.assertEqual(changed, ["client.pem", "node1.pem"])
        self.assertEqual(sorted(os.listdir(certs)), sorted(before))
        shown = run("certs", "show", certs).stdout
        self.assertIn("node1.pem: host node1, 10.0.0.1; of tfrt cluster", shown)
        self.assertEqual(shown.count("RENEW"), 1, shown)
        self.assertEqual(run("certs", "renew", certs).stdout.count("renewed"), 3)
        # A client's that was moved away is made anew.
        for name in ("client.pem", "client.key"):
            os.rename(os.path.join(certs, name), os.path.join(folder, name))
        self.expect(run("certs", "renew", certs, "--name=client"), 0,
                    certs + ": made client.pem and client.key; copy both\n")
        for arguments, code, words in (
            (("renew", certs, "--name=node3"), 2, "node3.pem"),
            (("renew", certs, "--name=ca"), 2, "only those of hosts and clients are renewed"),
            (("renew", certs, "--host=node1"), 2, "renew keeps the names of hosts"),
            (("show", certs, "--name=node1"), 2, "--name goes with tfrt certs renew"),
        ):
            self.expect(run("certs", *arguments), code, "", words)

    def read_file(self, *parts):
        with open(os.path.join(*parts), "rb") as stream:
            return stream.read()

    def test_endless_output_that_goes_nowhere(self):
        path = self.write("lines.mlir", ENDLESS_LINES)
        with open("/dev/full", "w", encoding="utf-8") as full:
            process = self.start(path, stdout=full)
        _, stderr = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 1, stderr)
        self.assertEqual(
            stderr, "tfrt: DATA_LOSS: can't write to the standard output: No space left on device\n"
        )

    def test_very_many_errors(self):
        """Each is told in time that grows with their number, not with its square."""
        count = 100000
        divisions = "".join(
            "  %%q%d, %%r%d = tfrt.div.i32 %%one, %%zero\n" % (i, i) for i in range(count)
        )
        types = ", ".join(count * ["i32"])
        names = ", ".join("%%q%d" % i for i in range(count))
        text = MANY_DIVISIONS % (types, divisions, names, types)
        result = run("run", self.write("many.mlir", text), "-v")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.count("\n"), count)
        self.assertIn("  result %d: " % (count - 1), result.stderr)

    def test_digits(self):
        result = run(
            "run",
            os.path.join(MNIST, "mnist.mlir"),
            "--arg=images=" + os.path.join(MNIST, "data/test-images-idx3-ubyte.gz"),
            "--arg=labels=" + os.path.join(MNIST, "data/test-labels-idx1-ubyte.gz"),
        )
        self.expect(result, 0)
        self.assertIn("accuracy: 99.60 % (996 of 1000)\n", result.stdout)
        self.assertIn("'main' returned 996,1000\n", result.stdout)

    def test_a_tensor_of_the_wrong_shape(self):
        labels = os.path.join(MNIST, "data/test-labels-idx1-ubyte.gz")
        result = run(
            "run",
            os.path.join(MNIST, "mnist.mlir"),
            "--arg=images=" + labels,
            "--arg=labels=" + labels,
        )
        self.assertEqual(result.returncode, 1)
        self.assertIn("mnist.mlir:", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
