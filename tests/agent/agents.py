"""Programs with an agent, and clients that speak HTTP to it byte by byte."""
import json
import os
import re
import select
import socket
import subprocess
import sys
import unittest

import dap_schema
from sessions import AGENT, LIMIT, Place, wait_for

sys.path.insert(0, AGENT)
from probetui import wire  # noqa: E402

__all__ = ["LIMIT", "RANK_7", "Answer", "Client", "OneCase", "Place",
           "Target", "connect", "curl", "few_unless_soak", "make_certificate",
           "wait_for"]

# Lines of its standard input are run; what they print with say() is answered.
PROGRAM = """
import json, sys, threading, time
def say(value):
    sys.__stdout__.write(json.dumps(value) + "\\n")
    sys.__stdout__.flush()
def level_two(count, text):
    names = ["a", float("nan"), 2 ** 64 - 1]
    for line in sys.stdin:
        exec(line, globals())
def level_one():
    level_two(2, "\\udc80")
"""


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.value = json.loads(body.decode()) if body else None

    @property
    def message(self):
        return self.value["error"]["message"]

    def __repr__(self):
        return "%s %s" % (self.status, self.value)


class Client:
    """A connection."""

    def __init__(self, connection, token=None, host="localhost"):
        self.connection = connection
        self.connection.settimeout(LIMIT)
        self.host = host
        self.token = token
        self._data = b""

    def send(self, data):
        try:
            self.connection.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            # Why, may be there to read.
            pass

    def _until(self, condition):
        while not condition():
            data = self.connection.recv(1 << 20)
            if not data:
                raise EOFError("it was closed after %r" % self._data)
            self._data += data

    def read(self):
        """The next answer."""
        self._until(lambda: b"\r\n\r\n" in self._data)
        head, _, self._data = self._data.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        if " 100 " in lines[0]:
            return self.read()
        headers = dict(line.lower().split(": ", 1) for line in lines[1:])
        length = int(headers.get("content-length", 0))
        self._until(lambda: len(self._data) >= length)
        body, self._data = self._data[:length], self._data[length:]
        return Answer(int(lines[0].split()[1]), headers, body)

    def request(self, method, path, body=None, *headers):
        data = b"" if body is None else body if isinstance(body, bytes) \
            else json.dumps(body).encode()
        lines = ["%s %s HTTP/1.1" % (method, path), "Host: " + self.host]
        if self.token is not None:
            lines.append("Authorization: Bearer " + self.token)
        if body is not None:
            lines.append("Content-Length: %d" % len(data))
        lines += headers
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + data

    def ask(self, *request):
        self.send(self.request(*request))
        answer = self.read()
        if answer.status == 200 and re.match("/(dap|events)", request[1]):
            # All that is said of DAP, in whichever test.
            for message in answer.value.get("events", [answer.value]):
                problems = dap_schema.problems(wire.decode(
                    json.dumps(message).encode()))
                assert not problems, (problems, message)
        return answer

    def get(self, path, *headers):
        answer = self.ask("GET", path, None, *headers)
        assert answer.status == 200, answer
        return answer.value

    def post(self, path, **body):
        answer = self.ask("POST", path, body)
        assert answer.status == 200, answer
        return answer.value

    def eval(self, code, **more):
        return self.post("/eval", code=code, **more)

    def value(self, code, **more):
        told = self.eval(code, **more)
        assert told["error"] is None, told
        return told["value"]

    def is_closed(self):
        """It ends, whatever comes before that."""
        try:
            while self.connection.recv(65536):
                pass
        except OSError:
            pass
        return True

    def close(self):
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def connect(address, **more):
    """A path, or a (host, port)."""
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    connection = socket.socket(family)
    try:
        connection.connect(address)
    except OSError:
        connection.close()
        raise
    return Client(connection, **more)


# No rank, unless it is said: a probetui that somebody runs on this machine
# connects to the agents of ranks, and is one more viewer then.
PLAIN = {"IPDB_DEBUG": None, "MASTER_ADDR": None, "RANK": None,
         "WORLD_SIZE": None}
RANK_7 = {"RANK": "7", "WORLD_SIZE": "8"}


class Target:
    """PROGRAM in a place. `begins` is run first; what it says is .first."""

    def __init__(self, place, begins="import probetui\n"
                 "say(probetui.listen())", options=("-W", "error"), **more):
        self.place = place
        place.write("program.py", PROGRAM + begins + "\nlevel_one()\n")
        self.process = subprocess.Popen(
            place.argv + list(options) + [place.inside + "/program.py"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=place.environment(
                **dict(PLAIN, **more)),
            universal_newlines=True)
        self.unread = b""
        try:
            self.first = self.said()
        except BaseException:
            self.kill()
            raise

    def said(self):
        # Not by readline(), which keeps what comes with a line to itself.
        while b"\n" not in self.unread:
            if not select.select([self.process.stdout], [], [], LIMIT)[0]:
                raise TimeoutError("nothing was said")
            more = os.read(self.process.stdout.fileno(), 65536)
            if not more:
                raise EOFError(self.process.stderr.read())
            self.unread += more
        line, _, self.unread = self.unread.partition(b"\n")
        return json.loads(line.decode())

    def run(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, expression):
        self.run("say(%s)" % expression)
        return self.said()

    @property
    def path(self):
        """Of its socket."""
        return "%s/tmp/pdb-%d/%d.agent" % (self.place.root, os.geteuid(),
                                           self.process.pid)

    def client(self, **more):
        return connect(self.path, **more)

    def port(self):
        """At which it listens besides."""
        match = re.match(r"https?://127\.0\.0\.1:(\d+)$", self.first[1])
        return int(match.group(1))

    def tcp(self, **more):
        return connect(("127.0.0.1", self.port()), **more)

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def close(self):
        """(exit status, standard error)"""
        try:
            _, errors = self.process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        return self.process.returncode, errors


class OneCase(unittest.TestCase):
    """Processes of this Python."""

    def setUp(self):
        self.place = Place()
        self.addCleanup(self.place.close)

    def start(self, *arguments, **more):
        target = Target(self.place, *arguments, **more)
        self.addCleanup(target.kill)
        return target


def curl(*arguments):
    return subprocess.run(("curl", "-sS") + arguments,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=LIMIT,
                          universal_newlines=True)


def make_certificate(folder, one_file=False):
    """(certificate, key) for localhost, two files or twice the same."""
    certificate = os.path.join(folder, "certificate")
    key = certificate if one_file else os.path.join(folder, "key")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
         "-out", certificate + ".new", "-keyout", key],
        check=True, stderr=subprocess.DEVNULL)
    with open(certificate + ".new") as file:
        text = file.read()
    with open(certificate, "a" if one_file else "w") as file:
        file.write(text)
    return certificate, key


def few_unless_soak():
    """What takes long is tried on all Pythons with PROBETUI_SOAK alone."""
    if not os.environ.get("PROBETUI_SOAK"):
        os.environ["PROBETUI_FEW_PYTHONS"] = "yes"
