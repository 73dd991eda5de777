"""A rank that stops in pdb as it is told.

Reads names of the functions below from standard input, one a line, and
prints what they return as one line of JSON each.
"""
import asyncio
import gc
import inspect
import json
import logging
import os
import sys
import threading
import types

import probetui

attach = probetui.attach_on_error


def add(a, b):
    total = a + b
    return total


def func(i):
    value = add(i, 1)
    return value * 2


def fail(x):
    y = x + 1
    raise RuntimeError("boom %d" % y)


def middle():
    try:
        {}["missing"]
    except KeyError:
        fail(3)


@attach()
def inner():
    middle()


@attach
def outer():
    inner()


def outcome(function, *arguments):
    """What came out of it, as the program sees it."""
    streams = sys.stdin, sys.stdout, sys.stderr
    try:
        function(*arguments)
    except BaseException as error:
        names, trace = [], error.__traceback__
        while trace is not None:
            if "probetui" not in trace.tb_frame.f_code.co_filename:
                names.append(trace.tb_frame.f_code.co_name)
            trace = trace.tb_next
        return {"type": type(error).__name__, "text": str(error),
                "frames": names, "context": type(error.__context__).__name__,
                "cause": error.__cause__ is None,
                "streams": streams == (sys.stdin, sys.stdout, sys.stderr),
                "trace": sys.gettrace() is None}
    return None


def chained():
    return outcome(outer)


def same():
    """The exception that comes out is the one that was raised."""
    error = ValueError("mine")

    @attach
    def function():
        raise error

    try:
        function()
    except ValueError as caught:
        return [caught is error, caught.__context__ is None,
                caught.__cause__ is None]
    return None


def printing():
    """Another thread prints while this one stands in pdb."""
    printed = threading.Event()
    wanted = threading.Event()

    def printer():
        wanted.wait()
        print("printed by a thread", flush=True)
        printed.set()

    thread = threading.Thread(target=printer)
    thread.start()

    @attach
    def function():
        raise RuntimeError("printing")

    result = outcome(function)
    thread.join()
    print("printed afterwards", flush=True)
    return result


def quits():
    @attach
    def function():
        probetui.set_trace()
        return 1
    return outcome(function)


def walk():
    probetui.set_trace()
    for i in range(3):
        func(i)
    return "walked"


def loop():
    """Stops each time, with what was set before."""
    total = 0
    for i in range(2):
        probetui.breakpoint()
        total += func(i)
    return total


def lease_error():
    @attach(lease=0.3)
    def function():
        raise RuntimeError("nobody comes")
    return outcome(function)


def lease_stop():
    probetui.set_trace(lease="0.3s")
    return "went on"


def kinds():
    """Every kind of function keeps its kind, its name and its signature."""
    @attach
    def plain(a, b=1):
        """Its text."""

    @attach
    async def coroutine(a):
        pass

    @attach
    def generator(a):
        yield a

    @attach
    @types.coroutine
    def old_coroutine():
        yield

    @attach
    async def asynchronous(a):
        yield a

    class Some:
        @attach
        @staticmethod
        def static(a):
            return a

        @attach
        @classmethod
        def whole(cls, a):
            return a

    return [plain.__name__, plain.__doc__, str(inspect.signature(plain)),
            inspect.iscoroutinefunction(coroutine),
            inspect.isgeneratorfunction(generator),
            inspect.isasyncgenfunction(asynchronous),
            inspect.isawaitable(old_coroutine()),
            Some.static(2), Some.whole(3), Some().whole(4)]


def threaded():
    found = []

    @attach
    def work():
        raise RuntimeError("in a thread")

    def run():
        found.append(outcome(work))

    thread = threading.Thread(target=run, name="worker-9")
    thread.start()
    thread.join()
    return found


def generator():
    @attach
    def numbers():
        got = yield 1
        yield got
        raise RuntimeError("in a generator")

    made = numbers()
    found = [next(made), made.send(5)]
    return [found, outcome(next, made)]


