"""What an agent refuses, and what it stands: each tried with real sockets."""
import collections
import os
import re
import shutil
import socket
import subprocess
import sys
import unittest

from agents import OneCase, Place, Target, connect, wait_for

OTHER_USER = 12345


class RefusalsCase(OneCase):
    BEGINS = "import probetui\nsay(probetui.listen())"

    @classmethod
    def setUpClass(cls):
        cls.shared = Place()
        cls.target = Target(cls.shared, cls.BEGINS)

    @classmethod
    def tearDownClass(cls):
        status, errors = cls.target.close()
        cls.shared.close()
        assert (status, errors) == (0, ""), errors

    def tearDown(self):
        # It still serves.
        with self.target.client() as client:
            self.assertEqual(client.value("1 + 1"), "2")

    def refused(self, status, data, message=""):
        with self.target.client() as client:
            client.send(data)
            answer = client.read()
            self.assertEqual(answer.status, status, answer)
            self.assertIn(message, answer.message)
            self.assertTrue(client.is_closed())


class TestRefusals(RefusalsCase):
    """What comes in from outside is limited, each tried."""

    def test_malformed(self):
        good = b"Host: localhost\r\n\r\n"
        for data, status in (
                (b"\r\n\r\n", 400), (b"GET /\r\n\r\n", 400),
                (b"get / HTTP/1.1\r\n" + good, 400),
                (b"GET  / HTTP/1.1\r\n" + good, 400),
                (b"GET /\x80 HTTP/1.1\r\n" + good, 400),
                (b"GET http://localhost/ HTTP/1.1\r\n" + good, 400),
                (b"GET / HTTP/2.0\r\n" + good, 505),
                (b"GET / HTTP/1.1\n" + good, 400),
                (b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", 400),
                (b"GET / HTTP/1.1\r\n folded: x\r\n" + good, 400),
                (b"GET / HTTP/1.1\r\nA: \0\r\n" + good, 400),
                (b"GET / HTTP/1.1\r\nA: b\rc\r\n" + good, 400),
                (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + good, 400),
                (b"GET / HTTP/1.1\r\n\r\n", 400),
                (b"GET /?a HTTP/1.1\r\n" + good, 400),
                (b"GET /?a=1&a=2 HTTP/1.1\r\n" + good, 400),
                (b"POST /eval HTTP/1.1\r\n" + good, 411),
                (b"POST /eval HTTP/1.1\r\nContent-Length: -1\r\n" + good,
                 400),
                (b"POST /eval HTTP/1.1\r\nContent-Length: 1_0\r\n" + good,
                 400),
                (b"POST /eval HTTP/1.1\r\nContent-Length: 1\r\n"
                 b"Content-Length: 1\r\n" + good, 400),
                (b"POST /eval HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
                 + good, 501),
                (b"POST /eval HTTP/1.1\r\nExpect: gold\r\n"
                 b"Content-Length: 2\r\n" + good, 417)):
            with self.subTest(data=data[:60]):
                self.refused(status, data)

    def test_stray_bytes(self):
        """Answered when they have come, though more may be to come."""
        for data in (b"GET / HTTP/1.1\n", b"GET / HTTP/1.1\n\n", b"\n",
                     b"GET / HTTP/1.1\r\nHost: localhost\n",
                     b"GET / HTTP/1.1\r\nHost: localhost\n\n",
                     b"GET / HTTP/1.1\rHost", b"GET \0", b"GET /\x1b["):
            with self.subTest(data=data):
                self.refused(400, data, "CR and LF")
        # In parts, and as part of what is no head.
        with self.target.client() as client:
            for data in (b"GET / HTTP/1.1\r", b"\nHost: local"):
                client.send(data)
                self.target.ask("1")
            client.send(b"host\r\n\r\n" + client.request(
                "POST", "/eval", b'{"code":\n\r"1"}'))
            self.assertEqual(client.read().status, 200)
            self.assertEqual(client.read().value["value"], "1")

    def test_wrong_questions(self):
        """Understood, and answered; the connection stays."""
        with self.target.client() as client:
            for request, status in (
                    (("GET", "/nothing"), 404), (("PUT", "/", b""), 405),
                    (("GET", "/eval"), 405), (("POST", "/", b"{}"), 405),
                    (("GET", "/?x=1"), 400),
                    (("GET", "/backtrace?tid=x"), 400),
                    (("POST", "/eval", b"{"), 400),
                    (("POST", "/eval", b"[]"), 400),
                    (("POST", "/eval", b""), 400),
                    (("POST", "/eval", b"\xff"), 400),
                    (("POST", "/eval", b"[" * 100000), 400),
                    (("POST", "/eval", b"1" * 100000), 400),
                    (("POST", "/eval", b'{"code": NaN}'), 400),
                    (("POST", "/eval", b'{"code": {"$": 1}}'), 400),
                    (("POST", "/eval", {"code": 1}), 400),
                    (("POST", "/eval", {}), 400),
                    (("POST", "/eval", {"code": "1", "more": 1}), 400),
                    (("POST", "/eval", {"code": "1", "timeout": "x"}), 400),
                    (("POST", "/eval", {"code": "1", "timeout": 0}), 400)):
                with self.subTest(request=str(request)[:60]):
                    self.assertEqual(client.ask(*request).status, status)

    def test_oversized(self):
        start = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
        self.refused(431, start + b"A: " + b"x" * 17000 + b"\r\n\r\n")
        self.refused(431, start + b"A: " + b"x" * 17000)
        self.refused(431, start + b"A: b\r\n" * 101 + b"\r\n")
        self.refused(413, b"POST /eval HTTP/1.1\r\nHost: localhost\r\n"
                     b"Content-Length: 1048577\r\n\r\n" + b"x" * 1048577)
        with self.target.client() as client:
            self.assertEqual(client.ask("POST", "/eval", b" " * 1048560
                                        + b'{"code":"1"}').status, 200)
            answer = client.eval("'x' * 10 ** 7")
            self.assertTrue(answer["value"].endswith("left out"))

    def test_long_to_read(self):
        """Nobody has the program wait for the reading of a request."""
        for spaces in (b" ", b"\t", b" \t"):
            self.refused(400, b"GET / HTTP/1.1\r\nHost: localhost\r\nA:"
                         + (spaces * 15000)[:15000] + b"\0\r\n\r\n")
        with self.target.client() as client:
            spent = float(client.value("time.process_time()"))
            answer = client.ask("GET", "/", None, "A:" + " " * 15000 + "x"
                                + "\t" * 100)
            self.assertEqual(answer.status, 200)
            for path in ("/?" + "&" * 15000, "/?" + "a=1&" * 3000,
                         "/?a=" + "%ff%" * 3000, "/?a=" + "%ff" * 5000,
                         "/backtrace?tid=" + "9" * 15000 + "&tid"):
                self.refused(400, client.request("GET", path))
            spent = float(client.value("time.process_time()")) - spent
        self.assertLess(spent, 1)

    def test_expected(self):
        with self.target.client() as client:
            client.send(client.request("POST", "/eval", None,
                                       "Expect: 100-continue",
                                       "Content-Length: 12"))
            self.assertEqual(client.connection.recv(100),
                             b"HTTP/1.1 100 Continue\r\n\r\n")
            client.send(b'{"code":"1"}')
            self.assertEqual(client.read().value["value"], "1")

    def test_typed_ahead(self):
        with self.target.client() as client:
            client.send(client.request("GET", "/") * 3
                        + client.request("GET", "/", None,
                                         "Connection: close"))
            for _ in range(4):
                self.assertEqual(client.read().status, 200)
            self.assertTrue(client.is_closed())

    def test_browser(self):
        for header in ("Origin: http://localhost", "Origin: null",
                       "Sec-Fetch-Site: cross-site", "sec-fetch-mode: cors"):
            with self.target.client() as client:
                self.refused(403, client.request("GET", "/", None, header),
                             "browsers")

    def test_host(self):
        for host in ("example.org", "localhost.example.org", "10.1.2.3",
                     "", "127.0.0.1.example.org", "[::2]",
                     socket.gethostname() + ".example.org"):
            with self.target.client(host=host) as client:
                self.refused(403, client.request("GET", "/"), "Host")
        for host in ("localhost:123", "127.0.0.1", "[::1]:80", "LOCALHOST"):
            with self.target.client(host=host) as client:
                self.assertEqual(client.ask("GET", "/").status, 200)

    def test_each_endpoint(self):
        """What is refused is refused of all that there is."""
        with self.target.client() as client:
            names = [name.split() for name in client.get("/")["can"]]
        self.assertIn(["POST", "/dap"], names)
        for method, path in names:
            body = b"{}" if method == "POST" else None
            for header in ("Origin: http://localhost",
                           "Sec-Fetch-Site: same-origin"):
                with self.target.client() as client:
                    self.refused(403, client.request(method, path, body,
                                                     header), "browsers")
            with self.target.client(host="example.org") as client:
                self.refused(403, client.request(method, path, body), "Host")
        for path in ("/dap", "/events"):
            with self.target.client() as client:
                method = "POST" if path == "/dap" else "GET"
                body = b"{}" if path == "/dap" else None
                self.assertIn(client.ask(method, path + "?session=" + "0" * 32,
                                         body).status, (400, 404))

    def test_gone(self):
        """Clients that go away in the middle."""
        for data in (b"", b"G", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                     b"POST /eval HTTP/1.1\r\nHost: localhost\r\n"
                     b"Content-Length: 9\r\n\r\n{"):
            with self.target.client() as client:
                client.send(data)

    def has_room(self):
        """No client is connected but this one."""
        with self.target.client() as client:
            return client.ask("GET", "/threads").status == 200 and \
                int(client.value("threading.active_count()")) <= 3

    def test_many(self):
        clients = [self.target.client()]
        self.addCleanup(lambda: [client.close() for client in clients])
        wait_for(lambda: clients[0].value("threading.active_count()") == "3",
                 "the threads of earlier clients to end")
        while len(clients) < 100:
            client = self.target.client()
            clients.append(client)
            answer = client.ask("GET", "/")
            if answer.status != 200:
                break
        self.assertEqual((answer.status, len(clients)), (503, 33))
        self.assertTrue(client.is_closed())
        while clients:
            clients.pop().close()
        wait_for(self.has_room, "the threads of these clients to end")

    def test_many_after_another(self):
        """Ten thousand connections, hundreds of them at a time, of which none
        stays."""
        there = collections.deque()
        most = 0
        for count in range(10000):
            if len(there) >= 300:
                there.popleft().close()
            there.append(connect(self.target.path))
            if count % 1000 == 999:
                most = max(most, len(os.listdir(
                    "/proc/%d/fd" % self.target.process.pid)))
        while there:
            there.pop().close()
        self.assertLess(most, 100)
        wait_for(self.has_room, "their threads to end")

    def test_evaluations_that_do_not_end(self):
        clients = [self.target.client() for _ in range(9)]
        self.addCleanup(lambda: [client.close() for client in clients])
        clients[0].value("gate, begun = threading.Event(), "
                         "threading.Semaphore(0)")
        for client in clients[:8]:
            client.send(client.request("POST", "/eval", {
                "code": "begun.release(); gate.wait(30)"}))
        self.assertTrue(self.target.ask(
            "all(begun.acquire(timeout=30) for _ in range(8))"))
        answer = clients[8].ask("POST", "/eval", {"code": "1"})
        self.assertEqual(answer.status, 503, answer)
        # All else is answered.
        self.assertEqual(clients[8].ask("GET", "/threads").status, 200)
        self.target.run("gate.set()")
        for client in clients[:8]:
            self.assertEqual(client.read().value["value"], "True")


class TestSlow(RefusalsCase):
    BEGINS = ("import probetui\nfrom probetui import http1\n"
              "say(probetui.listen())")

    def setUp(self):
        super().setUp()
        self.target.run("http1.REQUEST_SECONDS = 0.3; say(1)")
        self.target.said()

    def tearDown(self):
        self.target.run("http1.REQUEST_SECONDS = 20; say(1)")
        self.target.said()
        super().tearDown()

    def test_slow(self):
        self.refused(408, b"GET / HTTP/1.1\r\nHost: lo", "not complete")
        self.refused(408, b"POST /eval HTTP/1.1\r\nHost: localhost\r\n"
                     b"Content-Length: 100\r\n\r\n{", "not complete")
        # A byte now and then does not help.
        with self.target.client() as client:
            def sent():
                try:
                    client.connection.sendall(b"G")
                    return False
                except OSError:
                    return True
            wait_for(sent, "the end of it")


    def test_many_slow(self):
        """All places are taken by clients who say a byte now and then: for a
        moment."""
        clients = [self.target.client() for _ in range(60)]
        self.addCleanup(lambda: [client.close() for client in clients])

        def answered():
            for client in clients:
                client.send(b"G")
            with self.target.client() as client:
                client.send(client.request("GET", "/"))
                try:
                    return client.read().status == 200
                except (ConnectionError, EOFError):
                    return False

        wait_for(answered, "a place")

    def test_nobody_reads(self):
        """Who asks, and does not read the answer."""
        with self.target.client() as client:
            client.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF,
                                         4096)
            for _ in range(20):
                client.send(client.request("POST", "/eval", {
                    "code": "'x' * 250000"}))

            def gone():
                with self.target.client() as other:
                    return int(other.value("threading.active_count()")) == 3

            wait_for(gone, "its thread to end")


