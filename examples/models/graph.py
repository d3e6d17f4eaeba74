# SPDX-License-Identifier: Apache-2.0
"""Graphs of the ONNX format, written one operator after the other with the package `onnx`."""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
KINDS = {"f32": TensorProto.FLOAT, "i64": TensorProto.INT64}


class Graph:
    """A graph that is being made: nodes in order, and their weights."""

    def __init__(self):
        self.nodes, self.weights, self.constants = [], [], {}

    def weight(self, values):
        """The name of a weight with these values."""
        name = f"w{len(self.weights)}"
        values = numpy.ascontiguousarray(values)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def constant(self, values, dtype=numpy.int64):
        """The name of a small constant; the same again has the same name."""
        values = numpy.array(values, dtype)
        key = (values.dtype.str, values.shape, values.tobytes())
        if key not in self.constants:
            self.constants[key] = self.weight(values)
        return self.constants[key]

    def number(self, value):
        return self.constant(value, numpy.float32)

    def add(self, operator, *inputs, **attributes):
        """Adds a node of one result, and returns its name."""
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def linear(self, x, weights, bias=None):
        """x times the transpose of |weights|, which are [outputs, inputs], plus |bias|."""
        y = self.add("MatMul", x, self.weight(weights.T))
        return y if bias is None else self.add("Add", y, self.weight(bias))

    def save(self, path, inputs, outputs):
        """|inputs| and |outputs| are lists of (name, kind, shape); an output is also the name of
        what it is: (name, kind, shape, value)."""
        for name, _, _, value in outputs:
            self.nodes.append(helper.make_node("Identity", [value], [name]))
        infos = [[helper.make_tensor_value_info(name, KINDS[kind], shape)
                  for name, kind, shape, *_ in values] for values in (inputs, outputs)]
        graph = helper.make_graph(self.nodes, "main", *infos, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        onnx.save(model, path)
