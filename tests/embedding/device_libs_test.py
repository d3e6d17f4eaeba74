#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""--device_libs of all programs with devices: one clear line for each mistake.

    device_libs_test.py BIN_FOLDER

The libraries are compiled here, by the system's compiler, from tests/embedding/device_library.c; that
one with devices that work is tested by install_test.py.
"""

import os
import subprocess
import sys
import tempfile
import unittest

BIN = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath("tests/embedding/device_library.c")

PROGRAM = """func.func @main() -> !tfrt_gpu.device {
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get SAMPLE, %ordinal
  tfrt.return %device : !tfrt_gpu.device
}
"""


def run(tool, *arguments, folder=None):
    """Runs a tool; returns exit code, standard output and standard error."""
    done = subprocess.run([os.path.join(BIN, tool), *arguments], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, cwd=folder, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class DeviceLibsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.storage = tempfile.TemporaryDirectory()
        cls.folder = cls.storage.name
        cls.good = cls.compile("good")
        with open(os.path.join(cls.folder, "p.mlir"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        done = run("mlir_to_bef", "p.mlir", "-o", "p.bef", folder=cls.folder)
        assert done == (0, "", ""), done

    @classmethod
    def tearDownClass(cls):
        cls.storage.cleanup()

    @classmethod
    def compile(cls, name, *options):
        """The path of a new library, compiled with `options`."""
        path = os.path.join(cls.folder, name + ".so")
        subprocess.run(["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared",
                        "-fvisibility=hidden", "-I.", *options, SOURCE, "-o", path], check=True)
        return path

    def assert_refused(self, libraries, *parts):
        """Each program ends with its code and one line that holds all `parts`."""
        flag = "--device_libs=" + libraries
        for code, tool, arguments in [(1, "bef_executor", ["p.bef"]), (2, "tfrt_worker", []),
                                      (2, "tfrt", ["run", "p.bef"]),
                                      (1, "tfrt_device_conformance", ["sample:0"])]:
            name, *arguments = [tool, *arguments[:1], flag, *arguments[1:]]
            found, _, errors = run(name, *arguments, folder=self.folder)
            self.assertEqual((tool, found), (tool, code), errors)
            self.assertEqual(errors.count("\n"), 1, errors)
            self.assertTrue(errors.startswith(tool + ": "), errors)
            for part in parts:
                self.assertIn(part, errors)

    def test_a_kind_that_can_not_be_opened_is_an_error_of_who_asks(self):
        reason = "no sample is plugged in"
        code, output, _ = run("bef_executor", "--device_libs=" + self.good, "p.bef",
                              folder=self.folder)
        self.assertIn(f"'main' returned <<error: {reason}>>\n", output)
        code, _, errors = run("tfrt", "run", "--device_libs=" + self.good, "p.bef",
                              folder=self.folder)
        self.assertEqual(code, 1)
        self.assertIn(reason, errors)
        self.assertEqual(run("tfrt_device_conformance", "--device_libs=good.so", "sample:0",
                             folder=self.folder),
                         (1, "", f"tfrt_device_conformance: {reason}\n"))

    def test_without_the_library_the_kind_is_unknown(self):
        _, output, _ = run("bef_executor", "p.bef", folder=self.folder)
        self.assertIn("this host has no devices of 'SAMPLE', only of: cpu, cuda", output)
        self.assertEqual(run("tfrt_device_conformance", "sample")[2],
                         "tfrt_device_conformance: there is no kind of devices 'sample', only cpu, "
                         "cuda (--device_libs brings more)\n")

    def test_a_library_with_devices_may_also_come_as_a_shared_lib(self):
        _, output, _ = run("bef_executor", "--shared_libs=" + self.good, "p.bef",
                           folder=self.folder)
        self.assertIn("no sample is plugged in", output)
        code, _, errors = run("bef_executor", "--shared_libs=" + self.good,
                              "--device_libs=" + self.good, "p.bef", folder=self.folder)
        self.assertEqual(code, 1)
        self.assertIn("name it once", errors)

    def test_files_that_are_no_libraries(self):
        self.assert_refused("missing.so", "there is no shared library 'missing.so'")
        self.assert_refused("p.mlir", "can't be loaded: it is no shared library (invalid ELF header)")
        self.assert_refused("", "--device_libs names files")
        self.assert_refused(self.good + ",", "--device_libs names files")
        plain = os.path.join(self.folder, "plain.so")
        subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", plain], check=True)
        self.assert_refused(plain, "plain.so", "defines no 'tfrt_kernel_library'")

    def test_other_versions_and_unknown_functions(self):
        self.assert_refused(self.compile("newer", "-DVERSION=999"), "newer.so", "version 999",
                            "compile it against")
        self.assert_refused(self.compile("unknown", "-DUNKNOWN_FUNCTION"), "unknown.so",
                            "undefined symbol: tfrt_device_function_that_nobody_has",
                            "<tfrt/device_library.h>")

    def test_kinds_that_are_none_or_taken(self):
        for kind in ["cpu", "cuda"]:
            self.assert_refused(self.compile("own_" + kind, f'-DKIND="{kind}"'), f"own_{kind}.so",
                                f"a kind of devices '{kind}' already", "choose another name")
        self.assert_refused(self.good + "," + self.compile("again"), "again.so",
                            "a kind of devices 'sample' already")
        self.assert_refused(self.good + "," + self.good, "name it once")
        self.assert_refused(self.compile("loud", '-DKIND="Loud"'), "loud.so",
                            "'Loud' is no name for a kind of devices")
        for option in ["-DNO_KIND", "-DNO_SET_UP"]:
            self.assert_refused(self.compile("kernels" + option, option, "-Wno-unused-function"),
                                "registers no kind of devices in its set_up", "--shared_libs")

    def test_a_backend_that_gives_nothing_or_ends_the_process(self):
        nothing = self.compile("nothing", "-DGIVES_NOTHING")
        _, output, _ = run("bef_executor", "--device_libs=" + nothing, "p.bef", folder=self.folder)
        self.assertIn("kind of devices 'sample': its `open` gives no platform, and no error", output)
        crashing = self.compile("crashing", "-DCRASHES")
        code, _, errors = run("tfrt_device_conformance", "--device_libs=" + crashing, "sample:3")
        self.assertEqual(code, 1)
        self.assertRegex(errors, r"^tfrt_device_conformance: opening sample:3 ends the process by "
                         r"signal \d+\n$")

    def test_the_conformance_program_says_what_is_wrong_with_its_flags(self):
        for arguments, part in [([], "name one device"), (["cpu", "cpu"], "name one device"),
                                (["cpu:x"], "'cpu:x' is no device"), ([":0"], "':0' is no device"),
                                (["--features=speed", "cpu"], "'speed' is none of kernels, ")]:
            code, _, errors = run("tfrt_device_conformance", *arguments)
            self.assertEqual((arguments, code, errors.count("\n")), (arguments, 2, 1))
            self.assertIn(part, errors)
        self.assertEqual(run("tfrt_device_conformance", "--image=/nowhere", "cpu")[2],
                         "tfrt_device_conformance: can't open /nowhere: No such file or "
                         "directory\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
