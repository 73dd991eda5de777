"""What reads requests in an agent, on those of agent-http/ with changes made
by chance: it takes them or refuses them, whatever pieces they come in, and
soon. PROBETUI_SEED repeats a run; with PROBETUI_SOAK it takes a minute, or so
many seconds as that says."""
import json
import os
import random
import socket
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("SRCDIR") or os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "agent"),
                os.path.join(ROOT, "tests", "agent")]
from agents import Place, Target  # noqa: E402

from probetui import http1, wire  # noqa: E402
from probetui.dap import completions  # noqa: E402

CORPUS = os.path.join(HERE, "agent-http")
SEED = int(os.environ.get("PROBETUI_SEED", "1"))
SOAK = float(os.environ.get("PROBETUI_SOAK") or 0)
SECONDS = max(SOAK, 60.0) / 4 if SOAK else 0
# Each piece of it is read with the GIL held.
READ_SECONDS = 0.5
ANSWER_SECONDS = 5
TOKENS = [b"\r\n", b"\n", b"\r", b"\r\n\r\n", b" ", b"\t", b":", b"\0",
          b"\xff", b"%", b"%zz", b"?", b"&", b"=", b"HTTP/1.1", b"HTTP/1.",
          b"Content-Length: 5\r\n", b"content-length:\t3\r\n",
          b"Transfer-Encoding: chunked\r\n", b"Host: localhost\r\n",
          b"Host: example.org\r\n", b"Expect: 100-continue\r\n",
          b"Connection: close\r\n", b"Origin: null\r\n", b"-1",
          b"18446744073709551616", b"9" * 400, b"{", b"}", b"[", b'"',
          b'{"$": "int:1"}', b"NaN", b"1e999", b"\\ud800", b" " * 5000,
          b"A" * 5000, b"A: b\r\n" * 50, b"&a=" * 30]


def corpus():
    found = []
    for name in sorted(os.listdir(CORPUS)):
        with open(os.path.join(CORPUS, name), "rb") as file:
            found.append(file.read())
    assert found
    return found


def change(pick, data, others):
    """The same with a few bytes of it changed."""
    made = bytearray(data)
    for _ in range(pick.choice((0, 1, 1, 2, 3, 8))):
        at = pick.randrange(len(made) + 1)
        end = min(len(made), at + pick.choice((0, 1, 1, 2, 8, 100)))
        made[at:end] = pick.choice((
            lambda: bytes([pick.randrange(256)]),
            lambda: pick.choice(TOKENS),
            lambda: b"",
            lambda: bytes(made[at:end]) * pick.choice((2, 3, 50)),
            lambda: pick.choice(others)[at:at + 40]))()
    return bytes(made[:40000])


def cases(seconds, count):
    """Texts, the corpus' own first: so many, and for so long."""
    pick, own = random.Random(SEED), corpus()
    yield from own
    end = time.monotonic() + seconds
    while count > 0 or time.monotonic() < end:
        count -= 1
        yield change(pick, pick.choice(own), own)


class Script:
    """A connection from which pieces of a text come."""

    def __init__(self, pieces):
        self.pieces = list(pieces)

    def settimeout(self, _):
        pass

    def recv(self, _):
        return self.pieces.pop(0) if self.pieces else b""

    def sendall(self, data):
        assert data == b"HTTP/1.1 100 Continue\r\n\r\n"


def read_all(pieces):
    """What a connection's thread finds, up to its end."""
    reader = http1.Reader(Script(pieces))
    found = []
    try:
        while True:
            reader.expect(60)
            head = reader.read_head()
            body = reader.read_body(head)
            found.append((head, body))
    except http1.Refusal as refusal:
        found.append((refusal.status, str(refusal)))
    except http1.Closed:
        found.append("closed")
    return found


def cut(pick, data):
    pieces = []
    while data:
        size = pick.choice((1, 2, 3, 100, 1000, len(data)))
        pieces.append(data[:size])
        data = data[size:]
    return pieces


