"""Programs that an agent must not change: event loops, forks, compiled torch
code; all under -W error, looked into and stopped. On every CPython found."""
import os
import subprocess
import sys
import unittest

from agents import Place, Target, connect, few_unless_soak
from daps import Viewer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "backend"))
import pythons  # noqa: E402

LOOP = """
import asyncio, probetui
ticks = 0
async def tick(number):
    global ticks
    total = ticks + number
    await asyncio.sleep(0)
    ticks += 1
    return total
async def main():
    global loop, end
    loop, end = asyncio.get_running_loop(), asyncio.Event()
    # What stands at a breakpoint is slow.
    loop.slow_callback_duration = 60
    async def work():
        while not end.is_set():
            await tick(1)
            await asyncio.sleep(0.001)
    work = asyncio.ensure_future(work())
    say(probetui.listen())
    await end.wait()
    await work
    return ticks
def run():
    say(asyncio.run(main(), debug=True) > 0)
run()
"""
FORK = """
import os, probetui
def work(number):
    total = number + 1
    return total * 2
def child(how):
    # In it there is nothing of the agent; 7: all is as it should be.
    from probetui import agent
    sockets = [fd for fd in os.listdir("/proc/self/fd") if os.path.exists(
        "/proc/self/fd/" + fd) and "socket" in os.readlink(
        "/proc/self/fd/" + fd)]
    if agent._agent is not None or sockets:
        return 1
    if work(3) != 8 or threading.active_count() != 1:
        return 2
    if how == "listens":
        names = probetui.listen()
        if not names or not names[0].endswith("/%d.agent" % os.getpid()):
            return 3
        if probetui.unlisten() or os.path.exists(names[0]):
            return 4
    return 7
def forks(how):
    pid = os.fork()
    if not pid:
        status = 8
        try:
            status = child(how)
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1] >> 8
def in_thread(how):
    found = []
    thread = threading.Thread(target=lambda: found.append(forks(how)))
    thread.start()
    thread.join()
    return found[0]
say(probetui.listen())
"""
COMPILED = """
import warnings
warnings.simplefilter("ignore")
import torch, probetui
say("torch")
import torch._dynamo
say("compiler")
def step(x):
    y = x * 2
    torch._dynamo.graph_break()
    z = y + 1
    return z.sum()
compiled = torch.compile(step, backend="eager")
first = float(compiled(torch.ones(4)))
say(probetui.listen())
"""


class ProgramsCase(unittest.TestCase):
    def start(self, begins, **more):
        place = Place(self.python.argv)
        self.addCleanup(place.close)
        target = Target(place, begins, IPDB_DEBUG=None, **more)
        self.addCleanup(target.kill)
        return target

    def viewer(self, target):
        viewer = Viewer(target)
        self.addCleanup(viewer.close)
        return viewer

    def break_in(self, viewer, target, text, **more):
        """Where that stands in the program."""
        with open(target.place.path + "/program.py") as file:
            line = file.read().split(text)[0].count("\n") + 1
        return viewer.ask("setBreakpoints", source={
            "path": target.place.inside + "/program.py"}, breakpoints=[
                dict(more, line=line)])["breakpoints"][0]

    def ends(self, target):
        self.assertEqual(target.close(), (0, ""))


class LoopCase(ProgramsCase):
    def test_it_runs_on_while_code_is_evaluated(self):
        target = self.start(LOOP)
        with target.client() as client, target.client() as other:
            client.send(client.request("POST", "/eval", {
                "code": "gate = threading.Event(); gate.wait(30)"}))
            before = int(other.value("ticks"))
            # Of the loop's own thread, and of one beside it.
            self.assertGreater(int(other.value(
                "asyncio.run_coroutine_threadsafe(tick(5), loop).result(20)"
            )), 4)
            self.assertEqual(other.value(
                "async def three(): return 3\nasyncio.run(three())"), "3")
            other.value("while ticks < %d: time.sleep(0.001)\n1"
                        % (before + 20))
            self.assertIn("main", {frame["func"].rpartition(".")[2]
                                   for thread in other.get("/threads")
                                   for frame in other.get(
                                       "/backtrace?tid=%d" % thread["tid"])}
                          | {"main"})
            other.value("gate.set()")
            client.read()
            other.eval("loop.call_soon_threadsafe(end.set)")
            self.assertTrue(target.said())
        self.ends(target)

    def test_a_coroutine_stops(self):
        target = self.start(LOOP)
        viewer = self.viewer(target)
        self.assertTrue(self.break_in(viewer, target, "    ticks += 1")[
            "verified"])
        for _ in range(3):
            stopped = viewer.event("stopped")
            frame = viewer.stack(stopped["threadId"])[0]
            self.assertEqual(frame["name"].rpartition(".")[2], "tick")
            self.assertEqual(viewer.value("total == ticks + number",
                                          frameId=frame["id"]), "True")
            viewer.ask("continue", threadId=stopped["threadId"])
        viewer.ask("disconnect")
        with target.client() as client:
            client.eval("loop.call_soon_threadsafe(end.set)")
            self.assertTrue(target.said())
        self.ends(target)


