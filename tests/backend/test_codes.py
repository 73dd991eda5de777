"""Code objects of a running Python are found from outside: all functions of
a file, however they are wrapped, and functions by their names.
"""
import re
import unittest

import codes_files
import pythons
from codes_files import LIB, Program
from probed import Probe

FUNCTION = re.compile(r"\s*(?:async )?def (\w+)|lambda|\[x for")


def functions(text):
    """{line: how many functions begin there}, decorators first."""
    found = {}
    decorator = None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip().startswith("@") and decorator is None:
            decorator = number
        for match in FUNCTION.finditer(line):
            at = decorator if match.group(1) and decorator else number
            found[at] = found.get(at, 0) + 1
            if match.group(1):
                decorator = None
        if line.startswith("class "):
            decorator = None
    return found


def lines(answer):
    """{line: how many functions}, without classes and modules."""
    found = {}
    for name in answer["names"]:
        name, line = name.rsplit(":", 1)
        # A class's or a module's own code; 3.14 makes the other.
        if name not in ("<module>", "__annotate__") and \
                not name[:1].isupper():
            found[int(line)] = found.get(int(line), 0) + 1
    return found


class CodesCase(unittest.TestCase):
    """Tests for one Python; pythons.load_cases() sets which."""

    python = None
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.program = Program(cls.python, ["train.py"])
        cls.probe = Probe("codes-probe", cls.program.process.pid)

    @classmethod
    def tearDownClass(cls):
        cls.probe.close()
        cls.program.close()

    def names(self, *words):
        answer = self.probe.ask(*words)
        self.assertFalse(answer["cut"])
        return sorted(answer["names"])

    def test_all_functions_of_a_file(self):
        expected = functions(LIB)
        if self.python.version >= (3, 12):  # a comprehension is no function
            del expected[codes_files.line_of(LIB, "return [x for")]
        self.assertEqual(expected, lines(self.probe.ask("file", "lib.py")))

    def test_everywhere_is_the_same(self):
        self.assertEqual(self.names("file", "lib.py"),
                         self.names("far", "lib.py"))

    def test_paths(self):
        """However the file is called, it is the same."""
        near = self.probe.ask("file", "train.py")
        self.assertIn("step:%d" % codes_files.line_of(
            codes_files.TRAIN, "def step"), near["names"])
        self.assertTrue(any(name.startswith("<module>")
                            for name in near["names"]))
        root = self.probe.ask("file", "lib.py")["file"].rpartition("/")[0]
        for path in ("./train.py", root + "/train.py",
                     root + "/./pkg/../train.py", "x/../train.py"):
            with self.subTest(path=path):
                self.assertEqual(near["names"],
                                 self.probe.ask("file", path)["names"])
        for path in ("rain.py", "/train.py", "other/train.py", "lib",
                     "other/lib.py"):
            with self.subTest(path=path):
                found = self.probe.ask("file", path)
                # Up to 3.8 the main program's own path may be relative.
                if found["names"] and not near["file"].startswith("/"):
                    self.assertEqual(near["names"], found["names"])
                else:
                    self.assertEqual([], found["names"])

    def test_package(self):
        self.assertEqual(["simple:1"], self.names("file", "pkg/other.py"))
        self.assertEqual(["simple:1"], self.names("file", "other.py"))

    def test_exec(self):
        self.assertEqual(["<lambda>:3", "made:1"],
                         self.names("far", "made/up.py"))

    def test_zip(self):
        self.assertEqual(["zipped:1"], self.names("file", "zipped/mod.py"))

    def test_dataclass(self):
        names = [name.split(":")[0] for name in self.names("far", "<string>")]
        self.assertIn("__init__", names)

    def test_nothing(self):
        self.assertEqual([], self.names("file", "nothing.py"))
        self.assertEqual([], self.names("far", "nothing.py"))

    def function(self, name):
        return self.names("function", name)

    def test_functions(self):
        def at(text, part, name):
            return ["%s:%d" % (name, codes_files.line_of(text, part))]
        train = codes_files.TRAIN
        step = at(train, "def step", "step")
        for name in ("step", "train.step"):
            self.assertEqual(step, self.function(name))
        forward = at(train, "def forward", "forward")
        for name in ("Net.forward", "train.Net.forward"):
            self.assertEqual(forward, self.function(name))
        method = at(LIB, "def method", "method")
        for name in ("Base.method", "lib.Base.method", "Imported.method",
                     "net.method", "lib.owner.method", "lib.method"):
            self.assertEqual(method, self.function(name), name)
        self.assertEqual(at(LIB, "def deepest", "deepest"),
                         self.function("lib.Base.Inner.Innermost.deepest"))
        self.assertEqual(at(LIB, "def __init__", "__init__"),
                         self.function("lib.Derived"))
        self.assertEqual(at(codes_files.FILES["pkg/other.py"], "def simple",
                            "simple"), self.function("pkg.other.simple"))
        self.assertEqual(self.function("other.simple"),
                         self.function("pkg.other.simple"))

    def test_wrapped_functions(self):
        """What was decorated is found, not its wrapper."""
        for name in ("decorated", "decorated_well", "decorated_thrice",
                     "cached"):
            found = self.function("lib." + name)
            self.assertEqual([name], [each.split(":")[0] for each in found])
        self.assertEqual(3, len(self.function("lib.Base.value")))
        self.assertEqual(1, len(self.function("lib.Base.decorated_method")))
        self.assertEqual(1, len(self.function("lib.bound")))

    def test_nested_functions(self):
        self.assertEqual(["nested"], [
            name.split(":")[0] for name in self.function("nested")])
        self.assertEqual(1, len(self.function("innermost")))

    def test_functions_of_several_modules(self):
        """Not in the main program, so in both modules that have one."""
        self.assertEqual(2, len(self.function("simple")))

    def test_no_function(self):
        for name in ("nothing", "lib.nothing", "net.a", "step.x", ".", "..",
                     "lib.", ".step", "Net.", "lib..Base"):
            self.assertEqual([], self.function(name), name)

    def test_library(self):
        self.assertEqual(["join"], [
            name.split(":")[0] for name in self.function("os.path.join")])


