#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the rules that a compiler cannot: who includes what, and a few habits.

    tests/layers/source_rules.py ROOT

prints one line per violation, "path:line: [rule] message", and exits with 1 if there is one.
Reading the text is enough for that, so it also covers code that no target builds.

The rules:
  vendor-include   a vendor's header is included only in its home room
  layer-include    a room includes only the rooms below it
  include-circle   few files of a room of distributed/ include each other in a circle, none of two
  include-path     a quoted include names an existing file from the root
  include-guard    a header has the guard that its path gives
  spdx             the first line (the second behind #!) carries the licence identifier
  file-length      no file has more than 1,000 lines
  function-length  no function body has more than 100 lines (about 60 is meant)
  goto             there is no goto
  static-name      a static function of a .c file has no tfrt_ in front: that is for what headers declare
  allocator        memory comes from an allocator, not from malloc and its family
  locale           no number is read or written by a function that asks the locale
  tuning-constant  times and sizes of distributed/ that could be others are in its tuning.h
  fence            no atomic_thread_fence: ThreadSanitizer cannot see it
  value-count      host_runtime/async alone reads how many references an AsyncValue has
  struct-size      no struct of the product has more than 30 fields, or more than 4 booleans
  test-sleep       no C test sleeps
  unfinished       no marker of unfinished work
  named-function   a comment in C names, as name(), only what the code of the tree knows
"""

import os
import re
import sys

SKIPPED_FOLDERS = {".git", ".cache", "__pycache__", "node_modules"}
C_SUFFIXES = (".c", ".h")
SOURCE_SUFFIXES = C_SUFFIXES + (".bzl", ".proto", ".py", ".sh")
SOURCE_NAMES = {"BUILD", "WORKSPACE", "run"}

# The files that may include a vendor's headers: a pattern of the header's name, then folders
# (ending in a slash) and files. Tests of a room may use what the room uses.
VENDOR_HOMES = [
    (r"grpc(pp)?/", ["distributed/transport/grpc/"]),
    (r"protobuf-c/|.*\.pb-c\.h$", ["compiler/onnx/", "distributed/wire/"]),
    (r"openssl/", ["distributed/security/"]),
    (r"cuda|cublas|cudnn|cufft|curand|nccl|nvrtc|nvml", ["devices/cuda/"]),
    (r"(pthread|threads|semaphore)\.h$", ["host_runtime/base/sync.c"]),
    (r"dnnl|oneapi/", ["kernels/tensor/onednn/", "tests/bench/resnet_loop.c"]),
    (r"omp\.h$", ["kernels/tensor/onednn/"]),
    (r"(jpeglib|jerror|jmorecfg|jconfig)\.h$", ["kernels/tensor/files/"]),
    (r"zip\.h$", ["kernels/tensor/files/"]),
    (r"(png|pngconf|pnglibconf)\.h$", ["kernels/tensor/files/"]),
    (r"uv\.h$|uv/", ["tools/", "tests/faults/outside_calls.c"]),
    (r"(zlib|zconf)\.h$", ["tools/"]),
    (r"yaml\.h$", ["tools/"]),
    (r"check\.h$", ["tests/", "devices/conformance/", "tools/device_conformance.c"]),
]

# The rooms of distributed/ that share a lock, from the bottom up: each may include those before it.
ROOMS_THAT_SHARE_A_LOCK = ["domain", "value", "delivery", "call", "recovery", "job", "service",
                           "client", "host"]


def rooms_that_share_a_lock():
    allowed = ["distributed/threads/", "distributed/transport/transport.h", "distributed/wire/",
               "distributed/security/digest.h", "distributed/session/", "distributed/bulk/",
               "distributed/tuning/", "host_runtime/"]
    rooms = []
    for name in ROOMS_THAT_SHARE_A_LOCK:
        room = f"distributed/{name}/"
        allowed = [room, *allowed]
        rooms.append((room, allowed))
    return rooms


# The headers of the project that a room may include, the most exact folder first. Rooms that are
# not listed (mains, tests, examples, embedding) may include all of it.
LAYERS = [
    ("host_runtime/base/", ["host_runtime/base/"]),
    ("host_runtime/async/", ["host_runtime/async/", "host_runtime/base/"]),
    ("host_runtime/bef/", ["host_runtime/bef/", "host_runtime/base/"]),
    ("host_runtime/tensor/",
     ["host_runtime/tensor/", "host_runtime/async/", "host_runtime/base/"]),
    ("host_runtime/executor/descriptor/",
     ["host_runtime/executor/descriptor/", "host_runtime/bef/bef_format.h", "host_runtime/base/"]),
    ("host_runtime/executor/request/",
     ["host_runtime/executor/request/", "host_runtime/async/", "host_runtime/base/"]),
    ("host_runtime/executor/kernel/",
     ["host_runtime/executor/kernel/", "host_runtime/executor/request/",
      "host_runtime/executor/descriptor/", "host_runtime/async/", "host_runtime/base/"]),
    ("host_runtime/executor/hosts/",
     ["host_runtime/executor/hosts/", "host_runtime/executor/kernel/",
      "host_runtime/executor/request/", "host_runtime/async/", "host_runtime/base/"]),
    ("host_runtime/executor/program/",
     ["host_runtime/executor/program/", "host_runtime/executor/kernel/",
      "host_runtime/executor/request/", "host_runtime/bef/", "host_runtime/async/",
      "host_runtime/base/"]),
    ("host_runtime/executor/call/",
     ["host_runtime/executor/call/", "host_runtime/executor/program/",
      "host_runtime/executor/kernel/", "host_runtime/executor/request/",
      "host_runtime/host_context.h", "host_runtime/bef/", "host_runtime/async/",
      "host_runtime/base/"]),
    ("host_runtime/executor/loader/",
     ["host_runtime/executor/loader/", "host_runtime/executor/call/",
      "host_runtime/executor/program/", "host_runtime/executor/kernel/",
      "host_runtime/executor/request/", "host_runtime/executor/descriptor/", "host_runtime/bef/",
      "host_runtime/async/", "host_runtime/base/"]),
    # Calls know the host context, so it knows no call.
    ("host_runtime/host_context.",
     ["host_runtime/executor/kernel/", "host_runtime/executor/request/",
      "host_runtime/host_context.h", "host_runtime/async/", "host_runtime/base/"]),
    ("host_runtime/", ["host_runtime/"]),
    # The kernel descriptor is the schema of the op table, data that the compiler reads.
    ("compiler/ir/",
     ["compiler/ir/", "host_runtime/base/",
      "host_runtime/executor/descriptor/kernel_descriptor.h"]),
    ("compiler/op_table/",
     ["compiler/op_table/", "compiler/ir/", "host_runtime/base/",
      "host_runtime/executor/descriptor/kernel_descriptor.h",
      "host_runtime/executor/descriptor/assembly.h",
      "host_runtime/executor/descriptor/similar_name.h"]),
    ("compiler/analysis/",
     ["compiler/analysis/", "compiler/op_table/", "compiler/ir/", "host_runtime/base/"]),
    ("compiler/parser/",
     ["compiler/parser/", "compiler/op_table/", "compiler/ir/", "host_runtime/base/",
      "host_runtime/executor/descriptor/kernel_descriptor.h",
      "host_runtime/executor/descriptor/assembly.h",
      "host_runtime/executor/descriptor/descriptor_check.h"]),
    ("compiler/printer/",
     ["compiler/printer/", "compiler/op_table/", "compiler/ir/", "host_runtime/base/",
      "host_runtime/executor/descriptor/assembly.h"]),
    ("compiler/verifier/",
     ["compiler/verifier/", "compiler/op_table/", "compiler/analysis/", "compiler/ir/",
      "host_runtime/base/"]),
    ("compiler/bef/",
     ["compiler/bef/", "compiler/parser/", "compiler/printer/", "compiler/op_table/",
      "compiler/analysis/", "compiler/ir/", "host_runtime/bef/", "host_runtime/base/",
      "host_runtime/executor/descriptor/attribute_layout.h"]),
    ("compiler/onnx/",
     ["compiler/onnx/", "compiler/bef/", "compiler/lowering/", "compiler/parser/",
      "compiler/printer/", "compiler/passes/", "compiler/verifier/", "compiler/op_table/",
      "compiler/ir/", "host_runtime/base/", "host_runtime/executor/descriptor/similar_name.h"]),
    ("compiler/passes/",
     ["compiler/passes/", "compiler/lowering/", "compiler/verifier/", "compiler/op_table/",
      "compiler/analysis/",
      "compiler/ir/", "host_runtime/base/"]),
    ("compiler/", ["compiler/", "host_runtime/bef/", "host_runtime/base/"]),
    ("devices/cpu/", ["devices/device", "devices/cpu/", "host_runtime/"]),
    ("devices/cuda/", ["devices/device", "devices/cuda/", "host_runtime/"]),
    ("devices/conformance/", ["devices/device", "devices/conformance/", "host_runtime/"]),
    ("devices/", ["devices/", "host_runtime/"]),
    ("distributed/transport/grpc/",
     ["distributed/transport/", "distributed/security/", "distributed/threads/",
      "distributed/tuning/", "host_runtime/"]),
    ("distributed/transport/", ["distributed/transport/transport.h", "host_runtime/"]),
    ("distributed/tuning/", ["host_runtime/base/"]),
    ("distributed/threads/", ["distributed/threads/", "distributed/tuning/", "host_runtime/"]),
    ("distributed/security/", ["distributed/security/", "distributed/tuning/", "host_runtime/"]),
    ("distributed/wire/", ["distributed/wire/", "proto/", "host_runtime/"]),
    ("distributed/session/",
     ["distributed/session/", "distributed/wire/", "distributed/transport/transport.h",
      "distributed/threads/", "distributed/tuning/", "host_runtime/"]),
    ("distributed/bulk/",
     ["distributed/bulk/", "distributed/wire/", "distributed/transport/transport.h",
      "distributed/threads/", "distributed/tuning/", "host_runtime/"]),
    *rooms_that_share_a_lock(),
    ("distributed/", []),
    ("kernels/nn/ops/",
     ["kernels/nn/ops/", "host_runtime/executor/descriptor/kernel_descriptor.h",
      "host_runtime/executor/descriptor/op_row.h"]),
    ("kernels/nn/math/",
     ["kernels/nn/math/", "kernels/nn/ops/", "kernels/tensor/math/", "kernels/tensor/onednn/",
      "host_runtime/executor/descriptor/kernel_descriptor.h", "host_runtime/tensor/",
      "host_runtime/bef/", "host_runtime/base/"]),
    ("kernels/nn/", ["kernels/nn/", "kernels/tensor/math/", "host_runtime/"]),
    ("kernels/tensor/onednn/",
     ["kernels/tensor/onednn/", "host_runtime/tensor/", "host_runtime/base/"]),
    ("kernels/tensor/math/",
     ["kernels/tensor/math/", "kernels/tensor/onednn/", "host_runtime/tensor/",
      "host_runtime/base/"]),
    ("kernels/tensor/kernel_parts/",
     ["kernels/tensor/kernel_parts/", "kernels/tensor/math/", "host_runtime/"]),
    ("kernels/tensor/files/",
     ["kernels/tensor/files/", "kernels/tensor/kernel_parts/", "host_runtime/"]),
    ("kernels/tensor/ops/",
     ["kernels/tensor/ops/", "host_runtime/executor/descriptor/kernel_descriptor.h",
      "host_runtime/executor/descriptor/op_row.h"]),
    # The kernels themselves: neither the maths library nor how it is opened.
    ("kernels/tensor/",
     ["kernels/tensor/tensor_kernels.h", "kernels/tensor/sync_tensor_kernels.h",
      "kernels/tensor/kernel_groups.h", "kernels/tensor/files/", "kernels/tensor/kernel_parts/",
      "kernels/tensor/math/", "kernels/tensor/ops/", "host_runtime/"]),
    # No backend of the devices, only their interface.
    ("kernels/", ["kernels/", "distributed/", "devices/device", "host_runtime/"]),
    # Shared by the mains. An image is decoded as kernels decode one.
    ("tools/command_line/",
     ["tools/command_line/", "distributed/wire/limits.h", "kernels/tensor/files/",
      "host_runtime/"]),
    ("tools/process/", ["tools/process/", "host_runtime/"]),
    ("tools/output/", ["tools/output/", "host_runtime/"]),
    ("tools/kernels/",
     ["tools/kernels/", "compiler/", "embedding/", "kernels/", "host_runtime/"]),
    ("tools/translation/",
     ["tools/translation/", "tools/kernels/", "tools/command_line/", "tools/process/",
      "compiler/", "host_runtime/"]),
    ("tools/executor/",
     ["tools/executor/", "tools/output/", "kernels/device/", "host_runtime/"]),
    ("tools/cluster/",
     ["tools/cluster/", "tools/kernels/", "tools/command_line/", "distributed/",
      "kernels/device/", "host_runtime/"]),
]

# The most files of one room of distributed/ that may include each other in a circle; a header and
# its source are one file.
CIRCLE_ROOM = "distributed/"
MAXIMUM_CIRCLE = 4

# The allocator itself, a tool for tests that knows nothing of the runtime, and what measures malloc.
ALLOCATING_FILES = {"host_runtime/base/allocator.c", "tests/support/fuzz_replay_main.c",
                    "tests/bench/yardstick.c", "tests/faults/outside_calls.c"}

# Projects of their own, which see only what is installed: their includes and guards are theirs.
OUTSIDE_PROJECTS = ("examples/kernel_library/", "examples/null_device/")

# Only this code may read the number of references to an AsyncValue. Other code would compare it with
# a number that it expects, and so depend on when unrelated code releases. ref_count.h has another
# count.
VALUE_COUNT_HOMES = ("host_runtime/async/", "host_runtime/base/ref_count.h",
                     "host_runtime/executor/request/call_scope.h")
# Whether a value is unique may be asked only to save a copy, never to decide what others hear.
UNIQUE_VALUE_ROOMS = ("distributed/",)

MAXIMUM_FIELDS = 30
MAXIMUM_BOOLEANS = 4
# Structs that are larger today, with their fields and booleans: they may only shrink.
LARGE_STRUCTS = {
    "tfrt_text_to_text_options_s": (30, 5),
    "form_s": (30, 8),
    "tfrt_collective_transfer_s": (30, 8),
    "tfrt_collective_record_s": (30, 6),
    "tfrt_attach_s": (30, 6),
    "tfrt_run_options_s": (30, 6),
    "tfrt_wait_node_s": (30, 5),
}
# Code that is no part of the product.
STRUCT_FREE_FOLDERS = ("tests/", "examples/")

MAXIMUM_FILE_LINES = 1000
MAXIMUM_FUNCTION_LINES = 100

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
TUNING = re.compile(r"#define \w+_(NS|US|MS|S|BYTES)\s+\(*(\w+\)|U?INT64_C\()?\s*\d")
TUNING_FILES = ["distributed/tuning/tuning.h", "distributed/wire/limits.h"]
GOTO = re.compile(r"\bgoto\b")
STATIC_NAME = re.compile(r"^static [^=;(]*\b(tfrt_\w+)\(")
FENCE = re.compile(r"\batomic_(thread|signal)_fence\b")
VALUE_COUNT = re.compile(r"\batomic_(load|exchange|compare_exchange)\w*\s*\("
                         r"[^,;]*(->|\.)count\b")
UNIQUE_VALUE = re.compile(r"\btfrt_async_value_is_unique\s*\(")
# Relies on the formatter: the body of a struct closes in column 0.
STRUCT = re.compile(r"^(?:typedef )?struct (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
BOOLEAN = re.compile(r"(const |volatile |_Atomic )*bool\b")
SLEEP = re.compile(r"\b(u|nano|clock_nano)?sleep\s*\(")
# Not behind `.` or `->`: a table of functions may have a member called free.
ALLOCATION = re.compile(
    r"(?<![\w.>])(malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf|vasprintf"
    r"|aligned_alloc|posix_memalign|memalign)\s*\(")
# These ask the locale of the process, which a program that embeds the runtime may set: to write a
# float, to read any number, for the class and the case of characters, and to write a date.
LOCALE_FUNCTION = re.compile(
    r"(?<![\w.>])(strto(d|f|ld|l|ll|ul|ull|imax|umax)|ato(f|i|l|ll)|v?[fs]?scanf|strftime"
    r"|is(alpha|digit|alnum|space|xdigit|upper|lower|print|punct|graph|cntrl|blank)"
    r"|to(upper|lower)|strn?casecmp|strcoll|strxfrm|v[fsd]?n?printf|vasprintf)\s*\(")
LOCALE_HEADERS = ("ctype.h", "locale.h", "wctype.h")
PRINTING = re.compile(r"(?<![\w.>])([fsd]?n?printf)\s*\(")
FLOAT_CONVERSION = re.compile(r"%[-+ #0']*(\*|\d+)?(\.(\*|\d+)?)?[lL]?[eEfFgGaA]")
LOCALE_FREE_FILES = {"host_runtime/base/number_text.c"}

UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
COMMENT = re.compile(r"//(.*)")
NAMED_FUNCTION = re.compile(r"(?<![\w.>])([A-Za-z_]\w*)\(\)")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
FUNCTION_OPENING = re.compile(r"^(?!typedef|struct|union|enum|static const|const|#)\S.*\)\s*\{$"
                              r"|^\s+\S.*\)\s*\{$")
C_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)


class Violation:
    """One broken rule at one line."""

    def __init__(self, path, line, rule, message):
        self.path, self.line, self.rule, self.message = path, line, rule, message

    def __str__(self):
        return f"{self.path}:{self.line}: [{self.rule}] {self.message}"


def source_files(root):
    """The paths, relative to `root`, of all source files, sorted."""
    found = []
    for folder, folders, names in os.walk(root):
        relative = os.path.relpath(folder, root)
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS and
                            not (relative == "." and name.startswith("bazel-")))
        for name in sorted(names):
            if name.endswith(SOURCE_SUFFIXES) or name in SOURCE_NAMES:
                found.append(os.path.normpath(os.path.join(relative, name)))
    return found


def without_comments_and_strings(text):
    """`text` of C with comments and literals blanked; line numbers stay."""
    def blank(match):
        token = match.group(0)
        if token[0] == "/":
            return "\n" * token.count("\n") or " "
        return token[0] * 2
    return C_TOKEN.sub(blank, text)


def is_at_home(path, homes):
    """Whether the file is in one of the homes, or tests one of them."""
    return any(path.startswith(home) or path.startswith("tests/" + home) for home in homes)


def check_vendor_include(path, header):
    for pattern, homes in VENDOR_HOMES:
        if re.match(pattern, header) and not is_at_home(path, homes):
            return f"<{header}> may be included only in {', '.join(homes)}"
    return None


def check_layer_include(path, header):
    for room, allowed in LAYERS:
        if path.startswith(room):
            if any(header.startswith(folder) for folder in allowed):
                return None
            return f"{room} may include only {', '.join(allowed)}; not \"{header}\""
    return None


def check_includes(root, path, lines):
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, header = match.groups()
        message = check_vendor_include(path, header)
        if message:
            yield Violation(path, number, "vendor-include", message)
        if quote == "<" or header.endswith(".pb-c.h"):
            continue
        if not os.path.isfile(os.path.join(root, header)):
            yield Violation(path, number, "include-path",
                            f'there is no "{header}"; includes are paths from the root')
        message = check_layer_include(path, header)
        if message:
            yield Violation(path, number, "layer-include", message)


def check_guard(path, lines):
    guard = "TFRT_" + re.sub(r"[^A-Z0-9]", "_", path.upper()) + "_"
    if f"#ifndef {guard}" not in lines or f"#define {guard}" not in lines:
        yield Violation(path, 1, "include-guard", f"the include guard is not {guard}")


def check_spdx(path, lines):
    line = 1 if lines and lines[0].startswith("#!") else 0
    if len(lines) <= line or "SPDX-License-Identifier: Apache-2.0" not in lines[line]:
        yield Violation(path, line + 1, "spdx",
                        "this line is not `SPDX-License-Identifier: Apache-2.0` in a comment")


def check_code_words(path, code_lines):
    for number, line in enumerate(code_lines, 1):
        if TUNING.match(line) and path.startswith("distributed/") and path not in TUNING_FILES:
            yield Violation(path, number, "tuning-constant",
                            "times and sizes that could be others are in distributed/tuning/tuning.h")
        if GOTO.search(line):
            yield Violation(path, number, "goto", "return early or chain ok-checks instead")
        match = STATIC_NAME.match(line)
        if match and path.endswith(".c"):
            yield Violation(path, number, "static-name",
                            f"{match.group(1)} is for this file alone: leave the tfrt_ out")
        if FENCE.search(line):
            yield Violation(path, number, "fence", "put the memory order on the operations")
        if VALUE_COUNT.search(line) and not path.startswith(VALUE_COUNT_HOMES):
            yield Violation(path, number, "value-count",
                            "this may be the count of an AsyncValue; let each user have a value of "
                            "its own, or watch for the value's end")
        if UNIQUE_VALUE.search(line) and path.startswith(UNIQUE_VALUE_ROOMS):
            yield Violation(path, number, "value-count",
                            "what hosts tell each other must not depend on a count of references")
        if path.startswith("tests/") and SLEEP.search(line):
            yield Violation(path, number, "test-sleep", "use a fake clock or wait for the event")
        match = ALLOCATION.search(line)
        if match and path not in ALLOCATING_FILES:
            yield Violation(path, number, "allocator",
                            f"{match.group(1)}(): memory comes from a tfrt_allocator_t")


def call_end(text, opening):
    """The position behind the parenthesis that closes the one at `opening`; literals are skipped."""
    depth, position = 0, opening
    while position < len(text):
        literal = C_TOKEN.match(text, position)
        if literal:
            position = literal.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
        if depth == 0:
            break
    return position


def check_locale(path, text, code_lines):
    """Tests may read and write numbers as they like, where no locale is set."""
    if path in LOCALE_FREE_FILES or path.startswith(("tests/",) + OUTSIDE_PROJECTS):
        return
    for number, line in enumerate(code_lines, 1):
        include = INCLUDE.match(line)
        if include and include.group(2) in LOCALE_HEADERS:
            yield Violation(path, number, "locale", f"<{include.group(2)}> asks the locale")
        match = LOCALE_FUNCTION.search(line)
        if match:
            yield Violation(path, number, "locale",
                            f"{match.group(1)}() asks the locale; see host_runtime/base/"
                            "number_text.h and ascii.h")
    for match in PRINTING.finditer(text):
        call = text[match.start():call_end(text, match.end() - 1)]
        formats = "".join(literal.group(0) for literal in C_TOKEN.finditer(call)
                          if literal.group(0)[0] == '"')
        if FLOAT_CONVERSION.search(formats.replace("%%", "")):
            yield Violation(path, text.count("\n", 0, match.start()) + 1, "locale",
                            f"{match.group(1)}() of a float asks the locale; "
                            "tfrt_number_text_format() doesn't")


def check_function_lengths(path, code_lines):
    """Relies on the formatter: a body opens at the end of a line and closes in column 0."""
    opened, depth = None, 0
    for number, line in enumerate(code_lines, 1):
        if opened is None and depth == 0 and FUNCTION_OPENING.match(line.rstrip()):
            opened = number
        depth += line.count("{") - line.count("}")
        if depth > 0 or opened is None:
            continue
        length = number - opened - 1
        if length > MAXIMUM_FUNCTION_LINES:
            yield Violation(path, opened, "function-length",
                            f"{length} lines; at most {MAXIMUM_FUNCTION_LINES}")
        opened = None


def count_fields(body):
    """How many fields, and how many booleans among them, a struct with this body has."""
    body = re.sub(r"\b(_Atomic|TFRT_ATOMIC)\s*\(([^()]*)\)", r"\2", body)
    for pattern in (r"\([^()]*\)", r"\([^()]*\)", r"\[[^\]]*\]"):
        body = re.sub(pattern, " x ", body)
    fields = booleans = 0
    # The members of an inner struct or union count as well.
    for declaration in re.split(r"[;{}]", re.sub(r"^\s*#.*$", "", body, flags=re.MULTILINE)):
        declaration = " ".join(declaration.split())
        if not declaration or re.match(r"(struct|union|enum)?\s*\w*$", declaration):
            continue
        count = declaration.count(",") + 1
        fields += count
        if BOOLEAN.match(declaration):
            booleans += count
    return fields, booleans


def check_structs(path, code):
    if path.startswith(STRUCT_FREE_FOLDERS):
        return
    for match in STRUCT.finditer(code):
        name, body = match.groups()
        fields, booleans = count_fields(body)
        most = (MAXIMUM_FIELDS, MAXIMUM_BOOLEANS)
        known = LARGE_STRUCTS.get(name, most)
        line = code.count("\n", 0, match.start()) + 1
        if fields > known[0] or booleans > known[1]:
            yield Violation(path, line, "struct-size",
                            f"{name} has {fields} fields and {booleans} booleans, may have "
                            f"{known[0]} and {known[1]}; put what belongs together into a struct, "
                            "and states into an enumeration")
        # A short name of a source may be that of another struct elsewhere.
        is_listed = name in LARGE_STRUCTS and name.startswith("tfrt_")
        if is_listed and (max(fields, most[0]), max(booleans, most[1])) < known:
            yield Violation(path, line, "struct-size",
                            f"{name} has {fields} fields and {booleans} booleans: lower its numbers "
                            "in LARGE_STRUCTS, or take it out")


def check_file(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        text = file.read()
    lines = text.splitlines()
    yield from check_spdx(path, lines)
    if len(lines) > MAXIMUM_FILE_LINES:
        yield Violation(path, MAXIMUM_FILE_LINES, "file-length",
                        f"{len(lines)} lines; at most {MAXIMUM_FILE_LINES}")
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield Violation(path, number, "unfinished", "finish it, or say what is so and why")
    if not path.endswith(C_SUFFIXES):
        return
    code = without_comments_and_strings(text)
    code_lines = code.splitlines()
    yield from check_structs(path, code)
    yield from check_code_words(path, code_lines)
    yield from check_locale(path, text, code_lines)
    yield from check_function_lengths(path, code_lines)
    if path.startswith(OUTSIDE_PROJECTS):
        return
    yield from check_includes(root, path, lines)
    if path.endswith(".h"):
        yield from check_guard(path, lines)


def check_named_functions(root, paths):
    """What a comment calls the partner of an atomic, or the owner of a reference, must exist."""
    texts = {}
    for path in paths:
        if path.endswith(C_SUFFIXES):
            with open(os.path.join(root, path), encoding="utf-8") as file:
                texts[path] = file.read()
    known = set()
    for text in texts.values():
        known.update(IDENTIFIER.findall(without_comments_and_strings(text)))
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            comment = COMMENT.search(line)
            for name in NAMED_FUNCTION.findall(comment.group(1)) if comment else ():
                if name not in known:
                    yield Violation(path, number, "named-function", f"there is no {name}()")


def include_graph(root, paths):
    """What each file includes of CIRCLE_ROOM; a header and a source of one name are one file."""
    graph = {}
    for path in paths:
        if not (path.startswith(CIRCLE_ROOM) and path.endswith(C_SUFFIXES)):
            continue
        name = os.path.splitext(path)[0]
        includes = graph.setdefault(name, set())
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for line in file:
                match = INCLUDE.match(line)
                if match and match.group(2).startswith(CIRCLE_ROOM):
                    includes.add(os.path.splitext(match.group(2))[0])
    for includes in graph.values():
        includes &= graph.keys()
    return graph


def reached(graph, start):
    """All that `start` includes, directly or not."""
    found, todo = set(), [start]
    while todo:
        for name in graph[todo.pop()] - found:
            found.add(name)
            todo.append(name)
    return found


def check_circles(root, paths):
    """Each circle is reported once, at the first of its files."""
    graph = include_graph(root, paths)
    below = {name: reached(graph, name) for name in graph}
    for name in sorted(graph):
        circle = sorted(other for other in below[name] | {name} if name in below[other])
        if len(circle) < 2 or circle[0] != name:
            continue
        rooms = {os.path.dirname(other) for other in circle}
        if len(circle) > MAXIMUM_CIRCLE or len(rooms) > 1:
            yield Violation(name + ".h", 1, "include-circle",
                            f"{len(circle)} files include each other: {', '.join(circle)}")


def check_tree(root):
    """Returns (the number of files read, the list of violations)."""
    paths = source_files(root)
    violations = [violation for path in paths for violation in check_file(root, path)]
    violations += check_named_functions(root, paths)
    violations += check_circles(root, paths)
    return len(paths), violations


def main(arguments):
    if len(arguments) != 2 or not os.path.isdir(arguments[1]):
        print(f"usage: {arguments[0]} ROOT, the folder of the project", file=sys.stderr)
        return 2
    count, violations = check_tree(arguments[1])
    for violation in violations:
        print(violation)
    print(f"{count} files read, {len(violations)} violations")
    if count == 0:
        print(f"error: no source file under {arguments[1]}", file=sys.stderr)
    return 1 if violations or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
