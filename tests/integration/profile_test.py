#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Costs of ops choose the streams: those of the text, of a profile, of a kernel library.

Usage: profile_test.py BIN_FOLDER
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

BIN = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "meet.c")
PATIENCE_S = 100
KERNELS = 200


def run(tool, *arguments, stdin=b"", cwd=None):
    return subprocess.run([os.path.join(BIN, tool), *arguments], input=stdin, cwd=cwd,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE_S,
                          check=False)


def sum_of(kernel, attributes=""):
    """A program that sums the numbers of many kernels by a chain of adds."""
    lines = ["func.func @main() -> i32 {", "  %s0 = tfrt.constant.i32 0"]
    for i in range(KERNELS):
        lines.append("  %%k%d = %s %%s0%s" % (i, kernel, attributes))
        lines.append("  %%s%d = tfrt.add.i32 %%s%d, %%k%d" % (i + 1, i, i))
    return "\n".join(lines + ["  tfrt.return %%s%d : i32" % KERNELS, "}", ""])


class ProfileTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.library = os.path.join(cls.folder.name, "libmeet.so")
        subprocess.run(["gcc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC",
                        "-shared", "-I.", SOURCE, "-o", cls.library], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name, text=None):
        path = os.path.join(self.folder.name, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def profile(self, **times):
        """The path of a profile in which the kernels `meet.NAME` take so many nanoseconds."""
        ops = [{"kernel": "meet." + name, "count": 1, "median_ns": time}
               for name, time in times.items()]
        return self.path("made.json", json.dumps({"tfrt_profile": 1, "ops": ops}))

    def streams(self, program, *flags):
        """The streams that the kernels, not the adds, of a program are in."""
        done = run("tfrt_opt", "--shared_libs=" + self.library, "-tfrt-print-stream", *flags,
                   program)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.findall(r"remark: stream id: (\d+),[^\n]*\n[^\n]* meet\.", done.stderr.decode())
        self.assertEqual(len(found), KERNELS)
        return len(set(found))

    def assert_parallel(self, program, *flags):
        """The kernels run at once, by each way to run a program."""
        translated = run("mlir_to_bef", "--shared_libs=" + self.library, *flags, program)
        self.assertEqual(translated.returncode, 0, translated.stderr)
        done = run("bef_executor", "--work_queue_type=mstd:3", "--shared_libs=" + self.library,
                   stdin=translated.stdout)
        self.assertIn(b"'main' returned %d\n" % KERNELS, done.stdout, done.stderr)
        done = run("tfrt", "run", "--threads=3", "--shared_libs=" + self.library, *flags, program)
        self.assertEqual((done.returncode, done.stdout), (0, b"'main' returned %d\n" % KERNELS),
                         done.stderr)

    def test_a_library_says_that_its_kernels_are_worth_a_thread(self):
        program = self.path("known.mlir", sum_of("meet.known"))
        self.assertGreaterEqual(self.streams(program), KERNELS)
        self.assert_parallel(program)

    def test_a_profile_says_it(self):
        for name in ("unknown", "silent"):
            program = self.path(name + ".mlir", sum_of("meet." + name))
            self.assertLessEqual(self.streams(program), 2)
            flag = "--use-profile=" + self.profile(**{name: 1000000})
            self.assertGreaterEqual(self.streams(program, flag), KERNELS)
            self.assert_parallel(program, flag)

    def test_the_text_says_it_first(self):
        program = self.path("text.mlir", sum_of("meet.known", " {_tfrt_cost = 1 : i64}"))
        self.assertLessEqual(self.streams(program), 2)
        flag = "--use-profile=" + self.profile(known=1000000)
        self.assertLessEqual(self.streams(program, flag), 2)
        program = self.path("text.mlir", sum_of("meet.unknown", " {_tfrt_cost = 10000 : i64}"))
        self.assert_parallel(program)

    def test_a_profile_says_that_a_kernel_of_the_table_is_cheap(self):
        program = self.path("cheap.mlir", sum_of("meet.known"))
        self.assertLessEqual(self.streams(program, "--use-profile=" + self.profile(known=50)), 2)

    TWICE = ("func.func @twice(%x: i32) -> i32 {\n"
             "  %y = tfrt.add.i32 %x, %x\n"
             "  tfrt.return %y : i32\n}\n"
             "func.func @main() -> i32 {\n"
             "  %x = tfrt.constant.i32 21\n"
             "  %y = tfrt.call @twice(%x) HOST : (i32) -> i32\n"
             "  %z = tfrt.call @twice(%y) : (i32) -> i32\n"
             "  tfrt.return %z : i32\n}\n")

    def check_times(self, path):
        with open(path, encoding="utf-8") as file:
            profile = json.load(file)
        self.assertEqual(profile["tfrt_profile"], 1)
        self.assertEqual([(op["kernel"], os.path.basename(op["file"]), op["line"], op["column"],
                           op["count"]) for op in profile["ops"]],
                         [("tfrt.add.i32", "twice.mlir", 2, 8, 2),
                          ("tfrt.constant.i32", "twice.mlir", 6, 8, 1),
                          ("tfrt.call", "twice.mlir", 7, 8, 1),
                          ("tfrt.call", "twice.mlir", 8, 8, 1)])
        for op in profile["ops"]:
            self.assertGreaterEqual(op["median_ns"], 0)

    def test_a_run_writes_the_times_of_its_ops(self):
        program = self.path("twice.mlir", self.TWICE.replace("HOST ", ""))
        times = self.path("times.json")
        self.assertEqual(run("tfrt", "run", "--profile=" + times, program).returncode, 0)
        self.check_times(times)
        os.remove(times)
        image = run("mlir_to_bef", program).stdout
        done = run("bef_executor", "--profile=" + times, stdin=image)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_times(times)
        # Read back, by the place; the folder doesn't count.
        done = run("tfrt_opt", "--use-profile=" + times, "twice.mlir", cwd=self.folder.name)
        self.assertEqual(len(re.findall(rb"_tfrt_cost = \d+ : i64", done.stdout)), 4, done.stdout)

    def test_all_hosts_write_into_one_profile(self):
        program = self.path("twice.mlir", self.TWICE.replace("HOST", "{host = 1 : i32}"))
        times = self.path("times.json")
        done = run("tfrt", "run", "--local", "2", "--profile=" + times, program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_times(times)

    def test_the_place_goes_before_the_name(self):
        program = self.path("place.mlir", self.TWICE.replace("HOST ", ""))
        ops = [{"kernel": "tfrt.call", "file": "elsewhere/place.mlir", "line": line, "column": 8,
                "median_ns": time, "new_key": "skipped"}
               for line, time in ((7, 500), (77, 70000), (78, 80000), (79, 90000))]
        profile = self.path("place.json", json.dumps({"tfrt_profile": 1, "ops": ops}))
        done = run("tfrt_opt", "--use-profile=" + profile, program)
        self.assertEqual(re.findall(rb"_tfrt_cost = (\d+) : i64", done.stdout), [b"5", b"800"])

    def test_bad_profiles_are_refused_in_one_line(self):
        program = self.path("twice.mlir", self.TWICE.replace("HOST ", ""))
        op = '{"kernel": "a.b", "median_ns": %s}'
        for text, said in (
                ("", "1: this is no profile"),
                ("{", "no JSON"),
                ("[]", "1: this is no profile"),
                ('{"ops": []}', '"tfrt_profile" is its first key'),
                ('{"tfrt_profile": 2, "ops": []}', "another version"),
                ('{"tfrt_profile": "x", "ops": []}', "no number"),
                ('{"tfrt_profile": 1}', 'lacks the key "ops"'),
                ('{"tfrt_profile": 1, "ops": {}}', "is a list"),
                ('{"tfrt_profile": 1, "ops": [[]]}', "is a mapping"),
                ('{"tfrt_profile": 1,\n"ops": [\n{"kernel": "a.b"}]}', '3: this op lacks'),
                ('{"tfrt_profile": 1, "ops": [{"kernel": []}]}', "a number or a text"),
                ('{"tfrt_profile": 1, "ops": [%s]}' % (op % "-1"), "no number"),
                ('{"tfrt_profile": 1, "ops": [%s]}' % (op % "1.5"), "no number"),
                ('{"tfrt_profile": 1, "ops": [%s]}' % (op % "99999999999999999999"), "too large"),
                ('{"tfrt_profile": 1, "ops": [], "more": 1}', "no more keys"),
                ('{"tfrt_profile": 1, "ops": []}\n---\n{}', "no more than one")):
            bad = self.path("bad.json", text)
            for command in (("tfrt", "run"), ("mlir_to_bef",), ("tfrt_opt",), ):
                with self.subTest(text=text, command=command):
                    done = run(*command, "--use-profile=" + bad, program)
                    error = done.stderr.decode()
                    self.assertIn(done.returncode, (1, 2), error)
                    self.assertEqual((error.count("\n"), done.stdout), (1, b""), error)
                    self.assertIn("bad.json:", error)
                    self.assertIn(said, error)

    def test_a_profile_goes_with_a_text(self):
        program = self.path("twice.mlir", self.TWICE.replace("HOST ", ""))
        image = self.path("twice.bef")
        self.assertEqual(run("mlir_to_bef", program, "-o", image).returncode, 0)
        flag = "--use-profile=" + self.profile(known=1)
        done = run("tfrt", "run", flag, image)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"twice.bef is BEF", done.stderr)
        done = run("mlir_to_bef", "--exact-tfrt-bytes", flag, program)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"leave out --use-profile", done.stderr)
        done = run("tfrt", "run", "--use-profile=nowhere.json", program)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"nowhere.json", done.stderr)


if __name__ == "__main__":
    unittest.main()
