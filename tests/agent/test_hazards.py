"""What the agent must not do to the process that it is in."""
import os
import sys
import unittest

from agents import PLAIN, Place, Target, few_unless_soak, wait_for

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "backend"))
import pythons  # noqa: E402

ENGINE = """
import os, random, signal, sys, threading, time
from probetui import inspection
from probetui.debugging import engine
from probetui.debugging.specs import Spec
stops, stopped = [], threading.Event()
def on_event(name, body):
    if name == "stopped":
        stops.append(body["stop"])
        stopped.set()
def stop():
    assert stopped.wait(20)
    stopped.clear()
    return stops[-1]
one = engine.get()
one.on_event = on_event
def begin(function, line):
    one.set_breakpoints("test", [Spec(
        1, path=__file__, line=function.__code__.co_firstlineno + line)])
"""
SHARED = ENGINE + """
def make():
    total = 0
    def inner():
        nonlocal total
        here = 1
        here = 2
        return total
    def add():
        nonlocal total
        total += 1
    return inner, add
inner, add = make()
begin(inner, 2)
thread = threading.Thread(target=inner)
thread.start()
first = stop()
first.frames[0][0].f_locals
add()
first.go("next")
second = stop()
second.frames[0][0].f_locals
add()
second.go()
thread.join()
print(inner.__closure__[0].cell_contents)
one.close()
"""
# Whoever reads the names of all frames, as /backtrace does, reads those of the
# trace function's frames, too, and may have these frames for longer than they
# run.
SHARED_WITH_READER = SHARED.replace("add()\n", """
frame = sys._current_frames()[thread.ident]
while frame is not None:
    frames.append((frame, frame.f_locals))
    frame = frame.f_back
add()
""").replace("inner, add =", "frames = []\ninner, add =")
# The names of a generator that other functions have, too: they get another
# value while the generator is being resumed.
RESUMED = ENGINE + """
def make():
    total = 0
    def add():
        nonlocal total
        total += 1
    yield add
    yield add
    yield total
begin(make, 99)
made = make()
held = one.armer._decide if hasattr(one.armer, "_decide") else None
if held:
    def decide(frame):
        found = held(frame)
        if frame.f_code is make.__code__ and "add" in globals():
            add()
        return found
    one.armer._decide = decide
    one.armer._forget()
def run():
    global add
    add = next(made)
    next(made)
    say.append(next(made))
say = []
thread = threading.Thread(target=run)
thread.start()
thread.join()
print(say[0] == (2 if held else 0))
one.close()
"""
FORK = ENGINE + """
def never():
    return 1
begin(never, 1)
begun, held, forked = [threading.Lock() for _ in range(3)]
for each in begun, held, forked:
    each.acquire()
def fork():
    number = os.fork()
    if number == 0:
        os._exit(0)
    return number
def hold():
    # What start() calls is traced, too.
    begun.acquire()
    with one._lock:
        held.release()
        # A fork that waits for the engine comes after this.
        forked.acquire(True, 0.1)
# What is called then has been decided on, but for what the child calls.
os.waitpid(fork(), 0)
holder = threading.Thread(target=hold)
holder.start()
begun.release()
held.acquire()
number = fork()
forked.release()
holder.join()
until, ended = time.monotonic() + 10, 0
while not ended and time.monotonic() < until:
    ended, status = os.waitpid(number, os.WNOHANG)
    time.sleep(0.001)
if not ended:
    os.kill(number, signal.SIGKILL)
    status = os.waitpid(number, 0)[1]
print(status)
one.close()
"""
# A fork while the engine ends; and one that comes all the same as somebody is
# in the engine for long. What the child calls before it knows that it is one is
# traced.
FORK_AT_THE_END = FORK.replace("""    with one._lock:
        held.release()
""", """    one.close()
plain = one.armer.end
def end():
        one.armer.end = plain
        held.release()
""").replace("""        forked.acquire(True, 0.1)
""", """        forked.acquire(True, 0.1)
        plain()
one.armer.end = end
""")
# Requests that began before the engine ended, and a fork behind that: the
# child begins a thread, as programs do.
FORK_AFTER_THE_END = ENGINE + """
from probetui import forks
from probetui.debugging.specs import EngineError, ExceptionFilter
other = threading.Event()
thread = threading.Thread(target=other.wait)
thread.start()
def function():
    return 1
def refused(request):
    try:
        request()
    except EngineError as error:
        return "ended" in str(error)
    return False
def trace():
    return threading._trace_hook, sys.gettrace(), getattr(
        sys, "monitoring", None) and sys.monitoring.get_tool(4)
def fork():
    number = os.fork()
    if number == 0:
        child = threading.Thread(target=function)
        child.start()
        child.join()
        os._exit(0)
    until, ended = time.monotonic() + 10, 0
    while not ended and time.monotonic() < until:
        ended, status = os.waitpid(number, os.WNOHANG)
        time.sleep(0.001)
    if not ended:
        os.kill(number, signal.SIGKILL)
        status = os.waitpid(number, 0)[1]
    return status
before = trace()
one.close()
print(*[refused(request) for request in (
    one.pause, lambda: begin(function, 1),
    lambda: one.set_exceptions("test", ExceptionFilter(True, False, [])))])
one.watch_code(function.__code__, lambda frame, event: None)
print(trace() == before, fork())
# An agent has left as this engine was made; the next one uses it.
two = engine.get()
forks.clear()
one = engine.get()
print(one is two, len(forks._hooks))
begin(function, 1)
one.on_event = lambda name, body: body["stop"].go() \
    if name == "stopped" else None
print(fork())
one.close()
other.set()
"""
# The agent leaves as an evaluation is about to begin; and one comes later.
EVALUATED_LATE = """
import threading
from probetui import evaluation
from probetui.http1 import Refusal
evaluator = evaluation.Evaluator(lambda: None)
there, left, ran, told = threading.Event(), threading.Event(), [], []
def begun(job):
    there.set()
    left.wait()
def run():
    told.append(evaluator.run(lambda: ran.append(1), 30, print, begun=begun))
thread = threading.Thread(target=run)
thread.start()
there.wait()
evaluator.hurry()
left.set()
thread.join()
print(ran, told[0]["error"]["type"])
try:
    run()
except Refusal as refusal:
    print(refusal.status)
"""
# A fork while a thread of the agent is just taking an import lock.
FORK_IN_AN_IMPORT = """
import _frozen_importlib, os, signal, threading, warnings
import probetui
from probetui import inspection
warnings.simplefilter("ignore", DeprecationWarning)
probetui.listen()
held, over = threading.Event(), threading.Event()
lock = _frozen_importlib._get_module_lock("colorsys")
def take():
    with lock.lock:
        held.set()
        over.wait()
thread = threading.Thread(target=take)
inspection.hide(thread)
thread.start()
held.wait()
number = os.fork()
if number == 0:
    signal.alarm(60)
    import colorsys
    os._exit(0)
print(os.waitpid(number, 0)[1])
over.set()
thread.join()
"""
# The program exchanges its streams, as contextlib.redirect_stdout() does, in the
# midst of an evaluation's begin and end.
EXCHANGED = """
import io, sys
from probetui import streams
real, own, between = sys.stdout, io.StringIO(), []
def exchange(original):
    if original is real and between:
        sys.stdout = between.pop()
class Capture(streams.Capture):
    def _make_stream(self, original):
        exchange(original)
        return super()._make_stream(original)
def original_of(stream):
    exchange(vars(stream)["_original"])
    return vars(stream)["_original"]
streams.Stream._original = property(
    original_of, lambda stream, value: vars(stream).update(_original=value))
capture, seen = Capture(), []
with capture.catching(streams.Output()):
    between.append(own)
seen.append(sys.stdout is own)
sys.stdout = real
between.append(own)
with capture.catching(streams.Output()):
    seen.append(sys.stdout._original is own)
seen.append(sys.stdout is own)
sys.stdout = real
print(*seen)
"""
FORK_AT_ONCE = FORK.replace("(True, 0.1)", "()").replace(
    "one.on_event", "engine.FORK_SECONDS = 0.001\none.on_event")
