"""The agent leaves a process that goes on: what was there before is there
after, and nothing else. On every CPython found."""
import os
import statistics
import sys
import unittest

from agents import OneCase, Place, Target, few_unless_soak, wait_for
from daps import Viewer
from injecting import PUT_IN, InjectedPlace

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "backend"))
import pythons  # noqa: E402

SOAK = os.environ.get("PROBETUI_SOAK")

# What a process can be told by; of lists, what is in them.
LOOK = PUT_IN + r"""
import builtins, gc, glob, json, os, re, signal, sys, threading
import warnings

def tools():
    monitoring = getattr(sys, "monitoring", None)
    return monitoring and [monitoring.get_tool(i) for i in range(6)]

def state(status, name):
    return re.search(name + r":\s*(\S+)", status).group(1)

def descriptors():
    found = []
    for fd in os.listdir("/proc/self/fd"):
        try:
            found.append(fd + " " + os.readlink("/proc/self/fd/" + fd))
        except OSError:
            pass
    return found

def of_ours():
    # What is left of the package: its classes' objects, and its functions.
    gc.collect()
    found = []
    for value in gc.get_objects():
        kind = type(value)
        if kind.__module__.split(".")[0] == "probetui":
            found.append(kind.__name__)
        elif kind is type(of_ours) and \
                (value.__module__ or "").startswith("probetui"):
            found.append(value.__module__ + "." + value.__name__)
    return sorted(found)

def look():
    with open("/proc/self/status") as file:
        status = file.read()
    tasks = os.listdir("/proc/self/task")
    return {
        "threads": sorted(t.name for t in threading.enumerate()),
        "tasks": len(tasks), "masks": [state(status, name) for name in (
            "SigBlk", "SigCgt", "SigIgn", "SigPnd")],
        "descriptors": sorted(descriptors()),
        "modules": sorted(n for n in sys.modules
                          if n.split(".")[0] == "probetui"),
        "traced": repr([sys.gettrace(), sys.getprofile(), tools(), getattr(
            threading, "_trace_hook", None)]),
        "hooks": repr([sys.excepthook, threading.excepthook, sys.unraisablehook,
                       sys.displayhook, sys.breakpointhook, sys.meta_path,
                       sys.path_hooks, sys.path, gc.callbacks]),
        "streams": repr([sys.stdin, sys.stdout, sys.stderr]),
        "builtins": len(dir(builtins)), "names": sorted(
            n for n in vars(sys.modules["__main__"]) if n != "kept"),
        "interval": sys.getswitchinterval(),
        "warnings": len(warnings.filters),
        "files": sorted(glob.glob("/tmp/pdb-*/%d.*" % os.getpid())
                        + glob.glob(HERE + "/*")),
        "ours": of_ours()}

def told(before, after):
    # What has gone, and what has come.
    if type(before) is not list or len(before) == len(after):
        return [before, after]
    return [[one for one in before if one not in after],
            [one for one in after if one not in before]]

def settled():
    # A thread that has said all that it has to may not have ended yet.
    end = time.monotonic() + 10
    while True:
        if len(os.listdir("/proc/self/task")) == BEFORE["tasks"] or \
                time.monotonic() > end:
            after = look()
            return {name: told(BEFORE[name], after[name]) for name in after
                    if after[name] != BEFORE[name]}

HERE = os.path.dirname(os.path.abspath(sys.argv[0]))
# What the standard library loads for us stays loaded.
import ast, ctypes, email, importlib.util, ipaddress, socket, ssl, traceback
import select, shutil, struct, urllib.parse, weakref, hmac, code, codeop
import concurrent.futures, inspect, linecache, dis, tokenize, platform
while HERE in sys.path:
    sys.path.remove(HERE)
# The C library's first thread has it install a handler.
thread = threading.Thread(target=int)
thread.start()
while len(os.listdir("/proc/self/task")) > 1:
    time.sleep(0.001)
BEFORE = None
BEFORE = look()
"""
class UnlistenCase(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.place = InjectedPlace(cls.python.argv)

    @classmethod
    def tearDownClass(cls):
        cls.place.close()

    def start(self, begins):
        target = Target(self.place, begins, IPDB_DEBUG=None)
        self.addCleanup(target.kill)
        return target

    def nothing_is_left(self, target):
        self.assertEqual(target.ask("settled()"), {})

    def test_injected(self):
        """And again."""
        target = self.start(LOOK + "say(put_in())")
        for count in range(1, 3):
            self.assertEqual(len(target.first), 1)
            with target.client() as client:
                client.eval("import probetui; kept = 1")
                client.get("/modules")
                client.get("/backtrace")
                told = client.ask("POST", "/eject", {})
                self.assertEqual((told.status, told.value),
                                 (200, {"left": []}))
                self.assertEqual(told.headers["connection"], "close")
                self.assertTrue(client.is_closed())
            self.assertFalse(os.path.exists(target.path))
            target.run("del probetui")
            self.nothing_is_left(target)
            if count < 2:
                target.first = target.ask("put_in()")
        # It forks as ever.
        self.assertEqual(target.ask(
            "[os.fork() or os._exit(3), os.wait()[1]][1] >> 8"), 3)
        self.assertEqual(target.close(), (0, ""))

    def test_again_and_again(self):
        """What the first time leaves, the next ones find."""
        target = self.start(LOOK + """
import atexit
def measure():
    settled()
    with open("/proc/self/statm") as file:
        kilobytes = int(file.read().split()[1]) * (os.sysconf("SC_PAGESIZE")
                                                   // 1024)
    return [atexit._ncallbacks(), len(sys.modules), len(gc.get_objects()),
            kilobytes]
say(put_in())""")
        measured = []
        for count in range(50 if SOAK else 10):
            if count:
                target.first = target.ask("put_in()")
            with target.client() as client:
                self.assertEqual(client.post("/eject"), {"left": []})
            measured.append(target.ask("measure()"))
        # Memory goes up and down by a megabyte from one time to the next.
        some = len(measured) // 4
        before, after = (
            statistics.median(each[-1] for each in chosen)
            for chosen in (measured[some:2 * some], measured[-some:]))
        print("# KB in the second quarter, in the last: %d, %d" % (before, after))
        self.assertEqual(measured[-1][:2], measured[0][:2])
        self.assertLess(measured[-1][2], measured[1][2] + 100)
        self.assertLess(after, before + 2048)

    def test_injected_by_one_who_has_gone(self):
        """Nobody waits for it, and its folder was taken away: it does not
        listen."""
        target = self.start("""
import importlib.util, runpy
path = sys.path[0] + "/gone/start.py"
found = importlib.util.find_spec("probetui").submodule_search_locations[0]
script = runpy.run_path(found + "/injected.py", run_name="script")
script["work"].__globals__["HERE"] = sys.path[0] + "/gone"
script["work"](time.monotonic() + 60)
say("probetui" in sys.modules)
""")
        self.assertEqual(target.first, False)
        self.assertEqual(target.close(), (0, ""))

    def test_busy(self):
        """Others are connected, evaluate, or are slow."""
        target = self.start(LOOK + "say(put_in())")
        clients = [target.client() for _ in range(4)]
        self.addCleanup(lambda: [client.close() for client in clients])
        clients[0].send(clients[0].request("POST", "/eval", {
            "code": "begun = 1\nwhile True: pass"}))
        wait_for(lambda: clients[3].value("'begun' in globals()") == "True",
                 "the loop")
        clients[1].send(b"GET / HT")
        clients[2].get("/")
        self.assertEqual(clients[3].post("/eject"), {"left": []})
        for client in clients:
            self.assertTrue(client.is_closed())
        target.run("del begun")
        self.nothing_is_left(target)

    def test_debugging(self):
        """Threads that stand go on, and nothing is traced."""
        target = self.start(LOOK + """
def work(number):
    total = 0
    for step in range(number):
        total += step
    return total
def fail():
    raise ValueError("it was raised")
done = []
say(put_in())""")
        with Viewer(target) as viewer:
            path = target.place.inside + "/program.py"
            with open(target.place.path + "/program.py") as file:
                line = file.read().split("        total += step")[0].count(
                    "\n") + 1
            viewer.ask("setBreakpoints", source={"path": path}, breakpoints=[
                {"line": line, "condition": "step == 3"}])
            viewer.ask("catch", on=True)
            target.run("runner = threading.Thread(target=lambda: done.append("
                       "work(10))); runner.start()")
            stopped = viewer.event("stopped")
            self.assertEqual(stopped["reason"], "breakpoint")
            viewer.ask("next", threadId=stopped["threadId"])
            self.assertEqual(viewer.event("stopped")["reason"], "step")
            viewer.ask("setExceptionBreakpoints", filters=["raised"])
            self.assertEqual(viewer.run("done.append('here')")["result"],
                             "None")
            self.assertEqual(viewer.client.post("/eject"), {"left": []})
        target.run("runner.join(); del runner")
        self.assertEqual(target.ask("done"), ["here", 45])
        target.run("runner = threading.Thread(target=fail)")
        target.run("runner.start(); runner.join(); del runner")
        target.run("del done, work, fail")
        left = target.ask("settled()")
        if self.python.version < (3, 9):
            left.pop("ours", None)
        self.assertEqual(left, {})
        status, errors = target.close()
        self.assertEqual(status, 0)
        self.assertIn("ValueError: it was raised", errors)
        self.assertNotIn("probetui", errors)

    def test_waits_in_c(self):
        """What cannot be taken away is said."""
        target = self.start(LOOK + "lock = threading.Lock()\n"
                            "lock.acquire()\nsay(put_in())")
        with target.client() as client, target.client() as other:
            client.eval("from probetui import leaving; leaving.SECONDS = 0.1")
            client.send(client.request("POST", "/eval", {
                "code": "begun = 1; lock.acquire(); lock.release()"}))
            wait_for(lambda: other.value("'begun' in globals()") == "True",
                     "the code")
            told = other.post("/eject")["left"]
        self.assertEqual(len(told), 1)
        self.assertIn("1 of the agent's threads, which end when code that they "
                      "evaluate returns from C", told[0])
        self.assertFalse(os.path.exists(target.path))
        target.run("lock.release()")
        target.run("del begun, leaving, lock")
        left = target.ask("settled()")
        for name in ("modules", "ours"):
            left.pop(name)
        self.assertEqual(left, {})

    def test_of_the_program(self):
        """One that the program has asked for."""
        target = self.start(
            "import probetui\n" + LOOK + "probetui.listen()\n"
            "say([probetui.unlisten(), probetui.unlisten()])")
        self.assertEqual(target.first, [[], []])
        self.assertFalse(os.path.exists(target.path))
        # It can listen again, and its own modules are there.
        self.assertEqual(len(target.ask("probetui.listen()")), 1)
        with target.client() as client:
            # A client's code may do it, too.
            self.assertEqual(client.value("probetui.unlisten()"), "[]")
            self.assertTrue(client.is_closed())
        self.assertEqual(target.ask("'probetui.agent' in sys.modules"), True)
        wait_for(lambda: target.ask(
            "[t.name for t in threading.enumerate()]") == ["MainThread"],
            "the client's thread to end")
        self.assertEqual(target.close(), (0, ""))


class TestHooks(OneCase):
    def test_what_it_caught(self):
        """Again and again."""
        target = self.start("import probetui\nsay(probetui.listen(catch=True))")
        for _ in range(3):
            self.assertEqual(target.ask(
                "sys.excepthook is sys.__excepthook__"), False)
            self.assertEqual(target.ask("probetui.unlisten()"), [])
            self.assertEqual(target.ask(
                "[sys.excepthook is sys.__excepthook__, threading.excepthook "
                "is threading.__excepthook__]"
                if sys.version_info >= (3, 10) else
                "[sys.excepthook is sys.__excepthook__, True]"), [True, True])
            self.assertEqual(len(target.ask("probetui.listen(catch=True)")),
                             1)


    def test_a_part_that_fails(self):
        """The rest goes all the same, and it is said."""
        target = self.start("import probetui\nsay(probetui.listen(catch=True))")
        with target.client() as client:
            client.eval("from probetui import agent\n"
                        "agent._agent._debugger.endings.insert(0, "
                        "lambda: 1 / 0)")
            left = client.post("/eject")["left"]
        self.assertEqual(left, ["the debugger, which could not be removed: "
                                "ZeroDivisionError: division by zero"])
        self.assertFalse(os.path.exists(target.path))
        self.assertEqual(len(target.ask("probetui.listen()")), 1)


class FiltersCase(unittest.TestCase):
    def test_removed_while_a_thread_asks_it(self):
        """The thread does not leave out the filter behind it."""
        place = Place(self.python.argv)
        self.addCleanup(place.close)
        target = Target(place, """
import types, warnings
from probetui import quiet
removes = threading.Event()
def is_there():
    return any(entry in (slow._entry, slow._neutral)
               for entry in warnings.filters)
class Slow(quiet._Filter):
    def applies(self, text):
        remover.start()
        while is_there() and not removes.is_set():
            time.sleep(0.001)
        return False
def sleep(seconds):
    removes.set()
    time.sleep(seconds)
quiet.time = types.SimpleNamespace(sleep=sleep)
slow = Slow(UserWarning)
remover = threading.Thread(target=slow.remove)
warnings.simplefilter("error")
warnings.simplefilter("ignore", UserWarning)
slow.add()
warnings.warn("it is ignored", UserWarning)
remover.join()
say(is_there())
""", IPDB_DEBUG=None)
        self.addCleanup(target.kill)
        self.assertFalse(target.first)
        self.assertEqual(target.close(), (0, ""))


    def test_removed_while_a_thread_begins_to_ask_it(self):
        """Nor does it at the instant before it notes that it asks: then the
        filter \"error\" would be the next."""
        place = Place(self.python.argv)
        self.addCleanup(place.close)
        target = Target(place, """
import warnings
from probetui import quiet
sys.setswitchinterval(1e-6)
class Other(quiet._Filter):
    def applies(self, text):
        return False
warnings.filters[:] = []
warnings.simplefilter("error", UserWarning)
warnings.simplefilter("ignore", UserWarning)
other, has_ended, raised = Other(UserWarning), threading.Event(), []
def warn():
    while not has_ended.is_set():
        try:
            warnings.warn("it is ignored", UserWarning)
        except UserWarning as error:
            raised.append(str(error))
threads = [threading.Thread(target=warn) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(3000):
    other.add()
    other.remove()
has_ended.set()
for thread in threads:
    thread.join()
say([raised, [entry[0] for entry in warnings.filters]])
""", IPDB_DEBUG=None)
        self.addCleanup(target.kill)
        self.assertEqual(target.first, [[], ["ignore", "error"]])
        self.assertEqual(target.close(), (0, ""))


class TestRefused(OneCase):
    def test_read_only(self):
        target = self.start("import probetui\n"
                            "say(probetui.listen(read_only=True))")
        with target.client() as client:
            self.assertEqual(client.ask("POST", "/eject", {}).status, 403)
            self.assertEqual(client.ask("GET", "/eject").status, 405)
            self.assertNotIn("POST /eject", client.get("/")["can"])
        self.assertTrue(os.path.exists(target.path))

    def test_never_listened(self):
        target = self.start("import probetui\nsay(probetui.unlisten())")
        self.assertEqual(target.first, [])
        self.assertEqual(target.ask("'probetui.agent' in sys.modules"), False)


def load_tests(loader, tests, _):
    few_unless_soak()
    suite = unittest.TestSuite()
    for case in (TestHooks, TestRefused):
        suite.addTests(loader.loadTestsFromTestCase(case))
    suite.addTests(pythons.load_cases(loader, __name__, UnlistenCase,
                                       FiltersCase))
    return suite
