#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The reference counts of every asynchronous program of the tree are right.

    async_ref_counts_programs_test.py TFRT_OPT FILE.mlir...

Each program is counted, checked, optimised, and checked again. Where stock mlir-opt is installed, so
is what it lowers the program to. Then its own pass adds as many references, so do both optimising
passes, and it drops at least as many.
"""

import re
import shutil
import subprocess
import sys
import unittest

TFRT_OPT = sys.argv[1]
PROGRAMS = sys.argv[2:]
STOCK = "mlir-opt-22"
LOWER = "async-func-to-async-runtime,async-to-async-runtime"
COUNT = ["--async-ref-counting", "--verify-async-ref-counts"]
CANCEL = ["--async-ref-counting-opt", "--verify-async-ref-counts"]


def run(tool, flags, text):
    """What `tool` makes of `text`, or None and what it reports."""
    done = subprocess.run([tool, "--allow-unregistered-dialect", *flags], input=text, text=True,
                          capture_output=True, check=False, timeout=120)
    return (done.stdout, None) if done.returncode == 0 else (None, done.stderr)


def stock(passes, text):
    return run(STOCK, [f"--pass-pipeline=builtin.module({passes})", "--mlir-print-op-generic"], text)


def counts(text):
    """The numbers of references that `text` adds and drops."""
    found = [sum(int(number) for number in
                 re.findall(rf"async\.runtime\.{op}_ref[^{{\n]*{{count = (\d+)", text))
             for op in ("add", "drop")]
    return tuple(found)


class ProgramsTest(unittest.TestCase):

    def check(self, text, name):
        """Counts `text` and checks it; returns it counted, and optimised."""
        counted, report = run(TFRT_OPT, COUNT, text)
        self.assertIsNotNone(counted, f"{name}: {report}")
        cancelled, report = run(TFRT_OPT, CANCEL, counted)
        self.assertIsNotNone(cancelled, f"{name}: {report}")
        return counted, cancelled

    def test_programs(self):
        checked = 0
        for name in PROGRAMS:
            with open(name, encoding="utf-8") as file:
                text = file.read()
            if not re.search(r"async\.(execute|func|call|runtime\.create)\b", text):
                continue
            # A program with mistakes of its own, or with ops of other dialects.
            if run(TFRT_OPT, [], text)[0] is None:
                continue
            self.check(text, name)
            checked += 1
        self.assertGreaterEqual(checked, 15)

    @unittest.skipUnless(shutil.which(STOCK), f"{STOCK} is not installed")
    def test_programs_that_stock_has_lowered(self):
        checked = 0
        wrong = 0
        for name in PROGRAMS:
            with open(name, encoding="utf-8") as file:
                text = file.read()
            if not re.search(r"async\.(execute|func)\b", text) or "_ref" in text:
                continue
            lowered, _ = stock(LOWER, text)
            by_stock, _ = stock(f"{LOWER},async-runtime-ref-counting", text)
            if lowered is None or by_stock is None or run(TFRT_OPT, [], lowered)[0] is None:
                continue
            counted, cancelled = self.check(lowered, name)
            stock_cancelled, _ = stock("async-runtime-ref-counting-opt", by_stock)
            # Stock's pass doesn't know that a loop takes what it carries.
            if not re.search(r"iter_args.*!async", text):
                self.assertEqual(counts(counted)[0], counts(by_stock)[0], name)
                self.assertEqual(counts(cancelled)[0], counts(stock_cancelled)[0], name)
            self.assertLessEqual(counts(counted)[1], counts(by_stock)[1], name)
            wrong += run(TFRT_OPT, ["--verify-async-ref-counts"], by_stock)[0] is None
            checked += 1
        self.assertGreaterEqual(checked, 10)
        # Several of them have tasks with two awaits.
        self.assertGreaterEqual(wrong, 3)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
