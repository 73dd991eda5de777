"""Answers the questions of probetui to a debugger derived from pdb.Pdb.

This module runs inside the program, at the prompt of the debugger, as an
attribute of the Pdb instance: nothing of it is in sys.modules or among the
names of the program, and it is deleted with the instance. It keeps no object
of the program alive while the program runs: an object that was reported is
remembered by the path to it (frame, name, numbers of children), which is
followed again, and the result is compared by id().

A question is {"do": NAME, ...}. An answer is a dict, for a failure
{"error": SENTENCE}. Depth 0 is the innermost frame.
"""
import binascii
import json
import linecache
import os
import re
import time
import zlib

FRAMES_MAXIMUM = 20000  # src/protocol/stack.h
BREAKPOINTS_MAXIMUM = 1000
VARIABLE_PAGE = 100
TEXT_MAXIMUM = 4096
WAYS_MAXIMUM = 20000
RESULTS_MAXIMUM = 16
SOURCE_MAXIMUM = 4 << 20
CHAIN_MAXIMUM = 16

# Split, so that an echo of this source is not taken for an answer.
MARKER = "{probe" + "tui:"

PARTS = "_probetui_parts"  # attribute: pieces of a question of several lines

OWN_VARIABLES = "__pdb_convenience_variables"  # pdb's, since 3.12

EVENTS = {"user_line": "line", "user_opcode": "line", "user_call": "call",
          "user_return": "return", "user_exception": "exception"}

DIALECTS = {"pdb": "pdb", "IPython": "ipdb", "ipdb": "ipdb",
            "remote_pdb": "remote-pdb", "probetui": "probetui"}


class Refusal(Exception):
    """The question cannot be answered; the message is for the user."""


class Held:
    """Data that is kept during one stop of the program. It is stored in a
    dict that pdb clears when the program is resumed."""

    def __init__(self) -> None:
        self.locals: dict = {}  # id(frame): (frame, its locals)
        self.results: list = []  # values of evaluated expressions
        self.hit: list = []
        self.condition_error: "str | None" = None
        self.is_new = True


def held(pdb) -> Held:
    # pdb looks up only frames in this dict: the key PARTS does not conflict.
    place = getattr(pdb, "tb_lineno", None)
    if type(place) is not dict:
        return Held()
    if not isinstance(place.get(PARTS), Held):
        place[PARTS] = Held()
    return place[PARTS]


def bounded(text: object, maximum: int = TEXT_MAXIMUM) -> str:
    text = text if type(text) is str else UNKNOWN
    text = text.replace("\0", "^@")
    return text if len(text) <= maximum else text[:maximum - 1] + CUT


# The stop of the debugger.

def file_of(module: str) -> str:
    return getattr(sys.modules.get(module), "__file__", None) or module


def debugger_files(pdb) -> set:
    files = {file_of(kind.__module__) for kind in _mro(type(pdb))}
    files.discard("builtins")
    return files


def calls_of_debugger(pdb):
    """Yields the frames of the debugger above those of the program, innermost
    first. f_locals of the program's frames is not read, which up to 3.12
    would discard assignments made at the prompt."""
    frame = sys._getframe()
    program = {id(each) for each, _line in pdb.stack}
    files = debugger_files(pdb)
    while frame is not None and id(frame) not in program:
        code = frame.f_code
        if code.co_filename in files and code.co_varnames[:1] == ("self",) \
                and frame.f_locals.get("self") is pdb:
            yield frame
        frame = frame.f_back


class Place:
    """The event or exception for which the debugger shows its prompt."""

    def __init__(self, pdb) -> None:
        self.event = None
        self.value = None  # text of the returned value or raised exception
        self.is_post_mortem = False
        self.traceback = None
        self.exception = None
        for frame in calls_of_debugger(pdb):
            name = frame.f_code.co_name
            if name == "interaction":
                self.read_interaction(pdb, frame.f_locals)
            elif name in EVENTS:
                self.event = EVENTS[name]
                self.read_event(name, frame.f_locals)
                break
        if self.is_post_mortem and self.exception is None:
            self.exception = find_exception(self.traceback)

    def read_interaction(self, pdb, names: dict) -> None:
        self.is_post_mortem = names.get("frame", pdb) is None
        given = [names.get(name) for name in
                 ("tb_or_exc", "traceback", "tb", "exc")]
        chain = getattr(pdb, "_chained_exceptions", None)
        if chain:  # since 3.13 the user may select one of them
            number = getattr(pdb, "_chained_exception_index", -1)
            given.insert(0, chain[number])
        for each in given:
            if isinstance(each, BaseException):
                self.exception = self.exception or each
                each = each.__traceback__
            if each is not None and self.traceback is None:
                self.traceback = each

    def read_event(self, name: str, names: dict) -> None:
        if name == "user_return" and "return_value" in names:
            self.value = describe(names["return_value"])
        elif name == "user_exception":
            raised = names.get("exc_info") or ()
            for each in raised:
                if isinstance(each, BaseException):
                    self.exception = each
            if self.exception is not None:
                self.value = headline(self.exception)


