#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How similar sentences are, by the model all-MiniLM-L6-v2.

    minilm.py [--weights FOLDER] [--tfrt TFRT] [--model FILE.onnx] SENTENCE SENTENCE...

FOLDER has the model's model.safetensors and vocab.txt. Without it a model of the same architecture
is made, smaller and with random weights: all works as it does with the real one, but the numbers
mean nothing. Prints the cosine of the angle between the first sentence and each of the others.
"""

import argparse
import os
import re
import subprocess
import tempfile
import unicodedata

import numpy
from graph import Graph
from weights import make_random, read_safetensors

HEADS = 12
SMALL = {"width": 48, "layers": 2, "words": 4 + 2 * 26 + 10, "places": 64}


# --- The tokenizer: words, then the longest parts of them that the vocabulary has ----------

def letters_vocabulary():
    """The vocabulary of a model without one: letters and digits."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *("##" + c for c in letters),
            *"0123456789"]


def words_of(text):
    text = unicodedata.normalize("NFD", text.lower())
    text = "".join(c for c in text if unicodedata.category(c) != "Mn")
    return re.findall(r"[^\W_]+|[^\w\s]|_", text)


def parts_of(word, ids):
    """The numbers of the parts of |word|; that of [UNK] alone if a part is not known."""
    begin, found = 0, []
    while begin < len(word):
        end = len(word)
        while end > begin and ("##" if begin else "") + word[begin:end] not in ids:
            end -= 1
        if end == begin:
            return [ids["[UNK]"]]
        found.append(ids[("##" if begin else "") + word[begin:end]])
        begin = end
    return found


def tokenize(sentences, vocabulary, longest):
    """The numbers of the tokens of |sentences| in rows of one length, and where there are any."""
    ids = {word: number for number, word in enumerate(vocabulary)}
    rows = [[ids["[CLS]"]] + [part for word in words_of(sentence) for part in parts_of(word, ids)]
            [:longest - 2] + [ids["[SEP]"]] for sentence in sentences]
    length = max(map(len, rows))
    tokens = numpy.array([row + [ids["[PAD]"]] * (length - len(row)) for row in rows])
    mask = numpy.array([[1] * len(row) + [0] * (length - len(row)) for row in rows])
    return tokens.astype(numpy.int64), mask.astype(numpy.float32)


# --- The model ------------------------------------------------------------------------------

