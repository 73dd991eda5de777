"""Values as text of limited length, and the children of values. The text is
the same as that of the reader (backends/ptrace), so that the values of a rank
look the same by pdb and by ptrace.

This module runs inside the program, at the prompt of its debugger, and calls
no code of the program: no __repr__, no __getattr__, no property, no __len__.
The type of a value is that of type(). The only exception is a Writer with
`calls`: it is for expressions that the user typed, and shows the text of
repr(), as pdb does.

values.py, guard.py and inspector.py are sent together and run as one module.
"""
from __future__ import annotations

import sys
from itertools import islice

VALUE_MAXIMUM = 4096  # bytes of a value (src/protocol/variable.h)
RESERVE = 64  # bytes for closing brackets and quotes after the limit
KEY_MAXIMUM = 256
NAME_MAXIMUM = 256
CUT = "\u2026"
UNKNOWN = "?"
DECIMALS_MAXIMUM = 4300
HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE

# The descriptors of type itself, which a metaclass cannot override.
_mro = type.__dict__["__mro__"].__get__
_names = type.__dict__["__dict__"].__get__
_flags = type.__dict__["__flags__"].__get__
_qualname = type.__dict__["__qualname__"].__get__
_module = type.__dict__["__module__"].__get__


def type_name(kind: type) -> str:
    """Returns the name of a type: "int", "train.Net"."""
    try:
        name, module = _qualname(kind), _module(kind)
    except Exception:
        return UNKNOWN
    if type(name) is not str:
        return UNKNOWN
    if module == "builtins" or type(module) is not str:
        return name
    return module + "." + name


def short_name(kind: type) -> str:
    return type_name(kind).rpartition(".")[2]


def in_class(kind: type, name: str) -> object:
    """Returns the attribute from the __dict__ of the first class of the mro
    that has it; None: no class has it."""
    for base in _mro(kind):
        names = _names(base)
        if name in names:
            return names[name]
    return None


def is_descriptor(value: object) -> bool:
    """True for a descriptor made in C: its __get__ runs no code of the
    program."""
    return type(value).__name__ in ("getset_descriptor", "member_descriptor")


def own_dict(value: object):
    """Returns the __dict__ of an instance; None: it has no usual __dict__."""
    kind = type(value)
    if issubclass_of(kind, type):
        return None
    place = in_class(kind, "__dict__")
    if place is None or not is_descriptor(place):
        return None
    try:
        names = place.__get__(value)
    except Exception:
        return None
    return names if issubclass_of(type(names), dict) else None


def issubclass_of(kind: type, base: type) -> bool:
    """issubclass() that ignores the __subclasscheck__ of a metaclass."""
    return any(each is base for each in _mro(kind))


def slots(value: object) -> list:
    """Returns (name, value) of the slots that are set, slots of bases
    first."""
    found = []
    for base in reversed(_mro(type(value))):
        if not _flags(base) & HEAP_TYPE:
            continue
        for name, place in list(_names(base).items()):
            if not is_slot(name, place):
                continue
            try:
                held = place.__get__(value)
            except Exception:
                continue  # not set
            # A class made in C returns None for a slot without a value.
            if held is not None or "__slots__" in _names(base):
                found.append((name, held))
    return found


def is_slot(name: str, place: object) -> bool:
    return type(place).__name__ == "member_descriptor" and \
        not (name[:2] == name[-2:] == "__")


def has_slots(kind: type) -> bool:
    return any(_flags(base) & HEAP_TYPE and any(
        type(place).__name__ == "member_descriptor"
        for place in list(_names(base).values())) for base in _mro(kind))


def attribute(value: object, name: str, missing: object = None) -> object:
    """Returns an attribute from the value's __dict__ or a slot, without
    calling code of the value's class."""
    names = own_dict(value)
    if names is not None and dict.__contains__(names, name):
        return dict.__getitem__(names, name)
    place = in_class(type(value), name)
    if is_descriptor(place):
        try:
            return place.__get__(value)
        except Exception:
            pass
    return missing


