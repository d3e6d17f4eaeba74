#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/async.md run, and print what stands below them.

    async_page_test.py MLIR_TO_BEF BEF_EXECUTOR TFRT_OPT PAGE

A program is an indented block that has a function `main`; the next indented block is what it
prints. The four blocks of the section on reference counts are a program, what the first pass makes
of it, what both passes make of it, and the report when a drop is missing.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

MLIR_TO_BEF, BEF_EXECUTOR, TFRT_OPT, PAGE = sys.argv[1:5]


def blocks():
    """The indented blocks of the page, without their indentation."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    found = re.findall(r"(?:^(?: {4}.*)?\n)+", text, re.MULTILINE)
    found = ["".join(line[4:] for line in block.splitlines(True)) for block in found]
    return [block.strip("\n") + "\n" for block in found if block.strip()]


class AsyncPageTest(unittest.TestCase):

    def test_programs_print_what_stands_below_them(self):
        page = blocks()
        count = 0
        for program, expected in zip(page, page[1:]):
            if "func.func @main" not in program:
                continue
            count += 1
            bef = subprocess.run([MLIR_TO_BEF, "-", "-o", "-"], input=program.encode(),
                                 capture_output=True, check=False, timeout=60)
            self.assertEqual(bef.returncode, 0, bef.stderr.decode() + program)
            done = subprocess.run([BEF_EXECUTOR, "--functions=main", "-"], input=bef.stdout,
                                  capture_output=True, check=False, timeout=60)
            lines = [line for line in done.stdout.decode().splitlines()
                     if not line.startswith(("Choosing", "---", "'main'"))]
            self.assertEqual("\n".join(lines) + "\n", expected, program)
        self.assertGreaterEqual(count, 6)

    def run_passes(self, folder, name, text, *flags):
        """What tfrt_opt says, and its exit code, for `text` in a file `name`."""
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([os.path.abspath(TFRT_OPT), *flags, name], cwd=folder, text=True,
                              capture_output=True, check=False, timeout=60)
        return done.stderr if done.returncode else done.stdout, done.returncode

    def test_reference_counts_are_those_of_the_page(self):
        page = blocks()
        first = next(i for i, block in enumerate(page) if "@counted" in block)
        program, counted, cancelled, report = page[first:first + 4]
        lines = counted.splitlines(True)
        del lines[lines.index("^bb2:\n") + 1]
        with tempfile.TemporaryDirectory() as folder:
            flags = ["--keep-value-names", "--async-ref-counting"]
            self.assertEqual(self.run_passes(folder, "counts.mlir", program, *flags), (counted, 0))
            flags.append("--async-ref-counting-opt")
            self.assertEqual(self.run_passes(folder, "counts.mlir", program, *flags),
                             (cancelled, 0))
            flags = ["--verify-async-ref-counts"]
            self.assertEqual(self.run_passes(folder, "counts.mlir", counted, *flags)[1], 0)
            self.assertEqual(self.run_passes(folder, "leaks.mlir", "".join(lines), *flags),
                             (report, 1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
