"""Small programs in the style of real code, for random sequences of commands:
see test_stepping_random.py.

Each function of `PROGRAMS` takes no arguments, ends by itself and does the
same each time. Generators are run to their ends or closed within a `try`
(docs/stepping.md, 4).
"""
import asyncio
import collections
import contextlib
import dataclasses
import enum
import functools
import threading
import types

PROGRAMS = []


def run(functions):
    for function in functions:
        function()


def program(function):
    PROGRAMS.append(function.__name__)
    return function


def add(a, b):
    return a + b


# Records of an order, with a default factory and a method that loops.

@dataclasses.dataclass
class Item:
    name: str
    price: int
    tags: list = dataclasses.field(default_factory=list)

    def total(self, count=1):
        if count <= 0:
            raise ValueError(
                "no items of "
                f"{self.name}")
        return self.price * count


@dataclasses.dataclass
class Basket:
    items: list

    def __post_init__(self):
        self.sum = 0
        for item in self.items:
            self.sum += item.total()

    def cheap(self, limit):
        for item in self.items:
            if item.price > limit:
                continue
            yield item


@program
def basket():
    basket = Basket([
        Item("a", 3),
        Item("b", 5, ["x"]),
        Item("c", 1),
    ])
    names = [item.name
             for item in basket.cheap(4)]
    try:
        basket.items[0].total(0)
    except ValueError as error:
        names.append(str(error))
    return ",".join(names)


# Context managers, of a class and of a generator.

class Timer:
    def __init__(self, log):
        self.log = log
        self.depth = 0

    def __enter__(self):
        self.depth += 1
        self.log.append("in")
        return self

    def __exit__(self, kind, value, trace):
        self.depth -= 1
        self.log.append(
            "out" if kind is None else kind.__name__)
        return kind is KeyError


@contextlib.contextmanager
def opened(log, name):
    log.append(name)
    try:
        yield name.upper()
    except ZeroDivisionError:
        log.append("zero")
    finally:
        log.append("closed")


@program
def contexts():
    log = []
    with Timer(log) as timer:
        for key in ("a", "b"):
            if key == "b":
                {}[key]
            log.append(key)
    with opened(log, "file") as name, \
            Timer(log):
        log.append(name)
        1 // 0
    with contextlib.ExitStack() as stack:
        for i in range(2):
            stack.enter_context(opened(log, str(i)))
    return len(log) + timer.depth


# Loops: continue, break, else, finally.

@program
def filtered():
    kept = []
    for value in range(5):
        if value % 2:
            continue
        kept.append(value)
    for value in kept:
        if value > 9:
            break
    else:
        kept.append(-1)
    return len(kept)


@program
def retried():
    log = []
    attempts = 0
    while True:
        try:
            attempts += 1
            if attempts == 1:
                raise OSError("busy")
            if attempts == 2:
                continue
            if attempts == 4:
                break
            log.append(attempts)
        except OSError as error:
            log.append(
                str(error))
        finally:
            log.append("done")
    return attempts


@program
def searched():
    rows = [[1, 2], [3, 4], [5, 6]]
    found = None
    for row in rows:
        try:
            for value in row:
                if value == 4:
                    found = value
                    break
                add(value, 1)
            else:
                continue
            break
        finally:
            add(len(row), 2)
    return found


@program
def nested_finally():
    log = []

    def inner(kind):
        try:
            try:
                if kind == 0:
                    return "early"
                if kind == 1:
                    raise KeyError(kind)
                log.append(kind)
            finally:
                log.append("inner")
        except KeyError:
            log.append("key")
            return "key"
        finally:
            log.append("outer")
        return "late"

    for kind in range(3):
        log.append(inner(kind))
    return len(log)


# Generators: send, throw, delegation, pipelines.

def averager():
    total = count = 0
    average = None
    while True:
        try:
            value = yield average
        except ValueError:
            total = count = 0
            average = 0
            continue
        if value is None:
            return count
        total += value
        count += 1
        average = total // count


@program
def averaged():
    results = []
    machine = averager()
    next(machine)
    for value in (4, 6):
        results.append(machine.send(value))
    machine.throw(ValueError())
    results.append(machine.send(3))
    try:
        machine.send(None)
    except StopIteration as stop:
        results.append(stop.value)
    return sum(results)


def grouped():
    while True:
        count = yield from averager()
        if count < 2:
            return count


