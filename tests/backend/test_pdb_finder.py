"""Which debuggers are found on sockets, and that nothing touches them."""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from nodes import NODE, Node, Target  # noqa: E402

SOURCE = os.environ.get("SRCDIR") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NOBODY = 65534
# A rank of no other job, whose files lie in /tmp.
RANK = 20000 + os.getpid() % 10000
# Listens at each path that it is told, and tells when; then waits to be asked
# whether anybody came.
SERVER = """
import os, select, socket, sys

def listen(path):
    if path.startswith('@'):
        path = chr(0) + path[1:]
    held = socket.socket(socket.AF_UNIX)
    held.bind(path)
    held.listen(1)
    return held

if 'CHANGE_UID' in os.environ:
    os.setuid(int(os.environ['CHANGE_UID']))
sockets = [listen(path) for path in sys.argv[1:]]
print('ready', flush=True)
sys.stdin.readline()
print('came' if select.select(sockets, [], [], 0)[0] else 'quiet', flush=True)
sys.stdin.read()
"""
# As remote-pdb does: the constructor waits for its client.
REMOTE = """
import os, socket, time

class RemotePdb:
    def __init__(self):
        other = socket.socket()
        other.bind(('127.0.0.1', 0))
        other.listen(1)
        listening = socket.socket()
        listening.bind(('127.0.0.1', 0))
        listening.listen(1)
        print(listening.getsockname()[1], other.getsockname()[1], flush=True)
        waiting = os.environ.get('PROBETUI_TEST_GO')
        while waiting and not os.path.exists(waiting):
            time.sleep(0.01)
        self.connection, _ = listening.accept()
        self.connection.recv(1)
"""

# A rank that waits in pdb by our package, and goes on when it is told to.
PACKAGE = """
import sys, probetui
print('ready', flush=True)
sys.stdin.readline()
probetui.set_trace(lease=60)
sys.stdin.read()
"""


class FinderCase(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o755)
        self.pids = []
        self.known = {}
        self.node = None

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, *paths, rank=RANK, **variables):
        """A rank that listens at those paths."""
        target = Target(argv=[sys.executable, "-c", SERVER] + list(paths),
                        cwd=self.folder, RANK=str(rank),
                        TMPDIR=self.folder, **variables)
        self.addCleanup(target.close)
        self.assertEqual(target.words, ["ready"])
        self.pids.append(target.pid)
        return target

    def follow(self, node=None, **options):
        """A node with our TMPDIR, which looks at all ranks that were
        started, again and again."""
        self.node = node or Node(env=dict(os.environ, TMPDIR=self.folder),
                                 **options)
        self.addCleanup(self.node.close)
        self.node.ask("discover", pids=self.pids, follow=True, period=0.1)
        return self.node

    def debugger(self, target, state):
        """What is told of the target's debugger once it is in that state."""
        while True:
            told = self.node.event("debugger", target.pid)
            if told["state"] == state:
                return told

    def find(self, target, state):
        if not self.node:
            self.follow()
        return self.debugger(target, state)

    def assert_quiet(self, target):
        target.say("")
        self.assertEqual(target.line(), ["quiet"])

    def leave_file(self, name):
        """The file of a socket that nobody listens on any more."""
        target = Target(argv=[sys.executable, "-c", SERVER, self.path(name)],
                        cwd=self.folder)
        target.process.kill()
        target.process.wait()
        target.close()
        self.assertTrue(os.path.exists(self.path(name)))
        return self.path(name)

    def need_root(self):
        if os.geteuid() != 0:
            self.skipTest("only root can start a program as another user")


