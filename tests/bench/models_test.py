#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The script that puts models beside onnxruntime, with peers that only say numbers."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import models  # pylint: disable=wrong-import-position

PEER = """
import sys
print("ready", flush=True)
for number, line in enumerate(sys.stdin):
    print(*(([{factor} * 1000000 * (number + 1), 2000000]) if line == "run\\n" else ["written"]),
          flush=True)
print(2048)
"""


class ModelsTest(unittest.TestCase):
    def peer(self, factor):
        return models.Peer([sys.executable, "-c", PEER.format(factor=factor)])

    def test_peers_run_in_turn(self):
        peers = [self.peer(1), self.peer(10)]
        samples = models.take_in_turn(peers, 3, 1)
        self.assertEqual(samples, [[[2, 2], [3, 2], [4, 2]], [[20, 2], [30, 2], [40, 2]]])
        self.assertEqual(peers[0].ask("write x"), "written")
        self.assertEqual([peer.end() for peer in peers], [2, 2])

    def test_a_peer_that_ends_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "it ended"):
            models.Peer([sys.executable, "-c", "pass"])

    def test_line(self):
        line = models.line_of("name", 2, [[1, 4], [3, 4], [2, 4]], [[8, 2]], [10, 20], 0.5)
        self.assertEqual(line.split(),
                         ["name", "2", "2.0", "4.0", "8.0", "2.0", "0.25", "2.00", "10", "20",
                          "5.0e-01"])
        self.assertEqual(len(line), len(models.HEAD))
        line = models.line_of("name", 1, [[1, 1]], [[1, 1]], None, 0)
        self.assertEqual(line.split()[-3:], ["-", "-", "0.0e+00"])
        self.assertEqual(len(line), len(models.HEAD))

    def test_processes_are_measured(self):
        clock, processor = models.run_process([sys.executable, "-c", "sum(range(10**6))"])
        self.assertGreater(clock, 0)
        self.assertGreater(processor, 0)
        with self.assertRaisesRegex(RuntimeError, "failed"):
            models.run_process(["false"])

    def test_without_packages_there_is_no_python(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "python")
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nexit 1\n")
            os.chmod(path, 0o755)
            self.assertFalse(models.has_packages(path))


if __name__ == "__main__":
    unittest.main()
