"""What is stepped through, under bdb and from outside: see test_stepping.py.

A comment "L:name" marks the line of a breakpoint. Every function ends by
itself and does the same each time.
"""
import asyncio
import contextlib
import functools
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stepping_second  # noqa: E402
import stepping_wide  # noqa: E402
if sys.version_info >= (3, 10):
    import stepping_match


def run(functions):
    for function in functions:
        function()


def add(a, b):
    c = a + b                           # L:add
    return c


def func(i):
    x = i * 2                           # L:func
    y = add(x, 1)                       # L:func_add
    return y


def loop():
    total = 0                           # L:loop
    for i in range(3):                  # L:loop_for
        v = func(i)                     # L:loop_call
        total += v
    return total                        # L:loop_end


def fact(n):
    if n < 2:                           # L:fact
        return 1
    r = fact(n - 1)                     # L:fact_call
    return n * r


def recursion():
    a = fact(4)                         # L:recursion
    b = fact(3)
    return a + b


def gen(n):
    for i in range(n):                  # L:gen
        yield i                         # L:gen_yield
    done = 1                            # L:gen_done
    add(done, 1)


def use_gen():
    s = 0                               # L:use_gen
    for v in gen(2):                    # L:use_gen_for
        s += v
    t = list(gen(3))                    # L:use_gen_list
    g = gen(1)
    next(g)
    r = next(g, None)
    return s, t, r


def boom(x):
    return 1 // x                       # L:boom


def mid(x):
    z = boom(x)                         # L:mid
    return z


def catch():
    try:                                # L:catch
        q = mid(0)                      # L:catch_call
    except ZeroDivisionError as error:
        q = -1                          # L:catch_handler
        add(q, len(str(error)))
    else:
        q = 5
    finally:
        add(1, 1)                       # L:catch_finally
    return q


def raising():
    for k in range(2):                  # L:raising
        try:
            if k:
                raise ValueError(k)
            mid(1)
        except ValueError:
            continue
        finally:
            k = 9
    with contextlib.suppress(KeyError):
        {}["x"]
    return k


class Context:
    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return True                     # L:exit


def contexts():
    with Context() as c:                # L:with
        u = 1
        mid(0)
        u = c
    with Context():
        pass
    return u                            # L:with_end


def comprehensions():
    n = 3                               # L:comp
    a = [i * i for i in range(n)]
    b = {k: add(k, k) for k in a}
    c = sum(x for x in a)
    d = [
        y
        for y in a
        if y
    ]
    return a, b, c, d


def whiles():
    n = 0                               # L:while
    while n < 3:                        # L:while_test
        n += 1
        if n == 2:
            continue
        add(n, n)
    while n < 6: n += 1                 # L:while_line
    while True:
        n -= 1
        if n < 4:
            break
    return n                            # L:while_end


def spread():
    x = [                               # L:spread
        add(1, 2),
        add(3, 4),
    ]
    y = (x[0] +
         x[1])
    z = add(
        y,
        func(y))
    del x; x = 1; y = 2
    return z if z else \
        x + y


async def leaf(n):
    await asyncio.sleep(0)              # L:leaf
    return n                            # L:leaf_end


async def branch(n):
    a = await leaf(n)                   # L:branch
    b = await leaf(a + 1)
    return a + b                        # L:branch_end


async def agen():
    yield 1                             # L:agen
    await asyncio.sleep(0)
    yield 2


async def top():
    r = await branch(1)                 # L:top
    async with asyncio.Lock():
        r += 1
    async for v in agen():              # L:top_for
        r += v
    return r


def run_async():
    asyncio.run(top())                  # L:run_async


def sub():
    x = yield 1                         # L:sub
    return x or 7


def deleg():
    r = yield from sub()                # L:deleg
    return r


def use_deleg():
    for v in deleg():                   # L:use_deleg
        v += 1
    h = gen(3)
    next(h)                             # L:use_next
    h.close()
    return v


class Number:
    def __init__(self, v):
        self.v = v                      # L:number

    @property
    def p(self):
        return self.v

    def __add__(self, o):
        return Number(self.v + o.v)

    def __lt__(self, o):
        return self.v < o.v


def objects():
    a = Number(1)                       # L:objects
    b = Number(2)
    c = a + b
    d = c.p
    sorted([b, a, c])
    sorted([3, 1, 2], key=lambda t: -t)
    max(map(func, [1, 2]))
    return d


def nested():
    acc = []                            # L:nested

    def inner(k):
        nonlocal acc
        acc.append(k)                   # L:inner
        return k
    for a in 1, 2:
        for b in 3, 4:                  # L:nested_for
            inner(a * b)
    try:
        try:
            mid(0)
        finally:
            acc.append(0)
    except ZeroDivisionError:
        pass
    lam = lambda q: q + 1               # L:lambda
    lam(1)
    assert acc
    return acc                          # L:nested_end


