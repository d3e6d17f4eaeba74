#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests source_rules.py on trees made for it: each rule must be able to fail, and alone."""

import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import source_rules  # noqa: E402  (found by the line above)

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


def header(guard, body=""):
    return f"{SPDX}#ifndef {guard}\n#define {guard}\n{body}#endif\n"


# The contents of a clean tree: words in comments and strings, members and prefixed names, homes.
GOOD = {
    "host_runtime/base/number_text.c":
        SPDX + "#include <locale.h>\nvoid f(double x) { strtod(x); vsnprintf(x, x, x, x); }\n",
    "host_runtime/base/y.c":
        SPDX + 'void f(int x) { printf("%d %% e %s.g", x, x); tfrt_print("%f", 1.0); }\n',
    "host_runtime/base/allocator.c": SPDX + "void* f(void) { return malloc(1); }\n",
    "host_runtime/base/sync.c": SPDX + "#include <pthread.h>\n",
    "host_runtime/base/a.h": header("TFRT_HOST_RUNTIME_BASE_A_H_"),
    "host_runtime/async/b.c":
        SPDX + '#include "host_runtime/base/a.h"\n// goto, malloc(1) and free(x)\n'
        "// Pairs with f(), x->free() and the end of x.free().\n"
        'const char* t = "goto malloc(1)";\nvoid f(t* x) { x->free(x); tfrt_free(x); }\n',
    "host_runtime/async/count.c": SPDX + "int f(t* x) { return atomic_load(&x->count); }\n",
    "host_runtime/base/small.h":
        header("TFRT_HOST_RUNTIME_BASE_SMALL_H_", "struct a_s {\n  bool a, b, c, d;\n"
               + "".join(f"  int x{i};\n" for i in range(26)) + "};\n"),
    "distributed/transport/grpc/c.c": SPDX + '#include <grpc/grpc.h>\n#include "host_runtime/base/a.h"\n',
    "distributed/wire/d.c": SPDX + '#include "proto/session.pb-c.h"\n',
    "tests/distributed/transport/grpc/e_test.c": SPDX + "#include <grpc/grpc.h>\n#include <check.h>\n",
    "tools/f.c": SPDX + "#include <uv.h>\n#include <zlib.h>\nint f(int x) {\n" +
                 "  x += 1;\n" * 100 + "}\n",
    "tools/run.sh": "#!/bin/bash\n# SPDX-License-Identifier: Apache-2.0\n",
    "examples/kernel_library/g.h": header("G_H_", '#include "h.h"\n'),
    "tools/BUILD": "# SPDX-License-Identifier: Apache-2.0\n",
}

