"""The Python package, on every CPython found: one process each that raises
and stops as it is told, and clients that talk to it over its socket."""
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
import unittest

from sessions import LIMIT, RANK, Client, Place, Target, wait_for

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "backend"))
import pythons  # noqa: E402


def functions(where):
    """The names of the functions that `w` printed."""
    return re.findall(r"\(\d+\)(\S+?)\(", where)


class TargetCase(unittest.TestCase):
    """One long-lived process; each test leaves it waiting for the next."""

    @classmethod
    def setUpClass(cls):
        cls.place = Place(cls.python.argv)
        cls.target = Target(cls.place)

    def tearDown(self):
        # Of a test that failed: the next one begins with another.
        if self.target.is_busy:
            self.target.process.kill()
            self.target.close()
            type(self).target = Target(self.place)

    @classmethod
    def tearDownClass(cls):
        status = cls.target.close()
        left = [name for name in os.listdir(cls.place.path)
                if name.startswith("s.")]
        cls.place.close()
        assert status == 0 and not left, (status, left)

    def test_full_stack(self):
        # py_debug: only the deepest frame, one session a decorator.
        before = self.target.told().count("waits in pdb")
        self.target.begin("chained")
        with self.target.client() as client:
            banner = client.read()
            self.assertIn("rank 7 of 8", banner)
            self.assertIn("raised RuntimeError: boom 4", banner)
            self.assertIn("KeyError: 'missing'", banner)
            self.assertIn("the rank continues in 30 min", banner)
            self.assertNotIn("wrapping.py", banner)
            self.assertEqual(functions(client.say("w"))[-6:], [
                "main", "chained", "outcome", "outer", "inner", "middle",
                "fail"][-6:])
            self.assertIn("3", client.say("p x"))
            self.assertIn("middle()", client.say("up"))
            self.assertIn("inner()", client.say("up"))
            self.assertIn("raise RuntimeError", client.say("ll") +
                          client.say("down") + client.say("down"))
            self.assertIn("KeyError", client.say("exceptions"))
            self.assertIn("middle()", client.say("exceptions 0"))
            self.assertNotIn("wrapper", client.say("w"))
            client.send("q")
            result = self.target.result()
        self.assertEqual(result, {
            "type": "RuntimeError", "text": "boom 4",
            "frames": ["outcome", "outer", "inner", "middle", "fail"],
            "context": "KeyError", "cause": True, "streams": True,
            "trace": True})
        told = self.target.told()
        self.assertEqual(told.count("waits in pdb"), before + 1, told)
        self.assertIn("rank 7 raised RuntimeError: boom 4 and waits in pdb at "
                      + self.place.inside
                      + "/s.7: connect with probetui, or nc -U", told)

    def test_same_exception(self):
        for word in ("c", "q", "\x04"):
            self.target.begin("same")
            with self.target.client() as client:
                client.read()
                client.send(word)
                self.assertEqual(self.target.result(), [True, True, True])

    def test_no_steps_after_the_end(self):
        self.target.begin("chained")
        with self.target.client() as client:
            client.read()
            for word in ("next", "n", "step", "until 9", "r", "jump 3",
                         "run"):
                self.assertIn("***", client.say(word))
            self.assertIn("boom", client.say("p RuntimeError('boom')"))
            client.send("continue")
            self.assertEqual(self.target.result()["type"], "RuntimeError")

    def test_reconnect(self):
        # py_debug: the session is lost with its client, and the rank hangs.
        self.target.begin("chained")
        with self.target.client() as client:
            first = client.read()
            self.assertEqual(client.say("!y = 99"), "")
            # It goes away in the middle of a line.
            client.connection.sendall(b"q")
        with self.target.client() as client:
            again = client.read()
            self.assertEqual(again.splitlines()[1], first.splitlines()[1])
            self.assertEqual(again.splitlines()[-2:], first.splitlines()[-2:])
            self.assertEqual(client.say("p y").strip(), "99")
            client.send("c")
            self.target.result()

    def test_viewers(self):
        self.target.begin("chained")
        with self.target.client() as one, self.target.client() as two:
            self.assertEqual(one.read().splitlines()[1:2],
                             two.read().splitlines()[1:2])
            self.assertEqual(one.say("p 6*7").strip(), "42")
            self.assertEqual(two.read().strip(), "42")
            self.assertEqual(two.say("p x").strip(), "3")
            self.assertEqual(one.read().strip(), "3")
            two.close()
            one.send("c")
            self.target.result()

    def test_streams(self):
        # py_debug: sys.std* are the session's, for the whole process and for
        # good.
        self.target.begin("printing")
        with self.target.client() as client:
            client.read()
            self.assertEqual(client.say("!print('to me')").strip(), "to me")
            # A thread prints while sys.stdout is pdb's.
            self.assertIn("None", client.say(
                "!import gc, threading; t = [o for o in gc.get_objects() if "
                "isinstance(o, threading.Thread) and 'printer' in str("
                "getattr(o, '_target', ''))][0]; "
                "e = dict(zip(t._target.__code__.co_freevars, "
                "[c.cell_contents for c in t._target.__closure__])); "
                "e['wanted'].set(); e['printed'].wait(); print(None)"))
            client.send("c")
            self.assertEqual(self.target.line(), "printed by a thread\n")
            self.assertEqual(self.target.line(), "printed afterwards\n")
            self.assertTrue(self.target.result()["streams"])
            client.connection.settimeout(0)
            with self.assertRaises(BlockingIOError):
                client.connection.recv(1)

    def test_quit_of_a_live_session(self):
        # py_debug: BdbQuit is swallowed, and the function returns None.
        self.target.begin("quits")
        with self.target.client() as client:
            client.read()
            client.send("q")
            self.assertEqual(self.target.result()["type"], "BdbQuit")

    def test_commands_of_breakpoints(self):
        """Up to 3.12 they run, and prompt, outside of a stop."""
        self.target.begin("walk")
        with self.target.client() as client:
            client.read()
            client.say("tbreak add")
            number = client.say("p [b.number for b in __import__('bdb')."
                                "Breakpoint.bpbynumber if b][-1]").strip()
            for line in ("commands " + number, "p a + 100", "end"):
                client.send(line)
            client.read()
            self.assertIn("100", client.say("c"))
            client.prompt = "name? "
            client.say("!x = input('name? ')")
            client.prompt = "(rank-7-pdb) "
            client.say("Fred")
            self.assertIn("Fred", client.say("p x"))
            client.send("c")
            self.assertEqual(self.target.result(), "walked")

    def test_end_of_input_goes_on(self):
        self.target.begin("walk")
        with self.target.client() as client:
            client.read()
            client.send("\x04")
            self.assertEqual(self.target.result(), "walked")

    def test_half_closed_client(self):
        """As `echo c | nc -N -U`."""
        self.target.begin("walk")
        with self.target.client() as client:
            client.connection.sendall(b"p 6*7\nc\n")
            client.connection.shutdown(socket.SHUT_WR)
            self.assertEqual(self.target.result(), "walked")
            client.connection.settimeout(0)
            self.assertIn("42\n", client.connection.recv(65536).decode())

    def test_walk(self):
        """The stops of a live session, where plain pdb makes them."""
        words = ["n", "n", "s", "n", "s", "n", "return", "n", "n", "until",
                 "tbreak add", "c", "w", "u", "p i", "d", "until",
                 "n", "n", "n", "n", "n", "n", "c"]
        # From 3.13 on, the first stop is still in the line of set_trace().
        if self.python.version < (3, 13):
            del words[0]
        own = self.place.write("own.py", "import sys\n")
        plain = subprocess.run(
            self.place.argv + ["-c", "import sys; sys.path.insert(0, %r); "
                               "import os, probetui, pdb\n"
                               "p = pdb.Pdb(stdin=sys.stdin, stdout="
                               "sys.stdout, nosigint=True, readrc=False)\n"
                               "p.prompt = '(rank-7-pdb) '\n"
                               "probetui.set_trace = lambda: p.set_trace("
                               "sys._getframe(1))\n"
                               "import agent_target\nagent_target.walk()\n"
                               % os.path.dirname(own)],
            input="\n".join(words) + "\n", stdout=subprocess.PIPE,
            env=self.place.environment(IPDB_DEBUG=None),
            universal_newlines=True).stdout
        self.target.begin("walk")
        with self.target.client() as client:
            text = client.read()
            text = text[text.index("> "):]
            for word in words[:-1]:
                text += client.prompt + client.say(word)
            client.send("c")
            self.assertEqual(self.target.result(), "walked")

        def stops(said):
            return re.findall(r"--\w+--|> \S+\(\d+\)\w+\(\)", said)

        self.assertEqual(stops(text), stops(plain))
        self.assertGreater(len(stops(text)), 15)

    def test_breakpoints_last(self):
        self.target.begin("loop")
        with self.target.client() as client:
            client.read()
            self.assertIn("Breakpoint", client.say("b add"))
            self.assertIn("add()", client.say("c"))
            self.assertIn("loop()", client.say("c"))
            self.assertIn("add()", client.say("c"))
            self.assertIn("a = 1", client.say("args"))
            client.prompt = "Clear all breaks? "
            client.say("clear")
            client.prompt = "(rank-7-pdb) "
            self.assertIn("Deleted breakpoint", client.say("yes"))
            client.send("c")
            self.assertEqual(self.target.result(), 6)

    def test_steps_through_decorators(self):
        self.target.begin("decorated_step")
        with self.target.client() as client:
            text = client.read()
            while "b = twice" not in text:
                text = client.say("n")
            self.assertIn("twice(", client.say("s"))
            text = client.say("n")
            self.assertIn("twice(", text)
            self.assertNotIn("probetui", client.say("w"))
            self.assertIn("--Return--", client.say("n"))
            self.assertIn("decorated_step", client.say("n"))
            client.send("c")
            self.assertEqual(self.target.result(), 8)

    def test_lease(self):
        # py_debug: waits for ever for a client.
        self.target.begin("lease_error")
        self.assertEqual(self.target.result()["text"], "nobody comes")
        self.target.begin("lease_stop")
        self.assertEqual(self.target.result(), "went on")

    def test_lease_is_renewed(self):
        self.target.begin("chained")
        with self.target.client() as client:
            client.read()
            client.say("!import sys, time")
            walk = ("p (lambda w: w(w, sys._getframe()))(lambda w, f: "
                    "f.f_locals['self'] if hasattr(f.f_locals.get('self'), "
                    "'lease_until') and hasattr(f.f_locals['self'], "
                    "'curframe') else w(w, f.f_back))%s")
            dialect = client.say(walk % ".probetui_dialect").strip()
            self.assertEqual(dialect, "'probetui'")
            first = float(client.say(walk % ".lease_until"))
            second = float(client.say(walk % ".lease_until"))
            self.assertGreater(second, first)
            now = float(client.say("p time.monotonic()"))
            self.assertAlmostEqual(second - now, 1800, delta=20)
            client.send("c")
            self.target.result()

    def test_long_lines(self):
        """As the node sends its questions, and answers as they may be."""
        self.target.begin("chained")
        with self.target.client() as client:
            client.read()
            self.assertEqual(
                client.say("p len('%s')" % ("x" * 3900)).strip(), "3900")
            self.assertEqual(len(client.say("p 'y' * 100000").strip()),
                             100002)
            client.send("c")
            self.target.result()

    def test_nested(self):
        """interact and debug read from the socket, not from the program."""
        self.target.begin("walk")
        with self.target.client() as client:
            client.read()
            client.prompt = ">>> "
            client.say("interact")
            self.assertEqual(client.say("6 * 7").strip(), "42")
            self.assertEqual(client.say("print('here')").strip(), "here")
            client.prompt = "(rank-7-pdb) "
            client.say("exit()")
            client.prompt = "((rank-7-pdb)) "
            client.say("debug func(5)")
            client.say("s")
            client.prompt = "(rank-7-pdb) "
            self.assertIn("LEAVING", client.say("c"))
            self.assertIn("no rank waits", client.say("release"))
            client.send("c")
            self.assertEqual(self.target.result(), "walked")

    def test_kinds(self):
        # py_debug: no functools.wraps, no coroutines, no generators.
        self.target.begin("kinds")
        self.assertEqual(self.target.result(), [
            "plain", "Its text.", "(a, b=1)", True, True, True, True, 2, 3,
            4])

    def run_kind(self, name, text):
        self.target.begin(name)
        with self.target.client() as client:
            self.assertIn(text, client.read())
            self.assertIn("raise RuntimeError", client.say("l"))
            client.send("c")
            return self.target.result()

    def test_thread(self):
        result = self.run_kind("threaded", "worker-9: raised RuntimeError")
        self.assertEqual(result[0]["text"], "in a thread")

    def test_generator(self):
        values, result = self.run_kind("generator", "in a generator")
        self.assertEqual(values, [1, 5])
        self.assertEqual(result["text"], "in a generator")

    def test_coroutine(self):
        result = self.run_kind("coroutine", "in a coroutine")
        self.assertEqual(result["text"], "in a coroutine")

    def test_async_generator(self):
        result, seen = self.run_kind("async_generator", "asynchronous")
        self.assertEqual(seen, [1, "sent", 2, "thrown", "left the handler"])
        self.assertEqual(result["context"], "NoneType")

    def test_control_flow(self):
        self.target.begin("controls")
        self.assertEqual(self.target.result(), [
            "KeyboardInterrupt", "SystemExit", "GeneratorExit",
            "StopIteration", "CancelledError"])

    def test_any_exception(self):
        self.target.begin("odd")
        with self.target.client() as client:
            self.assertIn("raised Odd: <message unavailable>",
                          client.read())
            client.send("c")
            self.assertEqual(self.target.result(), "Odd")

    def test_interrupt(self):
        self.target.begin("interrupted")
        with self.target.client() as client:
            client.read()
            self.target.process.send_signal(signal.SIGINT)
        self.assertEqual(self.target.result()["type"], "KeyboardInterrupt")

    def test_fork(self):
        # Its parent has the name once it has stopped.
        self.target.begin("chained")
        with self.target.client() as client:
            client.read()
            client.send("c")
            self.target.result()
        self.target.begin("forked")
        base = self.place.socket()

        def find():
            return [name for name in os.listdir(self.place.path)
                    if re.match(r"s\.7\.\d+$", name)]

        path = os.path.join(self.place.path, wait_for(
            find, "the child's own socket")[0])
        with Client(path) as client:
            self.assertIn("boom", client.read())
            client.send("c")
            pid, status = self.target.result()
        self.assertEqual(path, "%s.%d" % (base, pid))
        self.assertEqual(status, 7)
        self.assertTrue(os.path.exists(base))
        self.assertEqual(find(), [])

    def test_fork_while_stepped(self):
        # Nobody could reach it: it waited for the whole lease.
        self.target.begin("stepped_fork")
        with self.target.client() as client:
            while "waitpid" not in client.say("n"):
                pass
            client.send("c")
            self.assertEqual(self.target.result(), 7)
        self.assertIn("has no socket, and continues", self.target.told())

    def test_rank_changes_while_stepped(self):
        self.target.begin("other_rank")
        with self.target.client() as client:
            while "outcome(outer)" not in client.read():
                client.send("n")
            client.send("n")
            with Client(self.place.socket(3), "(rank-3-pdb) ") as other:
                self.assertIn("boom", other.read())
                other.send("c")
            self.assertEqual(self.target.result()["type"], "RuntimeError")

    def test_raw_output(self):
        self.target.begin("raw_output")
        with self.target.client() as client:
            client.read()
            client.say("u")
            client.say("u")
            client.say("!wanted.set(), printed.wait(10)")
            client.send("c")
            self.assertEqual(self.target.result(), [1])

    def test_nothing_is_kept(self):
        """Though the person looked at frames of two modules."""
        self.target.begin("kept")
        with self.target.client() as client:
            client.read()
            client.say("u")
            self.assertIn("raised", client.say("c"))
            client.say("u")
            client.say("u")
            client.send("c")
            self.assertEqual(self.target.result(), [True, []])

    def test_logging(self):
        # py_debug: basicConfig(INFO) at import; the default mode is another
        # than the documents say.
        self.target.begin("loggers")
        self.assertEqual(self.target.result(), [0, 30, "socket", True])


