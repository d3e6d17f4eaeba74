#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs without chains, against an interpreter that runs them in order.

    random_chains_test.py BIN_FOLDER [SEED [FILES [OPTION...]]]

Programs write to and read cells (cells.c, a kernel library that is compiled here) through views,
branches, loops, calls and recursion, and print. After `insert-chains` they must print the same on
each work queue, whatever the delays of the kernels, also canonicalised, and `--check-chains` must find no pair of
accesses without order. Programs for several hosts call functions on hosts 0 to 2, which read the
caller's cells, write to their own, and print; `tfrt run --in-process=3` runs them. The same is done
with programs in the language of asynchronous programs (flow_programs.py). Then chains are
left out on purpose, one kind at a time: the same programs and the same pass must find that.

FILES files of PROGRAMS_PER_FILE programs each; by hand, `random_chains_test.py bazel-bin/tools 1 2500`
checks 100,000 programs.
"""

import os
import re
import subprocess
import sys
import tempfile

from chain_programs import HOSTS, PROGRAMS_PER_FILE, make_file
from flow_programs import make_flow_file

BIN = os.path.abspath(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
FILES = int(sys.argv[3]) if len(sys.argv) > 3 else 4
OPTIONS = sys.argv[4:]
WHERE = ("--local=%d" if "cluster" in OPTIONS else "--in-process=%d") % 3
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cells.c")


def run(tool, *arguments, data=b"", environment=None, check=True):
    done = subprocess.run([os.path.join(BIN, tool), *arguments], input=data, capture_output=True,
                          timeout=120, check=False, env={**os.environ, **(environment or {})})
    if check and done.returncode != 0:
        raise AssertionError("%s %s: %s" % (tool, arguments, done.stderr.decode()))
    return done.stdout


def make_hosts_file(seed, make=make_file, call="tfrt.call"):
    """The text of such programs for HOSTS hosts, which @main calls in turn, and what that prints."""
    text, expected = make(seed, HOSTS)
    calls = ["  %s @%s() : () -> ()" % (call, name) for name in expected]
    text += "func.func @main() {\n%s\n  tfrt.return\n}\n" % "\n".join(calls)
    return text, [line for lines in expected.values() for line in lines]


def make_flow_hosts_file(seed):
    return make_hosts_file(seed, make_flow_file, "func.call")


def run_on_hosts(library, path, seed, *arguments):
    """The lines that the program at `path` prints on HOSTS hosts, and the exit code."""
    done = subprocess.run([os.path.join(BIN, "tfrt"), "run", path, "--shared_libs=" + library,
                           "--threads=3", *arguments], capture_output=True, timeout=120,
                          check=False, env={**os.environ, "CELL_SEED": str(seed)})
    if done.stderr:
        raise AssertionError("tfrt run %s: %s" % (path, done.stderr.decode()))
    # A function of the language that gives nothing gives a chain.
    return [line for line in done.stdout.decode().splitlines()
            if not line.startswith("'main' returned")]


def outputs_of(text):
    """The lines that each function of bef_executor printed."""
    outputs, name = {}, None
    for line in text.decode().splitlines():
        match = re.match(r"--- Running '(.*)':", line)
        if match:
            name = match.group(1)
            outputs[name] = []
        elif line.startswith("---"):
            name = None
        elif name and not line.startswith("'%s' returned" % name):
            outputs[name].append(line)
    return outputs


def races(library, text):
    """The races that a run of `text` with `--check_races` reports."""
    bef = run("mlir_to_bef", "--shared_libs=" + library, data=text.encode())
    done = subprocess.run([os.path.join(BIN, "bef_executor"), "--shared_libs=" + library,
                           "--work_queue_type=mstd:2", "--check_races"], input=bef,
                          capture_output=True, timeout=120, check=False)
    return done.stderr.decode().count("runtime error: race: ")


def differences(library, text, expected, queue, seed):
    """The programs of `text` that print what isn't expected."""
    bef = run("mlir_to_bef", "--shared_libs=" + library, data=text.encode())
    printed = run("bef_executor", "--shared_libs=" + library, "--work_queue_type=" + queue,
                  "--host_allocator_type=malloc", data=bef, environment={"CELL_SEED": str(seed)},
                  check=False)
    found = outputs_of(printed)
    return [name for name in expected if found.get(name) != expected[name]]


# --- Chains that are left out -----------------------------------------------------------------------


KINDS = {
    "read": ("cell.get", "cell.peek"),
    "write": ("cell.set", "cell.add", "cell.mix"),
    "output": ("tfrt.print.i64",),
    "merge": ("tfrt.merge.chains",),
    "call": ("tfrt.call", "tfrt.cond"),
    "host": ("tfrt.call",),
    "branch": ("tfrt.if",),
    "loop": ("tfrt.repeat.i32",),
    "return": ("tfrt.return",),
}


def forget_in(line, types, ready, only_first):
    """`line`, an op in generic form, with `ready` for its chains, or for the first of several."""
    match = re.match(r'(.*?"[\w.]+"\()([^)]*)(\).*)', line)
    names, kinds = match.group(2).split(", "), types.split(", ")
    for index, kind in enumerate(kinds):
        if kind == "!tfrt.chain" and not (only_first and len(kinds) < 2):
            names[index] = ready
        if only_first:
            break
    return match.group(1) + ", ".join(names) + match.group(3)