class TestReader(unittest.TestCase):
    def check(self, head, body):
        """Of what was taken."""
        text = [head.method, head.path, *head.query, *head.query.values()]
        self.assertRegex(head.method, r"\A[A-Z]{1,16}\Z")
        self.assertRegex(head.path, r"\A/[!->@-~]*\Z")
        self.assertLessEqual(len(head.query), http1.FIELDS_MAXIMUM)
        self.assertTrue(all(isinstance(word, str) for word in text))
        for name, value in head.headers.items():
            self.assertRegex(name, r"\A[!#-'*+.^_`|~0-9a-z-]+\Z")
            self.assertRegex(value, r"\A[\t -~\x80-\xff]*\Z")
        self.assertNotIn("transfer-encoding", head.headers)
        self.assertEqual(len(body),
                         int(head.headers.get("content-length", "0")))

    def test_requests(self):
        pick = random.Random(SEED)
        for data in cases(SECONDS, 4000):
            before = time.thread_time()
            whole = read_all([data] if data else [])
            spent = time.thread_time() - before
            self.assertLess(spent, READ_SECONDS, ascii(data)[:2000])
            for told in whole[:-1]:
                self.check(*told)
            if whole[-1] != "closed":
                self.assertIn(whole[-1][0], (400, 411, 413, 417, 431, 501,
                                             505))
            # The pieces that it comes in make no difference.
            self.assertEqual(read_all(cut(pick, data)), whole,
                             ascii(data)[:2000])


    def test_a_head_that_ends_with_cr(self):
        data = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\r\n\r\n"
        whole = read_all([data])
        self.assertEqual([status for status, _ in whole], [400])
        self.assertEqual(read_all([bytes([one]) for one in data]), whole)


class TestWire(unittest.TestCase):
    VALUES = [None, True, False, 0, -1, 2 ** 53, 2 ** 53 + 1, -2 ** 70,
              10 ** 60, 0.1, -0.0, 1e308, float("inf"), float("-inf"), "",
              "\0", "\x7f\u20ac", "\ud800", "\udc80x\\", "$", "int:5",
              "text:\\x", "\U0001f600", "\u2028"]

    def make(self, pick, depth=0):
        kind = pick.randrange(3 if depth < 6 else 1)
        if kind == 0:
            return pick.choice(self.VALUES)
        count = pick.randrange(4)
        if kind == 1:
            return [self.make(pick, depth + 1) for _ in range(count)]
        return {pick.choice(("a", "b", "", "c\0", "\u20ac")):
                self.make(pick, depth + 1) for _ in range(count)}

    def test_there_and_back(self):
        pick = random.Random(SEED)
        self.assertIn("nan", str(wire.decode(wire.encode(float("nan")))))
        for _ in range(2000):
            value = self.make(pick)
            data = wire.encode(value)
            json.loads(data.decode())
            self.assertEqual(repr(wire.decode(data)), repr(value))

    def test_any(self):
        pick = random.Random(SEED)
        own = [b'{"a": [1, 2.5e3, {"$": "int:9007199254740993"}]}',
               b'[{"$": "text:\\\\udc80"}, {"$": "nan"}, "\\ud83d\\ude00"]',
               b'{"code": "print(1)", "timeout": 1}', b"[" * 500,
               b'{"a":' * 300, b"1" * 3000, b'"' + b"\\u0000" * 300]
        end = time.monotonic() + SECONDS
        count = 4000
        while count > 0 or time.monotonic() < end:
            count -= 1
            data = change(pick, pick.choice(own), own)
            before = time.thread_time()
            try:
                wire.decode(data)
            except wire.WireError as error:
                self.assertLess(len(str(error)), 300)
            self.assertLess(time.thread_time() - before, READ_SECONDS,
                            ascii(data)[:2000])

    def test_long_to_complete(self):
        """Each of a hundred thousand characters is looked at once."""
        before = time.thread_time()
        for text in ("x" * 100000 + " ", "[" * 100000, "['" * 50000,
                     "'" * 100000, "import " + "a," * 40000 + "!",
                     "import" + " " * 90000 + "!", "[ " * 50000 + "x",
                     ")" * 100000, "a." * 50000, "\\'" * 50000):
            completions.find(text, [{}])
        self.assertLess(time.thread_time() - before, 2)


