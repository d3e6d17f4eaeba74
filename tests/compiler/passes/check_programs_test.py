#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`tfrt_opt --check-chains` on the test programs: it finds no pair without order where there is none.

    check_programs_test.py TFRT_OPT FILE...

Programs whose author left accesses without order, on purpose or because nobody looks, are listed
below with the number of pairs.
"""

import os
import subprocess
import sys

# For each folder and file, the pairs without order.
EXPECTED = {
    "executor/control_flow.mlir": 2,  # calls with chains of their own print
    "executor/lifetimes.mlir": 1,  # two ops without operands
    "executor/odd_forms.mlir": 1,  # a loop whose turns print, without a chain that goes round
    "executor/parallel.mlir": 1,  # an atomic counter
    "tensor/dense.mlir": 1,  # an op that fails before it writes
    "tensor/maths.mlir": 4,  # likewise
    "tensor/sparse.mlir": 1,  # two chains that print
}


def main():
    tool, paths = sys.argv[1], sys.argv[2:]
    if not paths:
        sys.exit("no programs")
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
    missing = [name for name in EXPECTED if name not in found]
    if missing:
        sys.exit(f"programs that are listed and not there: {missing}")
    print(f"{len(found)} programs, {sum(found.values())} pairs without order, as expected")


main()
