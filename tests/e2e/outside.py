"""A program that does what it is told, and a shell that stops it from
outside."""
import json
import os
import subprocess
import tempfile
import textwrap

import jobs
from shapes import SHAPES

# Evaluates each line of its input, and prints what came of it.
OBEY = '''
def obey():
    import sys
    print("ready", flush=True)
    for line in sys.stdin:
        print(repr(eval(line)), flush=True)


if __name__ == "__main__":
    obey()
'''


class Program:
    """text, and a loop that obeys, run by a Python; rank its number."""

    def __init__(self, test, argv, text, rank=None, files=None):
        # A chroot has its own folders.
        root = argv[1] if argv[0] == "chroot" else ""
        self.folder = tempfile.TemporaryDirectory(
            prefix="probetui-outside-", dir=root + "/tmp")
        test.addCleanup(self.folder.cleanup)
        text = textwrap.dedent(text).lstrip("\n")
        for name, content in dict(files or {}, **{
                "train.py": text + OBEY}).items():
            with open(os.path.join(self.folder.name, name), "w") as file:
                file.write(content)
        self.lines = text.splitlines()
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        if rank is not None:
            environment.update(RANK=str(rank), WORLD_SIZE="8")
        self.process = subprocess.Popen(
            argv + [self.folder.name[len(root):] + "/train.py"],
            cwd=self.folder.name, env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            universal_newlines=True, preexec_fn=jobs.end_with_parent)
        self.pid = self.process.pid
        test.addCleanup(self.close)
        test.assertEqual(self.answer(), "ready")

    def line(self, part):
        """The number of the line that begins so."""
        for number, line in enumerate(self.lines, 1):
            if line.strip().startswith(part):
                return number
        raise AssertionError("there is no line " + part)

    def tell(self, expression):
        self.process.stdin.write(expression + "\n")
        self.process.stdin.flush()

    def answer(self):
        return self.process.stdout.readline().strip()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Shell:
    """probetui -x, told line by line what to do."""

    def __init__(self, test, *programs):
        pids = ",".join(str(program.pid) for program in programs)
        self.stops = []
        self.logs = []
        self.breakpoints = []
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [jobs.PROBETUI, "--json", "--pid", pids, "-x", "-"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.errors, universal_newlines=True)
        test.addCleanup(self.close)

    def do(self, *commands):
        """What they print, without stops and logs, which are kept."""
        told = []
        for command in commands + ("break",):
            self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError("probetui ended: " + self.said())
            one = json.loads(line)
            faults = SHAPES.script_faults(one)
            if faults:
                raise AssertionError("%s: %s" % (faults, line))
            # The list, which ends what was asked.
            if "breakpoints" in one:
                self.breakpoints = one["breakpoints"]
                return told
            event = one.get("event") if isinstance(one, dict) else None
            {"stopped": self.stops, "log": self.logs}.get(
                event, told).append(one)

    def stop(self):
        """The next stop: of which breakpoints, and where."""
        if not self.stops:
            for one in self.do("wait stopped timeout 60"):
                raise AssertionError(one)
        one = self.stops.pop(0)
        return one["hit"], one["frame"]["func"], one["frame"]["lineno"]

    def print(self, expression):
        return [one["result"] for one in self.do("print " + expression)
                if "result" in one]

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait(jobs.LIMIT)
        self.process.stdout.close()
        self.errors.close()
