# SPDX-License-Identifier: Apache-2.0
"""Models with random weights and the operators that torch's exporter writes, made with `onnx`."""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20


class Graph:
    """A graph that is being made: nodes in order, and their weights."""

    def __init__(self, seed):
        self.nodes, self.weights, self.random = [], [], numpy.random.default_rng(seed)

    def weight(self, shape, scale):
        values = (self.random.standard_normal(shape) * scale).astype(numpy.float32)
        return self.constant(values)

    def constant(self, values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.ascontiguousarray(values), name))
        return name

    def add(self, operator, *inputs, **attributes):
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def save(self, path, inputs, output, shape):
        values = [helper.make_tensor_value_info(name, kind, dims) for name, kind, dims in inputs]
        self.nodes.append(helper.make_node("Identity", [output], ["y"]))
        result = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, "main", values, [result], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = 10
        onnx.checker.check_model(model)
        onnx.save(model, path)


# --- ResNet-50 ---------------------------------------------------------------------

def convolution(graph, x, source, target, window, stride):
    scale = (2.0 / (source * window * window)) ** 0.5
    weights = graph.weight((target, source, window, window), scale)
    return graph.add("Conv", x, weights, graph.weight((target,), 0.1), kernel_shape=[window] * 2,
                     strides=[stride] * 2, pads=[window // 2] * 4)


def bottleneck(graph, x, source, width, stride):
    y = graph.add("Relu", convolution(graph, x, source, width, 1, 1))
    y = graph.add("Relu", convolution(graph, y, width, width, 3, stride))
    y = convolution(graph, y, width, 4 * width, 1, 1)
    if source != 4 * width or stride != 1:
        x = convolution(graph, x, source, 4 * width, 1, stride)
    return graph.add("Relu", graph.add("Add", y, x))


def resnet50(path):
    """Batch normalization is in the convolutions already, as exporters leave it."""
    graph = Graph(1)
    x = graph.add("Relu", convolution(graph, "x", 3, 64, 7, 2))
    x = graph.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    source = 64
    for stage, (width, count) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
        for number in range(count):
            x = bottleneck(graph, x, source, width, 2 if number == 0 and stage > 0 else 1)
            source = 4 * width
    x = graph.add("ReduceMean", x, graph.constant(numpy.array([-1, -2], numpy.int64)), keepdims=1)
    x = graph.add("Reshape", x, graph.constant(numpy.array([1, 2048], numpy.int64)))
    x = graph.add("Gemm", x, graph.weight((1000, 2048), 0.02), graph.weight((1000,), 0.1), transB=1)
    graph.save(path, [("x", TensorProto.FLOAT, [1, 3, 224, 224])], x, [1, 1000])
    return {"x": graph.random.standard_normal((1, 3, 224, 224)).astype(numpy.float32)}


# --- MiniLM ------------------------------------------------------------------------

TOKENS, WIDTH, HEADS, LAYERS = 128, 384, 12, 6


def linear(graph, x, source, target):
    y = graph.add("MatMul", x, graph.weight((source, target), source ** -0.5))
    return graph.add("Add", y, graph.weight((target,), 0.1))


def layer_norm(graph, x):
    scale = graph.constant(numpy.ones(WIDTH, numpy.float32))
    return graph.add("LayerNormalization", x, scale, graph.weight((WIDTH,), 0.1), axis=-1,
                     epsilon=1e-12)


def heads_of(graph, x, order):
    shape = graph.constant(numpy.array([1, TOKENS, HEADS, WIDTH // HEADS], numpy.int64))
    return graph.add("Transpose", graph.add("Reshape", x, shape), perm=order)


def attention(graph, x, mask):
    query = heads_of(graph, linear(graph, x, WIDTH, WIDTH), [0, 2, 1, 3])
    key = heads_of(graph, linear(graph, x, WIDTH, WIDTH), [0, 2, 3, 1])
    value = heads_of(graph, linear(graph, x, WIDTH, WIDTH), [0, 2, 1, 3])
    root = graph.constant(numpy.array((WIDTH // HEADS) ** -0.25, numpy.float32))
    scores = graph.add("MatMul", graph.add("Mul", query, root), graph.add("Mul", key, root))
    softmax = graph.add("Softmax", graph.add("Add", scores, mask), axis=-1)
    # A row that is masked throughout has no softmax; torch gives 0 then.
    zero = graph.constant(numpy.array(0, numpy.float32))
    safe = graph.add("Where", graph.add("IsNaN", softmax), zero, softmax)
    mixed = graph.add("Transpose", graph.add("MatMul", safe, value), perm=[0, 2, 1, 3])
    flat = graph.constant(numpy.array([1, TOKENS, WIDTH], numpy.int64))
    return linear(graph, graph.add("Reshape", mixed, flat), WIDTH, WIDTH)


def minilm(path):
    graph = Graph(2)
    words = graph.add("Gather", graph.weight((30522, WIDTH), 0.05), "ids")
    x = layer_norm(graph, graph.add("Add", words, graph.weight((1, TOKENS, WIDTH), 0.05)))
    mask = graph.add("Where", "mask", graph.constant(numpy.array(0, numpy.float32)),
                     graph.constant(numpy.array(-numpy.inf, numpy.float32)))
    for _ in range(LAYERS):
        x = layer_norm(graph, graph.add("Add", x, attention(graph, x, mask)))
        wide = graph.add("Gelu", linear(graph, x, WIDTH, 4 * WIDTH))
        x = layer_norm(graph, graph.add("Add", x, linear(graph, wide, 4 * WIDTH, WIDTH)))
    graph.save(path, [("ids", TensorProto.INT64, [1, TOKENS]),
                      ("mask", TensorProto.BOOL, [1, 1, 1, TOKENS])], x, [1, TOKENS, WIDTH])
    return {"ids": graph.random.integers(0, 30522, (1, TOKENS)),
            "mask": (numpy.arange(TOKENS) < 100).reshape(1, 1, 1, TOKENS)}


MAKERS = {"resnet50": resnet50, "minilm": minilm}
