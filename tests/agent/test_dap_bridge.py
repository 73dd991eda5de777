"""The bridge between programs that speak DAP and an agent: what it refuses,
and how."""
import contextlib
import http.client
import http.server
import os
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import bridges
import dap_schema
from agents import OneCase, make_certificate, wait_for
from sessions import LIMIT

INITIALIZE = bridges.frame({"seq": 1, "type": "request",
                            "command": "initialize",
                            "arguments": {"adapterID": "probetui"}})

# As user argv[1], to the address in the arguments behind: with 60 idle
# connections in front, requests are sent and the connection is closed at once.
ATTACK = """
import os, socket, struct, sys
data = %r
os.setgid(int(sys.argv[1]))
os.setuid(int(sys.argv[1]))
unix = len(sys.argv) == 3
address = sys.argv[2] if unix else (sys.argv[2], int(sys.argv[3]))
def connect():
    client = socket.socket(socket.AF_UNIX if unix else socket.AF_INET)
    client.connect(address)
    return client
for turn in range(20):
    idle = []
    try:
        idle += [connect() for _ in range(60)]
        client = connect()
        if turn %% 2:  # a reset
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                              struct.pack("ii", 1, 0))
        client.sendall(data)
        client.close()
    except ConnectionError:
        pass
    for client in idle:
        client.close()
print("done")
"""

TOKEN = "a token of the test"

STEPS = """import probetui
say(probetui.listen())
def inner():
    return 1
def outer():
    found = inner()
    return found
"""


class Relay(http.server.BaseHTTPRequestHandler):
    """In front of the agent at the server's `port`: the answer to `next`
    comes after the stop that the step has led to."""
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer is one packet

    def do_GET(self):
        server = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        is_step = b'"next"' in body
        if is_step:
            server.stopped.clear()
        status, data = self.ask(body)
        if is_step:
            server.stopped.wait(LIMIT)
        elif self.path.startswith("/events") and not server.stopped.is_set():
            while b'"stopped"' not in data:  # only "continued" as yet
                status, data = self.ask(body)
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()
        if b'"stopped"' in data:
            server.stopped.set()

    do_POST = do_GET

    def ask(self, body):
        agent = http.client.HTTPConnection("127.0.0.1", self.server.port)
        with contextlib.closing(agent):
            agent.request(self.command, self.path, body, dict(self.headers))
            answer = agent.getresponse()
            return answer.status, answer.read()

    def log_message(self, *_):
        pass


