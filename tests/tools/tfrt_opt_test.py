#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""tfrt_opt and tfrt_translate from the command line: flags, exit codes, and big programs.

    tfrt_opt_test.py TFRT_OPT TFRT_TRANSLATE
"""

import os
import subprocess
import sys
import tempfile
import unittest

TFRT_OPT, TFRT_TRANSLATE = [os.path.abspath(path) for path in sys.argv[1:3]]
GOOD = "func.func @f() -> i32 {\n  %0 = tfrt.constant.i32 7\n  tfrt.return %0 : i32\n}\n"


# The examples of TFRT's document on explicit dependencies, without and with chains.
CREATE = "tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]"
THREE = '"tfrt_test.add.i32"(%%%s) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor'
TENSORS = ", ".join("%%%s: !tfrt_tensor.tensor" % name for name in "abde")
EXAMPLES = [
    ("func.func @f() {\n  %t = " + CREATE + "\n"
     "  tfrt_dht.fill_tensor_with_constant.i32 %t 1 : i32\n"
     "  tfrt_dht.print_tensor %t\n  tfrt.return\n}\n",
     "func.func @f() {\n  %t = " + CREATE + "\n  %ch0 = tfrt.new.chain\n"
     "  %ch1 = tfrt_dht.fill_tensor_with_constant.i32 %t, %ch0 1 : i32\n"
     "  %ch2 = tfrt_dht.print_tensor %t, %ch1\n  tfrt.return\n}\n"),
    ("func.func @f(" + TENSORS + ") {\n  %c = " + CREATE + "\n"
     "  " + THREE % "a, %b, %c" + ") -> ()\n  %f = " + CREATE + "\n"
     "  " + THREE % "d, %e, %f" + ") -> ()\n  %g = " + CREATE + "\n"
     "  " + THREE % "c, %f, %g" + ") -> ()\n  %h = " + CREATE + "\n"
     '  "tfrt_test.relu.i32"(%g, %h) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor) -> ()\n'
     "  tfrt.return\n}\n",
     "func.func @f(" + TENSORS + ") {\n  %c = " + CREATE + "\n  %c0 = tfrt.new.chain\n"
     "  %c1 = " + THREE % "a, %b, %c, %c0" + ", !tfrt.chain) -> !tfrt.chain\n  %f = " + CREATE +
     "\n  %c2 = " + THREE % "d, %e, %f, %c0" + ", !tfrt.chain) -> !tfrt.chain\n"
     "  %c3 = tfrt.merge.chains %c1, %c2 : !tfrt.chain, !tfrt.chain\n  %g = " + CREATE + "\n"
     "  %c4 = " + THREE % "c, %f, %g, %c3" + ", !tfrt.chain) -> !tfrt.chain\n  %h = " + CREATE +
     '\n  %c5 = "tfrt_test.relu.i32"(%g, %h, %c4) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, '
     "!tfrt.chain) -> !tfrt.chain\n  tfrt.return\n}\n"),
]


def run(program, *arguments, text=""):
    """Runs `program`; returns exit code, standard output and standard error."""
    done = subprocess.run([program, *arguments], input=text, capture_output=True, text=True,
                          timeout=120)
    return done.returncode, done.stdout, done.stderr


class TfrtOptTest(unittest.TestCase):

    def test_a_program_is_printed_as_it_was_to_a_file_or_a_pipe(self):
        self.assertEqual(run(TFRT_OPT, text=GOOD), (0, GOOD, ""))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.mlir")
            self.assertEqual(run(TFRT_OPT, "-", "-o", path, text=GOOD), (0, "", ""))
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), GOOD)

    def test_values_are_numbered_unless_their_names_are_asked_for(self):
        text = ("func.func @f(%x: i32) -> i32 {\n"
                "  %y, %z = tfrt.div.i32 %x, %x\n  tfrt.return %z : i32\n}\n")
        self.assertEqual(run(TFRT_OPT, "--keep-value-names", text=text)[1], text)
        self.assertEqual(run(TFRT_OPT, text=text)[1],
                         "func.func @f(%arg0: i32) -> i32 {\n"
                         "  %0:2 = tfrt.div.i32 %arg0, %arg0\n  tfrt.return %0#1 : i32\n}\n")

    def test_passes_run_in_the_order_in_which_they_are_given(self):
        text = ("func.func private @g(%c: !tfrt.chain) -> !tfrt.chain {\n"
                "  %m = tfrt.merge.chains %c : !tfrt.chain\n"
                "  tfrt.return %m : !tfrt.chain\n}\n"
                "func.func @f() -> !tfrt.chain {\n"
                "  %c = tfrt.new.chain\n"
                "  %d = tfrt.call @g(%c) : (!tfrt.chain) -> !tfrt.chain\n"
                "  tfrt.return %d : !tfrt.chain\n}\n")
        self.assertNotIn("merge", run(TFRT_OPT, "-inline", "--canonicalize", text=text)[1])
        self.assertIn("merge", run(TFRT_OPT, "-canonicalize", "-inline", text=text)[1])

    def test_a_missing_chain_is_put_in_or_refused(self):
        text = "func.func @f(%x: i32) {\n  tfrt.print.i32 %x\n  tfrt.return\n}\n"
        translate = (TFRT_TRANSLATE, "-mlir-to-bef", "--no-insert-chains", "-o", os.devnull)
        code, _, errors = run(*translate, text=text)
        self.assertEqual(code, 1)
        self.assertIn("<stdin>:2:3: error: 'tfrt.print.i32' op lacks operand #1, the chain "
                      "'chain'\n", errors)
        self.assertIn("<stdin>:2:3: error: 'tfrt.print.i32' op lacks result #0, the chain "
                      "'chain'\n", errors)
        code, chained, errors = run(TFRT_OPT, "--insert-chains", text=text)
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(run(*translate, text=chained), (0, "", ""))

    def test_examples_of_the_document_on_dependencies(self):
        for free, chained in EXAMPLES:
            texts = []
            for text in (free, chained):
                bef = subprocess.run([TFRT_TRANSLATE, "-mlir-to-bef"], input=text.encode(),
                                     capture_output=True, timeout=120, check=True).stdout
                texts.append(subprocess.run([TFRT_TRANSLATE, "-bef-to-mlir"], input=bef,
                                            capture_output=True, timeout=120, check=True).stdout)
            self.assertEqual(*texts)
            self.assertIn(b"tfrt.new.chain", texts[0])

    def test_text_without_operands_is_read_back(self):
        text = ("func.func @f() -> i32 {\n  %m = \"tfrt.merge.chains\"() : () -> !tfrt.chain\n"
                "  %x = tfrt.constant.i32 1\n  tfrt.return %x : i32\n}\n")
        code, printed, errors = run(TFRT_OPT, text=text)
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(run(TFRT_OPT, text=printed), (0, printed, ""))

    def test_an_op_that_can_not_wait_is_refused(self):
        code, output, errors = run(TFRT_OPT, "--insert-chains", "-allow-unregistered-dialect", text=(
            "func.func @f(%x: i32) {\n  tfrt.print.i32 %x\n"
            "  \"my.effect\"() : () -> ()\n  tfrt.return\n}\n"))
        self.assertEqual((code, output), (1, ""))
        self.assertIn("takes nothing that it could wait for", errors)

    def test_an_error_is_told_with_line_and_caret_and_leaves_no_output(self):
        code, output, errors = run(TFRT_OPT, "-inline", text="func.func @f() {\n  tfrt.retrn\n}\n")
        self.assertEqual((code, output), (1, ""))
        self.assertIn("<stdin>:2:3: error: ", errors)
        self.assertIn("\n  tfrt.retrn\n  ^\n", errors)

    def test_places_in_pieces_are_places_in_the_file(self):
        text = GOOD + "// -----\n" + GOOD + "// -----\nfunc.func @f() {\n  tfrt.retrn\n}\n"
        code, output, errors = run(TFRT_OPT, "-split-input-file", text=text)
        self.assertEqual((code, output), (1, ""))
        self.assertIn("<stdin>:12:3: error: ", errors)
        self.assertIn("\n  tfrt.retrn\n  ^\n", errors)
        code, output, _ = run(TFRT_OPT, "-split-input-file", "--mlir-print-debuginfo",
                              text=GOOD + "// -----\n" + GOOD)
        self.assertEqual(code, 0)
        self.assertIn('loc("<stdin>":7:8)', output)

    def test_a_diagnostic_that_nobody_expected_fails_the_run(self):
        code, output, errors = run(TFRT_OPT, "-verify-diagnostics", text="x.y\n")
        self.assertEqual((code, output), (1, ""))
        self.assertIn("<stdin>:1:1: error: unexpected error: ", errors)
        code, _, errors = run(TFRT_TRANSLATE, "-mlir-to-bef", "-verify-diagnostics",
                              text=GOOD + "// expected-error {{none}}\n")
        self.assertEqual(code, 1)
        self.assertIn('<stdin>:5:4: error: expected error "none" was not produced', errors)

    def test_usage_errors_end_with_2_and_help_with_0(self):
        for arguments in [("--nope",), ("a", "b"), ("-inline=true",), ("-o",)]:
            code, _, errors = run(TFRT_OPT, *arguments)
            self.assertEqual(code, 2, arguments)
            self.assertIn("--help", errors)
        for arguments in [(), ("-mlir-to-bef", "--bef-to-mlir"),
                          ("-bef-to-mlir", "-split-input-file"),
                          ("-bef-to-mlir", "-verify-diagnostics")]:
            code, _, errors = run(TFRT_TRANSLATE, *arguments)
            self.assertEqual(code, 2, arguments)
            self.assertIn("--help", errors)
        for program in [TFRT_OPT, TFRT_TRANSLATE]:
            code, output, errors = run(program, "--help")
            self.assertEqual((code, errors), (0, ""))
            self.assertIn("Exit codes", output)
        for name in ["--canonicalize", "--inline", "--tfrt-print-stream"]:
            self.assertIn(name, run(TFRT_OPT, "--help")[1])

    def test_the_bytes_of_tfrt_have_no_names_of_parameters(self):
        text = "func.func @f(%parameter: i32) -> i32 {\n  tfrt.return %parameter : i32\n}\n"
        for flag, is_there in [("--exact-tfrt-bytes=false", True), ("--exact-tfrt-bytes", False)]:
            done = subprocess.run([TFRT_TRANSLATE, "-mlir-to-bef", flag], input=text.encode(),
                                  capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(b"parameter" in done.stdout, is_there)

    def test_default_names_of_parameters_are_left_out(self):
        text = ("func.func @f(%arg0: i32, %arg1: i32) -> i32 {\n"
                "  %x = tfrt.add.i32 %arg0, %arg1\n  tfrt.return %x : i32\n}\n")
        sizes = []
        for flag in ("--exact-tfrt-bytes=false", "--exact-tfrt-bytes"):
            done = subprocess.run([TFRT_TRANSLATE, "-mlir-to-bef", flag], input=text.encode(),
                                  capture_output=True, timeout=60)
            sizes.append(done.stdout)
        self.assertEqual(*sizes)
        back = subprocess.run([TFRT_TRANSLATE, "-bef-to-mlir"], input=sizes[0],
                              capture_output=True, timeout=60)
        self.assertIn(b"@f(%arg0: i32, %arg1: i32)", back.stdout)

    def test_the_bytes_of_tfrt_have_no_call_options(self):
        text = ("func.func @f(%a: i32) -> i32 {\n  tfrt.return %a : i32\n}\n"
                "func.func @g(%a: i32) -> i32 {\n"
                "  %x = tfrt.call @f(%a) {host = 1 : i32} : (i32) -> i32\n"
                "  tfrt.return %x : i32\n}\n")
        done = subprocess.run([TFRT_TRANSLATE, "-mlir-to-bef", "--exact-tfrt-bytes"],
                              input=text.encode(), capture_output=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, b"")
        self.assertIn(b":5:8: error: TFRT's bytes have no place for the options of this op",
                      done.stderr)


class BigProgramsTest(unittest.TestCase):

    def test_a_long_chain_of_functions_becomes_one(self):
        count = 5000
        text = "".join(
            f"func.func private @f{i}(%x: i32) -> i32 {{\n"
            f"  %y = tfrt.call @f{i + 1}(%x) : (i32) -> i32\n  tfrt.return %y : i32\n}}\n"
            for i in range(count))
        text += (f"func.func private @f{count}(%x: i32) -> i32 {{\n"
                 "  %y = tfrt.add.i32 %x, %x\n  tfrt.return %y : i32\n}\n"
                 "func.func @main(%x: i32) -> i32 {\n"
                 "  %y = tfrt.call @f0(%x) : (i32) -> i32\n  tfrt.return %y : i32\n}\n")
        code, output, errors = run(TFRT_OPT, "-inline", text=text)
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(output, "func.func @main(%arg0: i32) -> i32 {\n"
                                 "  %0 = tfrt.add.i32 %arg0, %arg0\n  tfrt.return %0 : i32\n}\n")

    def test_a_program_that_would_double_for_ever_keeps_calls_and_says_so(self):
        text = "func.func @f0(%x: i32) -> i32 {\n  %y = tfrt.add.i32 %x, %x\n  tfrt.return %y : i32\n}\n"
        for i in range(1, 60):
            text += (f"func.func @f{i}(%x: i32) -> i32 {{\n"
                     f"  %y = tfrt.call @f{i - 1}(%x) : (i32) -> i32\n"
                     f"  %z = tfrt.call @f{i - 1}(%y) : (i32) -> i32\n"
                     "  tfrt.return %z : i32\n}\n")
        code, output, errors = run(TFRT_OPT, "-inline", text=text)
        self.assertEqual(code, 0)
        self.assertIn("warning: this call stays: the program would grow by too many ops", errors)
        self.assertIn("tfrt.call @f", output)
        self.assertLess(output.count("\n"), 250000)

    def test_regions_that_would_nest_too_deep_stay_behind_a_call(self):
        text = "func.func @f0(%n: i32) {\n  tfrt.return\n}\n"
        for i in range(1, 400):
            text += (f"func.func @f{i}(%n: i32) {{\n  tfrt.repeat.i32 %n, %n : i32 {{\n"
                     f"    tfrt.call @f{i - 1}(%n) : (i32) -> ()\n    tfrt.return %n : i32\n  }}\n"
                     "  tfrt.return\n}\n")
        code, output, errors = run(TFRT_OPT, "-inline", text=text)
        self.assertEqual(code, 0)
        self.assertIn("warning: this call stays: regions would nest too deep", errors)
        self.assertEqual(run(TFRT_OPT, text=output)[0], 0)

    def test_a_long_chain_of_merges_becomes_one(self):
        count = 20000
        text = "func.func @f(" + ", ".join(f"%a{i}: i32" for i in range(count)) + ") -> !tfrt.chain {\n"
        text += "  %m0 = tfrt.merge.chains %a0 : i32\n"
        for i in range(1, count):
            text += f"  %m{i} = tfrt.merge.chains %m{i - 1}, %a{i} : !tfrt.chain, i32\n"
        text += f"  tfrt.return %m{count - 1} : !tfrt.chain\n}}\n"
        code, output, errors = run(TFRT_OPT, "-canonicalize", text=text)
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(output.count("tfrt.merge.chains"), 1)
        self.assertEqual(output.count("\n"), 4)

    def test_remarks_are_as_many_as_ops(self):
        count = 20000
        text = "func.func @f(%x: i32) {\n"
        text += "".join(f"  %v{i} = tfrt.add.i32 %x, %x\n" for i in range(count))
        text += "  tfrt.return\n}\n"
        code, _, errors = run(TFRT_OPT, "-tfrt-print-stream", text=text)
        self.assertEqual(code, 0)
        self.assertEqual(errors.count("remark: "), count + 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
