"""Programs that do everything at once, and clients that do with them what
they like: the program must not notice.

With PROBETUI_SOAK alone, which takes that many seconds a Python; PROBETUI_SEED
repeats a run, PROBETUI_SOAK_MALLOC is its PYTHONMALLOC ("debug" else). The
memory of the program is printed at each quarter of the run.
"""
import contextlib
import json
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time
import unittest

from agents import PLAIN, Place, connect, wait_for
from daps import Failed, Viewer
from sessions import HERE

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "backend"))
import pythons  # noqa: E402

SEED = int(os.environ.get("PROBETUI_SEED", "1"))
SECONDS = float(os.environ.get("PROBETUI_SOAK", "0"))
MALLOC = os.environ.get("PROBETUI_SOAK_MALLOC", "debug")
CLIENTS = 3
# On a machine that does a lot else.
END_SECONDS = 300
# The memory of a program is less steady: what is freed is not given back at
# once, and depends on how many threads, objects and copies of frames' names
# there happen to be at a time.
NOISE_KIB = 6 << 10
NOISE_SHARE = 0.05
# Of a shorter run nothing can be said: caches are still filled.
STEADY_SECONDS = 120
# Some of what a session does, one after the other.
ACTS = 30
EVALUATIONS = (
    "print('one')\n1", "print('two', file=__import__('sys').stderr)",
    "1 / 0", "sum(range(1000))", "[n for n in range(9)]", "1 +",
    "import gc\ngc.isenabled()", "list(globals())[:3]",
    "__import__('threading').active_count()", "input()",
    "raise SystemExit(3)", "raise KeyboardInterrupt")
SLOW = ("while True: pass", "import time\ntime.sleep(0.2)",
        "for n in range(10**9): n",
        "import threading\nthreading.Event().wait(0.2)")
PATHS = ("/threads", "/stacks", "/backtrace", "/objects?type=Node",
         "/objects?type=list", "/objects?type=dict&limit=5",
         "/objects?type=generator", "/objects?type=Event", "/modules",
         "/evals", "/watchdogs", "/")
CONDITIONS = (None, None, "count % 7 == 0", "number > 5", "nobody", "False",
              "sum(n for n in range(3)) == 3 and total")
# The program recurses as deep as it can, and there it may stop.
NEAR_ITS_END = re.compile(r"probetui: a (step|breakpoint) failed, and the "
                          r"program continues: RecursionError.*\n")
FUNCTIONS = ("fall", "making", "looping_once", "Node.__init__", "on_signal",
             "add", "add_once", "child", "squares", "numbers", "nobody")


def told_once(text):
    """A line that follows itself is one."""
    lines = text.splitlines(True)
    return "".join(line for before, line in zip([""] + lines, lines)
                   if line != before)


