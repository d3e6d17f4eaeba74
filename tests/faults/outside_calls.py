#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every call of a program to the world outside fails once: the first of a run, then the second of
another run, and so on, until a run reaches its end. No run crashes, hangs, leaves a process, or ends
well with a wrong result; one that does not end well says why. bef_executor, which counts what it
allocates, leaks nothing.

Usage: outside_calls.py SHIM_LIBRARY BEF_EXECUTOR MLIR_TO_BEF TFRT [--first=N] [--step=N] [--most=N]
                        [--only=CASE]

Of the runs of each case, --most are done, from --first on, in steps of --step. SHIM_LIBRARY is
tests/faults/outside_calls.c, which says what is counted. With `tfrt run --local=2`, each of the three
processes fails in its own N-th call.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time

LIMIT_S = 60
LEAK = "Memory leak detected"
PROGRAM = """func.func @twice(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @main() -> i32 {
  %c0 = tfrt.new.chain
  %a = tfrt.constant.i32 21
  %b = tfrt.call @twice(%a) {host = 1 : i32} : (i32) -> (i32)
  %c1 = tfrt.print.i32 %b, %c0
  tfrt.return %b : i32
}
"""


class Case:
    """A command, and what a run that ends well gives: this among what it prints, or the file `made`
    with the bytes of the file `like`."""

    def __init__(self, name, command, output="", made=None, like=None):
        self.name = name
        self.command = command
        self.output = output
        self.made = made
        self.like = like

    def clear(self):
        """Leaves nothing that an earlier run made."""
        if self.made and os.path.exists(self.made):
            os.unlink(self.made)

    def has_result(self, output):
        if self.output not in output:
            return False
        if not self.made:
            return True
        if not os.path.exists(self.made):
            return False
        with open(self.made, "rb") as made, open(self.like, "rb") as like:
            return made.read() == like.read()


def left_over(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def finish(process, limit):
    """The output of |process|, and what is wrong with its end, or None."""
    try:
        output, error = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, error = process.communicate()
        return output, error, "hangs"
    fault = None
    if process.returncode < 0 or process.returncode >= 128:
        fault = "crashes (%d)" % process.returncode
    end = time.monotonic() + 15
    while left_over(process.pid) and time.monotonic() < end:
        time.sleep(0.02)
    if left_over(process.pid):
        os.killpg(process.pid, signal.SIGKILL)
        fault = fault or "leaves a process"
    return output, error, fault


def run(case, shim, number, folder):
    """Returns which functions failed, what is wrong with that run (None: nothing), and its code."""
    report = os.path.join(folder, "report")
    if os.path.exists(report):
        os.unlink(report)
    case.clear()
    variables = dict(os.environ, LD_PRELOAD=shim, TFRT_OUTSIDE_FAIL=str(number),
                     TFRT_OUTSIDE_REPORT=report)
    process = subprocess.Popen(case.command, cwd=folder, env=variables, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    output, error, fault = finish(process, LIMIT_S)
    failed = []
    if os.path.exists(report):
        with open(report, encoding="ascii") as lines:
            failed = lines.read().split("\n")[:-1]
    code = process.returncode
    if not fault and LEAK in output:
        fault = "leaks"
    if not fault and code == 0 and not case.has_result(output):
        fault = "ends well without its result"
    # Nobody can write why the standard error, or memory for a text, fails.
    silent = any(line.split()[0] in ("write", "fwrite", "fflush") for line in failed)
    if not fault and code != 0 and not (output + error).strip() and not silent:
        fault = "does not say why"
    if fault:
        fault += "\n%s\n%s" % (output[-1500:], error[-1500:])
    return failed, fault, code


def check(case, options, folder):
    """All runs of |case|; returns the number of those with a fault."""
    begin = time.monotonic()
    faults = runs = ended_well = 0
    number = options.first
    functions = {}
    complete = False
    while runs < options.most and not complete:
        failed, fault, code = run(case, options.shim, number, folder)
        runs += 1
        for line in failed:
            functions[line.split()[0]] = functions.get(line.split()[0], 0) + 1
        ended_well += code == 0
        if fault:
            faults += 1
            print("%s: call %d (%s) %s" % (case.name, number, "; ".join(failed), fault), flush=True)
        complete = not failed and code == 0
        number += options.step
    print("%s: %d runs, to call %d%s, %d of them with the right result, %d at fault, %.1f s: %s" % (
        case.name, runs, number - options.step, ", which is behind the last" if complete else "",
        ended_well, faults, time.monotonic() - begin,
        ", ".join("%s %d" % pair for pair in sorted(functions.items()))), flush=True)
    return faults


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("shim", type=os.path.abspath)
    parser.add_argument("bef_executor", type=os.path.abspath)
    parser.add_argument("mlir_to_bef", type=os.path.abspath)
    parser.add_argument("tfrt", type=os.path.abspath)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--most", type=int, default=1 << 30)
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program.mlir")
        with open(program, "w", encoding="ascii") as file:
            file.write(PROGRAM)
        bef = os.path.join(folder, "program.bef")
        subprocess.run([options.mlir_to_bef, program, "-o", bef], check=True)
        cases = [
            Case("mlir_to_bef", [options.mlir_to_bef, program, "-o", bef + ".other"],
                 made=bef + ".other", like=bef),
            Case("bef_executor", [options.bef_executor, bef], "'main' returned "),
            Case("in-process", [options.tfrt, "run", program, "--in-process=2"], "'main' returned 42"),
            Case("local", [options.tfrt, "run", program, "--local=2"], "'main' returned 42"),
        ]
        faults = sum(check(case, options, folder) for case in cases
                     if not options.only or case.name in options.only)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
