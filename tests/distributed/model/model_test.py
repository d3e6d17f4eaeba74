#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""spin finds nothing wrong in the protocol's models, and finds each mistake that is planted in them.

Usage: model_test.py FOLDER [--by-hand]

FOLDER has the models (proto/model). --by-hand checks them with larger numbers, in some minutes and
some GB of memory.
"""

import os
import re
import subprocess
import sys
import tempfile

SMALL = "-DCALLS=1 -DBREAKS=1 -DDIALS=5"

# Models and their switches, which must be right.
RIGHT = [
    ("session", SMALL + " -DREPEATS=1"),
    ("session", SMALL + " -DDEATH"),
    ("session", "-DCALLS=2 -DBREAKS=1 -DDIALS=3 -DONE_DIALS"),
    ("lending", "-DNESTED"),
    ("lending", "-DDEATH"),
]

RIGHT_BY_HAND = [
    ("session", "-DCALLS=1 -DBREAKS=2 -DDIALS=6"),
    ("session", "-DCALLS=2 -DBREAKS=1 -DDIALS=5"),
    ("session", "-DCALLS=2 -DBREAKS=2 -DDIALS=5 -DONE_DIALS -DREPEATS=1"),
    ("session", "-DCALLS=1 -DBREAKS=2 -DDIALS=7 -DDEATH -DREPEATS=1"),
    ("lending", "-DNESTED -DDEATH"),
]

# Mistakes, with the switches that make room for them.
WRONG = [
    ("session", SMALL + " -DMISTAKE_NO_REPLAY"),
    ("session", SMALL + " -DMISTAKE_FORGET_WRITTEN"),
    ("session", SMALL + " -DMISTAKE_VOID_WRITTEN"),
    ("session", SMALL + " -DMISTAKE_BOTH_STAY"),
    ("session", SMALL + " -DMISTAKE_DUPLICATES -DREPEATS=1"),
    ("session", SMALL + " -DMISTAKE_DEAD_RESUMES -DDEATH"),
    ("lending", "-DNESTED -DMISTAKE_DONE_BEFORE_RETAINED"),
    ("lending", "-DNESTED -DMISTAKE_EARLY_WANT_FAILS"),
    ("lending", "-DNESTED -DMISTAKE_LOANS_END_AT_CANCEL"),
    ("lending", "-DNESTED -DMISTAKE_SLOT_RELEASED_FIRST"),
    ("lending", "-DDEATH -DMISTAKE_DEAD_HOLD_ON"),
]

MISTAKE = re.compile(r"MISTAKE_\w+")


def check(model, switches, is_large):
    """The number of errors that spin finds, and what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["spin", *switches.split(), "-a", os.path.abspath(model)],
            cwd=folder, check=True, stdout=subprocess.DEVNULL)
        # To compile takes longer than to check.
        level = "-O2" if is_large else "-O0"
        subprocess.run(
            ["cc", level, "-w", "-DSAFETY", "-DCOLLAPSE", "-DVECTORSZ=2048", "-DMEMLIM=4000",
             "-o", "pan", "pan.c"],
            cwd=folder, check=True)
        report = subprocess.run(
            ["./pan", "-m200000"], cwd=folder, check=False, universal_newlines=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    found = re.search(r"errors: (\d+)", report)
    # A search that was cut short proves nothing.
    if not found or "too small" in report or "out of memory" in report:
        return None, report
    return int(found.group(1)), report


def main(folder, *options):
    failures = []
    right = RIGHT + (RIGHT_BY_HAND if "--by-hand" in options else [])
    for model, switches in right + WRONG:
        errors, report = check(
            os.path.join(folder, model + ".pml"), switches, (model, switches) in RIGHT_BY_HAND)
        states = re.search(r"(\d+) states, stored", report)
        print("%s %s: %s errors, %s states" % (
            model, switches, errors, states.group(1) if states else "?"), flush=True)
        if errors is None or (errors > 0) != ("MISTAKE_" in switches):
            failures.append("%s %s:\n%s" % (model, switches, report))
    planted = {match for model in ("session", "lending")
               for match in MISTAKE.findall(open(os.path.join(folder, model + ".pml"),
                                                 encoding="utf-8").read())}
    tried = {match for _, switches in WRONG for match in MISTAKE.findall(switches)}
    if planted - {"MISTAKE_x"} != tried:
        failures.append("planted and not tried, or the reverse: %s" % (planted ^ tried))
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
