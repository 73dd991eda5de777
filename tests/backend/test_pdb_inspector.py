"""What the inspector says of a program at pdb's prompt, on each CPython."""
import base64
import json
import os
import subprocess
import sys
import tempfile
import unittest

import prompts
import pythons

HERE = os.path.dirname(os.path.abspath(__file__))
LOCALS_PROBE = os.path.join(os.environ["BUILDDIR"],
                            "tests/backend/locals-probe")

LIVE = """\
import pdb
import threading

class Bad:
    def __repr__(self):
        raise RuntimeError('never shown')

    @property
    def __class__(self):
        return int

    def __getattr__(self, name):
        raise SystemExit(name)

class Odd:
    def __repr__(self):
        return 7

class Deep:
    def __repr__(self):
        return repr(self)

def add(a, b):
    # a comment

    total = a + b
    return total

def shows(x):
    __import__ = len = object = type = sys = 'shadowed'
    self = 'not the debugger'
    y = [1, 'two', {3: None}]
    bad, odd, deep = Bad(), Odd(), Deep()
    large, long = list(range(100000)), 'a' * (1 << 22)
    pdb.set_trace()
    x = x + 1
    z = add(x, 10)
    return x + z

def fails():
    raise ValueError('one\\ntwo')

def main():
    for i in range(2):
        shows(i)
    try:
        fails()
    except ValueError:
        pass
    print('the end')

main()
"""

# What a frame had is gone when it is.
KEPT = """\
import gc, pdb, weakref

class Thing:
    pass

found = []
space = {'__name__': 'elsewhere', 'Thing': Thing, 'found': found,
         'pdb': pdb, 'weakref': weakref}
exec('''
def deep():
    thing = Thing()
    found.append(weakref.ref(thing))
    pdb.set_trace()
    return 1
''', space)
space['deep']()
gc.collect()
print('alive' if found[0]() else 'gone',
      [name for name in list(space) + list(globals()) if '__pdb' in name])
"""

FAILS = """\
import pdb, sys

def inner(count):
    secret = 'inside'
    raise KeyError(secret)

def middle():
    try:
        inner(3)
    except KeyError as error:
        raise RuntimeError('second') from error

def outer():
    try:
        middle()
    except RuntimeError as error:
        deepest = error.__traceback__
        while deepest.tb_next:
            deepest = deepest.tb_next
        pdb.post_mortem(deepest)

outer()
"""

SYNTAX = """
import pdb
try:
    compile('x = = 1', 'wrong.py', 'exec')
except SyntaxError:
    pdb.post_mortem()
"""

GROUP = """
import pdb
try:
    raise ExceptionGroup('both', [ValueError(1), TypeError('2')])
except ExceptionGroup as group:
    pdb.post_mortem(group.__traceback__)
"""


def line_of(text):
    """Of the last line of LIVE that begins so."""
    return max(number for number, line in enumerate(LIVE.split("\n"), 1)
               if line.strip().startswith(text))