class ProcessCase(unittest.TestCase):
    """What needs a process of its own."""

    def setUp(self):
        self.place = Place(self.python.argv)
        self.addCleanup(self.place.close)

    def test_lease_that_is_none(self):
        """Told where the function is decorated."""
        script = self.place.write("lease.py", """
import probetui
for lease in "xx", "0", -1, "90s":
    try:
        @probetui.attach_on_error(lease=lease)
        def function():
            pass
        print("taken")
    except ValueError as error:
        print(str(error).split(":")[0])
""")
        status, output, errors = self.place.run(script, IPDB_DEBUG="1")
        self.assertEqual((status, output.splitlines()), (0, [
            "the lease %s is not a time" % each
            for each in ("'xx'", "'0'", "-1")] + ["taken"]), errors)

    def test_not_enabled(self):
        script = self.place.write("off.py", """
import sys, time
before = set(sys.modules)
import probetui
def plain(): pass
assert probetui.attach_on_error()(plain) is plain
assert probetui.attach_on_error(plain) is plain
probetui.set_trace()
probetui.breakpoint(ranks=[0, 2])
probetui.Debugger.set_trace()
print(*sorted(set(sys.modules) - before))
""")
        for value in (None, "0", "no"):
            status, output, errors = self.place.run(script, IPDB_DEBUG=value)
            self.assertEqual((status, errors), (0, ""))
            self.assertLessEqual(set(output.split()),
                                 {"probetui", "__future__"})

    def test_enabled_needs_the_library_alone(self):
        # py_debug: needs ipdb, web-pdb and click.
        script = self.place.write("on.py", """
import os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import probetui, probetui.wrapping, probetui.prompt
library = os.path.dirname(os.__file__)
own = os.path.dirname(probetui.__file__)
for name, module in sorted(sys.modules.items()):
    path = getattr(module, "__file__", None)
    if path and not path.startswith((library, own)) and name != "__main__":
        print(name, path)
""")
        self.assertEqual(self.place.run("-I", "-S", script), (0, "", ""))

    def test_default_paths(self):
        # py_debug: other paths than it documents; what it leaves stays.
        rank = 100000 + os.getpid() % 100000
        script = self.place.write("raises.py", """
import probetui
@probetui.attach_on_error()
def main():
    raise RuntimeError("boom")
main()
""")
        root = self.place.root
        folder = "%s/tmp/pdb-%d" % (root, os.geteuid())
        paths = ["%s/%d.sock" % (folder, rank),
                 "%s/tmp/pdb.sock.%d" % (root, rank)]
        job = "%s/127.0.0.1-%s" % (folder, os.path.basename(
            self.place.inside))
        # A socket that is left over is replaced, what else lies there stays.
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with socket.socket(socket.AF_UNIX) as old:
            old.bind(paths[0])
        with open(paths[1], "w") as file:
            file.write("of somebody")
        process = self.place.start(script, RANK=str(rank),
                                   IPDB_SOCK_PATH=None)
        self.addCleanup(process.kill)
        with Client(paths[0], "(rank-%d-pdb) " % rank) as client:
            client.read()
            for path, mode in ((paths[0], 0o600), (folder, 0o700)):
                self.assertEqual(stat.S_IMODE(os.lstat(path).st_mode), mode)
            with open("%s.holding/%d" % (job, rank)) as file:
                self.assertIn("rank %d raised RuntimeError: boom and waits"
                              % rank, file.read())
            self.assertTrue(os.path.isfile(paths[1]))
            os.unlink(paths[1])
            client.send("c")
            _, errors = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 1)
        self.assertTrue(errors.endswith("RuntimeError: boom\n"), errors)
        for path in paths + [job + ".ranks", job + ".holding"]:
            self.assertFalse(os.path.exists(path), path)


