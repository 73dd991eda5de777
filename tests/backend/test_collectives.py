"""The process groups and collectives that are read from the memory of ranks,
against what torch says of them in the ranks.

PROBETUI_TORCH_PYTHON names a Python with torch, PROBETUI_TORCH_PYTHONS more.
"""
import json
import os
import socket
import subprocess
import sys
import unittest

import pythons
from nodes import LIMIT, Node, environment

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.environ.get("PROBETUI_TORCH_PYTHON")
WHY_NOT = pythons.why_no_torch_2(PYTHON)
# Before 2.13 the Flight Recorder is off unless one of these is set.
ON = {"TORCH_NCCL_TRACE_BUFFER_SIZE": "2000", "TORCH_FR_BUFFER_SIZE": "2000"}
# After the first look, of one that finds the same entries.
CALLS_MAXIMUM = 60


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Ranks:
    def __init__(self, what, count, **more):
        port = str(free_port())
        self.all = [subprocess.Popen(
            [PYTHON, os.path.join(HERE, "collectives_target.py"), what],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            universal_newlines=True,
            env=dict(environment(), MASTER_ADDR="127.0.0.1", MASTER_PORT=port,
                     RANK=str(rank), WORLD_SIZE=str(count),
                     **dict(ON, **more)))
            for rank in range(count)]

    def wait(self):
        for rank in self.all:
            # gloo of some versions writes a line of its own first.
            if "ready\n" not in iter(rank.stdout.readline, ""):
                raise AssertionError("a rank has ended")

    def truth(self, rank):
        process = self.all[rank]
        process.stdin.write("\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    def close(self):
        for rank in self.all:
            rank.kill()
            rank.communicate()


def without_none(values):
    return {key: value for key, value in values.items() if value is not None}


def frames_of(told, entry):
    """As torch has them; None: the entry has no stack."""
    if "stack" not in entry:
        return None
    codes = {code[0]: code for stack in told["stacks"]
             for code in stack["codes"]}
    stack, = [one for one in told["stacks"] if one["id"] == entry["stack"]]
    return [{"name": codes[code][1], "filename": codes[code][3], "line": line}
            for code, line in stack["frames"]]


def as_torch(told, entry):
    """An entry under the names of torch's dumps, without its group and state."""
    return {
        "record_id": entry["id"], "collective_seq_id": entry["seq"],
        "p2p_seq_id": entry["p2p_seq"], "op_id": entry["op_id"],
        "profiling_name": entry["operation"],
        "is_p2p": entry.get("is_p2p", False),
        "retired": entry.get("is_retired", False),
        "time_created_ns": entry["created"],
        "time_discovered_started_ns": entry.get("started"),
        "time_discovered_completed_ns": entry.get("completed"),
        "timeout_ms": entry["timeout"],
        "input_sizes": entry["input_sizes"],
        "input_dtypes": entry["input_dtypes"],
        "output_sizes": entry["output_sizes"],
        "output_dtypes": entry["output_dtypes"],
        "thread_name": entry["thread_name"],
        "thread_id": str(int(entry["thread"], 16)),
        "frames": frames_of(told, entry)}


def members(ranks):
    """The list; "0-2,5" is [0, 1, 2, 5]."""
    if not isinstance(ranks, str):
        return ranks
    ends = [part.split("-") for part in ranks.split(",")]
    return [rank for part in ends
            for rank in range(int(part[0]), int(part[-1]) + 1)]


@unittest.skipUnless(PYTHON and not WHY_NOT, WHY_NOT)
class TestCollectives(unittest.TestCase):
    maxDiff = None

    def start(self, what, count=2, **more):
        self.ranks = Ranks(what, count, **more)
        self.addCleanup(self.ranks.close)
        self.ranks.wait()
        self.node = Node()
        self.addCleanup(self.node.close)
        self.node.ask("initialize", protocol=1)
        self.node.discover(pids=[rank.pid for rank in self.ranks.all])

    def read(self, rank, count=4096):
        told = self.node.ask("collectives", pid=self.ranks.all[rank].pid,
                             count=count)
        self.calls = told.pop("syscalls")
        for group in told["groups"]:
            group["ranks"] = members(group["ranks"])
        return told

    def group_of(self, told, entry):
        """As torch names it: (name, description)."""
        group = told["groups"][entry["group"]]
        return [group["name"], group["description"]]

    def check_entry(self, told, entry, truth, has_names):
        self.assertIn("stack", entry)
        self.assertEqual(without_none(dict(
            as_torch(told, entry),
            process_group=self.group_of(told, entry) if has_names
            else list(truth["process_group"]),
            state=truth["state"], pg_id=truth["pg_id"])),
            without_none(dict(truth, process_group=list(
                truth["process_group"]))))

    def check_rank(self, rank, has_names=True):
        truth, told = self.ranks.truth(rank), None
        before = None
        # torch retires a call that has ended some time later.
        while truth != before:
            before, told = truth, self.read(rank)
            truth = self.ranks.truth(rank)
        self.assertEqual(told["version"], truth["version"])
        if truth["entries"]:
            self.assertNotIn("missing", told)
        else:
            self.assertIn("no calls on gloo", told["missing"])
        for group, true in zip(told["groups"], truth["groups"]):
            self.assertEqual(
                dict({key: group.get(key, False) for key in true}), true)
        self.assertEqual(len(told["groups"]), len(truth["groups"]))
        self.assertEqual(len(told["entries"]), len(truth["entries"]))
        for entry, true in zip(told["entries"], truth["entries"]):
            self.check_entry(told, entry, true, has_names)
        return told

    def check(self, what, count=2, has_names=True, **more):
        self.start(what, count, **more)
        return [self.check_rank(rank, has_names) for rank in range(count)]

    def test_groups_of_all_and_of_some(self):
        told = self.check("some", 3)
        self.assertEqual([group["description"] for group in
                          told[2]["groups"]], ["default_pg", "everybody"])

    def test_objects(self):
        _, more = pythons.find_library("numpy") or (None, {})
        if subprocess.run([PYTHON, "-c", "import numpy"],
                          env=dict(os.environ, **more),
                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest("torch sends objects by numpy, which %s has not"
                          % PYTHON)
        self.check("objects", **more)

    def test_what_is_not_waited_for_at_once(self):
        self.check("unwaited")

    def test_the_ring_is_overwritten(self):
        for one in self.check("many", TORCH_FR_BUFFER_SIZE="10",
                              TORCH_NCCL_TRACE_BUFFER_SIZE="10"):
            if one["entries"]:
                self.assertEqual(len(one["entries"]), 10)
                self.assertGreater(one["recorded"], 30)

    def test_the_last_ones_of_many(self):
        self.start("many", TORCH_FR_BUFFER_SIZE="16",
                   TORCH_NCCL_TRACE_BUFFER_SIZE="16")
        every = self.read(0)["entries"]
        few = self.read(0, count=3)["entries"]
        self.assertEqual([one["id"] for one in few],
                         [one["id"] for one in every[-3:]])

    def test_detail(self):
        """Each group has a wrapper then, and a group of the wrapper's."""
        self.check("some", 3, has_names=False,
                   TORCH_DISTRIBUTED_DEBUG="DETAIL")

    def test_one_rank_is_behind(self):
        told = self.check("behind")
        first = [one["groups"][0] for one in told]
        self.assertEqual([one["seq"] for one in first], [2, 1])
        self.assertEqual([one["unfinished"] for one in first], [1, 0])
        self.assertEqual(first[0]["operation"], "ALLREDUCE")
        if not told[0]["entries"]:
            return
        self.assertEqual((first[0]["enqueued"], first[0]["completed"]), (2, 1))
        last = told[0]["entries"][-1]
        self.assertFalse(last.get("is_retired"))
        self.assertEqual(frames_of(told[0], last)[-3]["name"], "behind")

    def test_what_was_asked_during_the_import(self):
        self.start("late", 1)
        told = self.read(0)
        self.assertIn("version", told)
        self.assertEqual(told["groups"], [])
        self.ranks.all[0].stdin.write("\n")
        self.ranks.all[0].stdin.flush()
        self.ranks.wait()
        self.check_rank(0)

    def test_the_recorder_is_off(self):
        self.start("behind", TORCH_FR_BUFFER_SIZE="0",
                   TORCH_NCCL_TRACE_BUFFER_SIZE="0")
        told = self.read(0)
        self.assertEqual(told["entries"], [])
        self.assertRegex(told["missing"], "no calls on gloo|is off")
        self.assertEqual(told["groups"][0]["seq"], 2)
        self.assertEqual(told["groups"][0]["operation"], "ALLREDUCE")

    def test_a_stopped_rank_is_read(self):
        self.start("behind")
        before = self.read(0)
        self.node.ask("pause", pid=self.ranks.all[0].pid)
        self.node.event("stopped", self.ranks.all[0].pid)
        self.assertEqual(self.read(0), before)

    def test_how_often_memory_is_read(self):
        self.start("some", 3)
        first = self.read(0, count=64)
        again = self.read(0, count=64)
        print("# %d system calls" % self.calls)
        self.assertLessEqual(self.calls, CALLS_MAXIMUM)
        self.assertEqual(again, first)


class TestNone(unittest.TestCase):
    def test_without_torch(self):
        target = subprocess.Popen(
            [sys.executable, "-c", "print('ready', flush=True); input()"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        target.stdout.readline()
        node = Node()
        self.addCleanup(node.close)
        node.ask("initialize", protocol=1)
        node.discover(pids=[target.pid])
        told = node.ask("collectives", pid=target.pid)
        self.assertEqual((told["groups"], told["entries"]), ([], []))
        self.assertNotIn("version", told)


if __name__ == "__main__":
    unittest.main()
