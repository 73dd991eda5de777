"""A program that does everything at once, and knows what must come of it.

Lines of its standard input: "again" has the agent leave and listen again,
"end" ends it. On standard output: READY and where it listens; numbers, one
after the other, by print(); at the end a line of JSON with what went wrong.
"""
import asyncio
import contextlib
import contextvars
import faulthandler
import gc
import io
import itertools
import json
import marshal
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
import weakref

import probetui

# Of its own threads; catch_warnings() takes a lock that a child would wait for
# where another thread stands within it.
warnings.filterwarnings("ignore", "This process", DeprecationWarning)
PYTHON = sys.argv[1:]
END_SECONDS = 200
over = threading.Event()
problems = []
rounds = {}
text = contextvars.ContextVar("text", default=0)


def worker(function):
    """Runs it again and again, with the number of the round."""
    def run():
        count = 0
        try:
            while not over.is_set():
                function(count)
                count += 1
                time.sleep(0.0005)
        except BaseException as error:
            import traceback
            problems.append("%s: %s" % (
                function.__name__, traceback.format_exc()))
            del error
        rounds[function.__name__] = count

    return threading.Thread(target=run, name=function.__name__)


def check(what, found, wanted):
    if found != wanted:
        problems.append("%s: %r is not %r" % (what, found, wanted))


class Node:
    """What is made and dropped; alive ones are counted."""

    made, ended = itertools.count(), itertools.count()

    def __init__(self, other=None):
        self.other = other
        next(Node.made)

    def __del__(self):
        next(Node.ended)


def make_counter():
    """Two threads that share what only functions within can see."""
    total = 0
    lock = threading.Lock()

    def add(number):
        nonlocal total
        for step in range(20):
            with lock:
                total = total + 1  # at add
            number += step
        return number

    def add_once(number):
        nonlocal total
        with lock:
            before = total
            total = before + 1
        return number + before  # at once

    def read():
        return total

    return add, add_once, read


add, add_once, read_total = make_counter()
calls = [0, 0]


def closing_one(count):
    add(count)
    calls[0] += 20


def closing_two(count):
    add_once(count)
    calls[1] += 1


def squares(limit):
    for number in range(limit):
        got = yield number * number  # at yield
        if got:
            yield -got


def making(count):
    """Containers of all kinds, half made while others look."""
    parts = tuple(number for number in squares(30))  # at making
    check("tuple", sum(parts), 8555)
    names = {"k%d" % number: (number, [number]) for number in range(50)}
    check("dict", sum(pair[0] + pair[1][0] for pair in names.values()), 2450)
    rows = list(names.items())
    rows.sort(key=lambda row: -row[1][0])
    check("sort", rows[0][0], "k49")
    whole = {"a": frozenset(range(20)), "b": [tuple(range(9))] * 3,
             "c": {"d": [None] * 40}}
    check("marshal", marshal.loads(marshal.dumps(whole)), whole)
    check("pickle", pickle.loads(pickle.dumps(whole)), whole)
    check("json", json.loads(json.dumps(rows)),
          [[key, [number, [number]]] for key, (number, _) in rows])
    check("set", len({Node(count) for _ in range(5)}), 5)


def fall(depth):
    if depth == 0:
        raise KeyError("bottom")
    return fall(depth - 1)  # at fall


def endless(depth):
    return endless(depth + 1)


def raising(count):
    try:
        fall(20)
        problems.append("it did not raise")
    except KeyError as error:
        check("raise", error.args, ("bottom",))
    try:
        try:
            int("no")
        finally:
            count += 1
    except ValueError as error:
        check("context", error.__context__, None)  # at except
    if count % 50 == 0:
        try:
            endless(0)
        except RecursionError:
            pass


def finalizing(count):
    node = Node()
    gone = []
    weakref.finalize(node, gone.append, 1)
    time.sleep(0.001)
    node = count


known = []
dropped, finished = threading.Event(), threading.Event()


def keeping():
    """Runs for long, and what its name stood for is gone then."""
    node = Node()
    known.append(weakref.ref(node))
    while not over.is_set():
        time.sleep(0.002)  # at keeping
    node = None
    dropped.set()
    finished.wait(END_SECONDS)