class OneCase(unittest.TestCase):
    """What does not depend on the version of Python."""

    def setUp(self):
        self.place = Place()
        self.addCleanup(self.place.close)
        self.script = self.place.write("raises.py", """
import probetui, sys
@probetui.attach_on_error()
def main():
    raise RuntimeError("boom")
main()
""")


class TestNames(OneCase):
    def start(self, **more):
        process = self.place.start(self.script, **more)
        self.addCleanup(process.communicate, timeout=LIMIT)
        self.addCleanup(process.kill)
        return process

    def test_stands_beside_a_listener(self):
        # py_debug: unlinks whatever has its name.
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(self.place.socket())
            other.listen(1)
            inode = os.lstat(self.place.socket()).st_ino
            process = self.start()
            with Client("%s.%d" % (self.place.socket(),
                                   process.pid)) as client:
                client.read()
                client.send("c")
                process.wait(LIMIT)
            self.assertEqual(os.lstat(self.place.socket()).st_ino, inode)
            # And it was not connected to.
            other.setblocking(False)
            with self.assertRaises(BlockingIOError):
                other.accept()

    def test_own_path_in_other_hands(self):
        """It is another file's by now: it stays."""
        process = self.start()
        with Client(self.place.socket()) as client:
            client.read()
            os.unlink(self.place.socket())
            with open(self.place.socket(), "w") as file:
                file.write("kept")
            client.send("c")
            process.wait(LIMIT)
        with open(self.place.socket()) as file:
            self.assertEqual(file.read(), "kept")

    def test_replaces_what_is_left(self):
        process = self.start()
        Client(self.place.socket()).close()
        process.kill()
        process.wait(LIMIT)
        self.assertTrue(os.path.exists(self.place.socket()))
        process = self.start()
        with Client(self.place.socket()) as client:
            client.read()
            client.send("c")
            process.wait(LIMIT)
        self.assertFalse(os.path.exists(self.place.socket()))

    def test_name_that_somebody_keeps(self):
        """A rank that was stopped while it took one holds no other up."""
        script = self.place.write("claims.py", """
import fcntl, os, sys
from probetui import files
files.CLAIM_SECONDS = 0.2
path = sys.argv[1]
fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
fcntl.lockf(fd, fcntl.LOCK_EX)
pid = os.fork()
if pid == 0:
    try:
        files.Lock(path).wait()
    except OSError as error:
        print(error.strerror, flush=True)
    os._exit(0)
os.waitpid(pid, 0)
""")
        path = os.path.join(self.place.path, "lock")
        status, output, errors = self.place.run(script, path)
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(output, "another process holds the lock %s\n" % path)

    def test_name_that_is_not_locked_yet(self):
        """Nobody takes a rank that begins for one that has died."""
        script = self.place.write("begins.py", """
import fcntl, os, sys
from probetui import files
path, lockf = sys.argv[1], fcntl.lockf
def lock(*arguments):
    print("was there", os.path.exists(path), flush=True)
    lockf(*arguments)
fcntl.lockf = lock
files.Lock(path).take()
fcntl.lockf = lockf
pid = os.fork()
if pid == 0:
    print("is locked", files.is_locked(path), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
print(os.listdir(os.path.dirname(path)))
""")
        path = os.path.join(self.place.path, "ranks", "0")
        os.mkdir(os.path.dirname(path))
        status, output, errors = self.place.run(script, path)
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(output,
                         "was there False\nis locked True\n['0']\n")

    def test_link_is_not_followed(self):
        victim = os.path.join(self.place.path, "victim")
        os.symlink(victim, self.place.socket())
        process = self.start()
        with Client("%s.%d" % (self.place.socket(), process.pid)) as client:
            client.read()
            client.send("c")
            process.wait(LIMIT)
        self.assertFalse(os.path.exists(victim))

    def test_too_long(self):
        process = self.start(IPDB_SOCK_PATH=self.place.inside + "/" + "x" * 99)
        _, errors = process.communicate(timeout=LIMIT)
        self.assertIn("too long for a socket: set IPDB_SOCK_PATH", errors)
        self.assertTrue(errors.endswith("RuntimeError: boom\n"))

    def test_folder_of_others(self):
        sys.path.insert(0, self.place.path)
        from probetui import files

        open_folder = os.path.join(self.place.path, "open")
        os.mkdir(open_folder)
        os.chmod(open_folder, 0o755)
        with self.assertRaisesRegex(files.FolderError, "mode to 700"):
            files.secure(open_folder)
        link = os.path.join(self.place.path, "link")
        os.symlink(open_folder, link)
        with self.assertRaises(files.FolderError):
            files.secure(link)
        if os.geteuid() == 0:
            os.chmod(open_folder, 0o700)
            os.chown(open_folder, 65534, 65534)
            with self.assertRaisesRegex(files.FolderError, "user 65534"):
                files.secure(open_folder)

    def test_other_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to be another user")
        process = self.start()
        Client(self.place.socket()).close()
        os.chmod(self.place.path, 0o755)
        os.chmod(self.place.socket(), 0o666)
        code = ("import socket, sys; s = socket.socket(socket.AF_UNIX); "
                "s.connect(sys.argv[1]); print(s.recv(4096).decode())")
        said = subprocess.run(
            ["/usr/bin/python3", "-c", code, self.place.socket()],
            stdout=subprocess.PIPE, universal_newlines=True, timeout=LIMIT,
            preexec_fn=lambda: os.setuid(65534)).stdout
        self.assertIn("you are user 65534", said)
        with Client(self.place.socket()) as client:
            client.read()
            client.send("c")
            process.wait(LIMIT)