class TestRefusals(unittest.TestCase):
    def check(self, sentence, *arguments, **more):
        status, output, errors = bridges.run(*arguments, **more)
        self.assertEqual((status, output), (2, b""))
        self.assertTrue(errors.startswith("dap-bridge: "), errors)
        self.assertEqual(errors.count("\n"), 1)
        self.assertIn(sentence, errors)

    def test_arguments(self):
        self.check("(see --help)", "--port", "1", "--socket", "1")
        self.check("(see --help)", "--token-file", "/nowhere", "1")
        self.check("--port requires --token-file", "--port", "0", "1")
        self.check("(see --help)", "1", "2")
        self.check("unrecognized arguments: --bogus", "--bogus")
        self.check("unrecognized arguments: --bogus", "--bogus", "1")
        self.check("--port: expected one argument", "--port")
        self.check("a PID or an address is missing", "--socket")
        self.check("'\\x1b' is not a PID, http", "\x1b")
        self.check("is not a PID", "ftp://host:21")
        self.check("is not a PID", "http://host:port")
        self.check("'99999' is not a port", "--port", "99999", "--token-file",
                   "/nowhere", "1")
        self.check("requires a token", "http://localhost:1",
                   PROBETUI_TOKEN="", PROBETUI_TOKEN_FILE="")
        self.check("PROBETUI_CA_FILE=/nowhere has no certificates",
                   "https://localhost:1", PROBETUI_TOKEN="some token",
                   PROBETUI_CA_FILE="/nowhere")
        self.check("No such file", "http://localhost:1",
                   PROBETUI_TOKEN_FILE="/nowhere")

    def test_a_port_that_is_taken(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
            self.check("port %d of 127.0.0.1: Address already in use" % port,
                       "--port", str(port), "--token-file",
                       os.path.join(self.folder(), "token"), "1")

    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def test_help(self):
        status, output, errors = bridges.run("--help")
        self.assertEqual((status, errors), (0, ""))
        self.assertIn(b"usage: dap-bridge", output)

    def test_what_is_not_dap(self):
        for data, sentence in [
                (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "119): 'GET /"),
                (b"Content-Length: -1\r\n\r\n", "119): 'Content-Length: -"),
                (b"\r\n", "a message must have 1 to 1048576 bytes, not 0"),
                (b"Content-Length: 1048577\r\n\r\n", "not 1048577"),
                (b"Content-Length: 2\r\n\r\n{]", "invalid JSON: "),
                (b"Content-Length: 4\r\n\r\n\xff\xff\xff\xff",
                 "invalid JSON: "),
                (b"Content-Length: 90000\r\n\r\n" + b"[" * 90000,
                 "invalid JSON: "),
                (bridges.frame([]), "a DAP request must have a seq"),
                (bridges.frame({"seq": "1"}), "a DAP request must have a seq")]:
            with self.subTest(data=data[:40]):
                self.check(sentence, "1", data=data)

    def test_the_end_is_the_end(self):
        for data in b"", b"Content-Length: 5\r\n\r\n{", INITIALIZE[:30]:
            self.assertEqual(bridges.run("1", data=data), (0, b"", ""))


class TestNoAgent(OneCase):
    def check(self, sentence, target, **more):
        bridge = bridges.Bridge(target, **more)
        answer = bridge.answer(bridge.send("initialize"))
        self.assertEqual(
            (answer["success"], answer["type"], answer["command"]),
            (False, "response", "initialize"))
        self.assertIn(sentence, answer["message"])
        error = answer["body"]["error"]
        self.assertEqual(error["variables"][error["format"][1:-1]],
                         answer["message"])
        self.assertEqual(bridge.close(), (0, ""))

    def test_no_process(self):
        process = subprocess.Popen(["true"])
        process.wait()
        self.check("process %d does not exist" % process.pid, str(process.pid))

    def test_a_process_without_one(self):
        process = self.place.start("-c", "input()")
        self.addCleanup(process.communicate, "\n")
        self.check("process %d has no agent that can be reached: run "
                   "probetui inject %d" % (process.pid, process.pid),
                   str(process.pid))

    def test_nobody_listens(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.check("refused", "http://127.0.0.1:%d"
                       % free.getsockname()[1], PROBETUI_TOKEN="some token")

    def test_tls(self):
        """Not trusted, for another name, and none where it is asked for."""
        certificate, key = make_certificate(self.place.path)
        token = "a token of the test"
        target = self.start(
            "import probetui\nsay(probetui.listen('127.0.0.1:0', token=%r, "
            "tls=(%r, %r)))" % (
                token, certificate, key))
        port = target.first[1].rpartition(":")[2]
        wanted = {"PROBETUI_TOKEN": token, "PROBETUI_CA_FILE": ""}
        self.check("TLS with the agent failed: self",
                   "https://localhost:" + port, **wanted)
        self.check("PROBETUI_CA_FILE=FILE", "https://localhost:" + port,
                   **wanted)
        self.check("TLS is required: use https", "http://localhost:" + port,
                   **wanted)
        with socket.socket() as plain:
            plain.bind(("127.0.0.1", 0))
            plain.listen(1)
            bridge = bridges.Bridge("https://localhost:%d"
                                    % plain.getsockname()[1], **wanted)
            number = bridge.send("initialize")
            with plain.accept()[0] as connection:
                connection.recv(1000)
                connection.sendall(b"HTTP/1.1 400 No\r\n\r\n")
                self.assertIn("the agent does not use TLS",
                              bridge.answer(number)["message"])
            bridge.close()
        bridge = bridges.Bridge("https://localhost:" + port,
                                **dict(wanted, PROBETUI_CA_FILE=certificate))
        self.assertTrue(bridge.answer(bridge.send("initialize"))["success"])
        bridge.close()

    def test_a_socket_of_another_process(self):
        target = self.start()
        process = self.place.start("-c", "input()")
        self.addCleanup(process.communicate, "\n")
        path = target.path.replace(str(target.process.pid), str(process.pid))
        os.symlink(target.path, path)
        self.addCleanup(os.unlink, path)
        self.check("has no agent that can be reached", str(process.pid))


class TestSession(OneCase):
    def begin(self, target, **more):
        bridge = bridges.Bridge(str(target), **more)
        self.addCleanup(bridge.close)
        capabilities = bridge.ask("initialize", adapterID="probetui")
        self.assertIs(capabilities["supportsCompletionsRequest"], True)
        bridge.event("initialized")
        bridge.ask("configurationDone")
        return bridge

    def end(self, bridge, status=(0, "")):
        self.assertEqual(bridge.close(), status)
        numbers = [message["seq"] for message in bridge.said]
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
        for message in bridge.said:
            self.assertEqual(dap_schema.problems(message), [], message)

    def test_a_session(self):
        target = self.start()
        bridge = self.begin(target.process.pid)
        thread = bridge.ask("threads")["threads"][0]
        self.assertEqual(thread["name"], "MainThread")
        self.assertEqual(bridge.ask("evaluate", expression="6 * 7")["result"],
                         "42")
        answer = bridge.answer(bridge.send("evaluate", expression="nobody"))
        self.assertEqual(answer["message"],
                         "NameError: name 'nobody' is not defined")
        answer = bridge.answer(bridge.send("odd"))
        self.assertFalse(answer["success"])
        bridge.ask("disconnect")
        self.end(bridge)
        self.assertEqual(target.close(), (0, ""))

    def test_an_agent_elsewhere(self):
        """Where another user has the folder in which agents listen."""
        target = self.start(
            "import os, probetui\nfrom probetui import files\n"
            "path = sys.argv[0].replace('program.py', 'runtime')\n"
            "os.mkdir(path, 0o700); os.environ['XDG_RUNTIME_DIR'] = path\n"
            "files.default_folder = lambda: '/dev/null/none'\n"
            "say(probetui.listen())")
        self.assertIn("/runtime/", target.first[0])
        bridge = self.begin(target.process.pid)
        self.assertEqual(bridge.ask("evaluate", expression="6 * 7")["result"],
                         "42")
        self.end(bridge)

    def test_a_refused_disconnect(self):
        """The session goes on; one that cannot be asked for ends."""
        target = self.start()
        bridge = self.begin(target.process.pid)
        answer = bridge.answer(bridge.send("disconnect",
                                           terminateDebuggee=True))
        self.assertFalse(answer["success"])
        self.assertIn("terminateDebuggee is not supported", answer["message"])
        self.assertEqual(bridge.ask("threads")["threads"][0]["name"],
                         "MainThread")
        self.assertEqual(target.close(), (0, ""))
        bridge.event("terminated")
        self.assertFalse(bridge.answer(bridge.send("disconnect"))["success"])
        self.end(bridge)

    def test_a_pause_that_comes_when_nobody_is_there(self):
        target = self.start()
        bridge = self.begin(target.process.pid)
        # It waits for a line, in C.
        bridge.ask("pause", threadId=target.process.pid)
        bridge.ask("disconnect")
        self.end(bridge)
        self.assertEqual(target.ask("6 * 7"), 42)

    def test_what_code_prints_is_output(self):
        bridge = self.begin(self.start().process.pid)
        number = bridge.send("evaluate", context="repl",
                             expression="print('a', '\\ud800')")
        self.assertEqual(bridge.event("output"), {
            "category": "stdout", "output": "a \ud800\n"})
        self.assertTrue(bridge.answer(number)["success"])
        self.end(bridge)

    def test_other_requests_do_not_wait_for_code_that_runs(self):
        bridge = self.begin(self.start().process.pid)
        bridge.ask("evaluate", expression="import threading as t; "
                   "event = t.Event()", context="repl")
        number = bridge.send("evaluate", expression="event.wait(20)")
        bridge.ask("threads")
        bridge.ask("evaluate", expression="event.set()")
        self.assertEqual(bridge.answer(number)["body"]["result"], "True")
        self.end(bridge)

    def test_step_out_stops_in_the_caller(self):
        """pdb, and keys, stop where the function returns."""
        target = self.start(STEPS)
        bridge = self.begin(target.process.pid)
        thread = target.process.pid
        bridge.ask("setFunctionBreakpoints", breakpoints=[{"name": "inner"}])
        target.run("outer()")
        self.assertEqual(bridge.event("stopped")["threadId"], thread)
        bridge.ask("stepOut", threadId=thread)
        self.assertEqual(bridge.event("stopped")["reason"], "step")
        frame = bridge.ask("stackTrace", threadId=thread)["stackFrames"][0]
        self.assertEqual(frame["name"], "outer")
        bridge.ask("continue", threadId=thread)
        self.end(bridge)

    def test_a_step_is_answered_before_its_stop(self):
        """However the agent's two connections are served."""
        target = self.start(
            "import probetui\nsay(probetui.listen('127.0.0.1:0', %r))\n"
            "def count():\n    for _ in range(100):\n        pass" % TOKEN)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Relay)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        server.port, server.stopped = target.port(), threading.Event()
        server.stopped.set()
        bridges.start(server.serve_forever)
        bridge = self.begin("http://127.0.0.1:%d" % server.server_port,
                            PROBETUI_TOKEN=TOKEN, PROBETUI_TOKEN_FILE="")
        bridge.ask("setFunctionBreakpoints", breakpoints=[{"name": "count"}])
        target.run("count()")
        thread = bridge.event("stopped")["threadId"]
        for _ in range(20):
            bridge.ask("next", threadId=thread)
            self.assertEqual(bridge.event("stopped")["reason"], "step")
        bridge.ask("continue", threadId=thread)
        self.end(bridge)

    def test_a_thread_that_is_no_number(self):
        bridge = self.begin(self.start().process.pid)
        for thread in [1], {"a": 1}, "1", None:
            answer = bridge.answer(bridge.send("next", threadId=thread))
            self.assertFalse(answer["success"])
        self.end(bridge)

    def test_a_stop_that_comes_before_configuration_is_done(self):
        """It is told once."""
        target = self.start(STEPS)
        bridge = bridges.Bridge(str(target.process.pid))
        self.addCleanup(bridge.close)
        bridge.ask("initialize", adapterID="probetui")
        bridge.ask("setFunctionBreakpoints", breakpoints=[{"name": "inner"}])
        target.run("outer()")
        bridge.event("stopped")
        bridge.ask("configurationDone")
        bridge.ask("threads")
        self.assertEqual([message["event"] for message in bridge.said
                          if message.get("event") == "stopped"], ["stopped"])
        bridge.ask("continue", threadId=target.process.pid)
        self.end(bridge)

    def test_the_process_ends(self):
        target = self.start()
        bridge = self.begin(target.process.pid)
        target.close()
        bridge.event("terminated")
        # The first one may find the connection of before.
        answers = [bridge.answer(bridge.send("threads")) for _ in range(2)]
        self.assertFalse(answers[0]["success"])
        self.assertEqual(answers[1]["message"], "process %d does not exist"
                         % target.process.pid)
        self.end(bridge)

    def test_a_program_that_goes_on_to_its_end(self):
        target = self.start("import probetui, time\nsay(probetui.listen())\n"
                            "def end():\n    time.sleep(0)")
        bridge = self.begin(target.process.pid)
        thread = target.process.pid
        bridge.ask("setFunctionBreakpoints", breakpoints=[{"name": "end"}])
        target.run("end(); sys.exit()")
        self.assertEqual(bridge.event("stopped")["threadId"], thread)
        bridge.ask("continue", threadId=thread)
        bridge.event("terminated")
        self.end(bridge)
        self.assertEqual(target.process.wait(LIMIT), 0)

    def test_at_an_address(self):
        target = self.start("import probetui\nsay(probetui.listen("
                            "'127.0.0.1:0', token='a good token'))",
                            LOCAL_RANK="0")
        bridge = self.begin(target.first[1], PROBETUI_TOKEN="a good token")
        self.assertEqual(bridge.ask("evaluate", expression="1")["result"],
                         "1")
        self.end(bridge)
        bridge = bridges.Bridge(target.first[1], PROBETUI_TOKEN="a bad token")
        answer = bridge.answer(bridge.send("initialize"))
        self.assertIn("the token is missing or wrong", answer["message"])
        self.end(bridge)

    def test_it_goes_with_its_client(self):
        target = self.start()
        bridge = self.begin(target.process.pid)
        bridge.process.kill()
        sessions = "len(probetui.agent._agent._debugger.sessions)"
        wait_for(lambda: target.ask(sessions) == 0, "the session's end")
        bridge.process.wait(LIMIT)


class Doors(OneCase):
    """A bridge that listens."""

    def listen(self, *arguments, **more):
        """(the bridge, the path or port)"""
        bridge = bridges.Bridge(*arguments, **more)
        self.addCleanup(bridge.close)
        self.addCleanup(bridge.process.kill)
        words = bridge.process.stderr.readline().decode().split()
        self.assertEqual(words[:3], ["dap-bridge:", "listening", "at"])
        return bridge, words[-1] if len(words) == 4 else int(words[4])

    def token_file(self):
        return self.place.write("token", TOKEN, 0o600)

    def port(self, target):
        return self.listen("--port", "0", "--token-file", self.token_file(),
                           str(target))[1]

    def connect(self, address):
        if isinstance(address, str):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(address)
        else:
            connection = socket.create_connection(("127.0.0.1", address))
        self.addCleanup(connection.close)
        file = connection.makefile("rwb")
        # Its reader may be waiting for more.
        self.addCleanup(bridges.shut, connection)
        return bridges.Client(file, file)

    def attach(self, address, **arguments):
        client = self.connect(address)
        client.ask("initialize", adapterID="probetui")
        client.ask("attach", **arguments)
        # It comes before, where the agent was asked by `initialize` itself.
        if not any(message.get("event") == "initialized"
                   for message in client.said):
            client.event("initialized")
        return client

    def attack(self, target, *address):
        """Nothing of it is done."""
        target.run("hits = []")
        data = b"".join(bridges.frame(dict(
            message, seq=number + 1, type="request"))
            for number, message in enumerate([
                {"command": "initialize", "arguments": {}},
                {"command": "attach", "arguments": {"token": "wrong token"}},
                {"command": "evaluate", "arguments": {
                    "expression": "hits.append(1)", "context": "repl"}}]))
        user = 65534 if os.geteuid() == 0 else os.geteuid()
        for sent in data, data[data.rindex(b"Content"):]:
            done = subprocess.run(
                [sys.executable, "-c", ATTACK % sent, str(user)]
                + list(address), stdout=subprocess.PIPE, timeout=3 * LIMIT,
                universal_newlines=True)
            self.assertEqual(done.stdout, "done\n")


class TestSocket(Doors):
    """The kernel says who connects."""

    def test_several_clients(self):
        _, path = self.listen("--socket", self.place.path + "/bridge",
                              str(self.start().process.pid))
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        clients = [self.attach(path) for _ in range(2)]
        for client in clients:
            self.assertEqual(client.ask("evaluate", expression="7")["result"],
                             "7")

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_of_another_user(self):
        target = self.start()
        bridge, path = self.listen("--socket", self.place.path + "/bridge",
                                   str(target.process.pid))
        # So that only the bridge itself refuses.
        os.chmod(self.place.path, 0o755)
        os.chmod(path, 0o666)
        # Each of the connections is told of, more than a pipe holds.
        bridges.start(bridge.process.stderr.readlines)
        self.attack(target, path)
        client = self.attach(path)
        self.assertEqual(client.ask("evaluate", expression="hits")["result"],
                         "[]")

    def test_the_default_path(self):
        for folder in self.place.path, "/nowhere", self.place.path + "/open":
            with self.subTest(folder=folder):
                if folder.endswith("open"):
                    os.mkdir(folder)
                    os.chmod(folder, 0o755)
                bridge, path = self.listen("--socket", "1",
                                           XDG_RUNTIME_DIR=folder)
                self.assertEqual(
                    path, (folder if folder == self.place.path
                           else "/tmp/pdb-%d" % os.geteuid())
                    + "/probetui-dap-1.sock")
                self.assertEqual(os.stat(os.path.dirname(path)).st_mode
                                 & 0o077, 0)
                bridge.process.terminate()
                self.assertEqual(bridge.process.wait(LIMIT), 0)
                self.assertFalse(os.path.exists(path))

    def test_a_path_that_is_taken(self):
        path = self.place.path + "/bridge"
        first, _ = self.listen("--socket", path, "1")
        second = bridges.run("--socket", path, "1")
        self.assertEqual(second[0], 2)
        self.assertIn("cannot create a socket at " + path, second[2])
        first.process.kill()
        first.process.wait(LIMIT)
        self.listen("--socket", path, "1")

    def test_a_file_stays(self):
        path = self.place.write("bridge", "text")
        self.assertIn("cannot create a socket",
                      bridges.run("--socket", path, "1")[2])
        with open(path) as file:
            self.assertEqual(file.read(), "text")

    def test_by_another_bridge(self):
        """An editor that starts programs alone gets to the socket."""
        _, path = self.listen("--socket", self.place.path + "/bridge",
                              str(self.start().process.pid))
        relay = bridges.Bridge("unix:" + path)
        relay.ask("initialize", adapterID="probetui")
        self.assertEqual(relay.ask("evaluate", expression="7")["result"], "7")
        self.assertEqual(relay.close(), (0, ""))
        named = bridges.Bridge()
        named.ask("initialize", adapterID="probetui")
        named.ask("attach", target="unix:" + path)
        self.assertEqual(named.ask("evaluate", expression="7")["result"], "7")
        named.ask("disconnect")
        self.assertEqual(named.close(), (0, ""))
        self.assertEqual([message["seq"] for message in named.said],
                         list(range(1, len(named.said) + 1)))

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_a_listener_of_another_user(self):
        path = self.place.path + "/foreign"
        os.chmod(self.place.path, 0o777)
        process = subprocess.Popen(
            [sys.executable, "-c", "import os, socket, sys; os.setuid(65534); "
             "s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); "
             "s.listen(); print(flush=True); print(s.accept()[0].recv(9))",
             path], stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        process.stdout.readline()
        self.assertIn("another user listens at",
                      bridges.run("unix:" + path, data=INITIALIZE)[2])
        self.assertEqual(process.stdout.readline(), b"b''\n")


class TestPort(Doors):
    """Whoever is on the machine reaches it, so the token decides."""

    def test_several_clients(self):
        port = self.port(self.start().process.pid)
        clients = [self.attach(port, token=TOKEN) for _ in range(2)]
        for client in clients:
            self.assertEqual(client.ask("evaluate", expression="7")["result"],
                             "7")
            for message in client.said:
                self.assertEqual(dap_schema.problems(message), [], message)

    def test_an_attack(self):
        target = self.start()
        port = self.port(target.process.pid)
        self.attack(target, "127.0.0.1", str(port))
        client = self.attach(port, token=TOKEN)
        self.assertEqual(client.ask("evaluate", expression="hits")["result"],
                         "[]")
        sessions = "len(probetui.agent._agent._debugger.sessions)"
        self.assertEqual(target.ask(sessions), 1)

    def test_no_token(self):
        target = self.start()
        port = self.port(target.process.pid)
        for given in {}, {"token": "wrong"}, {"token": None}, {"token": "é"}, \
                {"token": TOKEN + "x"}, {"token": [TOKEN]}:
            with self.subTest(given=given):
                client = self.connect(port)
                client.ask("initialize")
                answer = client.answer(client.send("attach", **given))
                self.assertFalse(answer["success"])
                self.assertIn('"token" of `attach` is missing or wrong',
                              answer["message"])
                with self.assertRaises(bridges.Ended):
                    client.event("initialized")
        # It was not even asked.
        self.assertIs(target.ask("probetui.agent._agent._debugger"), None)

    def test_nothing_is_answered_before(self):
        target = self.start()
        port = self.port(target.process.pid)
        for command in "attach", "evaluate", "threads", "launch":
            with self.subTest(command=command):
                client = self.connect(port)
                answer = client.answer(client.send(
                    command, expression="1", token=TOKEN))
                self.assertFalse(answer["success"])
                self.assertIn("send `initialize` and `attach` first",
                              answer["message"])
        client = self.connect(port)
        with self.assertRaises((bridges.Ended, OSError)):
            for _ in range(100):
                client.answer(client.send("threads"))
        client = self.connect(port)
        with self.assertRaises((bridges.Ended, OSError)):
            client.send("initialize", adapterID="x" * (1 << 16))
            client.event("initialized")

    def test_silent_clients(self):
        """They keep nobody out, and they are ended."""
        port = self.port(self.start().process.pid)
        silent = [socket.create_connection(("127.0.0.1", port))
                  for _ in range(60)]
        client = self.attach(port, token=TOKEN)
        for connection in silent:
            with connection:
                connection.settimeout(LIMIT)
                self.assertEqual(connection.recv(1), b"")
        self.assertEqual(client.ask("evaluate", expression="7")["result"],
                         "7")

    def test_token_files(self):
        for text, mode, sentence in [
                (TOKEN, 0o644, "other users can read the token file"),
                (TOKEN, 0o620, "other users can read the token file"),
                ("short", 0o600, "has 5 characters: at least 8"),
                ("", 0o600, "has 0 characters: at least 8")]:
            path = self.place.write("token", text, mode)
            for arguments, more in [
                    (("--port", "0", "--token-file", path, "1"), {}),
                    (("http://localhost:1",),
                     {"PROBETUI_TOKEN_FILE": path})]:
                with self.subTest(text=text, mode=mode, more=more):
                    status, _, errors = bridges.run(*arguments, **more)
                    self.assertEqual(status, 2)
                    self.assertIn(sentence, errors)
        os.unlink(path)
        os.mkfifo(path, 0o600)
        self.assertIn("is not a regular file", bridges.run(
            "--port", "0", "--token-file", path, "1")[2])

    def test_a_token_that_is_made(self):
        path = self.place.path + "/made"
        _, port = self.listen("--port", "0", "--token-file", path,
                              str(self.start().process.pid))
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        with open(path) as file:
            token = file.read().strip()
        self.assertGreaterEqual(len(token), 32)
        self.attach(port, token=token)

    def test_capabilities(self):
        """They are told before the agent is asked."""
        target = self.start()
        direct = bridges.Bridge(str(target.process.pid))
        wanted = direct.ask("initialize")
        del wanted["probetui"]
        direct.close()
        client = self.connect(self.port(target.process.pid))
        self.assertEqual(client.ask("initialize"), wanted)
        reads = self.start("import probetui\n"
                           "say(probetui.listen(read_only=True))")
        client = self.connect(self.port(reads.process.pid))
        client.ask("initialize")
        client.ask("attach", token=TOKEN)
        told = [message["body"]["capabilities"] for message in client.said
                if message.get("event") == "capabilities"]
        self.assertEqual(len(told), 1)
        self.assertIs(told[0]["supportsSetVariable"], False)
        self.assertEqual(told[0]["exceptionBreakpointFilters"], [])
        self.assertIs(told[0]["supportsCompletionsRequest"], True)


class TestTarget(OneCase):
    """`attach` names it, where an editor gives no arguments to adapters."""

    def test_a_process(self):
        target = self.start()
        for arguments in {"processId": target.process.pid}, \
                {"processId": str(target.process.pid)}, \
                {"processId": 1, "target": str(target.process.pid)}:
            bridge = bridges.Bridge()
            self.addCleanup(bridge.close)
            bridge.ask("initialize", adapterID="debugpy")
            bridge.ask("attach", **arguments)
            bridge.event("initialized")
            self.assertEqual(
                bridge.ask("evaluate", expression="__import__('os').getpid()"
                           )["result"], str(target.process.pid))
            bridge.ask("disconnect")
            self.assertEqual(bridge.close(), (0, ""))

    def test_refused(self):
        process = self.place.start("-c", "input()")
        self.addCleanup(process.communicate, "\n")
        for sentence, arguments in [
                ("names no process", {}),
                ("'x' is not a PID", {"processId": "x"}),
                ("has no agent that can be reached", {"processId": process.pid})]:
            bridge = bridges.Bridge()
            bridge.ask("initialize")
            answer = bridge.answer(bridge.send("attach", **arguments))
            self.assertFalse(answer["success"])
            self.assertIn(sentence, answer["message"])
            self.assertEqual(dap_schema.problems(answer), [])
            self.assertEqual(bridge.close(), (0, ""))


class TestAnswers(OneCase):
    """What says that it is an agent may say anything."""

    def check(self, sentence, *pieces):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(1)
            bridge = bridges.Bridge(
                "http://127.0.0.1:%d" % listener.getsockname()[1],
                PROBETUI_TOKEN=TOKEN, PROBETUI_TOKEN_FILE="")
            number = bridge.send("initialize")
            connection = listener.accept()[0]
            self.addCleanup(connection.close)
            connection.recv(1000)
            bridges.start(bridges.pour, connection, pieces)
            answer = bridge.answer(number)
            self.assertFalse(answer["success"])
            self.assertIn(sentence, answer["message"])
            bridges.shut(connection)
            self.assertEqual(bridge.close(), (0, ""))

    def test_without_an_end(self):
        blank = b" " * (1 << 20)
        self.check("more than 9437184 bytes", b"HTTP/1.1 200 OK\r\n"
                   b"Content-Length: 1000000000000\r\n\r\n", blank)
        self.check("more than 9437184 bytes", b"HTTP/1.1 200 OK\r\n\r\n",
                   blank)
        self.check("more than 9437184 bytes", b"HTTP/1.1 200 OK\r\n"
                   b"Transfer-Encoding: chunked\r\n\r\n",
                   b"100000\r\n" + blank + b"\r\n")

    def test_nonsense(self):
        for text, sentence in [
                ("[" * 200000, "invalid JSON"),
                ('{"$": "int:%s"}' % ("9" * 1000000), "invalid JSON"),
                ("[]", "the agent's answer is invalid"),
                ("{}", "the agent's answer is invalid")]:
            with self.subTest(text=text[:40]):
                data = text.encode()
                self.check(sentence, b"HTTP/1.1 200 OK\r\nContent-Length: "
                           b"%d\r\n\r\n" % len(data) + data)


if __name__ == "__main__":
    unittest.main()
