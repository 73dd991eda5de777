"""Recordings of a job that runs: of its parts, together; and of a recorder
that is killed."""
import json
import os
import select
import signal
import subprocess
import tempfile
import time
import unittest

import jobs
from terminals import Terminal

HUNG = os.path.join(jobs.SOURCE, "tests", "recordings", "hung8.jsonl")


def lines_of(path):
    """The lines of a recording that is being written, as far as they go."""
    return [json.loads(line) for line in jobs.unpacked(path).split(b"\n")[:-1]]


class TestAtItsEnd(unittest.TestCase):
    def is_still(self, pid):
        """It was not woken in half a second, in which a replay that plays is
        five times."""
        before = jobs.switches(pid)
        select.select([], [], [], 0.5)
        return jobs.switches(pid) == before

    def test_a_replay_that_does_not_move_is_not_woken(self):
        terminal = Terminal()
        self.addCleanup(terminal.close)
        terminal.start(["--replay", HUNG, "--at", "33"])
        terminal.wait_for(b"load_batch")
        jobs.wait_for(lambda: self.is_still(terminal.pid),
                      "the replay to rest at its end")
        terminal.press(b"q")
        terminal.wait_end()


class TestEnds(unittest.TestCase):
    def test_of_ranks_that_were_never_sampled(self):
        """The job ended at once: what it ended with is there."""
        with open(HUNG) as file:
            lines = [json.loads(line) for line in file]
        added = [line for line in lines if line.get("event") == "rankAdded"]
        kept = lines[:lines.index(added[-1]) + 2] + [
            dict(line, event="rankRemoved", time=1, body=dict(
                line["body"], state="exited", exit_code=1)) for line in added]
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "ended")
        with open(path, "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in kept)
        found = jobs.probetui("--replay", path, "verdict")
        self.assertEqual(found.returncode, 1, found.stderr)
        self.assertIn("ranks 0-7 exited with code 1", found.stdout)
        found = jobs.probetui("--replay", path, "--json", "report")
        self.assertEqual(json.loads(found.stdout)["first_failed"], 0)


class TestRecordings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.job = jobs.RanksJob(4)
        cls.addClassCleanup(cls.job.close)
        jobs.wait_for(cls.is_hung, "rank 3 to hang")

    @classmethod
    def is_hung(cls):
        result = jobs.probetui("--job", cls.job.port, "--json", "verdict")
        if result.returncode != 1:
            return False
        # It may be late at its start, or the others on their way still.
        verdict = json.loads(result.stdout)
        return verdict["outliers"] == [3] and verdict["state"] == "hung" \
            and "load_batch (ranks.py:5)" in verdict["verdict"]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def verdict(self, *arguments):
        result = jobs.probetui(*arguments, "--json", "verdict", "--for", "0.5")
        self.assertEqual(result.returncode, 1, result.stderr)
        return json.loads(result.stdout), result.stderr

    def test_two_halves_are_the_job(self):
        live, _ = self.verdict("--job", self.job.port)
        for name, ranks in (("a", "0-1"), ("b", "2-3")):
            jobs.probetui("--job", self.job.port, "--ranks", ranks, "--record",
                          self.path(name), "verdict", "--for", "0.5")
        whole, problems = self.verdict("--replay", self.path("a"),
                                       self.path("b"))
        self.assertEqual(problems, "")
        for key in ("outliers", "classes", "world_size", "ranks_found",
                    "state"):
            self.assertEqual(whole[key], live[key], key)
        self.assertEqual(whole["verdict"].split(", for")[0],
                         live["verdict"].split(", for")[0])

    def test_a_rank_that_both_have_is_told(self):
        for name in ("a", "b"):
            jobs.probetui("--job", self.job.port, "--record", self.path(name),
                          "verdict", "--for", "0")
        verdict, problems = self.verdict("--replay", self.path("a"),
                                         self.path("b"))
        self.assertEqual(verdict["outliers"], [3])
        self.assertIn("several recordings have ranks 0-3", problems)

    def test_at_a_time(self):
        jobs.probetui("--job", self.job.port, "--record", self.path("a"),
                      "verdict", "--for", "1")
        early, _ = self.verdict("--replay", self.path("a"), "--at", "0.4")
        self.assertEqual(early["outliers"], [3])
        result = jobs.probetui("--replay", self.path("a"), "--at", "99",
                               "verdict")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"--at 99 is not in the recording, which is "
                         r"[0-9.]+ s long, from 20\d\d-")
        for when in ("+0.4", "-0.4s", "first", "0"):
            result = jobs.probetui("--replay", self.path("a"), "--at", when,
                                   "--json", "ranks")
            self.assertNotEqual(result.returncode, 2, result.stderr)
        result = jobs.probetui("--replay", self.path("a"), "--at", "soon",
                               "verdict")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--at: 'soon' is not a time: use first or last",
                      result.stderr)

    def test_locals_are_there_when_they_were_asked_for(self):
        for option, status in (([], 3), (["--record-locals"], 0)):
            path = self.path("r%d" % status)
            jobs.probetui("--job", self.job.port, "--record", path, *option,
                          "verdict", "--for", "0")
            result = jobs.probetui("--replay", path, "locals", "--rank", "3")
            self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn("step", result.stdout)

    def record(self, path):
        """A recorder that has written 20 samples."""
        with tempfile.TemporaryFile("w+") as script:
            script.write("wait verdict NEVER timeout 60\n")
            script.seek(0)
            recorder = subprocess.Popen(
                [jobs.PROBETUI, "--job", str(self.job.port), "--record", path,
                 "-x", "-"], stdin=script, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True)
        self.addCleanup(recorder.communicate)
        self.addCleanup(recorder.kill)

        def is_recorded():
            return (os.path.exists(path) and
                    sum(line.get("event") == "sampled"
                        for line in lines_of(path)) >= 20)

        jobs.wait_for(is_recorded, "20 samples to be written")
        return recorder

    def test_a_recording_ends_with_the_signal_that_ends_its_recorder(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            path = self.path(number.name)
            recorder = self.record(path)
            recorder.send_signal(number)
            self.assertEqual(recorder.wait(), -number)
            last = lines_of(path)[-1]
            self.assertEqual(last["event"], "recordingEnded")
            self.assertEqual(last["body"], {"signal": number.name})
            verdict, problems = self.verdict("--replay", path)
            self.assertEqual(verdict["outliers"], [3])
            self.assertIn("was ended by " + number.name, problems)
            self.assertNotIn("incomplete", problems)

    def test_a_removed_recording_is_told(self):
        path = self.path("removed")
        recorder = self.record(path)
        os.unlink(path)
        self.assertEqual(recorder.stderr.readline(),
                         "probetui: error: recording to %s stopped: the file "
                         "was removed\n" % path)

    def test_what_cannot_be_recorded_is_a_status(self):
        path = self.path("full")
        result = subprocess.run(
            ["prlimit", "--fsize=200", jobs.PROBETUI, "--job",
             str(self.job.port), "--record", path, "locals", "--rank",
             "0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            timeout=jobs.LIMIT)
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("recording to %s stopped: File too large" % path,
                      result.stderr)

    def test_a_damaged_end_is_told(self):
        path = self.path("damaged")
        jobs.probetui("--job", self.job.port, "--record", path, "verdict")
        with open(path, "rb") as file:
            packed = bytearray(file.read())
        packed[len(packed) // 2] ^= 1
        with open(path, "wb") as file:
            file.write(packed)
        result = jobs.probetui("--replay", path, "verdict")
        self.assertEqual(result.returncode, 2)
        self.assertIn("damaged in the part from byte 0 on: the compressed "
                      "data is damaged",
                      result.stderr)

    def test_a_recorder_that_is_killed_loses_a_second(self):
        path = self.path("killed")
        recorder = self.record(path)
        recorder.send_signal(signal.SIGKILL)
        killed = time.time()
        recorder.wait()
        lines = lines_of(path)
        self.assertEqual(lines[0]["event"], "snapshot")
        begun = lines[0]["body"]["wall"] - lines[0]["time"]
        self.assertLess(killed - begun - lines[-1]["time"], 1.5)
        verdict, problems = self.verdict("--replay", path)
        self.assertEqual(verdict["outliers"], [3])
        self.assertEqual(verdict["state"], "hung")
        self.assertIn("is incomplete: its end is missing", problems)


if __name__ == "__main__":
    unittest.main()