class TestTcp(OneCase):
    TOKEN = "a token of the test"

    def start(self, **more):
        more.setdefault("IPDB_TOKEN", self.TOKEN)
        process = self.place.start(
            self.script, IPDB_CONNECTION_TYPE="tcp",
            IPDB_PORT=more.pop("IPDB_PORT", "0"), **more)
        self.addCleanup(process.communicate, timeout=LIMIT)
        self.addCleanup(process.kill)
        return process

    def port_of(self, process):
        line = process.stderr.readline()
        return int(re.search(r"nc 127\.0\.0\.1 (\d+);", line).group(1))

    def connect(self, port):
        return Client(("127.0.0.1", port), family=socket.AF_INET)

    def test_token(self):
        # py_debug: whoever reaches the port has a shell.
        path = os.path.join(self.place.path, "token")
        with open(path, "w", opener=lambda name, flags: os.open(
                name, flags, 0o600)) as file:
            file.write(self.TOKEN + "\n")
        process = self.start(IPDB_TOKEN=None, IPDB_TOKEN_FILE=path)
        port = self.port_of(process)
        said = ("probetui: send the token first (IPDB_TOKEN_FILE)\n"
                "probetui: the token was refused\n")
        with self.connect(port) as client:
            client.send("p 1")
            self.assertEqual(client.rest(), said)
        with self.connect(port) as client:
            client.send("a token of the tesT")
            self.assertEqual(client.rest(), said)
        with self.connect(port) as client:
            client.send(self.TOKEN)
            self.assertIn("boom", client.read())
            client.send("c")
            process.wait(LIMIT)

    def test_same_port(self):
        # py_debug: jobs of one machine take each other's port.
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen(1)
            taken = other.getsockname()[1]
            process = self.start(IPDB_PORT=str(taken - RANK))
            port = self.port_of(process)
            self.assertNotEqual(port, taken)
            with self.connect(port) as client:
                client.send(self.TOKEN)
                client.read()
                client.send("c")
                process.wait(LIMIT)


