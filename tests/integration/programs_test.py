#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs in a work queue and compares what they print with what they must print.

Usage: programs_test.py BEF_EXECUTOR QUEUE [--translator MLIR_TO_BEF] FILE...

FILE is NAME.bef, or, with a translator, NAME.mlir, which is translated first; beside it
stands NAME.out. Lines that no chain orders may come in any order, so lines are compared
sorted; the two that name the allocator and the queue are left out, and the times that benchmarks
print are masked. Errors of ops are among
what is printed, so a text need not expect them in comments; where it does, they must come.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile


def masked(line):
    """The line without what no two runs of a benchmark have in common: all but its count."""
    return re.sub(r"^(BM:[^:]*:(?!Count:).*: )\d+$", r"\1N", line)


def lines(text):
    return sorted(masked(line) for line in text.splitlines() if not line.startswith("Choosing"))


def run(command, folder="."):
    return subprocess.run(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        check=False,
    )


def only_ops_failed(result):
    """Whether nothing is wrong with a run but that ops failed, which no comment expects."""
    told = result.stderr.splitlines()
    return result.returncode == 1 and told and all(
        re.search(r": error: unexpected error: runtime error: ", line) for line in told)


def difference(executor, queue, bef, expected):
    """Returns how a run of the BEF file differs from the expected output, or None."""
    # The file names its text relative to the folder in which that stands.
    command = [executor, "--work_queue_type=" + queue, "--check_types", os.path.abspath(bef)]
    result = run(command, os.path.dirname(expected))
    if result.returncode != 0 and not only_ops_failed(result):
        return "exit code %d: %s" % (result.returncode, result.stderr)
    with open(expected, encoding="utf-8") as stream:
        wanted = lines(stream.read())
    got = lines(result.stdout)
    if got == wanted:
        return None
    missing = [line for line in wanted if line not in got]
    extra = [line for line in got if line not in wanted]
    return "missing %s, not wanted %s, %d lines for %d" % (missing, extra, len(got), len(wanted))


def check(options, path, folder):
    """Returns what is wrong with one program, or None."""
    stem, extension = os.path.splitext(path)
    bef = path
    if extension == ".mlir":
        bef = os.path.join(folder, os.path.basename(stem) + ".bef")
        text_folder, name = os.path.split(path)
        translated = run([options.translator, name, "-o", bef], text_folder)
        if translated.returncode != 0:
            return "can't be translated: " + translated.stderr
    return difference(options.executor, options.queue, bef, stem + ".out")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("executor")
    parser.add_argument("queue")
    parser.add_argument("--translator")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    options.executor = os.path.abspath(options.executor)
    options.translator = options.translator and os.path.abspath(options.translator)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in options.files:
            problem = check(options, path, folder)
            if problem:
                failures += 1
                print("%s: %s" % (path, problem))
    print("%d programs, %d differ" % (len(options.files), failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
