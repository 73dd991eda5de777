"""The bridge between programs that speak DAP and an agent: what it refuses,
and how."""
import os
import socket
import subprocess
import sys
import unittest

import bridges
import dap_schema
from agents import OneCase, make_certificate, wait_for
from sessions import LIMIT

INITIALIZE = bridges.frame({"seq": 1, "type": "request",
                            "command": "initialize",
                            "arguments": {"adapterID": "probetui"}})

CLIENT = """
import encodings.idna, os, socket, sys
os.setuid(int(sys.argv[2]))
client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
try:
    client.sendall(%r)
    print(client.recv(10))
except ConnectionError:
    print(b"")
"""


class TestRefusals(unittest.TestCase):
    def check(self, sentence, *arguments, **more):
        status, output, errors = bridges.run(*arguments, **more)
        self.assertEqual((status, output), (2, b""))
        self.assertTrue(errors.startswith("dap-bridge: "), errors)
        self.assertEqual(errors.count("\n"), 1)
        self.assertIn(sentence, errors)

    def test_arguments(self):
        self.check("--help says more")
        self.check("--help says more", "1", "2")
        self.check("'\\x1b' is neither a PID nor http", "\x1b")
        self.check("is neither a PID", "ftp://host:21")
        self.check("is neither a PID", "http://host:port")
        self.check("'99999' is no port", "--port", "99999", "1")
        self.check("wants a token", "http://localhost:1",
                   PROBETUI_TOKEN="", PROBETUI_TOKEN_FILE="")
        self.check("PROBETUI_CA_FILE=/nowhere has no certificates",
                   "https://localhost:1", PROBETUI_TOKEN="some token",
                   PROBETUI_CA_FILE="/nowhere")
        self.check("No such file", "http://localhost:1",
                   PROBETUI_TOKEN_FILE="/nowhere")

    def test_help(self):
        status, output, errors = bridges.run("--help")
        self.assertEqual((status, errors), (0, ""))
        self.assertIn(b"usage: dap-bridge", output)

    def test_what_is_not_dap(self):
        for data, sentence in [
                (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "and not 'GET /"),
                (b"Content-Length: -1\r\n\r\n", "and not 'Content-Length: -"),
                (b"\r\n", "a message has 1 to 1048576 bytes, and not 0"),
                (b"Content-Length: 1048577\r\n\r\n", "and not 1048577"),
                (b"Content-Length: 2\r\n\r\n{]", "that is no JSON: "),
                (b"Content-Length: 4\r\n\r\n\xff\xff\xff\xff", "no JSON: "),
                (b"Content-Length: 90000\r\n\r\n" + b"[" * 90000,
                 "no JSON: "),
                (bridges.frame([]), "a request of DAP has a seq"),
                (bridges.frame({"seq": "1"}), "a request of DAP has a seq")]:
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
        self.check("there is no process %d" % process.pid, str(process.pid))

    def test_a_process_without_one(self):
        process = self.place.start("-c", "input()")
        self.addCleanup(process.communicate, "\n")
        self.check("process %d has no agent that answers you; it gets one by: "
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
        self.check("TLS with the agent fails: self",
                   "https://localhost:" + port, **wanted)
        self.check("PROBETUI_CA_FILE=FILE", "https://localhost:" + port,
                   **wanted)
        self.check("TLS is spoken here: https", "http://localhost:" + port,
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
                self.assertIn("no TLS is spoken there",
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
        self.check("has no agent that answers you", str(process.pid))


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

    def test_the_process_ends(self):
        target = self.start()
        bridge = self.begin(target.process.pid)
        target.close()
        bridge.event("terminated")
        # The first one may find the connection of before.
        answers = [bridge.answer(bridge.send("threads")) for _ in range(2)]
        self.assertFalse(answers[0]["success"])
        self.assertEqual(answers[1]["message"], "there is no process %d"
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
        self.assertIn("say the token", answer["message"])
        self.end(bridge)

    def test_it_goes_with_its_client(self):
        target = self.start()
        bridge = self.begin(target.process.pid)
        bridge.process.kill()
        sessions = "len(probetui.agent._agent._debugger.sessions)"
        wait_for(lambda: target.ask(sessions) == 0, "the session's end")
        bridge.process.wait(LIMIT)


class TestPort(OneCase):
    """It is the user's alone, though whoever is here can reach it."""

    def listen(self, target):
        """(the bridge, its port)"""
        bridge = bridges.Bridge("--port", "0", str(target))
        self.addCleanup(bridge.close)
        self.addCleanup(bridge.process.kill)
        return bridge, int(bridge.process.stderr.readline().split()[4])

    def test_several_clients(self):
        _, port = self.listen(self.start().process.pid)
        clients = []
        for _ in range(2):
            connection = socket.create_connection(("127.0.0.1", port))
            self.addCleanup(connection.close)
            file = connection.makefile("rwb")
            # Its reader may be waiting for more.
            self.addCleanup(connection.shutdown, socket.SHUT_RDWR)
            clients.append(bridges.Client(file, file))
            clients[-1].ask("initialize", adapterID="probetui")
        for client in clients:
            self.assertEqual(client.ask("evaluate", expression="7")["result"],
                             "7")

    def test_of_another_user(self):
        bridge, port = self.listen(1)
        code = CLIENT % INITIALIZE
        for user, answer in (0, "b'Content-Le'\n"), (65534, "b''\n"):
            if os.geteuid() != 0 and user != os.geteuid():
                self.skipTest("only root can be another user")
            done = subprocess.run(
                [sys.executable, "-c", code, str(port), str(user)],
                stdout=subprocess.PIPE, timeout=LIMIT,
                universal_newlines=True)
            self.assertEqual(done.stdout, answer)
        self.assertIn(b"a client of another user is not served",
                      bridge.process.stderr.readline())


if __name__ == "__main__":
    unittest.main()
