#!/usr/bin/env python3
"""`collectives FILE...`: Flight Recorders' dumps as torch writes them in JSON,
made here, so that no torch is needed; a recording's collectives."""
import json
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jobs  # noqa: E402


def call(seq, operation, size=4, group="0", name="default_pg"):
    return {"record_id": seq, "pg_id": 0, "process_group": [group, name],
            "collective_seq_id": seq, "p2p_seq_id": 0, "op_id": seq,
            "profiling_name": "nccl:" + operation, "is_p2p": False,
            "time_created_ns": 1700000000 * 10 ** 9 + seq,
            "input_sizes": [[size]], "input_dtypes": ["Float"],
            "output_sizes": [[size]], "output_dtypes": ["Float"],
            "state": "scheduled", "retired": False,
            "frames": [{"name": "train", "filename": "/job/train.py",
                        "line": 17}]}


class TestDumps(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, rank, calls, ranks, group="0", name="default_pg"):
        path = os.path.join(self.folder, "rank_%d" % rank)
        with open(path, "w") as file:
            json.dump({"version": "2.5", "entries": calls, "pg_config": {
                group: {"name": group, "desc": name,
                      "ranks": json.dumps(ranks)}}}, file)
        return path

    def ask(self, *words):
        run = jobs.probetui("--json", "collectives", *words)
        return run.returncode, json.loads(run.stdout), run.stderr

    def test_a_mismatch_that_the_first_rank_has_forgotten(self):
        files = [self.write(0, [call(5, "barrier")], [0, 1, 2]),
                 self.write(1, [call(4, "broadcast")], [0, 1, 2]),
                 self.write(2, [call(4, "all_reduce")], [0, 1, 2])]
        status, told, _ = self.ask(*files)
        self.assertEqual(status, 1)
        self.assertEqual(told["groups"][0]["mismatch"]["seq"], 4)

    def test_disjoint_groups_of_one_name(self):
        files = [self.write(rank, [call(rank + 1, "all_gather", group="7",
                                        name="tp")],
                            [0, 1] if rank < 2 else [2, 3], "7", "tp")
                 for rank in range(4)]
        _, told, _ = self.ask("--group", "tp", "--last", "2", *files)
        self.assertEqual([group["ranks"] for group in told["groups"]],
                         ["0-1", "2-3"])
        self.assertEqual([[each["rank"], [one["seq"] for one in each["calls"]]]
                          for each in told["ranks"]],
                         [[0, [1]], [1, [2]], [2, [3]], [3, [4]]])

    def test_ranks(self):
        files = [self.write(rank, [call(1, "barrier")], [0, 1, 2])
                 for rank in range(3)]
        for words in (["--last", "1", "ranks", "0,2"],
                      ["ranks", "0,2", "--last", "1"]):
            _, told, stderr = self.ask(*(files + words))
            self.assertEqual([each["rank"] for each in told["ranks"]], [0, 2],
                             stderr)
        run = jobs.probetui("collectives", *files, "ranks", "9")
        self.assertEqual(run.returncode, 2)
        self.assertIn("rank 9 does not exist", run.stderr)

    def test_a_file_that_cannot_be_read_hides_no_other(self):
        files = [self.write(rank, [call(4, "broadcast")], [0, 1, 2])
                 for rank in range(2)]
        files.insert(1, os.path.join(self.folder, "cut"))
        with open(files[1], "w") as file:
            file.write("{")
        status, told, stderr = self.ask(*files)
        self.assertEqual(status, 4)
        self.assertIn("cut: ", stderr)
        self.assertEqual(told["groups"][0]["unread"], "2")
        self.assertIsNone(told["sentence"])

    def test_a_job_beside_files(self):
        path = self.write(0, [call(1, "barrier")], [0])
        run = jobs.probetui("--job", "5", "collectives", path)
        self.assertEqual(run.returncode, 2)
        self.assertIn("without a job", run.stderr)


class TestRecording(unittest.TestCase):
    PATH = os.path.join(jobs.SOURCE, "tests", "recordings",
                        "collectives8.jsonl")

    def test_a_report_says_who_waits_for_whom(self):
        run = jobs.probetui("--replay", self.PATH, "report")
        self.assertIn("\nWHO WAITS FOR WHOM\n  ranks 0,2-4,6-7 wait in "
                      "collective 4 of default_pg", run.stdout)
        run = jobs.probetui("--json", "--replay", self.PATH, "report")
        self.assertIn("not called", [
            edge["reason"] for edge in
            json.loads(run.stdout)["verdict"]["waits"]["edges"]])


if __name__ == "__main__":
    unittest.main()
