"""probetui-node: how it starts, serves and leaves."""
import ctypes
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import nodes
from nodes import LIMIT, NODE, Node, Target

IN_OPEN = 0x20  # inotify(7)
# AddressSanitizer keeps 256 MB of what was freed.
RESIDENT_MAXIMUM = (768 if os.environ.get("SANITIZED") else 256) << 20


class NodeTest(unittest.TestCase):
    def node(self, *args, **options):
        node = Node(*args, **options)
        self.addCleanup(node.close)
        return node

    def target(self, *args, **variables):
        target = Target(*args, **variables)
        self.addCleanup(target.close)
        return target

    def rank(self, number=0, **variables):
        rank = self.target(RANK=str(number), WORLD_SIZE="2", **variables)
        # It says that it is ready a moment before it reads.
        nodes.wait_for_read(rank.pid)
        return rank


class TestCommandLine(NodeTest):
    def run_node(self, *words):
        return subprocess.run([NODE] + list(words), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=LIMIT)

    def test_version(self):
        run = self.run_node("--version")
        self.assertEqual(run.returncode, 0)
        self.assertRegex(run.stdout.decode(), r"^probetui-node \d")

    def test_help(self):
        run = self.run_node("--help")
        self.assertEqual(run.returncode, 0)
        self.assertIn("probetui", run.stdout.decode())

    def test_unknown_option(self):
        run = self.run_node("--bogus")
        self.assertEqual(run.returncode, 2)
        self.assertIn("--bogus", run.stderr.decode())

    def test_by_hand_on_a_terminal(self):
        master, slave = os.openpty()
        try:
            run = subprocess.run([NODE], stdin=slave, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, timeout=LIMIT)
        finally:
            os.close(master)
            os.close(slave)
        self.assertEqual(run.returncode, 2)
        self.assertIn("run probetui, which", run.stderr.decode())


class TestRequests(NodeTest):
    def test_initialize(self):
        node = self.node()
        body = node.ask("initialize", protocol=1)
        self.assertEqual(body["protocol"], 1)
        self.assertEqual(body["host"], socket.gethostname())
        self.assertEqual(body["uid"], os.geteuid())
        self.assertEqual(body["pid"], node.process.pid)

    def test_another_protocol(self):
        self.assertIn("version", self.node().refuse("initialize", protocol=2))

    def test_unknown_command(self):
        self.assertIn('"dance"', self.node().refuse("dance"))

    def test_malformed_lines(self):
        node = self.node()
        for line in (b"hello", b"[]", b"{}", b'{"seq":1,"type":"request"}',
                     b"\xff\x00", b"[" * 5000, b"",
                     b'{"seq":-1,"type":"request","command":"sample"}'):
            node.write(line + b"\n")
            body = node.event("output")
            self.assertEqual(body["category"], "console")
            self.assertTrue(body["output"])
        node.ask("initialize", protocol=1)

    def test_bad_arguments(self):
        node = self.node()
        for command, arguments in (
                ("discover", {"pids": 5}), ("discover", {"pids": ["x"]}),
                ("discover", {"pids": [-1]}), ("discover", {"pids": [1 << 40]}),
                ("sample", {"pids": [0]}), ("sample", {"period": 1e99}),
                ("variables", {}), ("variables", {"pid": "x"}),
                ("source", {"path": "/etc/passwd"}),
                ("diagnose", {"pids": {}})):
            with self.subTest(command=command, arguments=arguments):
                self.assertTrue(node.refuse(command, **arguments))

    def test_a_line_that_is_too_long(self):
        node = self.node()
        try:
            node.write(b"x" * (3 << 20))
        except BrokenPipeError:
            pass
        self.assertIn("longer", node.event("output")["output"])
        self.assertEqual(node.wait(), 1)

    def test_a_line_that_is_a_little_too_long(self):
        """Its end comes in the same reading as what shows its length."""
        line = json.dumps({"seq": 1, "type": "request",
                           "command": "initialize",
                           "arguments": {"protocol": 1}}).encode()
        for length in ((1 << 20) + 1, (1 << 20) + 5000):
            with self.subTest(length=length):
                node = self.node()
                try:
                    node.write(b"x" * length + b"\n" + line + b"\n")
                except BrokenPipeError:
                    pass
                self.assertIn("longer", node.event("output")["output"])
                self.assertEqual(node.wait(), 1)
                self.assertFalse([m for m in node.messages
                                  if m["type"] == "response"])

    def test_the_longest_line(self):
        node = self.node()
        line = json.dumps({"seq": 1, "type": "request",
                           "command": "initialize",
                           "arguments": {"protocol": 1}}).encode()
        node.write(line + b" " * ((1 << 20) - len(line)) + b"\n")
        self.assertTrue(node.answer(1)["success"])

    def test_each_request_is_answered_once_in_order(self):
        node = self.node()
        rank = self.rank()
        node.discover()
        sent = []
        for _ in range(50):
            sent.append(node.request("sample", pids=[rank.pid]))
            sent.append(node.request("dance"))
        last = node.request("diagnose", pids=[])
        node.answer(last)
        answered = [message["request_seq"] for message in node.messages
                    if message["type"] == "response"]
        self.assertEqual(answered, sent)


