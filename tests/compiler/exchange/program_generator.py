# SPDX-License-Identifier: Apache-2.0
"""Random MLIR programs of the dialects that this project shares with stock MLIR.

`program(seed)` is the text of one program that a stock mlir-opt --allow-unregistered-dialect takes:
functions of one and of several blocks, asynchronous regions, structured control flow, memory,
numbers, ops that nobody knows with regions, successors and properties, nested modules, attributes,
types and locations of all kinds, aliases, and resources.
"""

import random

INTEGERS = ["i1", "i8", "i16", "i32", "i64", "index"]
FLOATS = ["f16", "bf16", "f32", "f64"]
OPAQUE = ["!tfrt.chain", "!tfrt<\"short {form}\">", "!foo.bar<\"x\", {a = 1}, -> y>", "none",
          "tensor<2x?xf32>", "tensor<*xi32>", "vector<4xf32>", "vector<2x[4]xi8>",
          "tuple<i32, f32>", "complex<f32>", "(i32, f32) -> i64", "() -> ()", "memref<?x4xf32, 1>",
          "memref<2x?xf32, strided<[?, 1]>, 1>", "tensor<2x3xi8, #foo.layout<\"a\">>", "ui8",
          "si16", "i7", "f8E4M3FN", "tf32", "!async.group", "!async.coro.handle"]
MEMORY = {"memref<4xf32>": ("f32", 1), "memref<2x3xi32>": ("i32", 2), "memref<i64>": ("i64", 0)}
INTEGER_OPS = ["addi", "subi", "muli", "shli", "divsi", "divui", "remsi", "remui", "andi", "ori",
               "xori", "shrsi", "shrui", "maxsi", "minsi", "maxui", "minui", "ceildivsi",
               "floordivsi", "ceildivui"]
OVERFLOW = {"addi", "subi", "muli", "shli", "trunci"}
FLOAT_OPS = ["addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf"]
MATH_OPS = ["sqrt", "rsqrt", "exp", "exp2", "log", "sin", "cos", "tanh", "floor", "ceil", "absf"]
LETTERS = "abcdefghijklmnopqrstuvwxyzABCXYZ_0189$. -'\t\"\\é\n"
MAX_DEPTH = 4


def has_location_attributes(seed):
    """Whether the program of `seed` may have locations among its attributes."""
    return seed % 4 == 0


