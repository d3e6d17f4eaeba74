#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Models as users run them: tfrt import, and tfrt run of a .onnx file on one host and on three.

    model_run_test.py TFRT WORKER MODEL

MODEL is examples/magika/model.onnx; the numbers that it must give are onnxruntime's.
"""

import json
import os
import re
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

    def test_the_peak_of_the_memory_between_operations_is_told(self):
        done = tfrt("run", MODEL, "-v", "--arg", "bytes=@" + self.path("x.npy"), "--top", "1")
        found = re.search(r"^peak activation memory: ([0-9.]+) MB$", done.stderr, re.MULTILINE)
        self.assertTrue(found, done.stderr)
        # The convolution's result alone, [3, 512, 508] of f32, has 3.1 MB, and is transposed. Each
        # tensor of the model together has more than 40.
        self.assertGreater(float(found.group(1)), 6)
        self.assertLess(float(found.group(1)), 14)

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

    def test_an_array_of_an_archive_is_an_argument(self):
        y = self.run_model(MODEL)
        x = numpy.load(self.path("x.npy"))
        numpy.savez_compressed(self.path("x.npz"), bytes=x, other=x[:1])
        out = self.path("out")
        done = tfrt("run", MODEL, "--arg", f"bytes=@{self.path('x.npz')}:bytes", "-o", "npy", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        numpy.testing.assert_array_equal(numpy.load(os.path.join(out, "result_0.npy")), y)
        done = tfrt("run", MODEL, "--arg", f"bytes=@{self.path('x.npz')}:byte")
        self.assertEqual(done.returncode, 2)
        self.assertIn("x.npz: the archive has no array 'byte'; it has bytes, other", done.stderr)

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

    def test_the_best_scores_with_their_labels(self):
        y = self.run_model(MODEL)
        argument = ("--arg", "bytes=@" + self.path("x.npy"))
        done = tfrt("run", MODEL, *argument, "--top", "2")
        expected = ""
        for row, scores in enumerate(y):
            best = numpy.argsort(-scores, kind="stable")[:2]
            expected += f"result 0, row {row}:\n"
            expected += "".join(f"  {scores[i]:.4f} {i}\n" for i in best)
        self.assertEqual((done.returncode, done.stdout), (0, expected))
        labels = self.path("labels.txt")
        names = [f"kind {i}" for i in range(y.shape[1])]
        with open(labels, "w", encoding="utf-8") as file:
            file.write("\n".join(names))
        done = tfrt("run", MODEL, *argument, "--top", "1", "--labels", labels)
        self.assertEqual(done.stdout.splitlines()[:2],
                         ["result 0, row 0:", f"  {y[0].max():.4f} kind {LABELS[0]}"])

        with open(labels, "a", encoding="utf-8") as file:
            file.write("\none more\n")
        for flags, error in [
                (["--top", "1", "--labels", labels], f"--labels: {labels} has 215 lines, but a row of "
                 "result 0, of shape [3, 214], has 214 elements"),
                (["--top", "1", "--labels", "none"], "can't open none"),
                (["--labels", labels], "--labels goes with --top"),
                (["--top", "1", "-o", "json"], "--top goes with -o text, not -o json"),
                (["--top", "0"], "--top")]:
            done = tfrt("run", MODEL, *argument, *flags)
            self.assertIn(error, done.stderr)
            self.assertNotEqual(done.returncode, 0)

    def test_a_small_argument_is_written_in_the_shell(self):
        program = self.path("p.mlir")
        with open(program, "w", encoding="utf-8") as file:
            file.write("func.func @main(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {\n"
                       "  %y = tfrt_tensor.relu %x\n"
                       "  tfrt.return %y : !tfrt_tensor.tensor\n}\n")
        done = tfrt("run", program, "--arg", "x=[[1.5, -2], [nan, 0.25]]", "--top", "5")
        self.assertEqual((done.returncode, done.stdout),
                         (0, "result 0, row 0:\n  1.5000 0\n  0.0000 1\n"
                             "result 0, row 1:\n  0.2500 1\n  nan 0\n"), done.stderr)

    def test_results_are_shown(self):
        flags = ["run", MODEL, "--arg", "bytes=@" + self.path("x.npy")]
        done = tfrt(*flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        line = done.stdout.splitlines()[1]
        found = re.fullmatch(r"result 0: f32 \[3, 214\]: (.*), \.\.\. \(642 elements\)", line)
        self.assertTrue(found, done.stdout)
        result = json.loads(tfrt(*flags, "-o", "json").stdout)["results"][0]
        self.assertEqual((result["dtype"], result["shape"]), ("f32", [3, 214]))
        self.assertEqual([float(text) for text in found.group(1).split(", ")], result["data"][:20])
        scores = numpy.array(result["data"], numpy.float32).reshape(3, 214)
        numpy.testing.assert_array_equal(scores, self.run_model(MODEL))

    def test_the_best_scores_leave_out_results_that_are_no_scores(self):
        program = self.path("p.mlir")
        with open(program, "w", encoding="utf-8") as file:
            file.write("func.func @main(%x: !tfrt_tensor.tensor, %n: i32) ->"
                       " (i32, !tfrt_tensor.tensor) {\n"
                       "  tfrt.return %n, %x : i32, !tfrt_tensor.tensor\n}\n")
        flags = ["run", program, "--arg", "n=7", "--top", "1", "--arg"]
        self.assertEqual(tfrt(*flags, "x=[[1.5, 2]]").stdout, "result 1, row 0:\n  2.0000 1\n")
        done = tfrt(*flags, "x=[[1, 2]]:i64")
        self.assertIn("--top: no result is a tensor of f32 with rows", done.stderr)
        self.assertEqual(done.returncode, 1)

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
