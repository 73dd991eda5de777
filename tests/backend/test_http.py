"""The agent in a process, as a node speaks to it."""
import contextlib
import http.server
import json
import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from https import PROGRAM, SOURCE, HttpCase
from nodes import ELSEWHERE, LIMIT, NODE, Node, Target


FAILS_TO_LEAVE = """
from probetui import agent, http1
def fail(kept=agent.unlisten):
    agent.unlisten = kept
    raise http1.Refusal(400, "it cannot now")
agent.unlisten = fail
"""

# Others keep it busy, for two requests.
IS_BUSY = """
from probetui import http1, server
refusals = [http1.Refusal(503, "not now") for _ in range(2)]
def refuse(self, head, body, kept=server.Connection._answer):
    if not refusals:
        server.Connection._answer = kept
    if head.method != "POST" or not refusals:
        return kept(self, head, body)
    return http1.write_refusal(refusals.pop(), True)
server.Connection._answer = refuse
"""


class TestRunning(HttpCase):
    @classmethod
    def setUpClass(cls):
        cls.share()

    def setUp(self):
        if "first" in vars(type(self)):
            self.take()
        else:
            super().setUp()

    def test_code_runs_in_the_names_of_main(self):
        self.assertEqual(self.evaluate("x + 1")["result"], "42")
        self.evaluate("y = x\nz = 5; print('said')")
        told = self.evaluate("(z, y)")
        self.assertEqual((told["result"], told["type"]), ("(5, 41)", "tuple"))
        self.assertGreater(int(told["address"], 16), 0)
        self.assertEqual(told["children"], 2)

    def test_one_that_is_busy_is_asked_again(self):
        self.evaluate(IS_BUSY)
        self.assertEqual(self.evaluate("x + len(refusals)")["result"], "41")

    def test_what_it_prints_is_told(self):
        self.assertEqual(self.evaluate("print('said')")["output"], "said\n")

    def test_what_is_raised(self):
        response = self.node.answer(self.node.request(
            "evaluate", pid=self.pid, expression="print(1); nothing",
            context="repl"))
        self.assertEqual(response["message"],
                         "NameError: name 'nothing' is not defined")
        self.assertEqual(response["body"]["output"], "1\n")
        self.assertIn("Traceback", response["body"]["traceback"])

    def test_completions(self):
        body = self.node.ask("completions", pid=self.pid, text="sys.exec_",
                             column=10)
        self.assertEqual([target["label"] for target in body["targets"]],
                         ["exec_prefix"])

    def test_what_runs_is_ended(self):
        seq = self.node.request(
            "evaluate", pid=self.pid, context="repl",
            expression="import os; os.write(1, b'begun\\n')\nwhile True: pass")
        self.assertEqual(self.line(), ["begun"])
        self.node.ask("cancel", pid=self.pid)
        told = self.node.answer(seq)
        self.assertFalse(told["success"])
        self.assertIn("cancelled", told["message"])
        self.assertEqual(self.evaluate("x")["result"], "41")

    def test_execute(self):
        body = self.node.ask("execute", pid=self.pid,
                             code="print(__name__)\n6 * 7")
        self.assertEqual((body["result"], body["output"]),
                         ("42", "__probetui__\n"))
        self.assertIn("either", self.node.refuse("execute", pid=self.pid))

    def test_a_frame_that_runs_is_refused(self):
        message = self.node.refuse("evaluate", pid=self.pid, tid=self.pid,
                                   depth=0, expression="x")
        self.assertTrue(message.startswith("the process is running"),
                        message)


    def test_what_is_refused_ends_nothing_else(self):
        self.evaluate("import threading; go = threading.Event()")
        seq = self.node.request("evaluate", pid=self.pid, context="repl",
                                expression="go.wait(20)")
        self.node.refuse("evaluate", pid=self.pid, tid=self.pid, depth=0,
                         expression="x")
        self.evaluate("go.set()")
        self.assertEqual(self.node.answer(seq)["body"].get("result"), "True")


