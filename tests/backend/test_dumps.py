"""Pickles, and dumps of torch's Flight Recorder in files, against what Python
reads in them.

PROBETUI_TORCH_PYTHON names a Python with torch.
"""
import json
import os
import pickle
import random
import shutil
import subprocess
import tempfile
import unittest

import pythons
from test_collectives import PYTHON, Ranks, as_torch, without_none

PROBE = os.path.join(os.environ.get("BUILDDIR", "."), "tests", "backend",
                     "dump-probe")
WHY_NOT = pythons.why_no_torch_2(PYTHON)
STATES = {(False, False): "scheduled", (True, False): "started",
          (True, True): "completed", (False, True): "completed"}


def read_files(kind, paths):
    """What dump-probe reads in the files."""
    run = subprocess.run([PROBE, kind] + paths, stdout=subprocess.PIPE,
                         universal_newlines=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


class Folder(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="probetui-dumps-")
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return path


class TestPickle(Folder):
    def make_value(self, depth, shared):
        """Plain data; some of it stands in it more than once."""
        kinds = ["number", "text", "constant", "shared"]
        kind = self.random.choice(kinds + ["list", "tuple", "dict"] * depth)
        if kind == "number":
            bits = self.random.choice((1, 8, 9, 16, 17, 31, 32, 63))
            number = self.random.getrandbits(bits)
            return self.random.choice((number, -number, number / 256.0))
        if kind == "text":
            return "".join(self.random.choice("abc\u00e9\u20ac\U0001f600")
                           for _ in range(self.random.randrange(20)))
        if kind == "constant":
            return self.random.choice((None, True, False))
        if kind == "shared":
            return self.random.choice(shared) if shared else None
        parts = [self.make_value(depth - 1, shared)
                 for _ in range(self.random.randrange(6))]
        if kind == "tuple":
            value = tuple(parts)
        elif kind == "list":
            value = parts
        else:
            value = {"k%d" % i: part for i, part in enumerate(parts)}
        shared.append(value)
        return value

    def test_plain_data(self):
        self.random = random.Random(7)
        values = [self.make_value(5, []) for _ in range(300)]
        values.append([str(number) for number in range(1000)] * 2)
        values.append(list(range(-3000, 3000)))
        read = read_files("pickle", [
            self.write(str(i), pickle.dumps(value, 2))
            for i, value in enumerate(values)])
        for one, value in zip(read, json.loads(json.dumps(values))):
            self.assertEqual(one, value)
        self.assertEqual(len(read), len(values))

    def test_values_that_contain_themselves(self):
        inner = []
        recursive = [inner, {"k": inner}]
        inner.append(recursive)
        read = read_files("pickle", [
            self.write(str(i), pickle.dumps(value, 2))
            for i, value in enumerate((inner, recursive, [inner, inner]))])
        self.assertEqual([list(one) for one in read], [["error"]] * 3)

    def test_other_protocols(self):
        read = read_files("pickle", [
            self.write(str(protocol), pickle.dumps([1], protocol))
            for protocol in (0, 1, 3, 4)])
        self.assertIn("has no opcode", read[0]["error"])
        # That of protocol 1 has nothing which protocol 2 has not.
        self.assertEqual(read[1], [1])
        self.assertEqual([one["error"] for one in read[2:]], [
            "the pickle has protocol %d: only protocol 2 is read" % protocol
            for protocol in (3, 4)])

    def test_objects(self):
        for value in (1j, {1, 2}, OSError(2), os.system, unittest.TestCase):
            path = self.write("object", pickle.dumps(value, 2))
            self.assertIn("names or calls a Python object",
                          read_files("pickle", [path])[0]["error"])


@unittest.skipUnless(PYTHON and not WHY_NOT, WHY_NOT)
class TestDumps(Folder):
    def dump(self, what, count, **more):
        """The answers of the ranks, which have written their dumps."""
        ranks = Ranks(what, count, **more)
        self.addCleanup(ranks.close)
        ranks.wait()
        answers = []
        for rank in ranks.all:
            rank.stdin.write(self.folder + "\n")
            rank.stdin.flush()
            answers.append(json.loads(rank.stdout.readline()))
        return answers

    def check_entry(self, read, entry, truth):
        group = read["groups"][entry["group"]]
        self.assertEqual(without_none(dict(
            as_torch(read, entry),
            process_group=[group["name"], group["description"]],
            state=STATES["started" in entry, "completed" in entry])), truth)

    def check_groups(self, read, truth):
        """What pg_status says, under the number that the entries have."""
        ids = {entry["process_group"][0]: str(entry["pg_id"])
               for entry in truth["entries"]}
        for group in read["groups"]:
            status = truth["pg_status"][ids[group["name"]]]
            for ours, theirs in (("enqueued", "last_enqueued_collective"),
                                 ("started", "last_started_collective"),
                                 ("completed", "last_completed_collective")):
                self.assertEqual(group.get(ours, -1), int(status[theirs]))

    def check_file(self, path, rank, truth):
        read, = read_files("dump", [path])
        self.assertNotIn("error", read)
        self.assertEqual(read["rank"], rank)
        read = read["collectives"]
        entries = truth.get("entries", [])
        self.assertEqual(len(read["entries"]), len(entries))
        self.assertEqual("missing" in read, not entries)
        self.assertEqual(read.get("recorded", 0),
                         entries[-1]["record_id"] + 1 if entries else 0)
        for entry, true in zip(read["entries"], entries):
            known = {key: value for key, value in true.items()
                     if value is not None and key != "pg_id"
                     and not (key.startswith("time_") and value == 0)}
            known["process_group"] = list(true["process_group"])
            self.check_entry(read, entry, known)
        if entries:
            self.check_groups(read, truth)
        self.equal += len(entries)
        return read

    def check(self, what, count, **more):
        """Returns what was read of each rank's pickle and the rank's answer."""
        self.equal = 0
        results = []
        for rank, answer in enumerate(self.dump(what, count, **more)):
            # torch before 2.9 records nothing on gloo; its dump is NCCL's.
            names = [name for name in ("fr", "nccl") if os.path.exists(
                os.path.join(self.folder, "%s_%d" % (name, rank)))]
            for name in names:
                path = os.path.join(self.folder, "%s_%d" % (name, rank))
                with open(path, "rb") as file:
                    read = self.check_file(path, rank, pickle.load(file))
                with open(path + ".json") as file:
                    self.check_file(path + ".json", rank, json.load(file))
                if name == "fr":
                    results.append((read, answer))
        print("# torch %s: %d entries are equal" % (answer["version"],
                                                   self.equal))
        return results

    def test_groups_of_all_and_of_some(self):
        for read, answer in self.check("some", 3):
            seqs = {group["name"]: group["seq"] for group in answer["groups"]}
            for group in read["groups"]:
                self.assertEqual(group["seq"], seqs[group["name"]])
                self.assertEqual(group["backend"], "gloo")

    def test_what_is_not_waited_for_at_once(self):
        self.check("unwaited", 2)

    def test_a_stack_has_a_frame_twice(self):
        for read, _ in self.check("recursive", 2):
            self.assertGreater(len(read["stacks"][0]["frames"]), 6)

    def test_the_ring_is_overwritten(self):
        for read, _ in self.check("many", 2, TORCH_FR_BUFFER_SIZE="10",
                                  TORCH_NCCL_TRACE_BUFFER_SIZE="10"):
            self.assertEqual(len(read["entries"]), 10)
            self.assertGreater(read["recorded"], 30)

    def test_one_rank_is_behind(self):
        results = self.check("behind", 2)
        if not results:
            return
        self.assertEqual([read["groups"][0]["seq"] for read, _ in results],
                         [2, 1])
        self.assertEqual([read["groups"][0]["rank"] for read, _ in results],
                         [0, 1])


if __name__ == "__main__":
    unittest.main()
