#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The PTX of the runtime's kernels, by a machine that knows what PTX means (ptx_machine.py), against
numpy: sizes that fill no tile and that fill several, at addresses that vectors fit and others.

ptx_kernels_test.py [SEED COUNT]    COUNT random products of each kernel besides
"""
import os
import random
import re
import sys

# Its threads cost more than they bring here.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import ptx_machine  # noqa: E402

FOLDER = "kernels/device/cuda/"


def text(name):
    with open(FOLDER + name, encoding="utf-8") as file:
        return file.read()


def to_bf16(numbers):
    bits = np.ascontiguousarray(numbers, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7fff + (bits >> np.uint64(16) & np.uint64(1))) >> np.uint64(16)).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


class Kind:
    """A type of elements, with the text of its kernels, and by how much of a number one may be off;
    and how often threads meet in banks in a product of 128 x 64 x 256."""

    def __init__(self, suffix, file, precision, to, back, conflicts=0):
        self.suffix, self.text, self.precision, self.to, self.back = suffix, text(file), precision, to, back
        self.conflicts = conflicts


KINDS = [
    Kind("f32", "standard_kernels.ptx", 1e-5, np.float32, lambda a: a.view(np.float32)),
    # The old tensor cores' kernel stores to padded rows.
    Kind("f16", "f16_kernels.ptx", 1 / 1024, np.float16, lambda a: a.view(np.float16), 256),
    Kind("f16", "f16_sm80_kernels.ptx", 1 / 1024, np.float16, lambda a: a.view(np.float16)),
    Kind("bf16", "bf16_kernels.ptx", 1 / 128, to_bf16, lambda a: from_bf16(a.view(np.uint16))),
]

generator = np.random.default_rng(1)


def numbers(kind, count):
    """|count| random elements of |kind|, and what they are."""
    elements = kind.to(generator.standard_normal(count).astype(np.float32))
    return elements, kind.back(elements).astype(np.float64)


def expect(what, found, expected, allowed):
    off = np.abs(found - expected) - allowed
    if not (off <= 0).all():
        at = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
        sys.exit("%s: element %d is %r, not %r" % (what, at, found.ravel()[at], expected.ravel()[at]))


def check_product(kind, rows, inner, columns, offset=0, extra=0):
    """Returns how often threads met in banks of shared memory."""
    memory = ptx_machine.Memory()
    a, x = numbers(kind, rows * inner)
    b, y = numbers(kind, inner * columns)
    size = a.itemsize
    addresses = [memory.add(array, offset * size) for array in (a, b, kind.to(np.full(rows * columns, 99.0)))]
    grid = (-(-columns // 128) + extra, -(-rows // 128), 1)
    what = "product of %s, %d x %d x %d, %d elements off" % (kind.suffix, rows, inner, columns, offset)
    try:
        conflicts, _ = ptx_machine.launch(kind.text, "tfrt_matmul_" + kind.suffix, memory, grid, (256, 1, 1),
                                          addresses + [rows, inner, columns])
    except ptx_machine.Fault as fault:
        sys.exit("%s: %s" % (what, fault))
    found = kind.back(memory.get(addresses[2], np.uint8)).astype(np.float64).reshape(rows, columns)
    x, y = x.reshape(rows, inner), y.reshape(inner, columns)
    # Sums of f32 are off by a little of the sum of all absolute values.
    expect(what, found, x @ y, np.abs(x @ y) * kind.precision + np.abs(x) @ np.abs(y) * 1e-6 + 1e-6)
    return conflicts


def check_elements(kind, count, offset, threads):
    for name, work in (("add", np.add), ("multiply", np.multiply), ("copy", None), ("fill", None)):
        memory = ptx_machine.Memory()
        a, x = numbers(kind, count)
        b, y = numbers(kind, count)
        addresses = [memory.add(array, offset * a.itemsize) for array in (a, b, kind.to(np.zeros(count)))]
        arguments, expected = addresses + [count], work(x, y) if work else x
        if name == "copy":
            arguments = [addresses[0], addresses[2], count]
        elif name == "fill":
            value = kind.to(np.array([2.5], np.float32))
            arguments = [addresses[2], value[0] if kind.suffix == "f32" else value.view(np.uint16)[0], count]
            expected = np.full(count, 2.5)
        ptx_machine.launch(kind.text, "tfrt_%s_%s" % (name, kind.suffix), memory, (2, 1, 1), (threads, 1, 1), arguments)
        found = kind.back(memory.get(addresses[2], np.uint8)).astype(np.float64)
        expect("%s of %d %s" % (name, count, kind.suffix), found, expected, np.abs(expected) * kind.precision + 6e-8)


def check_rows(kind, columns, offset, threads):
    rows = 3
    memory = ptx_machine.Memory()
    a, x = numbers(kind, rows * columns)
    x = x.reshape(rows, columns)
    source = memory.add(a, offset * a.itemsize)
    sums = memory.add(kind.to(np.zeros(rows)))
    shares = memory.add(kind.to(np.zeros(rows * columns)), offset * a.itemsize)
    for name, target in (("sum_rows", sums), ("softmax_rows", shares)):
        ptx_machine.launch(kind.text, "tfrt_%s_%s" % (name, kind.suffix), memory, (rows, 1, 1), (threads, 1, 1),
                           [source, target, columns])
    what = "%d columns of %s, %d threads" % (columns, kind.suffix, threads)
    found = kind.back(memory.get(sums, np.uint8)).astype(np.float64)
    expect("sums, " + what, found, x.sum(1), np.abs(x.sum(1)) * kind.precision + np.abs(x).sum(1) * 1e-6)
    exact = np.exp(x - x.max(1, keepdims=True))
    exact /= exact.sum(1, keepdims=True)
    found = kind.back(memory.get(shares, np.uint8)).astype(np.float64).reshape(rows, columns)
    expect("softmax, " + what, found, exact, exact * kind.precision + 1e-6)


def check_that_faults_are_found():
    """The machine finds what it is for, in a kernel that is made wrong."""
    kind = Kind("f16", "f16_sm80_kernels.ptx", 1 / 1024, np.float16, lambda a: a.view(np.float16))
    good = kind.text
    for old, new, part in (("bar.sync \t0;", "", "two threads use the same shared memory"),
                           ("cp.async.wait_group 2;", "cp.async.wait_group 4;", "is on its way"),
                           ("cp.async.wait_group 2;", "cp.async.wait_group 3;", "is on its way"),
                           ("ldmatrix.sync.aligned.m8n8.x4.trans", "ldmatrix.sync.aligned.m8n8.x4", "element"),
                           (", 0, 16, %p", ", 16, 16, %p", "memory that is none|element")):
        if old not in good:
            sys.exit("the kernel has no '%s'" % old)
        kind.text = good.replace(old, new)
        try:
            check_product(kind, 130, 72, 264)
        except SystemExit as end:
            if not re.search(part, str(end)):
                sys.exit("with '%s' for '%s': %s" % (new, old, end))
        else:
            sys.exit("'%s' for '%s' is not found out" % (new, old))


def main():
    check_that_faults_are_found()
    for kind in KINDS:
        for count, offset, threads in ((1000, 0, 64), (77, 0, 128), (501, 1, 32)):
            check_elements(kind, count, offset, threads)
        for columns, offset, threads in ((64, 0, 32), (1000, 0, 64), (41, 1, 32), (3, 0, 8), (520, 0, 128)):
            check_rows(kind, columns, offset, threads)
        for sizes in ((37, 53, 41), (3, 9, 281), (130, 72, 264), (5, 0, 7), (129, 4, 4)):
            check_product(kind, *sizes, extra=sizes[0] % 2)
        check_product(kind, 40, 24, 136, offset=1)
        # Where vectors fit, no two threads meet in a bank of shared memory.
        conflicts = check_product(kind, 128, 64, 256)
        if conflicts > kind.conflicts:
            sys.exit("%s: %d meetings in banks, %d at most" % (kind.suffix, conflicts, kind.conflicts))
    if len(sys.argv) == 3:
        choose = random.Random(int(sys.argv[1]))
        for _ in range(int(sys.argv[2])):
            sizes = [choose.choice((choose.randint(1, 300), 8 * choose.randint(1, 40))) for _ in range(3)]
            for kind in KINDS:
                check_product(kind, *sizes, offset=choose.choice((0, 0, 1, 8)), extra=choose.randint(0, 1))
    print("all as numpy has it")


if __name__ == "__main__":
    main()