class Writer:
    """The text of one value while it is being made: limit of its length,
    number of objects that may still be read, containers that are open."""

    def __init__(self, limit: int = VALUE_MAXIMUM - RESERVE,
                 calls: bool = False) -> None:
        self.parts: list = []
        self.size = 0
        self.limit = limit
        self.calls = calls
        self.objects = 4096 if calls else 512
        self.items = 1000 if calls else 100
        self.depth = 12 if calls else 3
        self.open: list = []

    def result(self) -> str:
        return "".join(self.parts)

    def left(self) -> int:
        return max(0, self.limit - self.size)

    def text(self, text: str) -> None:
        self.parts.append(text)
        self.size += len(text) if text.isascii() else \
            len(text.encode("utf-8", "replace"))

    def cut(self, text: str) -> None:
        """Adds text, and cuts it if it is longer than the space left."""
        left = self.left()
        if len(text) > left or len(text.encode("utf-8", "replace")) > left:
            data = text[:left].encode("utf-8", "replace")[:left]
            self.text(data.decode("utf-8", "ignore"))
            self.text(CUT)
        else:
            self.text(text)

    def begin(self, value: object, count: int, brackets: tuple) -> bool:
        """Opens a container. brackets: (text before the items, text after
        them, text of a container that is already open, text of an empty
        container). Returns False if no items are to be written."""
        first, last, cycle, empty = brackets
        if not count:
            self.text(empty)
            return False
        if any(each is value for each in self.open):
            self.text(cycle)
            return False
        self.text(first)
        if len(self.open) == self.depth:
            self.text(CUT + last)
            return False
        self.open.append(value)
        return True

    def next(self, number: int) -> bool:
        if number:
            self.text(", ")
        if number < self.items and self.objects > 0 and self.left():
            return True
        self.text(CUT)
        return False

    def end(self, brackets: tuple) -> None:
        self.text(brackets[1])
        self.open.pop()

    def sequence(self, value: object, count: int, items, brackets: tuple) \
            -> None:
        if not self.begin(value, count, brackets):
            return
        try:
            for number, item in enumerate(items):
                if not self.next(number):
                    break
                self.object(item)
        except RuntimeError:
            self.text(UNKNOWN)  # another thread changes the container
        self.end(brackets)

    def mapping(self, value: object, count: int, items, brackets: tuple) \
            -> None:
        if not self.begin(value, count, brackets):
            return
        try:
            for number, (key, item) in enumerate(items):
                if not self.next(number):
                    break
                self.object(key)
                self.text(": ")
                self.object(item)
        except RuntimeError:
            self.text(UNKNOWN)
        self.end(brackets)

    def fields(self, value: object, items: list) -> None:
        """Writes "Name(a=1, b=2)"."""
        brackets = ("(", ")", "(...)", "()")
        self.text(short_name(type(value)))
        if not self.begin(value, 1 if items is None else len(items),
                          brackets):
            return
        for number, (name, item) in enumerate(items):
            if not self.next(number):
                break
            self.text(name + "=")
            self.object(item)
        self.end(brackets)

    def default(self, value: object) -> None:
        self.text("<%s at 0x%x>" % (type_name(type(value)), id(value)))

    def call(self, value: object) -> None:
        """Writes the text of repr(), as pdb prints it; repr() may run any
        code."""
        try:
            text = repr(value)
            self.cut(str.__getitem__(text, slice(0, self.left() + 1)))
        except BaseException as error:
            self.text("<%s: its repr() raised %s>" % (
                type_name(type(value)), type_name(type(error))))

    def object(self, value: object) -> None:
        self.objects -= 1
        kind = type(value)
        mark, size = len(self.parts), self.size
        try:
            write = EXACT.get(id(kind))
            if write is None and self.calls:
                self.call(value)
                return
            write = write or find_look(kind) or find_kind(kind)
            if write is not None and write(self, value) is not False:
                return
        except Exception:
            pass
        del self.parts[mark:]
        self.size = size
        self.default(value)


def describe(value: object, calls: bool = False) -> str:
    writer = Writer(calls=calls)
    writer.object(value)
    return writer.result()


# One function for each kind of value. It returns False if the value does not
# have the members of its kind: then the value is written by its address.

