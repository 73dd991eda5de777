"""The agent inside the process, on every CPython found."""
import json
import os
import sys
import unittest

from agents import LIMIT, RANK_7, OneCase, Place, Target, connect, wait_for
from daps import Viewer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "backend"))
import pythons  # noqa: E402

# The program's sockets in a folder of its own.
FOLDER = """
import os, probetui
from probetui import files
folder = sys.argv[0].replace('program.py', 'folder')
files.default_folder = lambda: folder
files.secure(folder)
"""
# Values, and those of them that are told otherwise than by repr().
PRINTED = """
import array, collections, dataclasses, enum, functools, types, typing
from probetui import representation
class L(list): pass
class T(tuple): pass
class D(dict): pass
class S(set): pass
class F(frozenset): pass
class Text(str): pass
class Bytes(bytearray): pass
class Number(int): pass
class Error(Exception): pass
class Mine(list):
    def __repr__(self): return "mine"
class Default(collections.defaultdict): pass
class Ordered(collections.OrderedDict): pass
class Space(types.SimpleNamespace): pass
class Color(enum.Enum):
    RED = 1
class Level(enum.IntEnum):
    LOW = 1
Row = collections.namedtuple("Row", "x y")
class Derived(Row): pass
class Typed(typing.NamedTuple):
    one: int = 1
@dataclasses.dataclass
class Record:
    a: int
    b: list
    hidden: int = dataclasses.field(default=3, repr=False)
    shared: typing.ClassVar[int] = 5
class Plain:
    def method(self): pass
itself, key = [1], {}
itself.append(itself)
key[1] = (key,)
items = {1: "a", "b": [2]}
values = [
    0, -5, 10 ** 300, True, None, 1.5, 2j, "a'b", "\\ud800\\n", b"x\\0",
    bytearray(b"q"), Bytes(b"z"), Text("x"), Number(5), [], [1, [2]], (), (1,),
    (1, 2), {}, items, set(), {1}, frozenset(), frozenset({1}), L([1]), T((1,)),
    D(items), S(), S({1}), F(), F({1}), Mine([1]), itself, key,
    collections.deque([1, 2]), collections.deque([], 3),
    collections.OrderedDict(), collections.OrderedDict(items), Ordered(items),
    collections.defaultdict(list, items), Default(int),
    collections.Counter("abca"), collections.Counter(),
    collections.UserDict(items), collections.UserList([1]),
    collections.UserString("s"), collections.ChainMap(items, {}),
    items.keys(), items.values(), items.items(), Ordered(items).keys(),
    types.MappingProxyType(items), types.SimpleNamespace(a=1, b="x"),
    Space(a=1), ValueError(), ValueError(1), ValueError("a", 2), Error("q"),
    KeyError("k"), OSError(2, "No"), range(3), range(1, 5, 2), slice(1, None),
    Plain().method, functools.partial(print, 1, [2], sep=3),
    array.array("d", [1, 2]), array.array("i"), Row(1, "a"), Derived(1, [2]),
    Typed(), Record(1, [2, 3]), Color.RED, Level.LOW, int, len, array, Plain,
    Plain(), ..., NotImplemented]
def different():
    return [value for value in values
            if representation.of(value, 10000) != repr(value)]
"""
EVALUATIONS = 10000
KEPT = 500
SECONDS = 10


