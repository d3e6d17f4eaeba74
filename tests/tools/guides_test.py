#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The worked examples of the guides fit the source tree: each block applies, and C that it makes or
changes compiles. A build of an example takes too long for a test; CONTRIBUTING.md says how to make
one.

Usage: guides_test.py (the tree is where WORKSPACE really is)
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.realpath("WORKSPACE"))
sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(ROOT, "embedding")]
import apply_guide  # pylint: disable=wrong-import-position
import install_tree  # pylint: disable=wrong-import-position

GUIDES = ("collective", "device", "frame", "kernel", "service", "transport")
# Written by protoc at build time.
GENERATED = re.compile(r'#include "proto/.*\.pb-c\.h"')


def ignored(folder, names):
    """No build outputs, no history."""
    return [name for name in names if name == ".git" or
            folder == ROOT and name.startswith("bazel-")]


class GuidesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = tempfile.TemporaryDirectory()
        shutil.copytree(ROOT, os.path.join(cls.base.name, "tree"), symlinks=True, ignore=ignored)
        cls.installed = os.path.join(cls.base.name, "include")
        for header in install_tree.public_headers(ROOT):
            path = os.path.join(cls.installed, install_tree.installed_path(header))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(os.path.join(ROOT, header), encoding="utf-8") as stream:
                text = install_tree.installed_text(stream.read())
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(text)

    @classmethod
    def tearDownClass(cls):
        cls.base.cleanup()

    def setUp(self):
        self.work = tempfile.TemporaryDirectory()
        self.tree = os.path.join(self.work.name, "tree")
        # By links: a block makes a new file of each that it changes.
        subprocess.run(["cp", "-al", os.path.join(self.base.name, "tree"), self.tree], check=True)

    def tearDown(self):
        self.work.cleanup()

    def compile(self, path):
        with open(os.path.join(self.tree, path), encoding="utf-8") as stream:
            if GENERATED.search(stream.read()):
                return
        # A project outside of the tree knows the installed headers alone.
        include = self.installed if path.startswith("examples/") else "."
        process = subprocess.run(
            ["gcc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
             "-I" + include, path], cwd=self.tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            universal_newlines=True, check=False)
        self.assertEqual(process.returncode, 0, "%s\n%s" % (path, process.stdout))

    def check(self, name):
        page = apply_guide.apply(os.path.join(ROOT, "docs/guides/%s.md" % name), self.tree)
        changed = apply_guide.changed_files(page)
        self.assertTrue(changed)
        for path in changed:
            if path.endswith(".c"):
                self.compile(path)

    def test_every_page_is_an_example(self):
        pages = [os.path.splitext(os.path.basename(path))[0]
                 for path in glob.glob(os.path.join(ROOT, "docs/guides/*.md"))]
        self.assertEqual(sorted(pages), sorted(GUIDES + ("index",)))

    def test_a_block_that_does_not_fit_is_seen(self):
        page = os.path.join(self.work.name, "bad.md")
        with open(page, "w", encoding="utf-8") as stream:
            stream.write("```diff\n--- a/README.md\n+++ b/README.md\n@@ -1,1 +1,1 @@\n"
                         "-no such line\n+another\n```\n")
        with self.assertRaisesRegex(SystemExit, "bad.md:1: the diff block does not apply"):
            apply_guide.apply(page, self.tree)


for guide in GUIDES:
    setattr(GuidesTest, "test_%s" % guide, lambda self, name=guide: self.check(name))

if __name__ == "__main__":
    unittest.main()
