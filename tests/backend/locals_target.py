"""A process with objects of every kind, stopped where a test can compare.

Each frame on the way down tells what its variables are, in the words that the
reader should find from outside. The last one prints all of it as one line of
JSON and waits for the end of the standard input.
"""
import collections
import dataclasses
import datetime
import enum
import fractions
import functools
import json
import os
import pathlib
import sys
import threading

TRUTH = {"pid": os.getpid(), "frames": {}, "objects": {}, "threads": {}}


def type_name(value):
    return class_name(type(value))


def class_name(kind):
    if kind.__module__ == "builtins":
        return kind.__qualname__
    return kind.__module__ + "." + kind.__qualname__


def place(code, line=None):
    return "%s:%d" % (os.path.basename(code.co_filename),
                      line or code.co_firstlineno)


def shown_generator(value, kind, not_started=[]):
    """A generator, a coroutine or an asynchronous generator."""
    frame = getattr(value, kind + "_frame")
    name = "%s %s" % (type(value).__name__, value.__qualname__)
    if frame is None:
        return "<%s finished>" % name
    state = ("running" if getattr(value, kind + "_running") else
             "not started" if value in not_started else "suspended")
    return "<%s %s at %s>" % (name, state,
                              place(frame.f_code, frame.f_lineno))


def fields(value, names):
    return "%s(%s)" % (type(value).__name__, ", ".join(
        "%s=%s" % (name, shown(getattr(value, name))) for name in names))


def shown(value):
    """What the reader prints: repr, but for what says more another way."""
    if isinstance(value, type(sys)):
        return "<module %r>" % value.__name__
    if isinstance(value, type(shown)):
        return "<function %s at %s>" % (value.__qualname__,
                                        place(value.__code__))
    for name, kind in (("generator", "gi"), ("coroutine", "cr"),
                       ("async_generator", "ag")):
        if type(value).__name__ == name:
            return shown_generator(value, kind)
    if isinstance(value, type(TRUTH.get)) and not isinstance(
            value.__self__, (type(sys), type(None))):
        return "<built-in method %s of %s object at 0x%x>" % (
            value.__name__, type_name(value.__self__), id(value.__self__))
    if isinstance(value, type):
        return "<class '%s'>" % class_name(value)
    if isinstance(value, enum.Enum):
        return ("%s.%s = %r" % (type(value).__name__, value._name_,
                                value._value_) if value._name_ else
                "%s(%r)" % (type(value).__name__, value._value_))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return fields(value, [field.name for field
                              in dataclasses.fields(value) if field.repr])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return fields(value, value._fields)
    if isinstance(value, memoryview):
        return "<memory of %d bytes, format '%s'>" % (value.nbytes,
                                                      value.format)
    if isinstance(value, functools.partial):
        return "functools.partial(%s, *%s, **%s)" % (
            shown(value.func), value.args, value.keywords)
    if isinstance(value, collections.Counter):
        return "Counter(%s)" % (dict.__repr__(value) if value else "")
    if isinstance(value, collections.OrderedDict):
        return "OrderedDict(%s)" % (
            "{%s}" % ", ".join("%r: %r" % each for each in value.items())
            if value else "")
    if isinstance(value, collections.defaultdict):
        return repr(value)
    if type(value) is list and value and all(
            isinstance(each, type(shown)) for each in value):
        return "[%s]" % ", ".join(shown(each) for each in value)
    for kind in (int, float, complex, str, bytes, list, tuple, dict):
        if isinstance(value, kind) and not isinstance(value, bool):
            return kind.__repr__(value)
    if repr(type(value).__repr__).startswith("<slot wrapper '__repr__' of "
                                             "'object'"):
        return "<%s at 0x%x>" % (type_name(value), id(value))
    return repr(value)


def tell(unbound=()):
    """The caller's variables, in the order of its code object.

    From 3.12 on a comprehension's variable is one of them, unbound.
    """
    frame = sys._getframe(1)
    code, values = frame.f_code, frame.f_locals
    names = list(code.co_varnames)
    names += [name for name in code.co_cellvars if name not in names]
    names += code.co_freevars
    rows = []
    for name in names:
        kind = ("free" if name in code.co_freevars else
                "cell" if name in code.co_cellvars else "local")
        if name in unbound or name not in values:
            assert name not in values
            rows.append([name, kind, "", "unbound", "0x0"])
        else:
            value = values[name]
            rows.append([name, kind, type_name(value), shown(value),
                         hex(id(value))])
    TRUTH["frames"][code.co_name] = rows