class TestSettings(OneCase):
    def refused(self, pattern, **more):
        status, _, errors = self.place.run(self.script, **more)
        self.assertEqual(status, 1)
        self.assertRegex(errors.splitlines()[0], pattern)
        self.assertTrue(errors.endswith("RuntimeError: boom\n"), errors)

    def test_odd_digits(self):
        """No number of Python's, though Unicode has it for a digit."""
        _, _, errors = self.place.run(self.script, RANK="\u00b2",
                                      IPDB_LEASE="0.1s")
        self.assertTrue(errors.startswith("probetui: rank 0 raised"), errors)

    def test_wrong(self):
        """Told in a sentence; the program goes on as without us."""
        self.refused("use socket, console or web", IPDB_MODE="sockets")
        self.refused("needs a token", IPDB_CONNECTION_TYPE="tcp")
        self.refused("needs a token", IPDB_CONNECTION_TYPE="tcp",
                     IPDB_TOKEN="short")
        path = os.path.join(self.place.path, "token")
        with open(path, "w") as file:
            file.write(TestTcp.TOKEN)
        os.chmod(path, 0o644)
        self.refused("other users can read the token", IPDB_TOKEN_FILE=path,
                     IPDB_CONNECTION_TYPE="tcp")
        with open(path, "w") as file:
            file.write("short\n")
        os.chmod(path, 0o600)
        self.refused(path + " has 5 characters", IPDB_TOKEN_FILE=path,
                     IPDB_CONNECTION_TYPE="tcp")
        self.refused("the lease 'soon' is not a time", IPDB_LEASE="soon")

    def test_version(self):
        sys.path.insert(0, self.place.path)
        import probetui
        said = subprocess.run([os.environ["PROBETUI"], "--version"],
                              stdout=subprocess.PIPE,
                              universal_newlines=True).stdout
        self.assertEqual(said, "probetui %s\n" % probetui.__version__)

    def test_path(self):
        said = subprocess.run([os.environ["PROBETUI"], "--agent-path"],
                              stdout=subprocess.PIPE,
                              universal_newlines=True).stdout.rstrip("\n")
        self.assertTrue(os.path.exists(said + "/probetui/__init__.py"), said)


