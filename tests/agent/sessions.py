"""Programs that stop in pdb, and clients that talk to them."""
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time

SOURCE = os.environ.get("SRCDIR") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(SOURCE, "tests", "agent")
AGENT = os.path.join(SOURCE, "agent")
PACKAGE = os.path.join(AGENT, "probetui")
LIMIT = 120
RANK = 7


def wait_for(condition, what, limit=LIMIT):
    """Waits until condition() is true; it is asked a hundred times a second.
    What it gave."""
    end = time.monotonic() + limit
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise TimeoutError("waited %d s for %s" % (limit, what))
        select.select([], [], [], 0.01)


class Place:
    """A folder that a Python finds the package and the sockets in; it may
    run in another root."""

    def __init__(self, argv=(sys.executable,)):
        self.argv = list(argv)
        self.root = argv[1] if argv[0] == "chroot" else ""
        self.path = tempfile.mkdtemp(prefix="agent-", dir=self.root + "/tmp")
        self.inside = self.path[len(self.root):]
        shutil.copytree(PACKAGE, os.path.join(self.path, "probetui"),
                        ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(os.path.join(AGENT, "sitecustomize.py"), self.path)
        shutil.copy(os.path.join(HERE, "agent_target.py"), self.path)

    def close(self):
        shutil.rmtree(self.path, ignore_errors=True)

    def environment(self, **more):
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LC_ALL")
                if name in os.environ}
        kept.update(PYTHONPATH=self.inside, PYTHONDONTWRITEBYTECODE="1",
                    IPDB_DEBUG="1", RANK=str(RANK), WORLD_SIZE="8",
                    MASTER_ADDR="127.0.0.1",
                    MASTER_PORT=os.path.basename(self.inside),
                    IPDB_SOCK_PATH=self.inside + "/s")
        kept.update(more)
        return {name: value for name, value in kept.items()
                if value is not None}

    def write(self, name, text, mode=None):
        with open(os.path.join(self.path, name), "w") as file:
            file.write(text)
            if mode is not None:
                os.fchmod(file.fileno(), mode)
        return os.path.join(self.inside, name)

    def start(self, *arguments, **more):
        return subprocess.Popen(
            self.argv + list(arguments), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=self.environment(**more), universal_newlines=True)

    def run(self, *arguments, **more):
        """(status, standard output, standard error)"""
        process = self.start(*arguments, **more)
        output, errors = process.communicate("", timeout=LIMIT)
        return process.returncode, output, errors

    def socket(self, rank=RANK):
        return os.path.join(self.path, "s.%d" % rank)


class Client:
    """What a person with `nc -U` has."""

    def __init__(self, path, prompt="(rank-%d-pdb) " % RANK, family=None):
        self.prompt = prompt

        def connect():
            try:
                self.connection = socket.socket(family or socket.AF_UNIX)
                self.connection.connect(path)
                return True
            except OSError:
                self.connection.close()
                return False

        wait_for(connect, "a socket at %s" % (path,))
        self.connection.settimeout(LIMIT)

    def read(self):
        """Up to the prompt, without it."""
        text = ""
        while not text.endswith(self.prompt):
            data = self.connection.recv(65536).decode()
            if not data:
                raise EOFError("it was closed after %r" % text)
            text += data
        return text[:-len(self.prompt)]

    def send(self, line):
        self.connection.sendall(line.encode() + b"\n")

    def say(self, line):
        self.send(line)
        return self.read()

    def rest(self):
        """All that comes until it is closed."""
        text = ""
        while True:
            data = self.connection.recv(65536).decode()
            if not data:
                return text
            text += data

    def close(self):
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Target:
    """agent_target.py, in a place."""

    def __init__(self, place, **more):
        self.place = place
        self.is_busy = False
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            place.argv + ["-u", place.inside + "/agent_target.py"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.errors, env=place.environment(**more), bufsize=0)

    def begin(self, name):
        self.is_busy = True
        self.process.stdin.write(name.encode() + b"\n")

    def client(self):
        return Client(self.place.socket())

    def line(self):
        if not select.select([self.process.stdout], [], [], LIMIT)[0]:
            raise TimeoutError(self.told())
        line = self.process.stdout.readline().decode()
        if not line:
            raise EOFError(self.told())
        return line

    def result(self):
        result = json.loads(self.line())
        self.is_busy = False
        return result

    def told(self):
        """Its standard error."""
        self.errors.seek(0)
        return self.errors.read()

    def close(self):
        """Its exit status."""
        self.process.stdin.close()
        status = self.process.wait(LIMIT)
        self.process.stdout.close()
        self.errors.close()
        return status
