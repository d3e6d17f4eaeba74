#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the test files of a checkout of TFRT with our tools, through FileCheck.

Usage: tfrt_files_test.py RUN_LINES BIN_FOLDER CHECKOUT

    bazel test //tests/compiler:tfrt_files_test --test_arg=/path/of/tensorflow/runtime

Each file says by its RUN lines how it is run. All must pass but those that SKIPPED names with the
reason, and these must fail: so the list holds no file that would pass. PASSES are the tests of the
compiler's passes.
"""

import importlib.util
import os
import sys
import tempfile

TOOLS = {
    "bef_executor": "bef_executor",
    "bef_executor_lite": "bef_executor_lite",
    "bef_executor_debug_tracing": "bef_executor_debug_tracing",
    "code_size_test_driver": "bef_executor_small",
    "tfrt_opt": "tfrt_opt",
    "tfrt_translate": "tfrt_translate",
}

PASSES = ["mlir_tests/compiler/" + name for name in (
    "inline.mlir", "merge_chains.mlir", "opt_err.mlir", "stream_analysis.mlir")]

NO_CORE_RUNTIME = "needs the core runtime: ops on tensor handles and on op attributes"
SKIPPED = {
    "backends/cpu/mlir_tests/rt/cost_driven_async_parallel_for.mlir": "needs jitrt_opt, of JitRt",
}
SKIPPED.update({"mlir_tests/core_runtime/" + name: NO_CORE_RUNTIME for name in (
    "basic_ops.mlir", "composite_op.mlir", "const_tensor.mlir", "fp16.mlir", "logging.mlir",
    "op_attrs.mlir", "opt.mlir", "opt_err.mlir")})


def load_run_lines(path):
    spec = importlib.util.spec_from_file_location("run_lines", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_files(checkout):
    found = []
    for folder, _, names in os.walk(checkout):
        found += [os.path.relpath(os.path.join(folder, name), checkout) for name in names
                  if name.endswith(".mlir")]
    return sorted(found)


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__)
    run_lines = load_run_lines(os.path.abspath(arguments[0]))
    tools = ["%s=%s" % (name, os.path.abspath(os.path.join(arguments[1], program)))
             for name, program in TOOLS.items()]
    os.chdir(arguments[2])
    files = test_files(".")
    wrong = ["%s is not there" % name for name in PASSES if name not in files]
    passed = 0
    with tempfile.TemporaryDirectory() as folder:
        run_lines.link_tools(tools, folder)
        for name in files:
            problem = run_lines.run_file(name, folder)
            passed += not problem
            if problem and name not in SKIPPED:
                wrong.append("%s: %s" % (name, problem))
            if not problem and name in SKIPPED:
                wrong.append("%s passes: take it off the list" % name)
            print("%s: %s" % ("PASS" if not problem else "SKIP" if name in SKIPPED else "FAIL", name))
    print("%d of %d files passed, %d of them of passes" % (passed, len(files), len(PASSES)))
    for name, reason in sorted(SKIPPED.items()):
        print("skipped: %s: %s" % (name, reason))
    print("\n".join(wrong))
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
