#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The chains that `insert-chains` puts in keep the parallelism of random programs.

    critical_path_test.py BIN_FOLDER [SEED [FILES]]

A program writes to cells, reads them and prints, in functions without branches; each function has
one call, so that the compiler can tell all cells apart. Let each kernel take one unit of time, and
a chain, a merge or an alias none. Then each kernel must start exactly when the last kernel is done
that it depends on: by a value, by the memory of a cell, or by the output. So the critical path with
the chains is that of the dependences themselves, and not one chain more is waited for.

The dependences come from cells that remember their last accesses, and not from the compiler.
"""

import os
import re
import subprocess
import sys
import tempfile

from chain_programs import CELL, FILES as FILE_NAMES, PROGRAMS_PER_FILE
from chain_programs import Box, Function, Generator, Text

BIN = os.path.abspath(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
FILES = int(sys.argv[3]) if len(sys.argv) > 3 else 10
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cells.c")
FREE = ("tfrt.new.chain", "tfrt.merge.chains", "tfrt.alias.value", "tfrt.call")


class StraightGenerator(Generator):
    """Programs without branches and loops, in which each function is called once at most."""

    def branch(self, scope, depth):
        return ("print", self.pick(scope, "i64"))

    loop = branch

    def call(self, scope):
        if not self.functions:
            return ("mix", self.pick(scope, CELL))
        function = self.functions.pop()
        arguments = [self.pick(scope, kind) for _, kind in function.parameters]
        results = [(self.fresh(), kind) for _, kind in function.results]
        scope.extend(results)
        return ("call", function, arguments, results, None)

    def program(self, index):
        functions = []
        self.functions = []
        for k in range(self.random.randrange(0, 4)):
            self.function("h%d_%d" % (index, k))
            functions.append(self.functions[-1])
        main = Function("p%d" % index, [])
        first, second, number = self.fresh(), self.fresh(), self.fresh()
        main.body = [("new", first, 7), ("new", second, 8), ("get", number, first)]
        scope = [(first, CELL), (second, CELL), (number, "i64")]
        main.body += self.block(scope, self.random.randrange(5, 40), 0)
        return functions + [main]


class TimedBox(Box):
    """A cell, with the ends of its last write and of the reads since then."""

    def __init__(self):
        super().__init__(0)
        self.written = 0
        self.read = 0


class Dependences:
    """When each kernel of a program is done, if it waits only for what it depends on."""

    def __init__(self):
        self.ends = []
        self.printed = 0
        self.files = {}

    def end(self, *times):
        self.ends.append(max(times, default=0) + 1)
        return self.ends[-1]

    def run(self, function, arguments):
        """Values are pairs: a box or None, and when the value is there."""
        scope = dict(zip([name for name, _ in function.parameters], arguments))
        for statement in function.body:
            getattr(self, "do_" + statement[0])(scope, *statement[1:])
        return [scope[name] for name, _ in function.results]

    def do_new(self, scope, name, _):
        scope[name] = (TimedBox(), self.end())

    def do_view(self, scope, name, cell):
        scope[name] = (scope[cell][0], self.end(scope[cell][1]))

    def read(self, scope, cell, *times):
        box, time = scope[cell]
        end = self.end(time, box.written, *times)
        box.read = max(box.read, end)
        return end

    def do_get(self, scope, name, cell):
        scope[name] = (None, self.read(scope, cell))

    do_peek = do_get

    def write(self, scope, cell, *times):
        box, time = scope[cell]
        box.written = self.end(time, box.written, box.read, *times)
        box.read = 0

    def do_set(self, scope, cell, number):
        self.write(scope, cell, scope[number][1])

    def do_mix(self, scope, cell):
        self.write(scope, cell)

    def do_add(self, scope, cell, other):
        box, time = scope[other]
        self.write(scope, cell, time, box.written)
        if box is not scope[cell][0]:
            box.read = max(box.read, self.ends[-1])

    def file(self, path):
        return self.files.setdefault(path, TimedBox())

    def do_save(self, scope, number, path):
        file = self.file(path)
        file.written = self.end(scope[number][1], file.written, file.read)
        file.read = 0

    def do_load(self, scope, name, path):
        file = self.file(path)
        end = self.end(file.written)
        file.read = max(file.read, end)
        scope[name] = (None, end)

    def do_clear(self, _):
        files = [self.file(path) for path in FILE_NAMES]
        end = self.end(*[time for file in files for time in (file.written, file.read)])
        for file in files:
            file.written, file.read = end, 0

    def do_print(self, scope, number):
        self.printed = self.end(scope[number][1], self.printed)

    def do_call(self, scope, function, arguments, results, _):
        values = self.run(function, [scope[name] for name in arguments])
        scope.update(zip([name for name, _ in results], values))


class Inserted:
    """When each kernel is done in the text with chains, in generic form."""

    def __init__(self, text):
        self.ends = []
        self.functions = {}
        parameters, lines = [], []
        for line in text.splitlines():
            if '"func.func"' in line:
                name = re.search(r'sym_name = "(\w+)"', line).group(1)
                parameters, lines = [], []
                self.functions[name] = (parameters, lines)
            elif line.lstrip().startswith("^bb0"):
                parameters += re.findall(r"%\w+(?=:)", line)
            elif re.search(r'"\w+\.[\w.]+"\(%|"\w+\.[\w.]+"\(\)', line):
                lines.append(line)

    def run(self, name, times):
        parameters, lines = self.functions[name]
        scope = dict(zip(parameters, times))
        for line in lines:
            match = re.match(r'\s*(?:(%\w+)(?::(\d+))? = )?"([\w.]+)"\(([^)]*)\)', line)
            result, count, kernel, operands = match.groups()
            times = [scope[operand] for operand in operands.split(", ") if operand]
            if kernel == "tfrt.return":
                return times
            if kernel == "tfrt.call":
                values = self.run(re.search(r"callee = @(\w+)", line).group(1), times)
            else:
                end = max(times, default=0) + (kernel not in FREE)
                values = [end] * int(count or 1)
                if kernel not in FREE:
                    self.ends.append(end)
            if count:
                scope.update(("%s#%d" % (result, k), value) for k, value in enumerate(values))
            elif result:
                scope[result] = values[0]
        return []


def insert_chains(library, text):
    return subprocess.run([os.path.join(BIN, "tfrt_opt"), "--insert-chains",
                           "--mlir-print-op-generic", "--shared_libs=" + library],
                          input=text.encode(), capture_output=True, timeout=120,
                          check=True).stdout.decode()


def forget_wait(text):
    """`text` with writes to cells that wait for no chain."""
    return re.sub(r'("cell.mix"\(%[\w#]+), %[\w#]+\)', r"\1)", text)


def add_wait(text):
    """`text` with kernels that wait for the one before them, too."""
    return re.sub(r'(%(\w+) = "cell.(?:new|mix)".*\n.*"(?:cell.new|cell.view|cell.get)"\()(%?)',
                  lambda match: match.group(1) + "%" + match.group(2) +
                  (", %" if match.group(3) else ""), text)


def check_file(library, seed, change=lambda text: text):
    """Compares PROGRAMS_PER_FILE programs; returns the sum of their paths, and of their kernels.

    `change` makes another text of the one with chains.
    """
    generator, text = StraightGenerator(seed), Text()
    programs = [generator.program(index) for index in range(PROGRAMS_PER_FILE)]
    for functions in programs:
        for function in functions:
            text.function(function)
    inserted = Inserted(change(insert_chains(library, "\n".join(text.lines) + "\n")))
    length = kernels = 0
    for functions in programs:
        wanted = Dependences()
        wanted.run(functions[-1], [])
        inserted.ends = []
        inserted.run(functions[-1].name, [])
        if inserted.ends != wanted.ends:
            own = Text()
            for function in functions:
                own.function(function)
            raise AssertionError("seed %d, @%s: kernels are done at %s, and depend on others until "
                                 "%s\n%s" % (seed, functions[-1].name, inserted.ends, wanted.ends,
                                             "\n".join(own.lines)))
        length += max(wanted.ends)
        kernels += len(wanted.ends)
    return length, kernels


def main():
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "cells.so")
        subprocess.run(["gcc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC",
                        "-shared", "-I.", SOURCE, "-o", library], check=True)
        for change in (forget_wait, add_wait):
            try:
                check_file(library, SEED * 1000003, change)
            except AssertionError:
                continue
            raise AssertionError("nobody finds the mistake of %s()" % change.__name__)
        sums = [check_file(library, SEED * 1000003 + file) for file in range(FILES)]
    print("%d programs: critical paths of %d kernels of %d, as the dependences have" %
          (FILES * PROGRAMS_PER_FILE, sum(one for one, _ in sums), sum(two for _, two in sums)))


main()
