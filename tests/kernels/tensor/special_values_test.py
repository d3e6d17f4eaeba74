#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What ops on floats make of NaN, infinities, -0 and denormal numbers: what numpy makes of them.

Usage: special_values_test.py BEF_EXECUTOR MLIR_TO_BEF

docs/numbers.md has the table; each of its lines is a test here.
"""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy

BEF_EXECUTOR, MLIR_TO_BEF = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))

NAN, INF = float("nan"), float("inf")
DENORMAL = float(numpy.float32(1e-45))
# Rows with each special value, with pairs of them, with nothing else, and with none.
ROWS = numpy.array([
    [1.5, NAN, 3.0, -0.0],
    [-INF, -INF, -INF, -INF],
    [INF, 1.0, -INF, 0.0],
    [-INF, 2.0, DENORMAL, -DENORMAL],
], numpy.float32)
OTHERS = numpy.array([[0.0, -0.0, INF, DENORMAL]], numpy.float32)


def literal(array):
    """`array` as an attribute; each number as its bits."""
    def text(numbers):
        if numbers.ndim == 0:
            return "0x%08X" % numbers.view(numpy.uint32)
        return "[" + ", ".join(text(numbers[i]) for i in range(len(numbers))) + "]"
    shape = "x".join(str(size) for size in array.shape)
    return f"dense<{text(array)}> : tensor<{shape}xf32>"


def number(value):
    """As the runtime prints it: a NaN has no sign."""
    return "nan" if value != value else "%e" % value


def run(lines):
    """What the program with the given lines prints; each may use %c and must define %d."""
    body = "".join(f"  {line}\n" for line in lines)
    program = ("func.func @main() -> !tfrt.chain {\n  %c = tfrt.new.chain\n" + body +
               "  tfrt.return %d : !tfrt.chain\n}\n")
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("a.mlir", "a.bef")]
        with open(paths[0], "w", encoding="ascii") as stream:
            stream.write(program)
        with open(paths[1], "wb") as stream:
            subprocess.run([MLIR_TO_BEF, paths[0]], stdout=stream, check=True)
        result = subprocess.run([BEF_EXECUTOR, paths[1]], stdout=subprocess.PIPE, text=True)
    assert result.returncode == 0, program + result.stdout
    return result.stdout


def max_pool(x, window, stride):
    """Of an image [H, W], without padding."""
    places = range(0, x.shape[0] - window + 1, stride)
    return numpy.array([[numpy.max(x[i:i + window, j:j + window]) for j in places]
                        for i in places], numpy.float32)


def softmax(x):
    shares = numpy.exp(x - numpy.max(x, axis=-1, keepdims=True))
    return shares / numpy.sum(shares, axis=-1, keepdims=True)


class SpecialValues(unittest.TestCase):
    maxDiff = None

    def expect(self, lines, expected):
        """The tensor %r of the lines with %x of ROWS and %y of OTHERS prints as `expected`."""
        output = run([f"%x = tfrt_tensor.constant {literal(ROWS)}",
                      f"%y = tfrt_tensor.constant {literal(OTHERS)}"] + lines +
                     ["%d = tfrt_dht.print_tensor %r, %c"])
        expected = numpy.asarray(expected).flatten()
        texts = [number(v) if expected.dtype.kind == "f" else str(v) for v in expected.tolist()]
        self.assertIn("values = [" + ", ".join(texts) + "]", output)

    def expect_scalar(self, op, a, b, expected):
        a, b = ("0x%08X" % numpy.float32(value).view(numpy.uint32) for value in (a, b))
        output = run([f"%a = tfrt.constant.f32 {a}", f"%b = tfrt.constant.f32 {b}",
                      f'%r = "{op}"(%a, %b) : (f32, f32) -> f32', "%d = tfrt.print.f32 %r, %c"])
        expected = "nan" if expected != expected else "%f" % expected
        self.assertIn(f"f32 = {expected}\n", output, (op, a, b))

    def test_add(self):
        self.expect(["%r = tfrt_tensor.add %x, %y"], ROWS + OTHERS)

    def test_scale(self):
        for factor in (0.0, -0.0, INF, NAN, 0.5):
            bits = "0x%08X" % numpy.float32(factor).view(numpy.uint32)
            self.expect([f"%f = tfrt.constant.f32 {bits}", "%r = tfrt_tensor.scale %x, %f"],
                        ROWS * numpy.float32(factor))

    def test_relu(self):
        self.expect(["%r = tfrt_tensor.relu %x"], numpy.where(ROWS < 0, numpy.float32(0), ROWS))

    def test_softmax(self):
        self.expect(["%r = tfrt_tensor.softmax %x"], softmax(ROWS))

    def test_sum(self):
        self.expect(["%r = tfrt_tensor.sum %x axis 1 : i32"], numpy.sum(ROWS, axis=1))
        self.expect(["%r = tfrt_tensor.sum %x axis 0 : i32"], numpy.sum(ROWS, axis=0))

    def test_argmax(self):
        self.expect(["%r = tfrt_tensor.argmax %x axis 1 : i32"], numpy.argmax(ROWS, axis=1))

    def test_max_pool2d(self):
        for window, stride in ((2, 2), (2, 1), (3, 1)):
            self.expect(["%i = tfrt_tensor.reshape %x [1 : i64, 1 : i64, 4 : i64, 4 : i64]",
                         "%r = tfrt_tensor.max_pool2d %i {window = [WINDOW : i64, WINDOW : i64], "
                         "strides = [STRIDE : i64, STRIDE : i64]}"
                         .replace("WINDOW", str(window)).replace("STRIDE", str(stride))],
                        max_pool(ROWS, window, stride))

    def test_matmul(self):
        self.expect(["%r = tfrt_tensor.matmul %y, %x"], OTHERS @ ROWS)
        self.expect(["%r = tfrt_tensor.matmul %x, %x"], ROWS @ ROWS)

    def test_linear(self):
        bias = f"%b = tfrt_tensor.constant {literal(OTHERS[0])}"
        plain = ROWS @ ROWS + OTHERS
        self.expect([bias, "%r = tfrt_tensor.linear %x, %x, %b"], plain)
        self.expect([bias, "%r = tfrt_tensor.linear %x, %x, %b {relu = true}"],
                    numpy.where(plain < 0, numpy.float32(0), plain))

    def test_conv2d(self):
        # A filter of one element: each pixel times it, plus the bias.
        for weight, bias in ((2.0, 0.0), (-1.0, 1.0), (NAN, 0.0), (1.0, NAN)):
            lines = ["%i = tfrt_tensor.reshape %x [1 : i64, 1 : i64, 4 : i64, 4 : i64]",
                     "%w = tfrt_tensor.constant "
                     + literal(numpy.full((1, 1, 1, 1), weight, numpy.float32)),
                     f"%b = tfrt_tensor.constant {literal(numpy.full(1, bias, numpy.float32))}"]
            plain = ROWS * numpy.float32(weight) + numpy.float32(bias)
            self.expect(lines + ["%r = tfrt_tensor.conv2d %i, %w, %b"], plain)
            self.expect(lines + ["%r = tfrt_tensor.conv2d %i, %w, %b {relu = true}"],
                        numpy.where(plain < 0, numpy.float32(0), plain))

    def test_cast(self):
        self.expect(["%r = tfrt_tensor.cast %x to f64"], ROWS.astype(numpy.float64))
        self.expect(["%h = tfrt_tensor.cast %x to f16", "%r = tfrt_tensor.cast %h to f32"],
                    ROWS.astype(numpy.float16).astype(numpy.float32))
        # bf16 is the upper half of f32; nothing here is rounded but the denormals, to zero.
        halves = (ROWS.view(numpy.uint32) & 0xFFFF0000).view(numpy.float32)
        self.expect(["%h = tfrt_tensor.cast %x to bf16", "%r = tfrt_tensor.cast %h to f32"], halves)
        # Not numpy's: there it is undefined. Cut to the range, and 0 for NaN.
        self.expect(["%r = tfrt_tensor.cast %x to i32"],
                    [1, 0, 3, 0] + [-2**31] * 4 + [2**31 - 1, 1, -2**31, 0, -2**31, 2, 0, 0])

    def test_count_equal(self):
        output = run([f"%x = tfrt_tensor.constant {literal(ROWS)}",
                      "%r = tfrt_tensor.count_equal %x, %x", "%d = tfrt.print.i64 %r, %c"])
        self.assertIn(f"int64 = {numpy.count_nonzero(ROWS == ROWS)}\n", output)

    def test_scalars(self):
        values = (NAN, INF, -INF, 0.0, -1.5, DENORMAL)
        for a in values:
            for b in values:
                x, y = numpy.float32(a), numpy.float32(b)
                self.expect_scalar("tfrt.add.f32", a, b, x + y)
                self.expect_scalar("tfrt.multiply.f32", a, b, x * y)
                self.expect_scalar("tfrt.minimum.f32", a, b, numpy.minimum(x, y))
                if b != 0:
                    self.expect_scalar("tfrt.div.f32", a, b, x / y)


if __name__ == "__main__":
    numpy.seterr(all="ignore")
    unittest.main()