class TestSample(NodeTest):
    def test_once(self):
        node = self.node()
        rank = self.rank(3)
        node.discover()
        self.assertEqual(node.ask("sample", pids=[rank.pid]), {})
        body = node.event("sampled", rank.pid)
        self.assertEqual(body["rank"], 3)
        self.assertEqual(len(body["threads"]), 1)
        self.assertEqual(body["epoch"], 1)

    def test_names_of_threads_are_left_out_when_nobody_wants_them(self):
        node = self.node()
        rank = self.target("import threading; " + nodes.WAIT, RANK="0")
        nodes.wait_for_read(rank.pid)
        node.discover()
        for names, expected in (False, None), (True, "MainThread"):
            node.ask("sample", pids=[rank.pid], names=names)
            thread = node.event("sampled", rank.pid)["threads"][0]
            if expected:
                self.assertEqual(thread["name"], expected)
            else:
                self.assertNotEqual(thread.get("name"), "MainThread")

    def test_unknown_process(self):
        node = self.node()
        node.ask("sample", pids=[1])
        self.assertIn("not one of the processes found", node.event("sampled", 1)["error"])

    def test_a_process_that_ended(self):
        node = self.node()
        rank = self.rank()
        node.discover()
        rank.end()
        node.ask("sample", pids=[rank.pid])
        self.assertTrue(node.event("sampled", rank.pid)["error"])
        self.assertEqual(node.event("rankRemoved", rank.pid)["state"],
                         "exited")

    def test_again_and_again_until_told(self):
        node = self.node()
        rank = self.rank()
        node.discover()
        node.ask("sample", pids=[rank.pid], period=0.01)
        epochs = [node.event("sampled", rank.pid)["epoch"] for _ in range(5)]
        self.assertEqual(epochs, [1, 2, 3, 4, 5])
        node.ask("sample", period=0)
        del node.messages[:]
        # Twenty periods of another timer: nothing of the first one.
        other = self.rank(1)
        node.discover()
        node.ask("sample", pids=[other.pid], period=0.01)
        for _ in range(20):
            node.event("sampled", other.pid)
        self.assertFalse([m for m in node.messages
                          if m.get("event") == "sampled"
                          and m["body"]["pid"] == rank.pid])

    def test_without_a_file_to_spare_nobody_has_ended(self):
        node = self.node()
        ranks = [self.rank(number) for number in range(2)]
        pids = [rank.pid for rank in ranks]
        node.discover(pids=pids, follow=True)
        node.ask("sample", pids=pids, period=0.05)
        for pid in pids:
            node.event("sampled", pid)
        pid = node.process.pid
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, limits[1]))
        found, _ = node.discover(pids, pids=pids, follow=True)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
        self.assertEqual([found[pid]["state"] for pid in pids], ["live"] * 2)
        self.assertEqual(
            [m for m in node.messages if m.get("event") == "rankRemoved"], [])
        node.ask("sample", period=0)
        del node.messages[:]
        node.ask("sample", pids=pids)
        for pid in pids:
            self.assertNotIn("error", node.event("sampled", pid))

    def test_a_refusal_is_whole_sentences(self):
        """Why, and nothing behind it where nothing would help."""
        node = self.node()
        rank = self.rank()
        node.discover()
        node.ask("sample", pids=[rank.pid], exact=True, period=0.01)
        node.ask("initialize", protocol=1, readOnly=True)
        body = node.wait_for(lambda m: m.get("event") == "sampled"
                             and "error" in m["body"])["body"]
        self.assertIn("--read-only", body["error"])
        self.assertEqual(body["error"], body["error"].strip())

    def test_it_does_not_keep_all_stacks(self):
        """With a bound of ten there are never many more, for ever."""
        code = ("import sys\n"
                "def deeper(depth):\n"
                "    if depth: deeper(depth - 1)\n"
                "    else: print('ready', flush=True); sys.stdin.readline()\n"
                "for depth in range(40): deeper(depth)\n")
        node = self.node()
        node.ask("initialize", protocol=1, stacks=10)
        rank = self.target(code, RANK="0")
        node.discover()
        codes = {}
        stacks = {}
        dropped = 0
        for depth in range(39):
            nodes.wait_for_read(rank.pid)
            node.ask("sample", pids=[rank.pid])
            for message in node.messages:
                if message.get("event") == "stacksDropped":
                    self.assertEqual(message["body"], {})
                    stacks = {}
                    codes = {}
                    dropped += 1
            body = node.event("sampled", rank.pid)
            del node.messages[:]
            for stack in body.get("stacks", []):
                self.assertNotIn(stack["id"], stacks)
                stacks[stack["id"]] = stack["frames"]
                codes.update((words[0], words) for words in stack["codes"])
            frames = stacks[body["threads"][0]["stack"]]
            names = [codes[frame[0]][1] for frame in frames]
            self.assertEqual(names.count("deeper"), depth + 1)
            self.assertEqual(body["epoch"], depth + 1)
            self.assertLessEqual(len(stacks), 11)
            values = node.ask("variables", pid=rank.pid, tid=rank.pid,
                              depth=names.index("deeper"))
            self.assertEqual(values["epoch"], depth + 1)
            self.assertEqual(values["variables"][0]["value"], "0")
            rank.say("")
            rank.line()
        self.assertGreaterEqual(dropped, 3)

    def test_a_stopped_process_is_read(self):
        node = self.node()
        rank = self.rank()
        os.kill(rank.pid, signal.SIGSTOP)
        os.waitpid(rank.pid, os.WUNTRACED)
        found, _ = node.discover([rank.pid])
        self.assertEqual(found[rank.pid]["state"], "stopped")
        node.ask("sample", pids=[rank.pid])
        body = node.event("sampled", rank.pid)
        self.assertTrue(body["threads"][0]["stack"])

    def test_read_only_refuses_a_hold(self):
        node = self.node()
        node.ask("initialize", protocol=1, readOnly=True)
        rank = self.rank()
        node.discover()
        self.assertIn("--read-only",
                      node.refuse("sample", pids=[rank.pid], exact=True))
        node.ask("sample", pids=[rank.pid])
        self.assertNotIn("error", node.event("sampled", rank.pid))