# One bad file each: its rule, its path, its text.
BAD = [
    ("locale", "tools/a.c", SPDX + "#include <ctype.h>\n"),
    ("locale", "tools/a.c", SPDX + "double f(t* x) { return strtod(x, 0); }\n"),
    ("locale", "tools/a.c", SPDX + 'int f(t* x) { return sscanf(x, "%d", x); }\n'),
    ("locale", "tools/a.c", SPDX + "int f(t* x) { return isdigit(*x); }\n"),
    ("locale", "tools/a.c", SPDX + "int f(t* x) { return strncasecmp(x, x, 1); }\n"),
    ("locale", "tools/a.c", SPDX + "int f(t* x) { return vsnprintf(x, 1, x, x); }\n"),
    ("locale", "tools/a.c", SPDX + 'void f(t* x) {\n  printf(\n      "%s (%5.1f)\\n", x, *x);\n}\n'),
    ("locale", "tools/a.c", SPDX + 'void f(t* x) { snprintf(x, 1, "%" "%%%*e", 1, *x); }\n'),
    ("vendor-include", "distributed/a.c", SPDX + "#include <grpc/grpc.h>\n"),
    ("vendor-include", "distributed/a.c", SPDX + "#include <protobuf-c/protobuf-c.h>\n"),
    ("vendor-include", "distributed/a.c", SPDX + '#include "proto/session.pb-c.h"\n'),
    ("vendor-include", "distributed/a.c", SPDX + "# include <openssl/sha.h>\n"),
    ("vendor-include", "devices/a.c", SPDX + "#include <cuda_runtime.h>\n"),
    ("vendor-include", "host_runtime/base/a.c", SPDX + "#include <pthread.h>\n"),
    ("vendor-include", "tests/host_runtime/a_test.c", SPDX + "#include <threads.h>\n"),
    ("vendor-include", "kernels/basic/a.c", SPDX + "#include <dnnl.h>\n"),
    ("vendor-include", "kernels/basic/a.c", SPDX + '#include "oneapi/dnnl/dnnl.h"\n'),
    ("vendor-include", "kernels/tensor/math/a.c", SPDX + "#include <dnnl.h>\n"),
    ("vendor-include", "kernels/tensor/a.c", SPDX + "#include <jpeglib.h>\n"),
    ("vendor-include", "distributed/a.c", SPDX + "#include <uv.h>\n"),
    ("vendor-include", "host_runtime/a.c", SPDX + "#include <zlib.h>\n"),
    ("vendor-include", "host_runtime/a.c", SPDX + "#include <yaml.h>\n"),
    ("vendor-include", "tools/a.c", SPDX + "#include <check.h>\n"),
    ("layer-include", "host_runtime/base/z.c", SPDX + '#include "host_runtime/async/b.h"\n'),
    ("layer-include", "host_runtime/executor/request/z.c",
     SPDX + '#include "host_runtime/executor/kernel/f.h"\n'),
    ("layer-include", "host_runtime/executor/kernel/z.c",
     SPDX + '#include "host_runtime/executor/program/p.h"\n'),
    ("layer-include", "host_runtime/executor/call/z.c",
     SPDX + '#include "host_runtime/executor/loader/l.h"\n'),
    ("layer-include", "host_runtime/host_context.c",
     SPDX + '#include "host_runtime/executor/program/p.h"\n'),
    ("layer-include", "host_runtime/z.c", SPDX + '#include "distributed/c.h"\n'),
    ("layer-include", "compiler/z.c", SPDX + '#include "host_runtime/async/b.h"\n'),
    ("layer-include", "compiler/ir/z.c", SPDX + '#include "compiler/parser/p.h"\n'),
    ("layer-include", "compiler/printer/z.c", SPDX + '#include "compiler/parser/p.h"\n'),
    ("layer-include", "compiler/passes/z.c", SPDX + '#include "compiler/parser/p.h"\n'),
    ("layer-include", "distributed/z.c", SPDX + '#include "kernels/basic/k.h"\n'),
    ("layer-include", "distributed/session/z.c", SPDX + '#include "distributed/c.h"\n'),
    ("layer-include", "distributed/wire/z.c", SPDX + '#include "distributed/c.h"\n'),
    ("layer-include", "distributed/z.c", SPDX + '#include "distributed/c.h"\n'),
    ("layer-include", "distributed/transport/z.c",
     SPDX + '#include "distributed/transport/grpc/g.h"\n'),
    ("layer-include", "distributed/session/z.c", SPDX + '#include "distributed/bulk/n.h"\n'),
    *[("layer-include", f"distributed/{lower}/z.c", SPDX + f'#include "distributed/{upper}/n.h"\n')
      for index, lower in enumerate(source_rules.ROOMS_THAT_SHARE_A_LOCK)
      for upper in source_rules.ROOMS_THAT_SHARE_A_LOCK[index + 1:]],
    ("layer-include", "distributed/bulk/z.c", SPDX + '#include "distributed/domain/n.h"\n'),
    ("layer-include", "kernels/z.c", SPDX + '#include "devices/cuda/c.h"\n'),
    ("layer-include", "host_runtime/base/dynamic_library/z.c",
     SPDX + '#include "kernels/tensor/onednn/o.h"\n'),
    ("layer-include", "kernels/tensor/onednn/z.c",
     SPDX + '#include "kernels/tensor/math/m.h"\n'),
    ("layer-include", "kernels/tensor/math/z.c",
     SPDX + '#include "kernels/tensor/kernel_parts/p.h"\n'),
    ("layer-include", "kernels/tensor/kernel_parts/z.c",
     SPDX + '#include "kernels/tensor/files/f.h"\n'),
    ("layer-include", "kernels/tensor/files/z.c",
     SPDX + '#include "kernels/tensor/kernel_groups.h"\n'),
    ("layer-include", "kernels/tensor/ops/z.c",
     SPDX + '#include "kernels/tensor/math/m.h"\n'),
    ("layer-include", "kernels/tensor/z.c", SPDX + '#include "kernels/tensor/onednn/o.h"\n'),
    ("layer-include", "tools/output/z.c", SPDX + '#include "tools/cluster/h.h"\n'),
    ("layer-include", "tools/kernels/z.c", SPDX + '#include "tools/cluster/h.h"\n'),
    ("allocator", "examples/kernel_library/a.c", SPDX + "void* f(void) { return malloc(1); }\n"),
    ("include-path", "host_runtime/base/z.c", SPDX + '#include "host_runtime/base/none.h"\n'),
    ("include-guard", "tools/a.h", header("A_H")),
    ("spdx", "tools/a.c", "int x;\n"),
    ("spdx", "tools/a.sh", "#!/bin/bash\necho\n"),
    ("spdx", "kernels/BUILD", "\n"),
    ("file-length", "tools/a.c", SPDX + "int x;\n" * 1000),
    ("function-length", "tools/a.c", SPDX + "int f(int x) {\n" + "  x += 1;\n" * 101 + "}\n"),
    ("function-length", "tools/a.c",
     SPDX + "int f(int x,\n      int y) {\n" + "  x += 1;\n" * 101 + "}\n"),
    ("static-name", "tools/a.c", SPDX + "static const int* tfrt_f(int x) {\n  return 0;\n}\n"),
    ("goto", "tools/a.c", SPDX + "void f(void) { goto end; end:; }\n"),
    ("allocator", "tools/a.c", SPDX + "void* f(void) { return malloc(1); }\n"),
    ("allocator", "tools/a.c", SPDX + "void f(void* p) { free(p); }\n"),
    ("allocator", "tests/a.c", SPDX + "char* f(char* p) { return strdup (p); }\n"),
    ("tuning-constant", "distributed/z.c", SPDX + "#define WAIT_MS 10\n"),
    ("tuning-constant", "distributed/z.c", SPDX + "#define ROOM_BYTES ((uint64_t)64 << 10)\n"),
    ("fence", "tools/a.c", SPDX + "void f(void) { atomic_thread_fence(0); }\n"),
    ("value-count", "distributed/call/a.c",
     SPDX + "int f(tfrt_async_value_t* v) {\n"
     "  return atomic_load_explicit(&v->count, memory_order_acquire) > 2;\n}\n"),
    ("value-count", "kernels/basic/a.c",
     SPDX + "int f(r_t* r) { return atomic_load(&r->base.base.count) == 1; }\n"),
    ("value-count", "distributed/call/a.c",
     SPDX + "int f(tfrt_async_value_t* v) { return tfrt_async_value_is_unique(v); }\n"),
    ("struct-size", "tools/a.c",
     SPDX + "struct a_s {\n" + "".join(f"  int x{i};\n" for i in range(31)) + "};\n"),
    ("struct-size", "tools/a.c",
     SPDX + "typedef struct a_s {\n" + "  int x, y[2];\n" * 10
     + "  union {\n" + "    void (*f)(int a, int b);\n" * 11 + "  };\n} a_t;\n"),
    ("struct-size", "tools/a.c",
     SPDX + "struct a_s {\n  bool a, b;\n  bool c;\n  TFRT_ATOMIC(bool) d;\n"
     "  _Atomic bool e;\n};\n"),
    # A struct that has become smaller than its exception.
    ("struct-size", "tools/a.h",
     header("TFRT_TOOLS_A_H_") + "struct tfrt_run_options_s {\n  int x;\n};\n"),
    ("test-sleep", "tests/a.c", SPDX + "void f(void) { usleep(1); }\n"),
    ("unfinished", "tools/a.c", SPDX + "// TO" "DO: later\n"),
    ("named-function", "tools/a.c", SPDX + "// Pairs with the store in gone().\nint x;\n"),
    ("named-function", "tools/a.c", SPDX + "int x;  // freed by gone(x), else gone()\n"),
]