def entries(traceback) -> list:
    found = []
    while traceback is not None and len(found) < FRAMES_MAXIMUM:
        found.append(traceback)
        traceback = traceback.tb_next
    return found


def find_exception(traceback):
    """Returns the exception of a post-mortem that was started with a
    traceback alone: the exception that is being handled, or an argument of a
    caller."""
    candidates = [sys.exc_info()[1], getattr(sys, "last_exc", None),
                  getattr(sys, "last_value", None)]
    frame = sys._getframe()
    for _ in range(50):
        frame = frame.f_back
        if frame is None:
            break
        if frame.f_code.co_name in ("excepthook", "__call__", "__exit__",
                                    "post_mortem"):
            candidates += frame.f_locals.values()
    for candidate in candidates:
        for _ in range(CHAIN_MAXIMUM):
            if not isinstance(candidate, BaseException):
                break
            if any(each is traceback
                   for each in entries(candidate.__traceback__)):
                return candidate
            candidate = candidate.__cause__ or candidate.__context__
    return None


def headline(error: BaseException) -> str:
    """Returns a text like "ValueError: text"."""
    name, text = type_name(type(error)), message(error)
    return name + ": " + text if text else name


def message(error: BaseException) -> str:
    try:
        return bounded(str.__str__(str(error)))
    except BaseException as other:
        return "<its str() raised %s>" % type_name(type(other))


def tell_exception(error) -> "dict | None":
    if error is None:
        return None
    told = tell_one(error)
    told["chain"] = chain = []
    seen = {id(error)}
    while len(chain) < CHAIN_MAXIMUM:
        relation = "cause"
        after = error.__cause__
        if after is None and not error.__suppress_context__:
            relation, after = "context", error.__context__
        if after is None or id(after) in seen:
            break
        seen.add(id(after))
        chain.append(dict(tell_one(after), relation=relation))
        error = after
    return told


def tell_one(error: BaseException) -> dict:
    told: dict = {"type": type_name(type(error)), "message": message(error)}
    if isinstance(error, SyntaxError):
        told["file"] = bounded(error.filename)
        told["line"] = error.lineno if isinstance(error.lineno, int) else 0
    members = getattr(error, "exceptions", None)
    if type(members) is tuple and all(isinstance(each, BaseException)
                                      for each in members):
        told["group"] = [{"type": type_name(type(each)),
                          "message": message(each)}
                         for each in members[:CHAIN_MAXIMUM]]
        told["group_total"] = len(members)
    return told


def without_base(rows: list) -> list:
    """Returns the rows without the outermost frames up to those of the
    debugger, if the debugger has started the program (python -m pdb)."""
    own = {file_of("pdb"), file_of("bdb"), spec_file("pdb")}
    starts = own | {file_of("runpy"), "<frozen runpy>", "<string>"}
    last = -1
    for number, (frame, _line) in enumerate(rows):
        file = frame.f_code.co_filename
        if file not in starts:
            break
        if file in own:
            last = number
    rest = rows[last + 1:]
    if last >= 0 and rest and rest[0][0].f_code.co_filename == "<string>" \
            and len(rest) > 1:
        rest = rest[1:]
    return rest or rows[-1:]


def spec_file(module: str) -> str:
    spec = getattr(sys.modules.get(module), "__spec__", None)
    return getattr(spec, "origin", None) or module


