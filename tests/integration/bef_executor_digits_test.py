#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The digits in bef_executor, which gives functions no arguments: the program reads them itself.

To examples/mnist/mnist.mlir a function without parameters is added, which reads the digits from
a BTF file made here, and calls @main.

Usage: bef_executor_digits_test.py BEF_EXECUTOR MLIR_TO_BEF MNIST_FOLDER
"""

import gzip
import os
import struct
import subprocess
import sys
import tempfile
import unittest

BEF_EXECUTOR, MLIR_TO_BEF, MNIST = (os.path.abspath(path) for path in sys.argv[1:4])

FROM_A_FILE = """
func.func @from_a_file() -> (i64, i64) {
  %start = tfrt.new.chain
  %read, %images, %labels = tfrt_tensor.read_btf "digits.btf", %start : () -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor)
  %right, %all = tfrt.call @main(%images, %labels) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor) -> (i64, i64)
  tfrt.return %right, %all : i64, i64
}
"""

BTF_U8 = 6


def read_idx(name):
    """The dimensions and bytes of a gzipped idx file of u8."""
    with gzip.open(os.path.join(MNIST, "data", name)) as stream:
        data = stream.read()
    rank = data[3]
    return struct.unpack(">%dI" % rank, data[4 : 4 + 4 * rank]), data[4 + 4 * rank :]


def write_btf(path, tensors):
    """The layout that host_runtime/tensor/btf.h describes."""
    records = []
    for dims, data in tensors:
        record = struct.pack("<QBB6x%dQ" % len(dims), len(dims), BTF_U8, 0, *dims) + data
        records.append(record + bytes(-len(record) % 8))
    offset = 8 + 8 * len(records)
    table = struct.pack("<Q", len(records))
    for record in records:
        table += struct.pack("<Q", offset)
        offset += len(record)
    with open(path, "wb") as stream:
        stream.write(table + b"".join(records))


class DigitsTest(unittest.TestCase):
    def test_every_queue(self):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(MNIST, "weights"), os.path.join(folder, "weights"))
            with open(os.path.join(MNIST, "mnist.mlir"), encoding="utf-8") as stream:
                text = stream.read() + FROM_A_FILE
            with open(os.path.join(folder, "digits.mlir"), "w", encoding="utf-8") as stream:
                stream.write(text)
            images = read_idx("test-images-idx3-ubyte.gz")
            labels = read_idx("test-labels-idx1-ubyte.gz")
            write_btf(os.path.join(folder, "digits.btf"), [images, labels])
            subprocess.run(
                [MLIR_TO_BEF, "digits.mlir", "-o", "digits.bef"], cwd=folder, check=True
            )
            for queue in ("s", "mstd:2"):
                out = subprocess.run(
                    [BEF_EXECUTOR, "digits.bef", "--work_queue_type=" + queue],
                    cwd=folder,
                    check=True,
                    stdout=subprocess.PIPE,
                    universal_newlines=True,
                ).stdout
                self.assertIn("accuracy: 99.60 % (996 of 1000)\n", out)
                self.assertIn("'from_a_file' returned 996,1000\n", out)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