def write_text(writer: Writer, value, get, prefix: str) -> None:
    """Writes a str or bytes, quoted, and cut at the limit."""
    left = writer.left()
    shown = get(value, slice(0, left + 1))
    text = repr(shown)
    if len(shown) <= left and len(text.encode()) <= left:
        writer.text(text)
        return
    quote = text[-1]
    low, high = 0, left
    room = left - len(prefix) - 1
    while low < high:  # the longest beginning that fits
        middle = (low + high + 1) // 2
        if len(quoted(shown[:middle], quote, prefix).encode()) <= room:
            low = middle
        else:
            high = middle - 1
    writer.text(prefix + quote + quoted(shown[:low], quote, prefix) + quote)
    writer.text(CUT)


def quoted(shown, quote: str, prefix: str) -> str:
    """Returns the text between the quotes, escaped for the character
    quote."""
    text = repr(shown)
    inside = text[len(prefix) + 1:-1]
    if text[-1] != quote:
        inside = inside.replace(quote, "\\" + quote)
    return inside


def write_str(writer: Writer, value: str) -> None:
    write_text(writer, value, str.__getitem__, "")


def write_bytes(writer: Writer, value: bytes) -> None:
    write_text(writer, value, bytes.__getitem__, "b")


def write_bytearray(writer: Writer, value: bytearray) -> None:
    writer.text("bytearray(")
    write_text(writer, bytes(bytearray.__getitem__(
        value, slice(0, writer.left() + 1))), bytes.__getitem__, "b")
    writer.text(")")


def write_int(writer: Writer, value: int) -> None:
    bits = int.bit_length(value)
    decimals = bits * 30103 // 100000 + 1
    if decimals > DECIMALS_MAXIMUM or decimals > writer.left():
        writer.text("<int of %d bits>" % bits)
    else:
        writer.text(int.__repr__(value))


def writes(function):
    """Returns a function that writes the text returned by a method of the
    builtin type."""
    def write(writer: Writer, value: object) -> None:
        writer.cut(function(value))
    return write


def write_list(writer: Writer, value: list) -> None:
    writer.sequence(value, list.__len__(value), list.__iter__(value),
                    ("[", "]", "[...]", "[]"))


def write_tuple(writer: Writer, value: tuple) -> None:
    count = tuple.__len__(value)
    writer.sequence(value, count, tuple.__iter__(value), (
        "(", ",)" if count == 1 else ")", "(...)", "()"))


def write_dict(writer: Writer, value: dict) -> None:
    writer.mapping(value, dict.__len__(value), dict.items(value),
                   ("{", "}", "{...}", "{}"))


def write_set(writer: Writer, value: set) -> None:
    writer.sequence(value, set.__len__(value), set.__iter__(value),
                    ("{", "}", "set(...)", "set()"))


def write_frozenset(writer: Writer, value: frozenset) -> None:
    writer.sequence(value, frozenset.__len__(value),
                    frozenset.__iter__(value),
                    ("frozenset({", "})", "frozenset(...)", "frozenset()"))


def write_range(writer: Writer, value: range) -> None:
    write_held(writer, "range", [value.start, value.stop]
               + ([value.step] if value.step != 1 else []))


def write_slice(writer: Writer, value: slice) -> None:
    write_held(writer, "slice", [value.start, value.stop, value.step])


def write_held(writer: Writer, name: str, items: list) -> None:
    for number, item in enumerate(items):
        writer.text(", " if number else name + "(")
        writer.object(item)
    writer.text(")")


def write_cell(writer: Writer, value) -> None:
    brackets = ("<cell: ", ">", "<cell: ...>", "<cell: empty>")
    try:
        held = [value.cell_contents]
    except ValueError:
        held = []
    writer.sequence(value, len(held), held, brackets)


def write_exception(writer: Writer, value: BaseException) -> None:
    args = BaseException.__dict__["args"].__get__(value)
    writer.text(short_name(type(value)))
    writer.sequence(args, len(args), args, ("(", ")", "(...)", "()"))


def write_type(writer: Writer, value: type) -> None:
    writer.text("<class '%s'>" % type_name(value))