def whole_stack(pdb, place: Place) -> list:
    """Returns (frame, line) of the stack, outermost first. In a post-mortem,
    pdb has only the traceback that it was started with: the frames through
    which the exception propagated before, and the callers of the first frame
    that still exist, are added."""
    rows = list(pdb.stack)
    if place.is_post_mortem and rows:
        given = entries(place.traceback)
        if place.exception is not None and given:
            whole = entries(place.exception.__traceback__)
            for number, each in enumerate(whole):
                if each is given[0]:
                    rows = [(tb.tb_frame, tb.tb_lineno)
                            for tb in whole[:number]] + rows
                    break
        outer = rows[0][0].f_back
        while outer is not None and len(rows) < FRAMES_MAXIMUM:
            rows.insert(0, (outer, outer.f_lineno))
            outer = outer.f_back
    return without_base(rows)[-FRAMES_MAXIMUM:]


def frame_at(pdb, depth: object) -> tuple:
    rows = whole_stack(pdb, Place(pdb))
    if type(depth) is not int or not 0 <= depth < len(rows):
        raise Refusal("the stack has no frame %s" % (depth,))
    return rows[-1 - depth]


def tell_frame(frame, line) -> dict:
    code = frame.f_code
    return {"func": bounded(code.co_name),
            "qualname": bounded(code.co_qualname)
            if hasattr(code, "co_qualname") else None,
            "file": bounded(code.co_filename), "first": code.co_firstlineno,
            "line": line or code.co_firstlineno}


def dialect_of(pdb) -> str:
    for kind in _mro(type(pdb)):
        module = str(kind.__module__)
        base = module.partition(".")[0]
        if base != "__main__":
            return DIALECTS.get(base, module)
    return "pdb"


def nesting(pdb) -> int:
    depth, frame = 0, sys._getframe()
    name = "do_debug"
    while frame is not None:
        depth += frame.f_code.co_name == name and \
            frame.f_code.co_filename in debugger_files(pdb)
        frame = frame.f_back
    return depth


def state(pdb, _question: dict) -> dict:
    """Returns all data of the stop."""
    _kinds.clear()
    place = Place(pdb)
    rows = whole_stack(pdb, place)
    mine = held(pdb)
    if mine.is_new:
        # currentbp stays set until the next breakpoint stops the program, so
        # it is read once per stop and then cleared.
        number = getattr(pdb, "currentbp", 0)
        if type(number) is int and number > 0 and place.event:
            mine.hit = [number]
            mine.condition_error = why_condition_failed(pdb, number)
            pdb.currentbp = 0
        mine.is_new = False
        keep_locals(pdb)
        adopt_breakpoints(pdb)
    prompt = getattr(pdb, "prompt", None)
    return {
        "prompt": bounded(prompt), "python": sys.version.split()[0],
        "dialect": dialect_of(pdb), "pid": os.getpid(),
        "tid": thread_id(), "post_mortem": place.is_post_mortem,
        "event": place.event, "value": place.value,
        "exception": tell_exception(place.exception)
        if place.is_post_mortem or place.event == "exception" else None,
        "index": len(pdb.stack) - 1 - pdb.curindex,
        "frames": [tell_frame(*row) for row in reversed(rows)],
        "breakpoints": tell_breakpoints(), "hit": mine.hit,
        "condition_error": mine.condition_error,
        "nesting": nesting(pdb), "guarded": is_guarded(pdb),
        "lease": lease_left(pdb)}


def lease_left(pdb) -> "float | None":
    """Returns the seconds until probetui's agent resumes the program by
    itself; None: it does not."""
    until = getattr(pdb, "lease_until", None)
    if type(until) is not float or until <= 0:
        return None
    return max(0.0, until - time.monotonic())


def thread_id() -> int:
    import _thread
    return _thread.get_native_id()


def select(pdb, question: dict) -> dict:
    """Selects a frame, as `up` and `down` do, but prints nothing."""
    depth = question.get("depth")
    number = len(pdb.stack) - 1 - depth if type(depth) is int else -1
    if not 0 <= number < len(pdb.stack):
        raise Refusal("the debugger cannot select frame %s: the debugger's "
                      "stack has %d frames" % (depth, len(pdb.stack)))
    if number == pdb.curindex:
        return {}
    names = None
    if sys.version_info < (3, 13):
        keep_locals(pdb)
        names = locals_of(pdb, pdb.stack[number][0])
    before = pdb.curframe
    pdb.curindex = number
    pdb.curframe = pdb.stack[number][0]
    pdb.lineno = None
    if "curframe_locals" in pdb.__dict__:
        pdb.curframe_locals = pdb.curframe.f_locals if names is None \
            else names
    if hasattr(pdb, "set_convenience_variable"):
        carry_variables(before, pdb.curframe)
        pdb.set_convenience_variable(pdb.curframe, "_frame", pdb.curframe)
    return {}


