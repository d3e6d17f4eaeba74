#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Images as arguments of tfrt run, beside the same resize and the same arithmetic in numpy.

    image_run_test.py TFRT
"""

import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

import numpy

TFRT = os.path.abspath(sys.argv[1])

PROGRAM = ("func.func @main(%x: !tfrt_tensor.tensor, %n: i32) -> !tfrt_tensor.tensor {\n"
           "  tfrt.return %x : !tfrt_tensor.tensor\n}\n")


def png(pixels):
    """The PNG file of [height, width, 3] of u8."""
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


def weights(old, new, scale):
    """The matrix [new, old] of the triangle filter."""
    middle = (old - new * scale) / 2 + (numpy.arange(new) + 0.5) * scale
    distance = abs(numpy.arange(old) + 0.5 - middle[:, None])
    matrix = numpy.maximum(1 - distance / max(scale, 1), 0)
    return matrix / matrix.sum(1, keepdims=True)


def resized(pixels, height, width):
    scale = min(pixels.shape[0] / height, pixels.shape[1] / width)
    rows = weights(pixels.shape[0], height, scale)
    columns = weights(pixels.shape[1], width, scale)
    return numpy.einsum("yi,xj,ijc->yxc", rows, columns, pixels.astype(float)) / 255


class ImageRunTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("p.mlir", PROGRAM.encode())
        self.pixels = numpy.random.default_rng(3).integers(0, 256, (37, 53, 3), numpy.uint8)
        self.write("photo.png", png(self.pixels))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def run_program(self, *flags):
        return subprocess.run([TFRT, "run", self.path("p.mlir"), "--arg", "n=1", *flags],
                              capture_output=True, text=True, check=False, timeout=120)

    def tensor(self, *flags, name="photo.png"):
        out = self.path("out")
        done = self.run_program("--image", "x=" + self.path(name), *flags, "-o", "npy", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return numpy.load(os.path.join(out, "result_0.npy"))

    def test_an_image_as_it_is(self):
        x = self.tensor()
        self.assertEqual((x.shape, x.dtype), ((1, 3, 37, 53), numpy.float32))
        numpy.testing.assert_allclose(x[0], self.pixels.transpose(2, 0, 1) / 255, atol=1e-6)
        numpy.testing.assert_array_equal(self.tensor("--channels-last")[0],
                                         x[0].transpose(1, 2, 0))

    def test_sizes(self):
        for size, height, width in [("16", 16, 16), ("80", 80, 80), ("20x7", 20, 7),
                                    ("5x90", 5, 90), ("1", 1, 1)]:
            x = self.tensor("--size", size)
            self.assertEqual(x.shape, (1, 3, height, width))
            expected = resized(self.pixels, height, width).transpose(2, 0, 1)
            numpy.testing.assert_allclose(x[0], expected, atol=2e-6)

    def test_mean_and_deviation_of_each_colour(self):
        x = self.tensor("--size", "16", "--mean", "0.485,0.456,0.406", "--std=0.229,0.224,0.225")
        expected = (resized(self.pixels, 16, 16) - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
        numpy.testing.assert_allclose(x[0], expected.transpose(2, 0, 1), atol=1e-5)

    def test_mistakes(self):
        self.write("text.txt", b"no image")
        self.write("cut.png", png(self.pixels)[:100])
        photo = "x=" + self.path("photo.png")
        for flags, error in [
                (["--image", "x=none.png"], "--image x: can't open none.png"),
                (["--image", "x=" + self.path("text.txt")], "the file is neither JPEG nor PNG"),
                (["--image", "x=" + self.path("cut.png")], "the PNG image can't be decoded"),
                (["--image", "n=" + self.path("photo.png")], "--image n is given twice"),
                (["--image", photo, "--image", photo], "--image x is given twice"),
                (["--image", "y=" + self.path("photo.png")], "has no such parameter"),
                (["--image", "x"], "--image wants NAME=VALUE"),
                (["--image", photo, "--size", "0"], "--size wants N or HEIGHTxWIDTH, from 1 to "),
                (["--image", photo, "--size", "16x"], "not '16x'"),
                (["--image", photo, "--mean", "1,2"], "--mean wants a number for each colour"),
                (["--image", photo, "--std", "1,2,3,4"], "--std wants a number for each colour"),
                (["--image", photo, "--std", "1,0,1"], "--std: no colour is divided by 0"),
                (["--size", "16"], "go with --image")]:
            done = self.run_program(*flags)
            self.assertEqual(done.returncode, 2, flags)
            self.assertIn(error, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
