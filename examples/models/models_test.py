#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of README.md, as printed; ResNet-50 with fewer channels.

    models_test.py
"""

import os
import signal
import subprocess
import sys
import tempfile
import unittest

try:
    import onnx  # pylint: disable=unused-import
except ImportError:
    print("skipped: python3-onnx is not installed")
    sys.exit(0)

ROOT = os.getcwd()
RANDOM = "The weights are random: the "


def commands():
    """The lines of README.md that begin with a dollar sign."""
    with open("examples/models/README.md", encoding="utf-8") as file:
        return [line[6:].strip() for line in file if line.startswith("    $ ")]


def children(pid):
    """The processes that |pid| has started."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(child) for child in file.read().split()]


class ModelsTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.symlink(os.path.join(ROOT, "examples"), os.path.join(self.folder.name, "examples"))
        os.symlink(ROOT, os.path.join(self.folder.name, "bazel-bin"))

    def run_command(self, command):
        """What |command| prints."""
        done = subprocess.run(["/bin/sh", "-c", command], cwd=self.folder.name, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=200)
        self.assertEqual(done.returncode, 0, (command, done.stderr.decode(errors="replace")))
        return done.stdout

    def run_commands(self, word):
        """What the commands with |word| print."""
        found = [command for command in commands() if word in command]
        self.assertTrue(found)
        return [self.run_command(command) for command in found]

    def test_equal_sentences_are_as_similar_as_can_be(self):
        lines = self.run_commands("minilm.py")[0].decode().splitlines()
        self.assertEqual(lines[:2], [RANDOM + "numbers mean nothing.",
                                     "1.000 A man is eating food."])
        self.assertRegex(lines[2], r"^-?0\.\d\d\d The sky is blue today\.$")

    def test_a_photo_has_five_best_scores_on_one_host_and_on_three(self):
        make, run = [command for command in commands() if "resnet50.onnx" in command]
        self.run_command(make.replace(".py ", ".py --small "))
        with open(os.path.join(self.folder.name, "labels.txt"), "w", encoding="utf-8") as file:
            file.write("".join(f"thing {i}\n" for i in range(1000)))
        best = self.run_command(run + " --labels labels.txt").decode()
        self.assertEqual(best.count("thing "), 5, best)
        pipeline = " --labels labels.txt --split=pipeline --local 3"
        self.assertEqual(self.run_command(run + pipeline).decode(), best)
        self.assertEqual(len(self.run_command(run).decode().splitlines()),
                         len(best.splitlines()))

    def test_an_answer_is_the_same_on_one_host_and_on_three(self):
        one, three = self.run_commands("smollm2.py")
        self.assertEqual(one, three)
        head, answer = one.split(b"\n", 1)
        self.assertEqual(head.decode(), RANDOM + "answer means nothing.")
        self.assertGreaterEqual(len(answer), 4)


    def test_a_stage_that_is_killed_is_one_error(self):
        command = ["examples/models/smollm2.py", "--tokens", "1000000", "--hosts", "3", "Why?"]
        with subprocess.Popen(command, cwd=self.folder.name, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            head = process.stdout.readline()
            first = process.stdout.read1(1)
            # Behind the first token the three workers are there; the last one has the last stage.
            tfrt, = children(process.pid)
            os.kill(sorted(children(tfrt))[-1], signal.SIGKILL)
            rest, errors = process.communicate(timeout=100)
        self.assertEqual(head.decode().strip(), RANDOM + "answer means nothing.")
        self.assertTrue(first, rest)
        self.assertEqual(process.returncode, 4)
        lines = errors.decode(errors="replace").splitlines()
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines[0], r"^tfrt: UNAVAILABLE: .*lost host \d .* @stage\d")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
