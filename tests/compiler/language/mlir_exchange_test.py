#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Programs between tfrt_opt and stock mlir-opt: each reads what the other one prints.

    mlir_exchange_test.py TFRT_OPT PROGRAM...

Without a stock mlir-opt (Debian's mlir-22-tools) there is nothing to compare with, and the test
says so.
"""

import os
import shutil
import subprocess
import sys
import unittest

TFRT_OPT = os.path.abspath(sys.argv[1])
PROGRAMS = sys.argv[2:]
MLIR_OPT = shutil.which("mlir-opt-22")
GENERIC = "--mlir-print-op-generic"
UNKNOWN = "--allow-unregistered-dialect"


def run(program, *arguments, text):
    """What `program` prints for `text`."""
    done = subprocess.run([program, UNKNOWN, *arguments], input=text, capture_output=True,
                          text=True, timeout=120)
    if done.returncode:
        raise AssertionError(f"{program}: {done.stderr}\n{text}")
    return done.stdout


@unittest.skipUnless(MLIR_OPT, "mlir-opt-22 is not installed (Debian: mlir-22-tools)")
class MlirExchangeTest(unittest.TestCase):

    def for_each_program(self, check):
        for path in PROGRAMS:
            with self.subTest(path=path), open(path, encoding="utf-8") as file:
                check(file.read())

    def test_generic_text_comes_back_as_it_was(self):
        def check(text):
            ours = run(TFRT_OPT, GENERIC, text=text)
            for flags in ([GENERIC], [GENERIC, "--mlir-print-debuginfo"], []):
                theirs = run(MLIR_OPT, *flags, text=ours)
                self.assertEqual(run(TFRT_OPT, GENERIC, text=theirs), ours)
        self.for_each_program(check)

    def test_both_read_a_program_as_the_same(self):
        def check(text):
            theirs = run(MLIR_OPT, text=text)
            self.assertEqual(run(TFRT_OPT, text=theirs), run(TFRT_OPT, text=text))
        self.for_each_program(check)

    def test_custom_text_of_ours_is_read_by_theirs(self):
        def check(text):
            ours = run(TFRT_OPT, text=text)
            self.assertEqual(run(TFRT_OPT, text=run(MLIR_OPT, text=ours)), ours)
        self.for_each_program(check)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