class TestQuiet(HttpCase):
    def loads_curl(self):
        with open("/proc/%d/maps" % self.node.process.pid) as file:
            return "libcurl" in file.read()

    def test_libcurl_is_loaded_for_the_first_agent(self):
        self.node.ask("sample", pids=[self.pid])
        self.node.ask("diagnose", pids=[self.pid])
        self.assertFalse(self.loads_curl())
        self.evaluate("x")
        self.assertTrue(self.loads_curl())

    def test_nobody_is_told_of_a_debugger(self):
        self.evaluate("x")
        self.assertFalse([message for message in self.node.messages
                          if message.get("event") in ("debugger", "stopped",
                                                      "continued")])

    def threads(self, **options):
        self.node.ask("sample", pids=[self.pid], **options)
        told = self.node.event("sampled", self.pid)
        # One that begins or ends has no name.
        return [thread.get("name") for thread in told["threads"]]

    def test_its_threads_are_not_the_programs(self):
        self.evaluate("import threading\ngo = threading.Event()\n"
                      "threading.Thread(target=go.wait, name='waiter', "
                      "daemon=True).start()")
        # It listens; what serves this node comes and goes.
        with open("/proc/%d/status" % self.pid) as file:
            count = re.search(r"Threads:\s+(\d+)", file.read()).group(1)
        self.assertGreaterEqual(int(count), 3)
        # Who has the program wait for the GIL is shown.
        while self.threads() != ["MainThread", "waiter"]:
            pass
        seq = self.node.request("evaluate", pid=self.pid, context="repl",
                                expression="while go: pass", timeout=20)
        while "probetui-client" not in self.threads():
            pass
        self.evaluate("go = False")
        self.assertTrue(self.node.answer(seq)["success"])

    def test_nor_are_their_native_frames(self):
        self.evaluate("x")
        # One that has the GIL just now is shown.
        while self.threads(native=True) != ["MainThread"]:
            pass

    def test_its_time(self):
        message = self.refuse("time.sleep(60)", timeout=0.2)
        self.assertIn("0.2", message)
        self.assertEqual(self.evaluate("x")["result"], "41")

    def test_without_an_agent(self):
        other = self.start(1, PROBETUI="")
        self.node.discover(pids=[self.pid, other.pid])
        message = self.node.refuse("evaluate", pid=other.pid, expression="x",
                                   context="repl")
        self.assertIn("probetui inject", message)


