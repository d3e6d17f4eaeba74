#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/async.md run, and print what stands below them.

    async_page_test.py MLIR_TO_BEF BEF_EXECUTOR PAGE

A program is an indented block that has a function `main`; the next indented block is what it
prints.
"""

import re
import subprocess
import sys
import unittest

MLIR_TO_BEF, BEF_EXECUTOR, PAGE = sys.argv[1:4]


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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
