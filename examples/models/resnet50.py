#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the model ResNet-50 as a file of the ONNX format.

    resnet50.py [--weights FILE.safetensors] [--small] FILE.onnx

FILE.safetensors has the weights under the names of torchvision and timm. Without it they are random.
--small: a sixteenth of the channels, for tests.
"""

import argparse

from graph import Graph
from weights import make_random, read_safetensors

STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))  # channels and blocks
CLASSES = 1000


class Network:
    def __init__(self, find, divisor):
        self.graph, self.find, self.divisor = Graph(), find, divisor

    def normalized(self, x, name, norm, source, target, window, stride):
        """A convolution and a batch normalization, which the importer makes one of."""
        graph = self.graph
        weights = graph.weight(self.find(name + ".weight", target, source, window, window))
        y = graph.add("Conv", x, weights, kernel_shape=[window] * 2, strides=[stride] * 2,
                      pads=[window // 2] * 4)
        parts = [self.find(f"{norm}.{part}", target)
                 for part in ("weight", "bias", "running_mean", "running_var")]
        return graph.add("BatchNormalization", y, *map(graph.weight, parts), epsilon=1e-5)

    def block(self, x, name, source, width, stride):
        graph = self.graph
        y = graph.add("Relu", self.normalized(x, name + ".conv1", name + ".bn1", source, width, 1, 1))
        y = graph.add("Relu", self.normalized(y, name + ".conv2", name + ".bn2", width, width, 3,
                                              stride))
        y = self.normalized(y, name + ".conv3", name + ".bn3", width, 4 * width, 1, 1)
        if source != 4 * width or stride != 1:
            x = self.normalized(x, name + ".downsample.0", name + ".downsample.1", source,
                                4 * width, 1, stride)
        return graph.add("Relu", graph.add("Add", y, x))

    def save(self, path):
        graph, source = self.graph, 64 // self.divisor
        x = graph.add("Relu", self.normalized("image", "conv1", "bn1", 3, source, 7, 2))
        x = graph.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
        for stage, (width, count) in enumerate(STAGES):
            width //= self.divisor
            for number in range(count):
                stride = 2 if number == 0 and stage > 0 else 1
                x = self.block(x, f"layer{stage + 1}.{number}", source, width, stride)
                source = 4 * width
        x = graph.add("Flatten", graph.add("GlobalAveragePool", x))
        x = graph.linear(x, self.find("fc.weight", CLASSES, source), self.find("fc.bias", CLASSES))
        graph.save(path, [("image", "f32", [1, 3, 224, 224])],
                   [("scores", "f32", [1, CLASSES], graph.add("Softmax", x, axis=-1))])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--weights")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("path")
    options = parser.parse_args()
    find = read_safetensors(options.weights) if options.weights else make_random(2)
    Network(find, 16 if options.small else 1).save(options.path)


main()
