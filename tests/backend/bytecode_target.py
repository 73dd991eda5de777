"""Code objects that stay where they are, and what Python says of them.

    bytecode_target.py MODULE...

Prints a line of JSON:

    codes   each code object of the modules and of this file: its address, and
            units, lines, jumps and handlers as dis and the code itself say
    steps   of the functions of this file, run under sys.settrace: from the
            unit that the frame was at to another, whether an exception led
            there, the unit that ran last, and the lines of `line` events
    first   the line of the first such event of each code object
    instrumented  how many of its code objects still are (3.12 on)

Then, for each line of its input, it runs the functions some more, which takes
the instrumentation away and specialises, and says so.
"""
import asyncio
import contextlib
import dis
import importlib
import json
import opcode
import sys
import types

MINOR = sys.version_info[1]
HERE = __file__


def add(a, b):
    c = a + b
    return c


def loops():
    total = 0
    for i in range(3):
        total = add(total, i)
        if total == 2:
            continue
        total += 1
    else:
        total += 5
    for i in (
            1,
            2):
        for j in range(2): total += j
    while total < 40:
        total += 3
        if total > 20:
            continue
    while total > 30: total -= 1
    while True:
        total += 1
        if total > 35:
            break
    for i in [1]:
        add(total, i)
    return [
        total
        for k in range(2)
        if k
    ], sum(k for k in range(3)), {
        k: k for k in range(2)}


def boom(x):
    return 1 // x


def raising():
    for k in range(3):
        try:
            if k == 1:
                raise ValueError(k)
            elif k == 2:
                boom(0)
        except ValueError as error:
            message = str(error)
            continue
        except (KeyError,
                ZeroDivisionError):
            k = 7
        else:
            k = 6
        finally:
            k = 9
    try:
        try:
            boom(0)
        finally:
            k = 3
    except ZeroDivisionError:
        pass
    try:
        with contextlib.suppress(ValueError):
            {}["x"]
    except KeyError: k = 1
    return k, message


def leaving():
    for i in range(3):
        try:
            if i == 0:
                continue
            if i == 1:
                raise KeyError
            return i
        except KeyError:
            try:
                boom(0)
            except ZeroDivisionError:
                add(1, 2)
        finally:
            add(i, 1)


def contexts():
    with contextlib.suppress(KeyError):
        {}["x"]
    with contextlib.suppress(KeyError), \
            contextlib.suppress(ValueError) as c:
        add(1, 2)
    with contextlib.suppress(KeyError) as a, contextlib.suppress(KeyError):
        raise KeyError(a, c)
    for i in range(2):
        with contextlib.suppress(ValueError):
            if i:
                break
    return 5


def one_line(): return 5


def decorate(function):
    return function


def classes():
    @decorate
    class Point(
            object):
        """Text."""
        x = 1
        y: int = 2

        @property
        @decorate
        def both(self):
            return self.x, self.y

        def __enter__(self): return self
        def __exit__(self, *args): return True
    with Point() as point:
        boom(0)
    f = lambda a: a + \
        point.x
    return f(1), point.both, one_line()


def generate(n):
    for i in range(n):
        yield i
        add(i, i)
    x = yield
    try:
        yield x; x = 5
        yield (
            x)
    finally:
        add(1, 1)


def delegate():
    result = yield from generate(1)
    yield result


def generators():
    for i in generate(2):
        if i is None:
            break
    made = generate(0)
    next(made)
    made.send(4)
    try:
        made.throw(KeyError)
    except KeyError:
        pass
    made = generate(0)
    next(made)
    next(made)
    made.close()
    list(delegate())
    return [x for x in generate(1) if x]


async def leaf(n):
    await asyncio.sleep(0)
    return n


class Manager:
    async def __aenter__(self):
        await asyncio.sleep(0)

    async def __aexit__(self, *args):
        await asyncio.sleep(0)
        return True


async def ticks(n):
    for i in range(n):
        yield i
        await asyncio.sleep(0)


