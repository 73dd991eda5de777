"""An agent that listens over TCP: what it refuses, each tried."""
import shutil
import socket
import ssl
import unittest

from agents import (LIMIT, Client, OneCase, Place, Target, make_certificate,
                    wait_for)

TOKEN = "a token of the test"
BEGINS = "import probetui\nsay(probetui.listen(%s))"


def listens(more):
    return BEGINS % ("'127.0.0.1:0', token=%r, %s" % (TOKEN, more))


class TestToken(OneCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = Place()
        cls.target = Target(cls.shared, listens(""))

    @classmethod
    def tearDownClass(cls):
        status, errors = cls.target.close()
        port = cls.target.port()
        cls.shared.close()
        assert status == 0, errors
        assert errors == "probetui: rank 0: the agent listens on " \
            "http://127.0.0.1:%d\n" % port, errors

    def refused(self, client, status, message, *headers):
        answer = client.ask("GET", "/", None, *headers)
        self.assertEqual(answer.status, status, answer)
        self.assertIn(message, answer.message)
        self.assertTrue(client.is_closed())
        return answer

    def test_right(self):
        with self.target.tcp(token=TOKEN) as client:
            self.assertEqual(client.value("6 * 7"), "42")
            self.assertEqual(client.value("6 * 7"), "42")
        with self.target.tcp() as client:
            answer = client.ask("GET", "/", None,
                                "authorization: bearer  " + TOKEN)
            self.assertEqual(answer.status, 200)

    def test_none(self):
        with self.target.tcp() as client:
            answer = self.refused(client, 401, "the token is missing or wrong")
            self.assertEqual(answer.headers["www-authenticate"], "bearer")
        # Before a body is read, or what it wants is looked at.
        with self.target.tcp() as client:
            client.send(b"POST /eval HTTP/1.1\r\nContent-Length: 99\r\n\r\n")
            self.assertEqual(client.read().status, 401)

    def test_each_endpoint(self):
        with self.target.tcp(token=TOKEN) as client:
            names = [name.split() for name in client.get("/")["can"]]
        self.assertIn(["GET", "/events"], names)
        for method, path in names + [["GET", "/nothing"]]:
            for token in (None, TOKEN[::-1]):
                with self.target.tcp(token=token) as client:
                    client.send(client.request(
                        method, path, b"{}" if method == "POST" else None))
                    self.assertEqual(client.read().status, 401)
                    self.assertTrue(client.is_closed())

    def test_wrong(self):
        for token in (TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "", "\xe9" * 9,
                      "x" * 9000):
            with self.target.tcp() as client:
                self.refused(client, 401, "the token is missing or wrong",
                             "Authorization: Bearer " + token)
        with self.target.tcp() as client:
            self.refused(client, 401, "the token is missing or wrong",
                         "Authorization: Basic " + TOKEN)
        with self.target.tcp(token=TOKEN) as client:
            self.refused(client, 400, "twice",
                         "Authorization: Bearer " + TOKEN)

    def test_host_and_browser(self):
        with self.target.tcp(token=TOKEN, host="example.org") as client:
            self.refused(client, 403, "Host")
        with self.target.tcp(token=TOKEN) as client:
            self.refused(client, 403, "browsers",
                         "Origin: http://example.org")
        for host in (socket.gethostname() + ":80", "127.0.0.1:%d"
                     % self.target.port(), "[::ffff:127.0.0.1]"):
            with self.target.tcp(token=TOKEN, host=host) as client:
                self.assertEqual(client.ask("GET", "/").status, 200, host)

    def test_many(self):
        """There is a way in left for the user's own socket."""
        with self.target.client() as client:
            wait_for(lambda: client.value("threading.active_count()") == "3",
                     "the threads of earlier clients to end")
        clients = []
        self.addCleanup(lambda: [client.close() for client in clients])
        for _ in range(24):
            client = self.target.tcp(token=TOKEN)
            clients.append(client)
            self.assertEqual(client.ask("GET", "/").status, 200)

        def refused():
            with self.target.tcp(token=TOKEN) as client:
                return client.ask("GET", "/").status == 503

        wait_for(refused, "24 connections")
        with self.target.client() as client:
            self.assertEqual(client.value("1"), "1")
        while clients:
            clients.pop().close()

        def admitted():
            with self.target.tcp(token=TOKEN) as client:
                return client.ask("GET", "/").status == 200

        wait_for(admitted, "room for another one")


class TestDenial(OneCase):
    """Clients without a token, and what they leave of the others."""

    SLOW = 60
    REQUESTS = 86

    def setUp(self):
        super().setUp()
        self.target = self.start(listens(""))
        self.others = []
        self.addCleanup(lambda: [other.close() for other in self.others])

    def connect(self, host):
        other = socket.socket()
        self.others.append(other)
        other.bind((host, 0))
        other.connect(("127.0.0.1", self.target.port()))
        return other

    def is_served(self):
        with self.target.tcp(token=TOKEN) as client:
            return client.ask("GET", "/threads").status == 200

    def all_served(self, meanwhile=lambda: None):
        with self.target.tcp(token=TOKEN) as kept:
            self.assertEqual(kept.value("6 * 7"), "42")
            for _ in range(self.REQUESTS):
                meanwhile()
                self.assertTrue(self.is_served())
                self.assertEqual(kept.value("6 * 7"), "42")

    def test_silent(self):
        for host in ("127.0.0.1", "127.0.0.2"):
            for _ in range(30):
                self.connect(host)
            self.all_served()

    def test_slow(self):
        """A byte now and then, from as few addresses as let all of them stay,
        and a new connection for each that is ended."""
        for hosts in (["127.0.0.1"], ["127.0.0.%d" % i for i in range(2, 8)]):
            slow = [self.connect(hosts[i % len(hosts)])
                    for i in range(self.SLOW)]

            def meanwhile():
                for i, other in enumerate(slow):
                    try:
                        other.setblocking(False)
                        other.send(b"G")
                        other.recv(1, socket.MSG_PEEK)
                        is_over = True
                    except BlockingIOError:
                        is_over = False
                    except OSError:
                        is_over = True
                    if is_over:
                        other.close()
                        self.others.remove(other)
                        slow[i] = self.connect(hosts[i % len(hosts)])

            self.all_served(meanwhile)

    def test_threads(self):
        """Who has not said the token has none of the program's."""
        for _ in range(10):
            self.connect("127.0.0.1").sendall(b"GET")
        with self.target.client() as client:
            # The main thread, the one that listens, and this client's.
            self.assertEqual(client.value("threading.active_count()"), "3")

    def test_crowded_address(self):
        """The oldest one of an address makes room for a new one; that of
        another address stays."""
        lone = self.connect("127.0.0.9")
        oldest = self.connect("127.0.0.1")
        oldest.sendall(b"GET ")
        for _ in range(16):
            self.connect("127.0.0.1")
        oldest.settimeout(LIMIT)
        self.assertIn(b" 503 ", oldest.recv(4096))
        with Client(lone, token=TOKEN) as client:
            self.assertEqual(client.ask("GET", "/").status, 200)

    def test_late(self):
        self.target.run("from probetui import admission; "
                        "admission.FIRST_SECONDS = admission.HEAD_SECONDS = "
                        "0.2; say(1)")
        self.target.said()
        with self.target.tcp(token=TOKEN) as client:
            self.assertTrue(client.is_closed())
        with self.target.tcp(token=TOKEN) as client:
            client.send(b"GET / HTTP/1.1\r\n")
            answer = client.read()
            self.assertEqual(answer.status, 408)
            self.assertIn("not complete", answer.message)
            self.assertTrue(client.is_closed())

    def test_body_later(self):
        """The token is there: for the rest there is time as ever."""
        with self.target.tcp(token=TOKEN) as client:
            data = client.request("POST", "/eval", {"code": "1"})
            client.send(data[:-5])
            self.assertTrue(self.is_served())
            client.send(data[-5:] + client.request("GET", "/"))
            self.assertEqual(client.read().value["value"], "1")
            self.assertEqual(client.read().status, 200)


class TestAddresses(OneCase):
    def told(self, arguments, sentence, names=1, **more):
        target = self.start(BEGINS % arguments, **more)
        self.assertEqual(len(target.first), names)
        with target.client() as client:
            self.assertEqual(client.value("1"), "1")
        status, errors = target.close()
        self.assertEqual(status, 0)
        self.assertIn(sentence, errors)
        return errors

    def test_refused(self):
        """Told; the user's own socket is there all the same."""
        self.told("'127.0.0.1:0'", "requires a token of at least 8 "
                  "characters")
        self.told("'127.0.0.1:0', token='short'",
                  "the token has 5 characters: at least 8 are required")
        self.told("'127.0.0.1:0', token=%r, allow='1.2.3'" % TOKEN,
                  "allow must be a list of addresses")
        self.told("'127.0.0.1:0', token=%r, tls=('/none', '/none')" % TOKEN,
                  "tls: the certificate and key cannot be loaded")
        for address in ("'localhost'", "'127.0.0.1:x'", "'h:99999'", "3.5",
                        "(1, 2, 3)"):
            self.told("%s, token=%r" % (address, TOKEN), "write host:")
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen(1)
            port = other.getsockname()[1]
            self.told("'127.0.0.1:%d', token=%r" % (port, TOKEN),
                      "cannot listen on 127.0.0.1 port %d" % port)
            # The rank of the machine is added.
            self.told("'127.0.0.1:%d', token=%r" % (port - 2, TOKEN),
                      "port %d" % port, LOCAL_RANK="2")

    def test_clear(self):
        self.told("'0.0.0.0:0', token=%r" % TOKEN,
                  "without TLS, the token is sent unencrypted", 2)

    def test_allow(self):
        target = self.start(listens("allow=['10.0.0.0/8', '::1']"))
        with target.tcp(token=TOKEN) as client:
            answer = client.ask("GET", "/")
            self.assertEqual(answer.status, 403)
            self.assertIn("127.0.0.1 is not allowed", answer.message)
        target = self.start(listens("allow='10.0.0.0/8, 127.0.0.1'"))
        with target.tcp(token=TOKEN) as client:
            self.assertEqual(client.value("1"), "1")

    def test_read_only(self):
        target = self.start(listens("read_only=True"))
        for client in (target.client(), target.tcp(token=TOKEN)):
            with client:
                self.assertEqual(client.ask("POST", "/eval",
                                            {"code": "1"}).status, 403)
                told = client.get("/")
                self.assertTrue(told["read_only"])
                # Over DAP, too, it can be looked at.
                self.assertEqual([name for name in told["can"]
                                  if name.startswith("POST")], ["POST /dap"])
                self.assertEqual(client.get("/backtrace")[-1]["func"],
                                 "<module>")


@unittest.skipUnless(shutil.which("openssl"), "there is no openssl, to make "
                     "a certificate with")
class TestTls(OneCase):
    def setUp(self):
        super().setUp()
        self.files = make_certificate(self.place.path)
        self.target = self.start(
            "import probetui\nfrom probetui import admission\n"
            "say(probetui.listen('127.0.0.1:0', %r, tls=%r))"
            % (TOKEN, list(self.files)))

    def secure(self):
        context = ssl.create_default_context(cafile=self.files[0])
        client = self.target.tcp(token=TOKEN)
        client.connection = context.wrap_socket(client.connection,
                                                server_hostname="localhost")
        return client

    def test_tls(self):
        self.assertTrue(self.target.first[1].startswith("https://127.0.0.1:"))
        with self.secure() as client:
            self.assertEqual(client.value("6 * 7"), "42")
            self.assertIn("left out", client.value("'x' * 10 ** 6"))
            answer = client.ask("GET", "/", None, "Origin: null")
            self.assertEqual(answer.status, 403)

    def test_plain(self):
        with self.target.tcp(token=TOKEN) as client:
            answer = client.ask("GET", "/")
            self.assertEqual((answer.status, answer.message),
                             (400, "TLS is required: use https"))
            self.assertTrue(client.is_closed())

    def test_no_handshake(self):
        limit = "admission.FIRST_SECONDS = admission.HEAD_SECONDS = %g; say(1)"
        self.target.run(limit % 0.3)
        self.target.said()
        for data in (b"", b"\x16", b"\x16\x03\x01\x00\x10" + b"x" * 16):
            with self.target.tcp() as client:
                client.send(data)
                self.assertTrue(client.is_closed())
        self.target.run(limit % 20)
        self.target.said()
        with self.secure() as client:
            self.assertEqual(client.value("1"), "1")
        status, errors = self.target.close()
        self.assertEqual(status, 0)
        self.assertNotIn("could not be served", errors)


if __name__ == "__main__":
    unittest.main()
