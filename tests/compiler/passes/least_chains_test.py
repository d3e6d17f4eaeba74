#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`insert-chains` puts in as few chains as there can be, in random functions without branches.

    least_chains_test.py BIN_FOLDER [SEED [FILES]]

The least is the transitive reduction of the dependence graph, found here by trying each edge: it
stays if no other path leads the same way. Each op is two points, its begin and its end. A value of an
op that also gives a chain says that the op has begun, and the chain that it is done. An op with
several chains to wait for may have one merge, and so may one that waits for an op without a chain.
"""

import os
import random
import re
import subprocess
import sys
import tempfile

BIN = os.path.abspath(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
FILES = int(sys.argv[3]) if len(sys.argv) > 3 else 5
FUNCTIONS_PER_FILE = 200
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cells.c")
KINDS = ("set", "add", "mix", "get", "peek", "print", "print", "view")


class Op:
    """An op: what it reads and writes, the values that it uses and the one that it gives."""

    def __init__(self, reads=(), writes=(), uses=(), gives=None, gives_chain=True):
        self.reads, self.writes = set(reads), set(writes)
        self.uses, self.gives, self.gives_chain = uses, gives, gives_chain

    def must_follow(self, other):
        return bool(self.writes & (other.writes | other.reads) or self.reads & other.writes)


def make_function(generator, name):
    """The text of a function, and its ops."""
    text, ops, cells, numbers = [], [], {}, ["%n"]

    def add(line, op):
        text.append("  " + line)
        ops.append(op)

    for index in range(generator.randint(1, 3)):
        cell = "%%c%d" % index
        add(cell + " = cell.new 3", Op(gives=cell, gives_chain=False))
        cells[cell] = cell
    add("%n = tfrt.constant.i64 4", Op(gives="%n", gives_chain=False))
    for index in range(generator.randint(3, 14)):
        kind = generator.choice(KINDS)
        one, other = generator.choice(list(cells)), generator.choice(list(cells))
        number, result = generator.choice(numbers), "%%r%d" % index
        if kind == "set":
            add("cell.set %s, %s" % (one, number), Op((), [cells[one]], [one, number]))
        elif kind == "add":
            add("cell.add %s, %s" % (one, other), Op([cells[other]], [cells[one]], [one, other]))
        elif kind == "mix":
            add("cell.mix " + one, Op((), [cells[one]], [one]))
        elif kind in ("get", "peek"):
            add("%s = cell.%s %s" % (result, kind, one),
                Op([cells[one]], (), [one], result, kind == "get"))
            numbers.append(result)
        elif kind == "view":
            add("%s = cell.view %s" % (result, one), Op(uses=[one], gives=result,
                                                        gives_chain=False))
            cells[result] = cells[one]
        else:
            add("tfrt.print.i64 " + number, Op((), ["output"], [number]))
    return "func.func @%s() {\n%s\n  tfrt.return\n}\n" % (name, "\n".join(text)), ops


def least(ops):
    """The fewest chains, and the most merges, that the function of `ops` needs."""
    count = len(ops)
    behind = [0] * (2 * count)  # of each point, the points that come before it, as bits
    steps = [set() for _ in range(2 * count)]
    makers = {op.gives: index for index, op in enumerate(ops) if op.gives}
    direct = set()
    for index, op in enumerate(ops):
        steps[2 * index + 1].add(2 * index)
        for use in op.uses:
            maker = makers[use]
            steps[2 * index].add(2 * maker + (0 if ops[maker].gives_chain else 1))
            if not ops[maker].gives_chain:
                direct.add((maker, index))
        for before in range(index):
            if op.must_follow(ops[before]):
                steps[2 * index].add(2 * before + 1)
        for point in (2 * index, 2 * index + 1):
            for step in steps[point]:
                behind[point] |= behind[step] | 1 << step
    chains, merges = 0, 0
    for index, op in enumerate(ops):
        waits = []
        for before in range(index):
            point = 2 * before + 1
            others = [step for step in steps[2 * index] if step != point]
            implied = any(behind[step] >> point & 1 for step in others)
            if op.must_follow(ops[before]) and not implied and (before, index) not in direct:
                waits.append(before)
        chains += len(waits)
        merges += len(waits) > 1 or any(not ops[before].gives_chain for before in waits)
    return chains, merges


def check_file(library, seed):
    generator = random.Random(seed)
    text, wanted = "", {}
    for index in range(FUNCTIONS_PER_FILE):
        name = "f%d" % index
        function, ops = make_function(generator, name)
        text += function
        wanted[name] = (function, *least(ops))
    done = subprocess.run([os.path.join(BIN, "tfrt_opt"), "--print-dependence-stats",
                           "--shared_libs=" + library], input=text.encode(), capture_output=True,
                          timeout=120, check=True)
    said = re.findall(r"'@(\w+)': (\d+) chains put in, (\d+) needed at least, (\d+) merges",
                      done.stderr.decode())
    found = {name: (int(put_in), int(needed), int(merges)) for name, put_in, needed, merges in said}
    for name, (function, chains, merges) in wanted.items():
        if found[name][:2] != (chains, chains) or found[name][2] > merges:
            sys.exit("seed %d: %d chains and at most %d merges are enough, not %s:\n%s" %
                     (seed, chains, merges, found[name], function))
    return sum(chains for _, chains, _ in wanted.values())


def main():
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "cells.so")
        subprocess.run(["gcc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC",
                        "-shared", "-I.", SOURCE, "-o", library], check=True)
        chains = sum(check_file(library, SEED * 1000003 + file) for file in range(FILES))
    print("%d functions with %d chains, as few as there can be" %
          (FILES * FUNCTIONS_PER_FILE, chains))


main()
