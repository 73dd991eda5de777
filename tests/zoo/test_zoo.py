#!/usr/bin/env python3
"""The zoo (zoo.py): many frameworks' hangs, and what is said of them; healthy
jobs, of which nothing may be said.

With PROBETUI_ZOO alone, as it takes half an hour: `make zoo` fetches the
frameworks and sets it. A job whose framework is not there is skipped.
"""
import collections
import os
import select
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import zoo  # noqa: E402

TORCH = os.environ.get("PROBETUI_TORCH_PYTHON")
ZOO = os.environ.get("PROBETUI_ZOO")
SHARE = 0.95
HEALTHY_RUNS = 20
ALARM_SECONDS = 600


@unittest.skipUnless(ZOO, "it takes half an hour; make zoo runs it")
@unittest.skipUnless(TORCH, "no Python with torch (PROBETUI_TORCH_PYTHON)")
class TestZoo(unittest.TestCase):
    grades = collections.OrderedDict()

    def check(self, name):
        """No rank blamed wrongly, no hang denied; the share counts at the
        end."""
        job = zoo.find(name)
        lacks = zoo.missing(job)
        if lacks:
            self.skipTest("no module " + lacks)
        grade, found = zoo.run(job)
        self.grades[name] = grade, found["verdict"]
        self.assertNotEqual(grade.word, "wrong", "%s: %s\n%s" % (
            ", ".join(grade.reasons), found["verdict"], job.truth()))

    def test_zzz_most_are_right(self):
        if not self.grades:
            self.skipTest("no job was run")
        missed = ["%s: %s (%s): %s" % (name, grade.word,
                                       ", ".join(grade.reasons), sentence)
                  for name, (grade, sentence) in self.grades.items()
                  if grade.word != "right"]
        self.assertLessEqual(len(missed), (1 - SHARE) * len(self.grades),
                             "\n" + "\n".join(missed))

    def check_healthy(self, name):
        job = zoo.find(name)
        running = zoo.Running(job)
        self.addCleanup(running.close)
        running.wait_ready()
        for _ in range(HEALTHY_RUNS):
            found = running.verdict()
            self.assertEqual(zoo.grade(job, found).word, "right", found)


    @unittest.skipUnless("PROBETUI_SOAK" in os.environ,
                         "it takes ten minutes: PROBETUI_SOAK=1")
    def test_no_alarm(self):
        """`wait` beside each healthy job, all at once, for ten minutes."""
        watches = []
        for job in zoo.JOBS:
            if not job.is_healthy or zoo.missing(job):
                continue
            running = zoo.Running(job)
            self.addCleanup(running.close)
            running.wait_ready()
            watch = running.watch("60s")
            self.addCleanup(watch.communicate)
            self.addCleanup(watch.kill)
            watches.append((job.name, watch))
        self.assertGreaterEqual(len(watches), 10)
        end = time.monotonic() + ALARM_SECONDS
        while time.monotonic() < end:
            for name, watch in watches:
                if watch.poll() is not None:
                    self.fail("%s: %s" % (name, watch.communicate()))
            select.select([], [], [], 1)


def add(job):
    def test(self):
        (self.check_healthy if job.is_healthy else self.check)(job.name)
    setattr(TestZoo, "test_" + job.name.replace("-", "_"), test)


for each in zoo.JOBS:
    add(each)


if __name__ == "__main__":
    unittest.main()
