#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Models that tfrt run has imported before, and programs around models.

    model_cache_test.py TFRT MODEL

MODEL is examples/magika/model.onnx.
"""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy

TFRT, MODEL = (os.path.abspath(path) for path in sys.argv[1:3])


class ModelCacheTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        x = numpy.arange(3 * 2048).reshape(3, 2048) * [[7], [13], [29]] % 257
        numpy.save(self.path("x.npy"), x.astype(numpy.int32))
        self.cache = self.path("cache/tfrt/models")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def tfrt(self, *arguments):
        environment = dict(os.environ, XDG_CACHE_HOME=self.path("cache"))
        return subprocess.run([TFRT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False, timeout=120, env=environment)

    def run_model(self, *flags):
        """The result, and whether the model was imported before."""
        out = self.path("out")
        done = self.tfrt("run", MODEL, "-v", "--arg", "bytes=@" + self.path("x.npy"), *flags,
                         "-o", "npy", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        y = numpy.load(os.path.join(out, "result_0.npy"))
        return y, "was imported before: " + self.cache in done.stderr

    def entries(self):
        return sorted(os.listdir(self.cache)) if os.path.exists(self.cache) else []

    def test_a_model_is_imported_once(self):
        first, was_kept = self.run_model()
        self.assertFalse(was_kept)
        self.assertEqual(len(self.entries()), 1)
        entry = os.stat(os.path.join(self.cache, self.entries()[0]))
        self.assertEqual(entry.st_mode & 0o777, 0o600)
        second, was_kept = self.run_model()
        self.assertTrue(was_kept)
        self.assertEqual(second.tobytes(), first.tobytes())

    def test_what_is_said_about_the_model_makes_another_program(self):
        self.run_model()
        for flags in [("--shape", "bytes=3x2048"), ("--in-process", "2", "--split=pipeline"),
                      ("--in-process", "3", "--split=pipeline")]:
            self.assertFalse(self.run_model(*flags)[1], flags)
            self.assertTrue(self.run_model(*flags)[1], flags)
        self.assertEqual(len(self.entries()), 4)

    def test_without_a_cache_nothing_is_kept(self):
        self.assertFalse(self.run_model("--no-cache")[1])
        self.assertEqual(self.entries(), [])
        with open(self.path("cache"), "w", encoding="utf-8"):
            pass  # no folder can be made here
        self.assertFalse(self.run_model()[1])

    def test_an_entry_that_is_broken_is_made_anew(self):
        first, _ = self.run_model()
        entry = os.path.join(self.cache, self.entries()[0])
        with open(entry, "r+b") as file:
            file.truncate(1000000)
        again, was_kept = self.run_model()
        self.assertFalse(was_kept)
        self.assertEqual(again.tobytes(), first.tobytes())
        self.assertTrue(self.run_model()[1])

    def test_what_others_may_write_to_is_not_used(self):
        self.run_model()
        entry = os.path.join(self.cache, self.entries()[0])
        os.chmod(entry, 0o620)
        self.assertFalse(self.run_model()[1])
        self.assertTrue(self.run_model()[1])
        os.chmod(self.cache, 0o777)
        self.assertFalse(self.run_model()[1])
        os.chmod(self.cache, 0o700)
        os.rename(entry, self.path("elsewhere"))
        os.symlink(self.path("elsewhere"), entry)
        self.assertFalse(self.run_model()[1])

    def test_a_model_that_is_none_has_one_error(self):
        with open(self.path("m.onnx"), "wb") as file:
            file.write(b"no model")
        done = self.tfrt("run", self.path("m.onnx"))
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("error"), 1, done.stderr)
        self.assertEqual(self.entries(), [])

    def around(self, text, *flags):
        with open(self.path("around.mlir"), "w", encoding="utf-8") as file:
            file.write(text)
        return self.tfrt("import", MODEL, "--around", self.path("around.mlir"), "-o",
                         self.path("m.bef"), *flags)

    def test_a_program_around_a_model_calls_it(self):
        scores, _ = self.run_model()
        for flags in [(), ("--split=pipeline", "--host-count", "2")]:
            done = self.around(
                "func.func @main(%n: i32, %x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {\n"
                "  %y = tfrt.call @model(%x) : (!tfrt_tensor.tensor) -> !tfrt_tensor.tensor\n"
                "  %best = tfrt_nn.arg_max(%y) {axis = 1 : i64, keepdims = 0 : i64}\n"
                "  tfrt.print.i32 %n\n"
                "  tfrt.return %best : !tfrt_tensor.tensor\n}\n", *flags)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = self.tfrt("run", self.path("m.bef"), "--in-process", "2", "--arg", "n=5",
                             "--arg", "x=@" + self.path("x.npy"), "-o", "npy", self.path("out"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("int32 = 5", done.stdout)
            best = numpy.load(self.path("out/result_0.npy"))
            self.assertEqual(list(best), list(scores.argmax(1)))

    def test_a_mistake_around_a_model_has_its_place(self):
        done = self.around("func.func @main() {\n  tfrt.call @nobody() : () -> ()\n"
                           "  tfrt.return\n}\n")
        self.assertEqual(done.returncode, 2)
        self.assertIn("around.mlir:2:", done.stderr)
        done = self.around("func.func @model() {\n  tfrt.return\n}\n")
        self.assertEqual(done.returncode, 2)
        self.assertIn("around.mlir:1:", done.stderr)
        done = self.around("no program")
        self.assertEqual(done.returncode, 2)
        self.assertIn("around.mlir:1:1: error:", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
