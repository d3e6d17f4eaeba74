#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""libtfrt_mgpu.so from outside: its names, and programs that MLIR's own tools compile.

    stock_tools_test.py MGPU_LIBRARY ASYNC_LIBRARY PROGRAM...

Each program runs on the CPU as a device. It is lowered in one process and in two: MLIR 22 gives
streams in the place of events in some pipelines of one. Programs are skipped where MLIR's tools are
not installed (Debian: mlir-22-tools, libmlir-22-dev).
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LIBRARY, ASYNC_LIBRARY = [os.path.abspath(path) for path in sys.argv[1:3]]
PROGRAMS = sys.argv[3:]
HEADER = "embedding/mgpu/mgpu.h"
OPT, RUNNER = shutil.which("mlir-opt-22"), shutil.which("mlir-runner-22")
UTILITIES = [f"/usr/lib/llvm-22/lib/libmlir_{name}.so" for name in
             ["c_runner_utils", "runner_utils"]]

FIRST = "func.func(gpu-async-region),gpu-to-llvm{use-bare-pointers-for-kernels=1}"
SECOND = ("async-to-async-runtime,async-runtime-ref-counting,convert-async-to-llvm,"
          "convert-scf-to-cf,convert-vector-to-llvm,finalize-memref-to-llvm,convert-arith-to-llvm,"
          "convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts")

# It ends while modules are still loaded, which destructors of the compiled program unload.
MAIN = """
#include <stdio.h>
void program_main(void);
void printF64(double number) { printf("%g", number); }
void printNewline(void) { putchar(10); }
int main(void) {
  program_main();
  return 0;
}
"""


def lower(text, *passes):
    done = subprocess.run([OPT, f"--pass-pipeline=builtin.module({','.join(passes)})"], input=text,
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


class MgpuTest(unittest.TestCase):

    def test_it_exports_what_the_header_declares_and_no_more(self):
        with open(HEADER, encoding="utf-8") as file:
            declared = set(re.findall(r"\b(mgpu\w+)\(", re.sub(r"//.*", "", file.read())))
        lines = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True,
                               check=True).stdout.decode().splitlines()
        exported = {line.split()[-1] for line in lines if line.split()[-2].isupper()}
        self.assertEqual(len(declared), 24)
        self.assertEqual(exported, declared)

    @unittest.skipUnless(OPT and RUNNER and all(os.path.exists(path) for path in UTILITIES),
                         "MLIR's tools are not installed (mlir-22-tools, libmlir-22-dev)")
    def test_each_program_on_the_cpu(self):
        for program in PROGRAMS:
            with open(program, "rb") as file:
                text = file.read()
            expected = re.search(rb"^// OUTPUT: (.*)$", text, re.MULTILINE).group(1).split()
            for lowered in [lower(text, FIRST, SECOND), lower(lower(text, FIRST), SECOND)]:
                with tempfile.NamedTemporaryFile(suffix=".mlir") as file:
                    file.write(lowered)
                    file.flush()
                    done = subprocess.run(
                        [RUNNER, "-e", "main", "-entry-point-result=void", "-O2", "-shared-libs=" +
                         ",".join([*UTILITIES, ASYNC_LIBRARY, LIBRARY]), file.name],
                        env=dict(os.environ, TFRT_MGPU_DEVICE="cpu", TFRT_MLIR_ASYNC_REPORT="1"),
                        capture_output=True, timeout=60, check=False)
                self.assertEqual((program, done.returncode, done.stdout.split()),
                                 (program, 0, expected), done.stderr)
                self.assertRegex(done.stderr, rb"\Atfrt mlir async: 0 live objects, 0 references "
                                              rb"dropped too often, 0 uses")

    @unittest.skipUnless(OPT and all(shutil.which(tool) for tool in
                                     ["mlir-translate-22", "opt-22", "llc-22"]),
                         "MLIR's tools are not installed (mlir-22-tools, llvm-22)")
    def test_each_program_ahead_of_time(self):
        for program in PROGRAMS:
            with open(program, "rb") as file:
                text = file.read()
            expected = re.search(rb"^// OUTPUT: (.*)$", text, re.MULTILINE).group(1).split()
            with tempfile.TemporaryDirectory() as folder:
                lowered = lower(lower(text, FIRST), SECOND)
                with open(folder + "/main.c", "w", encoding="utf-8") as file:
                    file.write(MAIN)
                # The loader looks for the names that the libraries give themselves.
                for library in [LIBRARY, ASYNC_LIBRARY]:
                    os.symlink(library, f"{folder}/{os.path.basename(library)}.0")
                subprocess.run("mlir-translate-22 --mlir-to-llvmir | opt-22 -O2 | "
                               "llc-22 -filetype=obj -relocation-model=pic -o program.o && "
                               "objcopy --redefine-sym main=program_main program.o && "
                               f"gcc main.c program.o {LIBRARY} {ASYNC_LIBRARY} "
                               f"-Wl,-rpath,{folder} -o program", shell=True, cwd=folder,
                               input=lowered, check=True)
                commands = [[folder + "/program"]]
                if shutil.which("valgrind"):
                    commands.append(["valgrind", "-q", "--error-exitcode=99", "--leak-check=full",
                                     folder + "/program"])
                for command in commands:
                    done = subprocess.run(command, capture_output=True, timeout=60, check=False,
                                          env=dict(os.environ, TFRT_MGPU_DEVICE="cpu"))
                    self.assertEqual(
                        (program, done.returncode, done.stdout.split(), done.stderr),
                        (program, 0, expected, b""))


if __name__ == "__main__":
    del sys.argv[1:]
    unittest.main(verbosity=2)