class WaitingTest(FinderCase):
    def test_a_socket_that_waits(self):
        target = self.start(self.path("pdb.sock.3"), rank=3)
        told = self.find(target, "waiting")
        self.assertEqual(told["target"],
                         "pdb:unix:" + self.path("pdb.sock.3"))
        self.assertEqual(told["rank"], 3)
        self.assertEqual(told["backend"], "pdb")
        self.assertIn("one client", told["leaving"])
        self.assert_quiet(target)

    def test_a_name_without_a_number_is_the_process_s(self):
        target = self.start(self.path("my-pdb-here"), rank=3)
        self.assertEqual(self.find(target, "waiting")["target"],
                         "pdb:unix:" + self.path("my-pdb-here"))

    def test_the_descriptor_says_whose_it_is_not_the_number(self):
        second = self.start(self.path("pdb.sock.%d" % RANK), rank=RANK + 1)
        first = self.start(rank=RANK)
        self.assertEqual(self.find(second, "waiting")["rank"], RANK + 1)
        self.assertFalse([m for m in self.node.messages
                          if m.get("event") == "debugger"
                          and m["body"]["pid"] == first.pid])

    def test_it_is_told_once_and_again_when_asked(self):
        target = self.start(self.path("pdb.sock.%d" % RANK))
        self.find(target, "waiting")
        other = self.start(self.path("pdb.sock.%d" % (RANK + 1)),
                           rank=RANK + 1)
        self.node.ask("discover", pids=self.pids, follow=True, period=0.1)
        self.debugger(target, "waiting")
        self.debugger(other, "waiting")
        other.process.kill()
        self.node.event("rankRemoved", other.pid)
        self.assertFalse([m for m in self.node.messages
                          if m.get("event") == "debugger"])

    def test_a_socket_that_comes_later_and_goes(self):
        target = self.start()
        self.follow()
        later = self.start(self.path("pdb.sock.9"), rank=9)
        self.node.ask("discover", pids=self.pids, follow=True, period=0.1)
        self.debugger(later, "waiting")
        os.unlink(self.path("pdb.sock.9"))
        told = self.debugger(later, "refused")
        self.assertIn("was removed", told["why"])
        self.assert_quiet(target)

    def test_two_sockets_of_one_process(self):
        target = self.start(self.path("a.pdb"), self.path("pdb.sock.2"),
                            self.path("z.pdb"), rank=2)
        told = self.find(target, "waiting")
        self.assertEqual(told["target"],
                         "pdb:unix:" + self.path("pdb.sock.2"))
        self.assertIn("2 other sockets", told["why"])
        self.assert_quiet(target)

    def test_odd_names(self):
        for rank, name in enumerate(("pdb\nnew line", "pdb\x1b[31m\t\"\\",
                                     " pdb  of mine ", "pdb-\u00e9")):
            with self.subTest(name):
                target = self.start(self.path(name), rank=rank)
                told = self.find(target, "waiting")
                self.assertEqual(told["target"],
                                 "pdb:unix:" + self.path(name))
                self.node = None
                self.pids = []

    def test_a_name_that_is_no_text(self):
        target = Target(argv=[sys.executable.encode(), b"-c", SERVER.encode(),
                              self.folder.encode() + b"/pdb\xff"],
                        RANK=str(RANK))
        self.addCleanup(target.close)
        self.pids.append(target.pid)
        self.assertIn("cannot connect to it", self.find(target, "refused")["why"])

    def test_an_abstract_name(self):
        name = "@probetui-pdb-%d" % os.getpid()
        target = self.start(name)
        self.assertEqual(self.find(target, "waiting")["target"],
                         "pdb:unix:" + name)
        self.assert_quiet(target)

    def test_a_name_from_where_it_stands(self):
        target = self.start("pdb.sock.%d" % RANK)
        self.assertEqual(self.find(target, "waiting")["target"],
                         "pdb:unix:" + self.path("pdb.sock.%d" % RANK))

    def test_a_child_that_inherits_it_is_not_its_owner(self):
        code = SERVER.replace("print('ready'", "child = os.fork() or "
                              "sys.stdin.read() or os._exit(0)\n"
                              "print('ready'")
        target = Target(argv=[sys.executable, "-c", code,
                              self.path("pdb.sock.%d" % RANK)], RANK=str(RANK))
        self.addCleanup(target.close)
        with open("/proc/%d/task/%d/children" % (target.pid,
                                                 target.pid)) as file:
            child = int(file.read().split()[0])
        self.pids = [child, target.pid]
        self.find(target, "waiting")
        self.assertFalse([m for m in self.node.messages
                          if m.get("event") == "debugger"
                          and m["body"]["pid"] == child])

    def test_somebody_else_is_its_client(self):
        code = ("import socket, sys\nheld = socket.socket(socket.AF_UNIX)\n"
                "held.bind(sys.argv[1])\nheld.listen(1)\n"
                "print('ready', flush=True)\n"
                "other = held.accept()\nsys.stdin.read()\n")
        target = Target(argv=[sys.executable, "-c", code,
                              self.path("pdb.sock.%d" % (RANK + 1))],
                        RANK=str(RANK + 1))
        self.addCleanup(target.close)
        self.pids.append(target.pid)
        self.find(target, "waiting")
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(self.path("pdb.sock.%d" % (RANK + 1)))
            told = self.debugger(target, "refused")
            self.assertIn("another client is connected", told["why"])
            self.assertTrue(told["taken"])
        told = self.debugger(target, "refused")
        self.assertIn("which has disconnected", told["why"])
        self.assertFalse(told.get("taken"))


