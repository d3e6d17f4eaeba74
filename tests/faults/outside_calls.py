#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every call of a program to the world outside fails once: the first of a run, then the second of
another run, and so on, until a run reaches its end. No run crashes, hangs, leaves a process or memory,
or ends well with a wrong result; one that does not end well says why.

Usage: outside_calls.py SHIM_LIBRARY BEF_EXECUTOR MLIR_TO_BEF TFRT [--first=N] [--step=N] [--most=N]
                        [--only=CASE] [--skip=FUNCTION]

Of the runs of each case, --most are done, from --first on, in steps of --step. SHIM_LIBRARY is
tests/faults/outside_calls.c, which says what is counted. With `tfrt run --local=2`, each of the three
processes fails in its own N-th call. In "served" it is that of two workers, which go on: nothing of the
job is left in them, and they serve the next one.
"""

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time

LIMIT_S = 60
PATIENCE_S = 10
LEAK = "Memory leak detected"
# These counts are zero in a worker that runs nothing.
COUNTS = ("jobs", "objects", "remote_values", "outgoing_calls", "incoming_calls", "incoming_wants",
          "transfers")
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

# Something of each kind that crosses hosts: calls, lists, payloads, messages, lines. And values that come
# late on one host.
MESH = """func.func @twice(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @late(%x: i32) -> i32 {
  %y = "tfrt_test.async_add.i32"(%x, %x) : (i32, i32) -> i32
  %z = tfrt.add.i32 %y, %x
  tfrt.return %z : i32
}
func.func @make() -> !tfrt_tensor.tensor {
  %ch = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [100000 : i64]
  %c = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch 1.0 : f32
  %r = "tfrt_test.identity"(%c, %t) : (!tfrt.chain, !tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  tfrt.return %r : !tfrt_tensor.tensor
}
func.func @use(%t: !tfrt_tensor.tensor) -> !tfrt.chain {
  %ch = tfrt.new.chain
  %s = tfrt_tensor.sum %t axis 0
  %p = tfrt_dht.print_tensor %s, %ch
  tfrt.return %p : !tfrt.chain
}
func.func @tell(%n: i32) -> !tfrt.chain {
  %c = tfrt.new.chain
  %z = tfrt.constant.i32 0
  %h = tfrt_dist.host %z
  %k = tfrt_dist.key "told"
  %d = tfrt_dist.send %h, %k, %n, %c
  tfrt.return %d : !tfrt.chain
}
func.func @main() -> (i32, i32, i32, i32, !tfrt.chain, !tfrt.chain) {
  %a = tfrt.constant.i32 21
  %one = tfrt.constant.i32 1
  %b = tfrt.call @twice(%a) {host = 1 : i32, pure, retries = 1 : i32} : (i32) -> (i32)
  %l = tfrt_dist.call_all @twice(%a) : (i32) -> (!tfrt_dist.list)
  %s = tfrt_dist.list.sum %l : i32
  %late = tfrt.call @late(%b) {host = 1 : i32} : (i32) -> (i32)
  %t = tfrt.call @make() {host = 1 : i32} : () -> !tfrt_tensor.tensor
  %p = tfrt.call @use(%t) {host = 0 : i32} : (!tfrt_tensor.tensor) -> !tfrt.chain
  %d = tfrt.call @tell(%s) {host = 1 : i32} : (i32) -> !tfrt.chain
  %h = tfrt_dist.host %one
  %k = tfrt_dist.key "told"
  %n, %e = tfrt_dist.recv %h, %k, %d : i32
  tfrt.return %b, %s, %late, %n, %p, %e : i32, i32, i32, i32, !tfrt.chain, !tfrt.chain
}
"""
MESH_RESULT = "'main' returned 42,84,126,84,"


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


class Trial:
    """The shim of one run, and what it has written."""

    def __init__(self, options, number, folder):
        self.programs = options.programs
        self.report = os.path.join(folder, "report")
        self.left = os.path.join(folder, "left")
        for path in (self.report, self.left):
            if os.path.exists(path):
                os.unlink(path)
        self.variables = dict(os.environ, LD_PRELOAD=options.shim, TFRT_OUTSIDE_FAIL=str(number),
                              TFRT_OUTSIDE_SKIP=options.skip, TFRT_OUTSIDE_REPORT=self.report,
                              TFRT_OUTSIDE_LEFT=self.left)

    @staticmethod
    def lines(path):
        if not os.path.exists(path):
            return []
        with open(path, encoding="ascii") as lines:
            return lines.read().split("\n")[:-1]

    def failed(self):
        """Which calls have failed."""
        return self.lines(self.report)

    def find_left(self):
        """The blocks that processes have left, with the places that allocated them; None: none."""
        found = []
        for line in self.lines(self.left):
            name, count, *places = line.split()
            where = subprocess.run(["addr2line", "-f", "-s", "-e", self.programs[name], *places],
                                   stdout=subprocess.PIPE, text=True, check=False).stdout
            found.append("%s: %s of %s" % (name, count, " < ".join(where.split("\n")[::2])))
        return "leaves blocks\n" + "\n".join(found) if found else None


def run(case, options, number, folder):
    """Returns which functions failed, what is wrong with that run (None: nothing), and its code."""
    trial = Trial(options, number, folder)
    case.clear()
    process = subprocess.Popen(case.command, cwd=folder, env=trial.variables,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    output, error, fault = finish(process, LIMIT_S)
    failed = trial.failed()
    code = process.returncode
    if not fault and LEAK in output:
        fault = "leaks"
    fault = fault or trial.find_left()
    if not fault and code == 0 and not case.has_result(output):
        fault = "ends well without its result"
    # Nobody can write why the standard error, or memory for a text, fails.
    silent = any(line.split()[0] in ("write", "fwrite", "fflush") for line in failed)
    if not fault and code != 0 and not (output + error).strip() and not silent:
        fault = "does not say why"
    if fault:
        fault += "\n%s\n%s" % (output[-1500:], error[-1500:])
    return failed, fault, code


class Served:
    """Two workers, each of which fails in its own N-th call, and goes on."""

    name = "served"

    def __init__(self, options, program):
        self.options = options
        self.program = program

    def start(self, trial, folder):
        """Returns two workers and their addresses, as far as they start."""
        workers = []
        addresses = []
        for index in range(2):
            with open(os.path.join(folder, "log%d" % index), "wb") as log:
                worker = subprocess.Popen(
                    [self.options.programs["tfrt_worker"], "--listen=127.0.0.1:0", "--threads=1"],
                    cwd=folder, env=trial.variables, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True)
            workers.append(worker)
            # One whose line can't be written has no address for this test.
            if select.select([worker.stdout], [], [], PATIENCE_S)[0]:
                addresses += worker.stdout.readline().split()[-1:]
        return workers, addresses

    def tfrt(self, *arguments):
        """The code, the output and the errors of the coordinator, which does not fail, and what is
        wrong with its end."""
        process = subprocess.Popen([self.options.tfrt, *arguments], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)
        output, error, fault = finish(process, LIMIT_S)
        return process.returncode, output, error, fault

    def left(self, hosts):
        """What is not zero in the workers after a while."""
        end = time.monotonic() + 20
        while True:
            code, output, error, fault = self.tfrt("status", hosts, "-o=json")
            found = [fault or error] if fault or code else [
                "%d %s" % (host["status"][name], name) for host in json.loads(output)
                for name in COUNTS if host["status"][name]]
            if not found or time.monotonic() > end:
                return "; ".join(found)

    def find_fault(self, trial, hosts):
        """Runs programs until one has the right result after all calls that are to fail."""
        for _ in range(4):
            before = len(trial.failed())
            code, output, error, fault = self.tfrt("run", self.program, hosts)
            if not fault and code == 0 and MESH_RESULT not in output:
                fault = "ends well without its result"
            if not fault and code != 0 and not error.strip():
                fault = "does not say why"
            if not fault and code != 0 and before == 2:
                fault = "serves no more: %d" % code
            if fault:
                return "%s\n%s\n%s" % (fault, output[-1500:], error[-1500:])
            left = self.left(hosts)
            if left:
                return "leaves in workers: %s\n%s" % (left, error[-1500:])
            if code == 0 and before in (0, 2):
                return None
        return None

    def run(self, number, folder):
        """As the function run()."""
        trial = Trial(self.options, number, folder)
        workers, addresses = self.start(trial, folder)
        fault = None
        if len(addresses) == 2:
            fault = self.find_fault(trial, "--hosts=" + ",".join(addresses))
        codes = []
        for index, worker in enumerate(workers):
            has_ended = worker.poll() is not None
            worker.send_signal(signal.SIGTERM)
            _, _, ending = finish(worker, LIMIT_S)
            codes.append(worker.returncode)
            if has_ended and len(addresses) == 2:
                ending = ending or "ends by itself"
            if ending:
                fault = "%s: worker %d %s (%s)" % (fault, index, ending, worker.returncode)
        fault = fault or trial.find_left()
        for index in range(2):
            with open(os.path.join(folder, "log%d" % index), encoding="utf-8") as log:
                text = log.read()
            if codes[index] != 0 and not text.strip() and not trial.failed():
                fault = fault or "does not say why"
            if fault:
                fault += "\nlog %d: %s" % (index, text[-1500:])
        return trial.failed(), fault, max(codes)


def check(case, options, folder):
    """All runs of |case|; returns the number of those with a fault."""
    begin = time.monotonic()
    faults = runs = ended_well = 0
    number = options.first
    functions = {}
    complete = False
    while runs < options.most and not complete:
        failed, fault, code = case.run(number, folder) if isinstance(case, Served) else run(
            case, options, number, folder)
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
    parser.add_argument("--skip", default="")
    options = parser.parse_args()
    worker = os.path.join(os.path.dirname(options.tfrt), "tfrt_worker")
    options.programs = {os.path.basename(path): path for path in (
        options.bef_executor, options.mlir_to_bef, options.tfrt, worker)}
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program.mlir")
        with open(program, "w", encoding="ascii") as file:
            file.write(PROGRAM)
        bef = os.path.join(folder, "program.bef")
        subprocess.run([options.mlir_to_bef, program, "-o", bef], check=True)
        mesh = os.path.join(folder, "mesh.mlir")
        with open(mesh, "w", encoding="ascii") as file:
            file.write(MESH)
        subprocess.run([options.mlir_to_bef, mesh, "-o", mesh + ".bef"], check=True)
        cases = [
            Case("mlir_to_bef", [options.mlir_to_bef, mesh, "-o", mesh + ".other"],
                 made=mesh + ".other", like=mesh + ".bef"),
            Case("bef_executor", [options.bef_executor, bef], "'main' returned "),
            Case("in-process", [options.tfrt, "run", mesh, "--in-process=2"], MESH_RESULT),
            Case("local", [options.tfrt, "run", program, "--local=2"], "'main' returned 42"),
            Case("mesh", [options.tfrt, "run", mesh, "--local=2"], MESH_RESULT),
            Served(options, mesh),
        ]
        faults = sum(check(case, options, folder) for case in cases
                     if not options.only or case.name in options.only)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