def forget(text, kind):
    """`text`, in generic form with its chains, without those of one kind; and how many."""
    lines, count, opened = [], 0, []
    for line in text.splitlines():
        lines.append(line)
        if line.endswith("({"):
            opened.append(len(lines) - 1)
            continue
        place = opened.pop() if line.lstrip().startswith("})") else len(lines) - 1
        name = re.search(r'"([\w.]+)"\(', lines[place])
        types = re.search(r" : \(([^)]*)\) -> ", line)
        if not name or not types or name.group(1) not in KINDS[kind]:
            continue
        if kind == "host" and "host = " not in line:
            continue
        ready = "%%forgotten%d" % count
        changed = forget_in(lines[place], types.group(1), ready, kind == "merge")
        if changed != lines[place]:
            count += 1
            lines[place] = '%s = "tfrt.new.chain"() : () -> !tfrt.chain\n%s' % (ready, changed)
    return "\n".join(lines) + "\n", count


def warnings(library, text, *passes):
    """How many pairs of accesses `--check-chains` finds without order."""
    done = subprocess.run([os.path.join(BIN, "tfrt_opt"), *passes, "--check-chains",
                           "--shared_libs=" + library], input=text.encode(), capture_output=True,
                          timeout=120, check=True)
    return done.stderr.decode().count(": warning: ")


# --- The test -----------------------------------------------------------------------------------------


def check_files(library, make):
    for file in range(FILES):
        text, expected = make(SEED * 1000003 + file)
        if warnings(library, text, "--insert-chains"):
            raise AssertionError("seed %d, file %d: --check-chains finds pairs without order" %
                                 (SEED, file))
        if races(library, text):
            raise AssertionError("seed %d, file %d: --check_races finds a race" % (SEED, file))
        once = run("tfrt_opt", "--insert-chains", "--shared_libs=" + library, data=text.encode())
        if run("tfrt_opt", "--insert-chains", "--shared_libs=" + library, data=once) != once:
            raise AssertionError("seed %d, file %d: chains are put in where all are" % (SEED, file))
        smaller = run("tfrt_opt", "--canonicalize", "--shared_libs=" + library,
                      data=text.encode()).decode()
        for queue, its in (("s", text), ("mstd:2", text), ("mstd:4", text), ("mstd:4", smaller)):
            wrong = differences(library, its, expected, queue, SEED + file)
            if wrong:
                path = os.path.join(tempfile.gettempdir(), "wrong_chains.mlir")
                with open(path, "w", encoding="utf-8") as out:
                    out.write(text)
                raise AssertionError("seed %d, file %d, queue %s: %s print something else; the "
                                     "programs are in %s" % (SEED, file, queue, wrong, path))
    print("%d programs print on three queues what they should" % (FILES * PROGRAMS_PER_FILE))


def check_hosts(library, folder, make):
    path = os.path.join(folder, "hosts.mlir")
    count = 0
    for file in range(FILES):
        text, expected = make(SEED * 1000003 + file)
        count += text.count("{host = ")
        if warnings(library, text, "--insert-chains"):
            raise AssertionError("seed %d, file %d: --check-chains finds pairs without order" %
                                 (SEED, file))
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        for seed in range(2):
            printed = run_on_hosts(library, path, SEED + file + seed, WHERE)
            if printed != expected:
                kept = os.path.join(tempfile.gettempdir(), "wrong_hosts.mlir")
                os.replace(path, kept)
                raise AssertionError("seed %d, file %d: %s prints something else on %d hosts" %
                                     (SEED, file, kept, HOSTS))
    print("%d programs print on %d hosts what they should, with %d calls between them" %
          (FILES * PROGRAMS_PER_FILE, HOSTS, count))


def wrong_programs(library, folder, text, expected, on_hosts):
    """How many programs of `text`, which has all its chains, print something else."""
    if not on_hosts:
        return sum(len(differences(library, text, expected, "mstd:4", seed)) for seed in range(3))
    path = os.path.join(folder, "hosts.mlir")
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return sum(run_on_hosts(library, path, seed, WHERE) != expected for seed in range(3))


def check_omissions(library, folder):
    for kind in KINDS:
        found, count, warned, raced = 0, 0, 0, 0
        for file in range(4):
            on_hosts = kind == "host"
            make = make_hosts_file if on_hosts else make_file
            text, expected = make(SEED * 1000003 + file)
            chained = run("tfrt_opt", "--insert-chains", "--mlir-print-op-generic",
                          "--shared_libs=" + library, data=text.encode()).decode()
            broken, changes = forget(chained, kind)
            count += changes
            warned += warnings(library, broken)
            raced += races(library, broken)
            found += wrong_programs(library, folder, broken, expected, on_hosts)
            if found:
                break
        print("%s: %d chains left out, %d pairs without order, %d races, %d wrong programs" %
              (kind, count, warned, raced, found))
        if not warned:
            raise AssertionError("--check-chains finds no chain of kind '%s' missing" % kind)
        # Output is no memory, and bef_executor is one host.
        if not raced and kind not in ("output", "host"):
            raise AssertionError("--check_races finds no chain of kind '%s' missing" % kind)
        if not found:
            raise AssertionError("nobody finds that the chains of kind '%s' are missing" % kind)


def main():
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "cells.so")
        subprocess.run(["gcc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC",
                        "-shared", "-I.", SOURCE, "-o", library], check=True)
        check_files(library, make_file)
        check_hosts(library, folder, make_hosts_file)
        check_files(library, make_flow_file)
        check_hosts(library, folder, make_flow_hosts_file)
        if "only" not in OPTIONS:
            check_omissions(library, folder)


main()