class TestVariables(NodeTest):
    CODE = ("import sys\n"
            "def inner(number, text):\n"
            "    box = {'a': [1, 2], 'b': None}\n"
            "    print('ready', flush=True); sys.stdin.read()\n"
            "inner(10 ** 20, 'h\\u00e9')\n")

    def test_locals_of_a_blocked_thread(self):
        node = self.node()
        rank = self.target(self.CODE, RANK="0")
        nodes.wait_for_read(rank.pid)
        node.discover()
        node.ask("sample", pids=[rank.pid])
        body = node.ask("variables", pid=rank.pid, tid=rank.pid, depth=0)
        values = {v["name"]: v for v in body["variables"]}
        if "number" not in values:
            # Below sys.stdin.read there may be codecs' decode.
            self.fail(body)
        self.assertEqual(values["number"]["value"], str(10 ** 20))
        self.assertEqual(values["text"]["value"], repr("h\u00e9"))
        self.assertEqual(body["exactness"], "exact")
        self.assertEqual(body["epoch"], 1)
        self.assertEqual(body["rank"], 0)
        box = values["box"]
        inside = node.ask("variables", pid=rank.pid, address=box["address"],
                          type=box["type"])
        self.assertEqual(inside["total"], 2)
        self.assertEqual(len(inside["variables"]), 2)

    def test_locals_of_a_thread_that_runs(self):
        code = ("def spin():\n"
                "    turns = 0\n"
                "    print('ready', flush=True)\n"
                "    while True: turns += 1\n"
                "spin()\n")
        for read_only, exactness in ((False, "exact"), (True, "consistent")):
            with self.subTest(read_only=read_only):
                node = self.node()
                node.ask("initialize", protocol=1, readOnly=read_only)
                rank = self.target(code, RANK="0")
                self.addCleanup(rank.process.kill)
                node.discover()
                node.ask("sample", pids=[rank.pid])
                # A thread that waits for a processor does not stop in time.
                for _ in range(100):
                    body = node.ask("variables", pid=rank.pid, tid=rank.pid,
                                    depth=0)
                    self.assertEqual(body["variables"][0]["name"], "turns")
                    if read_only or body["exactness"] == exactness:
                        break
                self.assertEqual(body["exactness"], exactness)
                rank.process.kill()

    def test_a_frame_that_is_no_more(self):
        code = ("import sys\n"
                "def a():\n"
                "    print('ready', flush=True); sys.stdin.readline()\n"
                "def b():\n"
                "    print('moved', flush=True); sys.stdin.readline()\n"
                "a(); b()\n")
        node = self.node()
        rank = self.target(code, RANK="0")
        node.discover()
        node.ask("sample", pids=[rank.pid])
        rank.say("go on")
        self.assertEqual(rank.line(), ["moved"])
        self.assertIn("the thread has continued", node.refuse(
            "variables", pid=rank.pid, tid=rank.pid, depth=0))

    def test_no_such_thread(self):
        node = self.node()
        rank = self.rank()
        node.discover()
        self.assertIn("thread 1 ", node.refuse("variables", pid=rank.pid,
                                               tid=1, depth=0))


