#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the ONNX project's cases of single operators, which the Python package onnx makes.

    make_newer_cases.py DIR VERSION     DIR/node/CASE/{model.onnx, test_data_set_K/*.pb}
"""

import os
import sys
import warnings

import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases


def to_bytes(value):
    """The bytes of a tensor; nothing for sequences and optional values."""
    if isinstance(value, onnx.TensorProto):
        return value.SerializeToString()
    if value is None or isinstance(value, (list, tuple)):
        return b""
    return numpy_helper.from_array(value).SerializeToString()


def main():
    folder, version = sys.argv[1:3]
    warnings.filterwarnings("ignore")
    if onnx.__version__ != version:
        print(f"the package onnx is of version {onnx.__version__}, not {version}")
        return 1
    for case in collect_testcases(None):
        path = os.path.join(folder, "node", case.name)
        os.makedirs(path, exist_ok=True)
        onnx.save(case.model, os.path.join(path, "model.onnx"))
        for k, (inputs, outputs) in enumerate(case.data_sets):
            data = os.path.join(path, f"test_data_set_{k}")
            os.makedirs(data, exist_ok=True)
            for kind, values in (("input", inputs), ("output", outputs)):
                for i, value in enumerate(values):
                    with open(os.path.join(data, f"{kind}_{i}.pb"), "wb") as file:
                        file.write(to_bytes(value))
    return 0


sys.exit(main())
