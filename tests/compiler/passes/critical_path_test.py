#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The chains that `insert-chains` puts in keep the parallelism of random programs.

    critical_path_test.py BIN_FOLDER [SEED [FILES]]

A program writes to cells and files, reads them and prints, in branches, loops and functions. Each function has
one call, and a branch gives no cell, so that the compiler can tell cells apart. Let each kernel take one unit of time, and
a chain, a merge or an alias none. Then each kernel must start exactly when the last kernel is done
that it depends on: by a value, by the memory of a cell, or by the output. So the critical path with
the chains is that of the dependences themselves, and not one chain more is waited for.

The dependences come from cells that remember their last accesses, and not from the compiler. A branch or a
loop that may write to a cell counts as a write of it, a later one than the reads before it, whichever way
it goes: the compiler can't know. Inside, each kernel waits only for what it depends on.
"""

import os
import re
import subprocess
import sys
import tempfile

from chain_programs import CELL, FILES as FILE_NAMES, PROGRAMS_PER_FILE
from chain_programs import Box, Function, Generator, Text, wrap

BIN = os.path.abspath(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
FILES = int(sys.argv[3]) if len(sys.argv) > 3 else 10
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cells.c")
FREE = ("tfrt.new.chain", "tfrt.merge.chains", "tfrt.alias.value", "tfrt.call", "tfrt.if",
        "tfrt.repeat.i32")


class OnceGenerator(Generator):
    """Programs in which each function is called once at most, outside of branches and loops."""

    inside = 0

    def branch(self, scope, depth):
        self.inside += 1
        _, condition, arguments, bodies, given, result = super().branch(scope, depth)
        self.inside -= 1
        scope[:] = [entry for entry in scope if entry[0] != result]
        return ("if", condition, arguments, bodies, given, None)

    def loop(self, scope, depth):
        self.inside += 1
        statement = super().loop(scope, depth)
        self.inside -= 1
        return statement

    def call(self, scope):
        if self.inside or not self.functions:
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


READS_FIRST, WRITES, READS_LAST = 1, 2, 4
READ = READS_FIRST | READS_LAST


class Classes:
    """The sets of names that may stand for the same cell."""

    def __init__(self, functions):
        self.parents = {}
        self.calls = []
        for function in functions:
            self.block(function.body)
        before = None
        while before != self.parents:
            before = dict(self.parents)
            for outer, inner, is_parameter in self.calls:
                self.unite_alike(inner, outer)
                self.unite_alike(outer[:is_parameter], inner[:is_parameter])

    def unite_alike(self, names, others):
        """Unites those of `others` whose `names` are of one class."""
        first = {}
        for name, other in zip(names, others):
            self.unite(first.setdefault(self.find(name), other), other)

    def find(self, name):
        while self.parents.get(name, name) != name:
            name = self.parents[name]
        return name

    def unite(self, first, second):
        first, second = self.find(first), self.find(second)
        if first != second:
            self.parents[first] = second

    def block(self, statements):
        for statement in statements:
            if statement[0] == "view":
                self.unite(statement[1], statement[2])
            elif statement[0] == "if":
                for body in statement[3]:
                    self.block(body)
            elif statement[0] == "repeat":
                _, _, arguments, body, given, results = statement
                self.block(body)
                for (name, _), back, (result, _) in zip(arguments, given, results):
                    self.unite(name, back)
                    self.unite(name, result)
            elif statement[0] == "call":
                _, function, arguments, results, _ = statement
                inner = function.parameters + function.results
                self.calls.append((arguments + [name for name, _ in results],
                                   [name for name, _ in inner], len(arguments)))


class Dependences:
    """When each kernel of a program is done, if it waits only for what it depends on.

    For each class of cells, and for the output and each file: when the last write is done, and when
    the reads since then are.
    """

    def __init__(self, functions):
        self.ends = []
        self.classes = Classes(functions)
        self.times = {}
        self.begin = 0
        self.files = dict.fromkeys(FILE_NAMES, 0)

    # --- Accesses in order

    def end(self, *times):
        self.ends.append(max(times + (self.begin,)) + 1)
        return self.ends[-1]

    def state(self, place):
        return self.times.get(place, (0, 0))

    def access(self, reads, writes, *times):
        """A kernel that reads and writes these places, and waits for these times."""
        before = [self.state(place)[0] for place in reads]
        before += [time for place in writes for time in self.state(place)]
        end = self.end(*before, *times)
        for place in reads:
            written, read = self.state(place)
            self.times[place] = (written, max(read, end))
        for place in writes:
            self.times[place] = (end, 0)
        return end

    # --- The accesses of statements, without running them

    def bits_of(self, statement):
        kind, find = statement[0], self.classes.find
        if kind in ("get", "peek"):
            return {find(statement[2]): READ}
        if kind == "add":
            return {find(statement[2]): READ, find(statement[1]): WRITES}
        if kind in ("set", "mix"):
            return {find(statement[1]): WRITES}
        if kind == "print":
            return {"output": WRITES}
        if kind == "save":
            return {"file " + statement[2]: WRITES}
        if kind == "load":
            return {"file " + statement[2]: READ}
        if kind == "clear":
            return {"file " + path: WRITES for path in FILE_NAMES}
        found = {}
        bodies = {"if": lambda: statement[3], "repeat": lambda: [statement[3]]}.get(kind, list)()
        for body in bodies:
            for place, bits in self.bits_of_block(body).items():
                if kind == "repeat" and bits & READ:
                    bits |= READ
                found[place] = found.get(place, 0) | bits
        return found

    def bits_of_block(self, statements):
        found = {}
        for statement in statements:
            for place, bits in self.bits_of(statement).items():
                own = found.get(place, 0)
                if not own & WRITES:
                    own |= bits & READS_FIRST
                if bits & WRITES:
                    own &= ~READS_LAST
                found[place] = own | bits & (WRITES | READS_LAST)
        return found

    def handed_on(self, statement, names):
        """The accesses of a branch or a loop that others may see."""
        classes = {self.classes.find(name) for name in names}
        return {place: bits for place, bits in self.bits_of(statement).items()
                if place in classes or " " in place or place == "output"}

    # --- Running

    def run(self, function, arguments):
        """Values are pairs: what the value is, and when it is there."""
        scope = dict(zip([name for name, _ in function.parameters], arguments))
        self.block(function.body, scope)
        return [scope[name] for name, _ in function.results]

    def block(self, statements, scope):
        for statement in statements:
            if statement[0] == "if":
                self.do_branch(scope, statement)
            elif statement[0] == "repeat":
                self.do_loop(scope, statement)
            else:
                getattr(self, "do_" + statement[0])(scope, *statement[1:])

    def do_new(self, scope, name, number):
        scope[name] = (Box(number), self.end())

    def do_view(self, scope, name, cell):
        scope[name] = (scope[cell][0], self.end(scope[cell][1]))

    def do_get(self, scope, name, cell):
        box, time = scope[cell]
        scope[name] = (box.number, self.access([self.classes.find(cell)], [], time))

    do_peek = do_get

    def do_set(self, scope, cell, number):
        scope[cell][0].number = scope[number][0]
        self.access([], [self.classes.find(cell)], scope[cell][1], scope[number][1])

    def do_mix(self, scope, cell):
        box, time = scope[cell]
        box.number = wrap(3 * box.number + 1)
        self.access([], [self.classes.find(cell)], time)

    def do_add(self, scope, cell, other):
        box, time = scope[cell]
        box.number = wrap(box.number + scope[other][0].number)
        target, source = self.classes.find(cell), self.classes.find(other)
        self.access([source] if source != target else [], [target], time, scope[other][1])

    def do_save(self, scope, number, path):
        self.files[path] = scope[number][0]
        self.access([], ["file " + path], scope[number][1])

    def do_load(self, scope, name, path):
        scope[name] = (self.files[path], self.access(["file " + path], []))

    def do_clear(self, _):
        self.files = dict.fromkeys(FILE_NAMES, 0)
        self.access([], ["file " + path for path in FILE_NAMES])

    def do_print(self, scope, number):
        self.access([], ["output"], scope[number][1])

    def do_call(self, scope, function, arguments, results, _):
        find, outer = self.classes.find, self.times
        inner = {place: times for place, times in outer.items() if " " in place or place == "output"}
        places = {}
        for name, (parameter, _) in zip(arguments, function.parameters):
            places[find(parameter)] = find(name)
        inner.update((own, self.state(place)) for own, place in places.items())
        self.times = inner
        values = self.run(function, [scope[name] for name in arguments])
        inner, self.times = self.times, outer
        outer.update((place, times) for place, times in inner.items()
                     if " " in place or place == "output")
        outer.update((place, inner[own]) for own, place in places.items())
        # Nobody else knows new memory: it has not waited for other memory of its class.
        for (name, _), (result, _) in zip(function.results, results):
            if find(name) not in places:
                old, new = self.state(find(result)), inner.get(find(name), (0, 0))
                outer[find(result)] = (max(old[0], new[0]), max(old[1], new[1]))
        scope.update(zip([name for name, _ in results], values))

    def go_in(self, uses, begin):
        """The state outside; inside it is that of `uses`: for each place, whether two chains go in."""
        outer = (self.times, self.begin)
        inner = {}
        for place, (writes, two) in uses.items():
            written, read = self.state(place)
            if two:
                inner[place] = (written, read)
            else:
                inner[place] = (max(written, read) if writes else written, 0)
        self.times, self.begin = inner, begin
        return outer

    def go_out(self, outer, outs, begin):
        inner = self.times
        self.times, self.begin = outer
        for place, (writes, two) in outs.items():
            written, read = (max(time, begin) for time in inner[place])
            if not writes:
                own_written, own_read = self.state(place)
                self.times[place] = (own_written, max(own_read, read, written))
            elif two:
                self.times[place] = (written, max(read, written))
            else:
                self.times[place] = (max(written, read), 0)

    def do_branch(self, scope, statement):
        _, condition, arguments, bodies, _, _ = statement
        number, time = scope[condition]
        begin = self.end(time)
        handed = self.handed_on(statement, [name for name, _ in arguments])
        outer = self.go_in({place: (bits & WRITES, bits & WRITES and bits & READS_FIRST)
                            for place, bits in handed.items()}, max(begin, self.begin))
        begin = self.begin
        self.block(bodies[0 if number % 2 == 0 else 1], {name: scope[name] for name, _ in arguments})
        self.go_out(outer, {place: (bits & WRITES, bits & READS_LAST)
                            for place, bits in handed.items()}, begin)

    def do_loop(self, scope, statement):
        _, count, arguments, body, given, results = statement
        begin = max(self.end(), self.begin)
        names = [name for name, _ in arguments]
        handed = self.handed_on(statement, names + [name for name, _ in results])
        # A loop takes the chains that it gives.
        uses = {place: (bits & WRITES, bits & READ or not bits & WRITES)
                for place, bits in handed.items()}
        outer = self.go_in(uses, begin)
        values = [scope[name] for name in names]
        for _ in range(count):
            inner = dict(zip(names, values))
            self.times = {place: self.times[place] for place in handed}
            self.block(body, inner)
            values = [inner[name] for name in given]
            for place, (_, two) in uses.items():
                written, read = self.times[place]
                self.times[place] = (written, max(read, written)) if two else (max(written, read), 0)
        self.go_out(outer, uses, begin)
        scope.update(zip([name for name, _ in results],
                         [(value, max(time, begin)) for value, time in values]))


class Op:
    """An op of a text in generic form."""

    def __init__(self, line):
        match = re.match(r'\s*(?:(%\w+)(?::(\d+))? = )?"([\w.]+)"\(([^)]*)\)(.*)', line)
        self.result, count, self.name, operands, self.rest = match.groups()
        self.count = int(count or 1)
        self.operands = [operand for operand in operands.split(", ") if operand]
        self.regions = []


def read_ops(lines, place):
    """The names of the block's arguments, its ops, and the line behind them."""
    arguments, ops = [], []
    while not lines[place].lstrip().startswith("}"):
        line = lines[place]
        place += 1
        if line.lstrip().startswith("^"):
            arguments = re.findall(r"(%\w+): ", line)
            continue
        op = Op(line)
        ops.append(op)
        while lines[place - 1].endswith("{"):
            region_arguments, region, place = read_ops(lines, place)
            op.regions.append((region_arguments, region))
            place += 1
    return arguments, ops, place