def carry_variables(before, frame) -> None:
    """Moves pdb's convenience variables to the globals of the new frame. pdb
    stores them in the globals of the current frame, and deletes only those of
    the last one: in other modules they would keep the frame alive."""
    if before is not None and before.f_globals is not frame.f_globals:
        names = before.f_globals.pop(OWN_VARIABLES, None)
        if names is not None:
            frame.f_globals[OWN_VARIABLES] = names


# Variables.

def keep_locals(pdb) -> None:
    frame = getattr(pdb, "curframe", None)
    names = getattr(pdb, "curframe_locals", None)
    if frame is not None and names is not None:
        held(pdb).locals[id(frame)] = (frame, names)


def locals_of(pdb, frame):
    """Returns the locals of a frame. Up to 3.12, each read of f_locals
    overwrites assignments made at the prompt, so the dict that pdb has read
    is used again."""
    if sys.version_info >= (3, 13):
        return frame.f_locals
    if frame is pdb.curframe and hasattr(pdb, "curframe_locals"):
        return pdb.curframe_locals
    kept = held(pdb).locals
    if id(frame) not in kept:
        kept[id(frame)] = (frame, frame.f_locals)
    return kept[id(frame)][1]


def is_dunder(name: str) -> bool:
    return len(name) >= 4 and name[:2] == name[-2:] == "__"


def variables_of(pdb, frame, is_innermost: bool, place: Place) -> list:
    """Returns (name, kind, has_value, value) of each variable."""
    code = frame.f_code
    names = locals_of(pdb, frame)
    rows = []
    if is_innermost and place.exception is not None:
        rows.append(("<raised>", "local", True, place.exception))
    known = list(code.co_varnames)
    known += [name for name in code.co_cellvars if name not in known]
    known += code.co_freevars
    is_function = code.co_flags & 1  # CO_OPTIMIZED
    if not is_function:
        known = [name for name in known if name in names
                 and not is_dunder(name)]
    for name in known:
        kind = "free" if name in code.co_freevars else \
            "cell" if name in code.co_cellvars else "local"
        has_value = name in names
        rows.append((name, kind, has_value,
                     names[name] if has_value else None))
    kind = "global" if names is frame.f_globals else "local"
    for name in list(names):
        if type(name) is str and name not in known and not is_dunder(name):
            rows.append((name, kind, True, names[name]))
    return rows


def opens(value: object) -> "int | None":
    """Returns the number of children; None: the value has none to show."""
    count = child_count(value)
    return count if count >= 0 else None


def row(name: str, kind: str, value: object) -> dict:
    return {"name": bounded(name, NAME_MAXIMUM), "kind": kind,
            "type": bounded(type_name(type(value)), NAME_MAXIMUM),
            "value": describe(value).replace("\0", "^@"),
            "address": hex(id(value)), "children": opens(value)}


