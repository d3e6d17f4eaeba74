#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What programs offer to kernel libraries against what the headers declare.

    kernel_api_test.py BIN_FOLDER
"""

import os
import subprocess
import sys
import unittest

sys.path.insert(0, "embedding")
import kernel_api  # pylint: disable=wrong-import-position

BIN = sys.argv[1]


def exported(program):
    """The names of all functions and data of the project that `program` exports."""
    done = subprocess.run(["nm", "-D", "--defined-only", os.path.join(BIN, program)],
                          check=True, capture_output=True)
    names = [line.split()[-1] for line in done.stdout.decode().splitlines()]
    return sorted(name for name in names if name.startswith("tfrt_"))


class KernelApiTest(unittest.TestCase):

    def test_programs_export_just_that(self):
        names = kernel_api.kernel_api(".")
        self.assertGreater(len(names), 100)
        self.assertEqual(exported("mlir_to_bef"), names)
        with_devices = kernel_api.kernel_api(".", kernel_api.DEVICE_HEADER)
        self.assertIn("tfrt_device_kind_register", with_devices)
        self.assertEqual(set(names) - set(with_devices), set())
        self.assertEqual(exported("bef_executor"), with_devices)

    def test_declarations_are_told_from_definitions(self):
        text = ("TFRT_API_BEGIN\n// tfrt_comment();\n#define M() tfrt_macro()\n"
                "typedef void (*tfrt_fn_t)(int);\nstruct tfrt_s {\n  void (*tfrt_member)(void);\n};\n"
                "static inline int tfrt_inline(void) { return tfrt_called(); }\n"
                "TFRT_ALWAYS_INLINE int tfrt_always(void) { return tfrt_called(); }\n"
                "tfrt_status_t tfrt_declared(int a,\n    int b) TFRT_PRINTF(1, 2);\n"
                "TFRT_API_END\nvoid tfrt_private(void);\n")
        self.assertEqual(kernel_api.declared_functions(text), ["tfrt_declared"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