# Headers that the bad files include, so that only the rule under test is broken.
EXTRA = {
    "host_runtime/async/b.h": header("TFRT_HOST_RUNTIME_ASYNC_B_H_"),
    "host_runtime/executor/kernel/f.h": header("TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_F_H_"),
    "host_runtime/executor/program/p.h": header("TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_P_H_"),
    "host_runtime/executor/loader/l.h": header("TFRT_HOST_RUNTIME_EXECUTOR_LOADER_L_H_"),
    "distributed/c.h": header("TFRT_DISTRIBUTED_C_H_"),
    "distributed/transport/grpc/g.h": header("TFRT_DISTRIBUTED_TRANSPORT_GRPC_G_H_"),
    **{f"distributed/{room}/n.h": header(f"TFRT_DISTRIBUTED_{room.upper()}_N_H_")
       for room in ["bulk", *source_rules.ROOMS_THAT_SHARE_A_LOCK]},
    "compiler/parser/p.h": header("TFRT_COMPILER_PARSER_P_H_"),
    "kernels/basic/k.h": header("TFRT_KERNELS_BASIC_K_H_"),
    "kernels/tensor/kernel_groups.h": header("TFRT_KERNELS_TENSOR_KERNEL_GROUPS_H_"),
    "kernels/tensor/files/f.h": header("TFRT_KERNELS_TENSOR_FILES_F_H_"),
    "kernels/tensor/kernel_parts/p.h": header("TFRT_KERNELS_TENSOR_KERNEL_PARTS_P_H_"),
    "kernels/tensor/math/m.h": header("TFRT_KERNELS_TENSOR_MATH_M_H_"),
    "kernels/tensor/onednn/o.h": header("TFRT_KERNELS_TENSOR_ONEDNN_O_H_"),
    "devices/cuda/c.h": header("TFRT_DEVICES_CUDA_C_H_"),
    "tools/cluster/h.h": header("TFRT_TOOLS_CLUSTER_H_H_"),
    "oneapi/dnnl/dnnl.h": header("TFRT_ONEAPI_DNNL_DNNL_H_"),
}