class InspectorCase(unittest.TestCase):
    """Tests for one Python; pythons.load_cases() sets which."""

    python = None
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        # One that a Python in another root sees, too.
        root = cls.python.argv[1] if cls.python.argv[0] == "chroot" else ""
        cls.folder = tempfile.TemporaryDirectory(dir=root + "/tmp")
        cls.seen = cls.folder.name[len(root):]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def write(self, name, text):
        with open(os.path.join(self.folder.name, name), "w") as file:
            file.write(text)
        return os.path.join(self.seen, name)

    def start(self, *arguments, **options):
        prompt = prompts.Prompt(self.python, *arguments, **options)
        self.addCleanup(prompt.close)
        self.banner = prompt.read()
        return prompt

    def start_file(self, text, **options):
        self.path = self.write("program.py", text)
        return self.start(None, [self.path], mode=None, **options)

    def functions(self, state):
        return [frame["func"] for frame in state["frames"]]

    def fails(self, words, prompt, do, **question):
        with self.assertRaises(prompts.Failure) as caught:
            prompt.ask(do, **question)
        self.assertRegex(str(caught.exception), words)

    # At a live stop.

    def test_live(self):
        prompt = self.start_file(LIVE)
        state = prompt.state()
        self.assertEqual(self.functions(state), ["shows", "main", "<module>"])
        self.assertEqual(state["prompt"], "(Pdb) ")
        self.assertEqual(state["python"], self.python.name)
        self.assertEqual(state["dialect"], "pdb")
        self.assertEqual(state["event"], "line")
        self.assertEqual(state["index"], 0)
        self.assertEqual(state["nesting"], 0)
        self.assertFalse(state["post_mortem"])
        self.assertIsNone(state["exception"])
        self.assertEqual([state["pid"], state["tid"]],
                         [prompt.process.pid] * 2)
        frame = state["frames"][0]
        self.assertEqual([frame["file"], frame["first"]],
                         [self.path, line_of("def shows")])
        self.check_hostile_values(prompt)
        self.check_evaluation(prompt)
        self.check_assignment(prompt)
        self.check_nesting(prompt)
        lines = prompt.lines
        prompt.state()
        self.assertEqual(prompt.lines, lines + 1)
        prompt.ask("clear")
        prompt.state()
        self.assertGreater(prompt.lines, lines + 3)  # it was installed anew
        self.assertEqual(prompt.printed, b"")

    def check_hostile_values(self, prompt):
        values = prompt.values()
        self.assertEqual(values["y"], "[1, 'two', {3: None}]")
        self.assertRegex(values["bad"], "^<__main__.Bad at 0x[0-9a-f]+>$")
        self.assertRegex(values["odd"], "^<__main__.Odd at 0x[0-9a-f]+>$")
        self.assertEqual(values["large"], "[%s, \u2026]" % ", ".join(
            map(str, range(100))))
        self.assertEqual(values["long"], "'" + "a" * 4031 + "'\u2026")
        self.assertEqual(values["z"], "unbound")
        for name, words in (("bad", "raised RuntimeError"),
                            ("odd", "raised TypeError"),
                            ("deep", "raised RecursionError")):
            told = prompt.ask("evaluate", depth=0, expression=name)
            self.assertIn(words, told["result"])
        told = prompt.ask("evaluate", depth=0, expression="large")
        self.assertLess(len(told["result"]), 4200)
        self.assertEqual(told["children"], 100000)
        page = prompt.ask("children", address=told["address"], start=99990)
        self.assertEqual([each["name"] for each in page["variables"]],
                         ["[%d]" % i for i in range(99990, 100000)])

    def check_evaluation(self, prompt):
        def value(expression, depth=0):
            return prompt.ask("evaluate", depth=depth, expression=expression)

        self.assertEqual(value("x + 41")["result"], "41")
        self.assertEqual(value("i", 1)["result"], "0")
        self.assertEqual(value("[x + each for each in y[:1]]")["result"],
                         "[1]")
        told = value("print('said') or 7")
        self.assertEqual([told["result"], told["output"]], ["7", "said\n"])
        self.assertEqual(value("new = 5; new")["output"], "5\n")
        self.fails("^NameError: name 'nothing' is not defined$", prompt,
                   "evaluate", depth=0, expression="nothing")
        self.fails("^SyntaxError: ", prompt, "evaluate", depth=0,
                   expression="1 +")
        self.fails("the stack has no frame 9", prompt, "evaluate", depth=9,
                   expression="1")
        lines = prompt.ask("source", file=self.path)["content"]
        self.assertEqual(lines, LIVE)
        self.fails("no source of /etc/passwd", prompt, "source",
                   file="/etc/passwd")
        self.fails("object at 0x10 no longer exists", prompt, "children",
                   address="0x10")

    def check_assignment(self, prompt):
        """What is assigned at the prompt stays, whatever we look at."""
        prompt.command("x = 100")
        prompt.state()
        self.assertEqual(prompt.values()["x"], "100")
        prompt.values(1)
        prompt.ask("select", depth=1)
        self.assertEqual(prompt.state()["index"], 1)
        prompt.values(0)
        prompt.ask("evaluate", depth=0, expression="y")
        prompt.ask("select", depth=0)
        self.assertIn("100", prompt.command("p x"))
        if "set_trace" in self.line_at(prompt):
            prompt.command("next")
        prompt.command("next")
        self.assertIn("101", prompt.command("p x"))

    def line_at(self, prompt):
        line = prompt.state()["frames"][0]["line"]
        return LIVE.split("\n")[line - 1]

    def check_nesting(self, prompt):
        prompt.command("debug add(1, 2)")
        state = prompt.state()
        self.assertEqual(state["nesting"], 1)
        self.assertEqual(state["prompt"], "((Pdb)) ")
        prompt.command("c")
        self.assertEqual(prompt.state()["nesting"], 0)

    def test_a_condition_that_fails(self):
        """bdb stops there all the same, and does not say so."""
        for condition, why in (
                ("nosuch > 2", "NameError: name 'nosuch' is not defined"),
                ("a.b[0] == 'x'",
                 "AttributeError: 'int' object has no attribute 'b'"),
                # It may do anything: it is not called once more.
                ("nosuch()", None)):
            prompt = self.start_file(LIVE)
            prompt.ask("breakpoints", breakpoints=[
                {"id": 1, "function": "add", "condition": condition}])
            prompt.command("c")
            state = prompt.state()
            self.assertEqual(len(state["hit"]), 1)
            self.assertEqual(state["condition_error"], why)

    def test_steps_and_breakpoints(self):
        prompt = self.start_file(LIVE)
        prompt.command("break fails")
        add = {"id": 1, "function": "add", "condition": "a == 1"}
        line = {"id": 2, "path": "program.py", "line": line_of("fails()"),
                "temporary": True}
        comment = line_of("# a comment")
        bad = [{"id": 3, "path": "program.py", "line": comment},
               {"id": 4, "path": "nowhere.py", "line": 1},
               {"id": 5, "function": "subtract"},
               {"id": 6, "path": self.path, "line": comment + 2,
                "condition": "1 +"},
               {"id": 7, "path": self.path, "line": 2500}]
        found = prompt.ask("breakpoints", breakpoints=[add, line] + bad)
        found = found["breakpoints"]
        self.assertEqual([each["id"] for each in found], list(range(1, 8)))
        self.assertEqual(found[0]["path"], self.path)
        self.assertEqual(found[0]["condition"], "a == 1")
        self.assertEqual([found[1]["line"], found[1]["temporary"]],
                         [line["line"], True])
        for each, words in zip(found[2:], (
                "blank or a comment", "not loaded a file nowhere.py",
                "no function subtract", "is not an expression", "no line 2500")):
            self.assertEqual(each["number"], 0)
            self.assertRegex(each["message"], words)
        state = prompt.state()
        self.assertEqual(sorted(each["id"] for each
                                in state["breakpoints"]), [0, 1, 2])
        again = prompt.ask("breakpoints", breakpoints=[add, line])
        self.assertEqual(again["breakpoints"], found[:2])
        self.check_stops(prompt, found)

    def check_stops(self, prompt, found):
        prompt.command("c")
        state = prompt.state()
        self.assertEqual([state["frames"][0]["func"], state["hit"]],
                         ["add", [found[0]["number"]]])
        self.assertEqual(state["hit"], prompt.state()["hit"])
        # What was opened is found again, or is gone.
        row = [each for each in prompt.variables(1)["variables"]
               if each["name"] == "y"][0]
        child = prompt.ask("children", address=row["address"])["variables"]
        inner = prompt.ask("children", address=child[2]["address"])
        self.assertEqual([[each["name"], each["value"]] for each
                          in inner["variables"]], [["[3]", "None"]])
        prompt.command("return")
        state = prompt.state()
        self.assertEqual([state["event"], state["value"], state["hit"]],
                         ["return", "11", []])
        prompt.ask("select", depth=1)
        prompt.command("next")
        self.assertEqual(prompt.state()["frames"][0]["func"], "shows")
        prompt.command("return")
        prompt.command("c")
        self.fails("no longer exists", prompt, "children",
                   address=child[2]["address"])
        state = prompt.state()
        self.assertEqual([state["frames"][0]["func"], state["hit"]],
                         ["shows", []])
        prompt.command("c")
        state = prompt.state()
        self.assertEqual([state["frames"][0]["func"], state["hit"]],
                         ["main", [found[1]["number"]]])
        self.assertEqual(sorted(each["id"] for each
                                in state["breakpoints"]), [0, 1])
        # Up to 3.9 a new Pdb knows nothing of what another one was told.
        prompt.command("c" if self.python.version >= (3, 10) else "step")
        state = prompt.state()
        self.assertEqual(state["frames"][0]["func"], "fails")
        self.assertEqual(state["hit"],
                         [1] if self.python.version >= (3, 10) else [])
        prompt.command("next")
        state = prompt.state()
        if state["event"] == "line":
            prompt.command("next")
            state = prompt.state()
        self.assertEqual([state["event"], state["value"]],
                         ["exception", "ValueError: one\ntwo"])
        prompt.ask("clear")
        state = prompt.state()
        self.assertEqual([each["id"] for each in state["breakpoints"]], [0])

    def test_a_selected_frame_is_not_kept(self):
        prompt = self.start_file(KEPT)
        prompt.state()
        prompt.ask("select", depth=1)
        # That of 3.13 keeps the frame where it stopped last by itself.
        kept = "alive []" if self.python.version[:2] == (3, 13) else "gone []"
        self.assertIn(kept, prompt.command("c"))

    def test_many_breakpoints_take_several_lines(self):
        prompt = self.start_file(LIVE)
        prompt.state()
        lines = prompt.lines
        wanted = [{"id": i, "path": self.path, "line": line_of("total ="),
                   "condition": "a == %d" % i} for i in range(1, 301)]
        found = prompt.ask("breakpoints", breakpoints=wanted)["breakpoints"]
        self.assertEqual([each["condition"] for each in found],
                         [each["condition"] for each in wanted])
        self.assertGreater(prompt.lines, lines + 3)

    def test_p_is_an_alias(self):
        prompt = self.start_file(LIVE)
        prompt.command("alias p pp 'mine'")
        self.assertEqual(self.functions(prompt.state())[0], "shows")
        prompt.command("unalias p")
        self.assertEqual(self.functions(prompt.state())[0], "shows")

    # After an exception.

    def test_post_mortem(self):
        prompt = self.start_file(FAILS)
        state = prompt.state()
        self.assertEqual(self.functions(state),
                         ["middle", "outer", "<module>"])
        self.assertTrue(state["post_mortem"])
        self.assertIsNone(state["event"])
        self.assertEqual(state["index"], 0)
        told = state["exception"]
        self.assertEqual([told["type"], told["message"]],
                         ["RuntimeError", "second"])
        self.assertEqual([[each["type"], each["message"], each["relation"]]
                          for each in told["chain"]],
                         [["KeyError", "'inside'", "cause"]])
        self.assertEqual([frame["line"] for frame in state["frames"]],
                         [11, 15, 22])
        self.assertEqual(prompt.values()["<raised>"],
                         "RuntimeError('second')")
        self.assertRegex(prompt.values(1)["deepest"], "^<traceback at 0x")
        self.fails("cannot select frame 2", prompt, "select", depth=2)

    def test_post_mortem_of_a_script(self):
        path = self.write("raises.py", "def f():\n    1 / 0\nf()\n")
        prompt = self.start("pdb", [path], mode="-m")
        state = prompt.state()
        self.assertEqual(self.functions(state), ["<module>"])
        prompt.command("c")
        state = prompt.state()
        self.assertEqual(self.functions(state), ["f", "<module>"])
        self.assertTrue(state["post_mortem"])
        self.assertEqual(state["exception"]["type"], "ZeroDivisionError")

    def test_post_mortem_of_a_syntax_error(self):
        state = self.start(SYNTAX).state()
        self.assertTrue(state["post_mortem"])
        told = state["exception"]
        self.assertEqual([told["type"], told["file"], told["line"]],
                         ["SyntaxError", "wrong.py", 1])
        self.assertEqual(self.functions(state), ["<module>"])

    def test_exception_group(self):
        if self.python.version < (3, 11):
            return
        state = self.start(GROUP).state()
        self.assertEqual(state["exception"]["group"], [
            {"type": "ValueError", "message": "1"},
            {"type": "TypeError", "message": "2"}])

    # Beside the reader from outside.

    def test_values_as_from_outside(self):
        with open(os.path.join(HERE, "locals_target.py")) as file:
            code = file.read().replace("os.read(0, 1)",
                                       "__import__('pdb').set_trace()")
        prompt = self.start(code)
        truth = json.loads(self.banner.split(b"\n")[0].decode())
        outside = Outside(prompt.process.pid)
        self.addCleanup(outside.close)
        compared = 0
        for depth, frame in enumerate(prompt.state()["frames"]):
            if frame["func"] not in truth["frames"]:
                continue
            ours = prompt.variables(depth)["variables"]
            for each, other in zip(ours, outside.ask("locals", frame["func"],
                                                     0)["variables"]):
                self.assertEqual(each, other)
                compared += 1
                if each["children"]:
                    self.compare_children(prompt, outside, each)
        self.assertGreater(compared, 200)

    def compare_children(self, prompt, outside, variable):
        ours = prompt.ask("children", address=variable["address"])
        other = outside.ask_object(variable["address"])
        for each, wanted in zip(ours["variables"], other["variables"]):
            # It reads no more than so many bytes for one value.
            if wanted["type"] != "?":
                self.assertEqual(each, wanted, variable["name"])
        self.assertEqual(ours["total"], other["total"])