class Inserted:
    """When each kernel is done in the text with chains, in generic form."""

    def __init__(self, text):
        self.ends = []
        self.functions = {}
        self.files = {}
        lines = text.splitlines()
        for op in read_ops(lines, 1)[1]:
            name = re.search(r'sym_name = "(\w+)"', op.rest).group(1)
            self.functions[name] = op.regions[0]

    def run(self, block, values, begin=0):
        """The values that the block returns: pairs as those of Dependences."""
        arguments, ops = block
        scope = dict(zip(arguments, values))
        for op in ops:
            values = [scope[operand] for operand in op.operands]
            if op.name == "tfrt.return":
                return [(value, max(time, begin)) for value, time in values]
            results = self.results(op, values, begin)
            if op.result:
                for index, value in enumerate(results):
                    scope["%s#%d" % (op.result, index) if op.count > 1 else op.result] = value
        return []

    def results(self, op, values, begin):
        if op.name == "tfrt.call":
            callee = re.search(r"callee = @(\w+)", op.rest).group(1)
            return self.run(self.functions[callee], values, begin)
        if op.name == "tfrt.if":
            holds, time = values[0]
            return self.run(op.regions[0 if holds else 1], values[1:], max(time, begin))
        if op.name == "tfrt.repeat.i32":
            count, time = values[0]
            begin, values = max(time, begin), values[1:]
            for _ in range(count):
                values = self.run(op.regions[0], values, begin)
            return [(value, max(time, begin)) for value, time in values]
        end = max([time for _, time in values] + [begin])
        if op.name == "tfrt.alias.value":
            return [(values[1][0], end)]
        if op.name in FREE:
            return [(None, end)]
        self.ends.append(end + 1)
        value = self.act(op, [value for value, _ in values])
        return [(value, end + 1)] + [(None, end + 1)] * (op.count - 1)

    def act(self, op, values):
        """What the kernel does, and its first result."""
        box = values[0] if values else None
        number = re.search(r"value = (-?\d+)", op.rest)
        path = re.search(r'path = "(\w+)"', op.rest)
        if op.name == "cell.new":
            return Box(int(number.group(1)))
        if op.name.startswith("tfrt.constant"):
            return int(number.group(1))
        if op.name == "cell.even":
            return box % 2 == 0
        if op.name in ("cell.get", "cell.peek"):
            return box.number
        if op.name == "cell.set":
            box.number = values[1]
        if op.name == "cell.add":
            box.number = wrap(box.number + values[1].number)
        if op.name == "cell.mix":
            box.number = wrap(3 * box.number + 1)
        if op.name == "file.save":
            self.files[path.group(1)] = box
        if op.name == "file.load":
            return self.files.get(path.group(1), 0)
        if op.name == "file.clear":
            self.files = {}
        return box


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
    generator, text = OnceGenerator(seed), Text()
    programs = [generator.program(index) for index in range(PROGRAMS_PER_FILE)]
    for functions in programs:
        for function in functions:
            text.function(function)
    inserted = Inserted(change(insert_chains(library, "\n".join(text.lines) + "\n")))
    length = kernels = 0
    for functions in programs:
        wanted = Dependences(functions)
        wanted.run(functions[-1], [])
        inserted.ends, inserted.files = [], {}
        inserted.run(inserted.functions[functions[-1].name], [])
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
