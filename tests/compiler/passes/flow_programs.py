# SPDX-License-Identifier: Apache-2.0
"""Random programs without chains in the language of asynchronous programs: functions of several
blocks, structured control flow, tasks, and calls of functions with and without the language, that
write to and read cells, and print; their text; and an interpreter that runs them in order."""

from chain_programs import CELL, PROGRAMS_PER_FILE, Function, Generator, Interpreter, Text
from chain_programs import TooLong


class FlowFunction(Function):
    """A function of blocks: each is (arguments, statements, end).

    An end is ("return", names), ("br", block, names) or
    ("cond", number, block, names, block, names).
    """

    def __init__(self, name, parameters):
        super().__init__(name, parameters)
        self.blocks = []
        self.is_async = False
        self.has_lprint = False  # it, or one that it calls, prints without a kernel


class FlowGenerator(Generator):
    """Makes functions of several blocks, beside those of kernels alone.

    A region of a kernel has no op of the language, and calls only functions without it.
    """

    def __init__(self, seed, hosts=1):
        super().__init__(seed, hosts)
        self.in_region = 0  # of a kernel: no op of the language may stand there
        self.in_task = 0
        self.has_lprint = False  # so far, the function that is made
        self.pending = []  # what tasks give, and nobody has waited for: (name, type)

    def region_of_kernel(self, make, scope, depth):
        self.in_region += 1
        statement = make(scope, depth)
        self.in_region -= 1
        return statement

    def branch(self, scope, depth):
        return self.region_of_kernel(super().branch, scope, depth)

    def loop(self, scope, depth):
        return self.region_of_kernel(super().loop, scope, depth)

    def call(self, scope):
        """A call, which is one of the language outside of a kernel's region."""
        functions = self.functions
        if self.in_region or self.random.random() < 0.3:
            self.functions = [one for one in functions if not isinstance(one, FlowFunction)]
        if self.in_task:
            # A task in which no kernel lacks a chain is no part of the order of the text.
            self.functions = [one for one in self.functions
                              if not getattr(one, "has_lprint", False)]
        statement = super().call(scope)
        self.functions = functions
        if statement[0] == "cond" and FlowFunction in map(type, statement[2:4]):
            # A kernel has no choice between functions of the language.
            statement = ("call", statement[2], statement[4], statement[5], None)
        if self.in_region or statement[0] != "call":
            return statement
        self.has_lprint = self.has_lprint or getattr(statement[1], "has_lprint", False)
        kind = "acall" if getattr(statement[1], "is_async", False) else "fcall"
        return (kind,) + statement[1:]

    def statement(self, scope, depth):
        if self.in_region or self.random.random() < 0.75:
            return super().statement(scope, depth)
        choice = self.random.random()
        if choice < 0.2 and not self.in_task:
            self.has_lprint = True
            return ("lprint", self.pick(scope, "i64"))
        if choice < 0.4 and depth < 3:
            bodies = [self.block(list(scope), self.random.randrange(0, 4), depth + 1)
                      for _ in range(2)]
            return ("sif", self.pick(scope, "i64"), bodies)
        if choice < 0.6 and depth < 3:
            return ("sfor", self.random.randrange(0, 4),
                    self.block(list(scope), self.random.randrange(1, 4), depth + 1))
        if depth < 3:
            return self.task(scope, depth)
        return super().statement(scope, depth)

    def task(self, scope, depth):
        """A task that gives a number or a cell, or only a token; it is waited for now or never."""
        inner = list(scope)
        self.in_task += 1
        body = self.block(inner, self.random.randrange(1, 4), depth + 1)
        self.in_task -= 1
        token, late = self.fresh(), self.fresh()
        given = kind = value = None
        if self.random.random() < 0.5:
            kind = self.random.choice(["i64", CELL])
            given, value = self.pick(inner, kind), self.fresh()
            scope.append((value, kind))
        waits = value is not None or self.random.random() < 0.5
        between = []
        if waits and self.random.random() < 0.5:
            # Not yet known there.
            before = [entry for entry in scope if entry[0] != value]
            between = self.block(before, self.random.randrange(0, 3), depth + 1)
        return ("task", body, token, late, given, kind, value, waits, between)

    def names_for(self, scope, arguments):
        return [self.pick(scope, kind) for _, kind in arguments]

    def end(self, scope, function, index):
        """How block `index` ends: the last one returns, and others may go back."""
        count = len(function.blocks)
        if index == count - 1:
            function.results = [(self.pick(scope, kind), kind) for _, kind in function.results]
            return ("return", function.results)
        targets = [self.random.randrange(max(1, index), count) for _ in range(2)]
        targets[self.random.randrange(2)] = min(index + 1, count - 1)
        if self.random.random() < 0.4:
            target = targets[0] if targets[0] > index else targets[1]
            return ("br", target, self.names_for(scope, function.blocks[target][0]))
        ends = [part for target in targets
                for part in (target, self.names_for(scope, function.blocks[target][0]))]
        return ("cond", self.pick(scope, "i64"), *ends)

    def blocks(self, function, scope, size):
        """Gives `function` its blocks; `scope` is what the first one begins with."""
        count = self.random.choice([1, 1, 3, 4, 5])
        arguments = [[]] + [[(self.fresh(), self.random.choice([CELL, "i64"]))
                             for _ in range(self.random.randrange(0, 3))]
                            for _ in range(1, count)]
        function.blocks = [[own, [], None] for own in arguments]
        for index, block in enumerate(function.blocks):
            # All blocks know the values of the first one.
            own = scope if index == 0 else scope + block[0]
            block[1] = self.block(own, self.random.randrange(1, size), 0)
            block[2] = self.end(own, function, index)

    def flow(self, name):
        kinds = [CELL] * self.random.randrange(1, 3) + ["i64"]
        function = FlowFunction(name, [(self.fresh(), kind) for kind in kinds])
        function.is_async = self.random.random() < 0.3
        if self.random.random() < 0.6:
            function.results = [("", self.random.choice([CELL, "i64"]))]
        self.has_lprint = False
        self.blocks(function, list(function.parameters), 5)
        function.has_lprint = self.has_lprint
        self.functions.append(function)

    def program(self, index):
        self.functions = []
        for k in range(self.random.randrange(0, 4)):
            choice = self.random.random()
            if self.hosts > 1 and choice < 0.4:
                self.region_of_kernel(lambda name, _: self.movable(name), "h%d_%d" % (index, k), 0)
            elif choice < 0.6:
                self.region_of_kernel(lambda name, _: self.function(name), "h%d_%d" % (index, k), 0)
            else:
                self.flow("h%d_%d" % (index, k))
        main = FlowFunction("p%d" % index, [])
        first, second, number = self.fresh(), self.fresh(), self.fresh()
        start = [("new", first, 7), ("new", second, 8), ("get", number, first)]
        if self.hosts == 1:
            start.append(("clear",))
        scope = [(first, CELL), (second, CELL), (number, "i64")]
        known = list(scope)
        self.blocks(main, scope, 8)
        main.blocks[0][1] = start + main.blocks[0][1]
        for cell in self.names(known, CELL):
            name = self.fresh()
            main.blocks[-1][1] += [("get", name, cell), ("print", name)]
        return self.functions + [main]


