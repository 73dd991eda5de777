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
FORK = ENGINE + """
def never():
    return 1
begin(never, 1)
held, forked = threading.Lock(), threading.Lock()
held.acquire()
forked.acquire()
def fork():
    number = os.fork()
    if number == 0:
        os._exit(0)
    return number
def hold():
    with one._lock:
        held.release()
        # A fork that waits for the engine comes after this.
        forked.acquire(True, 0.1)
# What is called then has been decided on, but for what the child calls.
os.waitpid(fork(), 0)
holder = threading.Thread(target=hold)
holder.start()
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
fd = os.open(sys.argv[0] + ".begun", os.O_CREAT | os.O_WRONLY)
try:
    while True:
        time.sleep(0.001)
finally:
    os.rename(sys.argv[0] + ".begun", sys.argv[0] + ".ended")
"""


class HazardCase(unittest.TestCase):
    def setUp(self):
        self.place = Place(self.python.argv)
        self.addCleanup(self.place.close)

    def run_program(self, text):
        path = self.place.write("hazard.py", text)
        status, output, errors = self.place.run("-W", "error", path, **PLAIN)
        self.assertEqual((status, errors), (0, ""))
        return output.split()

    def test_names_that_threads_share(self):
        """What another thread gives to a closure's name, while one of its
        functions stands, stays."""
        self.assertEqual(self.run_program(SHARED), ["2"])

    def test_fork_while_somebody_is_in_the_engine(self):
        self.assertEqual(self.run_program(FORK), ["0"])

    def test_fork_while_the_agent_comes_or_leaves(self):
        """What it took for that, it gives back, and nothing else."""
        self.assertEqual(self.run_program(LEAVES), [
            "0", "False", "0", "False", "True", "True"])

    def test_the_agents_own_business(self):
        """Who has its locks does not stand."""
        self.assertEqual(self.run_program(BUSY), ["2"])

    def test_streams_that_are_kept(self):
        self.assertEqual(self.run_program(STREAMS), ["True", "True", "kept"])

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
