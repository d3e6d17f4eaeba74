#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What `--version` of each tool prints: the numbers of the headers, the same everywhere.

Usage: version_test.py VERSION_H LIMITS_H BEF_FORMAT_H TOOL...

That `pkg-config --modversion` says the same is a test of what is installed (tests/embedding).
"""

import os
import re
import subprocess
import sys
import unittest

HEADERS, TOOLS = sys.argv[1:4], sys.argv[4:]
PATIENCE_S = 60

# Those that talk to other hosts.
SPEAKERS = ("tfrt", "tfrt_worker")
# Builds of one program are called as that is.
PROGRAMS = {"bef_executor_%s" % kind: "bef_executor" for kind in ("lite", "small", "debug_tracing")}


def constant(name):
    for path in HEADERS:
        with open(path, encoding="utf-8") as stream:
            found = re.search(r'^#define %s "?([\w.]+)' % name, stream.read(), re.MULTILINE)
        if found:
            return found.group(1)
    raise AssertionError(name)


def ask(tool, *arguments):
    return subprocess.run(
        [os.path.abspath(tool), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=PATIENCE_S,
        check=False,
    )


class TestVersion(unittest.TestCase):
    def expected(self, name):
        first, last = (int(constant("TFRT_WIRE_VERSION_" + end).rstrip("u")) for end in ("MIN", "MAX"))
        protocol = "protocol %d, " % last if first == last else "protocol %d to %d, " % (first, last)
        return "%s %s\n%sBEF %d\n" % (
            name,
            constant("TFRT_VERSION"),
            protocol if name in SPEAKERS else "",
            int(constant("TFRT_BEF_VERSION"), 16),
        )

    def test_each_tool_says_what_the_headers_do(self):
        names = {os.path.basename(tool): tool for tool in TOOLS}
        self.assertTrue(set(SPEAKERS) | {"mlir_to_bef", "bef_executor"} <= set(names))
        for name, tool in names.items():
            for flag in ("--version", "-version"):
                if name == "tfrt" and flag == "-version":
                    continue
                with self.subTest(name=name, flag=flag):
                    result = ask(tool, flag)
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
                    self.assertEqual(result.stdout, self.expected(PROGRAMS.get(name, name)))

    def test_each_verb_says_it_too(self):
        tfrt = [tool for tool in TOOLS if os.path.basename(tool) == "tfrt"][0]
        for verb in ("run", "attach", "certs", "status", "list", "dump", "trace", "cancel", "drain"):
            with self.subTest(verb):
                result = ask(tfrt, verb, "--version")
                self.assertEqual((result.returncode, result.stdout), (0, self.expected("tfrt")))

    def test_the_help_says_that_there_is_a_version(self):
        for tool in TOOLS:
            with self.subTest(tool):
                self.assertIn("--version", ask(tool, "--help").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