class TestAgent(unittest.TestCase):
    """One that listens, and is asked nonsense."""

    JUNK = [None, True, 0, -1, 2 ** 63, 1e308, float("nan"), "", "\0",
            "\ud800", "x" * 3000, [], [[]], {}, {"a": {}}, "1", "../..",
            "/dev/zero", "/dev/null", "/", "/proc/self/mem", "%s%n"]
    CODE = ["1", "x =", "\0", "1/0", "print('\ud800')", "raise Exception",
            "(" * 200, "lambda: 0", "'\\ud800'", "b'\\xff'", "[]" * 99]
    FIELDS = ["code", "path", "timeout", "type", "limit", "tid", "session",
              "after", "seq", "command", "arguments", "", "$", "x\0"]

    @classmethod
    def setUpClass(cls):
        cls.place = Place()
        cls.addClassCleanup(cls.place.close)

    def start(self, options):
        target = Target(self.place, "import probetui\n"
                        "say(probetui.listen(%s))" % options)
        self.addCleanup(target.kill)
        return target

    def end(self, target):
        """Nothing of it was an error of ours, and all threads are there."""
        with target.client() as client:
            self.assertEqual(client.ask("GET", "/").status, 200)
        end = time.monotonic() + ANSWER_SECONDS
        # Of ours: a probetui of somebody else may have connected.
        target.run("from probetui import agent, endpoints")
        served = "sum(endpoints.peer_user(one._socket)[0] == %d for one in " \
            "list(agent._agent._server._connections) " \
            "if one._socket.fileno() >= 0)" % os.getpid()
        while target.ask(served) and time.monotonic() < end:
            pass
        self.assertEqual(target.ask(served), 0)
        self.assertIn("probetui-listen", target.ask(
            "[thread.name for thread in threading.enumerate()]"))
        self.assertEqual(target.close(), (0, ""))

    def answers(self, client, data):
        """The statuses of what comes for it; each is whole."""
        client.connection.settimeout(ANSWER_SECONDS)
        client.send(data)
        try:
            client.connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        found = []
        try:
            while True:
                found.append(client.read().status)
        except EOFError as ended:
            self.assertIn("b''", str(ended), "half an answer")
        except ConnectionResetError:
            pass
        return found

    def test_bytes(self):
        """By nobody who may run code."""
        target = self.start("read_only=True")
        for data in cases(SECONDS, 300):
            with target.client() as client:
                for status in self.answers(client, data):
                    # 503: there are 16 sessions already.
                    self.assertIn(status, (200, 400, 403, 404, 405, 411, 413,
                                           417, 431, 501, 503, 505),
                                  ascii(data)[:2000])
        self.end(target)

    def request(self, pick, routes):
        method, path = pick.choice(routes)
        if pick.random() < 0.05:
            method = pick.choice(("PUT", "GET", "POST", "DELETE"))
        body = {name: pick.choice(self.JUNK + self.CODE)
                for name in pick.sample(self.FIELDS, pick.randrange(4))}
        if path in ("/eval", "/execute") and pick.random() < 0.7:
            body["code"] = pick.choice(self.CODE)
        if path == "/eject":
            # It would.
            return method, path, dict(body, x=1)
        if "timeout" not in body and path in ("/eval", "/execute"):
            body["timeout"] = 2
        if method == "GET":
            query = "&".join("%s=%s" % (name, pick.choice(
                ("", "0", "1", "-1", "9" * 30, "x", "%00", "%", "%ff",
                 "dict", "int", "probetui.server.Server", "type", "1e3")))
                for name in body if name.isalnum() and name != "timeout")
            if path == "/events":
                query += "&timeout=0"
            return method, path + "?" + query if query else path, None
        return method, path, pick.choice(
            [body] * 12 + self.JUNK) if pick.random() < 0.9 else b"{]"

    def test_names_and_values(self):
        target = self.start("")
        pick = random.Random(SEED)
        with target.client() as client:
            routes = [tuple(name.split()) for name in client.get("/")["can"]]
        self.assertIn(("POST", "/eval"), routes)
        end = time.monotonic() + SECONDS
        count = 400
        client = target.client()
        while count > 0 or time.monotonic() < end:
            count -= 1
            method, path, body = self.request(pick, routes)
            data = wire.encode(body) if not isinstance(
                body, (bytes, type(None))) else body
            before = time.monotonic()
            answer = client.ask(method, path, data)
            self.assertIn(answer.status, (200, 400, 404, 405, 411), "%s %s %s"
                          % (method, path, ascii(body)[:2000]))
            self.assertLess(time.monotonic() - before, ANSWER_SECONDS,
                            (method, path, ascii(body)[:2000]))
            if answer.headers["connection"] == "close":
                client.close()
                client = target.client()
        client.close()
        self.end(target)


if __name__ == "__main__":
    unittest.main()