class LateCase(unittest.TestCase):
    """What is loaded later, and other ways to start."""

    python = None

    def start(self, *argv):
        program = Program(self.python, list(argv))
        self.addCleanup(program.close)
        probe = Probe("codes-probe", program.process.pid)
        self.addCleanup(probe.close)
        return program, probe

    def test_late(self):
        program, probe = self.start("train.py")
        self.assertEqual([], probe.ask("file", "late.py")["names"])
        revision = probe.ask("revision")
        self.assertEqual(revision, probe.ask("revision"))
        program.tell("x = 1")
        # The first line that is run is of a new file, "<string>".
        revision = probe.ask("revision")
        program.tell("x = 2")
        self.assertEqual(revision, probe.ask("revision"))
        program.tell("import late")
        self.assertNotEqual(revision, probe.ask("revision"))
        self.assertEqual(["late:2", "method:7"],
                         sorted(probe.ask("file", "late.py")["names"]))
        revision = probe.ask("revision")
        program.tell("import importlib; importlib.reload(late)")
        self.assertNotEqual(revision, probe.ask("revision"))

    def test_two_files_of_a_name(self):
        program, probe = self.start("train.py")
        program.tell("import other.lib")
        names = probe.ask("file", "lib.py")["names"]
        self.assertIn("elsewhere:1", names)
        self.assertIn("closure:%d" % codes_files.line_of(
            LIB, "def closure"), names)
        self.assertEqual(["elsewhere:1"],
                         probe.ask("file", "other/lib.py")["names"])

    def test_module_as_program(self):
        _, probe = self.start("-m", "pkg.mod")
        names = probe.ask("file", "pkg/mod.py")["names"]
        self.assertIn("step", [name.split(":")[0] for name in names])
        self.assertEqual(1, len(probe.ask("function", "Net.forward")["names"]))
        self.assertEqual(1, len(probe.ask("function", "mod.step")["names"]))

    def test_module_that_begins(self):
        """Functions of a body that has not run, by each of their names."""
        program, probe = self.start("train.py")
        program.tell("body = compile(%r, os.environ['CODES_ROOT'] + "
                     "'/pkg/new.py', 'exec')" % codes_files.PACKAGE)
        program.tell("print(id(body), flush=True)", None)
        code = program.heard()
        program.wait("done")
        line = codes_files.line_of(codes_files.PACKAGE, "def forward")
        for name in ("Net.forward", "new.Net.forward", "pkg.new.Net.forward"):
            self.assertEqual(["forward:%d" % line],
                             probe.ask("in", code, name)["names"])
        self.assertEqual(["forward:%d" % (line + 4)],
                         probe.ask("in", code, "Net.Head.forward")["names"])
        for name in ("forward", "Head.forward", "other.step", "nested"):
            self.assertEqual([], probe.ask("in", code, name)["names"])

    def test_package_as_program(self):
        _, probe = self.start("-m", "pkg")
        names = probe.ask("file", "pkg/__main__.py")["names"]
        self.assertIn("step", [name.split(":")[0] for name in names])

    def test_other_thread(self):
        """Code that only another thread runs, of no module."""
        program, probe = self.start("train.py")
        program.tell("import threading; go = threading.Event(); "
                     "on = threading.Event()")
        program.tell("threading.Thread(target=lambda: exec(compile("
                     "'def f():\\n on.set()\\n go.wait()\\nf()',"
                     " 'threaded.py', 'exec'), {'go': go, 'on': on}))"
                     ".start(); on.wait()")
        self.assertEqual(["<module>:1", "f:1"],
                         sorted(probe.ask("file", "threaded.py")["names"]))
        program.tell("go.set()")


def load_tests(loader, _tests, _pattern):
    return pythons.load_cases(loader, __name__, CodesCase, LateCase)
