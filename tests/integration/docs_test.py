#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Programs and commands in the pages for users: they run as printed, and print what stands there.

Usage: docs_test.py TFRT TFRT_WORKER (from the project's folder)
"""

import os
import re
import shlex
import subprocess

from cluster import PATIENCE_S, ClusterTest, main

TOOL = "bazel-bin/tools/tfrt"


def blocks(path):
    """The indented blocks of a page, without their indentation."""
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    found = re.findall(r"(?:^ {4}.*\n)+", text, re.MULTILINE)
    return ["".join(line[4:] for line in block.splitlines(True)) for block in found]


def entries(block):
    """What is typed behind each `$ ` of a block, with what stands below it."""
    return [tuple(entry.split("\n", 1)) for entry in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]


class DocsTest(ClusterTest):
    def run_as_printed(self, command, folder=None):
        words = shlex.split(command)
        self.assertEqual(words[:2], [TOOL, "run"], command)
        process = subprocess.run(
            [os.path.abspath(self.tfrt), *words[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=self.environment,
            universal_newlines=True,
            timeout=PATIENCE_S,
            check=False,
        )
        self.assertEqual((process.returncode, process.stderr), (0, ""), command)
        return process.stdout

    def test_the_readme_runs_as_printed(self):
        commands = 0
        for block in blocks("README.md"):
            for typed, shown in entries(block):
                if typed.startswith("cat "):
                    self.write(typed.split()[1], shown)
                elif typed.startswith(TOOL):
                    self.assertEqual(self.run_as_printed(typed, self.folder), shown)
                    commands += 1
        self.assertEqual(commands, 2)
        self.expect_nothing_left()

    def example(self, name):
        """The first command of an example's page, and what is shown below it."""
        found = blocks("examples/%s/README.md" % name)
        first = next(i for i, block in enumerate(found) if block.startswith(TOOL))
        return found[first].replace("\\\n", ""), found[first + 1]

    def test_examples_run_as_printed(self):
        for name in ("data_parallel", "digits_everywhere"):
            with self.subTest(name):
                command, shown = self.example(name)
                self.assertEqual(self.run_as_printed(command), shown)
        command, _ = self.example("mnist")
        self.assertIn("'main' returned 996,1000\n", self.run_as_printed(command))

    def test_a_program_of_the_page_on_hosts_does_what_it_says(self):
        programs = [block for block in blocks("docs/hosts.md") if "func.func @main" in block]
        self.assertEqual(len(programs), 1)
        path = self.write("part.mlir", programs[0])
        out = self.run_as_printed("%s run %s --local 3" % (TOOL, path))
        self.assertEqual(out.count("values = [3, 6, 9]\n"), 3, out)
        self.assertIn("'main' returned 3\n", out)


if __name__ == "__main__":
    main()
