#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of programs that run on a cluster: `tfrt run --trace` and `tfrt trace`, on real processes, also
when some of them are lost.

Usage: tracing_test.py TFRT TFRT_WORKER
"""

import json
import os
import signal
import time

from cluster import PATIENCE_S, hosts, main, strike
from running import RunningTest

# Two calls of host 1; each calls host 2.
CALLS = """func.func @inner(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @outer(%x: i32) -> i32 {
  %y = tfrt.call @inner(%x) {host = 2 : i32} : (i32) -> i32
  tfrt.return %y : i32
}
func.func @main() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %a = tfrt.call @outer(%one) {host = 1 : i32} : (i32) -> i32
  %b = tfrt.call @outer(%a) {host = 1 : i32} : (i32) -> i32
  tfrt.return %a, %b : i32, i32
}
"""

# Host 1 calls host 2, for ever.
CALLS_FOR_EVER = """func.func @far(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @again(%x: i32) -> (i32, i1) {
  %go = tfrt.constant.i1 true
  %y = tfrt.call @far(%x) {host = 2 : i32} : (i32) -> i32
  tfrt.return %y, %go : i32, i1
}
func.func @near(%x: i32, %ch: !tfrt.chain) -> i32 {
  %printed = tfrt.print.i32 %x, %ch
  %y = "tfrt_test.identity"(%printed, %x) : (!tfrt.chain, i32) -> i32
  %go = tfrt.constant.i1 true
  %r = tfrt.while %go @again(%y) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %ch = tfrt.new.chain
  %a = tfrt.call @near(%one, %ch) {host = 1 : i32} : (i32, !tfrt.chain) -> i32
  tfrt.return %a : i32
}
"""


class TracingTest(RunningTest):
    def test_a_trace_has_an_arrow_for_each_call_between_hosts(self):
        trace = os.path.join(self.folder, "trace.json")
        path = self.write("calls.mlir", CALLS)
        self.expect(self.run_tfrt(path, "--local=3", "--trace=" + trace), 0)
        with open(trace, encoding="utf-8") as stream:
            events = json.load(stream)["traceEvents"]
        begins = {event["id"]: event for event in events if event["ph"] == "s"}
        ends = {event["id"]: event for event in events if event["ph"] == "f"}
        links = sorted((event["pid"], ends[name]["pid"]) for name, event in begins.items())
        self.assertEqual(links, [(0, 1), (0, 1), (1, 2), (1, 2)])
        self.assertEqual(set(begins), set(ends))
        for name, begin in begins.items():
            self.assertLessEqual(begin["ts"], ends[name]["ts"])
            for end, part in ((begin, "tfrt.call"), (ends[name], "")):
                around = [
                    span["name"]
                    for span in events
                    if span["ph"] == "X"
                    and (span["pid"], span["tid"]) == (end["pid"], end["tid"])
                    and span["ts"] <= end["ts"] <= span["ts"] + span["dur"]
                ]
                self.assertTrue([name for name in around if part in name], (end, around))

    def read_trace(self, path):
        """Names of its rows, its spans, and the begins and ends of its arrows."""
        with open(path, encoding="utf-8") as stream:
            events = json.load(stream)["traceEvents"]
        rows = {event["pid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
        spans = [event for event in events if event["ph"] == "X"]
        begins, ends = ({e["id"]: e for e in events if e["ph"] == phase} for phase in "sf")
        return rows, spans, begins, ends

    def trace(self, workers, path, *arguments):
        """What a short recording has, which is checked: it may have begun or ended in mid-call."""
        said = self.ask_json("trace", *arguments, hosts(workers), "--for=300", "--file=" + path)
        self.assertEqual(said["file"], path)
        rows, spans, begins, ends = self.read_trace(path)
        names = ["host %d (%s)" % (rank, worker.address) for rank, worker in enumerate(workers)]
        self.assertEqual(rows, dict(enumerate(names)))
        for name in set(begins) & set(ends):
            self.assertEqual((begins[name]["pid"], ends[name]["pid"]), (1, 2))
            self.assertLessEqual(begins[name]["ts"], ends[name]["ts"])
        self.assertEqual(sum(host["calls"] for host in said["hosts"]), len(ends))
        self.assertEqual([host["host"] for host in said["hosts"]], [w.address for w in workers])
        return spans, begins, ends

    def has_calls(self, trace):
        spans, begins, ends = trace
        found = {(span["pid"], span["cat"], span["name"]) for span in spans}
        parts = {(1, "kernel", "tfrt.call"), (2, "call", "far"), (2, "kernel", "tfrt.add.i32")}
        return parts <= found and set(begins) & set(ends)

    def test_what_runs_already_is_traced(self):
        workers, process = self.begin(CALLS_FOR_EVER)
        path = os.path.join(self.folder, "seen.json")
        job = self.ask_json("list", "jobs", hosts(workers))[0]["job"]
        # Twice: what is there from the first time is not in the second one.
        for arguments in ([], [job]):
            end = time.monotonic() + PATIENCE_S
            # A host that gets no processor in that time has nothing to show.
            while not self.has_calls(self.trace(workers, path, *arguments)):
                self.assertLess(time.monotonic(), end)
        process.send_signal(signal.SIGINT)
        self.expect(self.finish(process), 5)
        self.expect_idle(workers)

    def test_what_a_trace_has_no_room_for_is_counted_and_told(self):
        workers, process = self.begin()
        self.calls(workers)
        path = os.path.join(self.folder, "trace.json")
        # Host 2 runs kernels all the time.
        duration_ms, full = 500, []
        while not full:
            self.assertLess(duration_ms, 1000 * PATIENCE_S)
            flags = ("--for=%d" % duration_ms, "--file=" + path, "-o=json")
            code, out, err = self.ask("trace", hosts(workers), *flags)
            self.assertEqual(code, 0, err)
            full = [host for host in json.loads(out)["hosts"] if host["dropped"] > 0]
            duration_ms *= 2
        for host in full:
            # The number of spans that a worker keeps of a job.
            self.assertEqual(host["spans"], 65536)
            lacks = "the trace lacks %d spans of host " % host["dropped"]
            told = [line for line in err.splitlines() if lacks in line]
            self.assertEqual(len(told), 1, err)
            self.assertIn("(%s), which had no room" % host["host"], told[0])
        process.send_signal(signal.SIGINT)
        self.expect(self.finish(process), 5)
        self.expect_idle(workers)

    def test_a_trace_that_could_not_be_written_is_not_begun(self):
        workers, _ = self.begin()
        code, out, err = self.ask("trace", hosts(workers), "--for=1000000", "--file=/nowhere/trace")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("can't create a file beside /nowhere/trace", err)

    def test_a_trace_that_can_not_be_written_is_an_error_for_programs_too(self):
        workers = self.start_workers(1)
        flags = ("--for=10", "--file=/dev/full")
        self.expect(self.ask("trace", hosts(workers), *flags), 2, "", "can't write /dev/full")
        code, out, err = self.ask("trace", hosts(workers), *flags, "-o=json")
        self.assertEqual(code, 2, err)
        self.assertIn(json.loads(out)["error"]["message"], err)

    def test_a_trace_ends_when_it_is_told_to(self):
        workers, _ = self.begin(CALLS_FOR_EVER)
        path = os.path.join(self.folder, "seen.json")
        process = self.start_verb("trace", hosts(workers), "--for=1000000", "--file=" + path)
        self.assertIn("recording", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        code, out, err = self.finish(process)
        self.assertEqual(code, 0, err)
        self.assertRegex(out, "^%s: [0-9]+ spans? and [0-9]+ calls? between hosts; open it in " % path)
        self.assertEqual(len(self.read_trace(path)[0]), 3)

    def lose_while_recording(self, workers, lost, signal_number):
        """What a trace says that records while the workers in `lost` are given a signal."""
        path = os.path.join(self.folder, "lost.json")
        flags = ("--for=1000000", "--timeout=3000", "--file=" + path)
        process = self.start_verb("trace", hosts(workers), *flags)
        told = process.stderr.readline()
        while "recording" not in told:
            told = process.stderr.readline()
        for worker in lost:
            strike(worker, signal_number)
        process.send_signal(signal.SIGINT)
        return *self.finish(process), path

    def test_a_host_that_is_lost_while_it_records_is_a_line(self):
        workers = self.start_workers(3)
        for signal_number, code in ((signal.SIGSTOP, 6), (signal.SIGKILL, 3)):
            result = self.lose_while_recording(workers, workers[2:], signal_number)
            workers[2].send_signal(signal.SIGCONT)
            self.assertEqual(result[0], code, result)
            self.assertIn("0 spans", result[1])
            self.assertEqual(result[2].count(workers[2].address + ": "), 1, result)
            # It is asked by itself, so it is named by its address alone.
            self.assertNotIn("host 0", result[2])
            os.remove(result[3])
        result = self.lose_while_recording(workers[:2], workers[:2], signal.SIGKILL)
        self.assertEqual(result[:2], (3, ""), result)
        self.assertFalse(os.path.exists(result[3]))

    def test_a_trace_of_what_is_not_there(self):
        workers = self.start_workers(2)
        path = os.path.join(self.folder, "seen.json")
        flags = ("--for=10", "--file=" + path)
        self.expect(self.ask("trace", "abc", hosts(workers), *flags), 2, "", "there is no running job 'abc'")
        self.assertFalse(os.path.exists(path))
        workers[1].kill()
        workers[1].wait()
        code, out, err = self.ask("trace", hosts(workers), *flags)
        self.assertEqual(code, 3, err)
        self.assertIn(workers[1].address, err)
        self.assertIn("0 spans", out)
        self.expect(self.ask("trace", hosts(workers[:1]), "--for=1", "--file=/dev/null/x"), 2, "")


if __name__ == "__main__":
    main()