class FlowText(Text):
    """Writes such functions."""

    def function(self, function):
        if not isinstance(function, FlowFunction):
            super().function(function)
            return
        parameters = ", ".join("%%%s: %s" % entry for entry in function.parameters)
        kinds = ["!async.value<%s>" % kind if function.is_async else kind
                 for _, kind in function.results]
        if function.is_async:
            kinds = ["!async.token"] + kinds
        results = " -> (%s)" % ", ".join(kinds) if kinds else ""
        self.add(0, "%s @%s(%s)%s {" % ("async.func" if function.is_async else "func.func",
                                        function.name, parameters, results))
        for index, (arguments, statements, end) in enumerate(function.blocks):
            if index:
                names = ", ".join("%%%s: %s" % entry for entry in arguments)
                self.add(0, "^bb%d%s:" % (index, "(%s)" % names if names else ""))
            for statement in statements:
                self.statement(1, statement)
            self.end_block(function, end)
        self.add(0, "}")

    def target(self, function, index, names):
        kinds = [kind for _, kind in function.blocks[index][0]]
        values = "(%s : %s)" % (", ".join("%" + name for name in names), ", ".join(kinds))
        return "^bb%d%s" % (index, values if names else "")

    def end_block(self, function, end):
        if end[0] == "return":
            values = " %s : %s" % (", ".join("%" + name for name, _ in end[1]),
                                   ", ".join(kind for _, kind in end[1])) if end[1] else ""
            self.add(1, "return" + values)
        elif end[0] == "br":
            self.add(1, "cf.br " + self.target(function, end[1], end[2]))
        else:
            _, number, yes, yes_names, no, no_names = end
            self.add(1, "cf.cond_br %%%s, %s, %s" %
                     (self.condition(1, number), self.target(function, yes, yes_names),
                      self.target(function, no, no_names)))

    def lprint(self, indent, number):
        self.add(indent, "vector.print %%%s : i64" % number)

    def sif(self, indent, number, bodies):
        self.add(indent, "scf.if %%%s {" % self.condition(indent, number))
        for index, body in enumerate(bodies):
            for statement in body:
                self.statement(indent + 1, statement)
            self.add(indent, "} else {" if index == 0 else "}")

    def sfor(self, indent, count, body):
        zero, one, end, turn = self.fresh(), self.fresh(), self.fresh(), self.fresh()
        for name, number in ((zero, 0), (one, 1), (end, count)):
            self.add(indent, "%%%s = arith.constant %d : index" % (name, number))
        self.add(indent, "scf.for %%%s = %%%s to %%%s step %%%s {" % (turn, zero, end, one))
        for statement in body:
            self.statement(indent + 1, statement)
        self.add(indent, "}")

    # pylint: disable-next=too-many-arguments
    def task(self, indent, body, token, late, given, kind, value, waits, between):
        names = "%%%s, %%%s" % (token, late) if given else "%" + token
        self.add(indent, "%s = async.execute%s {" %
                 (names, " -> !async.value<%s>" % kind if given else ""))
        for statement in body:
            self.statement(indent + 1, statement)
        self.add(indent + 1, "async.yield" + (" %%%s : %s" % (given, kind) if given else ""))
        self.add(indent, "}")
        for statement in between:
            self.statement(indent, statement)
        if value:
            self.add(indent, "%%%s = async.await %%%s : !async.value<%s>" % (value, late, kind))
        elif waits:
            self.add(indent, "async.await %%%s : !async.token" % token)

    # pylint: disable-next=too-many-arguments
    def fcall(self, indent, function, arguments, results, host):
        options = "" if host is None else " {host = %d : i32}" % host
        self.add(indent, "%sfunc.call @%s(%s)%s : (%s) -> (%s)" %
                 (self.results(results), function.name, ", ".join("%" + name for name in arguments),
                  options, ", ".join(kind for _, kind in function.parameters),
                  ", ".join(kind for _, kind in results)))

    # pylint: disable-next=too-many-arguments
    def acall(self, indent, function, arguments, results, _):
        token, lates = self.fresh(), [self.fresh() for _ in results]
        self.add(indent, "%s = async.call @%s(%s) : (%s) -> (%s)" %
                 (", ".join("%" + name for name in [token] + lates), function.name,
                  ", ".join("%" + name for name in arguments),
                  ", ".join(kind for _, kind in function.parameters),
                  ", ".join(["!async.token"] +
                            ["!async.value<%s>" % kind for _, kind in results])))
        for late, (name, kind) in zip(lates, results):
            self.add(indent, "%%%s = async.await %%%s : !async.value<%s>" % (name, late, kind))


