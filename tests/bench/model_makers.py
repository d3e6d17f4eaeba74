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

    def save(self, path, inputs, output, shape, others=()):
        """Output 0 is called y; |others| are names and shapes of those that follow."""
        values = [helper.make_tensor_value_info(name, kind, dims) for name, kind, dims in inputs]
        self.nodes.append(helper.make_node("Identity", [output], ["y"]))
        results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
                   for name, dims in [("y", shape), *others]]
        graph = helper.make_graph(self.nodes, "main", values, results, self.weights)
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


# --- SmolLM2 -----------------------------------------------------------------------
#
# One token of SmolLM2-135M behind PAST others, whose keys and values are inputs, as torch exports a
# step with a cache.

PAST, BLOCKS, VOCABULARY = 64, 30, 49152
HIDDEN, WIDE, QUERIES, KEYS, SIZE = 576, 1536, 9, 3, 64


def rms_norm(graph, x):
    square = graph.add("Pow", x, graph.constant(numpy.array(2, numpy.float32)))
    axes = graph.constant(numpy.array([-1], numpy.int64))
    mean = graph.add("ReduceMean", square, axes, keepdims=1)
    least = graph.constant(numpy.array(1e-5, numpy.float32))
    root = graph.add("Sqrt", graph.add("Add", mean, least))
    scaled = graph.add("Mul", x, graph.add("Reciprocal", root))
    return graph.add("Mul", graph.weight((HIDDEN,), 1.0), scaled)


def heads_of_token(graph, x, count):
    y = graph.add("MatMul", x, graph.weight((HIDDEN, count * SIZE), HIDDEN ** -0.5))
    shape = graph.constant(numpy.array([1, 1, count, SIZE], numpy.int64))
    return graph.add("Transpose", graph.add("Reshape", y, shape), perm=[0, 2, 1, 3])


def slice_of(graph, x, begin, end):
    return graph.add("Slice", x, *(graph.constant(numpy.array([number], numpy.int64))
                                   for number in (begin, end, 3, 1)))


def turn(graph, x, cosine, sine):
    half = graph.add("Neg", slice_of(graph, x, SIZE // 2, SIZE))
    rotated = graph.add("Concat", half, slice_of(graph, x, 0, SIZE // 2), axis=-1)
    return graph.add("Add", graph.add("Mul", x, cosine), graph.add("Mul", rotated, sine))


def shared(graph, x):
    """Each head of keys or values serves several heads of queries."""
    group = QUERIES // KEYS
    axes = graph.constant(numpy.array([2], numpy.int64))
    wide = graph.constant(numpy.array([1, KEYS, group, PAST + 1, SIZE], numpy.int64))
    flat = graph.constant(numpy.array([1, QUERIES, PAST + 1, SIZE], numpy.int64))
    return graph.add("Reshape", graph.add("Expand", graph.add("Unsqueeze", x, axes), wide), flat)


def attend(graph, x, number, angles):
    query = turn(graph, heads_of_token(graph, x, QUERIES), *angles)
    key = turn(graph, heads_of_token(graph, x, KEYS), *angles)
    value = heads_of_token(graph, x, KEYS)
    for name, new in (("key", key), ("value", value)):
        graph.nodes.append(helper.make_node(
            "Concat", [f"past_{name}_{number}", new], [f"{name}_{number}"], axis=2))
    keys = graph.add("Transpose", shared(graph, f"key_{number}"), perm=[0, 1, 3, 2])
    root = graph.constant(numpy.array(SIZE ** -0.25, numpy.float32))
    scores = graph.add("MatMul", graph.add("Mul", query, root), graph.add("Mul", keys, root))
    softmax = graph.add("Softmax", graph.add("Add", scores, "mask"), axis=-1)
    mixed = graph.add("MatMul", softmax, shared(graph, f"value_{number}"))
    flat = graph.constant(numpy.array([1, 1, HIDDEN], numpy.int64))
    joined = graph.add("Reshape", graph.add("Transpose", mixed, perm=[0, 2, 1, 3]), flat)
    return graph.add("MatMul", joined, graph.weight((HIDDEN, HIDDEN), HIDDEN ** -0.5))


def feed_forward(graph, x):
    gate = graph.add("MatMul", x, graph.weight((HIDDEN, WIDE), HIDDEN ** -0.5))
    silu = graph.add("Mul", gate, graph.add("Sigmoid", gate))
    up = graph.add("MatMul", x, graph.weight((HIDDEN, WIDE), HIDDEN ** -0.5))
    return graph.add("MatMul", graph.add("Mul", silu, up),
                     graph.weight((WIDE, HIDDEN), WIDE ** -0.5))


def smollm2(path):
    graph = Graph(3)
    x = graph.add("Gather", graph.weight((VOCABULARY, HIDDEN), 0.05), "id")
    phases = numpy.arange(8192)[:, None] * 100000.0 ** (-numpy.arange(0, SIZE, 2) / SIZE)
    tables = [graph.constant(numpy.tile(function(phases), 2).astype(numpy.float32))
              for function in (numpy.cos, numpy.sin)]
    angles = [graph.add("Gather", table, "position") for table in tables]
    for number in range(BLOCKS):
        x = graph.add("Add", x, attend(graph, rms_norm(graph, x), number, angles))
        x = graph.add("Add", x, feed_forward(graph, rms_norm(graph, x)))
    scores = graph.add("MatMul", rms_norm(graph, x),
                       graph.weight((HIDDEN, VOCABULARY), HIDDEN ** -0.5))
    inputs = [("id", TensorProto.INT64, [1, 1]), ("position", TensorProto.INT64, [1, 1]),
              ("mask", TensorProto.FLOAT, [1, 1, 1, PAST + 1])]
    values = {"id": numpy.array([[17]]), "position": numpy.array([[PAST]]),
              "mask": numpy.zeros((1, 1, 1, PAST + 1), numpy.float32)}
    others = []
    for number in range(BLOCKS):
        for name in ("key", "value"):
            past = f"past_{name}_{number}"
            inputs.append((past, TensorProto.FLOAT, [1, KEYS, PAST, SIZE]))
            others.append((f"{name}_{number}", [1, KEYS, PAST + 1, SIZE]))
            values[past] = graph.random.standard_normal((1, KEYS, PAST, SIZE)).astype(numpy.float32)
    graph.save(path, inputs, scores, [1, 1, VOCABULARY], others)
    return values


MAKERS = {"resnet50": resnet50, "minilm": minilm, "smollm2": smollm2}