def collecting(count):
    """Whether garbage is collected is for the program to say."""
    if count % 2:
        gc.disable()
        for step in range(20):
            one = Node()
            one.other = Node(one)
            if gc.isenabled():
                problems.append("gc was enabled")
                break
        gc.enable()
        check("gc", gc.isenabled(), True)
    one = Node()
    one.other = Node(one)
    del one
    if count % 20 == 0:
        gc.collect()


printed = [0]
# sys.stdout is the process': what a client's code prints just as the program
# has put a stream of its own there is in that.
PRINTED_BY_CLIENTS = ("in it\n", "one\n")
mixed = [0]


def printing(count):
    print(printed[0])
    printed[0] += 1
    if count % 5 == 0:
        with contextlib.redirect_stdout(io.StringIO()) as caught:
            print("caught", end="")
            time.sleep(0.0005)
        said = caught.getvalue()
        for text in PRINTED_BY_CLIENTS:
            said = said.replace(text, "")
        mixed[0] += said != caught.getvalue()
        check("redirect", said, "caught")


async def ticking(queue, count):
    for number in range(count):
        await asyncio.sleep(0)
        await queue.put(number)
    text.set(count)
    return text.get()


async def numbers(count):
    for number in range(count):
        await asyncio.sleep(0)
        yield number  # at async


async def looping_once():
    # Who stands takes long.
    asyncio.get_event_loop().slow_callback_duration = 1e9
    queue = asyncio.Queue()
    tasks = [asyncio.ensure_future(ticking(queue, 5)) for _ in range(4)]
    total = 0
    for _ in range(20):
        total += await queue.get()
    check("tasks", await asyncio.gather(*tasks), [5] * 4)
    check("queue", total, 40)
    check("async for", [each async for each in numbers(4)], [0, 1, 2, 3])
    check("contextvars", text.get(), 0)


def looping(count):
    asyncio.run(looping_once())


def in_context(count):
    context = contextvars.copy_context()
    context.run(text.set, count)
    check("context", context[text], count)
    check("outside", text.get(), 0)


def child(number, writing):
    """In a fork: it can import, print and begin threads. Where it stands as
    its time is over is on standard error."""
    faulthandler.register(signal.SIGALRM, chain=True)
    signal.alarm(END_SECONDS)
    found = []
    thread = threading.Thread(target=lambda: found.append(number * 2))
    thread.start()
    thread.join()
    for name in ("ctypes", "bdb", "queue", "inspect", "dis", "colorsys"):
        __import__(name)
    print(found[0], file=writing, flush=True)


def forking(count):
    reading, writing = os.pipe()
    sys.stdout.flush()
    number = os.fork()
    if number == 0:
        status = 1
        try:
            os.close(reading)
            with os.fdopen(writing, "w") as file:
                child(count, file)
            status = 0
        except BaseException:
            import traceback
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as file:
        said = file.read()
    check("status of a fork", os.waitpid(number, 0)[1], 0)
    check("fork", said, "%d\n" % (2 * count))
    time.sleep(0.05)


def spawning(count):
    run = subprocess.run(["echo", str(count)], stdout=subprocess.PIPE,
                         universal_newlines=True)
    check("echo", (run.returncode, run.stdout), (0, "%d\n" % count))
    time.sleep(0.02)


tracings = [0]


def tracing(count):
    """It traces itself, as coverage does."""
    seen = []

    def trace(frame, event, argument):
        if frame.f_code is counted.__code__:
            seen.append(event)
        return trace

    def counted():
        return 1

    before = sys.gettrace()
    sys.settrace(trace)
    counted()
    sys.settrace(before)
    check("its own trace", seen, ["call", "line", "return"])
    seen = []
    sys.setprofile(trace)
    counted()
    sys.setprofile(None)
    check("its own profile", seen, ["call", "return"])


