"""The greenlets of a program, on every CPython for which PROBETUI_GREENLETS,
a folder, has the package in a folder of that version's name (3.11)."""
import os
import shutil
import sys
import unittest

from agents import Place, Target, few_unless_soak, wait_for

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "backend"))
import pythons  # noqa: E402

BEGINS = """
import probetui
from greenlet import getcurrent, greenlet
touched = []
class Hostile(greenlet):
    def __getattribute__(self, name):
        touched.append(name)
        return greenlet.__getattribute__(self, name)
    def __bool__(self):
        touched.append("bool")
        return False
    def __repr__(self):
        touched.append("repr")
        return "repr"
    gr_frame = dead = parent = property(lambda self: touched.append("slot"))
def waits(value):
    local = value
    greenlet.parent.__get__(getcurrent()).switch()
def outer(value):
    waits(value + 1)
def begin(kind, value):
    new = kind(outer)
    greenlet.switch(new, value)
    return new
"""
IN_MAIN = """
one, two = begin(greenlet, 10), begin(Hostile, 20)
below = greenlet(lambda: greenlet.switch(one.parent), one)
pending, over = greenlet(outer), greenlet(len)
over.switch("three")
del touched[:]
say(probetui.listen())
"""
# The lines of the program are read in a greenlet.
IN_GREENLET = """
def level_zero():
    level_one()
    sys.exit(0)
def begins_and_waits():
    inner = begin(greenlet, 30)
    started.set()
    greenlet(done.wait).switch()
started, done = threading.Event(), threading.Event()
thread = threading.Thread(target=begins_and_waits, name="other", daemon=True)
thread.start()
started.wait()
ended = []
other = threading.Thread(target=lambda: ended.append(begin(greenlet, 40)))
other.start()
other.join()
say(probetui.listen())
greenlet(level_zero).switch()
"""