def coroutine():
    @attach
    async def inside():
        await asyncio.sleep(0)
        raise RuntimeError("in a coroutine")

    async def main():
        await inside()

    return outcome(asyncio.run, main())


def async_generator():
    seen = []

    @attach
    async def numbers():
        try:
            got = yield 1
            seen.append(got)
            yield 2
        except ValueError as error:
            seen.append(str(error))
        seen.append("left the handler")
        raise RuntimeError("in an asynchronous generator")

    async def main():
        made = numbers()
        seen.append(await made.asend(None))
        seen.append(await made.asend("sent"))
        await made.athrow(ValueError("thrown"))

    return [outcome(asyncio.run, main()), seen]


def controls():
    """What is no error does not stop."""
    found = []
    for kind in (KeyboardInterrupt, SystemExit, GeneratorExit, StopIteration,
                 asyncio.CancelledError):
        @attach
        def function(kind=kind):
            raise kind()
        found.append(outcome(function)["type"])
    return found


class Odd(BaseException):
    """Neither an Exception nor any of the known ones."""

    def __str__(self):
        raise ValueError("no text")

    def __setattr__(self, name, value):
        raise RuntimeError(name)

    def __getattr__(self, name):
        raise RuntimeError(name)


def odd():
    @attach
    def function():
        raise Odd()
    try:
        function()
    except Odd:
        return "Odd"
    return None


def forked():
    """The child's stop is its own, and takes nothing from its parent."""
    pid = os.fork()
    if pid == 0:
        status = 0
        try:
            outer()
        except RuntimeError:
            status = 7
        finally:
            probetui.process._close()
            os._exit(status)
    return [pid, os.waitpid(pid, 0)[1] >> 8]


def loggers():
    return [len(logging.getLogger().handlers), logging.getLogger().level,
            probetui.Debugger.debug_mode, probetui.Debugger.debug_flag]


def stepped_fork():
    """A child has none of the sockets of its parent."""
    probetui.set_trace()
    pid = os.fork()
    if pid == 0:
        os._exit(7)
    return os.waitpid(pid, 0)[1] >> 8


def other_rank():
    """It learns another rank while it is stepped."""
    before = os.environ["RANK"]
    probetui.set_trace()
    os.environ["RANK"] = "3"
    result = outcome(outer)
    os.environ["RANK"] = before
    return result


def raw_output():
    """Another thread wants more of standard output than a text file."""
    wanted = threading.Event()
    printed = threading.Event()
    found = []

    def printer():
        wanted.wait()
        try:
            sys.stdout.buffer.write(b"")
            found.append(sys.stdout.fileno())
        except Exception as error:
            found.append(repr(error))
        printed.set()

    thread = threading.Thread(target=printer)
    thread.start()

    @attach
    def function():
        raise RuntimeError("raw")

    outcome(function)
    thread.join()
    return found


class Thing:
    """What a frame of the program has."""


def kept():
    """What the frames had is gone when they are."""
    space = {"__name__": "elsewhere", "Thing": Thing, "found": [],
             "probetui": probetui}
    exec("""
import weakref

def deep():
    thing = Thing()
    found.append(weakref.ref(thing))
    probetui.set_trace()
    raise RuntimeError("deep")
""", space)
    outcome(attach(space["deep"]))
    gc.collect()
    return [space["found"][0]() is None,
            [name for name in list(space) + list(globals()) if "pdb" in name]]


def interrupted():
    """Ctrl-C at the prompt ends the program as without us."""
    @attach
    def function():
        raise RuntimeError("before Ctrl-C")

    return outcome(function)


def decorated_step():
    """Steps go through a decorated function as if it were none."""
    @attach
    def twice(a):
        return a * 2

    probetui.set_trace()
    b = twice(4)
    return b


def main():
    for line in sys.stdin:
        print(json.dumps(globals()[line.strip()]()), flush=True)


if __name__ == "__main__":
    main()
