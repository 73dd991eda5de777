"""Which ways the doctor finds open, and what it says of the others."""
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from nodes import Target  # noqa: E402

SOURCE = os.environ.get("SRCDIR") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PROBETUI = os.environ["PROBETUI"]
NODE = os.environ["PROBETUI_NODE"]
NOBODY = 65534
WAYS = ["environ", "read", "exact snapshot", "unwind", "ptrace",
        "perf watches", "stop and step",
        "pdb socket", "agent", "watchdog"]
AS_NOBODY = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY),
             "--clear-groups"]
WAITS = "print('ready', flush=True)\nimport sys; sys.stdin.read()\n"
CLOSED = ("import ctypes\n"
          "assert ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) == 0\n")
LISTENS = ("import socket\nheld = socket.socket(socket.AF_UNIX)\n"
           "held.bind(%r)\nheld.listen()\n")


class DoctorTest(unittest.TestCase):
    def start(self, code, before=()):
        target = Target(argv=list(before) + ["/usr/bin/env", "python3", "-c",
                                             code + WAITS], cwd="/")
        self.addCleanup(target.close)
        self.assertEqual(target.words, ["ready"])
        return target.pid

    def ask(self, pid, before=(), options=(), status=1):
        run = subprocess.run(
            list(before) + [self.programs()[0], "--pid", str(pid), "--json"]
            + list(options) + ["doctor"], stdout=subprocess.PIPE, cwd="/",
            env=dict(os.environ, PROBETUI_NODE=self.programs()[1]),
            timeout=60)
        self.assertEqual(run.returncode, status)
        ranks = json.loads(run.stdout.decode())["ranks"]
        self.assertEqual([rank["pid"] for rank in ranks], [pid])
        self.assertEqual([way["way"] for way in ranks[0]["ways"]], WAYS)
        return {way["way"]: way for way in ranks[0]["ways"]}

    def programs(self):
        return PROBETUI, NODE

    def need_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("only root can start a program as another user")
        if not shutil.which("setpriv"):
            self.skipTest("setpriv (util-linux) is not here")
        python = subprocess.run(AS_NOBODY + ["/usr/bin/env", "python3",
                                             "-c", ""],
                                stderr=subprocess.DEVNULL, cwd="/")
        if python.returncode:
            self.skipTest("python3 cannot be run by another user")
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        copies = [shutil.copy(path, folder) for path in (PROBETUI, NODE)]
        self.programs = lambda: copies

    def test_all_is_open(self):
        ways = self.ask(self.start(""), status=0)
        for name in WAYS[:5]:
            self.assertTrue(ways[name]["ok"], ways[name])
        self.assertFalse(ways["pdb socket"]["ok"])
        self.assertRegex(ways["read"]["why"], r"^Python 3\.")

    def test_what_reads_only_holds_nothing(self):
        ways = self.ask(self.start(""), options=["--read-only"])
        self.assertFalse(ways["exact snapshot"]["ok"])
        self.assertIn("--read-only", ways["exact snapshot"]["fix"])

    def test_a_pdb_socket_is_found_and_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pdb.sock.0")
            ways = self.ask(self.start(LISTENS % path), status=0)
        self.assertTrue(ways["pdb socket"]["ok"])
        self.assertIn(path, ways["pdb socket"]["why"])

    def test_an_agent_is_found_and_left_alone(self):
        path = "/tmp/pdb-%d/%%d.agent" % os.geteuid()
        ways = self.ask(self.start(""), status=0)
        self.assertFalse(ways["agent"]["ok"])
        self.assertIn("probetui inject", ways["agent"]["fix"])
        pid = self.start("import sys; sys.path.insert(0, %r)\n"
                         "import probetui; probetui.listen()\n"
                         % os.path.join(SOURCE, "agent"))
        ways = self.ask(pid, status=0)
        self.assertTrue(ways["agent"]["ok"], ways["agent"])
        self.assertIn(path % pid, ways["agent"]["why"])

    def test_many_sockets_and_descriptors_cost_little(self):
        for i in range(1000):
            held = socket.socket(socket.AF_UNIX)
            self.addCleanup(held.close)
            held.bind("\0probetui-test-pdb-%d-%d" % (os.getpid(), i))
            held.listen(1)
        pid = self.start("import os\nfor i in range(500): os.dup(0)\n")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertFalse(self.ask(pid, status=0)["pdb socket"]["ok"])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertLess(after.ru_stime - before.ru_stime, 0.3)

    def test_another_user(self):
        self.need_another_user()
        ways = self.ask(self.start(""), AS_NOBODY)
        for name in WAYS:
            self.assertFalse(ways[name]["ok"], name)
            self.assertIn("belongs to user 0", ways[name]["why"])
            self.assertIn("sudo", ways[name]["fix"])

    def test_a_process_that_is_not_dumpable(self):
        self.need_another_user()
        ways = self.ask(self.start(CLOSED, AS_NOBODY), AS_NOBODY)
        for name in WAYS:
            self.assertFalse(ways[name]["ok"], name)
            self.assertIn("PR_SET_DUMPABLE", ways[name]["why"])


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
