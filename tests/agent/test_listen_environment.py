"""PROBETUI=1 in the environment, and the package's folder on the path: ranks
listen, what starts and serves them does not."""
import json
import os
import shutil
import ssl
import sys
import unittest

from agents import Place, connect, make_certificate
from sessions import AGENT

sys.path.insert(0, AGENT)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "backend"))
import pythons  # noqa: E402
from probetui import starting  # noqa: E402

TOKEN = "a token of the test"
# What a process finds of itself.
TELL = """
import json, os, sys
def tell(**more):
    told = dict(more, pid=os.getpid(), listens=os.path.exists(
        "/tmp/pdb-%d/%d.agent" % (os.geteuid(), os.getpid())),
        loaded="probetui.agent" in sys.modules,
        names=sorted(n for n in os.environ if n.startswith("PROB")))
    sys.stdout.write(json.dumps(told) + "\\n")
    sys.stdout.flush()
    return told
"""


class EnvironmentCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = Place(cls.python.argv)
        cls.place.write("telling.py", TELL)

    @classmethod
    def tearDownClass(cls):
        cls.place.close()

    def script(self, text, *options, name="script.py", errors="", **more):
        """What it told, one object a line."""
        path = self.place.write(name, text)
        values = dict(dict(IPDB_DEBUG=None, MASTER_ADDR=None, RANK=None,
                           WORLD_SIZE=None, PROBETUI="1"), **more)
        status, output, told = self.place.run(
            "-W", "error", *options, path, **values)
        self.assertEqual((status, told), (0, errors))
        return [json.loads(line) for line in output.splitlines()]

    def test_program(self):
        told = self.script("import telling; telling.tell()")
        self.assertEqual([(one["listens"], one["names"]) for one in told],
                         [(True, ["PROBETUI"])])

    def test_off(self):
        for value in (None, "", "0", "/usr/bin/probetui"):
            told = self.script("import threading, telling; telling.tell("
                               "threads=threading.active_count())",
                               PROBETUI=value)
            self.assertEqual([(one["listens"], one["loaded"], one["threads"])
                              for one in told], [(False, False, 1)])

    def test_ranks(self):
        """What starts them does not listen, nor what they start."""
        told = self.script("""
import os, subprocess, sys, telling
telling.tell()
rank = "import subprocess, sys, telling; telling.tell(); " \\
    "subprocess.check_call([sys.executable, '-W', 'error', '-c', " \\
    "'import telling; telling.tell()'])"
for number in "01":
    subprocess.check_call(
        [sys.executable, "-W", "error", "-u", "-c", rank],
        env=dict(os.environ, RANK=number, LOCAL_RANK=number))
""", name="torchrun", PROBETUI_TOKEN=TOKEN)
        self.assertEqual(
            [(one["listens"], one["names"]) for one in told],
            [(False, ["PROBETUI", "PROBETUI_TOKEN"])] +
            [(True, []), (False, [])] * 2)

    def test_helpers(self):
        """Those of multiprocessing, of a program that is no rank."""
        told = self.script("""
import multiprocessing, sys, telling
from multiprocessing import forkserver, resource_tracker
def child():
    telling.tell()
if __name__ == "__main__":
    for method in ("spawn", "forkserver", "fork"):
        context = multiprocessing.get_context(method)
        process = context.Process(target=child)
        process.start()
        process.join()
    import os
    folder = "/tmp/pdb-%d/" % os.geteuid()
    there = [os.path.exists("%s%d.agent" % (folder, pid)) for pid in (
        resource_tracker._resource_tracker._pid,
        forkserver._forkserver._forkserver_pid)]
    telling.tell(helpers=there)
""")
        self.assertEqual([one["listens"] for one in told],
                         [False, False, False, True])
        self.assertEqual(told[3]["helpers"], [False, False])

    def test_shadowed(self):
        """A sitecustomize that stands behind ours is there as ever."""
        folder = os.path.join(self.place.path, "site")
        os.makedirs(folder, exist_ok=True)
        path = self.place.inside + os.pathsep + self.place.inside + "/site"
        tell = "import telling, sitecustomize as s; telling.tell(" \
            "file=s.__file__, value=getattr(s, 'value', None), path=sys.path)"
        told = self.script("import sys; " + tell, PYTHONPATH=path)[0]
        # Debian has one.
        self.assertIn(told["file"], (
            self.place.inside + "/sitecustomize.py",
            "/usr/lib/python3.%d/sitecustomize.py" % self.python.version[1]))
        self.place.write("site/sitecustomize.py",
                         "import sys\nvalue = __name__\n"
                         "sys.path.append('/of/his')\n")
        for value in ("1", None):
            told = self.script("import sys; " + tell, PYTHONPATH=path,
                               PROBETUI=value)[0]
            self.assertEqual(
                (told["file"], told["value"], told["listens"]),
                (self.place.inside + "/site/sitecustomize.py",
                 "sitecustomize", value == "1"))
            self.assertEqual(told["path"][1:3], path.split(os.pathsep))
            self.assertEqual(told["path"][-1], "/of/his")
        self.place.write("site/sitecustomize.py", "import not_there\n")
        told = self.script(
            "import telling; telling.tell()", PYTHONPATH=path,
            errors="Error in sitecustomize; set PYTHONVERBOSE for traceback:"
            "\nModuleNotFoundError: No module named 'not_there'\n")
        self.assertTrue(told[0]["listens"])


