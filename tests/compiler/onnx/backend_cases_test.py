#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the ONNX project's own test cases (Debian's libonnx-testdata) and checks the page about them.

    backend_cases_test.py BACKEND_CASES PAGE [--write] [--newer MAKE_NEWER_CASES]

Each case passes, or is refused because something is not supported, or is one of KNOWN. PAGE lists
what doesn't pass; --write writes it anew. With --newer, the cases are those of the Python package
onnx instead, which the program makes; without that package and an index of packages, they are
skipped with a word.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

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


NEWER_VERSION = "1.23.2"

# Cases whose results have as few bits as their elements: each step was rounded to 16 bits when they
# were made, and here only the result is.
ROUNDED = re.compile(r"^test_attention_\w*(bf16|fp16)\w*$")


def make_newer_cases(maker, folder):
    """Makes the cases in |folder|; returns why not, or an empty text."""
    python = os.environ.get("TFRT_ONNX_PYTHON")
    if not python:
        python = os.path.join(folder, "venv/bin/python3")
        for command in (["/usr/bin/python3", "-m", "venv", os.path.join(folder, "venv")],
                        [python, "-m", "pip", "install", "-q", f"onnx=={NEWER_VERSION}"]):
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, check=False)
            if done.returncode:
                return f"the package onnx can't be installed: {done.stdout.strip()[-300:]}"
    done = subprocess.run([python, maker, folder, NEWER_VERSION], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.strip()[-300:] if done.returncode else ""


def main():
    if "--newer" not in sys.argv:
        return run(DATA, "Debian's package `libonnx-testdata` 1.12.", "")
    with tempfile.TemporaryDirectory() as folder:
        reason = make_newer_cases(sys.argv[sys.argv.index("--newer") + 1], folder)
        if reason:
            print(f"skipped: {reason}")
            return 0
        return run(folder, f"the Python package `onnx` {NEWER_VERSION}, one operator each.",
                   " --newer tests/compiler/onnx/make_newer_cases.py")


def run(data, source, flags):
    program, page = sys.argv[1:3]
    output = subprocess.run([program, data], stdout=subprocess.PIPE, text=True, check=False).stdout
    if output.startswith("skipped"):
        print(output)
        return 0
    passed, reasons, failed = 0, collections.defaultdict(list), []
    for line in output.splitlines():
        word, _, rest = line.partition(" ")
        name, _, text = rest.partition(": ")
        if word == "pass":
            passed += 1
        elif name in KNOWN and not flags:
            reasons[KNOWN[name]].append(name)
        elif word == "skip":
            reasons[reason_of(text)].append(name)
        elif word == "FAIL" and flags and ROUNDED.match(name):
            reasons["its steps are rounded to 16 bits, not only its result"].append(name)
        elif word == "FAIL":
            failed.append(line)
    skipped = sum(len(names) for names in reasons.values())
    lines = [
        "# Test cases of the ONNX project", "",
        f"Written by `tests/compiler/onnx/backend_cases_test.py{flags}`, which also runs them: the",
        f"cases of {source} Each result has the same type and shape",
        "as the case's, and elements within 1e-3 (relative) or 1e-7 (absolute).", "",
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
