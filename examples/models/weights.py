# SPDX-License-Identifier: Apache-2.0
"""Weights of a model: those of a .safetensors file, or random ones where there is no file."""

import json
import struct

import numpy

DTYPES = {"F32": numpy.float32, "F16": numpy.float16, "I64": numpy.int64}


def read_safetensors(path):
    """A function from name to array for the file |path|: u64 size, a header in JSON, the arrays."""
    data = numpy.memmap(path, numpy.uint8, "r")
    size, = struct.unpack("<Q", data[:8].tobytes())
    header = json.loads(data[8:8 + size].tobytes())

    def find(name, *_):
        entry = header[name]
        begin, end = entry["data_offsets"]
        if entry["dtype"] == "BF16":
            wide = data[8 + size + begin:8 + size + end].view(numpy.uint16).astype(numpy.uint32)
            return (wide << 16).view(numpy.float32).reshape(entry["shape"])
        array = data[8 + size + begin:8 + size + end].view(DTYPES[entry["dtype"]])
        return array.reshape(entry["shape"]).astype(numpy.float32)

    return find


def make_random(seed):
    """A function from name and shape to an array of random numbers, small for large shapes."""
    random = numpy.random.default_rng(seed)

    def find(name, *shape):
        if len(shape) == 1 and name.endswith(("weight", "running_var")):
            return numpy.ones(shape, numpy.float32)  # of a normalization
        scale = numpy.prod(shape[1:]) ** -0.5 if len(shape) > 1 else 0.1
        return (random.standard_normal(shape) * scale).astype(numpy.float32)

    return find