class RefusedTest(FinderCase):
    def test_a_file_that_nobody_listens_on(self):
        path = self.leave_file("pdb.sock.%d" % RANK)
        told = self.find(self.start(), "stale")
        self.assertEqual(told["target"], "pdb:unix:" + path)
        self.assertIn("no process listens", told["why"])

    def test_the_other_names(self):
        folder = self.path("pdb-%d" % os.geteuid())
        os.mkdir(folder, 0o700)
        for name in ("pdb.sock.4711-0badcafe.%d" % RANK,
                     folder + "/%d.sock" % RANK):
            with self.subTest(name):
                path = self.leave_file(name)
                told = self.find(self.start(), "stale")
                self.assertEqual(told["target"], "pdb:unix:" + path)
                os.unlink(path)
                self.node = None
                self.pids = []

    def test_a_file_that_goes(self):
        path = self.leave_file("pdb.sock.%d" % RANK)
        target = self.start()
        self.find(target, "stale")
        os.unlink(path)
        self.assertNotIn("backend", self.debugger(target, "none"))

    def test_who_listens_itself_has_no_stale_file(self):
        self.leave_file("pdb.sock.%d" % RANK)
        target = self.start(self.path("other.pdb"))
        self.assertEqual(self.find(target, "waiting")["target"],
                         "pdb:unix:" + self.path("other.pdb"))

    def test_a_symbolic_link(self):
        owner = self.start(self.path("pdb.real"), rank=RANK + 1)
        os.symlink(self.path("pdb.real"), self.path("pdb.sock.%d" % RANK))
        target = self.start(rank=RANK)
        self.assertIn("symbolic link", self.find(target, "refused")["why"])
        self.assert_quiet(owner)

    def test_a_regular_file_is_nothing(self):
        with open(self.path("pdb.sock.%d" % RANK), "w"):
            pass
        target = self.start(rank=RANK)
        other = self.start(self.path("pdb.sock.%d" % (RANK + 1)),
                           rank=RANK + 1)
        self.find(other, "waiting")
        self.assertFalse([m for m in self.node.messages
                          if m.get("event") == "debugger"
                          and m["body"]["pid"] == target.pid])

    def test_a_folder_that_is_open_to_others(self):
        folder = self.path("pdb-%d" % os.geteuid())
        os.mkdir(folder)
        os.chmod(folder, 0o755)
        target = self.start(folder + "/%d.sock" % RANK)
        self.assertIn("open to other users", self.find(target, "refused")["why"])
        os.chmod(folder, 0o700)
        self.debugger(target, "waiting")
        self.assert_quiet(target)

    def test_two_processes_at_one_path(self):
        first = self.start(self.path("pdb.sock.x"))
        os.unlink(self.path("pdb.sock.x"))
        second = self.start(self.path("pdb.sock.x"), rank=RANK + 1)
        self.follow()
        self.assertIn("process %d has taken" % second.pid,
                      self.debugger(first, "refused")["why"])
        self.debugger(second, "waiting")
        self.assert_quiet(second)

    def test_another_user_put_it_there(self):
        self.need_root()
        os.chmod(self.folder, 0o777)
        owner = self.start(self.path("pdb.sock.%d" % RANK), rank=5,
                           CHANGE_UID=str(NOBODY))
        self.pids = []
        told = self.find(self.start(rank=RANK), "refused")
        self.assertIn("user %d" % NOBODY, told["why"])
        self.assertIn("user 0", told["why"])
        self.assertIn("user %d" % NOBODY, self.node.refuse(
            "connect", target="pdb:unix:" + self.path("pdb.sock.%d" % RANK)))
        self.assert_quiet(owner)

    def test_root_is_told_of_a_rank_s_own(self):
        self.need_root()
        os.chmod(self.folder, 0o777)
        target = self.start(self.path("pdb.sock.%d" % RANK),
                            CHANGE_UID=str(NOBODY))
        self.find(target, "waiting")
        self.assert_quiet(target)

    def test_a_folder_of_another_user(self):
        self.need_root()
        folder = self.path("pdb-0")
        os.mkdir(folder, 0o700)
        target = self.start(folder + "/%d.sock" % RANK)
        os.chown(folder, NOBODY, NOBODY)
        self.assertIn("belongs to user %d" % NOBODY,
                      self.find(target, "refused")["why"])