def write_module(writer: Writer, value) -> None:
    writer.text("<module ")
    writer.object(own_dict(value).get("__name__"))
    writer.text(">")


def place(code, line: int) -> str:
    return " at %s:%d" % (code.co_filename.rpartition("/")[2], line)


def write_function(writer: Writer, value) -> None:
    code = value.__code__
    writer.text("<function %s%s>" % (
        value.__qualname__[:NAME_MAXIMUM], place(code, code.co_firstlineno)))


def write_method(writer: Writer, value) -> None:
    brackets = ("<bound method ", ">", "<bound method ...>", "")
    if not writer.begin(value, 1, brackets):
        return
    function = value.__func__
    if find_kind(type(function)) is write_function:
        writer.text(function.__qualname__[:NAME_MAXIMUM])
    else:
        writer.object(function)
    writer.text(" of ")
    writer.object(value.__self__)
    writer.end(brackets)


def write_builtin(writer: Writer, value) -> None:
    holder = value.__self__
    if holder is None or type(holder) is type(sys):
        writer.text("<built-in function %s>" % value.__name__)
    else:
        writer.text("<built-in method %s of %s object at 0x%x>" % (
            value.__name__, type_name(type(holder)), id(holder)))


def write_partial(writer: Writer, value) -> None:
    kind = sys.modules["functools"].partial
    brackets = ("functools.partial(", ")", "...", "")
    if not writer.begin(value, 1, brackets):
        return
    writer.object(kind.func.__get__(value))
    args, keywords = kind.args.__get__(value), kind.keywords.__get__(value)
    if args:
        writer.text(", *")
        writer.object(args)
    if keywords:
        writer.text(", **")
        writer.object(keywords)
    writer.end(brackets)


def generator_state(value, kind: str) -> str:
    """Returns "running", "suspended" or "not started"."""
    frame = getattr(value, kind + "_frame")
    if getattr(value, kind + "_running"):
        return "running"
    if hasattr(value, kind + "_suspended"):
        return "suspended" if getattr(value, kind + "_suspended") \
            else "not started"
    started = frame.f_lineno != frame.f_code.co_firstlineno \
        if sys.version_info >= (3, 11) else frame.f_lasti >= 0
    return "suspended" if started else "not started"


def write_generator(writer: Writer, value) -> None:
    kind = {"generator": "gi", "coroutine": "cr",
            "async_generator": "ag"}[type(value).__name__]
    frame = getattr(value, kind + "_frame")
    name = "%s %s" % (type(value).__name__, value.__qualname__[:NAME_MAXIMUM])
    if frame is None:
        writer.text("<%s finished>" % name)
        return
    state = generator_state(value, kind)
    line = frame.f_code.co_firstlineno if state == "not started" else \
        frame.f_lineno or frame.f_code.co_firstlineno
    writer.text("<%s %s%s>" % (name, state, place(frame.f_code, line)))


def write_deque(writer: Writer, value) -> None:
    kind = sys.modules["collections"].deque
    maximum = kind.maxlen.__get__(value)
    close = "])" if maximum is None else "], maxlen=%d)" % maximum
    writer.sequence(value, kind.__len__(value), kind.__iter__(value),
                    ("deque([", close, "[...]", "deque([" + close))


def write_defaultdict(writer: Writer, value) -> None:
    kind = sys.modules["collections"].defaultdict
    writer.text("defaultdict(")
    writer.object(kind.default_factory.__get__(value))
    writer.text(", ")
    write_dict(writer, value)
    writer.text(")")


def ordered_items(value):
    """Returns the items in the order of the OrderedDict, which may differ
    from that of its base class dict."""
    kind = sys.modules["collections"].OrderedDict
    return ((key, dict.__getitem__(value, key))
            for key in kind.__iter__(value))


def write_ordered(writer: Writer, value) -> None:
    writer.mapping(value, dict.__len__(value), ordered_items(value), (
        "OrderedDict({", "})", "...", "OrderedDict()"))


