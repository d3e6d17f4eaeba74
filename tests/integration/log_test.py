#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What workers log, as text and as JSON: each line is an event, with the host, job and call that it
is about.

Usage: log_test.py TFRT TFRT_WORKER
"""

import json
import re
import signal
import subprocess

from cluster import PATIENCE_S, ClusterTest, hosts, main

CALLS = """func.func @twice(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @main() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %a = tfrt.call @twice(%one) {host = 1 : i32} : (i32) -> i32
  %b = tfrt.call @twice(%a) {host = 1 : i32} : (i32) -> i32
  tfrt.return %a, %b : i32, i32
}
"""

# Prints a line, and waits for a message that never comes.
ENDLESS = """func.func @main() -> i32 {
  %ch0 = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %ch1 = tfrt.print.i32 %one, %ch0
  %zero = tfrt.constant.i32 0
  %host = tfrt_dist.host %zero
  %key = tfrt_dist.key "never"
  %x, %ch2 = tfrt_dist.recv %host, %key, %ch1 : i32
  tfrt.return %x : i32
}
"""

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"
TEXT = re.compile(
    r"(?P<time>%s) (?P<severity>debug|info|warning|error): (?P<message>.*?)"
    r"(?: \[(?P<fields>\w+=\d+(?: \w+=\d+)*)\])?$" % TIME
)


class LogTest(ClusterTest):
    def start_logged(self, *flags):
        """A worker whose log can be read from `.stderr`."""
        process = subprocess.Popen(
            [self.tfrt_worker, "--listen=127.0.0.1:0", "--threads=1", *flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
            universal_newlines=True,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.address = process.stdout.readline().split()[-1]
        return process

    def finish_logged(self, process):
        """Its messages, with their severities."""
        process.terminate()
        _, err = process.communicate(timeout=PATIENCE_S)
        events = [json.loads(line) for line in err.splitlines()]
        return [(event["severity"], event["message"]) for event in events]

    def run_logged(self, *flags, kill=False):
        """The lines that two workers log while a program runs on them; with `kill`, one of them is
        killed behind it."""
        processes = [self.start_logged(*flags) for _ in range(2)]
        program = self.write("calls.mlir", CALLS)
        self.expect(self.run_tfrt(program, hosts(processes)), 0, "'main' returned 2,4\n")
        if kill:
            processes[1].kill()
        logged = []
        for process in reversed(processes):
            process.terminate()
            _, err = process.communicate(timeout=PATIENCE_S)
            logged.insert(0, err.splitlines())
        return logged

    def parse_text(self, line):
        """What JSON has for the same line."""
        match = TEXT.match(line)
        self.assertIsNotNone(match, line)
        event = {name: match.group(name) for name in ("time", "severity", "message")}
        for field in (match.group("fields") or "").split():
            name, number = field.split("=")
            event[name] = int(number)
        return event

    def expect_events(self, logged):
        for rank, events in enumerate(logged):
            self.assertGreater(len(events), 5)
            for event in events:
                self.assertLessEqual(
                    set(event), {"time", "severity", "message", "host", "job", "call"}, event
                )
                self.assertRegex(event["time"], "^%s$" % TIME)
                self.assertIn(event["severity"], ("debug", "info", "warning", "error"))
                self.assertNotEqual(event["message"], "")
                if "job" in event:
                    self.assertEqual(event["host"], rank, event)
                if "call" in event:
                    self.assertIn("job", event)
            jobs = [event["message"] for event in events if "job" in event and "call" not in event]
            self.assertRegex(jobs[0], "^[0-9a-f]{8} opened by tfrt run")
            # No host loses anything of a program that ended well.
            self.assertEqual(jobs[-1], "closed", jobs)
        calls = [(event["call"], event["message"]) for event in logged[1] if "call" in event]
        self.assertEqual({call for call, _ in calls}, {1, 2})
        for number in (1, 2):
            messages = [message for call, message in calls if call == number]
            self.assertRegex(messages[0], "^called by [0-9a-f]{16}: @")
            self.assertEqual(messages[1:], ["done"])

    def test_each_line_is_json(self):
        logged = self.run_logged("--log-format=json", "--log-level=debug")
        self.expect_events([[json.loads(line) for line in lines] for lines in logged])

    def test_each_line_is_text(self):
        logged = self.run_logged("--log-level=debug")
        self.expect_events([[self.parse_text(line) for line in lines] for lines in logged])

    def test_calls_are_for_debugging(self):
        logged = self.run_logged("--log-format=json")
        events = [json.loads(line) for lines in logged for line in lines]
        self.assertFalse([event for event in events if "call" in event])
        self.assertTrue([event for event in events if "job" in event])

    def test_who_is_refused_leaves_a_line(self):
        key = self.write("key", "one key\n")
        process = self.start_logged("--log-format=json", "--cluster-key-file=" + key)
        program = self.write("calls.mlir", CALLS)
        self.expect(self.run_tfrt(program, hosts([process])), 8, "")
        refusal = ("warning", "refused a connection: wrong cluster key, or none; "
                   "use the cluster key that it was started with")
        self.assertEqual(self.finish_logged(process).count(refusal), 1)

    def test_a_job_that_is_refused_leaves_a_line(self):
        process = self.start_logged("--log-format=json")
        endless = self.write("endless.mlir", ENDLESS)
        running = self.start(endless, hosts([process]))
        self.assertEqual(running.stdout.readline(), "int32 = 1\n")
        process.terminate()
        # Said when no job is taken any more.
        while "draining: " not in process.stderr.readline():
            self.assertIsNone(process.poll())
        self.expect(self.run_tfrt(endless, hosts([process])), 3)
        running.send_signal(signal.SIGINT)
        self.expect(self.finish(running), 5)
        messages = self.finish_logged(process)
        refused = [m for m in messages if re.match("refused a job of tfrt run.*: it is shutting", m[1])]
        self.assertEqual([severity for severity, _ in refused], ["warning"], messages)

    def test_lines_are_whole_when_a_host_dies(self):
        logged = self.run_logged(
            "--log-format=json", "--log-level=debug", "--heartbeat-ms=100", "--silence-ms=1000",
            kill=True)
        for lines in logged:
            for line in lines:
                self.assertIn("message", json.loads(line))


if __name__ == "__main__":
    main()
