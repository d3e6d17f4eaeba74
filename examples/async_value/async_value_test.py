#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The example prints what its README shows, and docs/async_value.md shows code of the example.

    async_value_test.py ASYNC_VALUE EXPECTED
"""

import re
import subprocess
import sys
import unittest

PROGRAM, EXPECTED = sys.argv[1:3]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def blocks(page):
    """The indented blocks of a page, without their indentation."""
    found = re.findall(r"(?:^    .*\n|^\n(?=    ))+", page, re.MULTILINE)
    return [re.sub("^    ", "", block.strip("\n"), flags=re.MULTILINE) + "\n" for block in found]


class AsyncValueTest(unittest.TestCase):

    def test_it_prints_what_the_readme_shows(self):
        done = subprocess.run([PROGRAM], capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout.decode(), read(EXPECTED))
        page = "\n".join(blocks(read("examples/async_value/README.md")))
        self.assertIn(done.stdout.decode(), page)

    def test_the_page_shows_code_of_the_program(self):
        source = read("examples/async_value/async_value.c")
        page = read("docs/async_value.md").partition("## From C++")[0]
        code = [block for block in blocks(page) if "{" in block]
        self.assertGreater(len(code), 3)
        for block in code:
            self.assertIn(block, source)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