@program
def delegated():
    group = grouped()
    next(group)
    for value in (1, 2, None, 5):
        group.send(value)
    try:
        group.send(None)
    except StopIteration as stop:
        return stop.value


def numbers(text):
    for part in text.split():
        try:
            yield int(part)
        except ValueError:
            pass


def doubled(source):
    for number in source:
        if number < 0:
            continue
        yield number * 2


@program
def pipeline():
    total = 0
    for number in doubled(numbers("1 -2 3")):
        total += number
    total += sum(
        number
        for number in doubled(numbers("4 5"))
        if number > 8)
    return total


def walk(tree):
    if isinstance(tree, list):
        for part in tree:
            yield from walk(part)
    else:
        yield tree


@program
def walked():
    found = []
    for leaf in walk([1, [2, [3]], []]):
        found.append(leaf)
    return found[-1]


# Classes: bodies, properties, inheritance, metaclasses, descriptors.

@program
def class_bodies():
    class Base:
        limit = add(1, 2)
        names = [n for n in "ab"]

        def method(self):
            return self.limit

        @property
        def double(self):
            value = self.method()
            return value * 2

    class Child(Base):
        limit = 7

        def method(self):
            base = super().method()
            return base + 1
    return Child().double + Base().double


class Registry(type):
    known = {}

    def __new__(mcs, name, bases, space):
        made = super().__new__(
            mcs, name, bases, space)
        mcs.known[name] = made
        return made


@program
def registered():
    class One(metaclass=Registry):
        x = 1

    class Two(One):
        def __init__(self, y):
            self.y = y + self.x

        def __repr__(self):
            return f"Two({self.y}," \
                   f" {self.x})"
    two = Two(3)
    return repr(two)


class Positive:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        return getattr(instance, self.name)

    def __set__(self, instance, value):
        if value < 0:
            raise ValueError(value)
        setattr(instance, self.name, value)


class Account:
    balance = Positive()

    def __init__(self, balance):
        self.balance = balance

    def draw(self, amount):
        self.balance -= amount
        return self.balance


@program
def accounts():
    account = Account(5)
    left = account.draw(2)
    try:
        account.draw(9)
    except ValueError as error:
        left += error.args[0]
    return left


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x,
                      self.y + other.y)

    def __eq__(self, other):
        return self.x == other.x and \
            self.y == other.y

    def __iter__(self):
        yield self.x
        yield self.y

    def __bool__(self):
        return self.x != 0


@program
def vectors():
    total = Vector(0, 0)
    for i in range(2):
        total = total + Vector(i, 1)
    x, y = total
    if total and total == Vector(1, 2):
        return x + y
    return None


class Color(enum.Enum):
    RED = 1
    BLUE = 2

    @classmethod
    def parse(cls, text):
        for color in (cls.RED, cls.BLUE):
            if color.name == text:
                return color
        raise LookupError(text)


@program
def colors():
    found = []
    for text in "RED", "NONE", "BLUE":
        try:
            found.append(Color.parse(text))
        except LookupError:
            continue
    return len(found)


# Functions that make functions.

def logged(prefix):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            try:
                result = function(*args, **kwargs)
            except TypeError:
                return None
            return f"{prefix}{result}"
        return wrapper
    return decorate


@program
def decorated():
    @logged("a:")
    @logged("b:")
    def join(*parts,
             sep="-"):
        return sep.join(parts)
    first = join("x", "y")
    second = join(1, 2)
    return first + str(second)


@program
def lambdas():
    steps = [lambda x: x + 1,
             lambda x: x * 2,
             lambda x:
             x - 3]
    value = 1
    for step in steps:
        value = step(value)
    compose = functools.reduce(
        lambda f, g: lambda x: g(f(x)), steps)
    pairs = sorted(
        [(2, "b"), (1, "c"), (3, "a")],
        key=lambda pair: (
            pair[1]))
    return value + compose(2) + pairs[0][0]


@program
def closures():
    count = 0

    def bump(by=1):
        nonlocal count
        count += by
        return count

    def twice(function):
        def inner(*args):
            function(*args)
            return function(*args)
        return inner
    for by in range(2):
        bump(by)
    return twice(bump)(3)


@functools.singledispatch
def shown(value):
    return "?"


@shown.register(int)
def shown_int(value):
    return "i" * value


