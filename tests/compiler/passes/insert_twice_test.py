#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`--insert-chains` changes nothing in a text that it has made.

    insert_twice_test.py TFRT_OPT PROGRAM...

Programs that the pass refuses, because they are there for an error, are left out.
"""

import subprocess
import sys

TOOL = sys.argv[1]
FORMS = ([], ["--mlir-print-op-generic"])


def insert(text, form):
    """The text with its chains; None if it is refused."""
    done = subprocess.run([TOOL, "--insert-chains", *form], input=text, capture_output=True,
                          timeout=60, check=False)
    return (done.stdout, b"") if done.returncode == 0 else (None, done.stderr)


def main():
    count = 0
    for path in sys.argv[2:]:
        with open(path, "rb") as file:
            text = file.read()
        for form in FORMS:
            once, _ = insert(text, form)
            if once is None:
                continue
            twice, report = insert(once, form)
            if twice != once:
                raise AssertionError("%s %s: the chains that were put in are %s" %
                                     (path, form, report.decode() or "changed"))
            count += once != text
    if not count:
        raise AssertionError("no program was changed at all")
    print("%d texts stay what they are" % count)


main()