class TestWithoutTheModule(HttpCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.node.close()
        self.node = Node(argv=[shutil.copy(NODE, folder.name)])
        self.node.ask("initialize", protocol=1)
        self.node.discover(pids=[self.pid])

    def test_each_request_is_refused(self):
        for _ in range(2):
            self.assertIn("agents need probetui-http.so", self.refuse("x"))
        self.assertIn("agents need probetui-http.so", self.node.refuse(
            "connect", target="agent:%d" % self.pid))


class TestEject(HttpCase):
    def ejects(self):
        return self.node.ask("eject", pid=self.pid)["result"]

    def is_out(self):
        self.assertFalse(os.path.exists(self.path()))
        # The system's thread ends behind Python's.
        end = time.monotonic() + 10
        while len(os.listdir("/proc/%d/task" % self.pid)) > 1:
            self.assertLess(time.monotonic(), end)

    def test_nobody_has_spoken_to_it(self):
        self.assertEqual(self.ejects(), "agent removed")
        self.is_out()
        self.assertIn("the agent was removed",
                      self.node.refuse("eject", pid=self.pid))

    def test_who_follows_hears_of_the_next_one(self):
        self.node.discover(pids=[self.pid], follow=True, period=0.1)
        self.evaluate("x")
        self.assertEqual(self.ejects(), "agent removed")
        with contextlib.closing(Node()) as other:
            other.ask("initialize", protocol=1)
            other.discover(pids=[self.pid])
            other.ask("inject", pid=self.pid)
            other.ask("catch", pid=self.pid, on=True)
            self.target.say("raise KeyError('k')")
            self.assertEqual(self.node.event("stopped", self.pid)
                             ["exception"], "KeyError: 'k'")
            self.target.process.kill()

    def test_one_that_has_evaluated(self):
        for _ in range(3):
            self.assertEqual(self.evaluate("x")["result"], "41")
            self.assertEqual(self.ejects(), "agent removed")
            self.is_out()
            self.assertIn("probetui inject", self.refuse("x"))
            self.node.ask("inject", pid=self.pid)
        self.assertEqual(self.evaluate("x")["result"], "41")

    def test_one_that_evaluates(self):
        seq = self.node.request("evaluate", pid=self.pid, context="repl",
                                expression="begun = 1\nwhile True: x = x")
        while "begun" not in self.evaluate("dir()")["result"]:
            pass
        self.assertEqual(self.ejects(), "agent removed")
        self.assertFalse(self.node.answer(seq)["success"])
        self.is_out()

    def test_the_debugger_is_told(self):
        self.node.ask("connect", target="agent:%d" % self.pid)
        self.node.event("continued")
        self.assertEqual(self.ejects(), "agent removed")
        told = self.node.event("debugger")
        while told["state"] == "connecting":
            told = self.node.event("debugger")
        self.assertEqual(told["state"], "lost")
        self.assertIn("the agent was removed", told["why"])

    def test_one_that_fails_to_leave_is_still_debugged(self):
        self.node.ask("connect", target="agent:%d" % self.pid)
        self.node.event("continued")
        del self.node.messages[:]
        self.evaluate(FAILS_TO_LEAVE)
        self.assertIn("cannot now", self.node.refuse("eject", pid=self.pid))
        # A new session is told of.
        self.assertEqual(self.evaluate("x")["result"], "41")
        self.assertFalse([message for message in self.node.messages
                          if message.get("event") in ("debugger",
                                                      "continued")])

    def test_refused(self):
        target = self.start(1, PROBETUI_READ_ONLY="1")
        self.node.discover(pids=[self.pid, target.pid])
        self.assertIn("read_only", self.node.refuse("eject", pid=target.pid))
        self.assertTrue(os.path.exists(self.path(target)))


class TestMany(HttpCase):
    count = 4

    def test_none_waits_for_another(self):
        seqs = {rank: self.node.request(
            "evaluate", pid=target.pid, context="repl",
            expression="time.sleep(%s)" % (rank == 0 and 30 or 0))
            for rank, target in enumerate(self.targets)}
        for rank in range(1, self.count):
            self.assertTrue(self.node.answer(seqs[rank])["success"])
        self.targets[0].process.kill()
        self.assertFalse(self.node.answer(seqs[0])["success"])

    def test_one_that_is_stopped_is_late(self):
        for target in self.targets:
            self.evaluate("x", target)
        os.kill(self.pid, signal.SIGSTOP)
        seq = self.node.request("evaluate", pid=self.pid, context="repl",
                                expression="x", timeout=0.1)
        for target in self.targets[1:]:
            self.assertEqual(self.evaluate("x", target)["result"], "41")
        self.assertRegex(self.node.answer(seq)["message"],
                         r"did not answer in time: no answer within "
                         r"[0-9.]+ s$")


class TestConnected(HttpCase):
    def setUp(self):
        super().setUp()
        self.node.ask("connect", target="agent:%d" % self.pid)
        self.assertEqual(self.node.event("debugger")["state"], "connecting")
        told = self.node.event("continued")
        self.assertEqual((told["state"], told["backend"], told["target"]),
                         ("running", "http", "agent:%d" % self.pid))

    def test_it_evaluates(self):
        self.assertEqual(self.evaluate("x")["result"], "41")

    def test_it_is_left(self):
        self.node.ask("detach", pid=self.pid)
        self.assertEqual(self.node.event("debugger")["state"], "none")
        self.assertEqual(self.evaluate("x")["result"], "41")

    def test_one_that_ends_is_lost(self):
        self.target.process.kill()
        told = self.node.event("debugger")
        self.assertEqual(told["state"], "lost")
        self.assertTrue(told["why"])


class TestTargets(unittest.TestCase):
    def test_what_is_none(self):
        node = Node()
        self.addCleanup(node.close)
        node.ask("initialize", protocol=1)
        for target, words in (
                ("agent:", "write agent:PID"), ("agent:x", "write agent:PID"),
                ("http://", "not an agent's address"), ("http://host", "not an agent's address"),
                ("http://me:pw@host:1", "not an agent's address"),
                ("https://host:1/path", "not an agent's address"),
                ("http://host:70000", "not an agent's address"),
                ("ftp://host:1", "is not a target"),
                ("agent:%d" % os.getpid(), "no agent listens in the process")):
            with self.subTest(target=target):
                self.assertIn(words, node.refuse("connect", target=target))


class TestTrust(HttpCase):
    """Whose socket it is, is seen before anything is sent."""

    def start(self, rank, **variables):
        return super().start(rank, PROBETUI="", **variables)

    def take_path(self, squatter):
        path = self.path()
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        squatter.bind(path)
        squatter.listen(5)
        self.addCleanup(self.remove, path)

    @staticmethod
    def remove(path):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)

    def test_nobody_at_its_socket(self):
        """An agent of another test that starts just then removes it."""
        deadline = time.monotonic() + LIMIT
        message = ""
        while "cannot be reached" not in message:
            self.assertLess(time.monotonic(), deadline, message)
            self.remove(self.path())
            with socket.socket(socket.AF_UNIX) as squatter:
                self.take_path(squatter)
            message = self.refuse("x")
        self.assertEqual(message, "the agent cannot be reached: "
                         "no process listens on the socket")

    def test_another_process_at_its_socket(self):
        with socket.socket(socket.AF_UNIX) as squatter:
            self.take_path(squatter)
            message = self.refuse("x")
            squatter.settimeout(10)
            with squatter.accept()[0] as connection:
                self.assertEqual(connection.recv(100), b"")
        self.assertIn("nothing was sent", message)