class TestAddress(unittest.TestCase):
    def setUp(self):
        self.place = Place()
        self.addCleanup(self.place.close)

    def run_rank(self, **more):
        """What it printed, and its line on standard error."""
        path = self.place.write("rank.py", TELL + "tell()\ninput()\n")
        process = self.place.start(
            path, PROBETUI="1", IPDB_DEBUG=None, **more)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return json.loads(process.stdout.readline()), \
            process.stderr.readline()

    def token_file(self, mode, token=TOKEN):
        path = self.place.write("token%d" % len(token), token + "\n")
        os.chmod(path, mode)
        return path

    def answers(self, line):
        self.assertRegex(line, r"^probetui: rank 7: the agent listens on "
                         r"http://127\.0\.0\.1:\d+\n$")
        port = int(line.rpartition(":")[2])
        with connect(("127.0.0.1", port), token=TOKEN) as client:
            self.assertEqual(client.value("'TOKEN' in str(os.environ)"),
                             "False")

    def test_token(self):
        told, line = self.run_rank(PROBETUI_ADDRESS="127.0.0.1:0",
                                   PROBETUI_TOKEN=TOKEN)
        self.assertEqual((told["listens"], told["names"]), (True, []))
        self.answers(line)

    def test_token_file(self):
        _, line = self.run_rank(PROBETUI_ADDRESS="0",
                                PROBETUI_TOKEN_FILE=self.token_file(0o600))
        self.answers(line)

    def test_alias(self):
        told, line = self.run_rank(PROBING_PORT="RANDOM",
                                   PROBETUI_TOKEN=TOKEN)
        self.assertEqual(told["names"], ["PROBING_PORT"])
        self.answers(line)

    def test_refused(self):
        """Told; the user's own socket is there all the same."""
        for more, sentence in (
                (dict(PROBETUI_ADDRESS=":0"), "requires a token"),
                (dict(PROBING_PORT="0"), "requires a token"),
                (dict(PROBETUI_ADDRESS="here", PROBETUI_TOKEN=TOKEN),
                 "'here' is not an address"),
                (dict(PROBETUI_ADDRESS=":0", PROBETUI_TOKEN_FILE=self
                      .token_file(0o644)), "other users can read the token"),
                (dict(PROBETUI_ADDRESS=":0", PROBETUI_TOKEN_FILE=self
                      .token_file(0o600, "short")),
                 "token5 has 5 characters: at least 8 are required"),
                (dict(PROBETUI_ADDRESS=":0", PROBETUI_TOKEN=TOKEN,
                      PROBETUI_TLS_KEY="/none"),
                 "PROBETUI_TLS_CERTIFICATE is not"),
                (dict(PROBETUI_ADDRESS=":0", PROBETUI_TOKEN=TOKEN,
                      PROBETUI_TLS_CERTIFICATE="/none"),
                 "tls: the certificate and key cannot be loaded"),
                (dict(PROBETUI_ADDRESS=":0", PROBETUI_TOKEN=TOKEN,
                      PROBETUI_ALLOW="everybody"),
                 "allow must be a list of addresses"),
                (dict(PROBETUI_ADDRESS=":0", PROBETUI_TOKEN_FILE="/none"),
                 "cannot be read")):
            told, line = self.run_rank(**more)
            self.assertIn(sentence, line)
            self.assertTrue(told["listens"])

    @unittest.skipUnless(shutil.which("openssl"), "there is no openssl, to "
                         "make a certificate with")
    def test_tls(self):
        for one_file in (False, True):
            certificate, key = make_certificate(self.place.path, one_file)
            told, line = self.run_rank(
                PROBETUI_ADDRESS="0", PROBETUI_TOKEN=TOKEN,
                PROBETUI_TLS_CERTIFICATE=certificate,
                PROBETUI_TLS_KEY=None if one_file else key)
            self.assertIn(" on https://127.0.0.1:", line)
            self.assertEqual(told["names"], [])
            context = ssl.create_default_context(cafile=certificate)
            port = int(line.rpartition(":")[2])
            with connect(("127.0.0.1", port), token=TOKEN) as client:
                client.connection = context.wrap_socket(
                    client.connection, server_hostname="localhost")
                self.assertEqual(client.value("6 * 7"), "42")

    def test_allow(self):
        told, line = self.run_rank(
            PROBETUI_ADDRESS="0", PROBETUI_TOKEN=TOKEN,
            PROBETUI_ALLOW="10.0.0.0/8, ::1")
        self.assertEqual(told["names"], [])
        port = int(line.rpartition(":")[2])
        with connect(("127.0.0.1", port), token=TOKEN) as client:
            self.assertEqual(client.ask("GET", "/").status, 403)

    def test_read_only(self):
        """What is neither yes nor no is yes."""
        for value, is_read_only in (("1", True), ("of course", True),
                                    ("0", False)):
            told, line = self.run_rank(
                PROBETUI_READ_ONLY=value, PROBETUI_ADDRESS=":x",
                PROBETUI_TOKEN=TOKEN)
            self.assertEqual(told["names"], [])
            self.assertIn("neither 1 nor 0" if value == "of course"
                          else "is not an address", line)
            with connect("/tmp/pdb-%d/%d.agent" % (
                    os.geteuid(), told["pid"])) as client:
                self.assertEqual(client.get("/")["read_only"], is_read_only)
                self.assertEqual(client.ask(
                    "POST", "/eval", {"code": "1"}).status,
                    403 if is_read_only else 200)