def tell_object(name, value, children, kept=[]):
    """children: (name, object) in order. All is kept alive."""
    kept.append((value, children))
    TRUTH["objects"][name] = {
        "address": hex(id(value)), "type": type_name(value),
        "value": shown(value),
        "children": [[key, type_name(child), shown(child), hex(id(child))]
                     for key, child in children]}


class Int(int):
    pass


class Str(str):
    pass


class List(list):
    pass


class Dict(dict):
    pass


class Tuple(tuple):
    pass


class Float(float):
    pass


class Plain:
    pass


class Shared:
    def __init__(self, names):
        for number, name in enumerate(names):
            setattr(self, name, number)


class Slots:
    __slots__ = ("first", "second", "__private", "unset")

    def __init__(self):
        self.first = 1
        self.second = "two"
        self.__private = 3.0


class MoreSlots(Slots):
    __slots__ = ("third",)

    def __init__(self):
        super().__init__()
        self.third = [3]


class SlotsAndDict(Slots):
    def __init__(self):
        super().__init__()
        self.here = "dict"
        self.there = None


class Point(collections.namedtuple("Point", "x y")):
    __slots__ = ()


class Color(enum.Enum):
    RED = 1
    LIGHT = "light"


class Level(enum.IntEnum):
    LOW = 1


class Access(enum.Flag):
    READ = 1
    WRITE = 2


@dataclasses.dataclass
class Settings:
    name: str
    rate: float = 0.5
    hidden: int = dataclasses.field(default=3, repr=False)
    shared: "typing.ClassVar[int]" = 4


@dataclasses.dataclass
class More(Settings):
    layers: list = dataclasses.field(default_factory=list)

    def __repr__(self):
        raise RuntimeError("never called")


@dataclasses.dataclass
class Nothing:
    pass


class Unusual(ValueError):
    pass


class Outer:
    class Inner:
        pass


class Bound:
    def __init__(self):
        self.nested = None

    def method(self):
        pass

    def __repr__(self):
        return "<%s at 0x%x>" % (type_name(self), id(self))


KEPT = Bound()
KEPT.nested = Bound()


def numbers(down):
    zero, one, minus = 0, 1, -1
    digit, digits = 2**30 - 1, 2**30
    low, high = -2**62, 2**64 - 1
    large, small = 10**60, -10**60
    long, negative = 7**1300, -3**2000
    yes, no, nothing = True, False, None
    dots, refused = Ellipsis, NotImplemented
    f0, f1, f2, f3 = 0.0, -0.0, 1.0, 0.1
    f4, f5, f6, f7 = 1e16, 1e-5, 123456789012345680.0, 1e-4
    f8, f9 = float("nan"), float("inf")
    f10, f11, f12 = float("-inf"), 5e-324, 1.7976931348623157e308
    f13, f14, f15 = 2.0**-44, 9007199254740993.0, 1 / 3
    f16, f17, f18 = 1e22, 1e15 + 0.5, 2.0**-1074
    f19 = [2.0**i for i in range(-60, 30)]
    f20 = [10.0**i for i in range(-20, 25)]
    f21 = [i / 7 for i in range(60)]
    c0, c1, c2, c3 = 1j, 1 + 2j, complex(-0.0, -1.5), complex("nan-infj")
    c4 = 1e16 + 1e-7j
    sub, ratio = Int(-5), Float(2.5)
    tell()
    down()


def texts(down):
    empty, ascii, latin = "", "abc", "caf\xe9"
    bmp, astral = "\u4f60\u597d \u03a9", "\U0001f600 \U00020000"
    nul, lone = "a\0b", "x\udc80y\ud800"
    single, double, both = "it's", 'say "no"', "'\""
    lines, back = "a\nb\tc\r", "\\n"
    control = "\x01\x1f\x7f\x80\xa0\xad"
    format, private = "\u200b\u202e\u2028\ufeff", "\ue000\U000e0001"
    combining = "e\u0301"
    sub = Str("sub'class")
    sub_wide = Str("\u4f60")
    key_like = "a" * 3000
    b0, b1, b2 = b"", b"abc", b"\0\xff'\n\\"
    b3 = b"'\""
    a0, a1 = bytearray(), bytearray(b"x\x80y")
    a2 = bytearray(b"abcdef")
    del a2[:2]
    tell()
    down()