@shown.register(list)
def shown_list(value):
    return "".join(
        shown(each) for each in value)


@program
def dispatched():
    text = shown(2)
    text += shown([1, None, 3])
    return text


# Calls and texts over several lines.

def describe(name, *values, width=3, **more):
    text = f"{name}:"
    for value in values:
        text += f" {value:>{width}}"
    if more:
        text += str(
            len(more))
    return text


@program
def multi_line():
    values = [1, 2]
    first = describe(
        "a",
        add(1, 2),
        *values,
        width=add(
            1,
            1),
        b=1)
    second = (
        describe("b")
        + first
        + describe("c",
                   len(first)))
    return len(second)


@program
def texts():
    rows = []
    for i in range(3):
        row = (f"{i}"
               f"{add(i, 1):>4}"
               f"{rows and rows[-1]}")
        rows.append(row)
    table = "\n".join(
        f"{len(row)}|"
        f"{row[:2]!r}"
        for row in rows)
    return len(table)


@program
def conditions():
    score = 0
    for a in (0, 1):
        for b in (0, 1):
            if (a and
                    not b) or \
                    add(a, b) > 1:
                score += 1
            elif a == b:
                score += 10
            else:
                score += 100
    best = score if score > 5 \
        else add(score,
                 1)
    return best


@program
def comprehensions():
    grid = [[add(x, y) for x in range(2)]
            for y in range(2)]
    flat = [value
            for row in grid
            for value in row
            if value]
    index = {value: len(row)
             for row in grid for value in row}
    unique = {value % 2 for value in flat}
    return len(flat) + len(index) + len(unique)


# A small parser, a cache, a queue, an event bus, a state machine.

class Tokens:
    def __init__(self, text):
        self.parts = text.split()
        self.at = 0

    def peek(self):
        if self.at < len(self.parts):
            return self.parts[self.at]
        return None

    def take(self):
        part = self.peek()
        self.at += 1
        return part


def parse_sum(tokens):
    value = parse_product(tokens)
    while tokens.peek() == "+":
        tokens.take()
        value += parse_product(tokens)
    return value


def parse_product(tokens):
    value = int(tokens.take())
    while tokens.peek() == "*":
        tokens.take()
        value *= int(tokens.take())
    return value


@program
def parsed():
    tokens = Tokens("2 * 3 + 4 + 1 * 5")
    value = parse_sum(tokens)
    return value


class Cache(collections.OrderedDict):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def __missing__(self, key):
        value = self[key] = key * 2
        while len(self) > self.size:
            self.popitem(last=False)
        return value


@program
def cached():
    cache = Cache(2)
    total = 0
    for key in (1, 2, 1, 3, 1):
        total += cache[key]
    return total


class Bus:
    def __init__(self):
        self.handlers = collections.defaultdict(list)
        self.seen = 0

    def on(self, name):
        def add_handler(function):
            self.handlers[name].append(function)
            return function
        return add_handler

    def fire(self, name, *args):
        for handler in self.handlers[name]:
            try:
                handler(*args)
            except RuntimeError:
                self.seen -= 1
            else:
                self.seen += 1


@program
def events():
    bus = Bus()
    got = []

    @bus.on("save")
    def save(name):
        got.append(name)

    @bus.on("save")
    def fail(name):
        raise RuntimeError(name)
    bus.fire("save", "a")
    bus.fire("load", "b")
    return bus.seen + len(got)


class Door:
    moves = {("open", "close"): "closed",
             ("closed", "open"): "open"}

    def __init__(self):
        self.state = "open"

    def move(self, verb):
        key = (self.state, verb)
        if key not in self.moves:
            return False
        self.state = self.moves[key]
        return True


@program
def doors():
    door = Door()
    done = 0
    for verb in ("close", "close", "open"):
        done += door.move(verb)
    assert door.state == "open", \
        door.state
    return done


# Errors: chains, groups of handlers, what cleans up.

class AppError(Exception):
    def __init__(self, code, *args):
        super().__init__(code, *args)
        self.code = code


def risky(code):
    if code == 0:
        return "fine"
    if code == 1:
        raise AppError(7)
    try:
        return {}["missing"]
    except KeyError as error:
        raise AppError(8) from error


