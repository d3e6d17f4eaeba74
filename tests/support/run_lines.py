#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that test files name in their own comments, as LLVM's lit does.

    run_lines.py [--tool NAME=PATH]... FILE...

    // RUN: tfrt_opt -inline %s | FileCheck %s

Lines of one command end in a backslash but for the last. All commands of a file must succeed,
and each program of a pipe. In a command

    %s      is the file, as it was named on the command line
    %S      its folder
    %t      a name for a file of the test's own
    %s.bef  the file translated with `tfrt_translate -mlir-to-bef`
    %%      a per cent sign

Programs are those given by --tool, and FileCheck and not of Debian's llvm-14-tools.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

LLVM_TOOLS = {"FileCheck": "FileCheck-14", "not": "not-14"}
TIMEOUT_SECONDS = 300


def run_lines(path):
    """The commands of the file at `path`."""
    commands = []
    continued = False
    with open(path, encoding="utf-8") as file:
        for line in file:
            found = re.search(r"\bRUN:\s*(.*?)\s*$", line)
            if not found:
                continue
            text = found.group(1)
            goes_on = text.endswith("\\")
            text = text[:-1].rstrip() if goes_on else text
            if continued:
                commands[-1] += " " + text
            else:
                commands.append(text)
            continued = goes_on
    if continued:
        raise ValueError(f"{path}: the last RUN line ends in a backslash")
    return commands


def substitute(command, path, folder):
    """`command` with what the marks stand for."""
    values = {
        "%s.bef": os.path.join(folder, os.path.basename(path) + ".bef"),
        "%s": path,
        "%S": os.path.dirname(path) or ".",
        "%t": os.path.join(folder, "t"),
        "%%": "%",
    }
    return re.sub(r"%s\.bef|%[sSt%]", lambda found: values[found.group(0)], command)


def shell(command, tools):
    """Runs `command`; returns its exit code and all that it printed."""
    environment = dict(os.environ, PATH=tools + os.pathsep + os.environ["PATH"])
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=TIMEOUT_SECONDS, errors="replace")
    return done.returncode, done.stdout


def run_file(path, tools):
    """Runs the commands of the file at `path`; returns what went wrong, or None."""
    commands = run_lines(path)
    if not commands:
        return "there is no RUN line"
    with tempfile.TemporaryDirectory() as folder:
        if any("%s.bef" in command for command in commands):
            commands.insert(0, "tfrt_translate -mlir-to-bef %s -o %s.bef")
        for command in commands:
            code, output = shell(substitute(command, path, folder), tools)
            if code != 0:
                return f"exit code {code} of: {command}\n{output}"
    return None


def link_tools(arguments, folder):
    """Links the programs that commands may name into `folder`."""
    for name, program in LLVM_TOOLS.items():
        found = shutil.which(program)
        if not found:
            sys.exit(f"run_lines.py: there is no {program}: install llvm-14-tools")
        os.symlink(found, os.path.join(folder, name))
    for argument in arguments:
        name, _, path = argument.partition("=")
        if not os.access(path, os.X_OK):
            sys.exit(f"run_lines.py: --tool {argument}: no program there")
        os.symlink(os.path.abspath(path), os.path.join(folder, name))


def main(arguments):
    tools = []
    while arguments and arguments[0] == "--tool":
        tools.append(arguments[1])
        arguments = arguments[2:]
    if not arguments:
        sys.exit(__doc__)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        link_tools(tools, folder)
        for path in arguments:
            problem = run_file(path, folder)
            print(f"{'FAIL' if problem else 'PASS'}: {path}")
            if problem:
                failures += 1
                print(problem)
    print(f"{len(arguments) - failures} of {len(arguments)} files passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
