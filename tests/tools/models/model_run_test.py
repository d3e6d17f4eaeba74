#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Models as users run them: tfrt import, and tfrt run of a .onnx file on one host and on three.

    model_run_test.py TFRT WORKER MODEL

MODEL is examples/magika/model.onnx; the numbers that it must give are onnxruntime's.
"""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy

TFRT, WORKER, MODEL = (os.path.abspath(path) for path in sys.argv[1:4])

# Results of onnxruntime 1.32 for the argument of the tests: the greatest score of each row, and its
# place.
LABELS = [148, 148, 148]
SCORES = [0.98986405, 0.9988778, 0.9998343]


def tfrt(*arguments):
    return subprocess.run([TFRT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, timeout=120)


class ModelRunTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        x = numpy.arange(3 * 2048).reshape(3, 2048) * [[7], [13], [29]] % 257
        numpy.save(self.path("x.npy"), x.astype(numpy.int32))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_model(self, model, *flags):
        out = self.path("out")
        done = tfrt("run", model, "--arg", "bytes=@" + self.path("x.npy"), *flags, "-o", "npy", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return numpy.load(os.path.join(out, "result_0.npy"))

    def test_the_scores_are_those_of_onnxruntime(self):
        y = self.run_model(MODEL)
        self.assertEqual(y.shape, (3, 214))
        self.assertEqual(list(y.argmax(1)), LABELS)
        numpy.testing.assert_allclose(y.max(1), SCORES, rtol=1e-3)

    def test_a_program_made_before_gives_the_same(self):
        bef = self.path("m.bef")
        done = tfrt("import", MODEL, "-o", bef)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("input  bytes: INT32 [unk__214, 2048]", done.stderr)
        self.assertEqual(self.run_model(bef).tobytes(), self.run_model(MODEL).tobytes())

    def test_three_hosts_in_a_pipeline_give_the_same_bits(self):
        y = self.run_model(MODEL).tobytes()
        pipeline = ("--split=pipeline",)
        self.assertEqual(self.run_model(MODEL, "--in-process", "3", *pipeline).tobytes(), y)
        self.assertEqual(
            self.run_model(MODEL, "--local", "3", "--worker", WORKER, *pipeline).tobytes(), y)

    def test_three_hosts_with_a_part_of_the_batch_each(self):
        y = self.run_model(MODEL, "--local", "3", "--worker", WORKER, "--split=data")
        numpy.testing.assert_allclose(y, self.run_model(MODEL), rtol=1e-4, atol=1e-7)

    def test_arguments_of_another_shape_or_type_are_refused(self):
        numpy.save(self.path("x.npy"), numpy.zeros((1, 4), numpy.int32))
        done = tfrt("run", MODEL, "--arg", "bytes=" + self.path("x.npy"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("the argument 'bytes' must have the shape [?, 2048], not [1, 4]", done.stderr)
        numpy.save(self.path("x.npy"), numpy.zeros((1, 2048), numpy.float32))
        done = tfrt("run", MODEL, "--arg", "bytes=" + self.path("x.npy"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("the argument 'bytes' must be a tensor of i32, not of f32", done.stderr)

    def test_names_that_are_not_there(self):
        done = tfrt("run", MODEL, "--arg", "x=" + self.path("x.npy"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no such parameter; it has 0 or bytes", done.stderr)
        done = tfrt("import", MODEL, "--shape", "x=1x2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'x=1x2' names no input; the model has bytes", done.stderr)

    def test_flags_of_models_go_with_models(self):
        with open(self.path("p.mlir"), "w", encoding="utf-8") as file:
            file.write("func.func @main() { tfrt.return }\n")
        done = tfrt("run", self.path("p.mlir"), "--split=data")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--shape and --split go with a model", done.stderr)
        done = tfrt("run", MODEL, "--split=rows")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--split rows: there are pipeline, data and none", done.stderr)

    def test_a_file_that_is_cut_is_refused(self):
        with open(MODEL, "rb") as file:
            data = file.read()
        for size in (0, 1, 100, len(data) // 2, len(data) - 1):
            with open(self.path("cut.onnx"), "wb") as file:
                file.write(data[:size])
            done = tfrt("import", self.path("cut.onnx"))
            self.assertEqual(done.returncode, 2, size)
            self.assertIn("cut.onnx can't be imported", done.stderr)

    def test_the_program_can_be_read(self):
        done = tfrt("import", MODEL, "--emit=mlir", "--shape", "bytes=1x2048")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('{dims = [1, 2048], dtype = i32, name = "bytes"}', done.stdout)
        self.assertIn("tfrt_nn.mat_mul(", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
