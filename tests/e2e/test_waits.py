#!/usr/bin/env python3
"""Jobs of gloo whose ranks wait for ever: the ranks that the verdict names by
the collectives that each has called, and the output of `collectives`.

PROBETUI_TORCH_PYTHON names a Python with torch 2.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jobs  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(jobs.JOBS), "backend"))
import pythons  # noqa: E402

PYTHON = os.environ.get("PROBETUI_TORCH_PYTHON")
WHY_NOT = pythons.why_no_torch_2(PYTHON)
PROGRAM = os.path.join(jobs.JOBS, "waits.py")
# Before 2.13 the Flight Recorder is off unless one of these is set.
ON = {"TORCH_NCCL_TRACE_BUFFER_SIZE": "2000", "TORCH_FR_BUFFER_SIZE": "2000"}


def line_of(text, nth=0):
    with open(PROGRAM) as file:
        return [number for number, line in enumerate(file, 1)
                if text in line][nth]


@unittest.skipUnless(PYTHON and not WHY_NOT, WHY_NOT)
class TestWaits(unittest.TestCase):
    maxDiff = None

    def start(self, what, count=3):
        port = str(jobs.free_port())
        self.ranks = [subprocess.Popen(
            [PYTHON, PROGRAM, what], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=jobs.end_with_parent,
            env=dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=port,
                     RANK=str(rank), LOCAL_RANK=str(rank),
                     WORLD_SIZE=str(count), OMP_NUM_THREADS="1", **ON))
            for rank in range(count)]
        self.addCleanup(self.end)
        self.port = port
        for rank in self.ranks:
            while True:
                line = rank.stdout.readline()
                self.assertTrue(line, "a rank has ended")
                if line.endswith(b"ready\n"):
                    break

    def end(self):
        for rank in self.ranks:
            rank.kill()
            rank.communicate()

    def ask(self, *arguments):
        run = jobs.probetui("--job", self.port, "--json", *arguments)
        self.assertIn(run.returncode, (0, 1), run.stderr + run.stdout)
        return run.returncode, json.loads(run.stdout)

    def verdict(self, what, count=3):
        """The verdict once the job is hung."""
        self.start(what, count)
        found = {}

        def is_hung():
            found.update(self.ask("verdict", "--for", "1")[1])
            return found["state"] == "hung"
        jobs.wait_for(is_hung, "the job to be hung: %s" % found)
        return found

    def facts(self, verdict):
        """The graph as sets of (rank, group, seq): waits, has not called, has
        called something else; and of messages (rank, peer)."""
        nodes = {node["id"]: node for node in verdict["waits"]["nodes"]}
        facts = {"waits in": set(), "not called": set(), "other call": set()}
        waiting = {}
        for edge in verdict["waits"]["edges"]:
            ends = [nodes[edge["from"]], nodes[edge["to"]]]
            if edge["reason"] != "waits in":
                ends.reverse()
            if ends[1]["kind"] == "message":
                if edge["reason"] == "waits in":
                    waiting[ends[1]["id"]] = ends[0]["rank"]
                else:
                    facts.setdefault("peer", set()).add(
                        (waiting[ends[1]["id"]], ends[0]["rank"]))
                continue
            facts[edge["reason"]].add((ends[0]["rank"], ends[1]["description"],
                                       ends[1]["seq"]))
        return facts

    def test_a_collective_that_was_left_out(self):
        verdict = self.verdict("skipped")
        listed = [job for job in json.loads(jobs.probetui(
            "--json", "jobs", "--for", "1").stdout)
            if str(self.port) in (job["job"] or "")]
        self.assertEqual([job["verdict"] for job in listed],
                         [verdict["verdict"]])
        self.assertEqual(verdict["outliers"], [2])
        self.assertEqual(self.facts(verdict)["other call"],
                         {(0, "default_pg", 4), (1, "default_pg", 4),
                          (2, "default_pg", 4)}
                         if (0, "default_pg", 4) in
                         self.facts(verdict)["waits in"] else
                         {(0, "default_pg", 4), (1, "default_pg", 4)})
        self.assertEqual(
            verdict["verdict"],
            "Rank 2 has called all_reduce (waits.py:%d) as collective 4 of "
            "default_pg, ranks 0 and 1 broadcast (waits.py:%d)." % (
                line_of("dist.all_reduce"), line_of("dist.broadcast")))

    def test_another_operation(self):
        verdict = self.verdict("other")
        self.assertEqual(verdict["outliers"], [1])
        self.assertIn((1, "default_pg", 2), self.facts(verdict)["other call"])

    def test_one_that_waits_elsewhere(self):
        verdict = self.verdict("absent")
        self.assertEqual(verdict["outliers"], [1])
        self.assertEqual(self.facts(verdict), {
            "waits in": {(0, "default_pg", 2), (2, "default_pg", 2)},
            "not called": {(1, "default_pg", 2)}, "other call": set()})

    def test_an_open_call_older_than_the_newest(self):
        verdict = self.verdict("older")
        self.assertEqual(verdict["outliers"], [2])
        self.assertEqual(self.facts(verdict), {
            "waits in": {(0, "default_pg", 2), (1, "default_pg", 2)},
            "not called": {(2, "default_pg", 2)}, "other call": set()})

    def test_a_message_and_a_collective(self):
        verdict = self.verdict("mixed")
        self.assertEqual(verdict["outliers"], [1])
        self.assertEqual(self.facts(verdict), {
            "waits in": {(0, "default_pg", 2), (2, "default_pg", 2)},
            "not called": {(1, "default_pg", 2)}, "other call": set(),
            "peer": {(1, 0)}})

    def test_a_ring(self):
        verdict = self.verdict("ring", 4)
        self.assertEqual(self.facts(verdict)["peer"],
                         {(0, 1), (1, 2), (2, 3), (3, 0)})
        self.assertEqual(
            verdict["verdict"],
            "Deadlock: ranks 0 \u2192 1 \u2192 2 \u2192 3 \u2192 0 each wait in recv "
            "(waits.py:%d) for the next." % line_of("dist.recv(", 2))
        # Without --for, too: it is asked for once.
        self.assertEqual(self.ask("verdict")[1]["state"], "hung")

    def test_a_cycle(self):
        verdict = self.verdict("cycle")
        self.assertEqual(verdict["outliers"], [])
        self.assertEqual(self.facts(verdict), {
            "waits in": {(0, "a", 1), (1, "b", 1), (2, "c", 1)},
            "not called": {(1, "a", 1), (2, "b", 1), (0, "c", 1)},
            "other call": set()})
        place = "all_reduce (waits.py:%d)" % line_of("dist.all_reduce")
        self.assertEqual(
            verdict["verdict"],
            "Deadlock: rank 0 waits in {0} of a for rank 1, rank 1 in {0} of b "
            "for rank 2, rank 2 in {0} of c for rank 0.".format(place))

    def test_a_call_that_is_waited_for_later(self):
        verdict = self.verdict("async_ops")
        self.assertEqual(verdict["outliers"], [2])
        self.assertEqual(self.facts(verdict)["not called"],
                         {(2, "default_pg", 4)})

    def test_collectives(self):
        self.verdict("cycle")
        status, told = self.ask("collectives", "--last", "1")
        self.assertEqual(status, 1)
        self.assertEqual(
            [(group["description"], group["ranks"], group["called"],
              group["behind"]) for group in told["groups"]],
            [("default_pg", "0-2", 1, ""), ("a", "0-1", 1, "1"),
             ("b", "1-2", 1, "2"), ("c", "0,2", 1, "0")])
        self.assertEqual(
            [[call["operation"], call["sizes"], call["frame"]["lineno"]]
             for rank in told["ranks"] for call in rank["calls"]],
            [["all_reduce", [[128, 3]], line_of("dist.all_reduce")]] * 3)
        _, told = self.ask("collectives", "--group", "b", "--mismatch")
        self.assertEqual([group["description"] for group in told["groups"]],
                         ["b"])
        run = jobs.probetui("--job", self.port, "collectives", "--group", "x")
        self.assertEqual(run.returncode, 2)

    def test_dumps(self):
        """Of files as the watchdog writes them, of ranks that are gone."""
        self.verdict("dumped")
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        for rank in self.ranks:
            rank.stdin.write(folder.encode() + b"\n")
            rank.stdin.flush()
        for rank in self.ranks:
            self.assertEqual(rank.stdout.readline(), b"dumped\n")
        self.end()
        for ending in "", ".json":
            files = [os.path.join(folder, "fr_rank_%d%s" % (rank, ending))
                     for rank in range(3)]
            run = jobs.probetui("--json", "collectives", *files)
            told = json.loads(run.stdout)
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertEqual(
                [told["groups"][0]["mismatch"]["seq"],
                 [[call["operation"], call["ranks"]] for call in
                  told["groups"][0]["mismatch"]["calls"]]],
                [4, [["broadcast", "0-1"], ["all_reduce", "2"]]])
            self.assertIn("Rank 2 has called all_reduce", told["sentence"])
        run = jobs.probetui("collectives", *files[:1] * 2)
        self.assertEqual(run.returncode, 4)
        self.assertIn("another file is of this rank, too", run.stderr)
        run = jobs.probetui("collectives", PROGRAM)
        self.assertEqual(run.returncode, 3)
        self.assertIn("no Flight Recorder dump", run.stderr)

    def test_stopped_ranks_are_read(self):
        self.start("cycle")
        run = jobs.probetui("--job", self.port, "collectives")
        for rank in self.ranks:
            rank.send_signal(19)
        _, told = self.ask("collectives")
        self.assertEqual([group["description"] for group in told["groups"]],
                         ["default_pg", "a", "b", "c"], run.stdout)


if __name__ == "__main__":
    unittest.main()