class ListenCase(unittest.TestCase):
    """One long-lived process, and a client of it."""

    @classmethod
    def setUpClass(cls):
        cls.place = Place(cls.python.argv)
        cls.target = Target(cls.place, **RANK_7)

    @classmethod
    def tearDownClass(cls):
        status, errors = cls.target.close()
        is_there = os.path.exists(cls.target.path)
        cls.place.close()
        assert (status, errors, is_there) == (0, "", False), errors

    def setUp(self):
        self.client = self.target.client()
        self.addCleanup(self.client.close)

    def test_index(self):
        told = self.client.get("/")
        self.assertEqual(
            [told[name] for name in ("name", "pid", "rank", "world_size",
                                     "python", "read_only")],
            ["probetui", self.target.process.pid, 7, 8, self.python.name,
             False])
        self.assertIn("POST /eval", told["can"])
        self.assertEqual(self.target.first, [
            self.target.path[len(self.place.root):]])

    def test_threads(self):
        self.target.run(
            "threading.Thread(target=lambda event=threading.Event(): "
            "(say(threading.get_native_id()), event.wait()), name='waiter', "
            "daemon=True).start()")
        tid = self.target.said()
        told = self.client.get("/threads")
        self.assertEqual([thread["name"] for thread in told],
                         ["MainThread", "waiter"])
        self.assertEqual([thread["is_main"] for thread in told],
                         [True, False])
        self.assertEqual(told[0]["tid"], self.target.process.pid)
        self.assertEqual((told[1]["tid"], told[1]["daemon"]), (tid, True))
        stack = self.client.get("/backtrace?tid=%d" % tid)
        functions = [frame["func"].rpartition(".")[2] for frame in stack]
        self.assertEqual(functions[-1], "_bootstrap")
        self.assertIn("<lambda>", functions)

    def test_backtrace(self):
        wait_for(lambda: self.client.get("/threads")[0]["func"] ==
                 "level_two", "the main thread to wait for a line")
        stack = self.client.get("/backtrace")
        self.assertEqual([frame["func"] for frame in stack],
                         ["level_two", "level_one", "<module>"])
        self.assertEqual([frame["depth"] for frame in stack], [0, 1, 2])
        self.assertEqual({frame["frame_type"] for frame in stack},
                         {"python"})
        self.assertEqual(stack[0]["file"],
                         self.place.inside + "/program.py")
        self.assertEqual(stack[0]["locals"]["count"],
                         {"type": "int", "value": "2"})
        self.assertEqual(stack[0]["locals"]["text"],
                         {"type": "str", "value": "'\\udc80'"})
        self.assertEqual(stack[0]["locals"]["names"]["value"],
                         "['a', nan, 18446744073709551615]")
        self.assertEqual(self.client.ask("GET", "/backtrace?tid=1").status,
                         404)

    def test_deep(self):
        self.client.value("def deep(n, found):\n"
                          "    if n:\n        return deep(n - 1, found)\n"
                          "    found.set(); go.wait()\n"
                          "go, found = threading.Event(), threading.Event()\n"
                          "sys.setrecursionlimit(5000)\n"
                          "t = threading.Thread(target=deep, "
                          "args=(600, found), daemon=True)\n"
                          "t.start(); found.wait(); t.native_id")
        stack = self.client.get("/backtrace?tid="
                                + self.client.value("t.native_id"))
        self.assertEqual(len(stack), 257)
        self.assertEqual(stack[256]["frame_type"], "left_out")
        self.assertGreater(stack[256]["count"], 340)
        self.client.value("go.set(); t.join()")

    def test_eval(self):
        self.assertEqual(self.client.eval("6 * 7"), {
            "value": "42", "type": "int", "output": "", "error": None})
        self.assertEqual(self.client.eval("kept = [1]; kept.append(2)\nkept"),
                         {"value": "[1, 2]", "type": "list", "output": "",
                          "error": None})
        # In the program's own names.
        self.assertEqual(self.target.ask("kept"), [1, 2])
        self.assertEqual(self.client.eval("kept.clear()")["type"],
                         "NoneType")
        self.assertEqual(self.client.eval("kept = 1"), {
            "value": None, "type": None, "output": "", "error": None})

    def test_errors(self):
        told = self.client.eval("print('before')\nint('x')")
        self.assertEqual((told["value"], told["output"]), (None, "before\n"))
        self.assertEqual(told["error"]["type"], "ValueError")
        self.assertIn("invalid literal", told["error"]["message"])
        self.assertIn('File "<eval>", line 2', told["error"]["traceback"])
        self.assertNotIn("evaluation.py", told["error"]["traceback"])
        for code, kind in (("1 +", "SyntaxError"), ("exit(3)", "SystemExit"),
                           ("raise KeyboardInterrupt", "KeyboardInterrupt"),
                           ("\0", ("SyntaxError", "ValueError"))):
            self.assertIn(self.client.eval(code)["error"]["type"], kind)

    def test_representation(self):
        """What is not long is told as repr() would."""
        self.place.write("printed.py", PRINTED)
        self.assertEqual(self.client.value(
            "import printed; printed.different()"), "[]")

    def test_long_representation(self):
        """One call of repr() would keep the program from running, and could
        not be interrupted: for good, of what is nested into itself twice."""
        self.client.eval(
            "import collections\n"
            "nested = []\n"
            "for _ in range(60): nested = [nested, nested]\n"
            "Row = collections.namedtuple('Row', 'part')\n"
            "class Derived(list): pass\n"
            "class Mine:\n"
            "    def __repr__(self): return 'x' * 10 ** 6\n")
        for code in ("nested", "{1: nested}", "(nested, 1)", "Row(nested)",
                     "Derived(nested)", "collections.deque(nested)",
                     "ValueError(nested)", "Mine()", "[Mine(), Mine()]",
                     "'x' * 10 ** 6", "[b'x' * 10 ** 6] * 9"):
            with self.subTest(code=code):
                value = self.client.value(code, timeout=LIMIT)
                self.assertLess(len(value), 263000)
                self.assertTrue(value.endswith("left out"), value[-60:])
        for code, end in (
                ("[0] * 10 ** 6", " 0, ... 999000 more]"),
                ("set(range(2000))", " 999, ... 1000 more}"),
                ("dict.fromkeys(range(2000))", " 999: None, ... 1000 more}"),
                ("1 << 10 ** 6", "<int of 1000001 bits>"),
                ("[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]",
                 "[[...]]" + "]" * 19)):
            self.assertTrue(self.client.value(code).endswith(end), code)

    def test_a_long_representation_takes_too_long(self):
        self.client.eval("nested = []\n"
                         "for _ in range(60): nested = [nested, nested]\n")
        told = self.client.eval("nested", timeout=1e-9)
        self.assertIn("TimeIsUp", told["error"]["type"])

    def test_long_errors(self):
        self.client.eval("nested = []\n"
                         "for _ in range(60): nested = [nested, nested]\n")
        for code, kind in (("raise ValueError(nested)", "ValueError"),
                           ("raise KeyError(nested)", "KeyError"),
                           ("assert False, nested", "AssertionError"),
                           ("raise ValueError(1, nested)", "ValueError")):
            error = self.client.eval(code)["error"]
            self.assertEqual(error["type"], kind)
            self.assertLess(len(error["message"]), 20000)
            self.assertIn("[[[[", error["message"])
            self.assertIn("\n%s: " % kind, error["traceback"])
        told = self.client.eval("try: {}[1, 2]\n"
                                "except KeyError as error:\n"
                                "    raise ValueError([1]) from error")
        self.assertEqual((told["error"]["type"], told["error"]["message"]),
                         ("ValueError", "[1]"))
        self.assertIn("KeyError: (1, 2)\n\nThe above exception was the "
                      "direct cause", told["error"]["traceback"])

    def test_input(self):
        """The program's own is left alone."""
        self.assertEqual(self.client.eval("input('? ')")["error"]["type"],
                         "EOFError")
        self.assertEqual(self.client.value("sys.stdin.read()"), "''")
        self.assertEqual(self.client.value(
            "list(sys.stdin), sys.stdin.close()"), "([], None)")
        self.assertFalse(self.target.ask("sys.stdin.closed"))

    def test_output(self):
        """That of the thread alone; others print where they always did."""
        self.target.run("printer = threading.Event()")
        told = self.client.eval(
            "t = threading.Thread(target=lambda: print('\"other\"', "
            "flush=True))\n"
            "t.start(); t.join()\n"
            "print('mine'); print('errors', file=sys.stderr)\n"
            "print('x' * 300000)")
        self.assertTrue(told["output"].startswith("mine\nerrors\nxxx"))
        self.assertTrue(told["output"].endswith(
            "... 37869 characters left out"), told["output"][-60:])
        self.assertEqual(self.target.said(), "other")
        self.assertTrue(self.target.ask("sys.stdout is sys.__stdout__ and "
                                        "sys.stderr is sys.__stderr__"))

    def test_one_who_prints_as_it_ends(self):
        """print() has no reference to sys.stdout (CPython issue 130163)."""
        self.client.eval(
            "import weakref\n"
            "began, done = threading.Event(), threading.Event()\n"
            "class Slow:\n"
            "    def __str__(self):\n"
            "        began.set(); done.wait(20); return '\"slow\"'")
        self.client.eval(
            "threading.Thread(target=lambda: print(Slow(), flush=True)"
            ").start()\n"
            "began.wait(20); stream = weakref.ref(sys.stdout)")
        self.assertTrue(self.target.ask("sys.stdout is sys.__stdout__"))
        self.assertTrue(self.target.ask("stream() is not None"))
        self.target.run("done.set()")
        self.assertEqual(self.target.said(), "slow")
        self.assertEqual(self.client.value("stream() is sys.stdout"), "True")

    def test_timeout(self):
        told = self.client.eval("while True: pass", timeout=0.05)
        self.assertEqual(told["error"]["message"],
                         "the evaluation took longer than 0.05 s")
        # It waits in C, where an exception does not come to it.
        self.client.value("from probetui import evaluation\n"
                          "evaluation.GRACE_SECONDS = 0.05; 1")
        self.client.value("lock = threading.Lock(); lock.acquire()")
        with self.target.client() as other:
            answer = other.ask("POST", "/eval", {
                "code": "lock.acquire(); lock.release()", "timeout": 0.05})
            self.assertEqual(answer.status, 504)
            self.assertTrue(other.is_closed())
        self.assertEqual(self.client.value("lock.release(); 1"), "1")

    def test_json(self):
        """What JSON has not, and what its readers disagree on."""
        told = self.client.eval({"$": "text:'\\u20ac'"})
        self.assertEqual(told["value"], "'\u20ac'")
        told = self.client.eval("print('\\udc80', end='')")
        self.assertEqual(told["output"], {"$": "text:\\udc80"})
        for text in ("float('nan')", "float('-inf')", "2 ** 64 - 1",
                     "10 ** 60", "{'$': 1}"):
            self.assertEqual(self.client.value(text), repr(eval(text)))
        round_trip = ("import sys; sys.path.insert(0, %r)\n"
                      "from probetui import wire\n"
                      "values = [float('inf'), -float('inf'), 2 ** 64 - 1,"
                      " -10 ** 60, 2 ** 53, '\\udc80\\n\\u20ac', 1.5, None, "
                      "True, {'a': '\\ud83d'}]\n"
                      "wire.decode(wire.encode(values)) == values and "
                      "wire.encode(float('nan'))" % self.place.inside)
        self.assertEqual(self.client.value(round_trip), repr(b'{"$":"nan"}'))

    def test_quiet_values(self):
        """No code of the program runs where locals are told."""
        self.client.value(
            "class Loud(type):\n"
            "    __module__ = property(lambda self: ran.append('m'))\n"
            "class Thing(metaclass=Loud):\n"
            "    def __repr__(self): ran.append('r')\n"
            "    __class__ = property(lambda self: ran.append('c'))\n"
            "    shape = property(lambda self: ran.append('s'))\n"
            "class Many(list):\n"
            "    def __iter__(self): ran.append('i'); return iter(())\n"
            "    __len__ = lambda self: ran.append('l') or 0\n"
            "ran = []\n"
            "def quiet(event, one=Thing(), two=[Thing()], three=Many(), "
            "four=10 ** 9999, five='x' * 999, six=Thing):\n"
            "    go.wait()\n"
            "go = threading.Event()\n"
            "t = threading.Thread(target=quiet, args=(0,), daemon=True)\n"
            "t.start()")
        tid = self.client.value("t.native_id")

        def found():
            return [frame["locals"] for frame in self.client.get(
                "/backtrace?tid=" + tid) if frame["func"] == "quiet"]

        names = wait_for(found, "the thread")[0]
        self.assertRegex(names["one"]["value"],
                         "^<__main__.Thing at 0x[0-9a-f]+>$")
        self.assertEqual(names["three"]["type"], "__main__.Many")
        self.assertEqual(names["four"]["value"], "<int of 33216 bits>")
        self.assertTrue(names["five"]["value"].endswith("x'... 799 more"))
        self.assertEqual(self.client.value("go.set(); t.join(); ran"), "[]")

    def test_fork(self):
        """A fork has no agent, and leaves its parent's alone."""
        self.target.run(
            "import os; from probetui import agent\n".replace("\n", ";") +
            "r, w = os.pipe(); pid = os.fork(); "
            "pid or (os.write(w, repr([agent._agent, [name for name in "
            "os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' "
            "+ name) and os.readlink('/proc/self/fd/' + name).startswith("
            "'socket')] if os.path.exists('/proc/self/fd') else []])"
            ".encode()), os._exit(0)); os.waitpid(pid, 0); "
            "say(os.read(r, 999).decode()); os.close(r); os.close(w)")
        self.assertEqual(self.target.said(), "[None, []]")
        self.assertEqual(self.client.value("1 + 1"), "2")
        self.assertTrue(os.path.exists(self.target.path))

    def test_concurrent(self):
        with self.target.client() as other:
            self.client.send(self.client.request("POST", "/eval", {
                "code": "first = threading.Event(); first.wait(20)"}))
            wait_for(lambda: other.value("'first' in globals()") == "True",
                     "the evaluation")
            self.assertEqual(other.value("first.set()"), "None")
            self.assertEqual(self.client.read().value["value"], "True")