# What the first ones leave out.

def walrus():
    n = 0                               # L:walrus
    while (n := n + 1) < 4:             # L:walrus_while
        add(n, n)
    if (m := add(n, 1)) > 3 and \
            m < 9:
        m = 0
    return m


def compare():
    a = 1                               # L:compare
    b = (a < add(a, 1)
         < 5
         <= add(a, 2))
    c = (a and
         b or
         not a)
    return (a
            if b
            else c)


def text():
    v = 3                               # L:text
    s = f"{v} " \
        f"{add(v, 1)} {v!r:>{v}}"
    s = (f"{add(v, 2)}"
         f"{s}")
    return s


def dropped():
    for i in range(8):
        yield i                         # L:dropped_yield
        i += 1


def dropped_try():
    try:
        for i in range(8):
            yield i                     # L:dropped_try
    finally:
        add(1, 1)


def drops():
    numbers = range(5)                  # L:drops
    some = any(x > 1 for x in numbers)
    values = [dropped()]                # a local would stay in f_locals
    add(next(values[0]), next(values[0]))
    values.clear()
    add(2, 2)
    for i in dropped_try():
        if i:
            break
    values = dropped()
    next(values)
    values.close()
    return some


def unbound(x):
    if x:
        late = 1
    v = x                               # L:unbound
    w = v
    return (v,
            late, w)


def unbound_within(x):
    if x:
        late = 1
    v = x                               # L:unbound_within
    try:
        w = v
        v = late
    except UnboundLocalError:
        w = v
    return w


def joined():
    a = 1                               # L:joined
    b = a
    c = b; d = c; e = d
    f = [a,
         b,
         "c",
         d, e,
         f"{a}"
         f"{b}"]
    (a,
     b) = f[:2]
    for i in range(3):
        a = i
        b = a
    unbound_within(0)
    try:
        unbound(0)
    except UnboundLocalError:
        add(a, b)


def returning(x):
    try:                                # L:returning
        if x:
            return add(x, 1)            # L:returning_return
        boom(0)
    except ZeroDivisionError:
        return -1
    finally:
        add(x, 2)                       # L:returning_finally


def finals():
    a = returning(1)                    # L:finals
    b = returning(0)
    for i in range(3):
        try:
            if i == 1:
                continue
            if i == 2:
                break
        finally:
            add(i, i)
    return a, b


def traced(function):
    @functools.wraps(function)
    def wrapper(*args):
        r = function(*args)             # L:wrapper
        return r
    return wrapper


def decorated():
    @traced                             # L:decorated
    @traced
    def work(x):
        return x + 1
    work(1)
    return work(2)


def classes():
    class Point:                        # L:classes
        """Text."""
        x = add(1, 2)                   # L:class_body

        def method(self):
            return self.x

        @staticmethod
        def make():
            return Point()

        for i in range(2):
            x += i

    class Sub(Point):
        y = Point.x
    return Sub().method() + Point.make().x


def executed():
    names = {"add": add}                # L:executed
    exec("x = 1\nfor i in range(2):\n    x += add(i, x)\n", names)
    v = eval("add(2, x)", names)
    return v


class Cursor:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        self.n -= 1                     # L:next
        if self.n < 0:
            raise StopIteration
        return self.n


def iterates():
    for i in Cursor(2):                 # L:iterates
        add(i, i)
    a, *b = Cursor(3)
    return a, b


def thrower():
    while True:                         # L:thrower
        try:
            x = yield 1
        except KeyError:
            x = 0
        finally:
            add(1, 1)
        if x:
            return x


def throws():
    g = thrower()                       # L:throws
    next(g)
    g.throw(KeyError("a"))              # L:throws_throw
    g.close()                           # L:throws_close
    h = thrower()
    next(h)
    try:
        h.send(5)                       # L:throws_send
    except StopIteration as stop:
        return stop.value


def outer_gen(n):
    for i in gen(n):                    # L:outer_gen
        yield i
        yield from gen(i)               # L:outer_from


def nests():
    t = []                              # L:nests
    for v in outer_gen(2):
        t.append(v)
    return [x for x in (y for y in outer_gen(2) if y) if x]


class Gate:
    async def __aenter__(self):
        await asyncio.sleep(0)          # L:aenter
        return self

    async def __aexit__(self, *exc):
        await asyncio.sleep(0)
        return True                     # L:aexit


async def gates():
    async with Gate() as gate:          # L:gates
        mid(0)
    async with Gate(), \
            Gate() as gate:
        gate = 1
    return gate


async def ticks(n):
    for i in range(n):                  # L:ticks
        yield i
        await asyncio.sleep(0)


async def loops():
    total = 0                           # L:loops
    async for i in ticks(2):            # L:loops_for
        total += i
    else:
        total += 1
    return total, [i async for i in ticks(2)]


