"""Random programs and random commands for them, made from a seed.

A program is stepping_real.py or a made one; `write_program()` gives its text.
The same seed makes the same program on every Python, and the same commands
where the lines that a Python sees are the same.
"""
import os
import random

ALL = "PROBETUI_SOAK" in os.environ
SEED = int(os.environ.get("PROBETUI_STEPPING_SEED", "0"))
COUNT = int(os.environ.get("PROBETUI_STEPPING_COUNT", "1" if SEED else "100"))
HERE = os.path.dirname(os.path.abspath(__file__))
WATCHES = 4         # of a thread; two are for `next`
WARM = 100          # runs of code that is specialised by then
LENGTH = 25         # commands of a sequence
HEAD = '''"""Made by stepping_random.py."""


def run(functions):
    for function in functions:
        function()


def add(a, b):
    return a + b


def fail(x):
    raise ValueError(x)


def count(n):
    for i in range(n):
        try:
            yield i
        finally:
            add(i, n)


class Guard:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return exc[0] is ValueError
'''
SIMPLE = (
    ("x += 1",),
    ("x = add(x, 1)",),
    ("y = x; x = y + 1",),
    ("x = add(", "    x,", "    add(1, 2))"),
    ("s = f\"{x}\" \\", "    f\"{add(x, 1)}\""),
    ("s = (f\"{x}\"", "     f\"{s!r:.5}\"", "     f\"{add(x, 2)}\")"),
    ("s = [v", "     for v in range(3)", "     if v]"),
    ("x = (x if y", "     else add(x, 3))"),
    ("x = (lambda v: v + 1)(x)",),
    ("x = (lambda v:", "     add(v, 1))(x)"),
    ("x = sum(v for v in count(2)) + 1",),
    ("pass",),
    ("assert x is not None, \\", "    x"),
    ("x = Guard(x).x",),
    ("class Inner:", "    z = x", "    for w in range(2):", "        z += w"),
    ("def inner(v=x):", "    if v:", "        return v", "    return 1"),
    ("y = {k: add(k, 1)", "     for k in (1, 2)}[1]"),
    ("x, y = y, x",),
)
TESTS = ("x % 2", "y", "x > 2", "not y", "add(x, y) > 3",
         "x and \\\n{}        y", "(x or\n{}        y > 2)", "i")
BLOCKS = ("if", "if", "ifelse", "for", "for", "while", "try", "tryfinally",
          "tryelse", "with", "gen", "oneline", "forelse")
JUMPS = ("continue", "continue", "break", "return x")


class Maker:
    """The text of functions that end by themselves."""

    def __init__(self, chance):
        self.random = chance
        self.lines = []
        self.variables = 0

    def put(self, depth, *lines):
        for line in lines:
            self.lines.append("    " * depth + line)

    def test(self, depth, in_loop):
        test = self.random.choice(TESTS if in_loop else TESTS[:-1])
        return test.format("    " * depth)

    def name(self, prefix):
        self.variables += 1
        return prefix + str(self.variables)

    def body(self, depth, in_loop, budget, may_return):
        for _ in range(self.random.randint(1, budget)):
            self.statement(depth, in_loop, may_return)
        if in_loop and self.random.random() < 0.3:
            self.put(depth, self.random.choice(("continue", "break")))
        elif may_return and depth > 1 and self.random.random() < 0.08:
            self.put(depth, "return x")

    def statement(self, depth, in_loop, may_return):
        chance = self.random.random()
        if depth > 3 or chance < 0.45:
            self.put(depth, *self.random.choice(SIMPLE))
        elif in_loop and chance < 0.55:
            self.put(depth, "if %s:" % self.test(depth, True),
                     "    " + self.random.choice(
                         JUMPS if may_return else JUMPS[:-1]))
        else:
            self.block(depth, self.random.choice(BLOCKS), in_loop,
                       may_return)

    def block(self, depth, kind, in_loop, may_return):
        def body(loop=in_loop, budget=3):
            self.body(depth + 1, loop, budget, may_return)

        if kind in ("if", "ifelse"):
            self.put(depth, "if %s:" % self.test(depth, in_loop))
            body()
            if kind == "ifelse":
                self.put(depth, "else:")
                body()
        elif kind in ("for", "forelse", "gen"):
            self.put(depth, "for i in %s:" % (
                "count(3)" if kind == "gen" else self.random.choice(
                    ("range(3)", "(0, 1, 2)", "[x, 1, 0]"))))
            body(True)
            if kind == "forelse":
                self.put(depth, "else:")
                body(False, 1)
        elif kind == "while":
            name = self.name("k")
            self.put(depth, "%s = i = 0" % name, "while %s < 3:" % name,
                     "    %s += 1" % name)
            body(True)
        elif kind in ("try", "tryelse"):
            self.put(depth, "try:")
            body(budget=2)
            if self.random.random() < 0.6:
                self.put(depth + 1, "fail(x)")
            self.put(depth, "except ValueError as error:")
            body(budget=2)
            if kind == "tryelse":
                self.put(depth, "else:")
                body(budget=1)
            if self.random.random() < 0.4:
                self.put(depth, "finally:", "    x += 1")
        elif kind == "tryfinally":
            self.put(depth, "try:")
            body()
            # No jump out of it: that is a warning from 3.14 on.
            self.put(depth, "finally:")
            self.body(depth + 1, False, 2, False)
        elif kind == "with":
            self.put(depth, self.random.choice(
                ("with Guard(x):", "with Guard(x) as g, \\\n%s        "
                 "Guard(1):" % ("    " * depth))))
            body()
            if self.random.random() < 0.3:
                self.put(depth + 1, "fail(x)")
        else:
            self.put(depth, "for i in range(2): add(i, x)",
                     "if x: y = 1")

    def function(self, name):
        self.put(0, "", "", "def %s(x=1, y=0):" % name,
                 "    i = s = 0")
        self.body(1, False, 5, True)
        self.put(1, "return x")

    def caller(self, name, called):
        self.put(0, "", "", "def %s():" % name, "    x = 0",
                 "    for i in range(2):")
        for each in called:
            self.put(2, "x = add(", "    x,", "    %s(i, x))" % each)
        self.put(1, "return x")