def write_memory(writer: Writer, value: memoryview) -> None:
    writer.text("<memory of %d bytes, format '%s'>" % (value.nbytes,
                                                       value.format))


def write_scalar(writer: Writer, value) -> None:
    """Writes the value of a numpy scalar, without its type."""
    kind = next(base for base in _mro(type(value))
                if _module(base) == "numpy")
    text = kind.__str__(value)
    if _qualname(kind) == "timedelta64" and text != "NaT":
        unit = sys.modules["numpy"].datetime_data(value.dtype)[0]
        text = "%d %s" % (value.astype("int64"), unit)
    writer.cut(text)


def write_array(writer: Writer, value) -> None:
    kind = sys.modules["numpy"].ndarray
    name = "ndarray" if type(value) is kind else short_name(type(value))
    dtype = kind.dtype.__get__(value)
    order = ">" if dtype.byteorder == ">" else ""
    words = {"O": "object", "M": "datetime64", "m": "timedelta64",
             "U": "str", "S": "bytes", "V": "void", "T": "StringDType"}
    text = words.get(dtype.kind) or dtype.name
    if dtype.kind == "f" and dtype.itemsize == 16:
        text = "longdouble"
    writer.text("%s %s%s %s" % (name, order, text,
                                list(kind.shape.__get__(value))))


def write_tensor(writer: Writer, value) -> None:
    kind = tensor_base()
    name = "tensor" if type_name(type(value)) == "torch.Tensor" else \
        short_name(type(value))
    text = "%s %s %s %s" % (
        name, str(kind.dtype.__get__(value)).rpartition(".")[2],
        [int(size) for size in kind.shape.__get__(value)],
        kind.device.__get__(value))
    if kind.requires_grad.__get__(value):
        text += " requires_grad"
    writer.text(text)


def tensor_base():
    torch = sys.modules["torch._C"]
    return own_dict(torch).get("TensorBase") or own_dict(torch)["_TensorBase"]


def write_size(writer: Writer, value: tuple) -> None:
    writer.sequence(value, tuple.__len__(value), tuple.__iter__(value), (
        "torch.Size([", "])", "...", "torch.Size([])"))


# Classes written in Python that have a text of their own.

def write_enum(writer: Writer, value):
    name = attribute(value, "_name_")
    held = attribute(value, "_value_", CUT)
    if held is CUT:
        return False
    writer.text(short_name(type(value)))
    if type(name) is str:
        writer.text(".%s = " % name[:NAME_MAXIMUM])
        writer.object(held)
        return None
    writer.text("(")
    writer.object(held)
    writer.text(")")
    return None


def named_fields(value):
    """Returns the names of a named tuple's fields; None: they are not one
    name for each item."""
    fields = in_class(type(value), "_fields")
    if type(fields) is not tuple or len(fields) != tuple.__len__(value) or \
            not all(type(name) is str for name in fields):
        return None
    return fields


def write_named_tuple(writer: Writer, value):
    fields = named_fields(value)
    if fields is None:
        return False
    writer.fields(value, list(zip(fields, tuple.__iter__(value))))
    return None


def write_dataclass(writer: Writer, value):
    fields = in_class(type(value), "__dataclass_fields__")
    if type(fields) is not dict:
        return False
    if not fields:
        writer.text(short_name(type(value)) + "()")
        return None
    brackets = ("(", ")", "(...)", "()")
    writer.text(short_name(type(value)))
    if not writer.begin(value, len(fields), brackets):
        return None
    number = 0
    for name, field in list(fields.items()):
        held = attribute(value, name, fields)
        if held is fields or not attribute(field, "repr", True):
            continue
        if not writer.next(number):
            break
        number += 1
        writer.text(name + "=")
        writer.object(held)
    writer.end(brackets)
    return None


def write_fraction(writer: Writer, value):
    parts = [attribute(value, "_numerator"), attribute(value, "_denominator")]
    if None in parts:
        return False
    write_held(writer, short_name(type(value)), parts)
    return None


def write_path(writer: Writer, value) -> None:
    path = sys.modules["pathlib"].PurePath
    writer.text(short_name(type(value)) + "(")
    writer.object(path.__str__(value))
    writer.text(")")