class GreenletsCase(unittest.TestCase):
    def start(self, begins, modules=True):
        place = Place(self.python.argv)
        self.addCleanup(place.close)
        if modules:
            version = "%d.%d" % self.python.version[:2]
            folder = os.path.join(os.environ.get("PROBETUI_GREENLETS", ""),
                                  version, "greenlet")
            if not os.path.exists(folder):
                self.skipTest("PROBETUI_GREENLETS has no greenlet for "
                              "Python " + version)
            shutil.copytree(folder, place.path + "/greenlet")
        target = Target(place, begins, IPDB_DEBUG=None)
        self.addCleanup(target.kill)
        return target

    def ids(self, target, *names):
        return target.ask("[" + ", ".join("id(%s)" % name
                                          for name in names) + "]")

    def functions(self, client, key):
        return [frame["func"].rpartition(".")[2] for frame in client.get(
            "/backtrace?greenlet=%d" % key)]

    def test_of_the_main_thread(self):
        target = self.start(BEGINS + IN_MAIN)
        one, two, main = self.ids(target, "one", "two", "getcurrent()")
        with target.client() as client:
            thread, = client.get("/threads")
            told = {each["id"]: each for each in thread["greenlets"]}
            self.assertEqual(set(told), {one, two, main})
            self.assertEqual(told[two], {
                "id": two, "type": "__main__.Hostile", "parent": main,
                "is_running": False, "func": "waits", "lineno":
                told[one]["lineno"], "file": told[one]["file"]})
            self.assertEqual((told[main]["parent"], told[main]["is_running"],
                              told[main]["func"]), (None, True, None))
            self.assertEqual(thread["greenlets_left_out"], 0)
            stack = client.get("/backtrace?greenlet=%d" % two)
            self.assertEqual([frame["func"] for frame in stack],
                             ["waits", "outer"])
            self.assertEqual(stack[0]["locals"]["local"]["value"], "21")
            self.assertEqual(self.functions(client, main),
                             ["level_two", "level_one", "<module>"])
            for path in ("greenlet=1", "greenlet=%d" % (one + 1)):
                self.assertEqual(client.ask("GET", "/backtrace?" + path)
                                 .status, 404)
            self.assertEqual(client.ask(
                "GET", "/backtrace?tid=1&greenlet=%d" % one).status, 400)
        self.assertEqual(target.ask("touched"), [])
        self.assertEqual(target.close(), (0, ""))

    def test_of_threads(self):
        target = self.start(BEGINS + IN_GREENLET)
        current, main = self.ids(target, "getcurrent()",
                                 "getcurrent().parent")
        with target.client() as client:
            # It has started and may be on its way to where it waits.
            wait_for(lambda: len(client.get("/threads")[1]["greenlets"]) == 3,
                     "the greenlet of the other thread")
            first, second = client.get("/threads")
            self.assertEqual((first["is_main"], second["name"]),
                             (True, "other"))
            told = {each["id"]: each for each in first["greenlets"]}
            self.assertEqual(set(told), {current, main})
            self.assertTrue(told[current]["is_running"])
            self.assertEqual(told[main]["func"], "<module>")
            self.assertEqual(self.functions(client, main), ["<module>"])
            self.assertEqual(self.functions(client, current),
                             ["level_two", "level_one", "level_zero"])
            # The one of a thread that has ended is not there.
            self.assertEqual(sorted(str(each["func"]) for each in
                                    second["greenlets"]),
                             ["None", "begins_and_waits", "waits"])
        target.run("done.set()")
        self.assertEqual(target.close(), (0, ""))

    def test_threads_that_are_not_known(self):
        """Each runs its main greenlet."""
        target = self.start(BEGINS + """
def begins():
    kept = begin(greenlet, 30)
    started.set()
    done.wait()
started, done = threading.Event(), threading.Event()
threading.Thread(target=begins, daemon=True).start()
started.wait()
kept = begin(greenlet, 10)
say(probetui.listen())
""")
        with target.client() as client:
            *threads, rest = client.get("/threads")
            self.assertEqual([thread["greenlets"] for thread in threads],
                             [[], []])
            self.assertEqual((rest["ident"], rest["tid"], rest["is_main"]),
                             (None, None, False))
            self.assertEqual(sorted(str(each["func"])
                                    for each in rest["greenlets"]),
                             ["None", "None", "waits", "waits"])
            running, = (each["id"] for each in rest["greenlets"]
                        if each["id"] == self.ids(target, "getcurrent()")[0])
            self.assertEqual(client.ask(
                "GET", "/backtrace?greenlet=%d" % running).status, 404)
        target.run("done.set()")
        self.assertEqual(target.close(), (0, ""))

    def test_many(self):
        target = self.start(BEGINS + """
kept = [begin(greenlet, number) for number in range(1500)]
say(probetui.listen())
""")
        with target.client() as client:
            thread, = client.get("/threads")
        self.assertEqual((len(thread["greenlets"]),
                          thread["greenlets_left_out"]), (1000, 501))
        self.assertEqual(target.close(), (0, ""))

    def test_not_kept_alive(self):
        """One that the program lets go of ends at once."""
        target = self.start(BEGINS + """
from greenlet import GreenletExit
def sees():
    try:
        getcurrent().parent.switch()
    except GreenletExit:
        ended.append(1)
ended, rounds, done = [], [0], []
def run():
    while not done:
        new = greenlet(sees)
        new.switch()
        time.sleep(0)
        before = len(ended)
        del new
        if len(ended) != before + 1:
            wrong.append(1)
        rounds[0] += 1
wrong = []
thread = threading.Thread(target=run)
thread.start()
say(probetui.listen())
""")
        with target.client() as client:
            for _ in range(200):
                client.get("/threads")
        target.run("done.append(1)")
        target.run("thread.join()")
        self.assertEqual(target.ask("[len(wrong), rounds[0] > 0]"),
                         [0, True])
        self.assertEqual(target.close(), (0, ""))

    def test_another_module_of_that_name(self):
        target = self.start("""
import probetui, types
class greenlet:
    gr_frame = parent = property(lambda self: touched.append(1))
    def __bool__(self):
        touched.append(2)
touched = []
sys.modules["greenlet"] = types.ModuleType("greenlet")
sys.modules["greenlet"].greenlet = greenlet
kept = greenlet()
say(probetui.listen())
""", modules=False)
        with target.client() as client:
            self.assertNotIn("greenlets", client.get("/threads")[0])
            self.assertEqual(client.ask(
                "GET", "/backtrace?greenlet=%d" % self.ids(target, "kept")[0]
            ).status, 404)
        self.assertEqual(target.ask("touched"), [])
        self.assertEqual(target.close(), (0, ""))


def load_tests(loader, tests, _):
    few_unless_soak()
    return pythons.load_cases(loader, __name__, GreenletsCase)