class PortTest(FinderCase):
    def start_remote(self, **variables):
        with open(self.path("remote_pdb.py"), "w") as file:
            file.write(REMOTE)
        target = Target(code="import remote_pdb; remote_pdb.RemotePdb()",
                        PYTHONPATH=self.folder, RANK=str(RANK), **variables)
        self.addCleanup(target.close)
        self.addCleanup(target.process.kill)
        self.pids.append(target.pid)
        self.node = Node()
        self.addCleanup(self.node.close)
        self.node.ask("discover", pids=self.pids)
        self.node.ask("sample", period=0.1)
        return target

    def check_remote(self, target):
        told = self.debugger(target, "waiting")
        self.assertEqual(told["target"],
                         "pdb:tcp:127.0.0.1:" + target.words[0])
        self.assertEqual(told["dialect"], "remote-pdb")
        self.assertIn("BdbQuit", told["leaving"])

    def test_remote_pdb_is_known_by_its_frames(self):
        """It may print its address still, and wait at a later sample."""
        self.check_remote(self.start_remote())

    def test_remote_pdb_that_waits_after_it_was_seen(self):
        go = self.path("go")
        target = self.start_remote(PROBETUI_TEST_GO=go)
        for _ in range(2):
            self.node.event("sampled", target.pid)
        with open(go, "w"):
            self.check_remote(target)


class ServerTest(FinderCase):
    """What leaving costs is known by what serves."""

    def serve(self, file, *paths):
        """A rank whose server is in that file."""
        os.makedirs(self.path(os.path.dirname(file)))
        with open(self.path(file), "w") as source:
            source.write(SERVER)
        target = Target(argv=[sys.executable, self.path(file)] + list(paths),
                        cwd=self.folder, RANK=str(RANK))
        self.addCleanup(target.close)
        self.pids.append(target.pid)
        self.follow()
        self.node.ask("sample")
        return target

    def test_our_own_package_serves_the_next_client(self):
        target = self.serve("probetui/channel.py", self.path("pdb.sock"))
        told = self.debugger(target, "waiting")
        while told.get("dialect") != "probetui":
            told = self.debugger(target, "waiting")
        self.assertNotIn("leaving", told)

    def stop_package(self, **variables):
        target = Target(argv=[sys.executable, "-c", PACKAGE], cwd=self.folder,
                        RANK=str(RANK + 7), IPDB_DEBUG="1",
                        PYTHONPATH=os.path.join(SOURCE, "agent"), **variables)
        self.addCleanup(target.close)
        self.pids.append(target.pid)
        target.say("")
        return target, self.find(target, "waiting")

    def check_package(self, path, **variables):
        target, told = self.stop_package(**variables)
        self.assertEqual(told["target"], "pdb:unix:" + path)
        self.assertEqual(told["dialect"], "probetui")
        self.assertNotIn("leaving", told)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            client.sendall(b"c\n")
            # It waits for nobody then, whoever comes later.
            self.debugger(target, "none")
        self.assertEqual(target.end(), 0)

    def test_our_own_package_is_known_by_its_locks(self):
        self.check_package("/tmp/pdb-%d/%d.sock" % (os.geteuid(), RANK + 7))

    def test_our_own_package_at_another_path(self):
        self.check_package(self.path("pdb-here.%d" % (RANK + 7)),
                           IPDB_SOCK_PATH=self.path("pdb-here"))

    def test_a_folder_of_its_name_is_not_our_package(self):
        target = self.serve("probetui/train.py", self.path("pdb.sock"))
        told = self.debugger(target, "waiting")
        self.node.ask("sample")
        self.node.ask("discover", pids=self.pids)
        told = self.debugger(target, "waiting")
        self.assertIn("one client", told["leaving"])
        self.assertNotIn("dialect", told)

    def test_a_relay_is_known_by_its_name(self):
        target = self.start(self.path("pdb.sock.4711-0badcafe.%d" % RANK))
        told = self.find(target, "waiting")
        self.assertEqual(told["dialect"], "ipdb")
        self.assertIn("waits forever", told["leaving"])


