"""A Python that takes and gives lines of JSON, as the programs of the stepping
tests do."""
import json
import os
import select
import subprocess

LIMIT = 120


class Process:
    """`arguments` are those of the Python; `more` is put into its
    environment."""

    def __init__(self, python, *arguments, **more):
        self.process = subprocess.Popen(
            python.argv + list(arguments),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **more))

    def tell(self, value):
        self.process.stdin.write(json.dumps(value).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self, limit=LIMIT):
        """What it says, None: nothing in that time."""
        stream = self.process.stdout
        if not select.select([stream], [], [], limit)[0]:
            return None
        line = stream.readline()
        if not line:
            raise AssertionError("the program ended, by %s"
                                 % self.process.wait(LIMIT))
        return json.loads(line.decode())

    def close(self):
        self.process.kill()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
