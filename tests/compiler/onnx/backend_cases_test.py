#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the ONNX project's own test cases (Debian's libonnx-testdata) and checks the page about them.

    backend_cases_test.py BACKEND_CASES PAGE [--write]

Each case passes, or is refused because something is not supported, or is one of KNOWN. PAGE lists
what doesn't pass; --write writes it anew.
"""

import collections
import re
import subprocess
import sys

DATA = "/usr/share/libonnx-testdata/data"

# Cases whose tensors contradict their model.
KNOWN = {
    "test_cast_BFLOAT16_to_FLOAT": "its tensors are UINT16, its model says BFLOAT16",
    "test_cast_FLOAT_to_BFLOAT16": "its tensors are UINT16, its model says BFLOAT16",
    "test_castlike_BFLOAT16_to_FLOAT": "its tensors are UINT16, its model says BFLOAT16",
    "test_castlike_BFLOAT16_to_FLOAT_expanded": "its tensors are UINT16, its model says BFLOAT16",
    "test_castlike_FLOAT_to_BFLOAT16": "its tensors are UINT16, its model says BFLOAT16",
    "test_castlike_FLOAT_to_BFLOAT16_expanded": "its tensors are UINT16, its model says BFLOAT16",
}


def reason_of(text):
    text = re.sub(r"^\S+model\.onnx(:\d+:\d+)?: ", "", text)
    text = re.sub(r"^node \d+( '[^']*')?, \w+: ", "", text)
    text = re.sub(r" of opset \d+ is not supported \(.*", " is not supported", text)
    text = re.sub(r"(the input|tensor) '[^']*'", r"\1", text)
    return text


def main():
    program, page = sys.argv[1:3]
    output = subprocess.run([program, DATA], stdout=subprocess.PIPE, text=True, check=False).stdout
    if output.startswith("skipped"):
        print(output)
        return 0
    passed, reasons, failed = 0, collections.defaultdict(list), []
    for line in output.splitlines():
        word, _, rest = line.partition(" ")
        name, _, text = rest.partition(": ")
        if word == "pass":
            passed += 1
        elif name in KNOWN:
            reasons[KNOWN[name]].append(name)
        elif word == "skip":
            reasons[reason_of(text)].append(name)
        elif word == "FAIL":
            failed.append(line)
    skipped = sum(len(names) for names in reasons.values())
    lines = [
        "# Test cases of the ONNX project", "",
        "Written by `tests/compiler/onnx/backend_cases_test.py`, which also runs them: the cases of",
        "Debian's package `libonnx-testdata` 1.12. Each result has the same type and shape as the",
        "case's, and elements within 1e-3 (relative) or 1e-7 (absolute).", "",
        f"{passed} of {passed + skipped + len(failed)} pass. The others, by reason:", "",
    ]
    for reason, names in sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0])):
        lines += [f"## {reason} ({len(names)})", "", "```", *sorted(names), "```", ""]
    text = "\n".join(lines)
    if "--write" in sys.argv:
        with open(page, "w", encoding="utf-8") as file:
            file.write(text)
    with open(page, encoding="utf-8") as file:
        is_same = file.read() == text
    print(f"{passed} passed, {skipped} skipped, {len(failed)} failed")
    print("\n".join(failed))
    if not is_same:
        print(f"{page} is not what the cases say: run this with --write")
    return 1 if failed or not is_same else 0


sys.exit(main())