class TestEvaluations(OneCase):
    def test_ten_thousand_over_dap(self):
        """What a viewer's answers name can be opened for a while, not for
        good."""
        target = self.start()
        measured = ("import gc, os; gc.collect(); [len(gc.get_objects()), "
                    "len(os.listdir('/proc/self/fd')), int(open('/proc/self/"
                    "statm').read().split()[1]) * 4096]")
        with Viewer(target) as viewer, target.client() as client:
            def run(count):
                for number in range(count):
                    told = viewer.response(
                        "evaluate", expression="print(%d); [%d, {}, []]"
                        % (number, number), context="repl")
                    self.assertTrue(told["success"], told)

            client.eval("from probetui.dap import handles\n"
                         "handles.HANDLES_MAXIMUM = 300")
            run(KEPT)
            before = json.loads(client.value(measured))
            before = json.loads(client.value(measured))
            run(EVALUATIONS if os.environ.get("PROBETUI_SOAK")
                else EVALUATIONS // 10)
            after = json.loads(client.value(measured))
        self.assertLess(after[0] - before[0], 1000)
        # A probetui of somebody else may look in.
        self.assertLess(after[1] - before[1], 10)
        self.assertLess(after[2] - before[2], 4 << 20)

    def test_ten_thousand(self):
        target = self.start()
        measured = ("import gc, os, time; gc.collect(); "
                    "[len(gc.get_objects()), time.process_time(), "
                    "len(os.listdir('/proc/self/fd')), int(open('/proc/self/"
                    "statm').read().split()[1]) * 4096]")
        with Viewer(target), target.client() as client:
            def run(count):
                for _ in range(count):
                    client.send(request)
                    answer = client.read()
                    self.assertEqual(answer.value["value"], "8")

            request = client.request("POST", "/eval", {
                "code": "x = [3, 4, 5]\nprint('x')\nx[0] + x[-1]"})
            run(500)
            with open("/proc/%d/statm" % target.process.pid) as file:
                self.assertTrue(file.read())
            before = json.loads(client.value(measured))
            before = json.loads(client.value(measured))
            run(EVALUATIONS)
            after = json.loads(client.value(measured))
        # A probetui of somebody else may look in.
        self.assertLess(after[0] - before[0], 1000)
        self.assertLess(after[1] - before[1], SECONDS)
        self.assertLess(after[2] - before[2], 10)
        self.assertLess(after[3] - before[3], 4 << 20)


class TestPaths(OneCase):
    def test_taken(self):
        """By another container that has the folder and the number."""
        target = self.start(
            FOLDER + "import socket\n"
            "other = socket.socket(socket.AF_UNIX)\n"
            "other.bind('%s/%d.agent' % (folder, os.getpid()))\n"
            "say(probetui.listen())")
        path = target.first[0]
        self.assertRegex(path, r"/%d\.[0-9]+\.agent$" % target.process.pid)
        with connect(path) as client:
            self.assertEqual(client.value("1"), "1")
        target.close()
        self.assertFalse(os.path.exists(path))

    def test_left_over(self):
        """The socket of one that was killed goes with the next start, here
        in a folder where nobody else starts."""
        first = self.start(FOLDER + "say(probetui.listen())")
        first.kill()
        self.assertTrue(os.path.exists(first.first[0]))
        second = self.start(FOLDER + "say(probetui.listen())")
        self.assertFalse(os.path.exists(first.first[0]))
        self.assertTrue(os.path.exists(second.first[0]))

    def test_twice(self):
        target = self.start()
        self.assertEqual(target.ask("probetui.listen()"), target.first)


def load_tests(loader, tests, _):
    suite = unittest.TestSuite()
    for case in (TestEvaluations, TestPaths):
        suite.addTests(loader.loadTestsFromTestCase(case))
    suite.addTests(pythons.load_cases(loader, __name__, ListenCase))
    return suite