class ContainerTest(FinderCase):
    """Processes that see other files, or another network, than we do."""

    def start_in(self, options, script, *paths):
        command = ["unshare"] + options + ["sh", "-c", script + 'exec "$@"',
                                           "sh"]
        if subprocess.run(command + ["true"],
                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest("namespaces cannot be made here (unshare as root)")
        target = Target(argv=command + [sys.executable, "-c", SERVER]
                        + list(paths), cwd="/", RANK=str(RANK))
        self.addCleanup(target.close)
        self.pids.append(target.pid)
        return target

    def test_another_folder_of_the_same_name(self):
        path = "/tmp/pdb.sock.%d" % RANK
        target = self.start_in(["-m"], "mount -t tmpfs none /tmp && ", path)
        told = self.find(target, "waiting")
        self.assertEqual(told["target"],
                         "pdb:unix:/proc/%d/root%s" % (target.pid, path))
        self.assertFalse(os.path.exists(path))
        self.assert_quiet(target)
        os.unlink("/proc/%d/root%s" % (target.pid, path))
        self.assertIn("was removed", self.debugger(target, "refused")["why"])

    def test_a_stale_file_in_there(self):
        path = "/tmp/pdb.sock.%d" % RANK
        leave = ("mount -t tmpfs none /tmp && %s -c 'import socket; "
                 "socket.socket(socket.AF_UNIX).bind(\"%s\")' && "
                 % (sys.executable, path))
        target = self.start_in(["-m"], leave)
        self.assertEqual(self.find(target, "stale")["target"],
                         "pdb:unix:/proc/%d/root%s" % (target.pid, path))

    def test_another_network(self):
        path = self.path("pdb.sock")
        target = self.start_in(["-n"], "", path)
        self.assertEqual(self.find(target, "waiting")["target"],
                         "pdb:unix:" + path)
        self.assert_quiet(target)

    def test_a_name_that_is_in_another_network(self):
        target = self.start_in(["-n"], "", "@probetui-pdb")
        self.assertIn("run probetui in that container",
                      self.find(target, "refused")["why"])


class ConnectTest(FinderCase):
    """What is said of a socket before anything is sent to it."""

    def refuse(self, path):
        if not self.node:
            self.follow()
        return self.node.refuse("connect", target="pdb:unix:" + path)

    def test_what_is_no_socket(self):
        self.start()
        self.assertIn("pdb.no not found", self.refuse(self.path("pdb.no")))
        self.assertIn("is not a socket", self.refuse(self.folder))
        os.symlink("pdb.no", self.path("link"))
        self.assertIn("symbolic link", self.refuse(self.path("link")))
        self.assertIn("no process listens",
                      self.refuse(self.leave_file("pdb.sock.%d" % RANK)))

    def test_a_port_that_nobody_listens_at(self):
        self.start()
        self.follow()
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            self.assertIn("no process listens", self.node.refuse(
                "connect",
                target="pdb:tcp:127.0.0.1:%d" % held.getsockname()[1]))


class QuietTest(FinderCase):
    def test_nothing_is_connected_to(self):
        if not shutil.which("strace"):
            self.skipTest("strace is not here")
        target = self.start(self.path("pdb.sock.%d" % RANK))
        calls = self.path("calls")
        self.follow(argv=["strace", "-f", "-e", "trace=connect,ptrace", "-o",
                          calls, NODE])
        self.debugger(target, "waiting")
        self.node.ask("diagnose", pids=[target.pid])
        other = self.start(rank=RANK + 1)
        self.node.ask("discover", pids=self.pids, follow=True, period=0.1)
        other.process.kill()
        self.node.event("rankRemoved", other.pid)
        self.node.close()
        with open(calls) as file:
            self.assertNotIn("connect(", file.read())
        self.assert_quiet(target)


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