def make_program(chance):
    """Its text, and the functions to be called."""
    maker = Maker(chance)
    names = ["one", "two", "three"]
    for name in names:
        maker.function(name)
    maker.caller("main", names[:2])
    return HEAD + "\n".join(maker.lines) + "\n", names + ["main"]


def real_program():
    with open(os.path.join(HERE, "stepping_real.py")) as file:
        return file.read()


class Commands:
    """A script for a program of which is known what run_lines() of
    stepping_target.py says."""

    def __init__(self, chance, program, codes):
        self.random, self.program = chance, program
        self.codes = codes
        self.run = [code for code in codes
                    if code["lines"] and code["name"] != "run"]
        self.set = []       # lines

    def place(self, line):
        return "%s:%d" % (self.program, line)

    def have_watches(self, lines):
        """Whether breakpoints there find watches beside those of `next`, and
        while nothing is stepped (docs/stepping.md, 6)."""
        while_next = alone = 0
        for code in self.codes:
            places = [code["places"].get(str(line), 0) for line in lines]
            alone += sum(places)
            while_next += sum(places) if code["is_generator"] or \
                code["calls_generators"] else any(places)
        return while_next <= WATCHES - 2 and alone <= WATCHES

    def has_joins(self):
        return any(set(self.set) & set(code["joins"]) for code in self.codes)

    def choose_break(self):
        chosen = [code for code in self.run
                  if set(self.set) & set(code["lines"])]
        code = self.random.choice(self.run)
        if chosen and self.random.random() < 0.6:
            code = self.random.choice(chosen)
        free = [line for line in code["lines"]
                if line not in self.set and
                self.have_watches(self.set + [line])]
        if not free:
            return None
        self.set.append(self.random.choice(free))
        return "b:" + self.place(self.set[-1])

    def choose(self):
        chance = self.random.random()
        if chance < 0.08 and len(self.set) < 4:
            return self.choose_break()
        if chance < 0.11 and self.set:
            line = self.random.choice(self.set)
            self.set.remove(line)
            return "cl:" + self.place(line)
        if chance < 0.14:
            return "unt:%d" % self.random.choice(
                self.random.choice(self.run)["lines"])
        if chance < 0.17:
            return None if self.has_joins() else "up"
        return self.random.choice("ccccnnnnnsssssrr") \
            if chance < 0.95 else "unt"

    def script(self, count):
        script = []
        while not any(script):
            script.append(self.choose_break())
        while self.random.random() < 0.5 and len(self.set) < 4:
            script.append(self.choose_break())
        script = [word for word in script if word] + ["c"]
        while len(script) < count:
            word = self.choose()
            # After a breakpoint, rather than a call: docs/stepping.md, 7.
            if word and (word != "up" or script[-1] == "c"):
                script.append(word)
            if script[-1] == "up":
                script.append(self.random.choice(("n", "r", "unt")))
        return script


def real_names():
    lines = real_program().split("\n")
    return [following.split()[1].partition("(")[0]
            for line, following in zip(lines, lines[1:])
            if line == "@program"]


REAL = real_names()


def seeds(first, few):
    """Those of this run, which it prints: those that are asked for, with
    PROBETUI_SOAK many from any seed on, else `few` from `first` on."""
    if SEED or ALL:
        few = COUNT
        first = SEED or random.randrange(1, 10 ** 6)
    print("# PROBETUI_STEPPING_SEED=%d PROBETUI_STEPPING_COUNT=%d" % (
        first, few), flush=True)
    return range(first, first + few)


def shared_out(all_of_them, seed):
    """Which of several Pythons do that sequence: each day one."""
    return all_of_them if ALL or SEED else [
        all_of_them[seed % len(all_of_them)]]


class Sequences:
    """The orders of seeds, for stepping_target.py; their programs are written
    into folders."""

    def __init__(self, folders):
        self.folders = folders
        self.write("stepping_real.py", real_program())

    def write(self, name, text):
        for folder in self.folders:
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)

    def order(self, seed, lines_of):
        """`lines_of` gives what run_lines() of stepping_target.py says of an
        order without a script."""
        chance = random.Random(seed)
        order = {"warm": chance.choice((0, WARM)),
                 "in_thread": chance.random() < 0.2}
        if chance.random() < 0.5:
            order["program"] = "stepping_real.py"
            order["functions"] = chance.sample(REAL, chance.choice((1, 1, 2)))
        else:
            text, functions = make_program(chance)
            order["program"] = "stepping_made_%d.py" % seed
            order["functions"] = [chance.choice(functions)]
            self.write(order["program"], text)
        commands = Commands(chance, order["program"], lines_of(order))
        order["script"] = commands.script(LENGTH)
        return order


def reduced(order, differs):
    """The same with as few commands as show a difference; `differs` tells of
    an order."""
    script, at = list(order["script"]), len(order["script"]) - 1
    while at >= 0:
        less = script[:at] + script[at + 1:]
        # It begins with a breakpoint, and the first command is "c".
        begun = [word for word in less if word[:2] != "b:"]
        if less[0][:2] == "b:" and begun[:1] == ["c"] and \
                differs(dict(order, script=less)):
            script = less
        at -= 1
    return dict(order, script=script)
