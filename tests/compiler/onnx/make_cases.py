#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the test cases of this folder: DIR/node/CASE/{model.onnx, test_data_set_0/*.pb}.

    make_cases.py DIR

Needs the Python packages onnx and onnxruntime; the wanted results are onnxruntime's. Run by hand,
and its output committed, when a case is added.
"""

import os
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

X = np.array([1, 2, 3], np.float32)
W = np.array([1.5, 0.5, 2], np.float32)


def info(name, element=TensorProto.FLOAT, shape=(3,)):
    return helper.make_tensor_value_info(name, element, shape)


def write_case(folder, name, nodes, outputs, weights, feeds, opset=20):
    """Writes a case whose inputs are |feeds|, and whose constants are |weights|."""
    inputs = [info(k, helper.np_dtype_to_tensor_dtype(v.dtype), [None] * v.ndim)
              for k, v in feeds.items()]
    graph = helper.make_graph(nodes, name, inputs, outputs,
                              [numpy_helper.from_array(np.asarray(v), k) for k, v in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9,
                              producer_name="")
    data = os.path.join(folder, "node", name, "test_data_set_0")
    os.makedirs(data, exist_ok=True)
    path = os.path.join(folder, "node", name, "model.onnx")
    onnx.save(model, path)
    results = onnxruntime.InferenceSession(path).run(None, feeds)
    for kind, values in (("input", feeds.values()), ("output", results)):
        for i, value in enumerate(values):
            with open(os.path.join(data, f"{kind}_{i}.pb"), "wb") as file:
                file.write(numpy_helper.from_array(np.asarray(value)).SerializeToString())


def loop_body(stops):
    """v = v * w + turn; rows of v and of the turn; ends when the sum of v reaches `limit`."""
    nodes = [helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
             helper.make_node("Mul", ["v", "w"], ["vw"]),
             helper.make_node("Add", ["vw", "f"], ["v2"]),
             helper.make_node("Identity", ["v2"], ["row"]),
             helper.make_node("Identity", ["i"], ["turn"])]
    if stops:
        nodes += [helper.make_node("ReduceSum", ["v2"], ["sum"], keepdims=0),
                  helper.make_node("Less", ["sum", "limit"], ["go"])]
    else:
        nodes += [helper.make_node("Identity", ["c"], ["go"])]
    return helper.make_graph(
        nodes, "body", [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, []), info("v")],
        [info("go", TensorProto.BOOL, []), info("v2"), info("row"), info("turn", TensorProto.INT64, [])])


def write_loops(folder):
    outputs = [info("y"), info("rows", shape=[None, 3]), info("turns", TensorProto.INT64, [None])]
    for name, inputs, stops, count, go in (
            ("count_alone", ["m", ""], False, 5, True),
            ("no_turn", ["m", ""], False, 0, True),
            ("condition_alone", ["", "go0"], True, 0, True),
            ("condition_false", ["", "go0"], True, 0, False),
            ("both_count_ends", ["m", "go0"], True, 2, True),
            ("both_condition_ends", ["m", "go0"], True, 100, True),
            ("many_turns", ["m", ""], False, 300, True)):
        node = helper.make_node("Loop", [*inputs, "x"], ["y", "rows", "turns"],
                                body=loop_body(stops))
        feeds = {"x": X}
        if "m" in inputs:
            feeds["m"] = np.array(count)
        if "go0" in inputs:
            feeds["go0"] = np.array(go)
        weights = {"w": 0 * W if count == 300 else W, "limit": np.float32(60)}
        write_case(folder, f"loop_{name}", [node], outputs, weights, feeds)
    inner = helper.make_graph(
        [helper.make_node("Add", ["a", "v"], ["a2"]), helper.make_node("Mul", ["a2", "w"], ["row"]),
         helper.make_node("Identity", ["d"], ["go2"])], "inner",
        [info("j", TensorProto.INT64, []), info("d", TensorProto.BOOL, []), info("a")],
        [info("go2", TensorProto.BOOL, []), info("a2"), info("row")])
    outer = helper.make_graph(
        [helper.make_node("Loop", ["i", "", "v"], ["v2", "rows"], body=inner),
         helper.make_node("ReduceSum", ["rows"], ["sum"], keepdims=0),
         helper.make_node("Identity", ["c"], ["go"])], "outer",
        [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, []), info("v")],
        [info("go", TensorProto.BOOL, []), info("v2"), info("sum", shape=[])])
    write_case(folder, "loop_in_loop", [helper.make_node("Loop", ["m", "", "x"], ["y", "s"], body=outer)],
               [info("y"), info("s", shape=[None])], {"w": W}, {"x": X, "m": np.array(4)})


def write_scans(folder):
    body = helper.make_graph(
        [helper.make_node("Add", ["st", "p"], ["st2"]), helper.make_node("Mul", ["st2", "q"], ["a"]),
         helper.make_node("Sub", ["p", "w"], ["b"])], "body",
        [info("st"), info("p"), info("q")], [info("st2"), info("a"), info("b")])
    random = np.random.default_rng(1)
    for name, axes, directions, out_axes, out_directions in (
            ("forward", [0, 0], [0, 0], [0, 0], [0, 0]),
            ("reverse", [0, 0], [1, 0], [0, 0], [0, 1]),
            ("axes", [1, 0], [0, 0], [1, 0], [0, 0]),
            ("negative_axes", [-1, -2], [0, 1], [0, -1], [0, 1])):
        node = helper.make_node(
            "Scan", ["x", "ps", "qs"], ["y", "as", "bs"], body=body, num_scan_inputs=2,
            scan_input_axes=axes, scan_input_directions=directions, scan_output_axes=out_axes,
            scan_output_directions=out_directions)
        feeds = {"x": X}
        for part, axis in (("ps", axes[0]), ("qs", axes[1])):
            shape = (5, 3) if axis in (0, -2) else (3, 5)
            feeds[part] = random.standard_normal(shape).astype(np.float32)
        write_case(folder, f"scan_{name}", [node],
                   [info("y"), info("as", shape=[None, None]), info("bs", shape=[None, None])],
                   {"w": W}, feeds)


def numbers(random, *shape):
    return random.standard_normal(shape).astype(np.float32)


def write_attention(folder):
    random = np.random.default_rng(2)
    y = [info("y", shape=None)]
    q, k, v = numbers(random, 2, 4, 3, 8), numbers(random, 2, 2, 5, 8), numbers(random, 2, 2, 5, 6)
    past_k, past_v = numbers(random, 2, 2, 4, 8), numbers(random, 2, 2, 4, 6)
    mask = random.random((3, 9)) > 0.3
    mask[1] = False
    write_case(folder, "attention_shared_heads",
               [helper.make_node("Attention", ["q", "k", "v"], ["y"], softcap=2.0)], y, {},
               {"q": q, "k": k, "v": v}, 23)
    write_case(folder, "attention_with_past",
               [helper.make_node("Attention", ["q", "k", "v", "mask", "pk", "pv"], ["y", "nk", "nv"])],
               [*y, info("nk", shape=None), info("nv", shape=None)], {"mask": mask},
               {"q": q, "k": k, "v": v, "pk": past_k, "pv": past_v}, 23)
    write_case(folder, "attention_joined_causal",
               [helper.make_node("Attention", ["q", "k", "v", "m"], ["y"], q_num_heads=4,
                                 kv_num_heads=2, is_causal=1, scale=0.3)], y,
               {"m": numbers(random, 2, 1, 5, 5)},
               {"q": numbers(random, 2, 5, 32), "k": numbers(random, 2, 5, 16),
                "v": numbers(random, 2, 5, 12)}, 23)
    angles = np.outer(np.arange(6), [1.0, 0.1, 0.01]).astype(np.float32)
    tables = {"c": np.cos(angles), "s": np.sin(angles)}
    places = np.array([[0, 2, 5], [1, 1, 4]])
    for name, interleaved in (("halves", 0), ("interleaved", 1)):
        write_case(folder, f"rotary_{name}",
                   [helper.make_node("RotaryEmbedding", ["x", "c", "s", "p"], ["y"],
                                     interleaved=interleaved, rotary_embedding_dim=6)], y,
                   tables | {"p": places}, {"x": numbers(random, 2, 4, 3, 8)}, 23)
    write_case(folder, "rotary_joined_heads",
               [helper.make_node("RotaryEmbedding", ["x", "c", "s", "p"], ["y"], num_heads=4)], y,
               tables | {"p": places}, {"x": numbers(random, 2, 3, 24)}, 23)


def attention_formula(query, key, value, mask):
    """Nodes of softmax(query * key' * scale + mask) * value as `mixed`, with 0 for hidden rows."""
    return [helper.make_node("MatMul", [query, key], ["product"]),
            helper.make_node("Mul", ["product", "scale"], ["scaled"]),
            helper.make_node("Add", ["scaled", mask], ["masked"]),
            helper.make_node("Softmax", ["masked"], ["shares"], axis=-1),
            helper.make_node("IsNaN", ["shares"], ["hidden"]),
            helper.make_node("Where", ["hidden", "zero", "shares"], ["safe"]),
            helper.make_node("MatMul", ["safe", value], ["mixed"])]


def transpose(source, target, perm):
    return helper.make_node("Transpose", [source], [target], perm=perm)


def write_formulas(folder):
    """Attention as exporters write it: with transposes, a cache, and heads that are repeated."""
    random = np.random.default_rng(5)
    constants = {"scale": np.float32(0.4), "zero": np.float32(0)}
    mask = np.where(random.random((1, 1, 7, 7)) > 0.3, 0, -np.inf).astype(np.float32)
    mask[0, 0, 2] = -np.inf
    turned = [transpose(x, x + "t", [0, 2, 3, 1] if x == "k" else [0, 2, 1, 3]) for x in "qkv"]
    write_case(folder, "attention_formula_turned",
               [*turned, *attention_formula("qt", "kt", "vt", "m"),
                transpose("mixed", "y", [0, 2, 1, 3])], [info("y", shape=None)],
               constants | {"m": mask},
               {"q": numbers(random, 2, 7, 3, 8), "k": numbers(random, 2, 7, 3, 8),
                "v": numbers(random, 2, 7, 3, 5)})
    # One key and value for each place, or one for all of them, which Expand stretches too.
    for name, places in (("repeated", 6), ("stretched", 1)):
        shapes = {"axis": np.array([2]), "split": np.array([1, 2, 3, 6, 8]),
                  "joined": np.array([2, 6, 6, 8])}
        nodes = [transpose("q", "qt", [0, 2, 1, 3]),
                 helper.make_node("Concat", ["past", "k"], ["keys"], axis=0)]
        for x in ("keys", "v"):
            nodes += [helper.make_node("Unsqueeze", [x, "axis"], [x + "1"]),
                      helper.make_node("Expand", [x + "1", "split"], [x + "2"]),
                      helper.make_node("Reshape", [x + "2", "joined"], [x + "3"])]
        nodes += [transpose("keys3", "keys4", [0, 1, 3, 2]),
                  *attention_formula("qt", "keys4", "v3", "m"),
                  transpose("mixed", "y", [0, 2, 1, 3])]
        write_case(folder, f"attention_formula_{name}", nodes,
                   [info("y", shape=None), info("keys", shape=None)],
                   constants | shapes | {"m": mask[:, :, :4, :6]},
                   {"q": numbers(random, 2, 4, 6, 8), "past": numbers(random, 1, 2, places, 8),
                    "k": numbers(random, 1, 2, places, 8), "v": numbers(random, 2, 2, places, 8)})
    root = [helper.make_node("Pow", ["x", "two"], ["squares"]),
            helper.make_node("ReduceMean", ["squares", "last"], ["mean"], keepdims=1),
            helper.make_node("Add", ["mean", "epsilon"], ["more"]),
            helper.make_node("Sqrt", ["more"], ["root"]),
            helper.make_node("Reciprocal", ["root"], ["inverse"]),
            helper.make_node("Mul", ["x", "inverse"], ["normal"]),
            helper.make_node("Mul", ["w", "normal"], ["y"])]
    write_case(folder, "rms_formula", root, [info("y", shape=None)],
               {"two": np.float32(2), "last": np.array([-1]), "epsilon": np.float32(1e-5),
                "w": numbers(random, 20)}, {"x": numbers(random, 3, 4, 20)})


def write_pictures(folder):
    random = np.random.default_rng(3)
    grid = random.uniform(-1.6, 1.6, (2, 4, 5, 2)).astype(np.float32)
    for mode in ("nearest", "linear", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            write_case(folder, f"grid_sample_{mode}_{padding}",
                       [helper.make_node("GridSample", ["x", "grid"], ["y"], mode=mode,
                                         padding_mode=padding, align_corners=int(mode == "linear"))],
                       [info("y", shape=None)], {}, {"x": numbers(random, 2, 3, 4, 6), "grid": grid})
    corners = random.uniform(0, 1, (2, 40, 4)).astype(np.float32)
    scores = random.uniform(0, 1, (2, 3, 40)).astype(np.float32)
    for name, inputs, centred in (("all", ["most", "overlap", "least"], 0), ("centred", ["most", "overlap"], 1),
                                  ("none_wanted", [], 0)):
        write_case(folder, f"suppression_{name}",
                   [helper.make_node("NonMaxSuppression", ["boxes", "scores", *inputs], ["y"],
                                     center_point_box=centred)],
                   [info("y", TensorProto.INT64, None)],
                   {"most": np.array([6]), "overlap": np.float32(0.3), "least": np.float32(0.4)},
                   {"boxes": corners, "scores": scores}, 11)


def write_quantized(folder):
    random = np.random.default_rng(4)
    x = numbers(random, 2, 3, 4)
    for name, scale, zero, axis, block in (
            ("one", np.float32(0.02), np.uint8(128), 1, 0),
            ("axis", np.array([0.02, 0.1, 0.5], np.float32), np.array([3, -4, 0], np.int8), 1, 0),
            ("blocks", np.abs(numbers(random, 2, 3, 2)), random.integers(-9, 9, (2, 3, 2)).astype(np.int8),
             2, 2)):
        names = {} if block == 0 else {"block_size": block}
        nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=axis, **names),
                 helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], axis=axis, **names)]
        write_case(folder, f"quantize_{name}", nodes,
                   [info("q", helper.np_dtype_to_tensor_dtype(np.asarray(zero).dtype), None),
                    info("y", shape=None)], {"s": scale, "z": zero}, {"x": x}, 21)
    weights = {"w": random.integers(0, 255, (4, 3)).astype(np.uint8), "z": np.uint8(120),
               "s": np.float32(0.01)}
    write_case(folder, "quantize_dynamic",
               [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "qs", "qz"]),
                helper.make_node("MatMulInteger", ["q", "w", "qz", "z"], ["y"])],
               [info("q", TensorProto.UINT8, None), info("qs", shape=None),
                info("qz", TensorProto.UINT8, None), info("y", TensorProto.INT32, None)],
               weights, {"x": x}, 13)
    write_case(folder, "quantize_conv",
               [helper.make_node("QLinearConv", ["x", "s", "z", "k", "ks", "kz", "ys", "z", "b"], ["y"],
                                 pads=[1, 1, 1, 1])],
               [info("y", TensorProto.UINT8, None)],
               {"s": np.float32(0.02), "z": np.uint8(120),
                "k": random.integers(-99, 99, (2, 3, 3, 3)).astype(np.int8),
                "ks": np.array([0.01, 0.03], np.float32), "kz": np.zeros(2, np.int8),
                "ys": np.float32(0.5), "b": np.array([100, -900], np.int32)},
               {"x": random.integers(0, 255, (1, 3, 5, 5)).astype(np.uint8)}, 13)


def main():
    folder = sys.argv[1]
    onnxruntime.set_default_logger_severity(3)
    write_loops(folder)
    write_scans(folder)
    write_attention(folder)
    write_formulas(folder)
    write_pictures(folder)
    write_quantized(folder)


if __name__ == "__main__":
    main()