def write_tree(root, files):
    for path, text in files.items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)


class SourceRulesTest(unittest.TestCase):

    def check(self, *trees):
        with tempfile.TemporaryDirectory() as root:
            for tree in trees:
                write_tree(root, tree)
            return source_rules.check_tree(root)

    def test_a_clean_tree_has_no_violation(self):
        count, violations = self.check(GOOD, EXTRA)
        self.assertEqual([str(violation) for violation in violations], [])
        self.assertEqual(count, len(GOOD) + len(EXTRA))

    def test_each_bad_file_breaks_its_rule_and_no_other(self):
        for rule, path, text in BAD:
            with self.subTest(rule=rule, path=path, text=text[len(SPDX):][:60]):
                _, violations = self.check(GOOD, EXTRA, {path: text})
                rules = {(v.rule, v.path) for v in violations}
                if rule == "vendor-include" and '"oneapi' in text:
                    rules -= {("layer-include", path)}
                self.assertEqual(rules, {(rule, path)})

    def circle(self, *paths):
        """A tree in which each of `paths` includes the next one, and the last the first."""
        return {path: header("TFRT_" + path.upper().replace("/", "_").replace(".", "_") + "_",
                             f'#include "{following}"\n')
                for path, following in zip(paths, paths[1:] + paths[:1])}

    def test_a_circle_of_few_files_of_one_room_is_none(self):
        few = [f"distributed/value/{letter}.h" for letter in "abcd"]
        _, violations = self.check(GOOD, EXTRA, self.circle(*few))
        self.assertEqual([str(violation) for violation in violations], [])

    def test_a_larger_circle_is_one(self):
        many = [f"distributed/value/{letter}.h" for letter in "abcde"]
        _, violations = self.check(GOOD, EXTRA, self.circle(*many))
        self.assertEqual([(v.rule, v.path) for v in violations], [("include-circle", many[0])])

    def test_a_circle_of_two_rooms_is_one(self):
        files = self.circle("distributed/domain/a.h", "distributed/value/a.h")
        _, violations = self.check(GOOD, EXTRA, files)
        self.assertEqual({v.rule for v in violations}, {"include-circle", "layer-include"})

    def test_each_rule_of_the_description_has_a_bad_file(self):
        described = {line.split()[0] for line in source_rules.__doc__.splitlines()
                     if line.startswith("  ") and not line.startswith("   ")}
        self.assertEqual(described, {rule for rule, _, _ in BAD} | {"include-circle"})

    def test_folders_of_outputs_are_not_read(self):
        count, violations = self.check({"bazel-bin/a.c": "bad\n", ".git/a.c": "bad\n"})
        self.assertEqual((count, violations), (0, []))

    def test_the_exit_code_tells_clean_from_bad_from_empty(self):
        def exit_code(files):
            with tempfile.TemporaryDirectory() as root:
                write_tree(root, files)
                return subprocess.run(
                    [sys.executable, os.path.join(HERE, "source_rules.py"), root],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
        self.assertEqual(exit_code(GOOD), 0)
        self.assertEqual(exit_code({"tools/a.c": "int x;\n"}), 1)
        self.assertEqual(exit_code({}), 1)


if __name__ == "__main__":
    unittest.main()