class TestHolds(OneCase):
    """Ranks that a breakpoint does not name wait for those that it names."""

    def setUp(self):
        super().setUp()
        self.script = self.place.write("holds.py", """
import os, signal, sys, time
import probetui
if "deaf" in sys.argv:
    signal.signal(signal.SIGUSR1, lambda *_: print("signal", flush=True))
print("begun", flush=True)
if "late" in sys.argv:
    sys.stdin.readline()
used, begun = time.process_time(), time.monotonic()
try:
    probetui.breakpoint(ranks=[0], hold="run" not in sys.argv,
                        lease="1s" if "short" in sys.argv else None)
except KeyboardInterrupt:
    print("interrupted")
if int(os.environ["RANK"]) == 0 and "die" in sys.argv:
    os.kill(os.getpid(), signal.SIGKILL)
print("used", round(time.process_time() - used, 1), "of",
      round(time.monotonic() - begun, 1), flush=True)
""")

    def start(self, rank, *words, **more):
        more.setdefault("LOCAL_WORLD_SIZE", "2")
        process = self.place.start(self.script, *words, RANK=str(rank),
                                   WORLD_SIZE="2", **more)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "begun\n")
        return process

    def holding(self, *words, **more):
        process = self.start(1, *words, **more)
        self.assertIn("rank 1 waits for rank 0 to continue",
                      process.stderr.readline())
        return process

    def client(self):
        return Client(self.place.socket(0), "(rank-0-pdb) ")

    def test_signals(self):
        process = self.holding("deaf")
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(process.stdout.readline(), "signal\n")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.stdout.readline(), "interrupted\n")

    def test_lease_and_processor(self):
        # py_debug: turns in a loop, for ever.
        process = self.holding("short")
        used, length = re.match(r"used (\S+) of (\S+)",
                                process.stdout.readline()).groups()
        self.assertGreaterEqual(float(length), 1)
        self.assertLess(float(used), 0.5)
        # Whether its lease or rank 0's time to come is over first, is luck.
        self.assertRegex(process.stderr.readline(),
                         "(does not wait|no longer waits) for rank 0")

    def test_late(self):
        """The rank it would hold for has gone on, and ended."""
        process = self.start(1, "late")
        first = self.start(0)
        with self.client() as client:
            client.read()
            client.send("c")
        self.assertEqual(first.wait(LIMIT), 0)
        process.stdin.write("\n")
        process.stdin.flush()
        self.assertIn("used", process.stdout.readline())

    def test_early(self):
        early = self.holding()
        first = self.start(0)
        with self.client() as client:
            client.read()
            self.assertIsNone(early.poll())
            client.send("c")
            self.assertIn("used", first.stdout.readline())
            self.assertIn("used", early.stdout.readline())
        self.assertEqual(first.wait(LIMIT), 0)

    def test_release(self):
        process = self.holding()
        self.start(0)
        with self.client() as client:
            client.read()
            self.assertIn("resumed", client.say("release"))
            self.assertIn("used", process.stdout.readline())
            client.send("c")

    def test_step_that_needs_the_one_that_holds(self):
        """The step is over only once rank 1 has come to it."""
        path = os.path.join(self.place.path, "meeting")
        script = self.place.write("meets.py", """
import os, socket
import probetui
def meet():
    here = socket.socket(socket.AF_UNIX)
    if os.environ["RANK"] == "1":
        here.connect(%r)
        return "met"
    here.bind(%r)
    here.listen()
    return here.accept()[0].recv(1).decode() or "met"
print("begun", flush=True)
probetui.breakpoint(ranks=[0])
a = 1
b = meet()
print(b, flush=True)
""" % (path, path))
        self.script = script
        holding = self.holding()
        first = self.start(0)
        with self.client() as client:
            self.assertIn("The other ranks wait", client.read())
            # A step that is over soon is none.
            self.assertNotIn("longer", client.say("n"))
            if holding.poll() is not None:
                self.fail(holding.stderr.read())
            said = client.say("n")
            self.assertIn("no longer wait", said)
            self.assertEqual(client.say("p b").strip(), "'met'")
            self.assertIn("no rank waits", client.say("release"))
            client.send("c")
        self.assertEqual(first.stdout.readline(), "met\n")
        self.assertEqual(holding.stdout.readline(), "met\n")
        self.assertIn("may need this rank", holding.stderr.readline())

    def test_no_stop(self):
        """Nobody holds for a rank that cannot stop."""
        process = self.holding()
        os.mkdir(os.path.join(self.place.path, "broken"))
        self.place.write("broken/pdb.py", "raise OSError('no pdb')\n")
        first = self.start(0, PYTHONPATH="%s/broken:%s" % (
            self.place.inside, self.place.inside))
        self.assertIn("used", first.stdout.readline())
        self.assertIn("no pdb", first.stderr.readline())
        self.assertIn("used", process.stdout.readline())

    def test_killed(self):
        process = self.holding()
        first = self.start(0, "die")
        with self.client() as client:
            client.read()
            client.send("c")
        self.assertEqual(first.wait(LIMIT), -9)
        self.assertIn("used", process.stdout.readline())

    def test_killed_in_pdb(self):
        process = self.holding()
        first = self.start(0)
        with self.client() as client:
            client.read()
            wait_for(lambda: "0" in os.listdir(self.holding_folder()),
                     "its notice")
            first.kill()
            first.wait(LIMIT)
        self.assertIn("used", process.stdout.readline())

    def holding_folder(self):
        return "/tmp/pdb-%d/127.0.0.1-%s.holding" % (
            os.geteuid(), os.path.basename(self.place.inside))

    def test_run_on(self):
        process = self.start(1, "run")
        self.assertIn("used", process.stdout.readline())

    def test_other_machine(self):
        process = self.start(1, LOCAL_WORLD_SIZE="1", LOCAL_RANK="0")
        self.assertIn("used", process.stdout.readline())
        self.assertIn("rank 1 does not wait for rank 0 (on another machine)",
                      process.stderr.readline())