class Inspector:
    def __init__(self) -> None:
        # id of an object: the path to it, that is a root (three items)
        # and the number of the child at each further level.
        self.ways: dict = {}

    def remember(self, value: object, way: tuple) -> None:
        if len(self.ways) >= WAYS_MAXIMUM:
            self.ways.clear()
        self.ways[id(value)] = way

    def variables(self, pdb, question: dict) -> dict:
        """{"depth", "start"}: the variables of a frame."""
        place = Place(pdb)
        stack = whole_stack(pdb, place)
        depth = question.get("depth")
        frame = frame_at(pdb, depth)[0]
        rows = variables_of(pdb, frame, depth == 0, place)
        start = first(question)
        told = []
        for name, kind, has_value, value in rows[start:start + VARIABLE_PAGE]:
            if not has_value:
                told.append({"name": bounded(name, NAME_MAXIMUM),
                             "kind": kind, "type": "", "value": "unbound",
                             "address": None, "children": None})
                continue
            told.append(row(name, kind, value))
            self.remember(value, ("frame", len(stack) - 1 - depth, name))
        return {"variables": told, "total": len(rows)}

    def root(self, pdb, way: tuple) -> object:
        if way[0] == "result":
            return held(pdb).results[way[1]]
        place = Place(pdb)
        stack = whole_stack(pdb, place)
        frame = stack[way[1]][0]
        for name, _kind, has_value, value in variables_of(
                pdb, frame, way[1] == len(stack) - 1, place):
            if name == way[2] and has_value:
                return value
        raise KeyError(way)

    def find(self, pdb, address: int) -> object:
        """Returns the object at an address, found again by its path."""
        try:
            way = self.ways[address]
            value = self.root(pdb, way[:3])
            for number in way[3:]:
                value = children(value, number, number + 1)[0][1]
            if id(value) == address:
                return value
        except Exception:
            pass
        raise Refusal("the Python object at 0x%x no longer exists: refresh "
                      "the list of variables" % address)

    def children(self, pdb, question: dict) -> dict:
        """{"address", "start"}: the items and attributes of an object."""
        try:
            address = int(question.get("address") or "0", 16)
        except (TypeError, ValueError):
            address = 0
        value = self.find(pdb, address)
        total = child_count(value)
        if total < 0:
            raise Refusal("the object at 0x%x has no items or attributes to "
                          "open" % address)
        start = first(question)
        told = []
        way = self.ways[address]
        found = children(value, start, start + VARIABLE_PAGE)
        for number, (name, child) in enumerate(found):
            told.append(row(name, "item", child))
            if id(child) not in self.ways:
                self.remember(child, way + (start + number,))
        return {"variables": told, "total": total}

    def evaluate(self, pdb, question: dict) -> dict:
        """{"depth", "expression"}: evaluates an expression, or executes a
        statement."""
        frame = frame_at(pdb, question.get("depth", 0))[0]
        text = question.get("expression")
        if type(text) is not str or not text.strip():
            raise Refusal("the expression is empty")
        printed = Printed(sys.stdout)
        sys.stdout = printed
        try:
            has_value, value = run(pdb, frame, text.strip(), printed)
            result = describe(value, calls=True) if has_value else ""
        except BaseException as error:
            return {"error": headline(error), "output": printed.text()}
        finally:
            if sys.stdout is printed:
                sys.stdout = printed.other
        told = {"result": result.replace("\0", "^@"), "type": "",
                "address": "0x0", "children": None, "output": printed.text()}
        if has_value:
            results = held(pdb).results
            results.append(value)
            way = ("result", len(results) - 1, "")
            if len(results) > RESULTS_MAXIMUM:
                results[len(results) - 1 - RESULTS_MAXIMUM] = None
            self.remember(value, way)
            told.update(type=type_name(type(value)), address=hex(id(value)),
                        children=opens(value))
        return told


def first(question: dict) -> int:
    start = question.get("start", 0)
    return start if type(start) is int and start > 0 else 0


class Printed:
    """Standard output while an expression is evaluated: text of this thread
    is kept for the answer, text of other threads is written as before."""

    def __init__(self, other) -> None:
        self.other = other
        self.thread = thread_id()
        self.parts: list = []
        self.size = 0

    def write(self, text: str) -> int:
        if thread_id() != self.thread:
            return self.other.write(text)
        room = TEXT_MAXIMUM - self.size
        if room > 0:
            self.parts.append(text[:room])
        self.size += len(text)
        return len(text)

    def flush(self) -> None:
        if thread_id() != self.thread:
            self.other.flush()

    def text(self) -> str:
        text = "".join(self.parts).replace("\0", "^@")
        return text + CUT if self.size > TEXT_MAXIMUM else text

    def __getattr__(self, name: str):
        return getattr(self.other, name)


def run(pdb, frame, text: str, printed: Printed) -> tuple:
    """Runs text in the frame. Returns (has_value, value)."""
    names = locals_of(pdb, frame)
    try:
        code = compile(text, "<probetui>", "eval", 0, True)
    except SyntaxError:
        run_statement(frame, names, text, printed)
        return False, None
    space = frame.f_globals
    if any(type(each) is type(code) for each in code.co_consts) and \
            names is not space:
        # A comprehension or lambda in eval() does not see the locals, unless
        # they are among its globals.
        space = dict(space)
        space.update(names)
    return True, eval(code, space, names)