def containers(down):
    l0, l1, l2 = [], [1, "a", None], [[1, [2]], [], [[3]]]
    t0, t1, t2, t3 = (), (1,), (1, 2), ((), (1, (2,)))
    d0, d1 = {}, {"a": 1, "b": [2], 3: {"c": ()}}
    d2 = {i: str(i) for i in range(20)}
    for i in range(0, 20, 2):
        del d2[i]
    d3 = {"x": 1, "y": 2, "z": 3}
    del d3["y"]
    d3["y"] = 4
    d4 = {}
    d4[1] = 2
    del d4[1]
    d5 = dict.fromkeys(["k%d" % i for i in range(60)], 0)
    d6 = collections.OrderedDict(a=1, b=2)
    d7 = collections.defaultdict(list, a=[1])
    s0, s1, s2 = set(), {1}, {"a"}
    s3 = set(range(40))
    for i in range(0, 40, 3):
        s3.discard(i)
    fs0, fs1 = frozenset(), frozenset([1, (2, 3)])
    cycle = [1]
    cycle.append(cycle)
    ring = {}
    ring["ring"] = (ring,)
    r0, r1, r2 = range(5), range(1, 10), range(10, 0, -3)
    x0 = slice(1, None, 2)
    lsub, dsub, tsub = List([1, 2]), Dict(a=1), Tuple((1,))
    point = Point(1, y=2)
    error, none, two = ValueError("bad"), KeyError(), OSError(2, "no")
    unusual = Unusual("x", [1])
    module, cls, inner = os, Int, Outer.Inner
    builtin_cls, function = int, shown
    tell()
    down()


def collections_of(down):
    q0, q1, q2 = (collections.deque(), collections.deque([1, "a"]),
                  collections.deque(range(10), maxlen=4))
    q3 = collections.deque(range(200))
    q3.rotate(77)
    q4 = collections.deque(maxlen=0)
    q5 = collections.deque([1])
    q5.append(q5)
    o0, o1 = collections.OrderedDict(), collections.OrderedDict(a=1, b=[2])
    o2 = collections.OrderedDict((i, -i) for i in range(20))
    o2.move_to_end(3)
    o2.move_to_end(17, last=False)
    del o2[5]
    f0, f1 = collections.defaultdict(), collections.defaultdict(list, a=[1])
    c0, c1 = collections.Counter(), collections.Counter("aab")
    tell()
    down()


async def coroutine():
    pass


async def async_generator():
    yield 1


def functions(down):
    def inner():
        yield 1
        yield 2

    def loops():
        tell()
        yield down()

    late, early, over = inner(), inner(), inner()
    next(late)
    list(over)
    waits, asynchronous = coroutine(), async_generator()
    shown_generator.__defaults__[0].extend([early, waits, asynchronous])
    nameless = lambda: 0  # noqa: E731
    bound, nested = KEPT.method, KEPT.nested.method
    builtin, of_list = len, [].append
    part = functools.partial(shown, 1, x=2)
    view, written = memoryview(b"abc"), memoryview(bytearray(8)).cast("d")
    tell()
    next(loops())


def times(down):
    utc = datetime.timezone.utc
    east = datetime.timezone(datetime.timedelta(hours=2), "east")
    d0, d1 = datetime.date(2024, 2, 29), datetime.date(1, 1, 1)
    t0, t1 = datetime.time(1, 2), datetime.time(1, 2, 3, 400000, tzinfo=utc)
    m0 = datetime.datetime(2024, 1, 2, 3, 4)
    m1 = datetime.datetime(2024, 1, 2, 3, 4, 5, 6, tzinfo=east)
    m2 = datetime.datetime(9999, 12, 31, 23, 59, 59, fold=1)
    z0 = datetime.timezone(datetime.timedelta(hours=-5))
    p0, p1 = datetime.timedelta(), datetime.timedelta(1, 2, 3)
    p2 = datetime.timedelta(microseconds=-1)
    tell()
    down()