def write_counter(writer: Writer, value) -> None:
    writer.text(short_name(type(value)) + "(")
    if dict.__len__(value):
        write_dict(writer, value)
    writer.text(")")


def write_torch_module(writer: Writer, value):
    names = own_dict(value) or {}
    said = []
    for name, one in (("_parameters", "parameter"), ("_modules", "module")):
        held = names.get(name)
        if not issubclass_of(type(held), dict):
            return False
        count = dict.__len__(held)
        if count:
            said.append("%d %s%s" % (count, one, "" if count == 1 else "s"))
    writer.text(short_name(type(value)))
    if said:
        writer.text(" (%s)" % ", ".join(said))
    return None


EXACT = {id(kind): write for kind, write in (
    (int, write_int), (str, write_str), (float, writes(float.__repr__)),
    (bool, writes(bool.__repr__)), (type(None), writes(repr)),
    (list, write_list), (tuple, write_tuple), (dict, write_dict),
    (set, write_set), (frozenset, write_frozenset), (bytes, write_bytes),
    (bytearray, write_bytearray), (complex, writes(complex.__repr__)),
    (range, write_range), (slice, write_slice),
    (type(Ellipsis), writes(repr)), (type(NotImplemented), writes(repr)))}

# Used only if repr() is not called, whose text differs.
KINDS = {id(kind): write for kind, write in (
    (BaseException, write_exception), (type, write_type),
    (type(sys), write_module), (type(describe), write_function),
    (type(Writer().text), write_method), (type(len), write_builtin),
    (memoryview, write_memory))}

NAMED_KINDS = [
    ("types", "CellType", write_cell),
    ("types", "GeneratorType", write_generator),
    ("types", "CoroutineType", write_generator),
    ("types", "AsyncGeneratorType", write_generator),
    ("functools", "partial", write_partial),
    ("collections", "deque", write_deque),
    ("collections", "defaultdict", write_defaultdict),
    ("collections", "OrderedDict", write_ordered),
    ("datetime", "date", None), ("datetime", "time", None),
    ("datetime", "datetime", None), ("datetime", "timedelta", None),
    ("datetime", "timezone", None),
    ("numpy", "generic", write_scalar), ("numpy", "ndarray", write_array),
    ("torch._C", "TensorBase", write_tensor),
    ("torch._C", "_TensorBase", write_tensor),
    ("torch", "dtype", None), ("torch", "device", None),
    ("torch", "Size", write_size)]

# Classes by their module and name, or by an attribute: the first row that
# matches a class of the mro is used.
LOOKS = [
    ("enum", "Enum", None, object, write_enum),
    (None, None, "_fields", tuple, write_named_tuple),
    (None, None, "__dataclass_fields__", object, write_dataclass),
    ("fractions", "Fraction", None, object, write_fraction),
    ("pathlib", "PurePath", None, object, write_path),
    ("collections", "Counter", None, dict, write_counter),
    ("torch.nn.modules.module", "Module", None, object, write_torch_module)]


def known_kinds() -> dict:
    """Returns KINDS and the NAMED_KINDS of modules that the program has
    loaded."""
    kinds = dict(KINDS)
    for module, name, write in NAMED_KINDS:
        try:
            kind = own_dict(sys.modules[module])[name]
            kinds[id(kind)] = write or writes(kind.__repr__)
        except Exception:
            continue
    return kinds


_kinds: dict = {}


def find_kind(kind: type):
    """Returns the function that writes objects of a builtin type, or of a
    class derived from it; None: they are written by their address."""
    if not _kinds:
        _kinds.update(known_kinds())
        _kinds.update(EXACT)
    for base in _mro(kind):
        write = _kinds.get(id(base))
        if write is not None:
            return write
    return None


def find_look(kind: type):
    if not _flags(kind) & HEAP_TYPE:
        return None
    best = len(LOOKS)
    for base in _mro(kind)[:32]:
        if not _flags(base) & HEAP_TYPE:
            continue
        names = _names(base)
        module = _module(base)
        if type(module) is not str:
            continue
        for number in range(best):
            wanted, name, held, needed, _write = LOOKS[number]
            if (name and name != _qualname(base)) or \
                    (wanted and module != wanted
                     and not module.startswith(wanted + ".")) or \
                    (held and held not in names) or \
                    not issubclass_of(kind, needed):
                continue
            best = number
            break
    return LOOKS[best][4] if best < len(LOOKS) else None


