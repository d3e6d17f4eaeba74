#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each step that proto/model/README.md maps to code is in the model, and each function in distributed/."""

import pathlib
import re
import sys

ROOT = pathlib.Path("WORKSPACE").resolve().parent
ROW = re.compile(r"^\| (.*) \| (.*) \|$")
SPAN = re.compile(r"`([^`]+)`")


def main():
    code = "\n".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "distributed").rglob("*.c")
    )
    models = "\n".join(
        path.read_text(encoding="utf-8") for path in pathlib.Path("proto/model").glob("*.pml")
    )
    missing = []
    functions = 0
    for line in pathlib.Path("proto/model/README.md").read_text(encoding="utf-8").splitlines():
        row = ROW.match(line)
        if not row or row.group(2) in ("in the code", "---"):
            continue
        missing += [name for name in SPAN.findall(row.group(1)) if not re.search(r"\b%s\b" % name, models)]
        names = SPAN.findall(row.group(2))
        functions += len(names)
        missing += [name for name in names if not re.search(r"\b%s\(" % name, code)]
    if missing or functions == 0:
        sys.exit("proto/model/README.md names what is not there: %s" % ", ".join(missing))


main()