def classes(down):
    red, light, low = Color.RED, Color.LIGHT, Level.LOW
    both, none = Access.READ | Access.WRITE, Access(0)
    settings, more = Settings("a"), More("b", layers=[1, Settings("c")][:1])
    nothing = Nothing()
    half = Settings.__new__(Settings)
    del half.__dict__
    del half
    point, empty = Point(1, y="two"), collections.namedtuple("Empty", "")()
    third = fractions.Fraction(-1, 3)
    p0, p1 = pathlib.Path("data", "x"), pathlib.Path("/data/y")
    p2, p3, p4 = pathlib.Path("a.b/c"), pathlib.Path("."), pathlib.Path("/")
    str(p1), str(p3)
    tell(unbound=["half"])
    down()


def handles(down):
    """Two exceptions, each in the frame that handles it."""
    def inner():
        try:
            raise KeyError("inner")
        except KeyError as error:
            kept = error
            TRUTH["handled"]["inner"] = [shown(kept), hex(id(kept))]
            down()

    TRUTH["handled"] = {}
    try:
        int("outer")
    except ValueError as error:
        TRUTH["handled"]["handles"] = [shown(error), hex(id(error))]
        inner()


def instances(down):
    plain, nested = Plain(), Outer.Inner()
    slots = Slots()
    tell()
    down()


def arguments(down, a, b=2, *args, c, d=4, **kwargs):
    tell()
    down()


def outer(down, argument):
    cell = [argument]
    late = None

    def middle():
        own = "own"

        def innermost():
            tell()
            return down(cell, argument, own)

        tell()
        innermost()

    del late
    tell(unbound=["late"])
    middle()

    def uses():
        return late
    return uses


def unbound(down, gone):
    if down is None:
        never = 1
        print(never)
    del gone
    tell(unbound=["gone", "never"])
    down()


def generator(down):
    inside = ["generator"]
    tell()
    yield down()
    del inside


def make_objects():
    numbers = list(range(1000))
    tell_object("list", numbers,
                [("[%d]" % i, numbers[i]) for i in range(1000)])
    values = {"key %d" % i: i for i in range(1500)}
    for i in range(500):
        del values["key %d" % (i * 3)]
    tell_object("dict", values,
                [("[%r]" % key, values[key]) for key in values])
    whole = {i: [i] for i in range(1000)}
    tell_object("whole dict", whole,
                [("[%r]" % key, whole[key]) for key in whole])
    members = set(range(5000, 6000)) | {"a", (1, 2)}
    tell_object("set", members,
                [("{%r}" % (key,), key) for key in members])
    frozen = frozenset("abc")
    tell_object("frozenset", frozen,
                [("{%r}" % (key,), key) for key in frozen])
    row = (1, "two", [3])
    tell_object("tuple", row,
                [("[%d]" % i, row[i]) for i in range(3)])
    tell_object("empty", [], [])
    point = Point(1, 2)
    tell_object("namedtuple", point, [("x", 1), ("y", 2)])
    make_deques()
    make_instances()


def make_deques():
    blocks = collections.deque(range(1000))
    blocks.rotate(-300)
    for _ in range(50):
        blocks.popleft()
    tell_object("deque", blocks,
                [("[%d]" % i, item) for i, item in enumerate(blocks)])
    moved = collections.OrderedDict((str(i), i) for i in range(300))
    for i in range(0, 300, 7):
        moved.move_to_end(str(i))
    tell_object("OrderedDict", moved,
                [("[%r]" % key, moved[key]) for key in moved])
    lists = collections.defaultdict(list, a=[1], b=[])
    tell_object("defaultdict", lists,
                [("[%r]" % key, lists[key]) for key in lists]
                + [("default_factory", list)]
                * (sys.version_info >= (3, 12)))
    tell_object("enum", Level.LOW, [
        (name, value) for name, value in vars(Level.LOW).items()])
    settings = More("x")
    tell_object("dataclass", settings, list(vars(settings).items()))