class TestSource(NodeTest):
    def script(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "train.py")
        with open(path, "w") as file:
            file.write(text)
        return path

    def test_of_a_script(self):
        path = self.script(nodes.WAIT)
        node = self.node()
        rank = self.target(argv=[sys.executable, path], RANK="0")
        node.discover()
        node.ask("sample", pids=[rank.pid])
        body = node.ask("source", pid=rank.pid, path=path)
        self.assertEqual(body["content"], nodes.WAIT)
        self.assertFalse(body["changed"])

    def test_relative_to_the_folder_of_the_process(self):
        path = self.script(nodes.WAIT)
        node = self.node()
        rank = self.target(
            argv=[sys.executable, "-c",
                  "import os, sys; os.chdir(sys.argv[1]); "
                  "exec(compile(open('train.py').read(), 'train.py', 'exec'))",
                  os.path.dirname(path)], RANK="0")
        node.discover()
        node.ask("sample", pids=[rank.pid])
        body = node.ask("source", pid=rank.pid, path="train.py")
        self.assertEqual(body["content"], nodes.WAIT)

    def test_changed_since_the_start(self):
        path = self.script(nodes.WAIT)
        node = self.node()
        rank = self.target(argv=[sys.executable, path], RANK="0")
        # The kernel tells starts by whole seconds since its own start.
        later = time.time() + 5
        os.utime(path, (later, later))
        node.discover()
        node.ask("sample", pids=[rank.pid])
        self.assertTrue(node.ask("source", pid=rank.pid,
                                 path=path)["changed"])

    def test_no_file(self):
        node = self.node()
        rank = self.rank()
        node.discover()
        node.ask("sample", pids=[rank.pid])
        for path, word in (("<string>", "no source"),
                           ("/etc/passwd", "not part of any stack"), ("", "")):
            body = node.ask("source", pid=rank.pid, path=path)
            self.assertIsNone(body["content"])
            self.assertIn(word, body["error"])

    def compiled(self, path):
        """A process whose stack names path."""
        code = ("import sys\n"
                "exec(compile(%r, %r, 'exec'))\n" % (nodes.WAIT, path))
        node = self.node()
        rank = self.target(code, RANK="0")
        node.discover()
        node.ask("sample", pids=[rank.pid])
        return node.ask("source", pid=rank.pid, path=path)

    def test_a_file_that_is_gone(self):
        body = self.compiled("/no/such/file.py")
        self.assertIsNone(body["content"])
        self.assertIn("No such file", body["error"])

    def test_a_fifo_is_no_source(self):
        path = self.script("") + ".fifo"
        os.mkfifo(path)
        body = self.compiled(path)
        self.assertIsNone(body["content"])
        self.assertIn("regular file", body["error"])

    def test_a_fifo_is_not_even_opened(self):
        path = self.script("") + ".fifo"
        os.mkfifo(path)
        libc = ctypes.CDLL(None)
        watch = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self.addCleanup(os.close, watch)
        self.assertGreaterEqual(libc.inotify_add_watch(
            watch, path.encode(), IN_OPEN), 0)
        self.assertIn("regular file", self.compiled(path)["error"])
        self.assertRaises(BlockingIOError, os.read, watch, 4096)

    def test_a_file_that_only_another_process_names(self):
        path = self.script(nodes.WAIT)
        node = self.node()
        rank = self.target(argv=[sys.executable, path], RANK="0")
        other = self.rank(1)
        node.discover()
        node.ask("sample", pids=[rank.pid, other.pid])
        self.assertEqual(node.ask("source", pid=rank.pid,
                                  path=path)["content"], nodes.WAIT)
        body = node.ask("source", pid=other.pid, path=path)
        self.assertIsNone(body["content"])
        self.assertIn("not part of any stack", body["error"])

    def test_a_file_of_one_that_has_ended(self):
        """Another rank of the machine stands in for it."""
        path = self.script(nodes.WAIT)
        node = self.node()
        rank = self.target(argv=[sys.executable, path], RANK="0")
        other = self.rank(1)
        node.discover(follow=True)
        node.ask("sample", pids=[rank.pid])
        rank.end()
        node.event("rankRemoved", rank.pid)
        self.assertEqual(node.ask("source", pid=other.pid,
                                  path=path)["content"], nodes.WAIT)

    def test_a_file_that_is_too_large(self):
        path = self.script("")
        os.truncate(path, (16 << 20) + 1)
        self.assertIn("16 MB", self.compiled(path)["error"])

    def test_through_the_root_of_the_process(self):
        if os.geteuid() != 0:
            self.skipTest("chroot needs root")
        path = self.script("outside")
        root = os.path.dirname(path)
        with open(root + "/inside.py", "w") as file:
            file.write("inside")
        os.symlink("/inside.py", root + "/link.py")
        os.symlink("../../../../../../etc/passwd", root + "/out.py")
        # It moves into the folder after its start, so it needs no Python
        # there.
        code = ("import os, sys\n"
                "os.chroot(%r); os.chdir('/')\n"
                "text = %r\n"
                "exec(compile('exec(compile(text, \"/out.py\", \"exec\"))',"
                " '/link.py', 'exec'))\n" % (root, nodes.WAIT))
        node = self.node()
        rank = self.target(code, RANK="0")
        node.discover()
        node.ask("sample", pids=[rank.pid])
        body = node.ask("source", pid=rank.pid, path="/link.py")
        self.assertEqual(body["content"], "inside")
        body = node.ask("source", pid=rank.pid, path="/out.py")
        self.assertIsNone(body["content"])


