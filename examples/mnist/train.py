#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the small convolutional network of this example and writes its weights.

A training-time tool: neither the build nor the tests run it. It needs torch and
numpy, and reads and writes nothing but the two folders it is given:

    train.py DATA OUT [--epochs N] [--validate-only]

DATA holds {train,test}-{images-idx3,labels-idx1}-ubyte.gz. OUT receives
mnist.btf (the eight weight tensors) and test_logits.btf (the network's output
for every test digit). README.md beside this file gives their shapes and order.

How it goes:
  1. Hold out every eighth training digit, train on the rest and print the
     accuracy on the held-out ones. Settings are chosen by such numbers only.
  2. Train again from scratch, with the same settings, on all training digits.
  3. Write the weights, read them back, and run the test digits through what was
     read, in float64. The test digits decide nothing.

Generalisation comes from small random affine warps, dropout, decoupled weight
decay, label smoothing, and the mean of the weights of the last epochs. Seeds are
fixed and one thread is used, so a run repeats itself on one version of torch.
"""

import argparse
import gzip
import math
import pathlib
import struct
import sys
import zlib

import numpy
import torch
from torch.nn import functional

SEED = 20
BATCH = 64
PEAK_RATE = 2e-3
WEIGHT_DECAY = 5e-2
DROPOUT = 0.25
LABEL_SMOOTHING = 0.05
AVERAGED_SHARE = 0.25  # of the epochs, the last ones, whose weights are averaged
VALIDATION_STRIDE = 8

BTF_F32 = 4
BTF_ROW_MAJOR = 0

# File order. Convolutions are [out, in, height, width]; dense layers [in, out].
SHAPES = {
    "conv1.weight": (16, 1, 5, 5),
    "conv1.bias": (16,),
    "conv2.weight": (32, 16, 5, 5),
    "conv2.bias": (32,),
    "dense1.weight": (512, 128),
    "dense1.bias": (128,),
    "dense2.weight": (128, 10),
    "dense2.bias": (10,),
}


def read_idx(path, magic, rank):
    """Returns the u8 array of one gzipped idx file; raises ValueError if it is not one."""
    try:
        raw = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: cannot read it as gzip ({error}); see README.md") from error
    header = 4 + 4 * rank
    if len(raw) < header:
        raise ValueError(f"{path}: {len(raw)} bytes is too short for an idx header")
    found, *dims = struct.unpack(f">{1 + rank}I", raw[:header])
    if found != magic or len(raw) != header + math.prod(dims):
        raise ValueError(f"{path}: not an idx file with magic {magic} and {rank} dimensions")
    return numpy.frombuffer(raw, numpy.uint8, offset=header).reshape(dims)


def read_digits(folder, part):
    """Returns (images u8 [N,1,28,28], labels i64 [N]) of `part`, "train" or "test"."""
    images = read_idx(folder / f"{part}-images-idx3-ubyte.gz", 2051, 3)
    labels = read_idx(folder / f"{part}-labels-idx1-ubyte.gz", 2049, 1)
    if len(images) != len(labels):
        raise ValueError(f"{folder}: {len(images)} {part} images but {len(labels)} labels")
    return (
        torch.from_numpy(images.copy()).unsqueeze(1),
        torch.from_numpy(labels.astype(numpy.int64)),
    )


def write_btf(path, tensors):
    """Writes row-major f32 tensors: count, offsets, then one 8-byte-aligned record each."""
    records = []
    for tensor in tensors:
        payload = tensor.detach().contiguous().numpy().astype("<f4").tobytes()
        head = struct.pack("<QBB6x", tensor.dim(), BTF_F32, BTF_ROW_MAJOR)
        dims = struct.pack(f"<{tensor.dim()}Q", *tensor.shape)
        records.append(head + dims + payload + b"\0" * (-len(payload) % 8))
    offset = 8 + 8 * len(records)
    table = [len(records)]
    for record in records:
        table.append(offset)
        offset += len(record)
    path.write_bytes(struct.pack(f"<{len(table)}Q", *table) + b"".join(records))


def read_btf(path):
    """Returns the tensors of a file that write_btf wrote."""
    raw = path.read_bytes()
    (count,) = struct.unpack_from("<Q", raw)
    tensors = []
    for offset in struct.unpack_from(f"<{count}Q", raw, 8):
        rank, dtype, layout = struct.unpack_from("<QBB", raw, offset)
        if (dtype, layout) != (BTF_F32, BTF_ROW_MAJOR):
            raise ValueError(f"{path}: the record at {offset} is not row-major f32")
        dims = struct.unpack_from(f"<{rank}Q", raw, offset + 16)
        payload = numpy.frombuffer(raw, "<f4", math.prod(dims), offset + 16 + 8 * rank)
        tensors.append(torch.from_numpy(payload.reshape(dims).copy()))
    return tensors


def initial_weights(generator):
    """Returns the weights in file order: scaled for relu, biases zero."""
    weights = []
    for name, shape in SHAPES.items():
        if name.endswith("bias"):
            weights.append(torch.zeros(shape, requires_grad=True))
            continue
        fan_in = math.prod(shape[1:]) if name.startswith("conv") else shape[0]
        weight = torch.randn(shape, generator=generator) * math.sqrt(2.0 / fan_in)
        weights.append(weight.requires_grad_())
    return weights


def forward(weights, x, dropout=0.0):
    """Returns logits [N,10] of pixels in 0..1, x [N,1,28,28]; flattens in NCHW order."""
    w1, b1, w2, b2, w3, b3, w4, b4 = weights
    x = functional.max_pool2d(functional.relu(functional.conv2d(x, w1, b1)), 2)
    x = functional.max_pool2d(functional.relu(functional.conv2d(x, w2, b2)), 2)
    x = functional.dropout(x.flatten(1), dropout, training=dropout > 0)
    x = functional.relu(x @ w3 + b3)
    x = functional.dropout(x, dropout, training=dropout > 0)
    return x @ w4 + b4


def warp(x, generator):
    """Returns x with each digit turned, scaled, slanted and shifted a little at random."""

    def uniform(limit):
        return (torch.rand(len(x), generator=generator) * 2 - 1) * limit

    angle, slant = uniform(math.radians(14)), uniform(0.15)
    width, height = 1 + uniform(0.12), 1 + uniform(0.12)
    cos, sin = torch.cos(angle), torch.sin(angle)
    # Output to input coordinates, both in -1..1; 2 / 28 is one pixel.
    first = torch.stack((cos * width, (slant - sin) * height, uniform(2.5 * 2 / 28)), 1)
    second = torch.stack((sin * width, cos * height, uniform(2.5 * 2 / 28)), 1)
    grid = functional.affine_grid(torch.stack((first, second), 1), x.shape, align_corners=False)
    return functional.grid_sample(x, grid, align_corners=False)


def train(images, labels, epochs):
    """Returns weights trained on u8 `images`: the mean over the last epochs."""
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    weights = initial_weights(generator)
    decayed = [w for w in weights if w.dim() > 1]
    biases = [w for w in weights if w.dim() == 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed}, {"params": biases, "weight_decay": 0.0}],
        lr=PEAK_RATE,
        weight_decay=WEIGHT_DECAY,
    )
    steps = epochs * math.ceil(len(images) / BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, PEAK_RATE, total_steps=steps, pct_start=0.15, final_div_factor=20
    )
    pixels = images.float() / 255
    averaged = max(1, round(epochs * AVERAGED_SHARE))
    sums = [torch.zeros_like(w) for w in weights]
    for epoch in range(epochs):
        loss_sum = 0.0
        for batch in torch.randperm(len(images), generator=generator).split(BATCH):
            logits = forward(weights, warp(pixels[batch], generator), DROPOUT)
            loss = functional.cross_entropy(logits, labels[batch], label_smoothing=LABEL_SMOOTHING)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            loss_sum += loss.item() * len(batch)
        if epoch >= epochs - averaged:
            sums = [s + w.detach() for s, w in zip(sums, weights)]
        print(f"  epoch {epoch + 1}/{epochs}: loss {loss_sum / len(images):.4f}", flush=True)
    return [s / averaged for s in sums]


def report(title, logits, labels):
    """Prints how many rows of logits have their maximum at the label."""
    right = int((logits.argmax(1) == labels).sum())
    print(f"{title}: {right} of {len(labels)} right, {100 * right / len(labels):.2f} %", flush=True)


def validate(images, labels, epochs):
    """Trains without every eighth digit and prints the accuracy on those."""
    held_out = torch.arange(len(images)) % VALIDATION_STRIDE == 0
    weights = train(images[~held_out], labels[~held_out], epochs)
    report("validation", forward(weights, images[held_out].float() / 255), labels[held_out])


def run(args):
    """Carries out the three steps that the top of this file names."""
    images, labels = read_digits(args.data, "train")
    test_images, test_labels = read_digits(args.data, "test")
    args.out.mkdir(parents=True, exist_ok=True)
    validate(images, labels, args.epochs)
    if args.validate_only:
        return
    write_btf(args.out / "mnist.btf", train(images, labels, args.epochs))
    written = read_btf(args.out / "mnist.btf")
    exact = forward([w.double() for w in written], test_images.double() / 255)
    write_btf(args.out / "test_logits.btf", [exact.float()])
    report("test", exact, test_labels)
    single = forward(written, test_images.float() / 255)
    print(f"largest |logit| {exact.abs().max():.3f}")
    print(f"largest float32 against float64 difference {(single - exact).abs().max():.2e}")


def main():
    parser = argparse.ArgumentParser(description="Train the MNIST example's network.")
    parser.add_argument("data", type=pathlib.Path, help="folder of the idx files")
    parser.add_argument("out", type=pathlib.Path, help="folder for the BTF files")
    parser.add_argument("--epochs", type=int, default=120)
    parser.add_argument("--validate-only", action="store_true", help="stop after step 1")
    args = parser.parse_args()
    if args.epochs < 1:
        parser.error("--epochs must be at least 1")
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    try:
        run(args)
    except (OSError, ValueError) as error:
        sys.exit(f"train.py: {error}")


if __name__ == "__main__":
    main()
