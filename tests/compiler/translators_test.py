#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mlir_to_bef and bef_to_mlir from the command line: files, pipes, errors, exit codes.

    translators_test.py MLIR_TO_BEF BEF_TO_MLIR
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

MLIR_TO_BEF, BEF_TO_MLIR = [os.path.abspath(path) for path in sys.argv[1:3]]
PROGRAMS = os.path.abspath("tests/programs")
GOOD = b"func.func @f() -> i32 {\n  %0 = tfrt.constant.i32 7\n  tfrt.return %0 : i32\n}\n"


def run(program, *arguments, data=b""):
    """Runs `program`; returns exit code, standard output and standard error."""
    done = subprocess.run([program, *arguments], input=data, capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr.decode()


class TranslatorsTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, data=None):
        path = os.path.join(self.folder.name, name)
        if data is not None:
            with open(path, "wb") as file:
                file.write(data)
        return path

    def test_pipes_and_files_give_the_same(self):
        source = self.path("p.mlir", GOOD)
        code, piped, errors = run(MLIR_TO_BEF, data=GOOD)
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(piped[:3], b"\x0b\xef\x00")
        self.assertEqual(run(MLIR_TO_BEF, source, "-o", self.path("p.bef"))[0], 0)
        for arguments in [(self.path("p.bef"),), ("-",), ()]:
            code, text, errors = run(BEF_TO_MLIR, *arguments, data=piped)
            self.assertEqual((code, text, errors), (0, GOOD, ""))
        self.assertEqual(run(BEF_TO_MLIR, self.path("p.bef"), "-o", self.path("q.mlir"))[0], 0)
        with open(self.path("q.mlir"), "rb") as file:
            self.assertEqual(file.read(), GOOD)

    def test_optional_sections_can_be_left_out(self):
        full = run(MLIR_TO_BEF, data=GOOD)[1]
        code, bare, _ = run(MLIR_TO_BEF, "--disable-optional-sections", data=GOOD)
        self.assertEqual(code, 0)
        self.assertLess(len(bare), len(full))
        code, text, errors = run(BEF_TO_MLIR, data=bare)
        self.assertEqual(code, 0)
        # The op table adds what the file doesn't say.
        self.assertEqual((text, errors), (GOOD, ""))

    def test_the_generic_form_and_locations_can_be_asked_for(self):
        bef = run(MLIR_TO_BEF, self.path("p.mlir", GOOD))[1]
        code, text, _ = run(BEF_TO_MLIR, "--mlir-print-op-generic", data=bef)
        self.assertEqual(code, 0)
        self.assertIn(b'"tfrt.constant.i32"() {value = 7 : i32} : () -> i32', text)
        code, text, _ = run(BEF_TO_MLIR, "--mlir-print-debuginfo", data=bef)
        self.assertIn(b'p.mlir":2:8)', text)

    def test_tfrts_own_files_become_text_that_becomes_a_file_again(self):
        count = 0
        for name in sorted(os.listdir(PROGRAMS)):
            if not name.endswith(".bef"):
                continue
            count += 1
            code, text, errors = run(BEF_TO_MLIR, os.path.join(PROGRAMS, name))
            self.assertEqual(code, 0, name)
            code, _, errors = run(MLIR_TO_BEF, data=text)
            self.assertEqual((code, errors), (0, ""), name)
        self.assertGreaterEqual(count, 5)

    def test_plans_of_convolutions_come_back_as_they_are_written(self):
        # The form that TFRT gives them: types of elements only where the numbers are read.
        forms = [
            ("%1 = tfrt_gpu.dnn.build_convolution %arg0, CUDNN_DATA_HALF, CUDNN_DATA_FLOAT, "
             "[4, 256, 3, 3], [2304, 9, 3, 1], [4, 128, 2, 2], [512, 4, 2, 1], "
             "[128, 256, 2, 2], [1024, 4, 2, 1], CUDNN_CROSS_CORRELATION, 2, "
             "[1, 1], [0, 0], [1, 1], 10, 7, [0, 3], [4, -1]"),
            ("%2 = tfrt_gpu.dnn.run_convolution %arg0, %arg1, %1, %arg2, %arg2, %arg2, %arg2, %arg3"),
            ("%3 = tfrt_gpu.dnn.build_fused_convolution %arg0, CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, "
             "CUDNN_DATA_HALF, [1, 17, 9, 9], [1377, 81, 9, 1], [1, 32, 7, 7], [1568, 49, 7, 1], "
             "[32, 17, 3, 3], [153, 9, 3, 1], [1, 32, 1, 1], [32, 1, 1, 1], CUDNN_CONVOLUTION, 2, "
             "[1, 1], [0, 0], [1, 1], 10, %0, %0, 1, 0, [], []"),
            ("%4 = tfrt_gpu.dnn.run_fused_convolution %arg0, %arg1, %3, %arg2, %arg2, %arg2, %arg2, "
             "%arg2, %arg2, %2"),
        ]
        text = ("func.func @f(%arg0: !tfrt_gpu.dnn.handle, %arg1: !tfrt_gpu.stream, "
                "%arg2: !tfrt_gpu.buffer, %arg3: !tfrt.chain) "
                "-> (!tfrt_gpu.dnn.convolution_plan, !tfrt.chain) {\n"
                "  %0 = tfrt.constant.f64 2.500000e+00\n"
                + "".join(f"  {form}\n" for form in forms)
                + "  tfrt.return %1, %4 : !tfrt_gpu.dnn.convolution_plan, !tfrt.chain\n}\n")
        # With the types, as TFRT's texts have them.
        typed = re.sub(r"\[([^]]*)\]", lambda numbers: "[" + ", ".join(
            number + " : i64" for number in numbers[1].split(", ") if number) + "]", text)
        self.assertIn("[4 : i64, -1 : i64]", typed)
        for source in [text, typed]:
            code, bef, errors = run(MLIR_TO_BEF, data=source.encode())
            self.assertEqual((code, errors), (0, ""))
            code, back, errors = run(BEF_TO_MLIR, data=bef)
            self.assertEqual((code, back.decode(), errors), (0, text, ""))

    def test_an_error_shows_file_line_and_caret_and_writes_nothing(self):
        source = self.path("bad.mlir", b"func.func @f() {\n  tfrt.retrn\n}\n")
        code, output, errors = run(MLIR_TO_BEF, source, "-o", self.path("bad.bef"))
        self.assertEqual((code, output), (1, b""))
        self.assertIn(source + ":2:3: error: ", errors)
        self.assertIn("did you mean 'tfrt.return'?", errors)
        self.assertIn("\n  tfrt.retrn\n  ^\n", errors)
        self.assertFalse(os.path.exists(self.path("bad.bef")))
        code, _, errors = run(MLIR_TO_BEF, data=b"x.y\n")
        self.assertIn("<stdin>:1:1: error: ", errors)

    def test_files_that_cannot_be_read_or_written_are_one_line(self):
        for program in [MLIR_TO_BEF, BEF_TO_MLIR]:
            for path in [self.path("none"), self.folder.name]:
                code, output, errors = run(program, path)
                self.assertEqual((code, output), (1, b""))
                self.assertEqual(errors.count("\n"), 1, errors)
                self.assertIn("error: ", errors)
                self.assertIn(path, errors)
        code, _, errors = run(MLIR_TO_BEF, "-o", self.path("no/such/folder"), data=GOOD)
        self.assertEqual(code, 1)
        self.assertEqual(errors.count("\n"), 1, errors)

    def test_damaged_bef_is_one_clear_error(self):
        good = run(MLIR_TO_BEF, data=GOOD)[1]
        for data in [b"", b"func.func", good[:-7], good[:2] + b"\x07" + good[3:]]:
            code, output, errors = run(BEF_TO_MLIR, data=data)
            self.assertEqual((code, output), (1, b""))
            self.assertIn("<stdin>: error: ", errors)

    def test_usage_errors_end_with_2_and_help_with_0(self):
        for program in [MLIR_TO_BEF, BEF_TO_MLIR]:
            for arguments in [("--nope",), ("a", "b"), ("-o",)]:
                code, _, errors = run(program, *arguments)
                self.assertEqual(code, 2, arguments)
                self.assertIn("--help", errors)
            code, output, errors = run(program, "--help")
            self.assertEqual((code, errors), (0, ""))
            self.assertIn(b"Exit codes", output)
            self.assertIn(b"Example", output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
