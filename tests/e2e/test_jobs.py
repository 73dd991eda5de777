"""A real job is brought into every state that a job hangs in, and judged."""
import json
import os
import sys
import unittest

import jobs

sys.path.insert(0, os.path.join(os.path.dirname(jobs.JOBS), "backend"))
import natives  # noqa: E402
import nodes  # noqa: E402
import pythons  # noqa: E402


def folded(ranks):
    """[0, 1, 2, 4] as "0-2,4"."""
    parts = []
    for rank in sorted(ranks):
        if parts and parts[-1][1] == rank - 1:
            parts[-1][1] = rank
        else:
            parts.append([rank, rank])
    return ",".join("%d" % a if a == b else "%d-%d" % (a, b)
                    for a, b in parts)


def line_of(path, text):
    """The number of the only line of the file that has text in it."""
    with open(path) as file:
        found = [number for number, line in enumerate(file, 1)
                 if text in line]
    assert len(found) == 1, (path, text, found)
    return found[0]


class JudgeCase(unittest.TestCase):
    """Looks at a job with the program and compares with the truth."""

    maxDiff = None
    job = None

    def verdict(self, seconds="0.5", status=(0, 1), arguments=()):
        run = jobs.probetui("verdict", "--json", "--for", seconds, "--job",
                            self.job.port, *arguments)
        self.assertIn(run.returncode, status, run.stderr + run.stdout)
        return json.loads(run.stdout)

    def ranks(self, command="ranks"):
        run = jobs.probetui(command, "--json", "--job", self.job.port)
        self.assertIn(run.returncode, (0, 1, 4), run.stderr)
        return json.loads(run.stdout)

    def frames(self, verdict, rank):
        """Python frames of the class that the rank is in."""
        for row in verdict["classes"]:
            ranks = []
            for part in row["ranks"].split(","):
                first, _, last = part.partition("-")
                ranks += range(int(first), int(last or first) + 1)
            if rank in ranks:
                return [[f["func"], f["file"], f["lineno"]]
                        for f in row["frames"]
                        if f["frame_type"] == "Python"]
        self.fail("rank %d is in no class: %s" % (rank, verdict["classes"]))

    def assert_unharmed(self, ranks):
        """Nobody traces the ranks, and their threads go on."""
        for rank in ranks:
            pid = self.job.pids[rank]
            # A thread that did not stand in time is let go of as it does, by
            # a node that is still about to leave.
            jobs.wait_for(lambda: jobs.tracer(pid) == 0,
                          "the tracer of rank %d to leave" % rank)
            self.assertNotIn(jobs.proc_status(pid)["State"][0], "tTZX")


class Orders(JudgeCase):
    """A job that takes orders, one for all tests of a class."""

    flavour = "peers"
    count = 8
    torchrun = False
    python = sys.executable

    @classmethod
    def setUpClass(cls):
        cls.job = None

    @classmethod
    def tearDownClass(cls):
        if cls.job is not None:
            cls.job.close()

    def setUp(self):
        if type(self).job is None:
            type(self).job = jobs.OrderJob(self.flavour, self.count,
                                           self.python, self.torchrun)
        self.job = type(self).job
        self.odd = self.count - 1 if self.count < 4 else 3
        self.rest = [r for r in range(self.count) if r != self.odd]

    def tearDown(self):
        """A job that was not released is of no use to the next test."""
        if self.job.is_busy:
            self.job.close()
            type(self).job = None

    def enter(self, name, chosen, functions, looks=10):
        """Gives the order and waits until the ranks are there. functions:
        rank to the function it gets into. Returns the truth, by rank."""
        self.job.order(name, chosen)
        return self.job.until(functions, looks)

    def leave(self):
        self.assert_unharmed(self.job.pids)
        self.job.release()

    def check(self, name, function, text, exact=True, leave=True):
        """self.odd is in function at the line with text, and is named."""
        places = {rank: "all_reduce" for rank in self.rest}
        if function is not None:
            places[self.odd] = function
        truth = self.enter(name, [self.odd], places)
        if function is None:
            jobs.wait_for(lambda: self.job.is_marked(self.odd),
                          "rank %d to keep the GIL" % self.odd)
        verdict = self.verdict()
        self.assertEqual(verdict["outliers"], [self.odd], verdict["verdict"])
        self.assertEqual(verdict["world_size"], self.count)
        self.assertEqual(verdict["ranks_found"], self.count)
        self.assertIn("ank %d " % self.odd, verdict["verdict"])
        for rank in self.rest:
            self.assertEqual(self.frames(verdict, rank), truth[rank])
        seen = self.frames(verdict, self.odd)
        if exact:
            self.assertEqual(seen, truth[self.odd])
        line = line_of(self.job.script, text)
        self.assertIn([name, self.job.script, line], seen)
        self.assertIn("orders.py:%d" % line, verdict["verdict"])
        if leave:
            self.leave()
        return verdict