class Generator:
    """The state of one program: the random numbers, names, and the values that can be used."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.next_name = 0
        self.values = [[]]      # one list of (name, type) for each region that can be seen
        self.functions = []     # (name, inputs, results, is_async)
        self.symbols = set()
        self.aliases = []       # lines before the program
        self.type_aliases = []  # (name, type)
        self.attribute_aliases = []
        self.blobs = []
        self.depth = 0
        self.in_async = False   # the function
        self.has_groups = False  # of several results
        # Stock MLIR doesn't read the aliases that it prints for locations in attributes.
        self.has_locations = has_location_attributes(seed)
        self.unknown_depth = 0  # of regions of ops that nobody knows

    # --- Small things ---------------------------------------------------------------------

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, sequence):
        return self.random.choice(sequence)

    def name(self):
        self.next_name += 1
        form = self.random.randrange(6)
        if form == 0:
            return f"%{self.next_name}"
        if form == 1:
            return f"%v_{self.next_name}.x$-"
        return f"%v{self.next_name}"

    def symbol(self):
        while True:
            name = self.pick(["f", "g", "main", "a.b", "x$y", "_z"]) + str(self.random.randrange(99))
            if self.chance(0.1):
                name = f'"odd {name}!"'
            if name not in self.symbols:
                self.symbols.add(name)
                return "@" + name

    def emit(self, text):
        self.lines.append("  " * self.depth + text)

    def text(self):
        letters = "".join(self.pick(LETTERS) for _ in range(self.random.randrange(7)))
        escaped = letters.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n")
        return '"' + escaped.replace("\t", "\\t") + '"'

    # --- Types, attributes, locations -----------------------------------------------------

    def scalar_type(self):
        return self.pick(INTEGERS + FLOATS)

    def type(self):
        kind = self.random.randrange(10)
        if kind < 5:
            return self.scalar_type()
        if kind < 6:
            return self.pick(["!async.token", f"!async.value<{self.scalar_type()}>"])
        return self.pick(OPAQUE)

    def written_type(self, type_):
        """`type_`, or an alias of it."""
        for name, aliased in self.type_aliases:
            if aliased == type_ and self.chance(0.5):
                return name
        return type_

    def integer(self, type_):
        bits = {"index": 63, "i1": 1}.get(type_) or int(type_.lstrip("uis"))
        if type_ == "i1":
            return self.pick(["true", "false"])
        if type_.startswith("u"):
            return str(self.random.randrange(2 ** bits))
        if self.chance(0.5):
            return str(self.random.randrange(-2 ** (bits - 1), 2 ** (bits - 1)))
        return str(self.random.randrange(-5, 6) % 4)

    def float(self, type_):
        big = {"f16": 4, "f8E4M3FN": 2, "f8E5M2": 4}.get(type_, 12)
        kind = self.random.randrange(4)
        if kind == 0:
            return f"{self.random.randrange(-9, 10)}.{self.random.randrange(100)}"
        if kind == 1:
            return "%.1f" % self.random.randrange(-10 ** (big - 1), 10 ** (big - 1))
        value = self.random.uniform(-1, 1) * 10 ** self.random.randrange(-big, big)
        text = "%.17g" % value if kind == 2 else "%.3g" % value
        mantissa, _, exponent = text.partition("e")
        mantissa += "" if "." in mantissa else ".0"
        return mantissa + ("e" + exponent if exponent else "")

    def number(self, type_):
        if type_ in FLOATS or type_[0] == "f":
            if self.chance(0.1) and type_ == "f32":
                return self.pick(["0x7FC00000", "0x7F800000", "0xFF800000", "0x00000001"])
            return self.float(type_)
        return self.integer(type_)

    def dense(self):
        element = self.pick(["i32", "i8", "f32", "f64", "i1", "index", "ui8", "bf16"])
        kind = self.random.randrange(5)
        shaped = self.pick(["tensor", "vector"])
        if kind == 0:
            return f"dense<{self.number(element)}> : {shaped}<2x3x{element}>"
        if kind == 1:
            count = self.random.randrange(101, 130)
            numbers = ", ".join(self.number(element) for _ in range(count))
            return f"dense<[{numbers}]> : {shaped}<{count}x{element}>"
        if kind == 2:
            return self.pick([f"dense<> : tensor<0x{element}>",
                              "dense<[(1.0,-2.5), (0.0,3.0)]> : tensor<2xcomplex<f32>>",
                              "dense<[\"a\", \"b\\22\"]> : tensor<2x!tfrt.string>",
                              "dense<\"0x01000000FF000000\"> : tensor<2xi32>"])
        rows = ", ".join(f"[{self.number(element)}, {self.number(element)}]" for _ in range(3))
        return f"dense<[{rows}]> : {shaped}<3x2x{element}>"

    def attribute(self, depth=0):
        kind = self.random.randrange(16 if depth < 3 else 9)
        if kind == 0:
            type_ = self.pick(INTEGERS + ["ui8", "si16", "i7"])
            number = self.integer(type_)
            return number if type_ == "i1" else f"{number} : {type_}"
        if kind == 1:
            type_ = self.pick(FLOATS + ["f8E4M3FN", "f8E5M2", "tf32"])
            return f"{self.float(type_)} : {type_}"
        if kind == 2:
            return self.text() + self.pick(["", "", " : !tfrt.string"])
        if kind == 3:
            return self.written_type(self.type())
        if kind == 4:
            return self.pick(["unit", "true", "42", "-1", "0.5", "@f", "@a::@b::@\"odd name\"",
                              "-0x10 : i32"])
        if kind == 5:
            return self.pick(["#corert.shape<2x?x3>", "#tfrt<short form>", "#tfrt.bare",
                              "#foo.thing<a -> b, \">\", [{(1)}]>", "#foo.x<\"\\\"\">"])
        if kind == 6:
            return self.pick(["array<i64: 1, -2>", "array<i1: true, false>", "array<f32>",
                              "array<f32: 1.5, 0.1>", "array<i8: -128>", "array<f64: 1.0e10>"])
        if kind == 7:
            location = self.location() if self.has_locations else "[]"
            return self.pick(["affine_map<(d0, d1) -> (d1, d0)>", "strided<[1, ?], offset: 2>",
                              "affine_set<(d0) : (d0 >= 0)>", location])
        if kind == 8:
            if self.attribute_aliases and self.chance(0.5):
                return self.pick(self.attribute_aliases)
            blob = self.pick(["blob", "\"odd blob\"", "b.c", "_9"]) if self.chance(0.5) else "none"
            if blob != "none":
                self.blobs.append(blob)
            return f"dense_resource<{blob}> : {self.pick(['tensor<2xi8>', 'vector<4xf32>'])}"
        if kind in (9, 10, 11):
            return self.dense()
        if kind in (12, 13):
            parts = [self.attribute(depth + 1) for _ in range(self.random.randrange(4))]
            return "[" + ", ".join(parts) + "]"
        return self.dictionary(depth + 1)

    def entries(self, depth=0):
        names = self.random.sample(["a", "b", "tfrt.c", "\"odd key!\"", "_x$1", "sym", "value",
                                    "then", "\"\"", "\"i32 \""][:8], self.random.randrange(4))
        return ", ".join(name if self.chance(0.15) else f"{name} = {self.attribute(depth)}"
                         for name in names)

    def dictionary(self, depth=0):
        return "{" + self.entries(depth) + "}"

    def attributes(self):
        """Discardable attributes behind an op, or nothing."""
        return " {tfrt.extra = " + self.attribute() + "}" if self.chance(0.1) else ""

    def place(self, depth=0):
        kind = self.random.randrange(7 if depth < 3 else 3)
        if kind == 0:
            return f"\"a b.mlir\":{self.random.randrange(1, 99)}:{self.random.randrange(1, 99)}"
        if kind == 1:
            return self.pick(["unknown", "\"f\":1:2 to :5", "\"f\":1:2 to 3:4"])
        if kind == 2:
            return self.pick(["\"name\"", "\"n\\\"q\\\"\""])
        if kind == 3:
            return f"\"outer\"({self.place(depth + 1)})"
        if kind == 4:
            return f"callsite({self.place(depth + 1)} at {self.place(depth + 1)})"
        if kind == 5:
            line = self.random.randrange(1, 99)
            return f"fused[\"outer\"({self.place(depth + 1)}), \"last\":{line}:1]"
        return f"fused<{self.pick(['1 : i32', '{a}', chr(34) + 'm' + chr(34)])}>[\"x\":1:1, \"y\"]"

    def location(self):
        return f"loc({self.place()})"

    def end(self):
        """What may stand behind any op."""
        if self.chance(0.15):
            return " " + self.location()
        if self.chance(0.05):
            return "  // a comment {"
        return ""

    # --- Values -----------------------------------------------------------------------------

    def add(self, name, type_):
        self.values[-1].append((name, type_))

    def usable(self, type_):
        return [name for names in self.values for name, t in names if t == type_]

    def any_value(self):
        everything = [value for names in self.values for value in names]
        return self.pick(everything) if everything else None

    def value(self, type_):
        """The name of a value of `type_`, made by an op if there is none."""
        usable = self.usable(type_)
        if usable and self.chance(0.9):
            return self.pick(usable)
        name = self.name()
        if type_ in INTEGERS + FLOATS and self.chance(0.8):
            suffix = "" if type_ == "i1" else f" : {type_}"
            self.emit(f"{name} = arith.constant {self.number(type_)}{suffix}{self.end()}")
        elif type_ in MEMORY and self.chance(0.7):
            self.emit(f"{name} = memref.alloc() : {type_}")
        else:
            self.emit(f"{name} = \"foo.source\"() : () -> {self.wrapped(type_)}")
        self.add(name, type_)
        return name

    @staticmethod
    def wrapped(type_):
        return f"({type_})" if "->" in type_ and type_[0] == "(" else type_

    # --- Regions ------------------------------------------------------------------------------

    def body(self, ops, last=None, isolated=False):
        """Some ops in a region of their own, and the op that `last` emits."""
        outer = self.values
        self.values = [[]] if isolated else self.values + [[]]
        self.depth += 1
        for _ in range(ops):
            self.op()
        if last:
            last()
        self.depth -= 1
        self.values = outer

    def with_arguments(self, arguments, ops, last):
        """A region whose block has `arguments`, pairs of names and types."""
        outer = self.values
        self.values = self.values + [list(arguments)]
        self.depth += 1
        for _ in range(ops):
            self.op()
        last()
        self.depth -= 1
        self.values = outer

    def yields(self, word, types):
        names = [self.value(type_) for type_ in types]
        self.emit(f"{word} {', '.join(names)} : {', '.join(types)}" if names else word)

    def deep(self):
        return len(self.values) > MAX_DEPTH

    def few(self):
        return self.random.randrange(4)

    # --- Ops ------------------------------------------------------------------------------------

    def op(self):
        makers = [self.arithmetic, self.arithmetic, self.casts, self.math, self.unknown,
                  self.unknown, self.memory, self.print_, self.waits, self.groups, self.calls,
                  self.asserts]
        if not self.deep():
            makers += [self.execute, self.execute, self.if_, self.for_, self.while_,
                       self.parallel, self.unknown_region]
        self.pick(makers)()

    def arithmetic(self):
        name = self.name()
        if self.chance(0.5):
            type_ = self.pick(["i8", "i32", "i64", "index"])
            operands = [self.value(type_), self.value(type_)]
            if self.chance(0.2):
                predicate = self.pick(["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt",
                                       "uge"])
                self.emit(f"{name} = arith.cmpi {predicate}, {', '.join(operands)} : {type_}")
                self.add(name, "i1")
                return
            op = self.pick(INTEGER_OPS)
            flags = ""
            if op in OVERFLOW and self.chance(0.3):
                flags = self.pick([" overflow<nsw>", " overflow<nuw>", " overflow<nsw, nuw>"])
        else:
            type_ = self.pick(FLOATS)
            operands = [self.value(type_), self.value(type_)]
            flags = ""
            if self.chance(0.3):
                flags = " fastmath<" + self.pick(["fast", "nnan", "nnan,ninf", "contract"]) + ">"
            if self.chance(0.2):
                predicate = self.pick(["oeq", "ogt", "olt", "une", "uno", "true", "false", "ord"])
                self.emit(f"{name} = arith.cmpf {predicate}, {', '.join(operands)}{flags} : "
                          f"{type_}")
                self.add(name, "i1")
                return
            op = self.pick(FLOAT_OPS)
        self.emit(f"{name} = arith.{op} {', '.join(operands)}{flags}{self.attributes()} : {type_}"
                  f"{self.end()}")
        self.add(name, type_)

    def casts(self):
        op, source, target = self.pick([
            ("extsi", "i8", "i32"), ("extui", "i32", "i64"), ("trunci", "i64", "i32"),
            ("sitofp", "i32", "f32"), ("uitofp", "i8", "f64"), ("fptosi", "f32", "i32"),
            ("fptoui", "f64", "i64"), ("extf", "f32", "f64"), ("truncf", "f64", "f32"),
            ("index_cast", "index", "i64"), ("index_castui", "i32", "index"),
            ("bitcast", "i32", "f32"), ("truncf", "f32", "f16"), ("extf", "bf16", "f32")])
        operand = self.value(source)
        flags = ""
        if op in ("extf", "truncf") and self.chance(0.3):
            flags = " fastmath<fast>"
        if op == "trunci" and self.chance(0.3):
            flags = " overflow<nsw>"
        name = self.name()
        self.emit(f"{name} = arith.{op} {operand}{flags} : {source} to {target}{self.end()}")
        self.add(name, target)

    def math(self):
        type_ = self.pick(FLOATS)
        name = self.name()
        kind = self.random.randrange(4)
        if kind == 0:
            condition, a, b = self.value("i1"), self.value(type_), self.value(type_)
            self.emit(f"{name} = arith.select {condition}, {a}, {b} : {type_}")
        elif kind == 1:
            a, b, c = self.value(type_), self.value(type_), self.value(type_)
            self.emit(f"{name} = math.fma {a}, {b}, {c} : {type_}")
        elif kind == 2:
            self.emit(f"{name} = arith.negf {self.value(type_)} : {type_}")
        else:
            flags = self.pick(["", "", " fastmath<fast>"])
            a = self.value(type_)
            self.emit(f"{name} = math.{self.pick(MATH_OPS)} {a}{flags} : {type_}")
        self.add(name, type_)

    def memory(self):
        type_ = self.pick(list(MEMORY))
        element, rank = MEMORY[type_]
        memory = self.value(type_)
        places = ", ".join(self.value("index") for _ in range(rank))
        kind = self.random.randrange(6)
        name = self.name()
        if kind == 5:
            change = self.pick(["addf", "maximumf", "minnumf"] if element[0] == "f" else
                               ["addi", "maxs", "minu", "andi", "xori", "assign"])
            operand = self.value(element)
            self.emit(f"{name} = memref.atomic_rmw {change} {operand}, {memory}[{places}] : "
                      f"({element}, {type_}) -> {element}")
            self.add(name, element)
        elif kind == 0:
            stored = self.value(element)
            self.emit(f"memref.store {stored}, {memory}[{places}]{self.attributes()} : {type_}")
        elif kind == 1 and rank:
            index = self.value("index")
            self.emit(f"{name} = memref.dim {memory}, {index} : {type_}")
            self.add(name, "index")
        elif kind == 2:
            size = self.value("index")
            self.emit(f"{name} = memref.alloc({size}) {{alignment = 64 : i64}} : memref<?xf32>")
            self.add(name, "memref<?xf32>")
        elif kind == 3:
            source = self.value("memref<4xf32>")
            self.emit(f"{name} = memref.cast {source} : memref<4xf32> to memref<?xf32>")
            self.add(name, "memref<?xf32>")
        else:
            self.emit(f"{name} = memref.load {memory}[{places}] : {type_}{self.end()}")
            self.add(name, element)

    def print_(self):
        kind = self.random.randrange(3)
        if kind == 0:
            type_ = self.pick(["i32", "i64", "f32", "f64", "index", "i1"])
            value = self.value(type_)
            behind = self.pick(["", " punctuation <no_punctuation>", " punctuation <comma>"])
            self.emit(f"vector.print {value} : {type_}{behind}")
        elif kind == 1:
            self.emit(f"vector.print str {self.text()}")
        else:
            self.emit(f"vector.print punctuation <{self.pick(['newline', 'open', 'close'])}>")

    def waits(self):
        kind = self.random.randrange(4)
        if kind == 0:
            self.emit(f"async.await {self.value('!async.token')} : !async.token{self.end()}")
            return
        type_ = self.scalar_type()
        future = f"!async.value<{type_}>"
        value = self.value(future)
        name = self.name()
        if kind == 1:
            self.emit(f"{name} = async.await {value} : {future}")
            self.add(name, type_)
        elif kind == 2:
            self.emit(f"async.runtime.await {value} : {future}")
        else:
            self.emit(f"{name} = async.runtime.is_error {value} : {future}")
            self.add(name, "i1")

    def groups(self):
        group, rank = self.name(), self.name()
        self.emit(f"{group} = async.create_group {self.value('index')} : !async.group")
        self.add(group, "!async.group")
        member = self.pick(["!async.token", "!async.value<f32>"])
        value = self.value(member)
        self.emit(f"{rank} = async.add_to_group {value}, {group} : {member}")
        self.add(rank, "index")
        if self.chance(0.5):
            self.emit(f"async.await_all {group}{self.attributes()}")

    def calls(self):
        # Stock MLIR looks for no function from inside of an op that it doesn't know.
        if not self.functions or self.unknown_depth:
            return
        name, inputs, results, is_async = self.pick(self.functions)
        operands = ", ".join(self.value(type_) for type_ in inputs)
        word = "async.call" if is_async else "func.call"
        # Its dialect may be left out where it is that of the function around.
        if len(self.values) == 1 and self.in_async == is_async and self.chance(0.5):
            word = "call"
        result = self.results(results)
        behind = f"({', '.join(inputs)}) -> " + self.result_list(results)
        self.emit(f"{result}{word} {name}({operands}){self.attributes()} : {behind}{self.end()}")

    def asserts(self):
        self.emit(f"cf.assert {self.value('i1')}, {self.text()}")

    def results(self, types):
        """`%a, %b = ` or `%a:2 = ` of new values of `types`."""
        if not types:
            return ""
        self.has_groups = self.has_groups or len(types) > 1
        if len(types) > 1 and self.chance(0.5):
            name = self.name()
            for i, type_ in enumerate(types):
                self.add(f"{name}#{i}", type_)
            return f"{name}:{len(types)} = "
        names = [self.name() for _ in types]
        for name, type_ in zip(names, types):
            self.add(name, type_)
        return ", ".join(names) + " = "

    def result_list(self, types):
        if len(types) == 1:
            return self.wrapped(types[0])
        return "(" + ", ".join(types) + ")"

    def execute(self):
        tokens = [self.value("!async.token") for _ in range(self.random.randrange(3))]
        inner = [self.scalar_type() for _ in range(self.random.randrange(3))]
        outer = [self.value(f"!async.value<{type_}>") for type_ in inner]
        yielded = [self.scalar_type() for _ in range(self.random.randrange(3))]
        names = [self.name() for _ in inner]
        head = "async.execute"
        if tokens:
            head += f" [{', '.join(tokens)}]"
        if outer:
            head += " (" + ", ".join(f"{o} as {n}: !async.value<{t}>"
                                     for o, n, t in zip(outer, names, inner)) + ")"
        futures = [f"!async.value<{type_}>" for type_ in yielded]
        if futures:
            head += " -> " + self.result_list(futures)
        if self.chance(0.1):
            head += " attributes {host = 2 : i32}"
        mark = len(self.lines)
        self.with_arguments(list(zip(names, inner)), self.few(),
                            lambda: self.yields("async.yield", yielded))
        body = self.lines[mark:]
        del self.lines[mark:]
        self.emit(f"{self.results(['!async.token'] + futures)}{head} {{")
        self.lines += body
        self.emit("}" + self.end())

    def if_(self):
        types = [self.scalar_type() for _ in range(self.random.randrange(3))]
        condition = self.value("i1")
        arrow = f" -> ({', '.join(types)})" if types else ""
        mark = len(self.lines)
        self.body(self.few(), lambda: self.yields("scf.yield", types))
        then = self.lines[mark:]
        del self.lines[mark:]
        has_else = bool(types) or self.chance(0.5)
        if has_else:
            self.body(self.few(), lambda: self.yields("scf.yield", types))
        other = self.lines[mark:]
        del self.lines[mark:]
        self.emit(f"{self.results(types)}scf.if {condition}{arrow} {{")
        self.lines += then
        if has_else:
            self.emit("} else {")
            self.lines += other
        self.emit("}" + self.end())

    def for_(self):
        type_ = self.pick(["index", "index", "i32"])
        low, high, step = self.value(type_), self.value(type_), self.value(type_)
        carried = [self.scalar_type() for _ in range(self.random.randrange(3))]
        starts = [self.value(t) for t in carried]
        variable, names = self.name(), [self.name() for _ in carried]
        head = f"scf.for {variable} = {low} to {high} step {step}"
        if carried:
            pairs = ", ".join(f"{n} = {s}" for n, s in zip(names, starts))
            head += f" iter_args({pairs}) -> ({', '.join(carried)})"
        if type_ != "index":
            head += f" : {type_}"
        mark = len(self.lines)
        self.with_arguments([(variable, type_)] + list(zip(names, carried)), self.few(),
                            lambda: self.yields("scf.yield", carried))
        body = self.lines[mark:]
        del self.lines[mark:]
        self.emit(f"{self.results(carried)}{head} {{")
        self.lines += body
        self.emit("}" + self.end())

    def while_(self):
        type_ = self.scalar_type()
        start, before, after = self.value(type_), self.name(), self.name()
        mark = len(self.lines)

        def condition():
            value = self.value("i1")
            self.emit(f"scf.condition({value}) {before} : {type_}")

        self.with_arguments([(before, type_)], self.few(), condition)
        first = self.lines[mark:]
        del self.lines[mark:]
        self.with_arguments([(after, type_)], self.few(),
                            lambda: self.yields("scf.yield", [type_]))
        second = self.lines[mark:]
        del self.lines[mark:]
        self.emit(f"{self.results([type_])}scf.while ({before} = {start}) : ({type_}) -> {type_} {{")
        self.lines += first
        self.emit("} do {")
        self.emit(f"^bb0({after}: {type_}):")
        self.lines += second
        self.emit("}")

    def parallel(self):
        count = self.random.randrange(1, 3)
        lists = [", ".join(self.value("index") for _ in range(count)) for _ in range(2)]
        # A constant step has to be positive.
        step = self.name()
        self.emit(f"{step} = arith.constant {self.random.randrange(1, 9)} : index")
        lists.append(", ".join([step] * count))
        names = [self.name() for _ in range(count)]
        mark = len(self.lines)
        self.with_arguments([(name, "index") for name in names], self.few(),
                            lambda: self.emit("scf.reduce"))
        body = self.lines[mark:]
        del self.lines[mark:]
        self.emit(f"scf.parallel ({', '.join(names)}) = ({lists[0]}) to ({lists[1]}) "
                  f"step ({lists[2]}) {{")
        self.lines += body
        self.emit("}")

    def unknown_operands(self):
        chosen = [value for value in (self.any_value() for _ in range(self.random.randrange(4)))
                  if value]
        return chosen

    def unknown_name(self):
        return '"' + self.pick(["foo.bar", "tfrt_x.y", "corert.z", "foo.odd name", "x.y.z"]) + '"'

    def unknown_tail(self, operands, results):
        attributes = " " + self.dictionary() if self.chance(0.5) else ""
        inputs = ", ".join(self.written_type(type_) for _, type_ in operands)
        return f"{attributes} : ({inputs}) -> {self.result_list(results)}{self.end()}"

    def properties(self):
        if self.chance(0.8):
            return ""
        if self.chance(0.2):
            return f" <{self.pick(['42 : i32', '[1, @f]', '{}', chr(34) + 'p' + chr(34)])}>"
        return f" <{{p = {self.attribute()}, q}}>"

    def unknown(self):
        operands = self.unknown_operands()
        results = [self.type() for _ in range(self.random.randrange(3))]
        names = ", ".join(name for name, _ in operands)
        head = f"{self.unknown_name()}({names}){self.properties()}"
        tail = self.unknown_tail(operands, results)
        self.emit(f"{self.results(results)}{head}{tail}")

    def unknown_region(self):
        operands = self.unknown_operands()
        results = [self.type() for _ in range(self.random.randrange(2))]
        names = ", ".join(name for name, _ in operands)
        head = f"{self.unknown_name()}({names}){self.properties()} ({{"
        tail = self.unknown_tail(operands, results)
        mark = len(self.lines)
        self.unknown_depth += 1
        for index in range(self.random.randrange(1, 3)):
            if index:
                self.emit("}, {")
            if self.chance(0.2):
                continue
            argument, type_ = self.name(), self.type()
            self.emit(f"^bb0({argument}: {type_}{self.end_of_argument()}):")
            self.with_arguments([(argument, type_)], self.few(), lambda: None)
            if self.chance(0.3):
                label = self.pick(["bb1", "next", "a.b-c$"])
                self.emit(f"  \"foo.br\"({argument})[^{label}, ^{label}] : ({type_}) -> ()")
                other = self.name()
                self.emit(f"^{label}({other}: {type_}):")
                self.with_arguments([(argument, type_), (other, type_)], self.few(),
                                    lambda: self.emit("\"foo.end\"() : () -> ()"))
        body = self.lines[mark:]
        del self.lines[mark:]
        self.unknown_depth -= 1
        self.emit(f"{self.results(results)}{head}")
        self.lines += body
        self.emit(f"}}){tail}")

    def end_of_argument(self):
        return " " + self.location() if self.chance(0.2) else ""

    # --- Functions and modules --------------------------------------------------------------------

    def blocks(self, inputs, finish):
        """The blocks of a function: a chain of them with loops and short cuts, each of which has
        arguments; all see what the first one defines."""
        count = self.random.randrange(2, 5)
        types = [[self.scalar_type() for _ in range(self.random.randrange(3))]
                 for _ in range(count)]
        types[0] = inputs
        entry_values = None
        outer = self.values
        for index in range(count):
            if index:
                names = [self.name() for _ in types[index]]
                label = f"^bb{index}" if self.chance(0.5) else f"^bb{index}"
                arguments = ", ".join(f"{n}: {t}{self.end_of_argument()}"
                                      for n, t in zip(names, types[index]))
                self.depth -= 1
                self.emit(label + (f"({arguments})" if names else "") + ":")
                self.depth += 1
                self.values = outer + [entry_values, list(zip(names, types[index]))]
            for _ in range(self.few()):
                self.op()
            if index == count - 1:
                finish()
            else:
                self.branch(index, types)
            if not index:
                entry_values = self.values[-1]
        self.values = outer

    def branch(self, index, types):
        def target(block):
            values = [self.value(type_) for type_ in types[block]]
            if not values:
                return f"^bb{block}"
            return f"^bb{block}({', '.join(values)} : {', '.join(types[block])})"

        last = len(types) - 1
        # Stock MLIR prints one result of a group among the operands of a case, but doesn't read it.
        kind = self.random.randrange(2 if self.has_groups else 3)
        if kind == 0:
            self.emit(f"cf.br {target(index + 1)}{self.attributes()}{self.end()}")
        elif kind == 1:
            condition = self.value("i1")
            first = target(index + 1)
            second = target(self.random.randrange(1, last + 1))
            weights = " weights([1, 7])" if self.chance(0.2) else ""
            self.emit(f"cf.cond_br {condition}{weights}, {first}, {second}")
        else:
            flag = self.value("i32")
            cases = [f"{case}: {target(self.random.randrange(1, last + 1))}"
                     for case in self.random.sample(range(-9, 9), self.random.randrange(3))]
            default = f"default: {target(index + 1)}"
            self.emit(f"cf.switch {flag} : i32, [{', '.join([default] + cases)}]")

    def function(self):
        is_async = self.chance(0.3)
        name = self.symbol()
        inputs = [self.type() for _ in range(self.random.randrange(4))]
        if is_async:
            results = [f"!async.value<{self.scalar_type()}>"
                       for _ in range(self.random.randrange(3))]
            if not results or self.chance(0.5):
                results.insert(0, "!async.token")
        else:
            results = [self.type() for _ in range(self.random.randrange(3))]
        inner = [type_[13:-1] for type_ in results if type_ != "!async.token"]
        returned = inner if is_async else results
        words = "async.func" if is_async else "func.func"
        names = [self.name() for _ in inputs]
        arguments = ", ".join(
            f"{n}: {self.written_type(t)}" +
            (" {tfrt.arg = " + self.attribute() + "}" if not is_async and self.chance(0.1) else "")
            for n, t in zip(names, inputs))
        result = f" -> {self.result_list(results)}" if results else ""
        visibility = self.pick(["", "", " private"])
        attributes = " attributes {tfrt.a = 1 : i32, llvm.b}" if self.chance(0.2) else ""
        if not is_async and self.chance(0.1):
            types = ", ".join(inputs)
            self.emit(f"{words} private {name}({types}){result}")
            self.functions.append((name, inputs, results, is_async))
            return
        self.emit(f"{words}{visibility} {name}({arguments}){result}{attributes} {{")
        outer = self.values
        self.in_async = is_async
        self.values = [list(zip(names, inputs))]
        self.depth += 1
        word = "async.return" if is_async else self.pick(["return", "func.return"])
        finish = lambda: self.yields(word, returned)
        if not is_async and self.chance(0.15):
            finish = lambda: self.unknown()
        if self.chance(0.4):
            self.blocks(inputs, finish)
        else:
            for _ in range(self.random.randrange(8)):
                self.op()
            finish()
        self.depth -= 1
        self.values = outer
        self.emit("}" + self.end())
        self.functions.append((name, inputs, results, is_async))

    def module(self):
        kind = self.random.randrange(3)
        name = " " + self.symbol() if kind else ""
        attributes = " attributes {tfrt.compiled_by = " + self.attribute() + "}" \
            if self.chance(0.3) else ""
        self.emit(f"module{name}{attributes} {{")
        outer = self.values, self.functions, self.symbols
        self.values, self.functions, self.symbols = [[]], [], set()
        self.depth += 1
        for _ in range(self.random.randrange(3)):
            self.function()
        self.depth -= 1
        self.values, self.functions, self.symbols = outer
        self.emit("}")

    def make_aliases(self):
        for index in range(self.random.randrange(3)):
            type_ = self.pick(OPAQUE + ["i32"])
            self.aliases.append(f"!t{index} = {type_}")
            self.type_aliases.append((f"!t{index}", type_))
        for index in range(self.random.randrange(3)):
            self.aliases.append(f"#attr{index} = {self.attribute(2)}")
            self.attribute_aliases.append(f"#attr{index}")

    def resources(self):
        if not self.blobs and self.chance(0.9):
            return
        builtin = ", ".join(f"{blob}: \"0x{self.pick(['04', '01', '08'])}000000"
                            f"{self.random.randrange(256):02x}{self.random.randrange(256):02X}\""
                            for blob in sorted(set(self.blobs)))
        parts = [f"dialect_resources: {{ builtin: {{ {builtin} }} }}"] if builtin else []
        if self.chance(0.4) or not parts:
            parts.append("external_resources: { tool: { a: true, \"b c\": \"x\\n\", "
                         "d: \"0x01000000AB\" }, empty: { }, other: { e: false } }")
        self.lines += ["", "{-#", "  " + ", ".join(parts), "#-}"]

    def program(self):
        if self.chance(0.3):
            self.make_aliases()
        for _ in range(self.random.randrange(1, 4)):
            if self.chance(0.15):
                self.module()
            elif self.chance(0.1):
                self.unknown()
            else:
                self.function()
        self.resources()
        return "\n".join(self.aliases + self.lines) + "\n"


def program(seed):
    """The program of `seed`."""
    return Generator(seed).program()
