#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a user sees of btf_info.

Usage: btf_info_test.py BTF_INFO
"""

import os
import struct
import subprocess
import sys
import tempfile
import unittest

BTF_INFO = os.path.abspath(sys.argv.pop(1))


def record(dtype, layout, dims, payload):
    """A record of a BTF file, filled up to a multiple of 8 bytes."""
    data = struct.pack("<QBB6x%dQ" % len(dims), len(dims), dtype, layout, *dims) + payload
    return data + bytes(-len(data) % 8)


def btf(records):
    offset = 8 * (1 + len(records))
    offsets = []
    for data in records:
        offsets.append(offset)
        offset += len(data)
    return struct.pack("<%dQ" % (1 + len(records)), len(records), *offsets) + b"".join(records)


class BtfInfo(unittest.TestCase):
    def run_on(self, data, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "file.btf")
            with open(path, "wb") as stream:
                stream.write(data)
            return self.run_it(*(arguments or (path,)))

    @staticmethod
    def run_it(*arguments):
        return subprocess.run(
            [BTF_INFO, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            check=False,
        )

    def test_each_tensor_has_a_line(self):
        result = self.run_on(
            btf(
                [
                    record(0, 0, [3, 5], bytes(range(15))),
                    record(5, 0, [], struct.pack("<d", 0.5)),
                    record(9, 0, [0], b""),
                ]
            )
        )
        self.assertEqual(result.stderr, "")
        self.assertEqual(
            result.stdout,
            "[0] DenseHostTensor dtype = i8, shape = [3, 5], "
            "values = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]\n"
            "[1] DenseHostTensor dtype = f64, shape = [], values = [5.000000e-01]\n"
            "[2] DenseHostTensor dtype = ui64, shape = [0], values = []\n",
        )
        self.assertEqual(result.returncode, 0)

    def test_a_sparse_tensor_prints_its_list(self):
        payload = struct.pack("<2Q4q1Q2i", 2, 2, 0, 1, 2, 0, 2, 7, 8)
        result = self.run_on(btf([record(2, 1, [3, 2], payload)]))
        self.assertEqual(
            result.stdout,
            "[0] CooHostTensor dtype = i32, shape = [3, 2], indices = [0, 1, 2, 0], "
            "values = [7, 8]\n\n",
        )
        self.assertEqual(result.returncode, 0)

    def test_errors_name_the_file_and_the_place(self):
        result = self.run_on(btf([record(2, 0, [1 << 40, 1 << 40], b"")]))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^btf_info: .*file\.btf: .*byte 16.*overflows")
        result = self.run_on(b"short")
        self.assertEqual(result.returncode, 1)
        self.assertIn("not a good BTF file", result.stderr)
        result = self.run_it("/nonexistent.btf")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/nonexistent.btf", result.stderr)

    def test_usage(self):
        self.assertEqual(self.run_it().returncode, 2)
        self.assertEqual(self.run_it("a", "b").returncode, 2)
        self.assertEqual(self.run_it("--nonsense").returncode, 2)
        result = self.run_it("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("Usage: btf_info", result.stdout)


if __name__ == "__main__":
    unittest.main()