class Outside:
    """locals-probe, which reads the same process."""

    def __init__(self, pid):
        self.pid = pid
        self.probe = subprocess.Popen([LOCALS_PROBE, str(pid)],
                                      stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE)

    def write(self, *words):
        line = " ".join(str(word) for word in words) + "\n"
        self.probe.stdin.write(line.encode())
        self.probe.stdin.flush()
        return json.loads(self.probe.stdout.readline().decode())

    def ask(self, what, function, start):
        return self.write(what, self.pid, function, start)

    def ask_object(self, address):
        return self.write("children", address, 0, 100)

    def close(self):
        self.probe.stdin.close()
        self.probe.stdout.close()
        self.probe.wait(prompts.LIMIT)


class TensorsTest(unittest.TestCase):
    """PROBETUI_TORCH_PYTHON names a Python with torch, perhaps numpy."""

    maxDiff = None

    def test_tensors_and_arrays(self):
        python = os.environ.get("PROBETUI_TORCH_PYTHON")
        if not python:
            self.skipTest("PROBETUI_TORCH_PYTHON names no Python with torch")
        with open(os.path.join(HERE, "tensors_target.py")) as file:
            code = file.read().rpartition("arrays() if")[0] + """
for each in arrays, tensors:
    try:
        each()
    except ImportError:
        pass
__import__("pdb").set_trace()
each = None
"""
        prompt = prompts.Prompt(pythons.Python([python], (3, 8, 0)), code)
        self.addCleanup(prompt.close)
        prompt.read()
        told = prompt.ask("evaluate", depth=0, expression=(
            "[each[0] for each in KEPT], [each[1][1] for each in KEPT]"))
        pair = prompt.ask("children", address=told["address"])["variables"]
        values, texts = (self.all_of(prompt, each["address"])
                         for each in pair)
        self.assertGreater(len(values), 30)
        self.assertEqual([repr(value) for value in values], texts)

    def all_of(self, prompt, address):
        found = []
        while True:
            page = prompt.ask("children", address=address, start=len(found))
            found += [each["value"] for each in page["variables"]]
            if len(found) == page["total"]:
                return found