def make_instances():
    plain = Plain()
    tell_object("no attributes", plain, [])
    names = ["alpha", "beta", "gamma", "delta"]
    shared = Shared(names)
    tell_object("in order", shared, list(zip(names, range(4))))
    tell_object("other order", Shared(names[::-1]),
                list(zip(names[::-1], range(4))))
    tell_object("some", Shared(["gamma", "alpha"]),
                [("gamma", 0), ("alpha", 1)])
    deleted = Shared(names)
    del deleted.beta
    tell_object("deleted", deleted,
                [("alpha", 0), ("gamma", 2), ("delta", 3)])
    again = Shared(names)
    del again.beta
    again.beta = "again"
    tell_object("deleted and set", again,
                [("alpha", 0), ("gamma", 2), ("delta", 3), ("beta", "again")])
    emptied = Shared(["alpha"])
    del emptied.alpha
    tell_object("all deleted", emptied, [])
    many = Plain()
    squares = [("attribute_%d" % i, i * i) for i in range(45)]
    for key, value in squares:
        setattr(many, key, value)
    tell_object("many", many, squares)
    looked = Shared(names)
    looked.__dict__["extra"] = 5
    tell_object("dict looked at", looked,
                list(zip(names, range(4))) + [("extra", 5)])
    odd = Shared(names)
    odd.__dict__[7] = "seven"
    replaced = Shared(names)
    replaced.__dict__ = {"only": 1}
    tell_object("dict replaced", replaced, [("only", 1)])
    # Python sorts the names of slots.
    some = Slots()
    held = [("_Slots__private", some._Slots__private), ("first", 1),
            ("second", "two")]
    tell_object("slots", some, held)
    more = MoreSlots()
    held = [("_Slots__private", more._Slots__private), ("first", 1),
            ("second", "two")]
    tell_object("more slots", more, held + [("third", more.third)])
    both = SlotsAndDict()
    held = [("_Slots__private", both._Slots__private), ("first", 1),
            ("second", "two")]
    tell_object("slots and dict", both,
                held + [("here", "dict"), ("there", None)])
    make_subclasses()


def make_subclasses():
    number = Int(2**70)
    number.unit = "m"
    tell_object("int with attribute", number, [("unit", "m")])
    tell_object("int without", Int(3), None or [])
    small = Int(0)
    small.unit = "s"
    tell_object("zero with attribute", small, [("unit", "s")])
    row = Tuple((1, 2, 3))
    row.note = "three"
    tell_object("tuple with attribute", row,
                [("[0]", 1), ("[1]", 2), ("[2]", 3), ("note", "three")])
    text = Str("text")
    text.note = "noted"
    tell_object("str with attribute", text, [("note", "noted")])
    items = List(["a"])
    items.note = 1
    tell_object("list with attribute", items, [("[0]", "a"), ("note", 1)])
    pairs = Dict(a=1)
    pairs.note = 2
    tell_object("dict with attribute", pairs, [("['a']", 1), ("note", 2)])
    unusual = Unusual("what")
    unusual.code = 7
    tell_object("exception with attribute", unusual,
                [("args", unusual.args), ("code", 7)])
    try:
        try:
            raise KeyError("first")
        except KeyError as first:
            raise Unusual("second") from first
    except Unusual as error:
        second = error
    tell_object("exception with cause", second, [
        ("args", second.args), ("__cause__", second.__cause__),
        ("__context__", second.__context__)])
    method = KEPT.method
    tell_object("method", method, [("__self__", KEPT),
                                   ("__func__", Bound.method)])
    del TRUTH["objects"]["int without"]


def make_limits(kept=[]):
    """Values that are too much, and what is shown of them."""
    cut = "\u2026"
    for name, value, wanted in (
            ("deep list", [[[[1]]]], "[[[[%s]]]]" % cut),
            ("deep dict", {1: {2: {3: {4: 5}}}},
             "{1: {2: {3: {%s}}}}" % cut),
            ("deep and empty", [[[[]]]], "[[[[]]]]"),
            ("large int", 1 << 20000, "<int of 20001 bits>"),
            ("negative", -(1 << 20000) + 1, "<int of 20000 bits>"),
            ("long text", "a" * 10000, "'" + "a" * 4031 + "'" + cut),
            ("long bytes", b"a" * 10000, "b'" + "a" * 4030 + "'" + cut),
            ("long list", [0] * 1000, "[" + "0, " * 100 + cut + "]"),
            ("long set", set(range(1000)),
             "{" + "%s, " * 100 % tuple(range(100)) + cut + "}"),
            ("long dict", dict.fromkeys(range(1000)),
             "{" + "%s: None, " * 100 % tuple(range(100)) + cut + "}")):
        kept.append(value)
        yield [name, hex(id(value)), wanted]