class User(threading.Thread):
    """A client, by a seed."""

    def __init__(self, soak, seed):
        super().__init__(daemon=True)
        self.random = random.Random(seed)
        self.soak = soak
        self.counts = {}
        self.unexpected = []

    def run(self):
        while not self.soak.is_over:
            what = self.random.choice((self.http, self.dap, self.dap,
                                       self.junk))
            try:
                what()
                name = what.__name__
            except (OSError, EOFError, AssertionError, Failed) as error:
                # The agent leaves at times, and threads go on.
                name = "%s: %s" % (what.__name__, type(error).__name__)
                if re.search(r"failed: \w+|Traceback", str(error)) or \
                        " 500 " in str(error)[:5]:
                    self.unexpected.append(str(error))
                self.soak.wait(0.01)
            self.counts[name] = self.counts.get(name, 0) + 1

    def client(self):
        return connect(self.soak.path)

    def ask(self, client, *request):
        answer = client.ask(*request)
        if answer.status == 500:
            self.unexpected.append(repr(answer))
        return answer

    def http(self):
        with self.client() as client:
            for _ in range(self.random.randrange(1, 10)):
                kind = self.random.random()
                if kind < 0.5:
                    self.ask(client, "POST", "/eval", {
                        "code": self.random.choice(EVALUATIONS)})
                elif kind < 0.65:
                    self.ask(client, "POST", "/eval", {
                        "code": self.random.choice(SLOW),
                        "timeout": self.random.choice((0.001, 0.05, 0.3))})
                else:
                    self.ask(client, "GET", self.random.choice(PATHS))

    def junk(self):
        """Connections that break in the middle."""
        client = self.client()
        data = client.request("POST", "/eval", {"code": self.random.choice(
            EVALUATIONS + SLOW), "timeout": 0.1})
        client.send(data[:self.random.randrange(len(data) + 1)])
        client.close()

    def dap(self):
        self.file = self.soak.program
        with Viewer(self) as viewer:
            self.viewer = viewer
            if self.random.random() < 0.3:
                # Not as long as another one waits for its answer.
                self.act("setThreads", mode=self.random.choice(
                    ("one", "all")))
            for _ in range(self.random.randrange(1, ACTS)):
                self.random.choice((
                    self.breakpoints, self.functions, self.exceptions,
                    self.pause, self.look, self.look, self.evaluate,
                    self.nan, self.tensors))()
                self.go_on()
                if self.soak.is_over:
                    break
            if self.random.random() < 0.7:
                self.act("disconnect")

    def act(self, command, **arguments):
        """None: it is refused, as it may be."""
        try:
            return self.viewer.ask(command, **arguments)
        except Failed as error:
            if re.match(r"\S+ failed: ", str(error)):
                self.unexpected.append("%s: %s" % (command, error))
            return None

    def breakpoints(self):
        own = []
        for line in self.random.sample(self.soak.lines,
                                       self.random.randrange(4)):
            one = {"line": line}
            condition = self.random.choice(CONDITIONS)
            if condition:
                one["condition"] = condition
            if self.random.random() < 0.5:
                one["logMessage"] = "{count} {text} {1 + 1}"
            elif self.random.random() < 0.3:
                one["hitCondition"] = "3"
            own.append(one)
        self.act("setBreakpoints", source={"path": self.file},
                 breakpoints=own)

    def functions(self):
        self.act("setFunctionBreakpoints", breakpoints=[
            {"name": name} for name in self.random.sample(
                FUNCTIONS, self.random.randrange(3))])

    def exceptions(self):
        self.act("setExceptionBreakpoints", filters=self.random.choice(
            ([], ["raised"], ["uncaught"], ["raised", "uncaught"])),
            types=self.random.choice(([], ["ValueError"], ["KeyError"])))

    def threads(self):
        told = self.act("threads")
        return [each["id"] for each in told["threads"]] if told else [0]

    def pause(self):
        self.act("pause", threadId=self.random.choice(self.threads() + [0]))

    def nan(self):
        told = self.act("dataBreakpointInfo", name=self.random.choice(
            ("total", "count", "number")), nan=True)
        if told and told["dataId"]:
            self.act("setDataBreakpoints", breakpoints=[
                {"dataId": told["dataId"]}])
        if self.random.random() < 0.5:
            self.act("setDataBreakpoints", breakpoints=[])

    def tensors(self):
        for name in ("array", "tensor"):
            self.act("probetui/tensor", expression=name, search=True,
                     statistics="whole", timeout=2)
        self.act("probetui/parameters", expression="model", timeout=2)

    def evaluate(self):
        self.act("evaluate", expression=self.random.choice(
            EVALUATIONS), context=self.random.choice(("repl", "watch")),
            timeout=1)

    def look(self, thread_id=None):
        """What a viewer shows of a thread, standing or not."""
        thread_id = thread_id or self.random.choice(self.threads())
        told = self.act("stackTrace", threadId=thread_id)
        frames = told["stackFrames"] if told else []
        for frame in frames[:2]:
            scopes = self.act("scopes", frameId=frame["id"])
            for scope in scopes["scopes"] if scopes else ():
                self.open(scope["variablesReference"])
        return frames

    def open(self, reference):
        told = self.act("variables", variablesReference=reference, count=30)
        for child in told["variables"][:3] if told else ():
            if child["variablesReference"]:
                self.act("variables",
                         variablesReference=child["variablesReference"],
                         count=10)

    def go_on(self):
        """Nobody is left to stand."""
        for _ in range(self.random.randrange(1, 4)):
            told = self.act("state")
            for stop in told["stops"] if told else ():
                self.meet(stop)

    def meet(self, stop):
        thread_id = stop["threadId"]
        frames = self.look(thread_id)
        if frames and self.random.random() < 0.5:
            frame = frames[0]["id"]
            self.act("evaluate", expression=self.random.choice(
                ("count", "locals()", "mine = 5", "print('in it')",
                 "[count for n in (1, 2)]", "while True: pass", "node")),
                frameId=frame, timeout=0.3,
                context=self.random.choice(("repl", "watch")))
            self.watch(frame)
        if stop.get("text"):
            self.act("exceptionInfo", threadId=thread_id)
        self.act(self.random.choice((
            "continue", "continue", "next", "stepIn", "stepOut", "until")),
            threadId=thread_id)

    def watch(self, frame):
        told = self.act("dataBreakpointInfo", name=self.random.choice(
            ("count", "total", "number", "self.other", "node")),
            frameId=frame)
        if told and told["dataId"] and self.random.random() < 0.5:
            self.act("setDataBreakpoints", breakpoints=[
                {"dataId": told["dataId"]}])