async def coroutine():
    a = await leaf(1)
    async for i in ticks(2):
        a += i
    async with Manager():
        a += await leaf(
            2)
        boom(0)
    async with Manager() as m: a += 1
    return a, m, [i async for i in ticks(2)]


def asyncs():
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(coroutine())
    finally:
        loop.close()


def expressions(a=1, b=None):
    x = (a if b else
         a + 1)
    y = [
        add(1, 2),
        add(
            3,
            x),
    ]
    z = (a < 1
         < x) or (b is None
                  and not b)
    s = f"{x!r} " \
        f"{add(1, z):>4}"
    s += "x"; s += "y"
    n = 0
    while (n := n + 1) < 3: pass
    assert z, "no"
    assert (
        s)
    del x; x = 1
    s = (
        s + "more of it")
    return s if y else \
        n


def long_loop():
    # A distance that takes an EXTENDED_ARG.
    n = 0
    for i in range(2):
        if n > 100:
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
        n += 1
    while n < 5:
        n += 1
        if n > 100:
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
    return n


def fact(n):
    if n < 2:
        return 1
    return n * \
        fact(n - 1)


def recursion():
    return fact(4) + fact(1)


WIDE = """
def wide():
%s
    for v299 in range(2):
        v298 = v299
        if v298:
            v297 = v298
    try:
        v296 = 1 // v298 // 0
    except ZeroDivisionError:
        v295 = 1
    with suppress(KeyError):
        {}["v294"]
    return v295
""" % "\n".join("    v%d = %d.5" % (i, i) for i in range(300))

MATCH = """
def matching():
    for x in (1, [1, 2], {"a": 3}, None, "s"):
        match x:
            case 1 | 2:
                y = 1
            case [a, b] if a == b:
                y = a
            case [
                a,
                *rest
            ]:
                y = rest
            case {"a": y}:
                pass
            case str() as y: y += "x"
            case _:
                y = x
    return y
"""

MODULE = """
import sys
x = 1
for i in range(2):
    x += i
class A:
    y = x
    def f(self):
        return self.y
if x:
    x = A().f()
"""


def more():
    """Code that is not this file's."""
    names = {"suppress": contextlib.suppress}
    exec(compile(WIDE, HERE + "#wide", "exec"), names)
    found = [names["wide"]]
    if MINOR >= 10:
        exec(compile(MATCH, HERE + "#match", "exec"), names)
        found.append(names["matching"])
    module = compile(MODULE, HERE + "#module", "exec")
    found.append(types.FunctionType(module, dict(names)))
    return found


FUNCTIONS = [loops, raising, leaving, contexts, classes, generators, asyncs,
             expressions, long_loop, recursion]


class Frame:
    """Where a frame is, and what was seen of it since."""

    def __init__(self, unit):
        self.unit = unit
        self.lines = []
        self.is_raised = False
        self.entered = {}       # handlers that keep where they came from