def mutant(random, value, kept=[]):
    """The address of a copy of value with some words changed."""
    import ctypes
    before, size = 32, 320
    words = (ctypes.c_uint64 * ((before + 2 * size) // 8 + 1))()
    address = (ctypes.addressof(words) + before + 15) // 16 * 16
    ctypes.memmove(address - before, id(value) - before, size)
    kept.append(words)
    table = address + size
    if isinstance(value, dict):
        # Its keys are changed, too.
        place = ctypes.c_uint64.from_address(address + 32)
        ctypes.memmove(table, place.value, size - before)
        place.value = table
    elif isinstance(value, type):
        # An object of the changed type.
        ctypes.c_uint64.from_address(table + 8).value = address
    for _ in range(random.randint(1, 4)):
        at = random.choice([random.randrange(0, 64, 8),
                            random.randrange(-before, size - before, 8),
                            size + random.randrange(0, 64, 8)])
        if at == 8 and random.random() < 0.9:
            continue
        word = random.choice([
            0, 1, 2**64 - 1, 2**62, 2**63, 2**31, 2**40 + 8, address, table,
            random.getrandbits(64), random.getrandbits(47) & ~7,
            ctypes.c_uint64.from_address(address + at).value
            ^ 1 << random.randrange(64)])
        ctypes.c_uint64.from_address(address + at).value = word
    return [hex(address), hex(table)]


def make_mutants(count):
    import random
    random = random.Random(count)
    # Objects that are larger than what is copied behind them.
    samples = [10**90, "text" * 80, "\u4f60" * 160, b"bytes" * 64,
               [1, 2, 3], (1, "two", [3]) * 16, {"a": 1, "b": (2,)},
               {1: 2, "c": {}}, {1, 2, 3}, frozenset("abc"), Shared("abcd"),
               SlotsAndDict(), Str("sub" * 90), Tuple(range(40)), Int(3),
               Unusual("a", "b"), Shared, SlotsAndDict, shown, range(3),
               bytearray(b"abc"), os, collections.deque(range(99)),
               collections.OrderedDict(a=1, b=2), KEPT.method, len,
               collections.defaultdict(list, a=[1]), Color.RED,
               More("mutant"), Point(1, 2), generator(None), Settings,
               datetime.datetime(2024, 1, 2), memoryview(b"abc"),
               fractions.Fraction(1, 3), pathlib.Path("/a/b"),
               functools.partial(shown, 1)]
    return [mutant(random, samples[i % len(samples)]) for i in range(count)]


def block():
    sys.stdout.write(json.dumps(TRUTH) + "\n")
    sys.stdout.flush()
    os.read(0, 1)


def finish():
    rows = []
    for name, value in list(globals().items()):
        if not (name.startswith("__") and name.endswith("__")):
            rows.append([name, "global", type_name(value), shown(value),
                         hex(id(value))])
    # Its text changes as it is filled.
    TRUTH["globals"] = [row for row in rows if row[0] != "TRUTH"]
    block()


def in_class():
    class Body:
        number = 1
        text = "body"
        TRUTH["frames"]["Body"] = [
            ["number", "local", "int", "1", hex(id(number))],
            ["text", "local", "str", "'body'", hex(id(text))]]
        finish()


def start_thread():
    ready = threading.Event()

    def wait():
        ready.set()
        threading.Event().wait()

    thread = threading.Thread(target=wait, name="loader-\xe9", daemon=True)
    thread.start()
    ready.wait()
    for each in threading.enumerate():
        TRUTH["threads"][str(each.ident)] = each.name


def main():
    os.environ["PROBE_LATE"] = "7 and caf\xe9"
    start_thread()
    make_objects()
    TRUTH["limits"] = list(make_limits())
    try:
        TRUTH["mutants"] = make_mutants(1000)
    except ImportError as error:
        TRUTH["no mutants"] = str(error)
    next(generator(in_class))


for NUMBER in range(130):
    globals()["global_%d" % NUMBER] = NUMBER

STEPS = [
    lambda down: numbers(down),
    lambda down: texts(down),
    lambda down: containers(down),
    lambda down: collections_of(down),
    lambda down: functions(down),
    lambda down: times(down),
    lambda down: classes(down),
    lambda down: handles(down),
    lambda down: instances(down),
    lambda down: arguments(down, 1, 3, 5, 6, c=7, e=8),
    lambda down: outer(lambda *kept: down(), "argument"),
    lambda down: unbound(down, "gone"),
]


def run(number):
    if number == len(STEPS):
        main()
    else:
        STEPS[number](lambda: run(number + 1))


run(0)