class TestPrograms(unittest.TestCase):
    def test_which(self):
        for line, listens in (
                ("python", True), ("python -i", True),
                ("python train.py --multiprocessing", True),
                ("python -u -X dev -W error train.py torchrun", True),
                ("python -m train", True), ("python -c 1", True),
                ("python -", True), ("python -um train.main", True),
                ("python /opt/bin/torchrun train.py", False),
                ("python -u /opt/bin/accelerate launch x.py", False),
                ("python -Xdev -Werror -m torch.distributed.run x", False),
                ("python -um torch.distributed.run x.py", False),
                ("python -mtorch.distributed.launch x.py", False),
                ("python --check-hash-based-pycs always torchrun", False),
                ("python train.py --multiprocessing-fork", False)):
            self.assertEqual(starting.is_rank_or_program(line.split()),
                             listens, line)
        for code in ("from multiprocessing.spawn import spawn_main; x",
                     "from multiprocessing.resource_tracker import main;x",
                     "import sys; from multiprocessing.forkserver import "
                     "main; main(1)"):
            self.assertFalse(starting.is_rank_or_program(
                ["python", "-E", "-c", code]), code)


def load_tests(loader, tests, _):
    suite = unittest.TestSuite()
    for case in (TestAddress, TestPrograms):
        suite.addTests(loader.loadTestsFromTestCase(case))
    suite.addTests(pythons.load_cases(loader, __name__, EnvironmentCase))
    return suite
