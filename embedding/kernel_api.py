#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the functions that shared libraries may call, as options of the linker.

    embedding/kernel_api.py [ROOT [HEADER]] > kernel_api.options

They are all functions that HEADER (embedding/kernel_library.h, for libraries with devices
embedding/device_library.h) and what it includes declare between TFRT_API_BEGIN and TFRT_API_END. Reading the text is enough for that. A program that is linked with
these options has all of them, used or not, and exports them.
"""

import os
import re
import sys

KERNEL_HEADER = "embedding/kernel_library.h"
DEVICE_HEADER = "embedding/device_library.h"
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
PUBLIC = re.compile(r"^TFRT_API_BEGIN$(.*?)^TFRT_API_END$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"//[^\n]*")
DIRECTIVE = re.compile(r"^#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
# Declarations with these prefixes are no functions that others link.
OWN = re.compile(r"\s*(static|typedef|TFRT_ALWAYS_INLINE)\b")
DECLARED = re.compile(r"\b(tfrt_\w+)\s*\(")


def closure(root, header):
    """`header` and all project headers that it includes, directly or not, sorted."""
    found, left = set(), [header]
    while left:
        path = left.pop()
        if path in found:
            continue
        found.add(path)
        with open(os.path.join(root, path), encoding="utf-8") as file:
            left += INCLUDE.findall(file.read())
    return sorted(found)


def without_bodies(text):
    """`text` with each `{...}` at the outermost level replaced by `;`."""
    kept, depth = [], 0
    for character in text:
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                kept.append(";")
        elif depth == 0:
            kept.append(character)
    return "".join(kept)


def declared_functions(text):
    """The names of the public functions that a header's `text` declares but doesn't define."""
    names = []
    for part in PUBLIC.findall(text):
        part = without_bodies(DIRECTIVE.sub("", COMMENT.sub("", part)))
        for declaration in part.split(";"):
            match = DECLARED.search(declaration)
            if match and not OWN.match(declaration):
                names.append(match.group(1))
    return names


def kernel_api(root, header=KERNEL_HEADER):
    """The names of all functions that a library which includes `header` may call, sorted."""
    names = set()
    for path in closure(root, header):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            names.update(declared_functions(file.read()))
    return sorted(names)


def options(names):
    """The text of the file of options: each function is linked, and exported."""
    return "".join(f"-u {name} --export-dynamic-symbol={name}\n" for name in names)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    header = sys.argv[2] if len(sys.argv) > 2 else KERNEL_HEADER
    sys.stdout.write(options(kernel_api(root, header)))


if __name__ == "__main__":
    main()