class Encoder:
    def __init__(self, find, width, words, places):
        self.graph, self.find = Graph(), find
        self.width, self.words, self.places = width, words, places

    def linear(self, x, name, source, target):
        return self.graph.linear(x, self.find(name + ".weight", target, source),
                                 self.find(name + ".bias", target))

    def norm(self, x, name):
        scale = self.graph.weight(self.find(name + ".LayerNorm.weight", self.width))
        bias = self.graph.weight(self.find(name + ".LayerNorm.bias", self.width))
        return self.graph.add("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-12)

    def table(self, name, count):
        values = self.find(f"embeddings.{name}_embeddings.weight", count, self.width)
        return values

    def embed(self):
        graph = self.graph
        words = graph.add("Gather", graph.weight(self.table("word", self.words)), "tokens")
        shape = graph.add("Shape", "tokens", start=1)
        table = graph.weight(self.table("position", self.places) + self.table("token_type", 2)[0])
        places = graph.add("Slice", table, graph.constant([0]), shape)
        return self.norm(graph.add("Add", words, places), "embeddings")

    def heads(self, x, order):
        shape = self.graph.constant([0, 0, HEADS, self.width // HEADS])
        return self.graph.add("Transpose", self.graph.add("Reshape", x, shape), perm=order)

    def attend(self, x, name, mask):
        graph, width = self.graph, self.width
        query = self.heads(self.linear(x, name + ".self.query", width, width), [0, 2, 1, 3])
        key = self.heads(self.linear(x, name + ".self.key", width, width), [0, 2, 3, 1])
        value = self.heads(self.linear(x, name + ".self.value", width, width), [0, 2, 1, 3])
        scores = graph.add("Mul", graph.add("MatMul", query, key),
                           graph.number((width // HEADS) ** -0.5))
        mixed = graph.add("MatMul", graph.add("Softmax", graph.add("Add", scores, mask), axis=-1),
                          value)
        flat = graph.add("Reshape", graph.add("Transpose", mixed, perm=[0, 2, 1, 3]),
                         graph.constant([0, 0, width]))
        return self.linear(flat, name + ".output.dense", width, width)

    def gelu(self, x):
        graph = self.graph
        erf = graph.add("Erf", graph.add("Div", x, graph.number(2 ** 0.5)))
        half = graph.add("Mul", x, graph.add("Add", erf, graph.number(1)))
        return graph.add("Mul", half, graph.number(0.5))

    def layer(self, x, name, mask):
        x = self.norm(self.graph.add("Add", x, self.attend(x, name + ".attention", mask)),
                      name + ".attention.output")
        wide = self.gelu(self.linear(x, name + ".intermediate.dense", self.width, 4 * self.width))
        wide = self.linear(wide, name + ".output.dense", 4 * self.width, self.width)
        return self.norm(self.graph.add("Add", x, wide), name + ".output")

    def pool(self, x):
        """The mean of the tokens that are there, with length 1."""
        graph = self.graph
        mask = graph.add("Unsqueeze", "mask", graph.constant([2]))
        total = graph.add("ReduceSum", graph.add("Mul", x, mask), graph.constant([1]), keepdims=0)
        square = graph.add("ReduceSum", graph.add("Mul", total, total), graph.constant([1]),
                           keepdims=1)
        return graph.add("Div", total, graph.add("Sqrt", square))

    def save(self, path, layers):
        graph = self.graph
        x = self.embed()
        wide = graph.add("Unsqueeze", "mask", graph.constant([1, 2]))
        absent = graph.add("Sub", graph.number(1), wide)
        mask = graph.add("Mul", absent, graph.number(-1e9))
        for number in range(layers):
            x = self.layer(x, f"encoder.layer.{number}", mask)
        graph.save(path, [("tokens", "i64", ["n", "length"]), ("mask", "f32", ["n", "length"])],
                   [("y", "f32", ["n", self.width], self.pool(x))])


def make_model(path, folder):
    """Writes the model, with the weights in |folder| if it is given."""
    if folder:
        find = read_safetensors(os.path.join(folder, "model.safetensors"))
        Encoder(find, 384, 30522, 512).save(path, 6)
    else:
        Encoder(make_random(1), SMALL["width"], SMALL["words"], SMALL["places"]).save(
            path, SMALL["layers"])


# --- Main -----------------------------------------------------------------------------------

def run(options, model, folder):
    """A row of numbers for each sentence."""
    vocabulary, longest = letters_vocabulary(), SMALL["places"]
    if options.weights:
        longest = 256
        with open(os.path.join(options.weights, "vocab.txt"), encoding="utf-8") as file:
            vocabulary = file.read().split("\n")
    tokens, mask = tokenize(options.sentences, vocabulary, longest)
    arguments, results = os.path.join(folder, "arguments.npz"), os.path.join(folder, "out")
    numpy.savez(arguments, tokens=tokens, mask=mask)
    subprocess.run([options.tfrt, "run", model, "--arg", f"tokens=@{arguments}:tokens",
                    "--arg", f"mask=@{arguments}:mask", "-o", "npy", results],
                   check=True, stdout=subprocess.DEVNULL)
    return numpy.load(os.path.join(results, "result_0.npy"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--weights")
    parser.add_argument("--model", help="where the model is, or is written if it is not there")
    parser.add_argument("--tfrt", default="bazel-bin/tools/tfrt")
    parser.add_argument("sentences", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = options.model or os.path.join(folder, "minilm.onnx")
        if not os.path.exists(model):
            make_model(model, options.weights)
        rows = run(options, model, folder)
    if not options.weights:
        print("The weights are random: the numbers mean nothing.")
    for row, sentence in zip(rows[1:], options.sentences[1:]):
        print(f"{row @ rows[0]:.3f} {sentence}")


main()