class TakingTest(unittest.TestCase):
    """Bytes that come back, good and bad."""

    def setUp(self):
        self.probe = subprocess.Popen([prompts.PROBE], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE)
        self.addCleanup(self.close)

    def close(self):
        self.probe.stdin.close()
        self.probe.stdout.close()
        self.probe.wait(prompts.LIMIT)

    tell = prompts.Prompt.tell

    def ask(self):
        line = self.tell('ask {"do":"state"}')["line"]
        return line, self.nonce(line)

    def nonce(self, line):
        return line.partition("tui:")[2].partition(":")[0]

    def take(self, data):
        return self.tell("bytes " + base64.b64encode(data).decode())

    def answer(self, nonce, text=b'{"a":1}'):
        import zlib
        packed = base64.b64encode(text)
        return b"{probetui:%s:%d:%08x:%s}" % (nonce.encode(), len(packed),
                                              zlib.crc32(text), packed)

    def test_an_answer_between_other_output(self):
        line, nonce = self.ask()
        good = self.answer(nonce)
        before = line.encode().replace(b"\n", b"\r\n") + b"42\r\n\x1b[0m"
        for cut in (0, 10, len(before) + 3, len(before + good) - 1):
            self.assertEqual(self.take((before + good)[:cut])["result"],
                             "wait")
        told = self.take(before + b"'" + good + b"'\r\n(Pdb) ")
        self.assertEqual([told["result"], told["answer"]],
                         ["done", {"a": 1}])
        self.assertEqual([told["start"], told["end"]],
                         [len(before), len(before + good) + 4])
        self.assertEqual(self.take(good + b"\n")["result"], "wait")

    def test_what_is_mixed_is_asked_for_again(self):
        _line, nonce = self.ask()
        for bad in (lambda data: data.replace(b"}", b"hello\n}"),
                    lambda data: data[:-3] + b"AA}",
                    lambda data: data.replace(b":", b";")
                    .replace(b";", b":", 2)):
            told = self.take(bad(self.answer(nonce)) + b"\n")
            self.assertEqual(told["result"], "send")
            nonce = self.nonce(told["line"])
        told = self.take(self.answer(nonce, b"no JSON") + b"\n")
        self.assertEqual(told["result"], "failed")
        self.assertRegex(told["error"], "^the debugger.*mixed.*less$")

    def test_the_answer_to_another_question(self):
        _line, nonce = self.ask()
        self.ask()
        self.assertEqual(self.take(self.answer(nonce) + b"\n")["result"],
                         "late")

    def test_the_answer_to_a_line_before(self):
        _line, nonce = self.ask()
        newest = self.nonce(self.tell("refused")["line"])
        late = b"text\n'" + self.answer(nonce) + b"'\r\n"
        told = self.take(late + b"(Pdb) ")
        self.assertEqual([told["result"], told["start"], told["end"]],
                         ["late", 5, len(late)])
        told = self.take(b"(Pdb) '" + self.answer(newest) + b"'\r\n")
        self.assertEqual([told["result"], told["answer"]],
                         ["done", {"a": 1}])

    def test_nothing_evaluates(self):
        line, _nonce = self.ask()
        forms = [line[:2]]
        told = self.tell("refused")
        while told["result"] == "send":
            forms.append(told["line"][:2])
            told = self.tell("refused")
        self.assertEqual(forms, ["p ", "!(", "pp", "p "])
        self.assertRegex(told["error"], "evaluates no expressions")

    def test_a_failure_is_a_sentence(self):
        _line, nonce = self.ask()
        told = self.take(self.answer(nonce, b'{"error":"No."}') + b"\n")
        self.assertEqual([told["result"], told["error"]], ["failed", "No."])


def load_tests(loader, _tests, _pattern):
    suite = pythons.load_cases(loader, __name__, InspectorCase)
    suite.addTests(loader.loadTestsFromTestCase(TensorsTest))
    suite.addTests(loader.loadTestsFromTestCase(TakingTest))
    return suite


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