TRACED = """
import sys, threading
from probetui.debugging import tstates
traced, ending, gone, over = [threading.Event() for _ in range(4)]
class Tracer:
    def __call__(self, *_):
        return None
def run():
    sys.settrace(Tracer())
    traced.set()
    ending.wait()
    sys.settrace(None)
    gone.set()
    over.wait()
def words(address):
    found = read(address)
    if address != tstates._own():
        ending.set()
        gone.wait()
    return found
read, tstates._words = tstates._words, words
asked = []
thread = threading.Thread(target=run)
thread.start()
traced.wait()
print(tstates.set_trace(thread.ident, None, asked.append), len(asked))
over.set()
thread.join()
"""
BUSY = ENGINE + """
def reached(count):
    return count
begin(reached, 1)
def run():
    with inspection.business():
        reached(1)
    reached(2)
thread = threading.Thread(target=run)
thread.start()
there = stop()
print(there.frames[0][0].f_locals["count"])
there.go()
thread.join()
one.close()
"""
# What the names of a look stood for, also one by the thread itself, is gone at
# once, without any garbage that was collected.
LOOKS = """
import gc, sys, threading, weakref
from probetui import inspection
gc.disable()
class Big:
    pass
def known(big):
    say.append(weakref.ref(big))
    return big
def waiting():
    big = known(Big())
    yield
    big = None
    yield
def work():
    big = known(Big())
    begun.set()
    dropping.wait()
    big = None
    dropped.set()
    ending.wait()
say = []
begun, dropping, dropped, ending = [threading.Event() for _ in range(4)]
made = waiting()
next(made)
inspection.names_of(made.gi_frame)
next(made)
thread = threading.Thread(target=work)
thread.start()
begun.wait()
for frame in inspection.thread_frames().values():
    while frame is not None:
        inspection.names_of(frame)
        frame = frame.f_back
dropping.set()
dropped.wait()
def own():
    big = known(Big())
    inspection.names_of(sys._getframe())
own()
print(*(each() is None for each in say))
ending.set()
"""
# CPython up to 3.12 writes a frame's f_locals back after a function that
# profiles or traces it, whether or not that has a name for the frame by then,
# runs itself, or has just ended.
PROFILED = """
import sys, threading
from probetui import inspection, snapshots
class Waits:
    def __del__(self):
        meet()
def meet():
    there.set()
    assert looked.wait(60)
def is_point(frame, event):
    return event == "call" and frame.f_code in codes
def unnamed(frame, event, arg):
    if is_point(frame, event):
        del frame
        meet()
def finalizer(frame, event, arg):
    if is_point(frame, event):
        waits = Waits()
        waits = frame = None
def finalized_late(frame, event, arg):
    if is_point(frame, event):
        waits = Waits()
def point(value):
    return value
def points(value):
    yield value
    yield value
codes = {point.__code__, points.__code__}
def called():
    return lambda: point(5)
def resumed():
    made = points(5)
    next(made)
    return made.__next__
def run():
    call = kind()
    hook(function)
    said.append(call())
    hook(None)
def look(frame):
    while frame is not None:
        inspection.names_of(frame)
        frame = frame.f_back
    snapshots.let_all_go()
for hook in sys.setprofile, sys.settrace:
    for function in unnamed, finalizer, finalized_late:
        for kind in called, resumed:
            said = []
            there, looked = threading.Event(), threading.Event()
            thread = threading.Thread(target=run)
            thread.start()
            while thread.is_alive():
                if there.wait(0.01):
                    there.clear()
                    look(sys._current_frames().get(thread.ident))
                    looked.set()
            print(*said)
"""
# A generator that nobody runs is resumed, and profiled, before its names are
# let go of.
RESUMED_MEANWHILE = PROFILED[:PROFILED.index("def run()")] + """
def run():
    sys.setprofile(unnamed)
    said.append(next(made))
    sys.setprofile(None)
def newest(frame):
    found = plain(frame)
    if found is None and frame is made.gi_frame:
        thread.start()
        there.wait()
    return found
said, made = [], points(5)
next(made)
plain, snapshots._newest = snapshots._newest, newest
there, looked = threading.Event(), threading.Event()
thread = threading.Thread(target=run)
inspection.names_of(made.gi_frame)
looked.set()
thread.join()
print(*said)
"""
# A thread of the agent begins while all threads are paused: from 3.12 on what
# `threading` runs for it is seen as it is in all others.
BEGINS = ENGINE + """
from probetui.debugging.specs import ExceptionFilter
waiting = threading.Event()
program = threading.Thread(target=waiting.wait)
program.start()
one.set_exceptions("test", ExceptionFilter(True, False, ["KeyError"]))
one.pause(program.ident)
def serve():
    try:
        {}["nothing"]
    except KeyError:
        pass
ours = threading.Thread(target=inspection.untraced(serve), daemon=True)
inspection.hide(ours)
ours.start()
while ours.is_alive() and not any(
        each.ident == ours.ident for each in one.stops()):
    time.sleep(0.001)
print(len(one.stops()))
one.close()
waiting.set()
program.join()
"""
# Engines that came and ended, with breakpoints in threads that ran already and
# steps, and evaluations that took too long.
ENDED = ENGINE + """
import collections, functools, gc
from probetui import deadline
over, gate = threading.Event(), threading.Semaphore(0)
def function():
    here = 1
    here = 2
    return here
def run():
    while not over.is_set():
        gate.acquire()
        function()
other = threading.Thread(target=run)
other.start()
def expire():
    late = deadline.Deadline()
    begun, is_up = threading.Event(), threading.Event()
    def end():
        begun.wait()
        while not is_up.wait(0.001):
            late.expire()
    ender = threading.Thread(target=end)
    ender.start()
    try:
        late.run(functools.partial(
            exec, "begun.set()\\nwhile True: pass", {"begun": begun}), False)
    except deadline.TimeIsUp:
        pass
    is_up.set()
    ender.join()
for _ in range(40):
    one = engine.get()
    one.on_event = on_event
    begin(function, 1)
    gate.release()
    stop().go("next")
    stop().go()
    one.close()
    expire()
over.set()
gate.release()
other.join()
gc.collect()
found = collections.Counter(type(each).__name__ for each in gc.get_objects())
print(*[name for name in ("Engine", "ThreadState", "Stepper", "Breakpoint",
                          "Deadline") if found[name] > 20])
print("end")
"""
# A thread is on the way out of a stop while a newer engine comes to trace it.
NEWER = ENGINE + """
from probetui.debugging.engine import Engine
gate = threading.Semaphore(0)
def function():
    here = 1
    here = 2
    return here
def run():
    for _ in range(2):
        gate.acquire()
        function()
begin(function, 1)
thread = threading.Thread(target=run, daemon=True)
thread.start()
gate.release()
stop().go("next")
first = stop()
one.armer._is_on = False
newer = Engine()
newer.on_event = on_event
newer.set_breakpoints("test", [Spec(
    1, path=__file__, line=function.__code__.co_firstlineno + 3)])
first.go()
gate.release()
second = stop()
print(second is not first, second.reason)
second.go()
newer.close()
one.close()
thread.join()
"""
# Threads of the agent begin at once in two threads, and one comes to where an
# object of a thread that has ended was in memory.
HIDDEN = """
import threading
from probetui import inspection
over = threading.Event()
first, second = [threading.Thread(target=over.wait) for _ in range(2)]
def ended():
    if id(second) not in hidden:
        hidden.add(id(second))
        inspection.hide(second)
hidden = set()
inspection._own[id(second)] = ended
inspection.hide(first)
for thread in first, second:
    thread.start()
print(set(inspection.own_threads()) == {first, second})
# One that has begun, and that threading knows only after the stacks were read.
third = threading.Thread(target=over.wait)
inspection.hide(third)
begins, gate = threading.Event(), threading.Event()
plain = third._started.set, inspection.known_threads
def set_started():
    begins.set()
    gate.wait()
    plain[0]()
def known_threads():
    gate.set()
    while third not in plain[1]():
        pass
    return plain[1]()
third._started.set = set_started
inspection.known_threads = known_threads
starter = threading.Thread(target=third.start)
starter.start()
begins.wait()
print(third.ident in inspection.thread_frames())
over.set()
"""
NO_DESCRIPTORS = """
import os, resource
import probetui
resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
try:
    while True:
        os.dup(0)
except OSError:
    pass
print(probetui.listen())
"""
# A fork that waits for the agent which just leaves, and one that an agent
# comes into; after them anybody can have what they waited for.
LEAVES = """
import os, sys, threading
import probetui
from probetui import forks, inspection, server
statuses, waits = [], threading.Event()
def fork():
    number = os.fork()
    if number == 0:
        os._exit(inspection.is_busy())
    statuses.append(os.waitpid(number, 0)[1])
    statuses.append(inspection.is_busy())
def waiting():
    waits.set()
    begin()
def listening():
    forks._hooks.clear()
    probetui.listen()
probetui.listen()
begin = forks._hooks[0][0]
forks._hooks[0] = (waiting,) + forks._hooks[0][1:]
forker = threading.Thread(target=fork)
with server.forking:
    forker.start()
    waits.wait()
    probetui.unlisten()
forker.join()
free = [server.forking.acquire(False)]
if free[0]:
    server.forking.release()
    forks._hooks.append((listening, None, None))
    fork()
    other = threading.Thread(
        target=lambda: free.append(server.forking.acquire(False)))
    other.start()
    other.join()
print(*statuses, *free)
sys.stdout.flush()
os._exit(0)
"""
OBJECTS = """
import ctypes, gc, sys
from probetui import objects
def trace(frame, event, argument):
    enabled.append(gc.isenabled())
    return trace
enabled = []
for switch in (gc.disable, gc.enable):
    switch()
    # Whatever another thread could see.
    sys.settrace(trace)
    found = objects.instances([list, frozenset, tuple])
    sys.settrace(None)
    print({*enabled}, gc.isenabled(), {each.__name__ for each in map(
        type, found)})
    del enabled[:]
make = ctypes.pythonapi.PyList_New
make.restype = ctypes.py_object
unfinished = make(ctypes.c_ssize_t(3))
print(*(each["value"] for each in objects.of_type("list", 10**6)["objects"]
        if each["id"] == id(unfinished)))
"""
SYNTAX = """
import codeop
from probetui import evaluation
codeop.compile_command = lambda *_, **__: print("it compiles")
try:
    try:
        compile("whille True: pass", "text", "exec")
    finally:
        int("no")
except ValueError as error:
    print(evaluation._tell_error(error)["message"].split()[0])
"""
STREAMS = """
import io, sys
from probetui import streams
capture = streams.Capture()
first = sys.stdout
def kept():
    with capture.catching(streams.Output()):
        return sys.stdout
sys.stdout = kept()
sys.stdout = kept()
print(vars(kept())["_original"] is first, sys.stdout is first)
class Empty(io.StringIO):
    def __len__(self):
        return 0
sys.stdout = empty = Empty()
stream = kept()
capture._outputs.clear()
stream.write("kept")
sys.stdout = first
print(empty.getvalue())
"""
# A print() that began while something was evaluated lasts until the agent has
# left.
LATE_PRINT = """
import gc, sys, threading
from probetui import streams
inside, gate = threading.Event(), threading.Event()
class Slow:
    def __str__(self):
        inside.set()
        gate.wait()
        return "slow"
def run():
    print(Slow(), "end")
thread = threading.Thread(target=run)
capture = streams.Capture()
with capture.catching(streams.Output()):
    thread.start()
    inside.wait()
print(capture.is_used())
capture.leave()
del capture
gc.collect()
gate.set()
thread.join()
"""
KEEPS = """
import weakref
class Big:
    pass
def work():
    global known
    big = Big()
    known = weakref.ref(big)
    begun.set()
    dropping.wait()
    big = None
    dropped.set()
    ending.wait()
begun, dropping, dropped, ending = [threading.Event() for _ in range(4)]
working = threading.Thread(target=work)
working.start()
begun.wait()
import probetui
say(probetui.listen())
"""
ENDS = """
import os, sys, time
try:
    fd = os.open(sys.argv[0] + ".begun", os.O_CREAT | os.O_WRONLY)
    while True:
        time.sleep(0.001)
finally:
    os.rename(sys.argv[0] + ".begun", sys.argv[0] + ".ended")
"""
# A finalizer and the callback of a weak reference, each of which runs when the
# time of what let go of them is up.
FINALIZERS = """
import weakref
from probetui import agent
done = []
def wait(what):
    running = agent._agent._server.evaluator._running
    while not any(job.is_interrupted for job in list(running)):
        pass
    for number in range(10000):
        here = number
    done.append(what)
class Ends:
    def __del__(self):
        wait("finalizer")
class Kept:
    pass
def callback(reference):
    wait("callback")
def ended(kind):
    one = kind()
    known = weakref.ref(one, callback) if kind is Kept else None
    one = None
    while True:
        here = known
"""
# It catches what comes at the limit of recursion, and goes on.
DEEP = ENGINE + """
def endless(depth):
    return endless(depth + 1)
def run():
    for _ in range(20):
        try:
            endless(0)
        except RecursionError:
            ended.append(1)
ended = []
one.set_breakpoints("test", [Spec(
    1, path=__file__, line=endless.__code__.co_firstlineno + 1,
    condition="sum(n for n in (depth, 1)) < 0", ignore=10**9)])
thread = threading.Thread(target=run)
thread.start()
thread.join()
print(len(ended))
# The same while it steps.
one.set_breakpoints("test", [Spec(
    1, path=__file__, line=endless.__code__.co_firstlineno + 1)])
thread = threading.Thread(target=run)
thread.start()
there = stop()
one.set_breakpoints("test", [])
there.go("stepOut")
while thread.is_alive():
    if stopped.wait(0.01):
        stop().go()
print(len(ended))
one.close()
"""
SPINS = """
def spin(count):
    while True:
        count += 1
"""
FORKS = """
import os, sys, threading, time, warnings
import probetui
def fork():
    number = os.fork()
    if number == 0:
        os._exit(0)
    return os.waitpid(number, 0)[1]
before = list(warnings.filters)
probetui.listen()
caught = []
warnings.showwarning = lambda message, *_: caught.append(str(message))
warnings.simplefilter("always")
before = list(warnings.filters)
print(fork(), len(caught))
over = threading.Event()
thread = threading.Thread(target=over.wait)
thread.start()
print(fork(), len(caught) == (sys.version_info >= (3, 12)))
over.set()
thread.join()
while probetui.unlisten():
    time.sleep(0.001)
print(warnings.filters == before)
"""


