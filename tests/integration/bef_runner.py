# SPDX-License-Identifier: Apache-2.0
"""Translates a text and runs it: what the tests of bef_executor share."""

import os
import subprocess
import tempfile


class BefRunner:
    """Runs programs with one translator, and with one executor unless a run names another."""

    def __init__(self, translator, executor):
        self.translator = translator
        self.executor = executor

    def run(self, text, *flags, executor=None, is_piped=False):
        """All lines that the program prints, what it says of errors, and its exit code.

        The file is named behind the flags, or, if it `is_piped`, comes from the standard input.
        """
        with tempfile.TemporaryDirectory() as folder:
            source, bef = (os.path.join(folder, name) for name in ("test.mlir", "test.bef"))
            with open(source, "w", encoding="utf-8") as stream:
                stream.write(text)
            subprocess.run([self.translator, source, "-o", bef], check=True)
            with open(bef, "rb") as stream:
                result = subprocess.run(
                    [executor or self.executor, *flags, *([] if is_piped else [bef])],
                    stdin=stream if is_piped else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    universal_newlines=True,
                    check=False,
                )
        return result.stdout.splitlines(), result.stderr, result.returncode