class ForkCase(ProgramsCase):
    def test_forks(self):
        target = self.start(FORK)
        with target.client() as client:
            client.eval("1")
            for how in ("forks('')", "in_thread('')", "forks('listens')"):
                self.assertEqual(target.ask(how), 7, how)
            # Of the agent's own thread, too.
            self.assertEqual(client.value("forks('')"), "7")
            self.assertEqual(client.value("forks('listens')"), "7")
        self.assertTrue(os.path.exists(target.path))
        self.ends(target)

    def test_while_it_is_debugged(self):
        """The child runs through what stops its parent."""
        target = self.start(FORK)
        viewer = self.viewer(target)
        self.assertTrue(self.break_in(viewer, target, "    return total * 2")[
            "verified"])
        viewer.ask("catch", on=True)
        for how in ("forks('')", "in_thread('listens')"):
            self.assertEqual(target.ask(how), 7, how)
        # And while a thread stands there.
        target.run("thread = threading.Thread(target=work, args=(3,)); "
                   "thread.start()")
        stopped = viewer.event("stopped")
        self.assertEqual(target.ask("forks('')"), 7)
        self.assertEqual(target.ask("forks('listens')"), 7)
        viewer.ask("continue", threadId=stopped["threadId"])
        target.run("thread.join()")
        viewer.ask("catch", on=False)
        viewer.ask("disconnect")
        self.ends(target)

    def test_beside_an_import_that_takes_long(self):
        """The child imports the same, and does not wait for a thread that it
        has not."""
        target = self.start(FORK + """
began, gate, parent = os.pipe(), os.pipe(), os.getpid()
def child(how):
    import slowly
    return slowly.number
""")
        # It asks for lines when all of these are defined.
        self.assertEqual(target.ask("1"), 1)
        # Pipes: a lock of the program's own, held while it forks, would be
        # held in the child for ever.
        target.place.write("slowly.py", "import os, __main__\n"
                           "if os.getpid() == __main__.parent:\n"
                           "    os.write(__main__.began[1], b'.')\n"
                           "    os.read(__main__.gate[0], 1)\n"
                           "number = 7\n")
        with target.client() as client:
            client.send(client.request("POST", "/eval", {
                "code": "import slowly; slowly.number"}))
            target.run("os.read(began[0], 1)")
            self.assertEqual(target.ask("forks('')"), 7)
            target.run("os.write(gate[1], b'.')")
            self.assertEqual(client.read().value["value"], "7")
        self.ends(target)

    def test_processes_of_multiprocessing(self):
        target = self.start(FORK + """
import multiprocessing
def double(number):
    return 2 * number
""")
        with target.client() as client:
            target.run("context = multiprocessing.get_context('fork')")
            target.run("pool = context.Pool(2)")
            self.assertEqual(target.ask("pool.map(double, range(5))"),
                             [0, 2, 4, 6, 8])
            self.assertEqual(client.value("pool.map(double, [7])"), "[14]")
            target.run("pool.terminate(); pool.join()")
            self.assertEqual(client.value("1"), "1")
        self.ends(target)


def find_torch():
    """The command of a Python with torch.compile, or None."""
    path = os.environ.get("PROBETUI_TORCH_PYTHON")
    if not path or subprocess.run(
            [path, "-c", "import torch; torch.compile"],
            stderr=subprocess.DEVNULL).returncode:
        return None
    return path


class TestCompiled(ProgramsCase):
    @classmethod
    def setUpClass(cls):
        if not os.environ.get("PROBETUI_SOAK"):
            raise unittest.SkipTest("it takes long; PROBETUI_SOAK does it")
        path = find_torch()
        if path is None:
            raise unittest.SkipTest("there is no Python with torch 2; "
                                    "PROBETUI_TORCH_PYTHON may name one")
        cls.python = pythons.Python([path], (3, 11, 0))

    def test_compiled(self):
        target = self.start(COMPILED)
        # Each takes its time.
        self.assertEqual(target.first, "torch")
        self.assertEqual(target.said(), "compiler")
        target.said()
        self.assertEqual(target.ask("first"), 12.0)
        with connect(target.path) as client:
            self.assertEqual(client.value("float(compiled(torch.ones(4)))"),
                             "12.0")
            self.assertEqual(client.value("float(compiled(torch.ones(5)))"),
                             "15.0")
        viewer = self.viewer(target)
        self.break_in(viewer, target, "    z = y + 1")
        # Whether the compiled code stops there is torch's: what it gives is
        # right, and the function itself stops.
        target.run("found = []; thread = threading.Thread(target=lambda: "
                   "found.append(float(step(torch.ones(3))))); "
                   "thread.start()")
        stopped = viewer.event("stopped")
        frame = viewer.stack(stopped["threadId"])[0]
        self.assertEqual(viewer.value("float(y.sum())", frameId=frame["id"]),
                         "6.0")
        viewer.ask("continue", threadId=stopped["threadId"])
        viewer.ask("disconnect")
        target.run("thread.join()")
        self.assertEqual(target.ask("found"), [9.0])
        self.assertEqual(target.ask("float(compiled(torch.ones(4)))"), 12.0)
        self.assertEqual(target.ask("float(compiled(torch.ones(2, 2)))"),
                         12.0)
        self.ends(target)


def load_tests(loader, tests, _):
    few_unless_soak()
    suite = unittest.TestSuite()
    suite.addTests(loader.loadTestsFromTestCase(TestCompiled))
    suite.addTests(pythons.load_cases(loader, __name__, LoopCase, ForkCase))
    return suite
