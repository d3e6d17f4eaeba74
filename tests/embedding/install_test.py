#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What is installed, and a project outside of the tree that knows nothing else.

    install_test.py BUILT_FOLDER

Installs into an empty folder, and builds and runs examples/kernel_library there, with what
pkg-config says and the system's compilers.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILT = os.path.abspath(sys.argv[1])
ROOT = os.getcwd()
sys.path.insert(0, "embedding")
import install_tree  # pylint: disable=wrong-import-position
import kernel_api  # pylint: disable=wrong-import-position

C = ["gcc", "-std=c11", "-x", "c"]
CXX = ["g++", "-std=c++14", "-x", "c++"]
COMPILERS = [C, CXX, ["g++", "-std=c++20", "-x", "c++"], ["clang-14", "-std=c11", "-x", "c"],
             ["clang++-14", "-std=c++17", "-x", "c++"]]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]


def install(prefix, *options):
    """Runs the copying half of tools/install.sh."""
    return subprocess.run([os.path.join(ROOT, "embedding/install_tree.py"), "--prefix", prefix,
                           "--built", BUILT, *options], capture_output=True, check=False)


class InstalledTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.storage = tempfile.TemporaryDirectory()
        cls.prefix = os.path.join(cls.storage.name, "first")
        done = install(cls.prefix)
        assert done.returncode == 0, done.stderr
        # The user may move the installed folder.
        moved = os.path.join(cls.storage.name, "moved")
        os.rename(cls.prefix, moved)
        cls.prefix = moved
        cls.environment = dict(os.environ, PKG_CONFIG_PATH=cls.prefix + "/lib/pkgconfig")
        cls.project = os.path.join(cls.storage.name, "project")
        shutil.copytree(cls.prefix + "/share/doc/tfrt/examples/kernel_library", cls.project)
        cls.run_here("make", "CFLAGS=-O1 -Wall -Wextra -Werror")
        cls.tool("mlir_to_bef", "--shared_libs=libstats.so", "stats.mlir", "-o", "stats.bef")

    @classmethod
    def tearDownClass(cls):
        cls.storage.cleanup()

    @classmethod
    def run_here(cls, *command, code=0):
        """Runs `command` in the project; returns its standard output and error."""
        done = subprocess.run(command, cwd=cls.project, env=cls.environment, capture_output=True,
                              timeout=120, check=False)
        output, errors = done.stdout.decode(), done.stderr.decode()
        assert done.returncode == code, (command, done.returncode, output, errors)
        return output, errors

    @classmethod
    def tool(cls, name, *arguments, code=0):
        return cls.run_here(os.path.join(cls.prefix, "bin", name), *arguments, code=code)

    def flags(self, *arguments):
        return self.run_here("pkg-config", *arguments)[0].split()

    # --- Headers -----------------------------------------------------------------------------

    def headers(self):
        include = os.path.join(self.prefix, "include")
        return [os.path.relpath(os.path.join(folder, name), include)
                for folder, _, names in os.walk(include) for name in names]

    def test_each_header_compiles_alone_as_c_and_as_cxx(self):
        flags = self.flags("--cflags", "tfrt")
        headers = self.headers()
        self.assertGreater(len(headers), 50)
        for header in headers:
            for compiler in [CXX] if header.endswith(".hpp") else [C, CXX]:
                source = f"#include <{header}>\n"
                done = subprocess.run([*compiler, *STRICT, *flags, "-"], input=source.encode(),
                                      capture_output=True, check=False)
                self.assertEqual((header, done.returncode, done.stderr), (header, 0, b""))

    def test_the_front_door_compiles_with_all_compilers(self):
        for compiler in COMPILERS:
            for package, header in [("tfrt", "tfrt.h"), ("tfrt-kernels", "kernel_library.h"),
                                    ("tfrt-kernels", "device_library.h")]:
                source = f"#include <tfrt/{header}>\n"
                done = subprocess.run(
                    [*compiler, *STRICT, *self.flags("--cflags", package), "-"],
                    input=source.encode(), capture_output=True, check=False)
                self.assertEqual((compiler, done.returncode, done.stderr), (compiler, 0, b""))

    # --- Libraries ---------------------------------------------------------------------------

    def exported(self, path):
        lines = self.run_here("nm", "-D", "--defined-only", path)[0].splitlines()
        # A small letter: a local name that the linker needs for itself.
        return sorted(line.split()[-1] for line in lines if line.split()[-2].isupper())

    def test_the_shared_library_exports_what_headers_declare_and_no_more(self):
        declared = set()
        for header in install_tree.public_headers(ROOT):
            with open(header, encoding="utf-8") as file:
                declared.update(kernel_api.declared_functions(file.read()))
        self.assertEqual(self.exported(self.prefix + "/lib/libtfrt.so"), sorted(declared))

    def test_the_static_library_defines_no_foreign_names(self):
        lines = self.run_here("nm", "-g", "--defined-only", self.prefix + "/lib/libtfrt.a")[0]
        names = {line.split()[-1] for line in lines.splitlines() if len(line.split()) == 3}
        self.assertGreater(len(names), 500)
        self.assertEqual([name for name in names if not name.startswith("tfrt_")], [])

    def test_names_and_links_of_the_shared_library(self):
        dynamic = self.run_here("readelf", "-d", self.prefix + "/lib/libtfrt.so")[0]
        self.assertIn("soname: [libtfrt.so.0]", dynamic)
        version = self.flags("--modversion", "tfrt")[0]
        self.assertEqual(os.path.basename(os.path.realpath(self.prefix + "/lib/libtfrt.so")),
                         "libtfrt.so." + version)
        needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
        self.assertEqual([name for name in needed if not re.match(r"(lib[cm]|ld-linux)", name)],
                         [])

    def test_the_kernel_library_names_no_library_of_this_project(self):
        dynamic = self.run_here("readelf", "-d", "libstats.so")[0]
        self.assertNotIn("libtfrt", dynamic)
        self.assertEqual(self.exported("libstats.so"), ["tfrt_kernel_library"])

    def test_a_wholly_static_program_links(self):
        with open(os.path.join(self.project, "static.c"), "w", encoding="utf-8") as file:
            file.write("#include <stdio.h>\n#include <tfrt/tfrt.h>\n"
                       "int main(void) { puts(tfrt_version()); return 0; }\n")
        self.run_here("gcc", "-static", "static.c", *self.flags("--cflags", "tfrt"),
                      *self.flags("--static", "--libs", "tfrt"), "-o", "static")
        self.assertEqual(self.run_here("./static")[0].split(), self.flags("--modversion", "tfrt"))

    # --- The example ---------------------------------------------------------------------------

    def test_the_host_program_runs_text_and_bef_shared_and_static(self):
        for program in ["./stats_host", "./stats_host_static"]:
            for source in ["stats.mlir", "stats.bef"]:
                for library in [[], ["libstats.so"]]:
                    output, errors = self.run_here(program, source, *library)
                    self.assertEqual(output, "main: result 0 is !stats.summary: 4 numbers from -1 "
                                     "to 13, sum 20\nmain: result 1 is f64: 5.000000e+01\n"
                                     "mean_of: result 0 is f64: 2.500000e+00\n")
                    self.assertRegex(errors, r"^stats.mlir:\d+:\d+: stats.mean: no numbers, so no "
                                     r"mean \(FAILED_PRECONDITION\)\n$")

    def test_bef_executor_runs_it_in_each_queue(self):
        for queue in ["s", "mstd:1", "mstd:4"]:
            output, errors = self.tool("bef_executor", "--shared_libs=libstats.so",
                                       "--check_types", "--work_queue_type=" + queue, "stats.bef")
            self.assertEqual(errors, "")
            for line in ["'three_numbers' returned 3.000000e+00",
                         "'main' returned 4 numbers from -1 to 13, sum 20,5.000000e+01",
                         "'no_mean' returned <<error: no numbers, so no mean>>",
                         "'synchronous' returned 4.200000e+01"]:
                self.assertIn(line + "\n", output)

    def test_text_to_bef_and_back(self):
        library = "--shared_libs=libstats.so"
        self.tool("bef_to_mlir", library, "stats.bef", "-o", "again.mlir")
        self.tool("mlir_to_bef", library, "again.mlir", "-o", "again.bef")
        first = self.tool("bef_to_mlir", library, "again.bef")[0]
        with open(os.path.join(self.project, "again.mlir"), encoding="utf-8") as file:
            self.assertEqual(file.read(), first)
        self.assertIn('stats.read "numbers.txt", %0\n', first)

    def test_a_value_of_its_type_crosses_hosts(self):
        expected = "'main' returned 4 numbers from -1 to 13, sum 20,5.000000e+01\n"
        for hosts in [[], ["--in-process", "2"], ["--local", "2"]]:
            output, errors = self.tool("tfrt", "run", *hosts, "--shared_libs=libstats.so",
                                       "stats.mlir")
            self.assertEqual((output, errors), (expected, ""))

    def test_its_reference_page(self):
        page = self.tool("kernel_docs", "--shared_libs=libstats.so")[0]
        self.assertIn("## Dialect `stats`\n", page)
        self.assertIn("### stats.or_else\n\n`value`, or, if that is an error, `fallback`.\n", page)

    # --- Devices -------------------------------------------------------------------------------

    def test_the_page_of_a_library_with_devices_runs_as_printed(self):
        folder = os.path.join(self.storage.name, "null_device")
        shutil.copytree(self.prefix + "/share/doc/tfrt/examples/null_device", folder)
        self.run_here("make", "-C", folder, "CFLAGS=-O1 -Wall -Wextra -Werror")
        counts = self.check_page(folder + "/README.md", folder)
        self.assertEqual(counts, {"excerpt": 0, "command": 2, "output": 2})
        library = folder + "/libnull.so"
        self.assertEqual(self.exported(library), ["tfrt_kernel_library"])
        self.assertNotIn("libtfrt", self.run_here("readelf", "-d", library)[0])

    def test_a_library_with_devices_passes_the_suite(self):
        folder = os.path.join(self.storage.name, "conforming")
        shutil.copytree(self.prefix + "/share/doc/tfrt/examples/null_device", folder)
        self.run_here("make", "-C", folder, "CFLAGS=-O1 -Wall -Wextra -Werror")
        output, errors = self.tool("tfrt_device_conformance",
                                   f"--device_libs={folder}/libnull.so", "null:0")
        self.assertEqual(errors, "")
        self.assertRegex(output, r"100%: Checks: \d\d+, Failures: 0, Errors: 0\n")
        # It has no kernels that work, and the suite sees that.
        output = self.tool("tfrt_device_conformance", f"--device_libs={folder}/libnull.so",
                           "--features=kernels", "null:0", code=1)[0]
        self.assertRegex(output, r"F:work:a_kernel_adds:")

    def test_mistakes_in_its_text_are_found(self):
        errors = self.tool("mlir_to_bef", "--shared_libs=libstats.so", "wrong.mlir", code=1)[1]
        self.assertIn("wrong.mlir:4:27: error:", errors)

    def test_a_library_that_links_libtfrt_is_refused(self):
        for name, libraries, program in [
                ("shared", ["-ltfrt", "-Wl,-rpath," + self.prefix + "/lib"], "bef_executor"),
                ("static", ["-l:libtfrt.a", "-ldl", "-lm"], "bef_executor")]:
            path = f"linked_{name}.so"
            self.run_here("gcc", "-fPIC", "-shared", *self.flags("--cflags", "tfrt"), "summary.c",
                          "stats_ops.c", "stats_kernels.c", "-L" + self.prefix + "/lib",
                          "-Wl,--no-as-needed", *libraries, "-lm", "-o", path)
            errors = self.tool(program, "--shared_libs=" + path, "stats.bef", code=1)[1]
            self.assertIn("brings a second runtime into this process", errors)
            self.assertIn("pkg-config --libs tfrt-kernels", errors)
            self.assertEqual(errors.count("\n"), 1)


    def test_ops_without_a_program_build_with_pkg_config_alone(self):
        example = self.prefix + "/share/doc/tfrt/examples/eager"
        self.run_here("gcc", "-std=gnu11", *self.flags("--cflags", "tfrt"), example + "/eager.c",
                      *self.flags("--libs", "tfrt"), "-Wl,-rpath," + self.prefix + "/lib", "-o",
                      "eager")
        self.tool("mlir_to_bef", example + "/layer.mlir", "-o", "layer.bef")
        self.assertIn("1 + 2 + ... + 100: 5050\n", self.run_here("./eager", "layer.bef")[0])

    def test_the_life_of_values_builds_with_pkg_config_alone(self):
        example = self.prefix + "/share/doc/tfrt/examples/async_value"
        self.run_here("gcc", "-std=gnu11", *self.flags("--cflags", "tfrt"),
                      example + "/async_value.c", *self.flags("--libs", "tfrt"),
                      "-Wl,-rpath," + self.prefix + "/lib", "-o", "async_value")
        self.assertIn("the result is 7\n", self.run_here("./async_value")[0])

    def test_references_in_cxx(self):
        source = os.path.join(ROOT, "tests/embedding/async_value_ref_test.cpp")
        for number, compiler in enumerate([["g++", "-std=c++14"], ["g++", "-std=c++20"],
                                           ["clang++-14", "-std=c++17", "-fno-exceptions"]]):
            program = f"./async_value_ref_{number}"
            self.run_here(*compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                          *self.flags("--cflags", "tfrt"), source, *self.flags("--libs", "tfrt"),
                          "-Wl,-rpath," + self.prefix + "/lib", "-o", program)
            self.assertEqual(self.run_here(program), ("0 failures\n", ""))

    # --- MLIR's async runtime ------------------------------------------------------------------

    def test_a_program_links_the_async_runtime_with_pkg_config_alone(self):
        with open(os.path.join(self.project, "group.c"), "w", encoding="utf-8") as file:
            file.write("#include <tfrt/mlir_async/mlir_async_runtime.h>\n"
                       "static void resume(void *token) { mlirAsyncRuntimeEmplaceToken(token); }\n"
                       "int main(void) {\n"
                       "  void *token = mlirAsyncRuntimeCreateToken();\n"
                       "  mlirAsyncRuntimeExecute(token, resume);\n"
                       "  mlirAsyncRuntimeAwaitToken(token);\n"
                       "  mlirAsyncRuntimeDropRef(token, 1);\n"
                       "  __mlir_execution_engine_destroy();\n"
                       "  return 0;\n}\n")
        self.run_here("gcc", "-std=c11", "group.c", *self.flags("--cflags", "--libs",
                      "tfrt-mlir-async"), "-Wl,-rpath," + self.prefix + "/lib", "-o", "group")
        errors = self.run_here("env", "TFRT_MLIR_ASYNC_REPORT=1", "./group")[1]
        self.assertIn("tfrt mlir async: 0 live objects, 0 references", errors)
        dynamic = self.run_here("readelf", "-d", "group")[0]
        self.assertIn("[libtfrt_mlir_async_runtime.so.0]", dynamic)

    def test_a_program_links_the_gpu_functions_with_pkg_config_alone(self):
        with open(os.path.join(self.project, "fill.c"), "w", encoding="utf-8") as file:
            file.write("#include <stddef.h>\n#include <tfrt/mgpu/mgpu.h>\n"
                       "int main(void) {\n"
                       "  uint32_t numbers[9] = {0};\n"
                       "  void *block = mgpuMemAlloc(sizeof numbers, NULL, 0);\n"
                       "  mgpuMemset32(block, 7, 9, NULL);\n"
                       "  mgpuMemcpy(numbers, block, sizeof numbers, NULL);\n"
                       "  mgpuMemFree(block, NULL);\n"
                       "  return numbers[8] == 7 ? 0 : 1;\n}\n")
        self.run_here("gcc", "-std=c11", "fill.c", *self.flags("--cflags", "--libs", "tfrt-mgpu"),
                      "-Wl,-rpath," + self.prefix + "/lib", "-o", "fill")
        self.run_here("env", "TFRT_MGPU_DEVICE=cpu", "./fill")

    def test_the_page_of_the_async_example_runs_as_printed(self):
        if not shutil.which("mlir-opt-22") or not shutil.which("llc-22"):
            self.skipTest("MLIR's tools are not installed (mlir-22-tools, libmlir-22-dev, llvm-22)")
        with open(ROOT + "/examples/mlir_async/README.md", encoding="utf-8") as file:
            blocks = self.blocks(file.read())
        commands = [block for block in blocks if block[0].startswith(("./lower.sh", "mlir-"))]
        self.assertEqual(len(commands), 2)
        folder = os.path.join(self.storage.name, "mlir_async")
        shutil.copytree(self.prefix + "/share/doc/tfrt/examples/mlir_async", folder)
        for block in commands:
            script = "\n".join(["set -eo pipefail", *block])
            done = subprocess.run(["bash", "-c", script], cwd=folder, env=self.environment,
                                  capture_output=True, timeout=120, check=False)
            self.assertEqual((block, done.returncode), (block, 0), done.stderr)
            printed = done.stdout.decode().splitlines()
            self.assertIn(printed, blocks)

    # --- The pages -------------------------------------------------------------------------------

    COMMANDS = ("cc ", "mlir_to_bef ", "bef_executor ", "tfrt run ", "./stats_host", "kernel_docs ",
                "make", "tfrt_device_conformance ")
    OTHERS = ("tools/install.sh ", "export ")

    @staticmethod
    def blocks(text):
        """The indented blocks of a page, each a list of lines without that indentation."""
        found, block = [], []
        for line in text.splitlines() + ["."]:
            if line.startswith("    ") or (not line.strip() and block):
                block.append(line[4:])
            elif block:
                found.append("\n".join(block).rstrip().split("\n"))
                block = []
        return found

    def sources(self):
        folder = ROOT + "/examples/kernel_library"
        paths = [f"{folder}/{name}" for name in sorted(os.listdir(folder))]
        for path in [*paths, ROOT + "/examples/magika/magika.c"]:
            with open(path, encoding="utf-8") as file:
                if not path.endswith(".md"):
                    yield [line.strip() for line in file.read().splitlines()]

    def is_excerpt(self, piece):
        """Whether the lines stand in this order, without a gap, in a file of the example."""
        lines = [line.strip() for line in "\n".join(piece).strip().split("\n")]
        return any(source[i : i + len(lines)] == lines
                   for source in self.sources() for i in range(len(source)))

    def check_page(self, path, folder=None):
        """Runs the page's commands, and finds everything else in files or in what they print."""
        with open(path, encoding="utf-8") as file:
            blocks = self.blocks(file.read())
        printed, counts = [], {"excerpt": 0, "command": 0, "output": 0}
        for block in blocks:
            if any("<---" in line for line in block) or block[0].startswith(self.OTHERS):
                continue
            if block[0].startswith(self.COMMANDS):
                environment = dict(self.environment,
                                   PATH=self.prefix + "/bin:" + os.environ["PATH"])
                script = "\n".join(["set -e", *block])
                done = subprocess.run(["bash", "-c", script], cwd=folder or self.project,
                                      env=environment, capture_output=True, timeout=120, check=False)
                code = 1 if block[0].endswith("wrong.mlir") else 0
                self.assertEqual((block, done.returncode), (block, code), done.stderr)
                printed += (done.stdout + done.stderr).decode().splitlines()
                counts["command"] += 1
                continue
            pieces = "\n".join(block).split("\n...\n")
            kind = "excerpt" if all(self.is_excerpt(piece.split("\n")) for piece in pieces) \
                else "output"
            if kind == "output":
                self.assertEqual([line for line in block if line not in printed], [])
            counts[kind] += 1
        return counts

    def test_links_of_installed_pages_lead_to_installed_files(self):
        count = 0
        for folder, _, names in os.walk(self.prefix + "/share/doc/tfrt"):
            for name in [name for name in names if name.endswith(".md")]:
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    # Text in code is no link.
                    text = re.sub(r"`[^`]*`|^    .*", "", file.read(), flags=re.MULTILINE)
                links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)[^)]*\)", text)
                for link in links:
                    self.assertTrue(os.path.exists(os.path.join(folder, link)), (name, link))
                count += len(links)
        self.assertGreater(count, 5)

    def test_the_page_of_the_example_runs_as_printed(self):
        counts = self.check_page(ROOT + "/examples/kernel_library/README.md")
        self.assertGreaterEqual(counts["command"], 2)
        self.assertGreater(counts["output"], 1)

    def test_the_page_on_embedding_shows_what_is_in_the_files(self):
        counts = self.check_page(ROOT + "/docs/embedding.md")
        self.assertGreater(counts["excerpt"], 15)
        self.assertGreater(counts["command"], 0)
        self.assertGreater(counts["output"], 0)


