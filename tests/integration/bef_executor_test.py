#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What bef_executor prints, and how it ends, besides the results of functions.

Usage: bef_executor_test.py BEF_EXECUTOR BEF_EXECUTOR_DEBUG_TRACING MLIR_TO_BEF
"""

import os
import subprocess
import sys
import tempfile
import unittest

from bef_runner import BefRunner

BEF_EXECUTOR, DEBUG_TRACING, MLIR_TO_BEF = (os.path.abspath(path) for path in sys.argv[1:4])
RUNNER = BefRunner(MLIR_TO_BEF, BEF_EXECUTOR)

HELLO = """
func.func @hello() {
  %a = tfrt.new.chain
  %b = "tfrt_test.print_hello"(%a) : (!tfrt.chain) -> !tfrt.chain
  tfrt.return
}
"""


class BefExecutorTest(unittest.TestCase):
    def run_program(self, text, *flags, executor=BEF_EXECUTOR):
        """The lines behind those about the set-up, what is said of errors, and the exit code."""
        lines, errors, code = RUNNER.run(text, *flags, executor=executor)
        return lines[2:], errors, code

    def test_metrics_are_written_to_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "metrics")
            lines, errors, code = self.run_program(HELLO, "--metrics_file=" + path)
            self.assertEqual((lines[-1], errors, code), ("hello host executor!", "", 0))
            with open(path, encoding="utf-8") as stream:
                metrics = stream.read().splitlines()
        self.assertIn("# TYPE tfrt_function_seconds histogram", metrics)
        self.assertIn("tfrt_function_seconds_count 1", metrics)
        self.assertTrue(any(line.startswith('tfrt_version{text="') for line in metrics), metrics)
        # Known before: nothing runs.
        lines, errors, code = self.run_program(HELLO, "--metrics_file=/nowhere/metrics")
        self.assertEqual((lines, code), ([], 1))
        self.assertIn("/nowhere/metrics", errors)

    def test_a_leak_is_counted_and_is_a_failure(self):
        text = """
          func.func @leak() {
            "tfrt_test.memory_leak_one_int32"() : () -> ()
            tfrt.return
          }"""
        lines, _, code = self.run_program(text)
        self.assertEqual(code, 1)
        self.assertEqual(lines[-1], "Memory leak detected: 1 alive allocations, 4 alive bytes")
        self.assertIn("Total number of allocations = 1", lines)
        lines, _, code = self.run_program(text, "--host_allocator_type=malloc")
        self.assertEqual((lines, code), (["--- Running 'leak':"], 0))
        lines, _, code = self.run_program(text, "--host_allocator_type=profiled_allocator")
        self.assertEqual((len(lines), code), (13, 0))

    def test_the_fixed_size_allocator_refuses_and_tells(self):
        lines, _, code = self.run_program(
            """
            func.func @tensors() {
              %a = tfrt_dht.create_uninitialized_tensor.f32.1 [32 : i64]
              // expected-error@+1 {{Cannot allocate tensor}}
              %b = tfrt_dht.create_uninitialized_tensor.f32.1 [1024 : i64]
              tfrt.return
            }""",
            "--host_allocator_type=test_fixed_size_1k",
        )
        self.assertEqual(code, 0)
        self.assertEqual(
            sorted(lines[1:]),
            [
                "Allocating 192 bytes.",
                "Attempted to allocate 4160 bytes.",
                "Deallocating 192 bytes.",
            ],
        )

    def test_the_code_of_an_error_is_printed_on_demand_for_asynchronous_functions(self):
        text = """
          func.func @late() -> i32 {
            %a = "tfrt_test.fail"() : () -> i32
            tfrt.return %a : i32
          }
          func.func @now() attributes {tfrt.sync} {
            %a = "tfrt_test.fail_s"() : () -> i32
            tfrt.return
          }"""
        lines, errors, code = self.run_program(text, "--print_error_code")
        self.assertEqual(code, 1)
        self.assertEqual(
            lines,
            [
                "--- Running 'late':",
                "'late' returned <<error: something bad happened, code: INTERNAL>>",
                "--- Running 'now':",
                "'now' returned <<error: something bad happened>>",
            ],
        )
        self.assertRegex(errors, r"test.mlir:3:\d+: error: unexpected error: runtime error: some")
        self.assertRegex(errors, r"test.mlir:7:\d+: error: unexpected error: runtime error: some")

    def test_an_error_that_no_result_shows_is_told(self):
        text = """
          func.func @unused() -> i32 {
            "tfrt_test.fail"() : () -> i32 COMMENT
            %a = "tfrt_test.report_error_async"() : () -> i32 COMMENT
            %b = tfrt.add.i32 %a, %a
            %c = tfrt.constant.i32 5
            tfrt.return %c : i32
          }"""
        lines, errors, code = self.run_program(text.replace("COMMENT", ""))
        self.assertEqual((lines[-1], code), ("'unused' returned 5", 1))
        self.assertEqual(errors.count("error: unexpected error: runtime error: something"), 2)
        self.assertRegex(errors, r"test.mlir:3:\d+: ")
        self.assertRegex(errors, r"test.mlir:4:\d+: ")
        for queue in "s", "mstd:4":
            _, errors, code = self.run_program(
                text.replace("COMMENT", "// expected-error-re {{something {{bad|good}} happened}}"),
                "--work_queue_type=" + queue,
            )
            self.assertEqual((errors, code), ("", 0))

    def test_what_leads_to_a_nonstrict_kernel_goes_first(self):
        lines, errors, code = self.run_program(
            """
            func.func @branch() {
              %independent = tfrt.new.chain
              %yes = tfrt.constant.i1 true
              %one = tfrt.constant.i32 1
              %late = "tfrt_test.async_add.i32"(%one, %one) : (i32, i32) -> i32
              tfrt.if %yes, %one, %late : (i32, i32) -> () {
                %ch = tfrt.new.chain
                tfrt.print.i32 %one, %ch
                tfrt.print.i32 %late, %ch
                tfrt.return
              }
              %done = "tfrt_test.print_hello"(%independent) : (!tfrt.chain) -> !tfrt.chain
              tfrt.return
            }""",
            "--work_queue_type=s",
        )
        self.assertEqual((errors, code), ("", 0))
        self.assertEqual(lines[-3:], ["int32 = 1", "hello host executor!", "int32 = 2"])

    def test_an_error_that_is_expected_must_come(self):
        _, errors, code = self.run_program(
            """
            func.func @one() {
              "tfrt_test.fail"() : () -> i32 // expected-error {{something bad happened}}
              // expected-error@+1 {{something else}}
              %a = tfrt.new.chain
              tfrt.return
            }"""
        )
        self.assertEqual(code, 1)
        self.assertIn('expected error "something else" was not produced', errors)

    def test_the_error_of_a_native_function_has_no_place_and_is_not_verified(self):
        lines, errors, code = self.run_program(
            "func.func private @native_error() -> i32 attributes {tfrt.native}"
        )
        self.assertEqual((errors, code), ("", 0))
        self.assertEqual(lines[-1], "'native_error' returned <<error: something bad happened>>")

    def test_a_native_function_that_is_not_there_is_named(self):
        lines, errors, code = self.run_program(
            "func.func private @nobody(i32) -> i32 attributes {tfrt.native}"
        )
        self.assertEqual((lines, code), ([], 1))
        self.assertIn("native function 'nobody' is not registered", errors)

    def test_an_asynchronous_kernel_in_a_synchronous_function_is_refused_at_its_place(self):
        _, errors, code = self.run_program(
            """
            func.func @f() attributes {tfrt.sync} {
              %a = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
              tfrt.return
            }"""
        )
        self.assertEqual(code, 1)
        self.assertIn("'tfrt_test.async_constant.i32' has no synchronous form", errors)
        self.assertIn("test.mlir:3", errors)

    def test_a_function_ends_at_its_deadline(self):
        lines, _, code = self.run_program(
            """
            func.func @turn(%x: i32) -> (i32, i1) {
              %yes = tfrt.constant.i1 true
              tfrt.return %x, %yes : i32, i1
            }
            func.func @forever() -> i32 {
              %x = tfrt.constant.i32 1
              %yes = tfrt.constant.i1 true
              %y = tfrt.while %yes @turn(%x) parallel_iterations(1) : (i32) -> (i32)
              tfrt.return %y : i32
            }""",
            "--deadline_ms=20",
        )
        self.assertEqual(code, 0)
        self.assertEqual(
            lines[-1],
            "'forever' returned <<error: the deadline of the request has passed>>",
        )

    def assert_measured(self, lines, name, count):
        """The lines are those of the benchmark `name`, all of them and in their order."""
        times = [
            what + which
            for what in ("Time ", "CPU ")
            for which in ("Min(ns)", "50%(ns)", "95%(ns)", "99%(ns)")
        ]
        wanted = ["Duration(ns)", "Count", *times, "CPU utilization(percent)"]
        self.assertEqual([line.split(":")[:3] for line in lines], [["BM", name, w] for w in wanted])
        for line in lines:
            self.assertRegex(line, r": \d+$")
        self.assertIn("BM:%s:Count: %d" % (name, count), lines)

    def test_an_asynchronous_region_is_measured(self):
        text = """
          func.func @measure() {
            %a = tfrt.constant.i32 3
            tfrt_test.benchmark "add.i32"(%a : i32) duration_secs = 60, max_count = COUNT {
              %b = tfrt.add.i32 %a, %a
              tfrt.return %b : i32
            }
            tfrt.return
          }"""
        for count in "25", "25, num_warmup_runs = 4":
            lines, _, code = self.run_program(text.replace("COUNT", count))
            self.assertEqual((lines[1], code), ("--- Running 'measure':", 0))
            self.assert_measured(lines[2:], "add.i32", 25)

    def test_a_synchronous_function_is_measured(self):
        text = """
          func.func @work(%a: i32) attributes {tfrt.sync} {
            %b = tfrt.add.i32 %a, %a
            tfrt.return
          }
          func.func @measure() attributes {tfrt.sync} {
            %a = tfrt.constant.i32 3
            tfrt_test.sync_benchmark @work(%a : i32) duration_secs = 60, max_count = COUNT
            tfrt.return
          }"""
        lines, _, code = self.run_program(text.replace("COUNT", "25"))
        self.assertEqual(code, 0)
        self.assert_measured(lines[2:], "work", 25)
        lines, _, code = self.run_program(text.replace("COUNT", "0"))
        self.assertEqual(
            (lines[-1], code),
            ("'measure' returned <<error: max_count must be at least 1>>", 1),
        )

    def test_a_synchronous_loop_ends_at_the_deadline(self):
        lines, _, code = self.run_program(
            """
            func.func @turn(%x: i32) -> (i32, i1) attributes {tfrt.sync} {
              %yes = tfrt.constant.i1 true
              %y = tfrt.add.i32 %x, %x
              tfrt.return %y, %yes : i32, i1
            }
            func.func @forever() -> i32 attributes {tfrt.sync} {
              %x = tfrt.constant.i32 1
              %yes = tfrt.constant.i1 true
              %y = tfrt.while %yes @turn(%x) parallel_iterations(1) : (i32) -> (i32)
              tfrt.return %y : i32
            }""",
            "--deadline_ms=20",
        )
        self.assertEqual(
            lines[-1],
            "'forever' returned <<error: the deadline of the request has passed>>",
        )
        self.assertEqual(code, 0)

    def test_independent_streams_run_side_by_side(self):
        # Each of them is as dear as the threshold; one goes on here, the other on a worker.
        lines, _, code = self.run_program(
            """
            module attributes {tfrt.cost_threshold = 10 : i64} {
              func.func @threads() -> (i32, i32, i32) {
                %c = tfrt.new.chain
                %a = "tfrt_test.get_thread_id"(%c) : (!tfrt.chain) -> i32
                %d = tfrt.merge.chains %a : i32
                %x = "tfrt_test.get_thread_id"(%d) : (!tfrt.chain) -> i32
                %y = "tfrt_test.get_thread_id"(%d) : (!tfrt.chain) -> i32
                tfrt.return %a, %x, %y : i32, i32, i32
              }
            }""",
            "--work_queue_type=mstd:2",
        )
        self.assertEqual((len(lines), code), (2, 0))
        self.assertIn(lines[-1], ["'threads' returned 0,0,1", "'threads' returned 0,1,0"])

    def test_a_late_condition_and_a_sleep_that_a_chain_waits_for(self):
        lines, _, code = self.run_program(
            """
            func.func @late() -> i1 {
              %a = "tfrt_test.async_constant.i1"() {value = true} : () -> i1
              tfrt.return %a : i1
            }
            func.func @asleep() -> !tfrt.chain {
              %us = tfrt.constant.i32 10
              %c = "tfrt_test.blocking.usleep"(%us) : (i32) -> !tfrt.chain
              tfrt.return %c : !tfrt.chain
            }"""
        )
        self.assertEqual(
            (lines[1:], code),
            (
                [
                    "'late' returned 1",
                    "--- Running 'asleep':",
                    "Slept for 10 microseconds",
                    "'asleep' returned !tfrt.chain value",
                ],
                0,
            ),
        )

    def test_log_lines_come_behind_what_was_printed_before(self):
        text = """
          func.func @told() {
            %s = "tfrt_test.get_string"() {value = "news"} : () -> !tfrt.string
            %c = tfrt.new.chain
            %d = "tfrt_test.logging"(%s, %c) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
            tfrt.return
          }"""
        with tempfile.TemporaryDirectory() as folder:
            bef = os.path.join(folder, "test.bef")
            subprocess.run([MLIR_TO_BEF, "-", "-o", bef], input=text.encode(), check=True)
            result = subprocess.run(
                [BEF_EXECUTOR, bef],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                universal_newlines=True,
                check=True,
            )
        lines = result.stdout.splitlines()[2:]
        self.assertEqual(lines[0], "--- Running 'told':")
        self.assertEqual(
            [line.split(": ", 1)[1] for line in lines[1:7]],
            [
                "from TFRT_LOG(INFO): news",
                "from TFRT_LOG(WARNING): news",
                "from TFRT_LOG(ERROR): news",
                "from TFRT_LOG_IF(INFO, true): news",
                "from TFRT_LOG_IF(WARNING, true): news",
                "from TFRT_LOG_IF(ERROR, true): news",
            ],
        )

    def test_scopes_are_printed_while_they_run(self):
        lines, _, code = self.run_program(
            HELLO, "--enable_tracing", "--tracing_level=debug", executor=DEBUG_TRACING
        )
        self.assertEqual(code, 0)
        self.assertEqual(
            lines,
            [
                "--- Running 'hello':",
                "Scope:Bef Executor",
                "Scope:Function: hello",
                "Scope:BEFExecutor::ProcessReadyKernels",
                "Scope:tfrt.new.chain",
                "End Scope",
                "Scope:tfrt_test.print_hello",
                "hello host executor!",
                "End Scope",
                "End Scope",
                "End Scope",
                "End Scope",
            ],
        )
        lines, _, _ = self.run_program(HELLO, "--enable_tracing", executor=DEBUG_TRACING)
        self.assertEqual(lines.count("End Scope"), 2)

    def test_what_was_traced_is_logged_at_the_end(self):
        lines, errors, code = self.run_program(HELLO, "--enable_tracing", "--tracing_level=debug")
        self.assertEqual((lines[1:], code), (["hello host executor!"], 0))
        self.assertRegex(errors, r"thread 0: kernel 'tfrt_test.print_hello' took \d+ ns")
        _, errors, code = self.run_program(HELLO, "--enable_tracing", "--tracing_level=loud")
        self.assertEqual(code, 1)
        self.assertIn("--tracing_level=loud", errors)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