class States:
    """What a job of any size and any launcher hangs in."""

    def test_late(self):
        verdict = self.check("late", "late", "time.sleep(0.1)")
        self.assertEqual(verdict["state"], "hung")
        self.assertIn("all_reduce", verdict["verdict"])
        self.assertIn("late", verdict["verdict"])

    def test_two_groups(self):
        chosen = range(self.count // 2)
        rest = range(self.count // 2, self.count)
        places = {rank: "barrier" for rank in chosen}
        places.update((rank, "all_reduce") for rank in rest)
        truth = self.enter("other", chosen, places)
        verdict = self.verdict()
        self.assertEqual(verdict["outliers"], [], verdict["verdict"])
        self.assertEqual(verdict["state"], "hung")
        self.assertEqual(sorted(c["ranks"] for c in verdict["classes"]),
                         sorted([folded(chosen), folded(rest)]))
        for word in ("all_reduce", "barrier"):
            self.assertIn(word, verdict["verdict"])
        for rank in truth:
            self.assertEqual(self.frames(verdict, rank), truth[rank])
        self.leave()

    def test_together_and_moving(self):
        self.enter("move", [], {rank: "move" for rank in self.job.pids},
                   looks=1)
        before = [self.job.steps(rank) for rank in self.job.pids]
        verdict = self.verdict("1")
        self.assertEqual(verdict["state"], "progressing", verdict["verdict"])
        self.assertEqual(verdict["outliers"], [], verdict["verdict"])
        after = [self.job.steps(rank) for rank in self.job.pids]
        for old, new in zip(before, after):
            self.assertGreater(new, old)
        self.leave()

    def test_together_and_not_moving(self):
        truth = self.enter("together", [], {rank: "all_reduce"
                                            for rank in self.job.pids})
        verdict = self.verdict("1")
        self.assertEqual(verdict["state"], "hung", verdict["verdict"])
        self.assertEqual(verdict["outliers"], [])
        self.assertEqual(len(verdict["classes"]), 1)
        self.assertEqual(self.frames(verdict, 0), truth[0])
        self.assertIn("all_reduce", verdict["verdict"])
        self.leave()

    def test_endless_loop(self):
        self.enter("spin", [self.odd], {rank: "all_reduce"
                                        for rank in self.rest})
        self.job.until({self.odd: "spin"}, looks=1)
        verdict = self.verdict()
        self.assertEqual(verdict["outliers"], [self.odd], verdict["verdict"])
        self.assertIn("spin (orders.py:", verdict["verdict"])
        name, path, line = self.frames(verdict, self.odd)[0]
        self.assertEqual((name, path), ("spin", self.job.script))
        self.assertIn(line, (line_of(path, "while job.page[0] == 0:    # endless"),
                             line_of(path, "turns += 1")))
        self.leave()

    def test_endless_call_that_keeps_the_gil(self):
        self.check("hold", None, "collections.deque(itertools.chain",
                   exact=False)

    def test_raised(self):
        truth = self.enter("fail", [self.odd], {
            **{rank: "all_reduce" for rank in self.rest},
            self.odd: "_shutdown"})
        verdict = self.verdict()
        self.assertEqual(verdict["outliers"], [self.odd], verdict["verdict"])
        self.assertEqual(self.frames(verdict, self.odd), truth[self.odd])
        self.assertIn("ank %d " % self.odd, verdict["verdict"])
        self.assert_unharmed(self.job.pids)


class OddCollective:
    """Of two ranks in two calls none is the odd one."""

    def test_other_collective(self):
        verdict = self.check("other", "barrier", "dist.barrier(group=job."
                             "groups[1])    # another")
        self.assertEqual(verdict["state"], "hung")
        self.assertIn("barrier", verdict["verdict"])

class Gone:
    """A launcher that ends the others with the first rank hides this."""

    def test_gone(self):
        self.job.order("die", [self.odd])
        where = ("wait_for_checkpoint" if self.flavour == "torch"
                 else "barrier")
        self.job.until({rank: where for rank in self.rest})
        jobs.wait_for(lambda: not os.path.exists(
            "/proc/%d" % self.job.pids[self.odd]), "the rank to be gone")
        verdict = self.verdict()
        self.assertEqual(verdict["outliers"], [self.odd], verdict["verdict"])
        self.assertEqual(verdict["state"], "crashed")
        self.assertEqual(verdict["ranks_found"], self.count - 1)
        self.assertIn("ank %d " % self.odd, verdict["verdict"])
        self.assert_unharmed(self.rest)
class TorchOrders(Orders):
    flavour = "torch"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.python = jobs.find_torch()
        if cls.python is None:
            raise unittest.SkipTest("no Python with torch found")
        if cls.torchrun and not pythons.has_torchrun(cls.python):
            raise unittest.SkipTest(pythons.NO_TORCHRUN)


class TorchStates(States):
    """The same, and what only torch has."""

    def test_stuck_data_loader(self):
        verdict = self.check("loader", "_try_get_data", "for _ in DataLoader",
                             leave=False)
        self.assertIn("DataLoader", verdict["verdict"])
        ranks = self.ranks()
        self.assertEqual([r["rank"] for r in ranks], list(range(self.count)))
        self.assertEqual([c["role"] for c in ranks[self.odd]["children"]],
                         ["dataloader"])
        self.leave()


class TestPeers8(States, OddCollective, Gone, Orders):
    pass


class TestPeers2(States, Gone, Orders):
    count = 2


class NativeNames:
    """The native frames of ranks that sleep are those that gdb and py-spy
    see."""

    def native(self, node, pid, **arguments):
        """The merged frames of the main thread."""
        return natives.sample(node, pid, self.stacks, **arguments)[1][pid][0]

    def look(self):
        places = {rank: "all_reduce" for rank in self.rest}
        places[self.odd] = "late"
        self.enter("late", [self.odd], places)
        node = nodes.Node()
        self.addCleanup(node.close)
        node.ask("initialize", protocol=1)
        node.discover(pids=list(self.job.pids.values()))
        self.stacks = natives.Stacks()
        return node

    def test_native_names_of_gdb(self):
        node = self.look()
        for rank in (0, self.odd):
            pid = self.job.pids[rank]
            frames = self.native(node, pid, internals=True)
            names = natives.gdb_names(pid)
            if names is None:
                self.skipTest("gdb is not here to compare with")
            # What gdb makes of what templates take is spelt otherwise.
            self.assertEqual(
                [natives.bare(f.qualname or f.func) for f in frames
                 if f.is_native],
                [natives.bare(name) for name in names[pid]])
        self.leave()

    def test_native_names_of_py_spy(self):
        py_spy = natives.find_py_spy(self.python)
        if py_spy is None:
            self.skipTest("py-spy is not here to compare with; PY_SPY may "
                          "name it")
        node = self.look()
        for rank in (0, self.odd):
            pid = self.job.pids[rank]
            names = [natives.bare(frame.qualname or frame.func)
                     for frame in self.native(node, pid, internals=True)]
            for name in natives.py_spy_names(py_spy, pid):
                self.assertIn(natives.bare(name), names)
        self.leave()


class TestTorch2(NativeNames, TorchStates, Gone, TorchOrders):
    count = 2


class TestTorchMany(Gone, TorchOrders):
    count = 8 if os.environ.get("PROBETUI_SOAK") else 4


class TestTorchrun8(TorchStates, OddCollective, TorchOrders):
    torchrun = True


class TestRanks(JudgeCase):
    """The demo's job."""

    def is_hung(self):
        """Not one that is late at its start, or at another step."""
        # Ranks that only just start cannot be read yet: status 4.
        verdict = self.verdict(status=(0, 1, 4))
        return (verdict["outliers"], verdict["state"]) == ([3], "hung") and \
            "load_batch (ranks.py:5)" in verdict["verdict"]

    def test_rank_3_hangs_at_step_3(self):
        self.job = jobs.RanksJob()
        self.addCleanup(self.job.close)
        jobs.wait_for(self.is_hung, "rank 3 to hang")
        verdict = self.verdict()
        self.assertEqual(verdict["state"], "hung")
        path = os.path.join(jobs.JOBS, "ranks.py")
        self.assertEqual(self.frames(verdict, 3)[0],
                         ["load_batch", path, line_of(path, "time.sleep(1)")])
        self.assertIn("load_batch (ranks.py:5)", verdict["verdict"])
        self.assertIn("all_reduce", verdict["verdict"])
        self.assert_unharmed(range(8))


class TestSpawn(JudgeCase):
    """Ranks of torch.multiprocessing.spawn: RANK is set after the start."""

    def is_late(self):
        """Where it sleeps, not on its way."""
        verdict = self.verdict(status=(0, 1, 4))
        return verdict["outliers"] == [1] and verdict["ranks_found"] == 2 \
            and "work (spawn.py:" in verdict["verdict"]

    def test_late(self):
        python = jobs.find_torch()
        if python is None:
            self.skipTest("no Python with torch found")
        self.job = jobs.Launched([python, os.path.join(jobs.JOBS, "spawn.py"),
                                  str(jobs.free_port())])
        self.addCleanup(self.job.close)
        self.job.port = self.job.process.args[-1]
        self.job.pids = {}
        for _ in range(2):
            _, rank, pid = self.job.process.stdout.readline().split()
            self.job.pids[int(rank)] = int(pid)
        jobs.wait_for(self.is_late, "rank 1 to be named")
        verdict = self.verdict()
        self.assertEqual(verdict["ranks_found"], 2)
        self.assertIn("work (spawn.py:", verdict["verdict"])
        self.assertEqual(sorted(r["pid"] for r in self.ranks()),
                         sorted(self.job.pids.values()))
        self.assert_unharmed([0, 1])


def load_tests(_loader, standard, _pattern):
    """What a job does not survive comes last in each class: eight ranks of
    torch take ten seconds to start."""
    last = ("test_raised", "test_gone")
    return unittest.TestSuite(
        unittest.TestSuite(sorted(
            suite, key=lambda test: test.id().rpartition(".")[2] in last))
        for suite in standard)


if __name__ == "__main__":
    unittest.main()