@unittest.skipUnless(os.geteuid() == 0, "takes root, to be two users")
class TestUsers(OneCase):
    PROGRAM = ("import os, socket, sys\n"
               "os.setuid(%d)\n"
               "s = socket.socket(socket.AF_UNIX)\n"
               "try:\n    s.connect(sys.argv[1])\n"
               "except OSError as error:\n"
               "    sys.exit(type(error).__name__)\n"
               "s.sendall(b'GET / HTTP/1.1\\r\\nHost: localhost\\r\\n'\n"
               "          b'\\r\\n')\n"
               "data = b''\n"
               "while not data.endswith(b'}'):\n"
               "    part = s.recv(65536)\n"
               "    if not part: break\n"
               "    data += part\n"
               "print(data.decode())\n" % OTHER_USER)

    def ask(self, path):
        run = subprocess.run([sys.executable, "-c", self.PROGRAM, path],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             universal_newlines=True)
        return run.stdout + run.stderr

    def test_folder(self):
        self.assertIn("PermissionError", self.ask(self.start().path))

    def test_credentials(self):
        """Were the folder open to him, too."""
        target = self.start(
            "import os, probetui\nfrom probetui import files\n"
            "folder = sys.argv[0].replace('program.py', 'open')\n"
            "os.mkdir(folder)\n"
            "files.default_folder = lambda: folder\n"
            "files.secure = lambda path: None\n"
            "names = probetui.listen()\n"
            "for name in names + [folder, os.path.dirname(folder)]:\n"
            "    os.chmod(name, 0o777)\n"
            "say(names)")
        told = self.ask(target.first[0])
        self.assertIn("403 Forbidden", told)
        self.assertIn("you are user %d" % OTHER_USER, told)
        self.assertNotIn('"pid"', told)
        with connect(target.first[0]) as client:
            self.assertEqual(client.value("1"), "1")

    def denied(self, more, runtime):
        """A target whose usual folder is another user's."""
        self.addCleanup(self.forget_folders)
        return self.start(
            "import os, probetui\nfrom probetui import files\n"
            "folder = sys.argv[0].replace('program.py', 'his')\n"
            "runtime = sys.argv[0].replace('program.py', 'runtime')\n"
            "os.mkdir(folder, 0o700); os.chown(folder, %d, -1)\n"
            "os.mkdir(runtime, 0o700); os.environ['XDG_RUNTIME_DIR'] = %s\n"
            "files.default_folder = lambda: folder\n%s\n"
            "say(probetui.listen())" % (OTHER_USER, runtime, more))

    def forget_folders(self):
        for name in os.listdir("/tmp"):
            if re.match(r"pdb-%d-[0-9a-f]{16}$" % os.geteuid(), name):
                shutil.rmtree(os.path.join("/tmp", name))

    def check(self, path):
        status = os.stat(os.path.dirname(path))
        self.assertEqual((status.st_mode & 0o777, status.st_uid),
                         (0o700, os.geteuid()))
        with connect(path) as client:
            self.assertEqual(client.value("6 * 7"), "42")

    def test_folder_of_another(self):
        """Who could put his own socket there."""
        target = self.denied("", "runtime")
        self.assertEqual(target.first, ["%s/runtime/pdb-%d/%d.agent" % (
            self.place.inside, os.geteuid(), target.process.pid)])
        self.check(target.first[0])
        self.assertEqual(target.close(), (0, ""))
        self.assertFalse(os.path.exists(target.first[0]))

    def test_runtime_folder_that_is_not_trusted(self):
        """Nor one that is another's, that others write to, that is a link, or
        that is none; nor private folders that are so."""
        pattern = r"^/tmp/pdb-%d-[0-9a-f]{16}/\d+\.agent$" % os.geteuid()
        for more, runtime in (
                ("os.chown(runtime, %d, -1)" % OTHER_USER, "runtime"),
                ("os.chmod(runtime, 0o777)", "runtime"),
                ("os.mkdir(runtime + '/pdb-%d' % os.geteuid(), 0o755)",
                 "runtime"),
                ("os.symlink('/tmp', runtime + '/pdb-%d' % os.geteuid())",
                 "runtime"),
                ("", "runtime + '/none'"), ("", "'.'"), ("", "''"),
                ("for name in 'abcdef':\n"
                 "    path = '/tmp/pdb-%%d-%%s' %% (os.geteuid(), name * 16)\n"
                 "    made = not os.path.exists(path) and not "
                 "os.mkdir(path, 0o777)\n"
                 "    made and os.chmod(path, 0o777)\n"
                 "    made and name < 'd' and os.chown(path, %d, -1)"
                 % OTHER_USER, "''")):
            with self.subTest(more=more, runtime=runtime):
                target = self.denied(more, runtime)
                self.assertRegex(target.first[0], pattern)
                self.check(target.first[0])
                self.assertEqual(target.close(), (0, ""))
                self.place.close()
                self.place = Place()
                self.addCleanup(self.place.close)

    def test_private_folder_is_kept(self):
        """So that there is one, however many ranks there were."""
        first = self.denied("", "''")
        path = first.first[0]
        self.assertEqual(first.close(), (0, ""))
        self.place.close()
        self.place = Place()
        self.addCleanup(self.place.close)
        second = self.denied("", "''")
        self.assertEqual(os.path.dirname(second.first[0]),
                         os.path.dirname(path))

    def test_nowhere(self):
        target = self.denied("files.fallback_folders = lambda: []", "''")
        self.assertEqual(target.first, [])
        status, errors = target.close()
        self.assertEqual(status, 0)
        self.assertIn("its owner, user %d," % OTHER_USER, errors)


if __name__ == "__main__":
    unittest.main()