class InstallingTest(unittest.TestCase):

    def test_staging_goes_below_another_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            done = install("/usr", "--destdir", folder, "--libdir", "lib/x")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertTrue(os.path.exists(folder + "/usr/lib/x/libtfrt.so.0"))
            for tool in ["bef_executor", "bef_executor_debug_tracing", "bef_executor_lite", "btf_info",
                         "mlir_to_bef", "bef_to_mlir", "tfrt_opt", "tfrt_translate"]:
                self.assertTrue(os.access(folder + "/usr/bin/" + tool, os.X_OK), tool)
            self.assertTrue(os.path.exists(folder + "/usr/share/doc/tfrt/LICENSE"))
            environment = dict(os.environ, PKG_CONFIG_PATH=folder + "/usr/lib/x/pkgconfig")
            for name, below in [("libdir", "usr/lib/x"), ("includedir", "usr/include")]:
                done = subprocess.run(["pkg-config", "--variable=" + name, "tfrt"], check=True,
                                      env=environment, capture_output=True)
                self.assertEqual(os.path.realpath(done.stdout.decode().strip()),
                                 os.path.realpath(os.path.join(folder, below)))
            again = install("/usr", "--destdir", folder, "--libdir", "lib/x")
            self.assertEqual((again.returncode, again.stderr), (0, b""))

    def test_wrong_usage_and_missing_files(self):
        self.assertEqual(install("relative").returncode, 2)
        self.assertEqual(install("/p", "--libdir", "/lib").returncode, 2)
        with tempfile.TemporaryDirectory() as folder:
            done = install(folder + "/p", "--built", folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"is missing", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
