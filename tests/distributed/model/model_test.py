#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""spin finds nothing wrong in the protocol's models, and finds each mistake that is planted in them.

Usage: model_test.py FOLDER [--by-hand]

FOLDER has the models (proto/model). --by-hand checks them with larger numbers, in some minutes and
some GB of memory. Bazel runs each of CHECKS by itself, as a shard of the test: all of them in
turn take too long on a machine that is busy.
"""

import os
import re
import subprocess
import sys
import tempfile

# Models, their switches, and the mistakes that there is room for.
CHECKS = [
    ("session", "-DCALLS=1 -DBREAKS=1 -DDIALS=5 -DREPEATS=1",
     ("NO_REPLAY", "FORGET_WRITTEN", "VOID_WRITTEN", "BOTH_STAY", "DUPLICATES")),
    ("session", "-DCALLS=1 -DBREAKS=1 -DDIALS=5 -DDEATH", ("DEAD_RESUMES",)),
    ("session", "-DCALLS=1 -DBREAKS=1 -DDIALS=7 -DSTALES=1", ("LATE_HELLO",)),
    ("session", "-DCALLS=2 -DBREAKS=1 -DDIALS=3 -DONE_DIALS", ()),
    ("session", "-DCALLS=1 -DBREAKS=0 -DDIALS=4 -DMUTES=1", ("SECOND_BEGINS",)),
    ("lending", "-DNESTED",
     ("DONE_BEFORE_RETAINED", "EARLY_WANT_FAILS", "LOANS_END_AT_CANCEL", "SLOT_RELEASED_FIRST")),
    ("lending", "-DDEATH", ("DEAD_HOLD_ON",)),
]

CHECKS_BY_HAND = [
    ("session", "-DCALLS=1 -DBREAKS=2 -DDIALS=6", ()),
    ("session", "-DCALLS=2 -DBREAKS=1 -DDIALS=5", ()),
    ("session", "-DCALLS=1 -DBREAKS=1 -DDIALS=6 -DMUTES=1", ()),
    ("session", "-DCALLS=1 -DBREAKS=0 -DDIALS=7 -DMUTES=2", ()),
    ("session", "-DCALLS=2 -DBREAKS=2 -DDIALS=5 -DONE_DIALS -DREPEATS=1", ()),
    ("session", "-DCALLS=1 -DBREAKS=2 -DDIALS=7 -DDEATH -DREPEATS=1", ()),
    ("lending", "-DNESTED -DDEATH", ()),
]

PLANTED = re.compile(r"^#define MISTAKE_(\w+) +(\d+)$", re.MULTILINE)


def build(model, switches, folder, level):
    """The checker of `model` in `folder`."""
    subprocess.run(
        ["spin", *switches.split(), "-a", os.path.abspath(model)],
        cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(
        ["cc", level, "-w", "-DSAFETY", "-DCOLLAPSE", "-DVECTORSZ=2048", "-DMEMLIM=4000",
         "-o", "pan", "pan.c"],
        cwd=folder, check=True)


def search(folder, mistake):
    """The number of errors with the mistake of that number, and what the checker prints."""
    report = subprocess.run(
        ["./pan", "-m200000"], cwd=folder, check=False, universal_newlines=True,
        env=dict(os.environ, MISTAKE=mistake),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    found = re.search(r"errors: (\d+)", report)
    # A search that was cut short proves nothing.
    if not found or "too small" in report or "out of memory" in report:
        return None, report
    return int(found.group(1)), report


def share(checks):
    """Those of `checks` that are this process's to do: all, or those of its shard."""
    # Bazel looks whether the file was touched: without that each shard would do all.
    status = os.environ.get("TEST_SHARD_STATUS_FILE")
    if status:
        open(status, "w", encoding="utf-8").close()
    count = int(os.environ.get("TEST_TOTAL_SHARDS", "1"))
    return checks[int(os.environ.get("TEST_SHARD_INDEX", "0"))::count]


def main(folder, *options):
    texts = {}
    for model in ("session", "lending"):
        with open(os.path.join(folder, model + ".pml"), encoding="utf-8") as stream:
            texts[model] = dict(PLANTED.findall(stream.read()))
    failures = []
    untried = {(model, name) for model, planted in texts.items() for name in planted}
    untried -= {(model, mistake) for model, _, mistakes in CHECKS for mistake in mistakes}
    # To compile takes longer than most searches.
    checks = [(check, "-O0") for check in share(CHECKS)]
    if "--by-hand" in options:
        checks += [(check, "-O2") for check in CHECKS_BY_HAND]
    for (model, switches, mistakes), level in checks:
        with tempfile.TemporaryDirectory() as scratch:
            build(os.path.join(folder, model + ".pml"), switches, scratch, level)
            for mistake in ("", *mistakes):
                errors, report = search(scratch, texts[model][mistake] if mistake else "0")
                states = re.search(r"(\d+) states, stored", report)
                print("%s %s %s: %s errors, %s states" % (
                    model, switches, mistake, errors, states.group(1) if states else "?"),
                    flush=True)
                if errors is None or (errors > 0) != bool(mistake):
                    failures.append("%s %s %s:\n%s" % (model, switches, mistake, report))
    if untried:
        failures.append("planted, and not tried: %s" % sorted(untried))
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