class Tracer:
    """Writes down the steps of all frames of this file."""

    def __init__(self):
        self.frames = {}
        self.steps = {}         # (code, from, to, raised, ran): lines
        self.first = {}         # code: first line event of a call

    def unit(self, frame):
        lasti = frame.f_lasti
        return lasti // 2 if lasti >= 0 else -1

    def call(self, frame, event, _arg):
        if not frame.f_code.co_filename.startswith(HERE) or (
                isinstance(frame.f_locals.get("self"), Tracer)):
            return None
        frame.f_trace_opcodes = MINOR < 12
        unit = self.unit(frame)
        # A frame's first unit; of a generator, where it goes on.
        self.frames.setdefault(frame, Frame(-1)).unit = unit
        return self.local

    def local(self, frame, event, _arg):
        state = self.frames[frame]
        if event == "line":
            state.lines.append(frame.f_lineno)
            self.first.setdefault(frame.f_code, frame.f_lineno)
        elif event == "exception":
            state.is_raised = True
        elif event == "opcode":
            self.step(frame.f_code, state, self.unit(frame))
        return self.local

    def instruction(self, code, offset):
        """3.12 on; tracing of opcodes leaves some out in 3.13.0."""
        state = self.frames.get(sys._getframe(1))
        if state:
            self.step(code, state, offset // 2)

    def step(self, code, state, unit):
        # RERAISE may put the frame back to where it came from.
        flow = flow_of(code)
        if unit not in flow.row:
            return              # an EXTENDED_ARG is before it
        start = ran = state.unit
        is_raised = start >= 0 and unit not in flow.normal(start) and (
            unit in flow.handlers)
        if is_raised and unit in flow.keeping:
            state.entered[unit] = start
        if is_raised and start in flow.restoring:
            start = state.entered.get(
                max(h for h in flow.keeping if h <= start), None)
        if start is not None:
            key = (code, start, unit, is_raised, ran)
            self.steps.setdefault(key, []).append(tuple(state.lines))
        state.unit = unit
        state.lines = []
        state.is_raised = False


class Flow:
    """What dis says of the units of a code object."""

    def __init__(self, code):
        self.code = code
        self.rows = []          # [unit, opcode, line, target]
        self.handlers = set()
        self.keeping = set()    # handlers that push where they came from
        self.restoring = set()  # units of RERAISE that put it back
        self.handler = {}
        self.read()
        self.next = {}
        for row, behind in zip(self.rows, self.rows[1:] + [None]):
            self.next[row[0]] = behind[0] if behind else -1
        self.row = {row[0]: row for row in self.rows}
        self.returns = [self.next[row[0]] for row in self.rows
                        if opcode.opname[row[1]] == "CALL_FINALLY"]

    def read(self):
        lines = lines_of(self.code)
        start = None
        for one in dis.get_instructions(self.code):
            unit = one.offset // 2
            if start is None:
                start = unit
            if one.opname == "EXTENDED_ARG":
                continue
            target = -1
            if one.opcode in opcode.hasjrel or one.opcode in opcode.hasjabs:
                target = one.argval // 2
            if one.opname == "END_ASYNC_FOR":
                target = -1
            if one.opname.startswith("SETUP_") and target >= 0:
                self.handlers.add(target)
                target = -1
            if one.opname == "RERAISE" and one.arg:
                self.restoring.add(start)
            self.rows.append([start, one.opcode, lines[start], target])
            start = None
        if MINOR == 10:
            self.keeping = self.handlers
        if MINOR >= 11:
            for entry in dis._parse_exception_table(self.code):
                self.handlers.add(entry.target // 2)
                if entry.lasti:
                    self.keeping.add(entry.target // 2)
                for unit in range(entry.start // 2, entry.end // 2):
                    self.handler.setdefault(unit, entry.target // 2)

    def normal(self, unit):
        """Where it leads without an exception."""
        row = self.row.get(unit)
        if row is None:
            return ()
        name = opcode.opname[row[1]]
        found = []
        if name not in ("RAISE_VARARGS", "RERAISE"):
            found.append(self.next[unit])
        if row[3] >= 0:
            found += [row[3], row[3] + 1, row[3] + 2]
        if name == "END_FINALLY":
            found += self.returns
        return found


FLOWS = {}


def flow_of(code):
    if code not in FLOWS:
        FLOWS[code] = Flow(code)
    return FLOWS[code]


def lines_of(code):
    """The line of each unit, -1: none."""
    count = len(code.co_code) // 2
    lines = [-1] * count
    if MINOR >= 10:
        for start, end, line in code.co_lines():
            for unit in range(start // 2, min(end // 2, count)):
                lines[unit] = -1 if line is None else line
        return lines
    starts = list(dis.findlinestarts(code)) + [(2 * count, None)]
    for (start, line), (end, _) in zip(starts, starts[1:]):
        for unit in range(start // 2, end // 2):
            lines[unit] = line
    return lines


def codes_in(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            for one in codes_in(constant):
                yield one


def codes_of(module):
    """Of its functions and its classes' methods."""
    found = {}
    spaces = [vars(module)] + [
        vars(value) for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__]
    for space in spaces:
        for value in list(space.values()):
            value = getattr(value, "__func__", getattr(value, "fget", value))
            code = getattr(value, "__code__", None)
            if isinstance(code, types.CodeType):
                for one in codes_in(code):
                    found[id(one)] = one
    return list(found.values())


def calls_of(flow):
    """The units of calls that some path leads to."""
    following = {row[0]: later[0] for row, later in
                 zip(flow.rows, flow.rows[1:])}
    rows = {row[0]: row for row in flow.rows}
    waiting = [0] + sorted(flow.handlers)
    seen = set(waiting)
    while waiting:
        at, number, _, target = rows[waiting.pop()]
        name = dis.opname[number]
        ends = name.startswith(("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS",
                                "RERAISE", "JUMP_FORWARD", "JUMP_ABSOLUTE",
                                "JUMP_BACKWARD"))
        for to in [target] if ends else [following.get(at, -1), target]:
            if to in rows and to not in seen:
                seen.add(to)
                waiting.append(to)
    names = {at: dis.opname[rows[at][1]] for at in sorted(seen)}
    return [at for at, name in names.items()
            if name.startswith(("CALL", "PRECALL")) and
            "INTRINSIC" not in name and name != "CALL_FINALLY"]


def describe(code):
    flow = flow_of(code)
    return {
        "address": id(code), "file": code.co_filename, "name": code.co_name,
        "qualname": getattr(code, "co_qualname", code.co_name),
        "first_line": code.co_firstlineno, "flags": code.co_flags,
        "count": len(code.co_code) // 2, "rows": flow.rows,
        "locals_count": len(
            set(code.co_varnames) | set(code.co_cellvars) if MINOR >= 11
            else code.co_varnames + code.co_cellvars) + len(code.co_freevars),
        "calls": calls_of(flow),
        "stacksize": code.co_stacksize,
        "handlers": sorted(flow.handlers),
        "handler": [flow.handler.get(row[0], -1) for row in flow.rows],
    }


def run(functions):
    tracer = Tracer()
    if MINOR >= 12:
        monitoring = sys.monitoring
        monitoring.use_tool_id(3, "steps")
        monitoring.register_callback(3, monitoring.events.INSTRUCTION,
                                     tracer.instruction)
        monitoring.set_events(3, monitoring.events.INSTRUCTION)
    sys.settrace(tracer.call)
    try:
        for function in functions:
            function()
    finally:
        sys.settrace(None)
        if MINOR >= 12:
            monitoring.set_events(3, 0)
    return tracer


def count_instrumented(codes):
    if MINOR < 12:
        return 0
    numbers = {number for name, number in opcode.opmap.items()
               if name in ("INSTRUMENTED_LINE", "INSTRUMENTED_INSTRUCTION")}
    return sum(bool(numbers & set(code._co_code_adaptive[::2]))
               for code in codes)


def pdb_first(code):
    """Where `break FUNCTION` of pdb stops, if it looks it up (3.13 on)."""
    if MINOR < 13:
        return None
    import pdb
    return pdb.find_first_executable_line(code)


def repeat(functions, times):
    for _ in range(times):
        for function in functions:
            function()


def main():
    functions = FUNCTIONS + more()
    repeat(functions, 70 if MINOR >= 11 else 1)
    modules = [importlib.import_module(name) for name in sys.argv[1:]]
    codes = [code for module in modules + [sys.modules[__name__]]
             for code in codes_of(module)]
    for function in functions[len(FUNCTIONS):]:
        codes += codes_in(function.__code__)
    tracer = run(functions)
    print(json.dumps({
        "codes": [describe(code) for code in codes],
        "steps": [[id(code), start, end, is_raised, ran, sorted(set(lines))]
                  for (code, start, end, is_raised, ran), lines
                  in tracer.steps.items()],
        "first": [[id(code), line] for code, line in tracer.first.items()],
        "pdb": [[id(code), pdb_first(code)] for code in codes],
        "instrumented": count_instrumented(codes),
    }), flush=True)
    for _ in sys.stdin:
        repeat(functions, 40)
        print(json.dumps(count_instrumented(codes)), flush=True)


if __name__ == "__main__":
    main()