class HazardCase(unittest.TestCase):
    def setUp(self):
        self.place = Place(self.python.argv)
        self.addCleanup(self.place.close)

    def run_program(self, text, **variables):
        path = self.place.write("hazard.py", text)
        status, output, errors = self.place.run("-W", "error", path, **PLAIN,
                                                **variables)
        self.assertEqual((status, errors), (0, ""))
        return output.split()

    def test_names_that_threads_share(self):
        """What another thread gives to a closure's name, while one of its
        functions stands, stays."""
        self.assertEqual(self.run_program(SHARED), ["2"])

    def test_names_that_threads_share_and_a_reader_of_frames(self):
        self.assertEqual(self.run_program(SHARED_WITH_READER), ["2"])

    def test_names_that_a_generator_shares(self):
        self.assertEqual(self.run_program(RESUMED), ["True"])

    def test_fork_while_somebody_is_in_the_engine(self):
        self.assertEqual(self.run_program(FORK), ["0"])

    def test_a_fork_while_the_engine_ends(self):
        self.assertEqual(self.run_program(FORK_AT_THE_END), ["0"])

    def test_a_fork_after_the_end_of_the_engine(self):
        """A request that comes late arms nothing; else the child's threads
        would wait for the lock of an engine that it does not forget."""
        self.assertEqual(self.run_program(FORK_AFTER_THE_END), [
            "True", "True", "True", "True", "0", "True", "1", "0"])

    def test_an_evaluation_that_begins_as_the_agent_leaves(self):
        self.assertEqual(self.run_program(EVALUATED_LATE),
                         ["[]", "TimeIsUp", "503"])

    def test_a_fork_while_an_import_lock_is_taken(self):
        self.assertEqual(self.run_program(FORK_IN_AN_IMPORT), ["0"])

    def test_streams_that_the_program_exchanges(self):
        """Nothing is put in the place of a stream but what stands for it."""
        self.assertEqual(self.run_program(EXCHANGED), ["True"] * 3)

    def test_a_fork_that_does_not_wait(self):
        self.assertEqual(self.run_program(FORK_AT_ONCE), ["0"])

    def test_fork_while_the_agent_comes_or_leaves(self):
        """What it took for that, it gives back, and nothing else."""
        self.assertEqual(self.run_program(LEAVES), [
            "0", "False", "0", "False", "True", "True"])

    def test_the_agents_own_business(self):
        """Who has its locks does not stand."""
        self.assertEqual(self.run_program(BUSY), ["2"])

    def test_a_thread_of_the_agent_that_begins(self):
        """It does not stand either."""
        self.assertEqual(self.run_program(BEGINS), ["0"])

    def test_what_ended_is_kept_no_longer(self):
        """Nor what was made for it, but for a few of the last."""
        self.assertEqual(self.run_program(ENDED), ["end"])

    def test_a_newer_engine_keeps_its_trace(self):
        self.assertEqual(self.run_program(NEWER), ["True", "breakpoint"])

    def test_the_threads_of_the_agent_are_known(self):
        self.assertEqual(self.run_program(HIDDEN), ["True", "False"])

    def test_streams_that_are_kept(self):
        self.assertEqual(self.run_program(STREAMS), ["True", "True", "kept"])

    def test_a_print_that_lasts(self):
        """Its file is not freed before it has ended."""
        self.assertEqual(self.run_program(LATE_PRINT, PYTHONMALLOC="debug"),
                         ["True", "slow", "end"])

    def test_objects_that_are_not_finished(self):
        """And nobody sees that no garbage is collected meanwhile."""
        self.assertEqual(self.run_program(OBJECTS), [
            "{False}", "False", "{'list'}", "{True}", "True", "{'list'}",
            "[...]"])

    def test_errors_are_told_without_compiling(self):
        self.assertEqual(self.run_program(SYNTAX), ["invalid"])

    def test_a_tracer_that_goes_meanwhile(self):
        if self.python.version >= (3, 12):
            self.skipTest("it reads no threads' states from 3.12 on")
        self.assertEqual(self.run_program(TRACED), ["None", "0"])

    def test_names_that_are_profiled_stay(self):
        self.assertEqual(self.run_program(PROFILED), ["5"] * 12)

    def test_names_that_are_profiled_meanwhile_stay(self):
        if self.python.version >= (3, 13):
            self.skipTest("f_locals is no copy from 3.13 on")
        self.assertEqual(self.run_program(RESUMED_MEANWHILE), ["5"])

    def test_a_look_makes_no_garbage(self):
        self.assertEqual(self.run_program(LOOKS), ["True"] * 3)

    def test_a_look_keeps_nothing(self):
        target = Target(self.place, KEEPS)
        self.addCleanup(target.kill)
        client = target.client()
        self.addCleanup(client.close)
        for thread in client.get("/threads"):
            client.get("/backtrace?tid=%d" % (thread["tid"]
                                              or thread["ident"]))
        target.run("dropping.set(); dropped.wait()")
        wait_for(lambda: target.ask("known() is None"), "it to be dropped")
        target.run("ending.set()")
        self.assertEqual(target.close(), (0, ""))

    def started(self, begins=""):
        target = Target(self.place, begins + "import probetui\n"
                        "say(probetui.listen())")
        self.addCleanup(target.kill)
        client = target.client()
        self.addCleanup(client.close)
        return target, client

    def test_time_is_up_in_a_finalizer(self):
        """What it raises would be printed, and forgotten."""
        target, client = self.started()
        client.post("/eval", code=FINALIZERS)
        for kind, what in ("Ends", "finalizer"), ("Kept", "callback"):
            told = client.post("/eval", code="ended(%s)" % kind, timeout=0.05)
            self.assertEqual(told["error"]["message"],
                             "the evaluation took longer than 0.05 s")
            self.assertEqual(client.value("done.pop(), done"),
                             "('%s', [])" % what)
        self.assertEqual(target.close(), (0, ""))

    def test_time_is_up_in_a_function(self):
        """Of the program, which what is evaluated calls."""
        target, client = self.started(SPINS)
        told = client.post("/eval", code="spin(0)", timeout=0.05)
        self.assertEqual(told["error"]["message"],
                         "the evaluation took longer than 0.05 s")
        self.assertEqual(target.ask("sys.gettrace() is None"), True)
        self.assertEqual(target.close(), (0, ""))

    def test_the_limit_of_recursion(self):
        """Up to 3.9 CPython aborts where an error there is caught, and the
        program calls on."""
        path = self.place.write("hazard.py", DEEP)
        status, output, errors = self.place.run(path, **PLAIN)
        self.assertEqual((status, output.split()), (0, ["20", "40"]),
                         errors[-2000:])

    def test_time_is_up_while_others_have_all_tools(self):
        """It ends once there is one again."""
        if self.python.version < (3, 12):
            self.skipTest("there is no sys.monitoring before 3.12")
        target, client = self.started()
        client.post("/eval", code="import sys\n"
                    "from probetui import agent, evaluation\n"
                    "evaluation.GRACE_SECONDS = 0.05\n"
                    "for tool in range(6):\n"
                    "    if sys.monitoring.get_tool(tool) is None:\n"
                    "        sys.monitoring.use_tool_id(tool, 'other')")
        with target.client() as other:
            self.assertEqual(other.ask("POST", "/eval", {
                "code": "while True: pass", "timeout": 0.05}).status, 504)
        client.post("/eval", code="for tool in range(6):\n"
                    "    sys.monitoring.free_tool_id(tool)")
        wait_for(lambda: client.value(
            "len(agent._agent._server.evaluator._running)") == "1",
            "it to end")
        self.assertEqual(target.close(), (0, ""))

    def test_no_descriptor_is_left(self):
        """What needs one is refused or waits for one, and nothing of that is
        on standard error."""
        target, client = self.started()
        other = target.client()
        self.addCleanup(other.close)
        other.get("/threads")
        client.post("/eval", code="import os, resource\n"
                    "from probetui import agent, evaluation\n"
                    "evaluation.GRACE_SECONDS = 0.05\n"
                    "limit = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
                    "resource.setrlimit(resource.RLIMIT_NOFILE,"
                    " (64, limit[1]))\n"
                    "kept = []\n"
                    "try:\n"
                    "    while True: kept.append(os.dup(0))\n"
                    "except OSError: pass")
        # It is ended where no descriptor is wanted for that.
        self.assertIn(client.ask("POST", "/eval", {
            "code": "while True: pass", "timeout": 0.05}).status, (200, 504))
        for path in "/threads", "/backtrace", "/":
            self.assertIn(other.ask(
                "GET", path).status, (200, 500))
        other.post("/eval", code="resource.setrlimit("
                    "resource.RLIMIT_NOFILE, limit)\n"
                    "for each in kept: os.close(each)")
        wait_for(lambda: other.value(
            "len(agent._agent._server.evaluator._running)") == "1",
            "it to end")
        self.assertEqual(target.close(), (0, ""))

    def test_nothing_listens_without_descriptors(self):
        """Nothing is raised."""
        path = self.place.write("hazard.py", NO_DESCRIPTORS)
        status, output, errors = self.place.run(path, **PLAIN)
        self.assertEqual((status, output.split()), (0, ["[]"]), errors)
        self.assertRegex(errors, r"\Aprobetui: the agent cannot listen: "
                                 r"[^\n]+\n\Z")

    def test_the_end_does_not_wait_for_c(self):
        """Where that waits itself, for longer than anybody would."""
        target, client = self.started()
        client.value("from probetui import agent, evaluation\n"
                     "agent.EVALUATION_SECONDS = 600.0\n"
                     "evaluation.GRACE_SECONDS = 0.05\n"
                     "lock = threading.Lock()\n"
                     "lock.acquire()")
        self.assertEqual(client.ask("POST", "/eval", {
            "code": "lock.acquire()", "timeout": 0.05}).status, 504)
        self.assertEqual(target.close(), (0, ""))

    def test_forks_do_not_warn_of_the_agents_threads(self):
        """CPython counts them; of the program's own it does warn."""
        path = self.place.write("hazard.py", FORKS)
        status, output, errors = self.place.run(path, **PLAIN)
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(output.split(), "0 0 0 True True".split())

    def test_the_end_ends_evaluations(self):
        """One that runs C++ code would abort the process."""
        target = Target(self.place)
        self.addCleanup(target.kill)
        client = target.client()
        self.addCleanup(client.close)
        client.send(client.request("POST", "/eval", {"code": ENDS}))
        path = self.place.path + "/program.py"
        wait_for(lambda: os.path.exists(path + ".begun"), "it to begin")
        self.assertEqual(target.close(), (0, ""))
        self.assertTrue(os.path.exists(path + ".ended"))


def load_tests(loader, tests, pattern):
    few_unless_soak()
    return pythons.load_cases(loader, __name__, HazardCase)
