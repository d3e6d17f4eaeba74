#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that bazel/test_summary.py counts what happened, and never counts a loss as a win."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SUMMARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bazel/test_summary.py")


def configured(label, kind):
    return {"id": {"targetConfigured": {"label": label}}, "configured": {"targetKind": kind}}


def completed(label, success):
    return {"id": {"targetCompleted": {"label": label}},
            "completed": {"success": True} if success else {}}


def tested(label, status, *logs):
    return {"id": {"testSummary": {"label": label}},
            "testSummary": {"overallStatus": status,
                            "failed": [{"uri": pathlib.Path(log).as_uri()} for log in logs]}}


PASSING = [configured("//a:x_test", "cc_test rule"), completed("//a:x_test", True),
           tested("//a:x_test", "PASSED")]


class TestSummaryTest(unittest.TestCase):

    def summary(self, *runs):
        """Runs the script on (exit code, events) of each run; returns (exit code, last line)."""
        code, lines = self.lines(*runs)
        return code, lines[-1]

    def lines(self, *runs):
        """Like `summary`, with all lines."""
        with tempfile.TemporaryDirectory() as folder:
            arguments = []
            for index, (code, events) in enumerate(runs):
                path = os.path.join(folder, str(index))
                if events is not None:
                    with open(path, "w", encoding="utf-8") as file:
                        file.write("".join(json.dumps(event) + "\n" for event in events))
                arguments.append(f"run{index}:{code}:{path}")
            result = subprocess.run([sys.executable, SUMMARY, *arguments], check=False,
                                    stdout=subprocess.PIPE, text=True)
            return result.returncode, result.stdout.splitlines()

    def test_passed_tests_of_all_runs_are_added(self):
        self.assertEqual(self.summary((0, PASSING), (0, PASSING)), (0, "2 passed, 0 failed"))

    def test_every_status_but_passed_is_a_failure(self):
        for status in ["FAILED", "TIMEOUT", "FLAKY", "INCOMPLETE", "NO_STATUS"]:
            events = PASSING + [tested("//a:y_test", status)]
            self.assertEqual(self.summary((3, events)), (1, "1 passed, 1 failed"))

    def test_a_test_that_does_not_build_is_a_failure(self):
        events = PASSING + [configured("//a:y_test", "sh_test rule"), completed("//a:y_test", False)]
        self.assertEqual(self.summary((1, events)), (1, "1 passed, 1 failed"))

    def test_a_test_that_was_never_analysed_is_a_failure(self):
        aborted = {"id": {"targetCompleted": {"label": "//a:y_test"}}, "aborted": {}}
        self.assertEqual(self.summary((1, PASSING + [aborted])), (1, "1 passed, 1 failed"))

    def test_other_targets_that_do_not_build_are_one_failure(self):
        events = PASSING + [configured("//a:b", "cc_binary rule"), completed("//a:b", False),
                            configured("//a:c", "cc_binary rule"), completed("//a:c", False)]
        self.assertEqual(self.summary((1, events)), (1, "1 passed, 1 failed"))

    def test_a_failed_run_that_names_no_target_is_one_failure(self):
        self.assertEqual(self.summary((37, PASSING)), (1, "1 passed, 1 failed"))
        self.assertEqual(self.summary((1, None)), (1, "0 passed, 1 failed"))

    def test_the_end_of_the_log_of_a_failed_test_is_shown(self):
        with tempfile.TemporaryDirectory(prefix="a log") as folder:
            log = os.path.join(folder, "test.log")
            with open(log, "wb") as file:
                file.write(b"the beginning\n" + b"x\n" * 100 + b"\xff assertion 7\n")
            missing = os.path.join(folder, "missing.log")
            events = PASSING + [tested("//a:y_test", "FAILED", log, missing)]
            code, lines = self.lines((3, events))
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed"))
        self.assertIn("    | \ufffd assertion 7", lines)
        self.assertFalse([line for line in lines if "the beginning" in line])
        self.assertTrue([line for line in lines if "missing.log" in line])

    def test_a_run_of_nothing_does_not_succeed(self):
        self.assertEqual(self.summary((0, [])), (1, "0 passed, 0 failed"))


if __name__ == "__main__":
    unittest.main()
