#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tests again in locales of which programs that embed the runtime may set one.

    locale_test.py PROGRAM...

Each test program sets the locale of its environment (tests/support/test_main.h). The locales are
made here: German and Turkish numbers have a decimal comma; in the Turkish one, of one-byte
characters, letters lie above 127 and the capital of "i" is one of them; the decimal point of Pashto
has two bytes.
"""

import os
import subprocess
import sys
import tempfile

LOCALES = [
    ("de_DE", "UTF-8", ","),
    ("tr_TR", "ISO-8859-9", ","),
    ("ps_AF", "UTF-8", "\u066b"),
]


def main(programs):
    assert programs, "no test program is given"
    folder = tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"])
    failed = []
    for language, charset, point in LOCALES:
        name = f"{language}.{charset}"
        # -c: warnings about the locale's own definition don't matter.
        subprocess.run(["localedef", "-c", "-i", language, "-f", charset,
                        os.path.join(folder, name)], stderr=subprocess.DEVNULL)
        environment = dict(os.environ, LC_ALL=name, LOCPATH=folder, TFRT_TEST_DECIMAL_POINT=point)
        environment.pop("TESTBRIDGE_TEST_ONLY", None)
        for program in programs:
            result = subprocess.run([program], env=environment, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, errors="replace")
            if result.returncode:
                failed.append(f"{program} in {name}")
                print(f"--- {failed[-1]}\n{result.stdout}")
    print(f"{len(programs)} programs in {len(LOCALES)} locales; failed: {failed or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
