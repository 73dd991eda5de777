"""Blocks threads in every kind of frame and prints where each of them is.

One line of JSON: {tid: {"name", "frames": [[func, qualname, file, line]…]}},
innermost first; qualname is None below 3.11. Then it waits for its input to
end.
"""
import asyncio
import functools
import json
import sys
import threading
import time

DEPTH = 10000

ready = threading.Semaphore(0)
gate = threading.Lock()
gate.acquire()
tids = {}


def stop():
    tids[threading.get_native_id()] = threading.current_thread()
    ready.release(); gate.acquire()  # noqa: E702 (one line, one truth)


def nested():
    def inner():
        def innermost():
            stop()
        innermost()
    inner()


class Shape:
    def method(self):
        self.static()

    @staticmethod
    def static():
        Shape.of_class()

    @classmethod
    def of_class(cls):
        cls().area

    @property
    def area(self):
        return Shape()[1]

    def __getitem__(self, item):
        return stop()


def lambdas():
    (lambda x: [y for y in [1] if (lambda: stop())() or y])(1)


def comprehensions():
    return {
        k: [
            stop()
            for _ in (1,)
        ]
        for k in (1,)
    }


def decorate(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper


@decorate
@decorate
def decorated():
    stop()


def several(*args):
    return stop()


def many_lines():
    x = 1
    for _ in range(1):
        return several(
            x,
            several(
                x,
                x + 1,
            ),
            [
                x
            ],
        )


def numbers(n):
    if n:
        yield from numbers(n - 1)
    stop()
    yield 1


def generators():
    total = sum(
        x for x in numbers(5)
    )
    return total


async def leaf():
    stop()


async def branch(n):
    if n:
        await branch(n - 1)
    else:
        await leaf()


async def asynchronous():
    await asyncio.gather(branch(4))


def run_async():
    asyncio.run(asynchronous())


def callbacks():
    sorted([2, 1], key=lambda x: list(map(lambda y: stop(), [x])))


def recursion():
    def down(n):
        if n:
            return down(n - 1)
        return stop()
    down(DEPTH)


def handlers():
    try:
        raise ValueError
    except ValueError:
        try:
            with open("/dev/null"):
                pass
        finally:
            stop()


def exec_code():
    """A large function: long line tables, far from its first line."""
    name = "groß_函数_\U0001d4d0"
    lines = ["def %s(x):" % name]
    lines += ["    x = (x +", "         1)"] * 4000 + [""] * 300
    lines += ["    return stop()", "", "%s(1)" % name]
    exec(compile("\n".join(lines), "папка/\u0444айл.py", "exec"),
         {"stop": stop})


def long_line():
    code = "def wide(x):\n    return (%s stop())\n\nwide(1)" % (
        "(x == 2) or " * 300)
    exec(compile(code, "<wide>", "exec"), {"stop": stop})


def truth(frame):
    frames = []
    while frame:
        code = frame.f_code
        frames.append([code.co_name, getattr(code, "co_qualname", None),
                       code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return frames


def report(here):
    current = sys._current_frames()
    out = {
        threading.get_native_id(): {
            "name": threading.current_thread().name, "frames": truth(here)}}
    for tid, thread in tids.items():
        out[tid] = {"name": thread.name,
                    "frames": truth(current[thread.ident])}
    print(json.dumps(out), flush=True)


def all_stand():
    """Who said so may still be within release(), which is Python, too."""
    frames = sys._current_frames()
    return all(frames[thread.ident].f_code is stop.__code__
               for thread in tids.values())


def main():
    cases = [nested, Shape().method, lambdas, comprehensions, decorated,
             many_lines, generators, run_async, callbacks, recursion,
             handlers, exec_code, long_line]
    sys.setrecursionlimit(DEPTH * 2)
    threading.stack_size(256 << 20)
    for number, case in enumerate(cases):
        threading.Thread(target=case, daemon=True,
                         name="case %d ключ" % number).start()
        ready.acquire()
    while not all_stand():
        time.sleep(0.001)
    report(sys._getframe()); sys.stdin.read()  # noqa: E702


main()
