#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""libtfrt_mlir_async_runtime.so from outside: its names, and a program in C that is linked with it.

    library_test.py LIBRARY
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

LIBRARY = os.path.abspath(sys.argv[1])
HEADER = os.path.abspath("embedding/mlir_async/mlir_async_runtime.h")
STOCK = "/usr/lib/llvm-22/lib/libmlir_async_runtime.so"

# Ends with a task outstanding, and calls no hook.
PROGRAM = """
#include <stdio.h>
#include "mlir_async_runtime.h"
static void resume(void *token) {
  puts("resumed");
  fflush(stdout);
  mlirAsyncRuntimeEmplaceToken(token);
}
int main(void) {
  void *token = mlirAsyncRuntimeCreateToken();
  mlirAsyncRuntimePrintCurrentThreadId();
  mlirAsyncRuntimeDropRef(token, 1);
  mlirAsyncRuntimeExecute(token, resume);
  return 0;
}
"""


def exported(path):
    lines = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True,
                           check=True).stdout.decode().splitlines()
    # A small letter: a local name that the linker needs for itself; V: of C++.
    return {line.split()[-1] for line in lines if line.split()[-2] in "TDB"}


class LibraryTest(unittest.TestCase):

    def test_it_exports_what_the_header_declares_and_no_more(self):
        with open(HEADER, encoding="utf-8") as file:
            declared = set(re.findall(r"\b(\w+)\(", re.sub(r"//.*", "", file.read())))
        declared &= {name for name in declared if re.match(r"mlirAsync|__mlir_", name)}
        self.assertEqual(len(declared), 27)
        self.assertEqual(exported(LIBRARY), declared)

    def test_it_has_all_that_the_stock_library_has(self):
        if not os.path.exists(STOCK):
            self.skipTest(f"{STOCK} is not installed")
        self.assertEqual(exported(STOCK) - exported(LIBRARY), set())

    def test_it_needs_no_library_of_cxx(self):
        needed = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True,
                                check=True).stdout.decode()
        names = set(re.findall(r"NEEDED.*\[(.*?)\.so", needed))
        self.assertLessEqual(names, {"ld-linux-x86-64", "ld-linux-aarch64", "libc", "libm"})

    def test_a_linked_program_that_ends_early_has_its_tasks_done(self):
        with tempfile.TemporaryDirectory() as folder:
            source, program = os.path.join(folder, "early.c"), os.path.join(folder, "early")
            with open(source, "w", encoding="utf-8") as file:
                file.write(PROGRAM)
            os.symlink(LIBRARY, os.path.join(folder, "libtfrt_mlir_async_runtime.so.0"))
            subprocess.run(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I",
                            os.path.dirname(HEADER), source, LIBRARY, "-Wl,-rpath," + folder, "-o",
                            program], check=True)
            for _ in range(20):
                done = subprocess.run([program], capture_output=True, timeout=60, check=True)
                self.assertRegex(done.stdout.decode(), r"^Current thread id: \d+\nresumed\n$")


if __name__ == "__main__":
    del sys.argv[1:]
    unittest.main(verbosity=2)
