#!/usr/bin/env python3
"""Breakpoints in unmodified Python, set from outside: where and how often they
stop, as pdb would, and what is said of those that cannot."""
import bdb
import os
import sys
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "backend")]
import jobs  # noqa: E402
import outside  # noqa: E402
import pythons  # noqa: E402

WORK = '''
import threading


def square(x):
    return x * x


def work(count, batch=()):
    total = 0
    for step in range(count):
        total += square(step)
        while total % 2:
            total += 1
    return total


def choose(x):
    if x is None:
        return "none"
    return len(x)


class Net:
    def forward(self, x):
        y = x + 1
        return y


def decorate(function):
    def call(*args):
        return function(*args)
    return call


@decorate
def decorated(x):
    z = x
    return z


def thread():
    other = threading.Thread(target=work, args=(1,))
    other.start()
    other.join()


def load():
    import late
    value = late.late()
    return value


done = []


def set_later():
    global later
    later = 1


def spin():
    count = 0
    while not done:
        count = square(count) % 97 + 1
    return count
'''
LATE = "def late():\n    value = 1\n    return value\n"


class BreaksCase(unittest.TestCase):
    python = pythons.Python([sys.executable], sys.version_info[:3])

    def start(self, text=WORK, **named):
        program = outside.Program(self, self.python.argv, text, **named)
        return program, outside.Shell(self, program)

    def go_on(self, shell, program, expected):
        """It goes on to its end, without another stop."""
        shell.do("continue")
        self.assertEqual(program.answer(), repr(expected))


class EachCase(BreaksCase):
    """One scenario, for every Python."""

    def test_lines_and_functions(self):
        program, shell = self.start()
        loop = program.line("for step")
        shell.do("break train.py:%d" % loop, "break Net.forward",
                 "break decorated")
        program.tell("work(2), Net().forward(1), decorated(2)")
        for step in range(3):
            self.assertEqual(shell.stop(), ([1], "work", loop))
            shell.do("continue")
        self.assertEqual(shell.stop(), ([2], "forward", program.line("y = ")))
        self.assertEqual(shell.print("x"), ["1"])
        shell.do("continue")
        self.assertEqual(shell.stop(), ([3], "decorated", program.line("z = x")))
        self.assertEqual([one["hits"] for one in shell.breakpoints], [3, 1, 1])
        self.go_on(shell, program, (2, 2, 2))
        # Conditions, told from outside; a temporary one.
        shell.do("clear 1", "clear 2", "clear 3",
                 "break train.py:%d if step == 100" % (loop + 1),
                 "tbreak choose if x is None",
                 "break train.py:%d if len(x) > 3" % program.line("return len"))
        program.tell("work(103), choose(None), choose(None), choose([1]), "
                     "choose('long')")
        self.assertEqual(shell.stop(), ([4], "work", loop + 1))
        self.assertEqual(shell.print("step"), ["100"])
        shell.do("continue")
        self.assertEqual(shell.stop(), ([5], "choose", program.line("if x")))
        shell.do("continue")
        self.assertEqual(shell.stop(), ([6], "choose", program.line("return len")))
        self.assertEqual(shell.print("x"), ["'long'"])
        self.assertEqual([(one["id"], one["hits"])
                          for one in shell.breakpoints], [(4, 1), (6, 1)])
        shell.do("continue")
        program.answer()


    def test_conditions_with_names_that_are_not_there(self):
        program, shell = self.start()
        where = "train.py:%d" % program.line("total += square")
        errors = [one.get("error") for one in shell.do(
            "break %s if nope > 3" % where, "break square if x and nope")
            if "error" in one]
        self.assertEqual(len(errors), 2, errors)
        for error in errors:
            self.assertIn("condition failed: name 'nope' is not defined",
                          error)
        self.assertEqual(shell.breakpoints, [])
        # A refused breakpoint uses no number up.
        shell.do("break choose")
        self.assertEqual([one["id"] for one in shell.breakpoints], [1])
        shell.do("clear 1")
        # A variable, a global, a builtin, one of an outer function, one that
        # the module mentions and does not have yet.
        inner = program.line("return function(")
        errors = [one.get("error") for one in shell.do(
            "break %s if batch and total" % where,
            "break %s if done" % where,
            "break %s if x is int and thread" % where,
            "break %s if function is int" % "train.py:%d" % inner,
            "break %s if later is int" % where) if "error" in one]
        self.assertEqual(len(shell.breakpoints), 4, (errors,
                                                     shell.breakpoints))
        self.assertEqual(len(errors), 1, errors)
        self.assertIn("name 'x' is not defined", errors[0])


class Recorder(bdb.Bdb):
    """What pdb would stop at."""

    def __init__(self):
        super().__init__()
        self.stops = []

    def user_line(self, frame):
        if self.break_here(frame):
            self.stops.append(([self.currentbp], frame.f_code.co_name,
                               frame.f_lineno))
        self.set_continue()
        sys.settrace(self.trace_dispatch)

    def set_continue(self):
        # bdb's own stops tracing where it sees no breakpoint.
        self._set_stopinfo(self.botframe, None, -1)


