#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the worked example of a guide (docs/guides/*.md) in a source tree.

    tools/apply_guide.py PAGE [FOLDER]    FOLDER: the source tree, by default this folder

The page's blocks are applied in their order: `diff` blocks are patches, `sh` blocks are run in
FOLDER. Commands that prove a step stand in `console` blocks, which are for the reader. Apply a page
to a branch or a copy; the example is no part of the project.
"""

import re
import subprocess
import sys

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page):
    """(kind, text, line) of each fenced block of |page|, a text."""
    for found in BLOCK.finditer(page):
        yield found.group(1), found.group(2), page.count("\n", 0, found.start()) + 1


def changed_files(page):
    """The files that the patches of |page| make or change."""
    patches = [text for kind, text, _ in blocks(page) if kind == "diff"]
    return sorted(set(re.findall(r"^\+\+\+ b/(\S+)$", "".join(patches), re.MULTILINE)))


def apply(path, folder):
    """Applies the page at |path| to the tree in |folder|; exits at the first block that fails."""
    with open(path, encoding="utf-8") as stream:
        page = stream.read()
    commands = {
        # Lines may have moved since the page was written; the line around a change must be there.
        "diff": ["git", "apply", "-C1", "-"],
        "sh": ["sh", "-eu"],
    }
    for kind, text, line in blocks(page):
        if kind not in commands:
            continue
        process = subprocess.run(commands[kind], input=text, cwd=folder, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, universal_newlines=True, check=False)
        if process.returncode:
            sys.exit("%s:%d: the %s block does not apply:\n%s" % (path, line, kind, process.stdout))
    return page


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    page = apply(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else ".")
    for path in changed_files(page):
        print(path)


if __name__ == "__main__":
    main()