class TestDiagnose(NodeTest):
    def ways(self, node, pid):
        rank, = node.ask("diagnose", pids=[pid])["ranks"]
        self.assertEqual(rank["pid"], pid)
        return {way["way"]: way for way in rank["ways"]}

    def test_all_is_well(self):
        ways = self.ways(self.node(), self.rank().pid)
        self.assertEqual(set(ways), {"environ", "read", "exact snapshot",
                                     "unwind", "ptrace", "perf watches",
                                     "stop and step", "pdb socket",
                                     "agent", "watchdog"})
        for way in ways.values():
            self.assertTrue(way["ok"] or way["optional"], way)
        self.assertIn("Python 3.", ways["read"]["why"])

    def test_read_only(self):
        node = self.node()
        node.ask("initialize", protocol=1, readOnly=True)
        ways = self.ways(node, self.rank().pid)
        self.assertFalse(ways["exact snapshot"]["ok"])
        self.assertIn("--read-only", ways["exact snapshot"]["why"])
        self.assertTrue(ways["read"]["ok"])

    def test_gone(self):
        rank = self.rank()
        rank.end()
        for way in self.ways(self.node(), rank.pid).values():
            self.assertFalse(way["ok"])
            self.assertIn("does not exist", way["why"])
            self.assertTrue(way["fix"])

    def test_zombie(self):
        rank = self.rank()
        rank.process.stdin.close()
        os.waitid(os.P_PID, rank.pid, os.WEXITED | os.WNOWAIT)
        ways = self.ways(self.node(), rank.pid)
        self.assertIn("has exited", ways["read"]["why"])

    def test_not_python(self):
        target = self.target(argv=["sh", "-c", "echo ready; read line"])
        ways = self.ways(self.node(), target.pid)
        self.assertFalse(ways["read"]["ok"])
        self.assertTrue(ways["ptrace"]["ok"])

    def test_another_users(self):
        if os.geteuid() != 0:
            self.skipTest("running the node as another user needs root")
        node = self.node(argv=["setpriv", "--reuid=65534", "--regid=65534",
                               "--clear-groups", NODE])
        for way in self.ways(node, self.rank().pid).values():
            self.assertFalse(way["ok"])
            self.assertIn("user 0", way["why"])
            self.assertIn("sudo", way["fix"])


