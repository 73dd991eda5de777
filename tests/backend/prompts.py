"""A pdb on pipes, and the inspector that talks to it."""
import base64
import json
import os
import re
import selectors
import subprocess
import time

PROBE = os.path.join(os.environ["BUILDDIR"], "tests/backend/inspector-probe")
LIMIT = 120
PROMPT = re.compile(rb"\(+[Pp]db\)+ (\x1b\[0m)?$")


class Failure(Exception):
    """The inspector's sentence."""


class Prompt:
    """A program under pdb. Its standard error comes with its output."""

    def __init__(self, python, code, arguments=(), prompt=PROMPT, cwd=None,
                 mode="-c"):
        self.prompt = prompt
        self.process = subprocess.Popen(
            python.argv + ["-u", "-X", "utf8"]
            + ([mode] if mode else []) + ([code] if code else [])
            + list(arguments), cwd=cwd,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(os.environ, PYTHON_COLORS="0",
                     PYTHONDONTWRITEBYTECODE="1"))
        self.probe = subprocess.Popen([PROBE], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        self.printed = b""  # before the first prompt, and besides answers
        self.lines = 0  # that were sent

    def close(self):
        self.selector.close()
        self.process.kill()
        for process in (self.probe, self.process):
            try:
                process.stdin.close()
            except BrokenPipeError:
                pass  # it was not read to its end
            process.stdout.close()
            process.wait(LIMIT)

    def read(self, pattern=None):
        """All that comes until it ends in a prompt; b"" at the end."""
        pattern = pattern or self.prompt
        data, limit = b"", time.monotonic() + LIMIT
        while not pattern.search(data):
            if not self.selector.select(limit - time.monotonic()):
                raise AssertionError("no prompt came after %r" % data)
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                return data
            data += more
        return data

    def send(self, line):
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()

    def command(self, line):
        self.send(line + "\n")
        return self.read().decode(errors="replace")

    def tell(self, words):
        self.probe.stdin.write(words.encode() + b"\n")
        self.probe.stdin.flush()
        line = self.probe.stdout.readline()
        if not line:
            raise AssertionError("the probe died of: %s" % words[:200])
        return json.loads(line.decode())

    def ask(self, do, **question):
        """The answer; raises Failure."""
        question["do"] = do
        told = self.tell("ask " + json.dumps(question))
        while told["result"] == "send":
            assert len(told["line"]) <= 4000, len(told["line"])
            assert "{probetui:" not in told["line"]
            self.lines += 1
            self.send(told["line"])
            data = self.read()
            told = self.tell("bytes " + base64.b64encode(data).decode())
            if told["result"] == "wait":
                self.printed += data
                told = self.tell("refused")
            else:
                self.printed += data[:told["start"]]
        if told["result"] == "failed":
            raise Failure(told["error"])
        return told["answer"]

    def state(self):
        return self.ask("state")

    def variables(self, depth=0, start=0):
        return self.ask("variables", depth=depth, start=start)

    def values(self, depth=0):
        return {each["name"]: each["value"]
                for each in self.variables(depth)["variables"]}