class OneCase(BreaksCase):
    """What does not depend on the version."""

    def by_pdb(self, program, breakpoints, expression):
        """The stops of bdb: [(condition, ignore, line)] on the same text."""
        path = os.path.join(program.folder.name, "train.py")
        space = {"__name__": "train"}
        with open(path) as file:
            code = compile(file.read(), path, "exec")
        exec(code, space)
        recorder = Recorder()
        for number, (condition, ignore, line) in enumerate(breakpoints, 1):
            self.assertIsNone(recorder.set_break(path, line, cond=condition))
            found = bdb.Breakpoint.bplist[recorder.canonic(path), line][-1]
            found.number, found.ignore = number, ignore
        recorder.runctx(expression, space, space)
        return [([bp], function, line) for [bp], function, line
                in recorder.stops]

    def test_the_same_as_pdb(self):
        program, shell = self.start()
        wanted = [(None, 2, program.line("for step")),
                  ("x > 2", 1, program.line("return x * x")),
                  (None, 0, program.line("total += 1"))]
        for number, (condition, ignore, line) in enumerate(wanted, 1):
            shell.do("break train.py:%d%s" % (
                line, " if " + condition if condition else ""))
            shell.do("ignore %d %d" % (number, ignore))
        expected = self.by_pdb(program, wanted, "work(7)")
        program.tell("work(7)")
        told = []
        for _ in expected:
            told.append(shell.stop())
            shell.do("continue")
        self.assertEqual(told, expected)
        self.assertGreater(len(told), 8)
        program.answer()
        self.assertEqual(
            [one["hits"] for one in shell.breakpoints],
            [len([1 for stop in expected if stop[0] == [number]])
             for number in (1, 2, 3)])

    def test_while_it_runs(self):
        program, shell = self.start()
        program.tell("spin()")
        line = program.line("while not")
        shell.do("break train.py:%d" % line)
        for _ in range(3):
            self.assertEqual(shell.stop(), ([1], "spin", line))
            shell.do("continue")
        shell.stop()
        shell.do("disable 1", "print done.append(1)")
        # Off, it goes on; on again, it stops.
        shell.do("continue", "enable 1")
        self.assertEqual(shell.stop(), ([1], "spin", line))

    def test_nothing_stops_unless_hit(self):
        """Armed on lines that are not come to: not one trap."""
        program, shell = self.start()
        program.tell("spin()")
        shell.do("break choose", "break Net.forward", "break decorated",
                 "break train.py:%d" % program.line("value = late"))
        jobs.wait_for(lambda: jobs.tracer(program.pid), "the watches")
        before = jobs.switches(program.pid)
        jobs.wait_for(lambda: cpu_of(program.pid) > 0.3, "work")
        self.assertLess(jobs.switches(program.pid) - before, 20)

    def test_pending(self):
        program, shell = self.start(files={"late.py": LATE})
        shell.do("break late.py:2", "break late.late", "break nowhere.py:1")
        self.assertEqual(
            [one["message"] for one in shell.breakpoints],
            ["pending: no code of late.py is loaded yet",
             "pending: no function late.late is loaded yet",
             "pending: no code of nowhere.py is loaded yet"])
        error, = [one["error"] for one in shell.do("wait stopped timeout 0.1")
                  if "error" in one]
        self.assertIn("breakpoint 3 is pending: no code of nowhere.py is "
                      "loaded yet", error)
        program.tell("load()")
        self.assertEqual(shell.stop(), ([1, 2], "late", 2))
        self.assertEqual([one["message"] for one in shell.breakpoints[:2]],
                         [None, None])
        self.go_on(shell, program, 1)

    def test_a_thread_born_later(self):
        program, shell = self.start()
        line = program.line("return total")
        shell.do("break train.py:%d" % line)
        program.tell("thread()")
        self.assertEqual(shell.stop(), ([1], "work", line))
        self.go_on(shell, program, None)

    def test_more_than_fit(self):
        program, shell = self.start()
        lines = [program.line(part) for part in (
            "return x * x", "total = 0", "return total", "y = x", "z = x")]
        shell.do(*["break train.py:%d" % line for line in lines])
        self.assertEqual(
            [one["message"] for one in shell.breakpoints],
            [None] * 4 + ["no free debug register: a thread has 4, used by "
                          "breakpoints 1, 2, 3, 4; disable a breakpoint, or "
                          "inject an agent"])
        shell.do("disable 1")
        self.assertEqual([one["message"] for one in shell.breakpoints],
                         [None] * 5)
        program.tell("decorated(square(3))")
        self.assertEqual(shell.stop(), ([5], "decorated", lines[4]))
        self.go_on(shell, program, 9)

    def test_ranks(self):
        programs = [outside.Program(self, self.python.argv, WORK, rank=rank)
                    for rank in (0, 1)]
        shell = outside.Shell(self, *programs)
        shell.do("break square ranks 1")
        for program in programs:
            program.tell("square(3)")
        self.assertEqual(programs[0].answer(), "9")
        self.assertEqual(shell.stop(), ([1], "square", 5))
        self.assertEqual([(one["ranks"], one["hits"])
                          for one in shell.breakpoints], [("1", 1)])
        self.go_on(shell, programs[1], 9)

    def test_what_stops_each_rank(self):
        """An agent in the ranks that have one, else hardware breakpoints."""
        agent = """
            import sys
            sys.path.insert(0, %r)
            import probetui
            probetui.listen()
            """ % os.path.join(jobs.SOURCE, "agent")
        own = """
            def work():
                return 1
            """
        programs = [outside.Program(self, self.python.argv, textwrap.dedent(text)
                                    + textwrap.dedent(own), rank)
                    for rank, text in enumerate((agent, agent, ""))]
        shell = outside.Shell(self, *programs)
        set_at, = shell.do("break work")
        self.assertEqual(
            [(one["backend"], one["ranks"]) for one in set_at["backends"]],
            [("http", "0-1"), ("ptrace", "2")])
        by_agent, by_hardware = set_at["backends"]
        self.assertEqual((by_agent["slots"], by_agent["slots_free"]),
                         (None, None))
        self.assertEqual(by_hardware["slots"], 4)
        self.assertLessEqual(by_hardware["slots_free"], 4)
        listed = shell.breakpoints[0]["backends"]
        self.assertEqual([(one["backend"], one["ranks"]) for one in listed],
                         [("http", "0-1"), ("ptrace", "2")])

    def test_log(self):
        program, shell = self.start()
        shell.do("break square log 'x={x} twice={x + x} {nothing}'",
                 "break decorated")
        program.tell("[square(n) for n in range(3)], decorated(1)")
        self.assertEqual(shell.stop()[:2], ([2], "decorated"))
        self.assertEqual(
            [one["output"].split(" <")[0] for one in shell.logs],
            ["x=%d twice=%d" % (n, 2 * n) for n in range(3)])
        self.assertEqual([one["hits"] for one in shell.breakpoints], [3, 1])
        self.go_on(shell, program, ([0, 1, 4], 1))

    def test_a_log_with_formats(self):
        program, shell = self.start()
        shell.do("break square log '{x / 3:.3f} {x:04d} {x + 10:x}'")
        program.tell("square(2)")
        self.assertEqual(program.answer(), "4")
        for _ in range(50):
            if not shell.logs:
                shell.do("wait stopped timeout 0.1")
        self.assertEqual([one["output"] for one in shell.logs],
                         ["0.667 0002 c"])
        self.assertIn("[+- ][#][0][WIDTH][,_][.DIGITS] and one of b d o x",
                      shell.do("break square log '{x:n}'")[0]["error"])

    def test_what_cannot_be(self):
        program, shell = self.start(files={"late.py": LATE + "\n\nx = 1\n"})
        blank = program.line("def square") - 1
        errors = [one["error"] for one in shell.do(
            "break train.py:%d" % blank, "break train.py:999",
            "break train.py:%d if x ==" % (blank + 2), "break square if f(x)")]
        self.assertEqual(
            errors[0], "line 1: break: rank 0: line %d of train.py has no code "
            "(blank or a comment?): the next line with code is %d"
            % (blank, blank + 1))
        self.assertIn("is after the last line with code", errors[1])
        # The column is the condition's, which is quoted.
        self.assertIn("invalid condition 'x ==': column 5: ",
                      errors[2])
        self.assertEqual(len(errors), 4, errors)
        self.assertIn("invalid condition 'f(x)': column 2: ",
                      errors[3])
        # Said once, and none of them is left.
        self.assertEqual((len(errors), shell.breakpoints), (4, []))
        # What may come is said, and waits for that.
        program.tell("load()")
        self.assertEqual(program.answer(), "1")
        shell.do("break late.py:6")
        self.assertEqual(shell.breakpoints[0]["message"], "pending: no code "
                         "of line 6 of late.py is loaded yet; the code "
                         "loaded so far ends at line 3")

    def test_a_condition_that_fails(self):
        """It is said once, and stops nobody."""
        program, shell = self.start()
        # What an argument will have cannot be known.
        shell.do("break square if x.missing > 3", "break choose")
        for _ in range(2):
            program.tell("[square(2), square(3)], choose(None)")
            shell.do("wait stopped timeout 60")
            self.assertEqual(shell.stop()[:2], ([2], "choose"))
            self.go_on(shell, program, ([4, 9], "none"))
        said = [one["output"] for one in shell.logs
                if "x.missing > 3 cannot be evaluated, so the breakpoint" in
                one["output"]]
        self.assertEqual(len(said), 1, shell.logs)
        # Where it is looked for, too.
        self.assertRegex(shell.breakpoints[0]["message"],
                         "^condition failed: .*missing")
        self.assertEqual(shell.breakpoints[0]["hits"], 0)


def cpu_of(pid):
    """Seconds of processor time."""
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rpartition(")")[2].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK")


def load_tests(loader, _tests, _pattern):
    suite = pythons.load_cases(loader, __name__, EachCase)
    suite.addTests(loader.loadTestsFromTestCase(OneCase))
    return suite


if __name__ == "__main__":
    unittest.main()
