#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each collective with each dtype, with no, one and three rows and with different numbers of them, on one
to eight hosts: against numbers that are worked out here.

Usage: collective_types_test.py TFRT TFRT_WORKER
"""

import math
import re
import struct

from cluster import ClusterTest, hosts, main

# Small enough for the sums and products of eight to be exact in each dtype, or to wrap around.
NUMBERS = [1, 2, 2, 1, 2, 1, 1, 2, 1, 2, 2, 1, 1]
SIZES = (0, 1, 3)
MOST_HOSTS = 8

# A longer tensor prints only its begin: this many elements.
MOST_PRINTED = 16

INTEGERS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "ui8": 8, "ui16": 16, "ui32": 32, "ui64": 64}
FLOATS = ("f16", "bf16", "f32", "f64")
COMPLEX = {"complex64": "complex<f32>", "complex128": "complex<f64>"}
DTYPES = (*INTEGERS, *FLOATS, *COMPLEX, "i1")


def reductions(dtype):
    if dtype == "i1":
        return ("min", "max")
    return ("sum", "prod", "mean") if dtype in COMPLEX else ("sum", "prod", "min", "max", "mean")


def number(dtype, index):
    """Element `index` of what all hosts have a part of."""
    value = NUMBERS[index]
    if dtype in COMPLEX:
        return complex(value, index % 2)
    return value - 1 if dtype == "i1" else value


def literal(dtype, index):
    value = number(dtype, index)
    if dtype in COMPLEX:
        return "(%d.0, %d.0)" % (value.real, value.imag)
    if dtype == "i1":
        return "true" if value else "false"
    return "%d.0" % value if dtype in FLOATS else str(value)


def wrapped(dtype, value):
    if dtype not in INTEGERS:
        return value
    bits = INTEGERS[dtype]
    value %= 1 << bits
    return value - (1 << bits) if dtype.startswith("i") and value >> (bits - 1) else value


def combined(dtype, reduction, values):
    if reduction in ("min", "max"):
        return min(values) if reduction == "min" else max(values)
    total = math.prod(values) if reduction == "prod" else sum(values)
    total = wrapped(dtype, total)
    if reduction != "mean":
        return total
    return int(total / len(values)) if dtype in INTEGERS else total / len(values)


def part(values, position, count):
    """The rows of the member at `position` of `count`."""
    least, more = divmod(len(values), count)
    begin = position * least + min(position, more)
    return values[begin : begin + least + (position < more)]


class Program:
    """One for a number of hosts, and what each of them prints, by host and dtype."""

    def __init__(self, host_count):
        self.host_count = host_count
        self.lines = []
        self.expected = {}
        for dtype in DTYPES:
            self.write_part(dtype)
        types = ", ".join(["i32"] * len(DTYPES))
        self.lines.append("func.func @main() -> (%s) {\n  %%ch = tfrt.new.chain" % types)
        # A result for each, which is there when all hosts have printed what they have to.
        for dtype in DTYPES:
            self.lines.append(
                "  %%%s = tfrt_dist.call_all @%s(%%ch) : (!tfrt.chain) -> (!tfrt_dist.list)\n"
                "  %%sum_%s = tfrt_dist.list.sum %%%s : i32" % (dtype, dtype, dtype, dtype)
            )
        sums = ", ".join("%%sum_%s" % dtype for dtype in DTYPES)
        self.lines.append("  tfrt.return %s : %s\n}" % (sums, types))
        self.text = "\n".join(self.lines) + "\n"

    def operands(self, dtype, size):
        """The rows of each host; `size` None: as many as differ."""
        counts = [rank % 3 if size is None else size for rank in range(self.host_count)]
        return [
            [number(dtype, rank + i) for i in range(count)] for rank, count in enumerate(counts)
        ]

    def write_op(self, dtype, rows, name, attributes, results):
        """One op, whose result is printed; `results` are those of the hosts."""
        number_of_op = len(self.lines)
        self.lines.append(
            "  %%r%d, %%d%d = tfrt_dist.%s %%g, %%%s, %s %s"
            % (number_of_op, number_of_op, name, rows, self.chain, attributes)
        )
        self.chain = "%%d%d" % number_of_op
        # Those that are longer than what is printed of a tensor are of one length on all hosts.
        size = max(map(len, results))
        for begin in range(0, max(size, 1), MOST_PRINTED):
            shown = "%%r%d" % number_of_op
            if size > MOST_PRINTED:
                shown = self.write_slice(shown, begin, min(size - begin, MOST_PRINTED))
            chain, self.chain = self.chain, "%%p%d" % len(self.lines)
            self.lines.append("  %s = tfrt_dht.print_tensor %s, %s" % (self.chain, shown, chain))
            for rank, values in enumerate(results):
                wanted = self.expected.setdefault((rank, dtype), [])
                wanted.append(values[begin : begin + MOST_PRINTED])

    def write_slice(self, tensor, begin, size):
        name = len(self.lines)
        self.lines.append(
            "  %%b%d = tfrt.constant.i32 %d\n  %%z%d = tfrt.constant.i32 %d\n"
            "  %%v%d = tfrt_tensor.slice %s, %%b%d, %%z%d"
            % (name, begin, name, size, name, tensor, name, name)
        )
        return "%%v%d" % name

    def write_reductions(self, dtype, size):
        operands = self.operands(dtype, size)
        rows = "s%d" % size
        last = self.host_count - 1
        for reduction in reductions(dtype):
            attribute = '{reduction = "%s"' % reduction
            every = [combined(dtype, reduction, values) for values in zip(*operands)]
            self.write_op(dtype, rows, "all_reduce", attribute + "}", [every] * self.host_count)
            self.write_op(
                dtype,
                rows,
                "reduce",
                attribute + ", root = %d : i32}" % last,
                operands[:last] + [every],
            )
            parts = [part(every, rank, self.host_count) for rank in range(self.host_count)]
            self.write_op(dtype, rows, "reduce_scatter", attribute + "}", parts)

    def write_moves(self, dtype, size):
        operands = self.operands(dtype, size)
        rows = "uneven" if size is None else "s%d" % size
        every = [value for values in operands for value in values]
        self.write_op(dtype, rows, "all_gather", "", [every] * self.host_count)
        self.write_op(
            dtype, rows, "broadcast", "{root = 0 : i32}", [operands[0]] * self.host_count
        )
        exchanged = [
            [value for values in operands for value in part(values, rank, self.host_count)]
            for rank in range(self.host_count)
        ]
        self.write_op(dtype, rows, "all_to_all", "", exchanged)

    def write_part(self, dtype):
        shape = "%dx%s" % (len(NUMBERS), COMPLEX.get(dtype, dtype))
        literals = ", ".join(literal(dtype, i) for i in range(len(NUMBERS)))
        self.chain = "%ch"
        self.lines.append(
            """func.func @%s(%%ch: !tfrt.chain) -> i32 {
  %%g = tfrt_dist.world {name = "%s"}
  %%me = tfrt_dist.rank
  %%three = tfrt.constant.i32 3
  %%quotient, %%rest = tfrt.div.i32 %%me, %%three
  %%all = tfrt_tensor.constant dense<[%s]> : tensor<%s>
  %%uneven = tfrt_tensor.slice %%all, %%me, %%rest"""
            % (dtype, dtype, literals, shape)
        )
        for size in SIZES:
            self.lines.append(
                "  %%n%d = tfrt.constant.i32 %d\n  %%s%d = tfrt_tensor.slice %%all, %%me, %%n%d"
                % (size, size, size, size)
            )
        for size in SIZES:
            self.write_reductions(dtype, size)
        for size in (*SIZES, None):
            self.write_moves(dtype, size)
        self.lines.append(
            "  %%done = \"tfrt_test.identity\"(%s, %%n1) : (!tfrt.chain, i32) -> i32\n"
            "  tfrt.return %%done : i32\n}" % self.chain
        )


def read_numbers(dtype, text):
    if dtype in COMPLEX:
        found = re.findall(r"\(([^,]*),([^)]*)\)", text)
        return [complex(float(real), float(imaginary)) for real, imaginary in found]
    words = text.split(", ") if text else []
    if dtype in ("f16", "bf16"):
        bits = [int(word[len("fp16(") : -1]) for word in words]
        if dtype == "f16":
            return [struct.unpack("<e", struct.pack("<H", word))[0] for word in bits]
        return [struct.unpack("<f", struct.pack("<I", word << 16))[0] for word in bits]
    return [float(word) if dtype in FLOATS else int(word) for word in words]


def read_output(text):
    """What each host has printed, by host and dtype."""
    pattern = r"(?:\[(\d)\] )?DenseHostTensor dtype = (\w+), shape = \[(\d+)\], values = \[(.*)\]$"
    printed = {}
    for line in text.splitlines()[:-1]:
        rank, dtype, size, values = re.match(pattern, line).groups()
        numbers = read_numbers(dtype, values)
        assert len(numbers) == int(size), line
        printed.setdefault((int(rank or 0), dtype), []).append(numbers)
    return printed


class TestCollectiveTypes(ClusterTest):
    def check(self, program, result):
        code, out, err = result
        self.assertEqual(code, 0, err)
        sums = ",".join([str(program.host_count)] * len(DTYPES))
        self.assertEqual(out.splitlines()[-1], "'main' returned " + sums)
        printed = read_output(out)
        self.assertEqual(set(printed), set(program.expected))
        for (rank, dtype), expected in program.expected.items():
            self.assertEqual(len(printed[rank, dtype]), len(expected))
            tolerance = {"f16": 1e-3, "bf16": 8e-3}.get(dtype, 1e-6)
            for number_of_op, (found, right) in enumerate(zip(printed[rank, dtype], expected)):
                self.assertEqual(len(found), len(right), (rank, dtype, number_of_op))
                for a, b in zip(found, right):
                    is_right = abs(a - b) <= tolerance * abs(b)
                    self.assertTrue(is_right, (rank, dtype, number_of_op, found, right))

    def test_each_is_right_on_any_number_of_hosts(self):
        workers = self.start_workers(MOST_HOSTS)
        for count in range(1, MOST_HOSTS + 1):
            program = Program(count)
            path = self.write("types.mlir", program.text)
            with self.subTest(count=count):
                self.check(program, self.run_tfrt(path, "--in-process=%d" % count))
                self.check(program, self.run_tfrt(path, hosts(workers[:count])))
        self.expect_idle(workers)


if __name__ == "__main__":
    main()