def run_statement(frame, names, text: str, printed: Printed) -> None:
    try:
        code = compile(text + "\n", "<probetui>", "single", 0, True)
    except SyntaxError:
        code = compile(text + "\n", "<probetui>", "exec", 0, True)

    def show(value: object) -> None:
        if value is not None:
            printed.write(describe(value, calls=True) + "\n")

    before = sys.displayhook
    sys.displayhook = show
    try:
        exec(code, frame.f_globals, names)
    finally:
        sys.displayhook = before


# Breakpoints. Those of probetui have their id as the attribute probetui_id,
# so that another instance of Pdb recognises them.

def all_breakpoints() -> list:
    kind = sys.modules["bdb"].Breakpoint
    return [each for each in list(kind.bpbynumber) if each is not None]


def our_id(breakpoint_) -> int:
    number = getattr(breakpoint_, "probetui_id", 0)
    return number if type(number) is int else 0


def adopt_breakpoints(pdb) -> None:
    """Adds the breakpoints that probetui has set in another instance to
    pdb.breaks: up to 3.9, a new instance does not know their lines."""
    for each in all_breakpoints():
        lines = pdb.breaks.setdefault(each.file, []) if our_id(each) else None
        if type(lines) is list and each.line not in lines:
            lines.append(each.line)


# Names of the nodes of a condition that may be evaluated once more.
PLAIN = ("Expression", "Name", "Constant", "Compare", "BoolOp", "UnaryOp",
         "BinOp", "Attribute", "Subscript", "Index", "Load")
# ast.PyCF_ONLY_AST: compile() returns the syntax tree, without the module
# ast.
ONLY_TREE = 0x400


def is_plain(node: object) -> bool:
    """True if the tree has no call or other node that may take long or change
    the program."""
    if isinstance(node, list):
        return all(is_plain(each) for each in node)
    name, parents = type(node).__name__, type(node).__mro__
    if parents[-2].__name__ != "AST":
        return True
    return (name in PLAIN or parents[1].__name__ in (
        "operator", "unaryop", "boolop", "cmpop")) \
        and all(is_plain(getattr(node, each)) for each in node._fields)


def why_condition_failed(pdb, number: int) -> "str | None":
    """Returns the exception that the condition raised; None: none, or
    unknown. bdb stops at a condition that raises without reporting the
    exception, so a condition without side effects is evaluated again."""
    condition = [each.cond for each in all_breakpoints()
                 if each.number == number and each.cond]
    frame = pdb.curframe
    if not condition or type(condition[0]) is not str or frame is None:
        return None
    try:
        if is_plain(compile(condition[0].strip(), "<probetui>", "eval",
                            ONLY_TREE, True)):
            eval(condition[0], frame.f_globals, locals_of(pdb, frame))
    except Exception as error:
        return headline(error)
    return None


def tell_breakpoints() -> list:
    return [dict(tell_breakpoint(each), file=bounded(each.file),
                 enabled=bool(each.enabled), ignore=each.ignore)
            for each in all_breakpoints()[:BREAKPOINTS_MAXIMUM]]


def tell_breakpoint(each) -> dict:
    """Returns the JSON of struct breakpoint_binding
    (src/protocol/debugger.h)."""
    told = {"id": our_id(each), "number": each.number,
            "path": bounded(each.file), "line": each.line,
            "hits": each.hits, "disabled": not each.enabled,
            "temporary": bool(each.temporary)}
    if each.cond:
        told["condition"] = bounded(each.cond)
    return told


def breakpoints(pdb, question: dict) -> dict:
    """{"breakpoints"}: sets exactly these breakpoints of probetui."""
    wanted = question.get("breakpoints")
    wanted = wanted if type(wanted) is list else []
    numbers = {each.get("id") for each in wanted}
    for each in all_breakpoints():
        if our_id(each) and our_id(each) not in numbers:
            remove(pdb, each)
    return {"breakpoints": [bind(pdb, each) for each in wanted]}


def remove(pdb, each) -> None:
    number = each.number
    refused = pdb.clear_bpbynumber(number)
    if refused:  # another instance has set it: this one does not know its file
        each.deleteMe()
    getattr(pdb, "commands", {}).pop(number, None)