async def gathers():
    a, b = await asyncio.gather(leaf(1), leaf(2))   # L:gathers
    try:
        await asyncio.wait_for(leaf(3), 20)
    finally:
        a += b
    return a


def run_gates():
    asyncio.run(gates())                # L:run_gates


def run_loops():
    asyncio.run(loops())                # L:run_loops


def run_gathers():
    asyncio.run(gathers())


def chained():
    try:                                # L:chained
        try:
            boom(0)
        except ZeroDivisionError as error:
            raise KeyError(1) from error
    except KeyError:
        pass
    try:
        raise ValueError
    except (KeyError,
            ValueError):
        pass
    try:
        raise_it()
    except Exception:
        return 1


def raise_it():
    raise RuntimeError("no")            # L:raise_it


def deep(n):
    if n:                               # L:deep
        return deep(n - 1)
    return add(n, 1)                    # L:deep_end


def deeper():
    deep(5)                             # L:deeper
    return deep(2)


def one_line(): return add(1, 2)        # L:one_line


def one_lines():
    one_line()                          # L:one_lines
    for i in range(2): add(i, i)        # L:one_for
    if add(1, 1): add(2, 2)
    with Context(): add(3, 3)
    try: boom(0)
    except ZeroDivisionError: pass
    return [add(i, i) for i in range(2)]


def long_jump():
    n = 0                               # L:long_jump
    for i in range(3):                  # L:long_for
        if n > 100:
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
        n += 1
    while n < 6:                        # L:long_while
        n += 1
        if n > 100:
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
            n = add(add(add(add(n, 1), add(n, 2)), add(n, 3)), add(n, 4))
    return n


def wide():
    return stepping_wide.wide(add)      # L:call_wide


def callee():
    a = stepping_second.twice(3)        # L:callee
    b = stepping_second.twice(4)        # L:callee_again
    return stepping_second.each(add, [a, b])


def stars():
    names = {}                          # L:stars
    exec("from stepping_second import *\nx = twice(2)\n", names)
    return names["x"]


def matches():
    if sys.version_info < (3, 10):
        return None
    return stepping_match.matches(add)  # L:matches


def defaults(a=1, *b, c=2, **d):
    e = [a, c]; e += b; e.extend(d)     # L:defaults
    return e


def calls():
    defaults(1, 2, c=3, e=4)            # L:calls
    part = functools.partial(defaults, 5)
    part()
    "".join(map(str, filter(None, [1, 0])))
    return (lambda: defaults(
        6))()


def filters():
    kept = []                           # L:filters
    for value in range(5):              # L:filters_for
        if value % 2:
            continue
        kept.append(value)
    return kept


def leaves():
    for i in range(3):                  # L:leaves
        try:
            if i == 1:
                break
        finally:
            add(i, i)
    return i                            # L:leaves_end


def short():
    total = 0
    for i in range(5): total += i       # L:short_for
    while total > 7: total -= 1         # L:short_while
    return total


def gathered():
    names = [add(i, 1)                  # L:gathered
             for i in range(2)]
    return names


def tried(n):
    for i in range(n):
        try:                            # L:tried
            yield i                     # L:tried_yield
        finally:
            add(i, n)


def tries():
    return sum(v for v in tried(2)) + 1


def continued():
    last = 0
    for i in range(2):
        for last in tried(2):           # L:continued_for
            add(i, last)
            continue                    # L:continued
    return last


def leaves_of(tree):
    if isinstance(tree, list):
        for part in tree:
            yield from leaves_of(part)  # L:leaves_of
    else:
        yield tree


def trees():
    return [leaf for leaf in leaves_of([1, [2, [3]], []])]


def chooses(n):
    if n:
        for i in gen(n):
            yield from gen(i)
    else:
        yield 0


def use_chooses():
    for v in chooses(2):                # L:use_chooses
        add(v, v)
    for v in chooses(0):
        add(v, v)


def tried_first(x=1):
    i = s = 0
    try:
        s = x; x = s + 1                # L:tried_first
        if x > 2:
            pass
    except ValueError:
        i += 1
    return i + s


def ternary(x=1):
    for i in (1, 0, 1):
        x = (x if i                     # L:ternary
             else add(x, 3))
        x += 1
    return x


def class_twice(x=1):
    class Inner:
        z = x
        for w in range(2):              # L:class_for
            z += w
    x += 1                              # L:class_twice
    class Inner:
        z = x
        for w in range(2):
            z += w                      # L:class_again
    return x


def ones():
    yield 1
    return                              # L:ones_end


def sums():
    first, second = ones(), ones()
    sum(first)
    return sum(second)


def agrees(a, b):
    return (a == b and                  # L:agrees
            a + b == 2 * b)


def agree():
    return [agrees(add(1, i), 2)
            for i in (1, 2, 1)]


def appends():
    values = []
    for i in range(2):
        values.append(i)
        try:
            add(i, 1)                   # L:appends
        finally:
            i += 1
    return values