OTHER_USER = 12345
# A /tmp of its own, in which another user has the folder of our name, and in
# it a socket for every process there could be that the user listens on. A
# checkout below /tmp stays to be seen.
DENY = """
set -e
exec 9<"$1"
mount -t tmpfs -o mode=1777 none /tmp
mkdir -p "$1"
mount --no-canonicalize --bind /proc/self/fd/9 "$1"
exec 9<&-
shift
mkdir -m 700 /tmp/pdb-0 /tmp/pdb-0-of-him /tmp/run
chown %d /tmp/pdb-0 /tmp/pdb-0-of-him
exec "$@"
""" % OTHER_USER
# Sockets of the other user, where the agent of that process could listen.
DECOYS = """
import os, socket, sys
number = sys.argv[1]
os.setgid(%d)
os.setuid(%d)
kept = []
for folder in "/tmp/pdb-0", "/tmp/pdb-0-of-him", "/tmp":
    kept.append(socket.socket(socket.AF_UNIX))
    kept[-1].bind(folder + "/" + number + ".agent")
    os.chmod(folder + "/" + number + ".agent", 0o666)
    kept[-1].listen(5)
print("listens", flush=True)
sys.stdin.read()
""" % (OTHER_USER, OTHER_USER)


@unittest.skipIf(os.geteuid() != 0 or subprocess.run(
    ["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode,
    "takes root, to be two users and to have another /tmp")
class TestDenied(HttpCase):
    """Another user has the folder in which agents listen."""

    variables = {}

    def start(self, rank):
        target = Target(argv=["unshare", "-m", "sh", "-c", DENY, "sh",
                              SOURCE, sys.executable] + self.argv, RANK=str(rank),
                        PROBETUI="1", PYTHONPATH=os.path.join(SOURCE, "agent"),
                        **self.variables)
        self.addCleanup(target.close)
        return target

    def listening(self):
        """Of the process, by its own words."""
        self.evaluate("import probetui; print(*probetui.listen(), flush=True,"
                      " file=sys.__stdout__)")
        return self.line()

    def decoys(self):
        process = subprocess.Popen(
            ["nsenter", "-t", str(self.pid), "-m", sys.executable, "-c",
             DECOYS, str(self.pid)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.communicate)
        self.assertEqual(process.stdout.readline(), b"listens\n")

    def test_private_folder(self):
        self.assertEqual(self.evaluate("x")["result"], "41")
        path, = self.listening()
        self.assertRegex(path, r"^/tmp/pdb-0-[0-9a-f]{16}/%d\.agent$"
                         % self.pid)
        self.assertIn(path, json.dumps(self.node.ask(
            "diagnose", pids=[self.pid])))

    def test_sockets_of_the_other_user(self):
        self.decoys()
        self.assertEqual(self.evaluate("x")["result"], "41")

    def test_the_folder_is_given_back(self):
        """Whoever had it at the start is gone: then nobody looks elsewhere."""
        self.evaluate("from probetui import agent, server; import os\n"
                      "server.CLAIM_SECONDS = 0.01\n"
                      "server_of_agent = agent._agent._server\n"
                      "server_of_agent._claim_at = 0; os.rmdir('/tmp/pdb-0')\n"
                      "server_of_agent.wake()")
        path = "/proc/%d/root/tmp/pdb-0/%d.agent" % (self.pid, self.pid)
        end = time.monotonic() + 60
        while not os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(len(self.listening()), 2)
        second = Node()
        self.addCleanup(second.close)
        second.ask("initialize", protocol=1)
        second.discover(pids=[self.pid])
        told = second.ask("evaluate", pid=self.pid, expression="x",
                          context="repl")
        self.assertEqual(told["result"], "41")


class TestDeniedWithRuntime(TestDenied):
    variables = {"XDG_RUNTIME_DIR": "/tmp/run"}

    def test_private_folder(self):
        self.assertEqual(self.evaluate("x")["result"], "41")
        self.assertEqual(self.listening(),
                         ["/tmp/run/pdb-0/%d.agent" % self.pid])


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def make_certificate(folder):
    """The paths of a certificate for localhost, and of its key."""
    paths = [os.path.join(folder, name) for name in ("certificate", "key")]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-out", paths[0],
         "-keyout", paths[1]], check=True, stderr=subprocess.DEVNULL)
    return paths


class TcpCase(HttpCase):
    """An agent at a port; a node of each test's own."""

    host = "127.0.0.1"
    call = "probetui.listen(('%s', %d), token='right-token'%s)"
    more = ""

    def setUp(self):
        self.port = free_port()
        self.begin()

    def begin(self):
        code = "import probetui\n%s\n%s" % (
            self.call % (self.host, self.port, self.more), PROGRAM)
        self.target = Target(argv=[sys.executable, "-c", code], RANK="0",
                             PYTHONPATH=os.path.join(SOURCE, "agent"),
                             stderr=subprocess.DEVNULL)
        self.addCleanup(self.target.close)
        self.pid = self.target.pid

    def connect(self, url, **variables):
        self.node = Node(env=dict(os.environ, **variables))
        self.addCleanup(self.node.close)
        self.node.ask("initialize", protocol=1)
        return self.node.ask("connect", target=url)["pid"]

    def state(self, pid):
        """Once it is no longer connecting."""
        return self.node.wait_for(
            lambda m: m["type"] == "event" and m["body"].get("pid") == pid
            and m["event"] in ("debugger", "continued")
            and (m["body"]["state"] != "connecting"
                 or m["body"].get("why")))["body"]


class TestTcp(TcpCase):
    host = "0.0.0.0"

    def connect_here(self, token="right-token"):
        return self.connect("http://127.0.0.1:%d" % self.port,
                            PROBETUI_TOKEN=token)

    def test_with_the_token(self):
        pid = self.connect_here()
        self.assertEqual(pid, self.pid)
        self.assertEqual(self.state(pid)["state"], "running")
        self.assertEqual(self.evaluate("x")["result"], "41")

    def test_with_another(self):
        told = self.state(self.connect_here("wrong-token"))
        self.assertEqual(told["state"], "lost")
        self.assertIn("the token was refused", told["why"])

    def test_with_the_token_in_a_file(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("right-token\n")
            file.flush()
            pid = self.connect("http://127.0.0.1:%d" % self.port,
                               PROBETUI_TOKEN_FILE=file.name)
            self.assertEqual(self.state(pid)["state"], "running")

    def test_tls_where_its_agent_speaks_none(self):
        told = self.state(self.connect("https://127.0.0.1:%d" % self.port,
                                       PROBETUI_TOKEN="right-token"))
        self.assertEqual(told["state"], "lost")
        self.assertIn("the agent does not use TLS (write http://", told["why"])

    def test_tls_where_there_is_none(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(1)
            pid = self.connect("https://127.0.0.1:%d"
                               % listener.getsockname()[1])
            with listener.accept()[0] as connection:
                connection.recv(1000)
                connection.sendall(b"HTTP/1.1 400 No\r\n\r\n")
                told = self.state(pid)
        self.assertEqual(told["state"], "lost")
        self.assertIn("TLS", told["why"])

    def test_one_that_is_elsewhere(self):
        pid = self.connect("http://%s:%d" % (ELSEWHERE, self.port),
                           PROBETUI_TOKEN="right-token")
        self.assertGreater(pid, 4194304)
        self.assertEqual(self.state(pid)["state"], "running")
        self.node.ask("sample", pids=[pid])
        sample = self.node.event("sampled", pid)
        self.assertEqual(sample["source"], "http")
        self.assertEqual([thread["tid"] for thread in sample["threads"]],
                         [pid])
        self.assertEqual(sample["stacks"][0]["codes"][0][1], "<module>")
        self.assertEqual(self.node.ask(
            "evaluate", pid=pid, expression="x", context="repl")["result"],
            "41")
        self.target.process.kill()
        self.assertEqual(self.state(pid)["state"], "connecting")
        self.begin()
        self.assertEqual(self.node.event("continued", pid)["state"],
                         "running")
        self.node.ask("detach", pid=pid)
        self.assertEqual(self.node.event("rankRemoved")["pid"], pid)


class Liar:
    """Somebody at a port who gives the same answer to all that come; None:
    says nothing."""

    def __init__(self, answer):
        self.answer = answer
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(5)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        kept = []
        try:
            while True:
                connection = self.listener.accept()[0]
                kept.append(connection)
                connection.recv(10000)
                for part in self.answer:
                    connection.sendall(part)
        except OSError:
            pass

    def close(self):
        self.listener.close()


def http_answer(body):
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (
        len(body), body)


class TestLiars(TcpCase):
    """Whatever is at a port, the node lives and says what is wrong."""

    def setUp(self):
        pass

    def told(self, *answer):
        liar = Liar(answer)
        self.addCleanup(liar.close)
        told = self.state(self.connect("http://127.0.0.1:%d" % liar.port))
        self.node.ask("discover", pids=[])
        self.assertNotEqual(told["state"], "running")
        return told["why"]

    def test_no_http(self):
        self.assertIn("cannot be read", self.told(b"SSH-2.0-OpenSSH\r\n"))

    def test_no_json(self):
        self.assertIn("is not JSON", self.told(http_answer(b"<html>")))

    def test_another_server(self):
        self.assertIn("not an agent of probetui", self.told(http_answer(b"{}")))

    def test_a_list_of_lists(self):
        self.assertIn("is not JSON", self.told(http_answer(b"[" * 100000)))

    def test_an_agent_of_another_version(self):
        self.assertIn("does not match this probetui", self.told(http_answer(
            b'{"name": "probetui", "can": ["POST /eval"]}')))

    def test_an_answer_without_end(self):
        endless = b"HTTP/1.1 200 OK\r\n\r\n"
        self.assertIn("cannot be read",
                      self.told(endless, *[b"x" * (1 << 20)] * 20))

    def test_headers_without_end(self):
        self.assertTrue(self.told(
            b"HTTP/1.1 200 OK\r\n", *[b"X: %s\r\n" % (b"y" * 9000)] * 100))

    def test_a_redirection_is_not_followed(self):
        self.assertIn("HTTP status 302", self.told(
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
            b"Content-Length: 0\r\n\r\n"))


class Hasty(http.server.BaseHTTPRequestHandler):
    """An agent that does not wait with the answer that there are no events."""
    protocol_version = "HTTP/1.1"

    def answer(self, **body):
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        try:
            self.wfile.write(text)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True    # the node has left

    def do_GET(self):
        if not self.path.startswith("/events"):
            self.answer(name="probetui", can=["POST /dap"], pid=1)
            return
        self.server.asked.put(time.monotonic())
        self.answer(events=[], next=0)

    def do_POST(self):
        request = json.loads(self.rfile.read(
            int(self.headers["Content-Length"])))
        self.answer(seq=1, type="response", request_seq=request["seq"],
                    command=request["command"], success=True,
                    body={"probetui": {"session": "0" * 32}})

    def log_message(self, *_):
        pass


class TestHasty(TcpCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hasty)
        self.server.daemon_threads = True
        self.server.asked = queue.Queue()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def test_it_is_not_asked_without_end(self):
        self.connect("http://127.0.0.1:%d" % self.server.server_port)
        first, _, third = [self.server.asked.get(timeout=60)
                           for _ in range(3)]
        self.assertGreater(third - first, 0.4)


class TestTls(TcpCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.certificate, key = make_certificate(cls.folder.name)
        cls.more = ", tls=(%r, %r)" % (cls.certificate, key)

    def test_with_its_certificate(self):
        pid = self.connect("https://localhost:%d" % self.port,
                           PROBETUI_TOKEN="right-token",
                           PROBETUI_CA_FILE=self.certificate)
        self.assertEqual(self.state(pid)["state"], "running")
        self.assertEqual(self.evaluate("x")["result"], "41")

    def test_one_that_nobody_has_signed(self):
        told = self.state(self.connect("https://localhost:%d" % self.port,
                                       PROBETUI_TOKEN="right-token"))
        self.assertEqual(told["state"], "lost")
        self.assertIn("TLS with the agent failed", told["why"])
        self.assertIn("PROBETUI_CA_FILE=FILE", told["why"])

    def test_without_tls(self):
        told = self.state(self.connect("http://127.0.0.1:%d" % self.port,
                                       PROBETUI_TOKEN="right-token"))
        self.assertEqual((told["state"], told["why"]),
                         ("lost", "the agent refused the request: "
                          "TLS is required: use https"))

    def test_of_another_name(self):
        told = self.state(self.connect("https://127.0.0.1:%d" % self.port,
                                       PROBETUI_TOKEN="right-token",
                                       PROBETUI_CA_FILE=self.certificate))
        self.assertIn("TLS with the agent failed", told["why"])


if __name__ == "__main__":
    unittest.main()
