#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that MLIR's own tools compile, on libtfrt_mlir_async_runtime.so.

    stock_tools_test.py LIBRARY PROGRAM...

Each program is lowered by mlir-opt, run by mlir-runner with and without optimisation and with one
and several threads, then compiled ahead of time and linked with gcc. Its comments say what it
prints, which passes it needs first, and whether MLIR drops references too often in it. Skipped
where MLIR's tools are not installed (Debian: mlir-22-tools, libmlir-22-dev).
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LIBRARY = os.path.abspath(sys.argv[1])
PROGRAMS = sys.argv[2:]
OPT, RUNNER = shutil.which("mlir-opt-22"), shutil.which("mlir-runner-22")
LIBRARIES = "/usr/lib/llvm-22/lib"
UTILITIES = [os.path.join(LIBRARIES, f"libmlir_{name}.so") for name in
             ["c_runner_utils", "runner_utils"]]

TO_RUNTIME = ("async-func-to-async-runtime,async-to-async-runtime,"
              "func.func(async-runtime-ref-counting{})")
TO_LLVM = ("convert-async-to-llvm,convert-scf-to-cf,convert-vector-to-llvm,"
           "finalize-memref-to-llvm,convert-arith-to-llvm,convert-func-to-llvm,"
           "convert-cf-to-llvm,reconcile-unrealized-casts")

REPORT = re.compile(r"(\d+) live objects, (\d+) references dropped too often, "
                    r"(\d+) uses of objects that were gone, (\d+) settled twice")

# The functions that compiled programs call beside MLIR's runtime.
MAIN = """
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
void program_main(void);
void __mlir_execution_engine_destroy(void);
void printI64(int64_t number) { printf("%" PRId64, number); }
void printNewline(void) { putchar(10); }
double rtclock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
int main(void) {
  program_main();
  __mlir_execution_engine_destroy();
  return 0;
}
"""


def comment(path, name):
    """What the comment `// NAME: ...` of a program says, or None."""
    with open(path, encoding="utf-8") as file:
        found = re.search(rf"^// {name}: (.*)$", file.read(), re.MULTILINE)
    return found.group(1) if found else None


def execute(command, **variables):
    done = subprocess.run(command, env=dict(os.environ, TFRT_MLIR_ASYNC_REPORT="1", **variables),
                          capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class StockToolsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.storage = tempfile.TemporaryDirectory()
        cls.main = cls.path("main.c")
        with open(cls.main, "w", encoding="utf-8") as file:
            file.write(MAIN)

    @classmethod
    def tearDownClass(cls):
        cls.storage.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.storage.name, name)

    def lower(self, program, cancels_pairs=True):
        first = comment(program, "PASSES")
        passes = [first] if first else []
        passes.append(TO_RUNTIME.format(",async-runtime-ref-counting-opt" if cancels_pairs else ""))
        lowered = self.path(os.path.basename(program) + ".lowered")
        code, _, errors = execute([OPT, f"--pass-pipeline=builtin.module({','.join(passes)},"
                                   f"{TO_LLVM})", program, "-o", lowered])
        self.assertEqual((program, code, errors), (program, 0, ""))
        return lowered

    def check(self, program, result):
        """Output, exit status, and that this runtime was used and has nothing left."""
        code, output, errors = result
        self.assertEqual((program, code, output.split()),
                         (program, 0, comment(program, "OUTPUT").split()), errors)
        report = REPORT.search(errors)
        self.assertIsNotNone(report, errors)
        live, *misuses = [int(number) for number in report.groups()]
        self.assertEqual((program, live), (program, 0))
        if comment(program, "DROPS"):
            self.assertGreater(misuses[0], 0)
        else:
            self.assertEqual((program, misuses), (program, [0, 0, 0]))

    def run_lowered(self, lowered, level, threads):
        return execute([RUNNER, "-e", "main", "-entry-point-result=void", level,
                        "-shared-libs=" + ",".join([*UTILITIES, LIBRARY]), lowered],
                       TFRT_MLIR_ASYNC_THREADS=threads)

    def test_each_program_in_the_runner(self):
        for program in PROGRAMS:
            lowered = self.lower(program)
            for level, threads in [("-O0", "2"), ("-O3", "1"), ("-O3", "8")]:
                self.check(program, self.run_lowered(lowered, level, threads))

    def test_each_program_with_all_counts(self):
        for program in PROGRAMS:
            self.check(program, self.run_lowered(self.lower(program, False), "-O1", "2"))

    def link(self, program):
        """Compiles `program` ahead of time and links it with the library by gcc."""
        lowered, item = self.lower(program), self.path("program.o")
        code, _, errors = execute([RUNNER, "-e", "main", "-entry-point-result=void", "-O2",
                                   "-dump-object-file", f"-object-filename={item}",
                                   "-shared-libs=" + ",".join([*UTILITIES, LIBRARY]), lowered])
        self.assertEqual((program, code), (program, 0), errors)
        subprocess.run(["objcopy", "--redefine-sym", "main=program_main", item], check=True)
        executable = self.path("program")
        subprocess.run(["gcc", "-no-pie", self.main, item, LIBRARY, "-lm", "-o", executable,
                        "-Wl,-rpath," + self.path("")], check=True)
        # The loader looks for the name that the library gives itself.
        if not os.path.exists(self.path("libtfrt_mlir_async_runtime.so.0")):
            os.symlink(LIBRARY, self.path("libtfrt_mlir_async_runtime.so.0"))
        return executable

    def test_each_program_ahead_of_time(self):
        for program in PROGRAMS:
            self.check(program, execute([self.link(program)]))

    def test_valgrind_finds_nothing(self):
        valgrind = shutil.which("valgrind")
        if not valgrind:
            self.skipTest("valgrind is not installed")
        for name in ["nested", "errors", "two_awaits"]:
            program = next(path for path in PROGRAMS if os.path.basename(path) == name + ".mlir")
            self.check(program, execute([valgrind, "-q", "--error-exitcode=99", "--leak-check=full",
                                         self.link(program)]))


if __name__ == "__main__":
    if not OPT or not RUNNER or not all(os.path.exists(path) for path in UTILITIES):
        print("SKIPPED: MLIR's tools are not installed (mlir-22-tools, libmlir-22-dev)")
        sys.exit(0)
    del sys.argv[1:]
    unittest.main(verbosity=2)
