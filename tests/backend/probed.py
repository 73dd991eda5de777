"""A Python at work, and a probe program that looks at it."""
import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ["BUILDDIR"]


def end(process):
    """Closes what it reads, which ends it."""
    process.stdin.close()
    process.stdout.close()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Probe:
    """A probe program that answers a line with a line of JSON."""

    def __init__(self, name, pid):
        self.process = subprocess.Popen(
            [os.path.join(BUILD, "tests/backend", name), str(pid)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, *words):
        line = " ".join(str(word) for word in words) + "\n"
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise AssertionError("the probe died of: %s" % line)
        return json.loads(answer.decode())

    def close(self):
        end(self.process)


class Target:
    """A Python that tells the truth in one line of JSON (told), and waits.

    Its program goes in as text: a chroot has no file of ours.
    """

    probe = None

    def __init__(self, argv, program, probe, *words):
        with open(os.path.join(HERE, program)) as file:
            code = file.read()
        self.process = subprocess.Popen(
            argv + ["-W", "ignore", "-c", code] + list(words),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        line = self.process.stdout.readline()
        if not line:
            self.close()
            raise RuntimeError("%s ended at once" % argv)
        self.told = json.loads(line.decode())
        self.probe = Probe(probe, self.process.pid)

    def ask(self, *words):
        return self.probe.ask(*words)

    def close(self):
        if self.probe:
            self.probe.close()
        end(self.process)
