#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the BEF files that TFRT's translator wrote and compares with what TFRT printed.

Usage: bef_programs_test.py BEF_EXECUTOR QUEUE FILE.bef...

Beside each FILE.bef stands FILE.out. Lines that no chain orders may come in any order, so
lines are compared sorted; the line that names the queue is left out.
"""

import subprocess
import sys


def lines(text):
    return sorted(line for line in text.splitlines() if not line.startswith("Choosing"))


def check(executor, queue, path):
    """Returns what is wrong with one program, or None."""
    run = subprocess.run(
        [executor, "--work_queue_type=" + queue, path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        check=False,
    )
    with open(path[: -len(".bef")] + ".out", encoding="utf-8") as expected:
        wanted = lines(expected.read())
    if run.returncode != 0:
        return "exit code %d: %s" % (run.returncode, run.stderr)
    got = lines(run.stdout)
    if got != wanted:
        missing = [line for line in wanted if line not in got]
        extra = [line for line in got if line not in wanted]
        return "missing %s, not wanted %s" % (missing, extra)
    return None


def main():
    executor, queue, *paths = sys.argv[1:]
    failures = 0
    for path in paths:
        problem = check(executor, queue, path)
        if problem:
            failures += 1
            print("%s: %s" % (path, problem))
    print("%d programs, %d differ" % (len(paths), failures))
    return 1 if failures or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