class Soak:
    """The program, and those who look into it."""

    def __init__(self, place, seed, modules, environment):
        self.random = random.Random(seed)
        self.is_over = False
        with open(os.path.join(HERE, "soak_target.py")) as file:
            text = file.read()
        self.program = place.write("soak_target.py", text)
        self.lines = [number for number, line in enumerate(
            text.splitlines(), 1) if "  # at " in line]
        self.printed = []
        # Kibibytes that are resident, by quarter of the run.
        self.resident = [[], [], [], []]
        self.errors = place.path + "/errors"
        with open(self.errors, "w") as errors:
            self.process = subprocess.Popen(
                place.argv + ["-X", "dev", "-W", "error", "-X",
                              "faulthandler", self.program] + modules,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                env=place.environment(**dict(PLAIN, **environment)),
                universal_newlines=True)
        line = self.process.stdout.readline()
        if not line.startswith("READY "):
            self.process.kill()
            self.process.communicate()
            raise EOFError(self.said())
        self.path = place.root + line.split()[1]
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def said(self):
        with open(self.errors) as file:
            return file.read()

    def read(self):
        self.printed += self.process.stdout

    def wait(self, seconds):
        """Or until the program has ended: then so have the clients."""
        self.reader.join(seconds)
        self.is_over = self.is_over or not self.reader.is_alive()

    def tell(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            self.is_over = True

    def measure(self, share):
        """Its resident memory, at so much of the run."""
        with open("/proc/%d/status" % self.process.pid) as file:
            found = re.search(r"^VmRSS:\s*(\d+) kB", file.read(), re.M)
        if found:
            self.resident[min(int(share * 4), 3)].append(int(found.group(1)))

    def soak(self, seconds, users):
        began = time.monotonic()
        for user in users:
            user.start()
        while time.monotonic() < began + seconds and not self.is_over:
            self.wait(self.random.random() * 4)
            self.measure((time.monotonic() - began) / seconds)
            if self.random.random() < 0.3:
                self.tell("again")
        self.is_over = True
        for user in users:
            user.join(END_SECONDS)
        self.tell("end")
        self.reader.join(END_SECONDS)
        if self.reader.is_alive():
            # Where it stands is then on its standard error.
            self.process.send_signal(6)
        self.process.wait()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.reader.join()
        self.process.stdout.close()


class HarmCase(unittest.TestCase):
    @unittest.skipUnless(SECONDS, "PROBETUI_SOAK says for how many seconds")
    def test_harm(self):
        place = Place(self.python.argv)
        self.addCleanup(place.close)
        modules = [name for name in ("torch", "numpy") if subprocess.run(
            place.argv + ["-c", "import " + name],
            stderr=subprocess.DEVNULL).returncode == 0]
        environment = {"PYTHONMALLOC": MALLOC}
        if modules:
            environment["OMP_NUM_THREADS"] = "1"
        soak = Soak(place, SEED, modules, environment)
        users = [User(soak, SEED * 100 + number)
                 for number in range(CLIENTS)]
        soak.soak(SECONDS, users)
        self.check(soak, users)

    def check(self, soak, users):
        context = "seed %d, %s, %s" % (SEED, told_once(soak.said())[-9000:],
                                       [user.counts for user in users])
        self.assertEqual(soak.process.returncode, 0, context)
        self.assertTrue(soak.printed and soak.printed[-1].startswith("{"),
                        (soak.printed[-3:], context))
        told = json.loads(soak.printed.pop())
        self.assertEqual(told["problems"], [], context)
        # What a client prints is the program's where that puts streams of
        # its own in the place of ours.
        self.assertEqual([line.strip() for line in soak.printed
                          if line.strip().isdigit()],
                         [str(number) for number in range(told["printed"])])
        self.assertEqual(NEAR_ITS_END.sub("", soak.said()), "", context)
        for user in users:
            self.assertEqual(user.unexpected, [], context)
        self.check_memory(soak)
        if os.environ.get("PROBETUI_SOAK_TELLS"):
            print("#", told["rounds"], "mixed", told["mixed"],
                  [user.counts for user in users])

    def check_memory(self, soak):
        """The last quarter of the run has no more than the one before."""
        middle = [statistics.median(each) if each else None
                  for each in soak.resident]
        ends = [each[-1] if each else None for each in soak.resident]
        print("# %s, %s: resident KiB at each quarter %s, medians %s" % (
            self.python, MALLOC, ends, middle))
        if SECONDS >= STEADY_SECONDS:
            self.assertLessEqual(
                middle[3], middle[2] * (1 + NOISE_SHARE) + NOISE_KIB, ends)


def load_tests(loader, tests, pattern):
    return pythons.load_cases(loader, __name__, HarmCase)