class TestConsole(OneCase):
    """Two ranks and one terminal."""

    def test_turns(self):
        # py_debug: the other ranks turn in a loop at 100 % of a processor.
        master, slave = os.openpty()
        self.addCleanup(os.close, master)
        script = self.place.write("console.py", """
import json, os, probetui, time
probetui.set_trace()
value = int(os.environ["RANK"])
print(json.dumps([value, time.process_time(), time.monotonic()]))
""")
        ranks = [subprocess.Popen(
            self.place.argv + [script], stdin=slave, stdout=subprocess.PIPE,
            stderr=slave, env=self.place.environment(
                IPDB_MODE="console", RANK=str(rank), TERM="dumb"),
            universal_newlines=True) for rank in (0, 1)]
        os.close(slave)
        seen = b""

        def prompts():
            # input() puts its prompt on standard error where standard
            # output is no terminal.
            return re.findall(rb"rank (\d) stopped at", seen)

        for count in (1, 2):
            while len(prompts()) < count:
                seen += os.read(master, 4096)
            os.write(master, b"c\n")
        results = []
        for process in ranks:
            output, _ = process.communicate(timeout=LIMIT)
            results.append(json.loads(output[output.index("["):]))
        self.assertEqual([result[0] for result in results], [0, 1])
        self.assertEqual(sorted(prompts()), [b"0", b"1"])

    def test_folder_goes_away(self):
        """A cleaner of /tmp took it: the program goes on."""
        master, slave = os.openpty()
        self.addCleanup(os.close, master)
        script = self.place.write("cleaned.py", """
import os, shutil, probetui
folder = "/tmp/pdb-%d" % os.geteuid()
for name in os.listdir(folder):
    if name.startswith("127.0.0.1-" + os.environ["MASTER_PORT"]):
        shutil.rmtree(os.path.join(folder, name))
probetui.set_trace()
print("went on")
""")
        process = subprocess.Popen(
            self.place.argv + [script], stdin=slave, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=self.place.environment(
                IPDB_MODE="console", TERM="dumb"), universal_newlines=True)
        os.close(slave)
        output, errors = process.communicate(timeout=LIMIT)
        self.assertEqual((process.returncode, output), (0, "went on\n"))
        self.assertIn("continues: FileNotFoundError", errors)


def load_tests(loader, tests, _):
    suite = unittest.TestSuite()
    for case in (TestConsole, TestHolds, TestNames, TestSettings, TestTcp):
        suite.addTests(loader.loadTestsFromTestCase(case))
    suite.addTests(pythons.load_cases(loader, __name__, TargetCase,
                                      ProcessCase))
    return suite
