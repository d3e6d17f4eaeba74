#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs without chains that write to and read cells (cells.c) through views, branches,
loops, calls and recursion, and print; their text; and an interpreter that runs them in order."""

import random

PROGRAMS_PER_FILE = 40
HOSTS = 3
CELL = "!cell.cell"
# A cell that nobody may write to under this name: another host owns it. The type is the same.
LENT = CELL + " "
MAX_STEPS = 400
FILES = ["a", "b", "c", "d"]


class TooLong(Exception):
    """The program that is interpreted takes too many steps."""


def wrap(number):
    """`number` as an i64."""
    return (number + 2**63) % 2**64 - 2**63


class Box:
    """What a cell holds."""

    def __init__(self, number):
        self.number = number


class Function:
    """A function: `parameters` are (name, type), the body is a list of statements."""

    def __init__(self, name, parameters):
        self.name = name
        self.parameters = parameters
        self.body = []
        self.results = []  # (name, type)
        self.may_move = False  # other hosts may run it: it doesn't write to its parameters


class Generator:
    """Makes functions, and their text."""

    def __init__(self, seed, hosts=1):
        self.random = random.Random(seed)
        self.hosts = hosts
        self.functions = []
        self.count = 0

    def fresh(self):
        self.count += 1
        return "v%d" % self.count

    def names(self, scope, kind):
        return [name for name, its in scope if its == kind]

    def pick(self, scope, kind):
        """A name of that kind; any cell may be lent."""
        names = self.names(scope, kind)
        if kind == LENT:
            names += self.names(scope, CELL)
        return self.random.choice(names)

    def block(self, scope, size, depth):
        """Statements; `scope` gets what they define."""
        return [self.statement(scope, depth) for _ in range(size)]

    def inner(self, scope):
        """Some of the scope for a region, each name once; at least a cell and a number."""
        some = [entry for entry in dict.fromkeys(scope) if self.random.random() < 0.6][:7]
        for kind in (CELL, "i64"):
            if not self.names(some, kind):
                some.append((self.pick(scope, kind), kind))
        return some

    def statement(self, scope, depth):
        if self.hosts > 1 and self.functions and self.random.random() < 0.2:
            return self.call(scope)
        if self.hosts == 1 and self.random.random() < 0.08:
            return self.file(scope)
        choice = self.random.random()
        cell = self.pick(scope, CELL)
        read = self.pick(scope, LENT) if self.hosts > 1 else cell
        if choice < 0.10:
            name = self.fresh()
            scope.append((name, CELL))
            return ("new", name, self.random.randrange(100))
        if choice < 0.22:
            return ("set", cell, self.pick(scope, "i64"))
        if choice < 0.36:
            return ("add", cell, self.pick(scope, LENT))
        if choice < 0.46:
            return ("mix", cell)
        if choice < 0.56:
            name = self.fresh()
            scope.append((name, "i64"))
            return (self.random.choice(["get", "peek"]), name, read)
        if choice < 0.64:
            name = self.fresh()
            scope.append((name, LENT if (read, LENT) in scope else CELL))
            return ("view", name, read)
        if choice < 0.74 or depth >= 3:
            return ("print", self.pick(scope, "i64"))
        if choice < 0.82:
            return self.branch(scope, depth)
        if choice < 0.89:
            return self.loop(scope, depth)
        return self.call(scope)

    def file(self, scope):
        choice = self.random.random()
        path = self.random.choice(FILES)
        if choice < 0.1:
            return ("clear",)
        if choice < 0.5:
            return ("save", self.pick(scope, "i64"), path)
        name = self.fresh()
        scope.append((name, "i64"))
        return ("load", name, path)

    def branch(self, scope, depth):
        """tfrt.if, which may give a cell of either branch."""
        arguments = self.inner(scope)
        bodies, given = [], []
        gives = self.random.random() < 0.5
        for _ in range(2):
            own = list(arguments)
            bodies.append(self.block(own, self.random.randrange(0, 4), depth + 1))
            given.append(self.pick(own, CELL))
        result = self.fresh() if gives else None
        condition = self.pick(scope, "i64")
        if gives:
            scope.append((result, CELL))
        return ("if", condition, arguments, bodies, given, result)

    def loop(self, scope, depth):
        """tfrt.repeat, which hands on its values, maybe exchanged."""
        arguments = self.inner(scope)
        own = list(arguments)
        body = self.block(own, self.random.randrange(1, 4), depth + 1)
        given = [self.pick(own, kind) if self.random.random() < 0.3 else name
                 for name, kind in arguments]
        results = [(self.fresh(), kind) for _, kind in arguments]
        scope.extend(results)
        return ("repeat", self.random.randrange(0, 4), arguments, body, given, results)

    def call(self, scope):
        """A call of a function that is there already, one of two of them, or nothing."""
        if not self.functions:
            return ("print", self.pick(scope, "i64"))
        function = self.random.choice(self.functions)
        others = [other for other in self.functions
                  if [kind for _, kind in other.parameters] ==
                  [kind for _, kind in function.parameters] and
                  [kind for _, kind in other.results] == [kind for _, kind in function.results]]
        arguments = [self.pick(scope, kind) for _, kind in function.parameters]
        results = [(self.fresh(), kind) for _, kind in function.results]
        if self.random.random() < 0.4:
            other = self.random.choice(others)
            statement = ("cond", self.pick(scope, "i64"), function, other, arguments, results)
        else:
            host = None
            if function.may_move and self.random.random() < 0.7:
                host = self.random.randrange(self.hosts)
            statement = ("call", function, arguments, results, host)
        scope.extend(results)
        return statement

    def function(self, name):
        kinds = [CELL] * self.random.randrange(1, 3) + ["i64"]
        function = Function(name, [(self.fresh(), kind) for kind in kinds])
        scope = list(function.parameters)
        function.body = self.block(scope, self.random.randrange(1, 6), 1)
        if self.random.random() < 0.6:
            function.results = [(self.pick(scope, CELL), CELL)]
        self.functions.append(function)

    def movable(self, name):
        """A function for any host: it reads its parameters, and writes to cells of its own."""
        kinds = [LENT] * self.random.randrange(1, 3) + ["i64"]
        function = Function(name, [(self.fresh(), kind) for kind in kinds])
        function.may_move = True
        own = self.fresh()
        scope = function.parameters + [(own, CELL)]
        function.body = [("new", own, self.random.randrange(100))]
        function.body += self.block(scope, self.random.randrange(1, 6), 1)
        choice = self.random.random()
        if choice < 0.4:
            function.results = [(self.pick(scope, CELL), LENT)]
        elif choice < 0.8:
            function.results = [(self.pick(scope, "i64"), "i64")]
        self.functions.append(function)

    def recursive(self, name):
        """A function that calls itself while its first number is positive."""
        function = Function(name, [(self.fresh(), "i64"), (self.fresh(), CELL)])
        scope = list(function.parameters)
        function.body = self.block(scope, self.random.randrange(1, 3), 2)
        function.body.append(("again", function, self.pick(scope, CELL)))
        function.body += self.block(scope, self.random.randrange(0, 2), 2)
        self.functions.append(function)

    def program(self, index):
        """An entry function that prints all that it has, and the functions it calls."""
        self.functions = []
        first = len(self.functions)
        for k in range(self.random.randrange(0, 4) + (self.hosts > 1)):
            if self.hosts > 1 and self.random.random() < 0.6:
                self.movable("h%d_%d" % (index, k))
            elif self.random.random() < 0.2:
                self.recursive("h%d_%d" % (index, k))
            else:
                self.function("h%d_%d" % (index, k))
        main = Function("p%d" % index, [])
        scope = []
        main.body = [("new", self.fresh(), 7), ("new", self.fresh(), 8)]
        scope += [(statement[1], CELL) for statement in main.body]
        if self.hosts == 1:
            main.body.append(("clear",))
        number = self.fresh()
        main.body.append(("get", number, scope[0][0]))
        scope.append((number, "i64"))
        main.body += self.block(scope, self.random.randrange(3, 14), 0)
        for cell in self.names(scope, CELL) + self.names(scope, LENT):
            number = self.fresh()
            main.body += [("get", number, cell), ("print", number)]
        return self.functions[first:] + [main]


class Text:
    """Writes functions as MLIR, without chains."""

    def __init__(self):
        self.lines = []
        self.count = 0

    def add(self, indent, text):
        self.lines.append("  " * indent + text)

    def fresh(self):
        self.count += 1
        return "t%d" % self.count

    def function(self, function):
        parameters = ", ".join("%%%s: %s" % entry for entry in function.parameters)
        results = " -> " + function.results[0][1] if function.results else ""
        self.add(0, "func.func @%s(%s)%s {" % (function.name, parameters, results))
        for statement in function.body:
            self.statement(1, statement)
        self.end(1, function.results)
        self.add(0, "}")

    def end(self, indent, values):
        if not values:
            self.add(indent, "tfrt.return")
            return
        self.add(indent, "tfrt.return %s : %s" % (", ".join("%" + name for name, _ in values),
                                                  ", ".join(kind for _, kind in values)))

    def condition(self, indent, number):
        name = self.fresh()
        self.add(indent, "%%%s = cell.even %%%s" % (name, number))
        return name

    def statement(self, indent, statement):
        kind = statement[0]
        if kind == "new":
            self.add(indent, "%%%s = cell.new %d" % statement[1:])
        elif kind in ("get", "peek", "view"):
            self.add(indent, "%%%s = cell.%s %%%s" % (statement[1], kind, statement[2]))
        elif kind in ("set", "add", "mix"):
            self.add(indent, "cell.%s %s" % (kind, ", ".join("%" + name for name in statement[1:])))
        elif kind == "save":
            self.add(indent, '%s.%s %%%s {path = "%s"}' % ("file", *statement))
        elif kind == "load":
            self.add(indent, '%%%s = file.load {path = "%s"}' % statement[1:])
        elif kind == "clear":
            self.add(indent, "file.clear")
        elif kind == "print":
            self.add(indent, "tfrt.print.i64 %%%s" % statement[1])
        else:
            getattr(self, kind)(indent, *statement[1:])

    def results(self, results):
        return ", ".join("%" + name for name, _ in results) + " = " if results else ""

    def operands(self, arguments):
        return (", ".join("%" + name for name, _ in arguments),
                ", ".join(kind for _, kind in arguments))

    # pylint: disable-next=too-many-arguments
    def call(self, indent, function, arguments, results, host):
        options = "" if host is None else " {host = %d : i32}" % host
        self.add(indent, "%stfrt.call @%s(%s)%s : (%s) -> (%s)" %
                 (self.results(results), function.name, ", ".join("%" + name for name in arguments),
                  options,
                  ", ".join(kind for _, kind in function.parameters),
                  ", ".join(kind for _, kind in results)))

    def cond(self, indent, number, function, other, arguments, results):
        self.add(indent, "%stfrt.cond %%%s @%s @%s (%s) : (%s) -> (%s)" %
                 (self.results(results), self.condition(indent, number), function.name, other.name,
                  ", ".join("%" + name for name in arguments),
                  ", ".join(kind for _, kind in function.parameters),
                  ", ".join(kind for _, kind in results)))

    def again(self, indent, function, cell):
        """`if (n > 0) f(n - 1, cell)`"""
        number = function.parameters[0][0]
        one, less, positive = self.fresh(), self.fresh(), self.fresh()
        self.add(indent, "%%%s = tfrt.constant.i64 1" % one)
        self.add(indent, '%%%s = "tfrt.lessequal.i64"(%%%s, %%%s) : (i64, i64) -> i1' %
                 (positive, one, number))
        self.add(indent, '%%%s = "tfrt.minus.i64"(%%%s, %%%s) : (i64, i64) -> i64' %
                 (less, number, one))
        self.add(indent, "tfrt.if %%%s, %%%s, %%%s : (i64, %s) -> () {" %
                 (positive, less, cell, CELL))
        self.add(indent + 1, "tfrt.call @%s(%%%s, %%%s) : (i64, %s) -> ()" %
                 (function.name, less, cell, CELL))
        self.add(indent + 1, "tfrt.return")
        self.add(indent, "}")

    # pylint: disable-next=too-many-arguments
    def branch(self, indent, condition, arguments, bodies, given, result):
        names, kinds = self.operands(arguments)
        results = [(result, CELL)] if result else []
        self.add(indent, "%stfrt.if %%%s, %s : (%s) -> (%s) {" %
                 (self.results(results), self.condition(indent, condition), names, kinds,
                  CELL if result else ""))
        for index, body in enumerate(bodies):
            for statement in body:
                self.statement(indent + 1, statement)
            self.end(indent + 1, [(given[index], CELL)] if result else [])
            self.add(indent, "} else {" if index == 0 else "}")

    # pylint: disable-next=too-many-arguments
    def repeat(self, indent, count, arguments, body, given, results):
        names, kinds = self.operands(arguments)
        times = self.fresh()
        self.add(indent, "%%%s = tfrt.constant.i32 %d" % (times, count))
        self.add(indent, "%stfrt.repeat.i32 %%%s, %s : %s {" %
                 (self.results(results), times, names, kinds))
        for statement in body:
            self.statement(indent + 1, statement)
        self.end(indent + 1, [(name, kind) for name, (_, kind) in zip(given, arguments)])
        self.add(indent, "}")


setattr(Text, "if", Text.branch)


class Interpreter:
    """Runs functions in the order of their statements."""

    def __init__(self):
        self.output = []
        self.steps = 0
        self.host = 0
        self.files = {}

    def run(self, function, arguments):
        scope = dict(zip([name for name, _ in function.parameters], arguments))
        self.block(function.body, scope)
        return [scope[name] for name, _ in function.results]

    def block(self, statements, scope):
        for statement in statements:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise TooLong()
            getattr(self, "do_" + statement[0])(scope, *statement[1:])

    def do_new(self, scope, name, number):
        scope[name] = Box(number)

    def do_set(self, scope, cell, number):
        scope[cell].number = scope[number]

    def do_add(self, scope, cell, other):
        scope[cell].number = wrap(scope[cell].number + scope[other].number)

    def do_mix(self, scope, cell):
        scope[cell].number = wrap(3 * scope[cell].number + 1)

    def do_get(self, scope, name, cell):
        scope[name] = scope[cell].number

    do_peek = do_get

    def do_view(self, scope, name, cell):
        scope[name] = scope[cell]

    def do_save(self, scope, number, path):
        self.files[path] = scope[number]

    def do_load(self, scope, name, path):
        scope[name] = self.files[path]

    def do_clear(self, _):
        self.files = dict.fromkeys(FILES, 0)

    def do_print(self, scope, number):
        host = "[%d] " % self.host if self.host else ""
        self.output.append("%sint64 = %d" % (host, scope[number]))

    def do_if(self, scope, condition, arguments, bodies, given, result):
        index = 0 if scope[condition] % 2 == 0 else 1
        inner = {name: scope[name] for name, _ in arguments}
        self.block(bodies[index], inner)
        if result:
            scope[result] = inner[given[index]]

    def do_repeat(self, scope, count, arguments, body, given, results):
        values = [scope[name] for name, _ in arguments]
        for _ in range(count):
            inner = dict(zip([name for name, _ in arguments], values))
            self.block(body, inner)
            values = [inner[name] for name in given]
        scope.update(zip([name for name, _ in results], values))

    # pylint: disable-next=too-many-arguments
    def do_call(self, scope, function, arguments, results, host=None):
        caller = self.host
        self.host = caller if host is None else host
        values = self.run(function, [scope[name] for name in arguments])
        self.host = caller
        scope.update(zip([name for name, _ in results], values))

    def do_cond(self, scope, number, function, other, arguments, results):
        self.do_call(scope, function if scope[number] % 2 == 0 else other, arguments, results)

    def do_again(self, scope, function, cell):
        number = scope[function.parameters[0][0]]
        if number >= 1:
            self.run(function, [number - 1, scope[cell]])


def make_file(seed, hosts=1):
    """The text of PROGRAMS_PER_FILE programs, and what each of them prints."""
    text, expected = Text(), {}
    generator = Generator(seed, hosts)
    while len(expected) < PROGRAMS_PER_FILE:
        index = len(expected)
        functions = generator.program(index)
        interpreter = Interpreter()
        try:
            interpreter.run(functions[-1], [])
        except (TooLong, RecursionError):
            continue
        for function in functions:
            text.function(function)
        expected["p%d" % index] = interpreter.output
    return "\n".join(text.lines) + "\n", expected