def calculating(count):
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        tensor = torch.arange(100.0, requires_grad=True)
        (tensor * tensor).sum().backward()
        check("gradient", float(tensor.grad.sum()), 9900.0)
    if "numpy" in sys.modules:
        array = sys.modules["numpy"].arange(100)
        check("array", int((array * 2).sum()), 9900)  # at array
        check("tolist", len(array.reshape(10, 10).tolist()), 10)
    time.sleep(0.005)


WORKERS = (closing_one, closing_two, making, raising, finalizing, collecting,
           printing, looping, in_context, forking, spawning, tracing,
           calculating)
signals = [0, 0]


def on_signal(number, frame):
    signals[1] += 1  # at signal


def sending():
    """The main thread's own: each signal is handled once."""
    os.kill(os.getpid(), signal.SIGUSR1)
    signals[0] += 1
    until = time.monotonic() + END_SECONDS
    while signals[1] < signals[0] and time.monotonic() < until:
        time.sleep(0.001)
    check("signals", signals[1], signals[0])


def serve(lines):
    """A line at a time, without a thread for it."""
    import select
    while True:
        sending()
        if select.select([0], [], [], 0.005)[0]:
            lines[0] += os.read(0, 100).decode()
        if "\n" in lines[0]:
            line, _, lines[0] = lines[0].partition("\n")
            if line == "end":
                return
            leave()
            probetui.listen()


def own_threads():
    return [thread for thread in threading.enumerate()
            if thread.name.startswith("probetui")]


def leave():
    """What unlisten() could not end, on a machine that does a lot else, it
    names, and that ends soon."""
    left = probetui.unlisten()
    threads = own_threads()
    if threads and not left:
        problems.append("threads are left, of which nothing is said: %r"
                        % threads)
    for thread in threads:
        thread.join(END_SECONDS)
    if own_threads():
        problems.append("threads do not end: %r, %r" % (own_threads(), left))
        faulthandler.dump_traceback()


def told(node):
    """What has it."""
    return node and [
        "%s %s" % (type(each), list(each)[:9] if isinstance(
            each, (dict, list, tuple)) else each)
        for each in gc.get_referrers(node)]


def depth_of(stream):
    depth = 0
    while type(stream).__module__.startswith("probetui"):
        stream = vars(stream)["_original"]
        depth += 1
    return depth


def fds():
    """Open ones, with what they are. ctypes' own library keeps itself
    open."""
    found = []
    for name in sorted(os.listdir("/proc/self/fd"), key=int):
        with contextlib.suppress(OSError):
            path = os.readlink("/proc/self/fd/" + name)
            if "/libffi." not in path:
                found.append((name, path))
    return found


def main():
    signal.signal(signal.SIGUSR1, on_signal)
    for name in PYTHON:
        __import__(name)
    before = fds(), {thread.name for thread in threading.enumerate()}
    threads = [worker(function) for function in WORKERS]
    holder = threading.Thread(target=keeping, name="keeping")
    print("READY", probetui.listen()[0], flush=True)
    for thread in threads + [holder]:
        thread.start()
    serve([""])
    over.set()
    for thread in threads:
        thread.join(END_SECONDS)
        if thread.is_alive():
            problems.append("%s does not end" % thread.name)
            faulthandler.dump_traceback()
    check("shared", read_total(), sum(calls))
    dropped.wait(END_SECONDS)
    leave()
    gc.collect()
    check("what was dropped", told(known[0]()), None)
    finished.set()
    holder.join()
    until = time.monotonic() + END_SECONDS
    while any(type(each) is Node for each in gc.get_objects()) and \
            time.monotonic() < until:
        time.sleep(0.01)
        gc.collect()
    alive = [told(each) for each in gc.get_objects() if type(each) is Node]
    check("nodes %s" % alive[:3], next(Node.ended), next(Node.made))
    check("what is left", (fds(), {thread.name for thread in
                                   threading.enumerate()}), before)
    check("traces", (sys.gettrace(), threading._trace_hook), (None, None))
    if depth_of(sys.stdout) > 1:
        problems.append("%d streams of ours" % depth_of(sys.stdout))
    print(json.dumps({"problems": problems, "rounds": rounds,
                      "printed": printed[0], "mixed": mixed[0]}), flush=True)


main()