@program
def errors():
    codes = []
    for code in range(3):
        try:
            codes.append(risky(code))
        except (AppError,
                KeyError) as error:
            codes.append(error.code)
            if error.__cause__:
                break
        else:
            codes.append(0)
        finally:
            codes.append("end")
    return len(codes)


def cleans(log):
    try:
        yield 1
        yield 2
    finally:
        log.append("clean")


@program
def closed():
    log = []
    source = cleans(log)
    for value in source:
        if value == 1:
            source.close()
    other = cleans(log)
    next(other)
    try:
        other.throw(LookupError("gone"))
    except LookupError:
        log.append("lookup")
    return len(log)


# Coroutines, under a loop of one's own and under asyncio.

@types.coroutine
def pause():
    return (yield "pause")


async def fetch(name):
    if name == "bad":
        raise ConnectionError(name)
    got = await pause()
    return f"{name}{got}"


class Channel:
    async def __aenter__(self):
        await pause()
        return self

    async def __aexit__(self, *exc):
        await pause()
        return exc[0] is ConnectionError

    async def __aiter__(self):
        for i in range(2):
            await pause()
            yield i


async def client():
    results = []
    async with Channel() as channel:
        async for i in channel:
            results.append(
                await fetch(str(i)))
        results.append(await fetch("bad"))
    squares = [i * i async for i in Channel()]
    return len(results) + len(squares)


@program
def driven():
    task = client()
    count = 0
    try:
        task.send(None)
        while True:
            count += 1
            task.send(count)
    except StopIteration as stop:
        return stop.value


async def worker(jobs, done):
    while True:
        job = await jobs.get()
        try:
            if job is None:
                return
            done.append(job * 2)
        finally:
            jobs.task_done()


async def produce():
    jobs, done = asyncio.Queue(), []
    task = asyncio.ensure_future(worker(jobs, done))
    for job in (1, 2, None):
        await jobs.put(job)
    await task
    return sum(done)


@program
def queued():
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(
            produce())
    finally:
        loop.close()


# Threads: what the other ones run has no breakpoints.

def compute_elsewhere(box, n):
    for i in range(n):
        box.append(i)


@program
def threads():
    box = []
    lock = threading.Lock()
    for n in (1, 2):
        thread = threading.Thread(
            target=compute_elsewhere,
            args=(box, n))
        thread.start()
        thread.join()
        with lock:
            box.append(n)
    return len(box)


# What trains a model.

class Parameter:
    def __init__(self, value):
        self.value, self.grad = value, 0

    def step(self, rate):
        self.value -= rate * self.grad
        self.grad = 0


class Model:
    def __init__(self):
        self.parameters = [Parameter(1), Parameter(2)]

    def __call__(self, x):
        return self.forward(x)

    def forward(self, x):
        for parameter in self.parameters:
            x = x * parameter.value
        return x

    def backward(self, loss):
        for parameter in reversed(self.parameters):
            parameter.grad += loss


@program
def training():
    model = Model()
    losses = []
    for epoch in range(2):
        for x, y in zip((1, 2), (2, 5)):
            loss = model(x) - y
            if loss == 0:
                continue
            model.backward(loss)
            for parameter in model.parameters:
                parameter.step(
                    rate=1)
            losses.append(loss)
    return len(losses)


@program
def recursive():
    def moves(n, a, b, c):
        if n == 0:
            return 0
        count = moves(n - 1, a, c, b)
        count += 1
        return count + moves(
            n - 1, c, b, a)
    return moves(2, "a", "b", "c")


@program
def settings():
    names = {}
    source = (
        "size = 3\n"
        "for i in range(2):\n"
        "    size += i\n")
    exec(source, names)
    point = collections.namedtuple("point", "x y")(1, 2)
    size, (x, *rest) = names["size"], point
    while size > 3: size -= 1
    del names
    return size + x + len(rest)


@program
def walrus():
    data = iter([3, 1, 2])
    total = 0
    while (value := next(data, None)) is not None:
        if value == 1: continue
        total += value
    if (half := total // 2) > 1 and \
            half < 9:
        total = half
    return total


@program
def in_chunks():
    def chunks(values, size):
        chunk = []
        for value in values:
            chunk.append(value)
            if len(chunk) == size:
                yield chunk
                chunk = []
        if chunk:
            yield chunk
    sizes = []
    for chunk in chunks(range(5), 2):
        sizes.append(len(chunk))
    return sizes[-1]
