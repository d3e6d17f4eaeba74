#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the results of `bazel test` runs from their build event files.

    bazel/test_summary.py NAME:EXIT_CODE:EVENTS.json...

One run is a name to print, the exit code of its bazel, and the file that
--build_event_json_file wrote. Prints a line for each run, the end of the log of each test that
failed, and, last and alone on its line, "N passed, N failed" over all runs. Exits with 0 only if
something passed and nothing failed.

A test target counts once for each run. One that was to run and has no result (it didn't build,
or the run was cut short) counts as failed. A run whose other targets didn't build, or that failed
in another way, has one failure more.
"""

import json
import sys
import urllib.parse

# The part of a failed test's log that is shown: room for a few tracebacks, or for what a sanitizer reports.
LOG_LINES = 60


def read_events(path):
    """The events of a run that were written whole; a killed run may leave half a line."""
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                try:
                    yield json.loads(line)
                except ValueError:
                    return
    except OSError:
        return


def is_test(label, kinds):
    """Whether a target is a test; one that was never analysed has only its name to tell."""
    return "_test rule" in kinds.get(label, "") or (label not in kinds and label.endswith("_test"))


def end_of_log(uri):
    """The last lines of the file that a `file:` URI names; says so if it can't be read."""
    path = urllib.parse.unquote(urllib.parse.urlparse(uri).path)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError as error:
        return [f"its log can't be read: {error}"]
    return lines[-LOG_LINES:]


def count(path):
    """Returns (number of tests passed, labels of tests that did not, labels of other failures,
    URIs of the logs of each test that did not)."""
    kinds, passed, broken, logs = {}, {}, set(), {}
    for event in read_events(path):
        event_id = event.get("id", {})
        if "targetConfigured" in event_id:
            kind = event.get("configured", {}).get("targetKind")
            if kind:
                kinds[event_id["targetConfigured"]["label"]] = kind
        elif "testSummary" in event_id and "testSummary" in event:
            label = event_id["testSummary"]["label"]
            summary = event["testSummary"]
            passed[label] = summary.get("overallStatus") == "PASSED"
            logs[label] = [log["uri"] for log in summary.get("failed", []) if "uri" in log]
        elif "targetCompleted" in event_id:
            if not event.get("completed", {}).get("success", False):
                broken.add(event_id["targetCompleted"]["label"])
    for label in broken:
        if is_test(label, kinds):
            passed[label] = False
    failed = sorted(label for label, value in passed.items() if not value)
    others = sorted(label for label in broken if not is_test(label, kinds))
    return len(passed) - len(failed), failed, others, logs


def main(arguments):
    total_passed = total_failed = 0
    for argument in arguments[1:]:
        name, exit_code, path = argument.split(":", 2)
        passed, failed, others, logs = count(path)
        if others:
            failed.append("the build of " + ", ".join(others))
        elif int(exit_code) != 0 and not failed:
            failed.append(f"the run itself (bazel exited with {exit_code})")
        print(f"{name}: {passed} passed, {len(failed)} failed")
        for label in failed:
            print(f"  failed: {label}")
            for uri in logs.get(label, []):
                print("".join(f"    | {line}\n" for line in end_of_log(uri)), end="")
        total_passed += passed
        total_failed += len(failed)
    print(f"{total_passed} passed, {total_failed} failed")
    return 0 if total_passed > 0 and total_failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
