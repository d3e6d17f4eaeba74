#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package: numpy arrays through libtfrt, out of the wheel that pip would install.

    python_test.py LIBTFRT TFRT MODEL.onnx
"""

import gc
import os
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile

import numpy

LIBRARY, TOOL, MAGIKA = (os.path.abspath(path) for path in sys.argv[1:4])
os.environ["TFRT_LIBRARY"] = LIBRARY
os.environ["TFRT_TOOL"] = TOOL
SOURCE = os.path.abspath("embedding/python")
STORAGE = tempfile.TemporaryDirectory()

sys.path.insert(0, SOURCE)
import wheel_backend  # pylint: disable=wrong-import-position
sys.path.remove(SOURCE)
WHEEL = os.path.join(STORAGE.name, wheel_backend.build_wheel(STORAGE.name))
sys.path.insert(0, WHEEL)
import tfrt  # pylint: disable=wrong-import-position
import tfrt.model  # pylint: disable=wrong-import-position

PROGRAM = """
func.func @main(%x: !tfrt_tensor.tensor, %y: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %z = tfrt_tensor.matmul %x, %y
  tfrt.return %z : !tfrt_tensor.tensor
}
func.func @same(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  tfrt.return %x : !tfrt_tensor.tensor
}
func.func @add(%a: i32, %b: i32) -> (i32, i32) {
  %c = tfrt.add.i32 %a, %b
  tfrt.return %c, %a : i32, i32
}
"""


def written(name, text):
    path = os.path.join(STORAGE.name, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


class PythonTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.program = written("program.mlir", PROGRAM)

    def test_arrays_by_position_and_by_name(self):
        x = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        y = numpy.ones((3, 4), numpy.float32)
        with tfrt.Model(self.program, threads=1) as model:
            self.assertEqual(model.inputs, ("x", "y"))
            self.assertEqual(model.output_count, 1)
            for outputs in [model(x, y), model(y=y, x=x), model(x, y=y)]:
                numpy.testing.assert_array_equal(outputs[0], x @ y)
            # An array with strides is made contiguous.
            numpy.testing.assert_array_equal(model(y.T[:, ::-1], x.T)[0], y.T @ x.T)
        # Outputs outlive the model.
        numpy.testing.assert_array_equal(outputs[0], x @ y)

    def test_no_copy_in_and_none_out(self):
        model = tfrt.Model(self.program, function="same")
        x = numpy.arange(8, dtype=numpy.float32)
        output, = model(x)
        self.assertEqual(output.ctypes.data, x.ctypes.data)
        self.assertFalse(output.flags.writeable)
        # The program keeps the array while there is an output over it, or a view of that.
        lent = len(tfrt.model._lent)
        view = output[2:4]
        del x, output
        gc.collect()
        self.assertEqual(len(tfrt.model._lent), lent)
        self.assertEqual(view.tolist(), [2, 3])
        del view
        gc.collect()
        self.assertEqual(len(tfrt.model._lent), lent - 1)

    def test_all_element_types(self):
        model = tfrt.Model(self.program, function="same")
        for name in sorted(set(tfrt.model._DTYPES.values())):
            x = numpy.array([[0, 1, 1]]).astype(name)
            output, = model(x)
            self.assertEqual(output.dtype, x.dtype)
            self.assertEqual(output.tolist(), x.tolist())
        output, = model(numpy.empty((0, 3), numpy.float32))
        self.assertEqual(output.shape, (0, 3))
        output, = model(numpy.float32(2.5))
        self.assertEqual((output.shape, float(output)), ((), 2.5))
        for bad in [numpy.array(["a"]), numpy.array([1], ">i4"), numpy.array([None])]:
            self.assertRaises(TypeError, model, bad)
        del output
        gc.collect()
        self.assertEqual(tfrt.model._lent, {})

    def test_numbers(self):
        model = tfrt.Model(self.program, function="add")
        outputs = model(numpy.int32(40), b=numpy.int32(2))
        self.assertEqual([int(output) for output in outputs], [42, 40])
        with self.assertRaisesRegex(tfrt.TfrtError, "input 0 'a': it is a i64 of rank 0"):
            model(numpy.int64(1), numpy.int32(2))
        self.assertEqual(tfrt.model._lent, {})

    def test_mistakes(self):
        model = tfrt.Model(self.program)
        x = numpy.ones((2, 3), numpy.float32)
        with self.assertRaisesRegex(TypeError, "missing inputs: y"):
            model(x)
        with self.assertRaisesRegex(TypeError, "no input 'z'; it has x, y"):
            model(x, z=x)
        with self.assertRaisesRegex(TypeError, "'x' is given twice"):
            model(x, x=x)
        with self.assertRaisesRegex(TypeError, "has 2 inputs, not 3"):
            model(x, x, x)
        with self.assertRaises(tfrt.TfrtError) as caught:
            model(x, x)
        self.assertEqual(caught.exception.code, "INVALID_ARGUMENT")
        self.assertIn("tfrt_tensor.matmul", str(caught.exception))
        self.assertIn("program.mlir", str(caught.exception))
        model.close()
        model.close()
        self.assertRaises(ValueError, model, x, x)
        with self.assertRaises(tfrt.TfrtError) as caught:
            tfrt.Model(os.path.join(STORAGE.name, "missing.bef"))
        self.assertEqual(caught.exception.code, "NOT_FOUND")
        with self.assertRaisesRegex(tfrt.TfrtError, "broken.onnx"):
            tfrt.Model(written("broken.onnx", "no model"))

    def test_threads(self):
        model = tfrt.Model(self.program, threads=2)
        wrong = []

        def run(seed):
            x = numpy.full((8, 8), seed, numpy.float32)
            for _ in range(50):
                if not numpy.array_equal(model(x, x)[0], x @ x):
                    wrong.append(seed)

        threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_an_onnx_model_gives_what_tfrt_run_gives(self):
        model = tfrt.Model(MAGIKA)
        self.assertEqual(model.inputs, ("bytes",))
        x = numpy.random.default_rng(7).integers(0, 256, (3, 2048)).astype(numpy.int32)
        scores, = model(bytes=x)
        path = os.path.join(STORAGE.name, "x.npy")
        numpy.save(path, x)
        folder = os.path.join(STORAGE.name, "out")
        subprocess.run([TOOL, "run", MAGIKA, "--arg", f"bytes=@{path}", "-o", "npy", folder],
                       check=True, capture_output=True)
        expected = numpy.load(os.path.join(folder, "result_0.npy"))
        self.assertEqual(scores.shape, (3, 214))
        numpy.testing.assert_array_equal(scores, expected)

    def test_the_wheel_is_complete(self):
        with zipfile.ZipFile(WHEEL) as wheel:
            names = wheel.namelist()
            record = wheel.read("tfrt-0.1.0.dist-info/RECORD").decode().splitlines()
            self.assertIn(b"Requires-Dist: numpy", wheel.read("tfrt-0.1.0.dist-info/METADATA"))
        self.assertEqual([line.split(",")[0] for line in record], names)
        for name in ["__init__", "library", "model"]:
            self.assertIn(f"tfrt/{name}.py", names)

    def test_the_version_is_that_of_the_runtime(self):
        with open("host_runtime/base/version.h", encoding="utf-8") as file:
            self.assertIn('#define TFRT_VERSION "0.1.0"', file.read())

    def test_pip_installs_it_without_an_index(self):
        pip = [sys.executable, "-m", "pip"]
        if subprocess.run([*pip, "--version"], capture_output=True, check=False).returncode != 0:
            self.skipTest("there is no pip")
        target = os.path.join(STORAGE.name, "target")
        done = subprocess.run([*pip, "install", "--no-index", "--no-deps", "--no-cache-dir",
                               "--target", target, SOURCE], capture_output=True, check=False,
                              env=dict(os.environ, HOME=STORAGE.name))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        script = "import tfrt; print(tfrt.Model.__name__)"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True,
                              env=dict(os.environ, PYTHONPATH=target), cwd=STORAGE.name)
        self.assertEqual(done.stdout, b"Model\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
