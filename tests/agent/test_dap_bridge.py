"""The bridge between programs that speak DAP and an agent: what it refuses,
and how."""
import os
import socket
import subprocess
import sys
import unittest

import bridges
from agents import OneCase
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

    def test_a_socket_of_another_process(self):
        target = self.start()
        process = self.place.start("-c", "input()")
        self.addCleanup(process.communicate, "\n")
        path = target.path.replace(str(target.process.pid), str(process.pid))
        os.symlink(target.path, path)
        self.addCleanup(os.unlink, path)
        self.check("has no agent that answers you", str(process.pid))


class TestPort(OneCase):
    """It is the user's alone, though whoever is here can reach it."""

    def test_of_another_user(self):
        bridge = bridges.Bridge("--port", "0", "1")
        self.addCleanup(bridge.close)
        self.addCleanup(bridge.process.kill)
        port = int(bridge.process.stderr.readline().split()[4])
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