def bind(pdb, wanted: dict) -> dict:
    found = None
    for each in all_breakpoints():
        if our_id(each) == wanted["id"]:
            found = each
    try:
        spec = place_of(pdb, wanted)
        if found is not None and (found.file, found.line, found.funcname) \
                != (spec[0], spec[1], spec[2]):
            remove(pdb, found)
            found = None
        if found is None:
            found = set_breakpoint(pdb, wanted, spec)
        return adjust(found, wanted)
    except Refusal as refusal:
        if found is not None:
            remove(pdb, found)
        return {"id": wanted["id"], "number": 0, "line": 0, "hits": 0,
                "disabled": bool(wanted.get("disabled")),
                "temporary": bool(wanted.get("temporary")),
                "message": bounded(str(refusal))}


def adjust(found, wanted: dict) -> dict:
    condition = wanted.get("condition") or None
    if condition:
        try:
            compile(condition, "<probetui>", "eval", 0, True)
        except (SyntaxError, ValueError) as error:
            raise Refusal("the condition %s is not an expression: %s" % (
                condition, str(error).rstrip("."))) from None
    found.cond = condition
    found.temporary = bool(wanted.get("temporary"))
    (found.disable if wanted.get("disabled") else found.enable)()
    ignore = wanted.get("ignore") or 0
    if getattr(found, "probetui_ignore", 0) != ignore:
        found.ignore = found.probetui_ignore = ignore
    return tell_breakpoint(found)


def set_breakpoint(pdb, wanted: dict, spec: tuple):
    path, line, function = spec
    text = linecache.getline(path, line, pdb.curframe.f_globals
                             if pdb.curframe else None)
    if not text:
        raise Refusal("%s has no line %d" % (path, line))
    text = text.strip()
    if not text or text[0] == "#" or text[:3] in ('"""', "\'\'\'"):
        raise Refusal("line %d of %s is blank or a comment, where nothing "
                      "can stop" % (line, path))
    refused = pdb.set_break(path, line, bool(wanted.get("temporary")),
                            None, function)
    if refused:
        raise Refusal(str(refused).rstrip("."))
    found = sys.modules["bdb"].Breakpoint.bplist[path, line][-1]
    found.probetui_id = wanted["id"]
    return found


def place_of(pdb, wanted: dict) -> tuple:
    """Returns (path in the form that bdb compares, line, function name or
    None)."""
    if wanted.get("watch"):
        raise Refusal("pdb does not support watchpoints; detach pdb to use "
                      "hardware watchpoints")
    if wanted.get("log"):
        raise Refusal("pdb does not support log points; detach pdb to use "
                      "them")
    if wanted.get("function"):
        return function_place(pdb, wanted["function"])
    return source_path(pdb, wanted["path"]), wanted["line"], None


def loaded_files(pdb):
    for frame, _line in reversed(pdb.stack):
        yield frame.f_code.co_filename
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if type(file) is str and file.endswith(".py"):
            yield file


def source_path(pdb, path: str) -> str:
    """Returns the path in the form of the program's code objects, which may
    be relative."""
    if os.path.isabs(path):
        return absolute_path(pdb, path)
    for file in loaded_files(pdb):
        if file == path or file.endswith("/" + path):
            return pdb.canonic(file)
    found = pdb.lookupmodule(path)
    if not found or not os.path.exists(found):
        raise Refusal("the process has not loaded a file %s, and sys.path "
                      "has none" % path)
    return pdb.canonic(found)


def absolute_path(pdb, path: str) -> str:
    wanted = os.path.realpath(path)
    canonical = pdb.canonic(path)
    seen = set()
    for file in loaded_files(pdb):
        if file in seen:
            continue
        seen.add(file)
        if pdb.canonic(file) == canonical:
            return canonical
        if os.path.basename(file) == os.path.basename(path) and \
                os.path.realpath(file) == wanted:
            return pdb.canonic(file)
    if not os.path.exists(path):
        raise Refusal("file %s does not exist where the process runs" % path)
    return canonical


