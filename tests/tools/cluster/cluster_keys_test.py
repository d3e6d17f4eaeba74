#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each flag of `tfrt run` and `tfrt_worker` is a key of a cluster file, or said not to be one.

Usage: cluster_keys_test.py TFRT TFRT_WORKER
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

TFRT, TFRT_WORKER = (os.path.abspath(path) for path in sys.argv[1:3])
PATIENCE_S = 60

# Answered before any file is read.
QUESTIONS = {"help", "version"}


def ask(*command):
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=PATIENCE_S,
        check=False,
    )


def flags_of(*command):
    return set(re.findall(r"^  --?([\w-]+)", ask(*command, "--help").stdout, re.MULTILINE)) - QUESTIONS


class ClusterKeysTest(unittest.TestCase):
    def refusal(self, key):
        """What is said of a file with `key` alone, which takes no mapping."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "c.yaml")
            with open(path, "w", encoding="utf-8") as stream:
                stream.write("%s: {a: b}\n" % key)
            result = ask(TFRT, "run", "--cluster", path, "program.mlir")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("c.yaml:1: ", result.stderr)
        return result.stderr

    def test_each_flag_is_a_key_or_named_as_none(self):
        flags = flags_of(TFRT, "run") | flags_of(TFRT_WORKER)
        self.assertTrue({"bind", "threads", "job-calls", "rank", "o", "v"} <= flags, flags)
        error = self.refusal("no-such-flag")
        others = set(error.split("own: ")[1].strip().split(", ")) | {"cluster"}
        self.assertTrue(others <= flags, others - flags)
        for flag in sorted(flags):
            with self.subTest(flag=flag):
                said = "there is no key '%s'" if flag in others else "%s wants "
                self.assertIn(said % flag, self.refusal(flag))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
