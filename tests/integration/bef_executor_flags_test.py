#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The flags of bef_executor, and the rules by which it prints, as TFRT's has them.

Usage: bef_executor_flags_test.py BEF_EXECUTOR MLIR_TO_BEF BEF_EXECUTOR_SMALL
"""

import os
import re
import sys
import unittest

from bef_runner import BefRunner

RUNNER = BefRunner(translator=os.path.abspath(sys.argv[2]), executor=os.path.abspath(sys.argv[1]))

CHOICES = ["Choosing memory leak check allocator.", "Choosing single-threaded work queue."]

THREE = """
func.func @first() {
  tfrt.return
}
func.func @second() -> i32 {
  %a = tfrt.constant.i32 2
  tfrt.return %a : i32
}
func.func @takes(%a: i32) -> i32 {
  tfrt.return %a : i32
}
func.func @__init__() {
  %c = tfrt.new.chain
  %d = "tfrt_test.print_hello"(%c) : (!tfrt.chain) -> !tfrt.chain
  tfrt.return
}
"""

ALL_OF_THREE = [
    "--- Running 'first':",
    "--- Running 'second':",
    "'second' returned 2",
    "--- Not running 'takes' because it has arguments.",
    "--- Running '__init__':",
    "hello host executor!",
]

FAILS = """
func.func @fails() -> i32 {
  %a = "tfrt_test.fail"() : () -> i32 COMMENT
  tfrt.return %a : i32
}
"""


class BefExecutorFlagsTest(unittest.TestCase):
    def assert_refused(self, *parts, flags):
        """The run ends with 1 and one line about it, which holds all `parts`."""
        lines, errors, code = RUNNER.run(THREE, *flags)
        self.assertEqual(code, 1)
        self.assertEqual(errors.count("\n"), 1, errors)
        for part in parts:
            self.assertIn(part, errors)
        self.assertFalse([line for line in lines if line.startswith("---")])

    def test_functions_run_in_the_order_of_the_file_and_those_with_arguments_are_named(self):
        self.assertEqual(RUNNER.run(THREE), (CHOICES + ALL_OF_THREE, "", 0))

    def test_the_file_comes_from_the_standard_input_unless_it_is_named(self):
        for flags in (), ("-",):
            lines = CHOICES + ALL_OF_THREE
            self.assertEqual(RUNNER.run(THREE, *flags, is_piped=True), (lines, "", 0))

    def test_a_region_is_said_not_to_run_only_if_it_has_arguments(self):
        lines, _, code = RUNNER.run(
            """
            func.func @f() {
              %yes = tfrt.constant.i1 true
              tfrt.if %yes : () -> () {
                tfrt.return
              }
              tfrt.if %yes, %yes : (i1) -> () {
                tfrt.return
              } else {
                tfrt.return
              }
              tfrt.return
            }"""
        )
        skipped = "--- Not running '' because it has arguments."
        self.assertEqual((lines[2:], code), ([skipped, skipped, "--- Running 'f':"], 0))

    def test_some_functions(self):
        lines, errors, code = RUNNER.run(THREE, "--functions=takes,second")
        self.assertEqual((lines[2:], errors, code), (ALL_OF_THREE[1:4], "", 0))

    def test_the_first_function_to_run_is_not_run_again(self):
        init = ALL_OF_THREE[4:]
        lines, _, code = RUNNER.run(THREE, "--test_init_function=__init__")
        self.assertEqual((lines[2:], code), (init + ALL_OF_THREE[:4], 0))
        for names in "second", "second,__init__":
            flags = ["--test_init_function", "__init__", "--functions", names]
            lines, _, code = RUNNER.run(THREE, *flags)
            self.assertEqual((lines[2:], code), (init + ALL_OF_THREE[1:3], 0))

    def test_names_that_are_none_are_refused(self):
        self.assert_refused("there is no function 'third'", flags=["--functions=first,third"])
        for name in "third", "takes":
            part = "there is no function '%s' without arguments" % name
            self.assert_refused(part, flags=["--test_init_function=" + name])

    def test_a_flag_has_one_dash_or_two_and_its_value_behind_a_sign_or_a_blank(self):
        for flags in (
            ["--functions=first"],
            ["-functions=first"],
            ["--functions", "first"],
            ["-functions", "first", "--print_error_code=true", "-check_types"],
        ):
            self.assertEqual(RUNNER.run(THREE, *flags), (CHOICES + ALL_OF_THREE[:1], "", 0))

    def test_each_queue_has_its_line(self):
        name = "Choosing Multi-threaded C++ work queue (%d threads, %d blocking threads) work queue."
        for queue, line in (
            ("s", CHOICES[1]),
            ("mstd:3", name % (3, 256)),
            ("mstd:2,5", name % (2, 5)),
        ):
            lines, _, code = RUNNER.run(THREE, "--work_queue_type=" + queue)
            self.assertEqual((lines, code), ([CHOICES[0], line] + ALL_OF_THREE, 0))
        lines, _, code = RUNNER.run(THREE, "--work_queue_type=mstd")
        self.assertEqual(code, 0)
        self.assertRegex(lines[1], r"\(\d+ threads, 256 blocking threads\) work queue\.$")

    def test_queues_that_are_none_are_refused(self):
        self.assert_refused("'zzz'", "s, mstd", flags=["--work_queue_type=zzz"])
        for queue in "mstd:0", "mstd:two", "mstd:2,", "mstd:2,0", "mstd:100000":
            self.assert_refused("'%s'" % queue, flags=["--work_queue_type=" + queue])

    def test_a_library_that_is_not_there_is_refused(self):
        self.assert_refused("'/nowhere/a.so'", flags=["--shared_libs=/nowhere/a.so"])

    def test_an_executor_without_devices_refuses_a_driver(self):
        lines, said, code = RUNNER.run(
            THREE, "--cuda_library_for_testing=/nowhere/a.so", executor=os.path.abspath(sys.argv[3])
        )
        self.assertEqual(code, 1)
        self.assertNotIn("--- Running 'first':", lines)
        self.assertEqual(len(said.splitlines()), 1)
        self.assertIn("this executor has no kernels for devices; use bef_executor", said)

    def test_each_allocator_has_its_line(self):
        for name, line in (
            ("malloc", "Choosing malloc."),
            ("test_fixed_size_1k", "Choosing fixed size malloc."),
            ("leak_check_allocator", CHOICES[0]),
        ):
            lines, _, code = RUNNER.run(THREE, "--host_allocator_type=" + name)
            self.assertEqual((lines, code), ([line, CHOICES[1]] + ALL_OF_THREE, 0))
        self.assert_refused("'none'", "malloc", flags=["--host_allocator_type=none"])

    def test_an_allocator_that_counts_tells_its_counts(self):
        counts = [
            "HostAllocator profile:",
            "Current number of allocations = %d",
            "Max number of allocations = 1",
            "Total number of allocations = 1",
            "Current number of bytes allocated = %d",
            "Max number of bytes allocated = 4",
        ]
        text = """
          func.func @leak() {
            "tfrt_test.memory_leak_one_int32"() : () -> ()
            tfrt.return
          }"""
        lines, _, code = RUNNER.run(text, "--host_allocator_type=profiled_allocator")
        self.assertEqual(lines[0], "Choosing profiled allocator based on malloc.")
        counted = [line.replace("%d", "1") for line in counts[:4]]
        counted += [line.replace("%d", "4") for line in counts[4:]]
        self.assertEqual((lines[3:9], code), (counted, 0))
        self.assertEqual(lines[9], "AsyncValue and call profile:")
        lines, _, code = RUNNER.run(text)
        leak = "Memory leak detected: 1 alive allocations, 4 alive bytes"
        self.assertEqual((lines[3:], code), (counted + [leak], 1))

    def test_a_profile_counts_each_value(self):
        text = """
          func.func @late() -> i32 {
            %count = tfrt.constant.i32 1000
            %start = tfrt.constant.i32 0
            %sum = tfrt.repeat.i32 %count, %start : i32 {
              %one = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
              %next = "tfrt_test.async_add.i32"(%start, %one) : (i32, i32) -> i32
              tfrt.return %next : i32
            }
            tfrt.return %sum : i32
          }"""
        for queue in ["s", "mstd:2"]:
            lines, _, code = RUNNER.run(text, "--host_allocator_type=profiled_allocator",
                                        "--work_queue_type=" + queue)
            self.assertEqual(code, 0)
            self.assertIn("'late' returned 1000", lines)
            start = lines.index("AsyncValue and call profile:")
            self.assertEqual(lines[start + 1], "Current number of allocations = 0")
            total = int(lines[start + 3].removeprefix("Total number of allocations = "))
            # The constant and the sum of each turn.
            self.assertGreaterEqual(total, 2000)

    def test_a_profile_counts_each_call(self):
        adds = "".join(f"""
            %v{i} = "tfrt_test.async_add.i32"(%v{i - 1}, %v0) : (i32, i32) -> i32"""
                       for i in range(1, 11))
        calls = "".join(f"""
            %r{i} = tfrt.call @late(%one) : (i32) -> (i32)""" for i in range(200))
        text = f"""
          func.func @late(%v0: i32) -> i32 {{{adds}
            tfrt.return %v10 : i32
          }}
          func.func @main() -> i32 {{
            %one = tfrt.constant.i32 1{calls}
            tfrt.return %r199 : i32
          }}"""
        lines, _, code = RUNNER.run(text, "--host_allocator_type=profiled_allocator")
        self.assertEqual(code, 0)
        self.assertIn("'main' returned 11", lines)
        start = lines.index("AsyncValue and call profile:")
        self.assertEqual(lines[start + 1], "Current number of allocations = 0")
        most = int(lines[start + 5].removeprefix("Max number of bytes allocated = "))
        # All calls wait at once, and the memory of each is more than five hundred bytes.
        self.assertGreaterEqual(most, 100000)

    def test_what_each_type_prints_as(self):
        lines, _, code = RUNNER.run(
            """
            func.func @values() -> (i1, i32, i64, f32, f64, !tfrt.chain, !tfrt.string) {
              %a = tfrt.constant.i1 true
              %b = tfrt.constant.i32 -5
              %c = tfrt.constant.i64 9
              %d = tfrt.constant.f32 42.0
              %e = tfrt.constant.f64 -0.1
              %f = tfrt.new.chain
              %g = "tfrt_test.get_string"() {value = "text"} : () -> !tfrt.string
              tfrt.return %a, %b, %c, %d, %e, %f, %g
                : i1, i32, i64, f32, f64, !tfrt.chain, !tfrt.string
            }
            func.func @now() -> (i1, f32) attributes {tfrt.sync} {
              %a = tfrt.constant.i1 false
              %b = tfrt.constant.f32 1.5
              tfrt.return %a, %b : i1, f32
            }"""
        )
        self.assertEqual(
            (lines[2:], code),
            (
                [
                    "--- Running 'values':",
                    "'values' returned 1,-5,9,4.200000e+01,-1.000000e-01,!tfrt.chain value,"
                    "!tfrt.string value",
                    "--- Running 'now':",
                    "'now' returned 0,1.500000e+00",
                ],
                0,
            ),
        )

    def test_an_error_prints_where_the_value_would_with_its_code_on_demand(self):
        text = FAILS.replace("COMMENT", "// expected-error {{runtime error: something bad}}")
        for flags, code_text in ((), ""), (["--print_error_code"], ", code: INTERNAL"):
            lines, errors, code = RUNNER.run(text, *flags)
            returned = "'fails' returned <<error: something bad happened%s>>" % code_text
            self.assertEqual((lines[2:], errors, code), (["--- Running 'fails':", returned], "", 0))

    def test_a_synchronous_function_without_results_prints_its_error(self):
        lines, errors, code = RUNNER.run(
            """
            func.func @now() attributes {tfrt.sync} {
              %a = "tfrt_test.fail_s"() : () -> i32 // expected-error {{something bad}}
              tfrt.return
            }"""
        )
        returned = "'now' returned <<error: something bad happened>>"
        self.assertEqual((lines[2:], errors, code), (["--- Running 'now':", returned], "", 0))

    def test_the_next_function_begins_when_all_of_the_last_one_is_over(self):
        text = """
          func.func @sleeps() -> i32 {
            %us = tfrt.constant.i32 2000
            "tfrt_test.usleep"(%us) : (i32) -> ()
            tfrt.return %us : i32
          }
          func.func @next() {
            tfrt.return
          }"""
        for queue in "s", "mstd:2":
            lines, _, code = RUNNER.run(text, "--work_queue_type=" + queue)
            self.assertEqual((lines[-1], code), ("--- Running 'next':", 0))
            told = ["'sleeps' returned 2000", "Slept for 2000 microseconds"]
            self.assertEqual(sorted(lines[3:5]), told)

    def test_comments_of_all_kinds_must_come_true_once_an_error_names_their_text(self):
        lines, errors, code = RUNNER.run(FAILS.replace("COMMENT", ""))
        self.assertEqual((len(lines), code), (4, 1))
        self.assertRegex(errors, r"^\S*test\.mlir:3:8: error: unexpected error: runtime error: som")
        for kind in "error", "warning", "note", "remark":
            comments = "// expected-error {{bad}}\n  // expected-%s@+1 {{more}}" % kind
            _, errors, code = RUNNER.run(FAILS.replace("COMMENT", comments))
            self.assertEqual(code, 1)
            found = r'^\S*test\.mlir:4:6: error: expected %s "more" was not produced\n$' % kind
            self.assertTrue(re.search(found, errors), errors)
        # No error, no look at the text.
        unmet = "// expected-error@+1 {{more}}\n" + THREE
        self.assertEqual(RUNNER.run(unmet)[1:], ("", 0))

    def test_a_file_that_is_none_or_that_is_not_there_is_one_line(self):
        _, errors, code = RUNNER.run(THREE, "/nowhere/test.bef", is_piped=True)
        self.assertEqual((errors.count("\n"), code), (1, 1))
        self.assertIn("/nowhere/test.bef", errors)
        _, errors, code = RUNNER.run(THREE, os.path.abspath(__file__), is_piped=True)
        self.assertEqual((errors.count("\n"), code), (1, 1))
        self.assertIn("bad BEF file", errors)

    def test_recursion_without_end_is_one_error(self):
        lines, errors, code = RUNNER.run(
            """
            func.func @again(%a: i32) -> i32 {
              %b = tfrt.call @again(%a) : (i32) -> i32
              tfrt.return %b : i32
            }
            func.func @main() -> i32 {
              %a = tfrt.constant.i32 1
              %b = tfrt.call @again(%a) : (i32) -> i32
              tfrt.return %b : i32
            }""",
            "--max_open_calls=1000",
        )
        self.assertEqual((errors, code), ("", 0))
        self.assertIn("one of more than 1000 calls that are open there at once", lines[-1])
        self.assertIn("does the recursion end? bef_executor --max_open_calls raises", lines[-1])

    def test_wrong_usage_ends_with_2(self):
        for flags in (["--nope"], ["one.bef"], ["--deadline_ms=0"], ["--max_open_calls=0"],
                      ["--enable_tracing=maybe"]):
            lines, errors, code = RUNNER.run(THREE, *flags)
            self.assertEqual((lines, code), ([], 2), flags)
            self.assertEqual(errors.count("\n"), 1, errors)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
