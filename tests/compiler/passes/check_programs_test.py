#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`tfrt_opt --check-chains` and `bef_executor --check_races` on the test programs: they find no pair
of accesses without order where there is none.

    check_programs_test.py BIN_FOLDER FILE...

Programs whose author left accesses without order, on purpose or because nobody looks, are listed
below with the number of pairs.
"""

import os
import subprocess
import sys

# For each folder and file, the pairs without order.
EXPECTED = {
    "executor/control_flow.mlir": 2,  # calls with chains of their own print
    "executor/error_loops.mlir": 2,  # turns whose prints wait for nothing
    "executor/odd_forms.mlir": 1,  # a loop whose turns print, without a chain that goes round
    "tensor/dense.mlir": 1,  # an op that fails before it writes
    "tensor/maths.mlir": 4,  # likewise
    "tensor/sparse.mlir": 1,  # two chains that print
}

# The same for the pairs that access memory in a run.
RACES = {
    "tensor/dense.mlir": 1,
    "tensor/maths.mlir": 4,
}


def check_races(folder, path, name):
    """Runs the program at `path`, and compares the races with those that are known."""
    translated = subprocess.run([os.path.join(folder, "mlir_to_bef"), path], capture_output=True,
                                check=False)
    if translated.returncode != 0:
        return 0
    done = subprocess.run([os.path.join(folder, "bef_executor"), "--check_races",
                           "--work_queue_type=mstd:2"], input=translated.stdout,
                          capture_output=True, check=False)
    errors = done.stderr.decode()
    count = errors.count("runtime error: race: ")
    if count != RACES.get(name, 0):
        sys.exit(f"{path}: {count} races, not {RACES.get(name, 0)}\n{errors}")
    return count


def main():
    folder, paths = sys.argv[1], sys.argv[2:]
    if not paths:
        sys.exit("no programs")
    tool = os.path.join(folder, "tfrt_opt")
    races = 0
    found = {}
    for path in paths:
        done = subprocess.run([tool, "--check-chains", path], capture_output=True, check=False,
                              text=True)
        if done.returncode != 0:
            sys.exit(f"{path}: {done.stderr}")
        count = done.stderr.count(": warning: ")
        name = "/".join(path.split(os.sep)[-2:])
        if count != EXPECTED.get(name, 0):
            sys.exit(f"{path}: {count} warnings, not {EXPECTED.get(name, 0)}\n{done.stderr}")
        found[name] = count
        # The random programs are alike.
        if "/random/" not in path or name.endswith("0.mlir"):
            races += check_races(folder, path, name)
    missing = [name for name in EXPECTED if name not in found]
    if missing:
        sys.exit(f"programs that are listed and not there: {missing}")
    print(f"{len(found)} programs, {sum(found.values())} pairs without order, {races} races, as "
          "expected")


main()
