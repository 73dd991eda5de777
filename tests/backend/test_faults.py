"""Readings that fail: what is missing is said, and nobody is blamed for it.

Each test makes calls of probetui-node fail (faults.c) while it judges a job
of which one rank sleeps and the others wait for it. A verdict is the whole
one, or it names what is missing and blames no other rank. Every call in turn
with PROBETUI_SOAK; else a tenth of them.
"""
import errno
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "e2e"))
import jobs  # noqa: E402

FAULTS = os.path.join(os.environ.get("BUILDDIR", ""), "tests", "backend",
                      "faults.so")
IS_SOAK = bool(os.environ.get("PROBETUI_SOAK"))
STRIDE = 1 if IS_SOAK else 10
KINDS = ("open", "read", "memory")
RANKS = 4
ODD = RANKS - 1
#: What a command says of a rank that was not, or not wholly, read.
PARTIAL = (3, 4)

#: How else an errno is said.
OTHER_REASONS = {errno.EACCES: ["The kernel refuses", "cannot be read"]}


class Answer:
    def __init__(self, process):
        self.status = process.returncode
        self.errors = process.stderr
        self.json = json.loads(process.stdout) if process.stdout else {}
        self.outliers = self.json.get("outliers", [])

    def finding(self):
        """What is judged, without times."""
        return (self.status, self.json.get("state"), self.outliers,
                sorted((one["ranks"], one["activity"],
                        [(frame["func"], frame["lineno"])
                         for frame in one["frames"]])
                       for one in self.json.get("classes", [])))

    def text(self):
        return "status %d, %s, outliers %s: %s\n%s" % (
            self.status, self.json.get("state"), self.outliers,
            self.json.get("verdict") or self.json, self.errors)

    def says(self, number):
        """The reason; of a reading that is short alone, of which rank."""
        if not number:
            return "rank " in self.errors
        said = (self.errors + (self.json.get("verdict") or "")
                + self.json.get("error", ""))
        return any(reason.lower() in said.lower() for reason in
                   [os.strerror(number)] + OTHER_REASONS.get(number, []))


def verdict(port, fault=None, counts=None, files=None):
    """On the job there, whatever else the machine runs."""
    environment = dict(os.environ, LD_PRELOAD=FAULTS)
    environment["ASAN_OPTIONS"] = (environment.get("ASAN_OPTIONS", "")
                                   + ":verify_asan_link_order=0")
    if fault:
        environment["FAULTS"] = "%s:%d:%d:%d" % fault
    if counts:
        environment["FAULTS_COUNTS"] = counts
    limit = ["prlimit", "--nofile=%d" % files] if files else []
    return Answer(subprocess.run(
        limit + [jobs.PROBETUI, "--json", "--job", str(port), "verdict"],
        env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, universal_newlines=True, timeout=jobs.LIMIT))


class Job(jobs.Launched):
    """tests/jobs/receives.py, each rank at its last place."""

    def __init__(self):
        super().__init__([sys.executable, os.path.join(jobs.JOBS, "launch.py"),
                          "-n", str(RANKS),
                          os.path.join(jobs.JOBS, "receives.py")])
        # A rank may print before the launcher does.
        lines = [self.process.stdout.readline() for _ in range(RANKS + 1)]
        started = json.loads(next(line for line in lines
                                  if line.startswith("{")))
        self.pids, self.port = started["pids"], started["port"]
        for pid in self.pids:
            jobs.wait_for(lambda pid=pid: self.is_asleep(pid),
                          "rank of pid %d to sleep" % pid)

    @staticmethod
    def is_asleep(pid):
        """In recvfrom, or in clock_nanosleep or a select of nothing."""
        with open("/proc/%d/syscall" % pid) as file:
            return file.read().split()[0] in ("45", "230", "270", "23")


class TestFaults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.job = Job()
        cls.addClassCleanup(cls.job.close)
        with tempfile.NamedTemporaryFile() as file:
            cls.whole = verdict(cls.job.port, counts=file.name)
            cls.counts = dict(zip(KINDS, struct.unpack("QQQ", file.read())))

    def test_whole(self):
        self.assertEqual(self.whole.outliers, [ODD], self.whole.text())
        for kind in KINDS:
            self.assertGreater(self.counts[kind], RANKS, kind)

    def judge(self, answer, number):
        """Why the answer is wrong, or None."""
        if answer.finding() == self.whole.finding():
            return None
        if not set(answer.outliers) <= {ODD}:
            return "blames %s" % answer.outliers
        if not answer.outliers and answer.status not in PARTIAL:
            return "is not partial"
        if not answer.says(number):
            return "does not say what is missing"
        return None

    def check(self, name, number, **how):
        """Why the verdict is wrong, in a list, or an empty one."""
        answer = verdict(self.job.port, **how)
        why = self.judge(answer, number)
        return ["%s %s\n%s" % (name, why, answer.text())] if why else []

    def expect_none(self, wrong):
        if wrong:
            self.fail("%d are wrong; the whole is: %s\n%s" % (
                len(wrong), self.whole.text(), "\n".join(wrong)))

    def walk(self, kind, number, is_from=False):
        """Each call alone fails, or it and all that come behind."""
        wrong = []
        for first in range(1, self.counts[kind] + 1, STRIDE):
            fault = (kind, number, first, 1 << 60 if is_from else first)
            wrong += self.check(fault, number, fault=fault)
        self.expect_none(wrong)

    def test_an_open_fails(self):
        self.walk("open", errno.EMFILE)

    def test_no_open_works_any_more(self):
        self.walk("open", errno.ENFILE, is_from=True)

    def test_an_open_is_refused(self):
        self.walk("open", errno.EACCES)

    def test_a_read_fails(self):
        self.walk("read", errno.EIO)

    def test_no_read_works_any_more(self):
        self.walk("read", errno.ENOMEM, is_from=True)

    def test_a_read_is_short(self):
        self.walk("read", 0)

    def test_memory_is_not_read(self):
        self.walk("memory", errno.ENOMEM)

    def test_a_symbol_cannot_be_looked_up(self):
        """By the first rank's reads: the others, of the same interpreter, are
        not told that it lacks the symbol."""
        wrong = []
        for call in range(10, 50, 2):
            fault = ("memory", errno.ENOMEM, call, call)
            wrong += self.check(fault, errno.ENOMEM, fault=fault)
        self.expect_none(wrong)

    def test_memory_is_not_read_any_more(self):
        self.walk("memory", errno.EIO, is_from=True)

    def test_memory_is_read_in_part(self):
        self.walk("memory", 0)

    def test_limits_of_descriptors(self):
        wrong = []
        for files in range(9, 60, 1 if IS_SOAK else 3):
            wrong += self.check("%d files" % files, errno.EMFILE, files=files)
        self.expect_none(wrong)


if __name__ == "__main__":
    unittest.main()