# Children of a value: its items and attributes.

def key_name(brackets: str, key: object) -> str:
    writer = Writer(limit=KEY_MAXIMUM)
    writer.object(key)
    return brackets[0] + writer.result() + brackets[1]


def numbered(items):
    return lambda value, start, end: [
        ("[%d]" % (start + i), item)
        for i, item in enumerate(islice(items(value), start, end))]


def keyed(items):
    return lambda value, start, end: [
        (key_name("[]", key), item)
        for key, item in islice(items(value), start, end)]


def members(items):
    return lambda value, start, end: [
        (key_name("{}", item), item)
        for item in islice(items(value), start, end)]


def tuple_items(value: tuple, start: int, end: int) -> list:
    fields = named_fields(value) if find_look(type(value)) is \
        write_named_tuple else None
    return [(fields[i] if fields else "[%d]" % i, tuple.__getitem__(value, i))
            for i in range(start, min(end, tuple.__len__(value)))]


def exception_parts(value: BaseException) -> list:
    return [(name, held) for name, held in (
        (name, BaseException.__dict__[name].__get__(value))
        for name in ("args", "__cause__", "__context__"))
        if held is not None]


def method_parts(value) -> list:
    return [("__self__", value.__self__), ("__func__", value.__func__)]


def parts(items):
    return (lambda value: len(items(value)),
            lambda value, start, end: items(value)[start:end])


def deque_length(value) -> int:
    return sys.modules["collections"].deque.__len__(value)


def deque_iter(value):
    return sys.modules["collections"].deque.__iter__(value)


# By the function that writes a value: functions that return the number of
# its items, and the items from start to end.
ITEMS = {
    write_list: (list.__len__, numbered(list.__iter__)),
    write_tuple: (tuple.__len__, tuple_items),
    write_size: (tuple.__len__, tuple_items),
    write_dict: (dict.__len__, keyed(dict.items)),
    write_defaultdict: (dict.__len__, keyed(dict.items)),
    write_ordered: (dict.__len__, keyed(ordered_items)),
    write_set: (set.__len__, members(set.__iter__)),
    write_frozenset: (frozenset.__len__, members(frozenset.__iter__)),
    write_deque: (deque_length, numbered(deque_iter)),
    write_exception: parts(exception_parts),
    write_method: parts(method_parts)}


def count_children(value: object) -> tuple:
    """Returns (number of items, number of attributes). -1: the value cannot
    have items or attributes, respectively."""
    kind = type(value)
    write = find_kind(kind)
    items = ITEMS[write][0](value) if write in ITEMS else -1
    names = own_dict(value)
    attributes = len(slots(value)) if names is not None or has_slots(kind) \
        else -1
    if names is not None:
        attributes += dict.__len__(names)
    # Functions and other builtin objects may have attributes, but rarely do:
    # without attributes they are not shown as expandable.
    if attributes == 0 and (write is not None or not _flags(kind) & HEAP_TYPE):
        attributes = -1
    return items, attributes


def child_count(value: object) -> int:
    try:
        items, attributes = count_children(value)
    except Exception:
        return -1
    if items < 0 and attributes < 0:
        return -1
    return max(items, 0) + max(attributes, 0)


def children(value: object, start: int, end: int) -> list:
    """Returns (name, value) of the children from start to end, items
    first."""
    items, attributes = count_children(value)
    items = max(items, 0)
    found: list = []
    if start < items:
        found = ITEMS[find_kind(type(value))][1](value, start,
                                                 min(end, items))
    start, end = max(start - items, 0), end - items
    if attributes > 0 and start < end:
        rows = slots(value) + list(dict.items(own_dict(value) or {}))
        found += rows[start:end]
    return [(name if type(name) is str else UNKNOWN, held)
            for name, held in found]