def function_place(pdb, name: str) -> tuple:
    value = find_function(pdb, name)
    value = getattr(value, "__func__", value)
    code = getattr(value, "__code__", None)
    if type(code) is not type(run.__code__):
        if pdb.curframe is not None:
            found, file, line = pdb.lineinfo(name)
            if found and file:
                return pdb.canonic(file), int(line), found
        raise Refusal("the process has no function %s" % name)
    line = code.co_firstlineno
    first_line = getattr(sys.modules["pdb"], "find_first_executable_line",
                         None)  # since 3.13
    if first_line is not None:
        line = first_line(code)
    return pdb.canonic(code.co_filename), line, code.co_name


def find_function(pdb, name: str) -> object:
    """Returns the function named "f", "Net.forward" or "module.f". The name
    is looked up in the frames, innermost first, then in __main__ and the
    modules."""
    if not re.match(r"[^\W\d]\w*(\.[^\W\d]\w*)*\Z", name):
        raise Refusal("%s is not a function name" % name)
    spaces = []
    for frame, _line in reversed(pdb.stack):
        if frame is pdb.curframe:
            spaces.append(locals_of(pdb, frame))
        spaces.append(frame.f_globals)
    spaces.append(getattr(sys.modules.get("__main__"), "__dict__", {}))
    parts = name.split(".")
    for space in spaces:
        if parts[0] in space:
            found = follow(space[parts[0]], parts[1:])
            if found is not None:
                return found
    for count in range(len(parts) - 1, 0, -1):
        module = sys.modules.get(".".join(parts[:count]))
        if module is not None:
            return follow(module, parts[count:])
    return None


def follow(value: object, names: list) -> object:
    for name in names:
        value = getattr(value, name, None)
    return value


# Source, clearing and installation.

def source(pdb, question: dict) -> dict:
    """{"file"}: the source of a file, from linecache or the loader of its
    module."""
    file = question.get("file")
    for frame, _line in whole_stack(pdb, Place(pdb)):
        if frame.f_code.co_filename == file:
            text = "".join(linecache.getlines(file, frame.f_globals))
            if text:
                return {"content": text[:SOURCE_MAXIMUM].replace("\0", "^@")}
    raise Refusal("the process has no source of %s" % (file,))


def clear(pdb, question: dict) -> dict:
    """Removes everything of probetui. `then` is the next command of the
    debugger, after which probetui disconnects. It is part of the question,
    because a second line could be lost: a stream that is both read and
    written drops input that it has read ahead when it writes. With `then`,
    the guard is kept, because the program may stop again."""
    take_away(pdb)
    if question.get("then"):
        restore_streams(pdb)
        pdb.nosigint = pdb.nosigint or is_guarded(pdb)
        pdb.cmdqueue.insert(0, question["then"])
    else:
        unguard(pdb)
    return {}


def take_away(pdb) -> None:
    for each in all_breakpoints():
        if our_id(each):
            remove(pdb, each)
    place = getattr(pdb, "tb_lineno", None)
    if type(place) is dict:
        place.pop(PARTS, None)
    for name in [each for each in pdb.__dict__
                 if each.startswith("_probetui")]:
        del pdb.__dict__[name]


def reply(inspector: Inspector, pdb, question: dict) -> dict:
    answers = {"state": state, "select": select, "breakpoints": breakpoints,
               "source": source, "clear": clear,
               "variables": inspector.variables,
               "children": inspector.children,
               "evaluate": inspector.evaluate}
    try:
        return answers[question.get("do")](pdb, question)
    except Refusal as refusal:
        return {"error": bounded(str(refusal))}
    except Exception as error:
        return {"error": "the inspector in the process failed: %s" %
                headline(error)}


def install(pdb, name: str) -> None:
    """Adds the method pdb.NAME, which is called with the nonce and the last
    piece of a question."""
    inspector = Inspector()

    def ask(pdb, nonce: str, piece: str) -> str:
        pieces = pdb.__dict__.pop(PARTS, {})
        packed = "".join(pieces[each] for each in sorted(pieces)) + piece
        question = json.loads(binascii.a2b_base64(packed).decode())
        answer = json.dumps(reply(inspector, pdb, question),
                            ensure_ascii=False, separators=(",", ":"))
        data = answer.encode("utf-8", "replace")
        text = binascii.b2a_base64(data, newline=False).decode()
        return "%s%s:%d:%08x:%s}" % (MARKER, nonce, len(text),
                                     zlib.crc32(data), text)

    pdb.__dict__[name] = ask
    guard(pdb)