class TestLeaving(NodeTest):
    def test_end_of_input(self):
        node = self.node()
        node.ask("initialize", protocol=1)
        node.process.stdin.close()
        self.assertEqual(node.wait(), 0)

    def test_requests_before_the_end_are_answered(self):
        run = subprocess.run(
            [NODE], input=b'{"seq":7,"type":"request","command":'
            b'"initialize","arguments":{"protocol":1}}\n',
            stdout=subprocess.PIPE, timeout=LIMIT)
        self.assertEqual(json.loads(run.stdout.decode())["request_seq"], 7)

    def test_disconnect(self):
        node = self.node()
        node.ask("disconnect")
        self.assertEqual(node.wait(), 0)

    def test_sigterm(self):
        node = self.node()
        node.ask("initialize", protocol=1)
        node.process.send_signal(signal.SIGTERM)
        self.assertEqual(node.wait(), 0)

    def test_hangup_and_interrupt_are_nothing(self):
        node = self.node()
        node.ask("initialize", protocol=1)
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            node.process.send_signal(number)
        node.ask("initialize", protocol=1)

    def test_own_session(self):
        node = self.node()
        node.ask("initialize", protocol=1)
        self.assertEqual(os.getsid(node.process.pid), node.process.pid)

    def test_its_pipes_are_as_before(self):
        """Who else has them open must not find them non-blocking."""
        read, write = os.pipe()
        with os.fdopen(read), os.fdopen(write, "w"):
            node = subprocess.Popen([NODE], stdin=subprocess.DEVNULL,
                                    stdout=write)
            self.assertEqual(node.wait(LIMIT), 0)
            self.assertTrue(os.get_blocking(write))

    def test_a_reader_that_is_gone(self):
        node = self.node()
        rank = self.rank()
        node.discover()
        node.ask("sample", pids=[rank.pid], period=0.01)
        node.process.stdout.close()
        self.assertEqual(node.wait(), 0)

    def test_a_parent_that_is_killed(self):
        rank = self.rank()
        code = ("import subprocess, sys, nodes\n"
                "node = nodes.Node()\n"
                "node.discover(follow=True)\n"
                "node.ask('sample', pids=[%d], period=0.01)\n"
                "print(node.process.pid, flush=True)\n"
                "sys.stdin.read()\n" % rank.pid)
        parent = self.target(
            argv=[sys.executable, "-c", code],
            PYTHONPATH=os.path.dirname(os.path.abspath(__file__)))
        pidfd = os.open("/proc/%s" % parent.words[0], os.O_RDONLY)
        self.addCleanup(os.close, pidfd)
        parent.process.kill()
        parent.process.wait()
        deadline = time.monotonic() + 1.0
        while is_running(pidfd):
            self.assertLess(time.monotonic(), deadline,
                            "the node is still there after a second")

    def test_killed_while_it_holds(self):
        rank = self.target("print('ready', flush=True)\nwhile True: pass",
                           RANK="0")
        self.addCleanup(rank.process.kill)
        for _ in range(10):
            node = Node()
            node.discover()
            node.ask("sample", pids=[rank.pid], exact=True, period=0.01)
            node.event("sampled", rank.pid)
            node.process.kill()
            node.process.communicate()
            with open("/proc/%d/status" % rank.pid) as file:
                status = file.read()
            self.assertIn("TracerPid:\t0\n", status)
            self.assertNotRegex(status, r"State:\t[Tt]")
        rank.process.kill()

    def test_nobody_reads(self):
        """The queue stays small, requests stop, and the end is seen."""
        node = self.node()
        rank = self.rank()
        node.discover()
        node.ask("sample", pids=[rank.pid], period=0.01)
        line = json.dumps({"seq": 9, "type": "request", "command": "diagnose",
                           "arguments": {"pids": [rank.pid] * 1}})
        os.set_blocking(node.process.stdin.fileno(), False)
        data = (line + "\n").encode() * 1000
        sent = 0
        deadline = time.monotonic() + LIMIT
        while node.process.poll() is None:
            self.assertLess(time.monotonic(), deadline)
            try:
                sent += os.write(node.process.stdin.fileno(), data)
            except BlockingIOError:
                pass
            except BrokenPipeError:
                break
            self.assertLess(resident(node.process.pid), RESIDENT_MAXIMUM)
        self.assertEqual(node.wait(), 1)
        self.assertGreater(sent, 1 << 20)
        self.assertIn("does not read the answers", node.process.stderr.read().decode())


def is_running(folder):
    """False for a zombie, and when the process of /proc/PID is gone."""
    try:
        stat = os.open("stat", os.O_RDONLY, dir_fd=folder)
        with open(stat) as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def resident(pid):
    try:
        with open("/proc/%d/statm" % pid) as file:
            return int(file.read().split()[1]) * 4096
    except (OSError, IndexError):
        return 0


if __name__ == "__main__":
    unittest.main()
