#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tells the types of files with the model beside this script.

    magika.py [--tfrt TFRT] [--hosts N] FILE...

The model looks at 2,048 numbers of a file: its first 1,024 bytes without leading white space, and
its last 1,024 without trailing white space; 256 stands where a file is shorter.
"""

import argparse
import os
import subprocess
import tempfile

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
BLOCK, PART, NOTHING = 4096, 1024, 256


def features(path):
    with open(path, "rb") as file:
        first = file.read(BLOCK)
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - BLOCK))
        last = file.read(BLOCK)
    first, last = first.lstrip()[:PART], last.rstrip()[-PART:]
    return ([*first] + [NOTHING] * (PART - len(first)) + [NOTHING] * (PART - len(last)) + [*last])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tfrt", default="bazel-bin/tools/tfrt")
    parser.add_argument("--hosts", type=int, default=1)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    with open(os.path.join(HERE, "labels.txt"), encoding="utf-8") as file:
        labels = file.read().split()
    with tempfile.TemporaryDirectory() as folder:
        argument, results = os.path.join(folder, "x.npy"), os.path.join(folder, "out")
        numpy.save(argument, numpy.array([features(f) for f in options.files], numpy.int32))
        command = [options.tfrt, "run", os.path.join(HERE, "model.onnx"),
                   "--arg", "bytes=@" + argument, "-o", "npy", results]
        if options.hosts > 1:
            command += ["--local", str(options.hosts), "--split=pipeline"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        scores = numpy.load(os.path.join(results, "result_0.npy"))
    for name, row in zip(options.files, scores):
        print(f"{name}: {labels[row.argmax()]} ({int(100 * row.max() + 0.5)} %)")


main()