class FlowInterpreter(Interpreter):
    """Runs such functions in the order of their statements."""

    def run(self, function, arguments):
        if not isinstance(function, FlowFunction):
            return super().run(function, arguments)
        scope = dict(zip([name for name, _ in function.parameters], arguments))
        index = 0
        while True:
            _, statements, end = function.blocks[index]
            self.block(statements, scope)
            self.block([("step",)], scope)
            if end[0] == "return":
                return [scope[name] for name, _ in end[1]]
            choice = end[1:3]
            if end[0] == "cond":
                choice = end[2:4] if scope[end[1]] % 2 == 0 else end[4:6]
            index, names = choice
            values = [scope[name] for name in names]
            scope.update(zip([name for name, _ in function.blocks[index][0]], values))

    def do_step(self, scope):
        pass

    def do_lprint(self, scope, number):
        self.output.append("%d" % scope[number])

    def do_sif(self, scope, number, bodies):
        self.block(bodies[0 if scope[number] % 2 == 0 else 1], dict(scope))

    def do_sfor(self, scope, count, body):
        for _ in range(count):
            self.block(body, dict(scope))

    # pylint: disable-next=too-many-arguments
    def do_task(self, scope, body, _token, _late, given, _kind, value, _waits, between):
        inner = dict(scope)
        self.block(body, inner)
        self.block(between, dict(scope))
        if value:
            scope[value] = inner[given]

    def do_fcall(self, scope, function, arguments, results, host):
        self.do_call(scope, function, arguments, results, host)

    do_acall = do_fcall


def make_flow_file(seed, hosts=1):
    """The text of PROGRAMS_PER_FILE programs, and what each of them prints."""
    text, expected = FlowText(), {}
    generator = FlowGenerator(seed, hosts)
    while len(expected) < PROGRAMS_PER_FILE:
        functions = generator.program(len(expected))
        interpreter = FlowInterpreter()
        try:
            interpreter.run(functions[-1], [])
        except (TooLong, RecursionError):
            continue
        for function in functions:
            text.function(function)
        expected[functions[-1].name] = interpreter.output
    return "\n".join(text.lines) + "\n", expected
