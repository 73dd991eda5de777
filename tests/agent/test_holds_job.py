"""Four ranks of torchrun with gloo: one is held, the others wait in their
collective for longer than its time-out, and the job goes on, or ends, as it
would have. With PROBETUI_SOAK the time-out is 10 s and the rank is held for
30 s."""
import os
import sys
import time
import unittest

from agents import wait_for
from daps import Viewer
from torch_jobs import WHY_NO_TORCH_2, Job, Rank

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "backend"))
from nodes import Node  # noqa: E402

SOAK = bool(os.environ.get("PROBETUI_SOAK"))
LIMIT, HOLD = (10, 30) if SOAK else (4, 6)
COUNT = 4
PROGRAM = """
import datetime, os, time
import torch, torch.distributed as dist
from torch.distributed.distributed_c10d import _get_default_store
dist.init_process_group("gloo")
rank, ones, stage = dist.get_rank(), torch.ones(4), 0
def load(number):
    batch = {"number": number, "rows": [1, 2, 3]}
    if number == 7:
        raise ValueError("bad batch %d" % number)
    return batch
def step(number):
    if rank == 2:
        load(number)
    dist.all_reduce(ones)
def wait(number):
    while stage < number:
        time.sleep(0.02)
dist.barrier()
# Before that, ranks wait for each other's start.
limit = datetime.timedelta(seconds=LIMIT)
dist.group.WORLD._get_backend(ones.device)._set_default_timeout(limit)
_get_default_store().set_timeout(limit)
print("ready", flush=True)
wait(1)
step(1)
print("reduced", flush=True)
wait(2)
step(7)
""".replace("LIMIT", str(LIMIT))


@unittest.skipIf(WHY_NO_TORCH_2, WHY_NO_TORCH_2)
class TestJobs(unittest.TestCase):
    def start(self, **environment):
        self.job = Job(PROGRAM, COUNT, **environment)
        self.addCleanup(self.job.close)
        self.ranks = self.job.ranks()
        self.job.wait_for_output("ready", COUNT)

    def viewer(self, number):
        viewer = Viewer(Rank(self.job, number))
        self.addCleanup(viewer.close)
        return viewer

    def stage(self, number):
        for client in self.ranks:
            client.value("[globals().update(stage=%d)]" % number)

    def limits(self):
        return [{one["limit"] for one in client.get("/watchdogs")["groups"]}
                for client in self.ranks]

    def wait_for_limits(self, limit):
        """A node that looks at all processes here may have raised them, and
        restores them a little later."""
        wait_for(lambda: self.limits() == [{limit}] * COUNT, "the limits")

    def others_wait(self):
        """Longer than the time-out."""
        def left():
            found = [client.get("/watchdogs")["left"]
                     for client in self.ranks[:2] + self.ranks[3:]]
            return None not in found and min(found)
        wait_for(left, "the others' operations")
        self.assertGreater(left(), HOLD)
        end = time.monotonic() + HOLD
        wait_for(lambda: self.job.process.poll() is None and
                 time.monotonic() > end, "the time to pass", HOLD + 5)
        self.assertTrue(left())

    def test_a_held_rank_does_not_run_into_the_time_out(self):
        self.start()
        viewers = [self.viewer(number) for number in range(COUNT)]
        self.wait_for_limits(LIMIT)
        self.at_a_breakpoint(viewers)
        self.wait_for_limits(LIMIT)
        self.at_an_exception(viewers)
        self.ends_as_it_would_have()

    def at_a_breakpoint(self, viewers):
        path = self.job.place.inside + "/job.py"
        lines = [""] + PROGRAM.split("\n")
        viewers[2].ask("setBreakpoints", source={"path": path}, breakpoints=[
            {"line": lines.index("    dist.all_reduce(ones)"),
             "temporary": True}])
        for viewer in viewers:
            viewer.ask("watchdog", **{"raise": True, "for": "rank 2"})
        self.stage(1)
        thread = viewers[2].event("stopped")["threadId"]
        self.others_wait()
        frame = viewers[2].stack(thread)[0]["id"]
        self.assertEqual(viewers[2].value("ones.sum().item()",
                                          frameId=frame), "4.0")
        viewers[2].ask("continue", threadId=thread)
        self.job.wait_for_output("reduced", COUNT)
        for viewer in viewers:
            viewer.ask("watchdog", **{"raise": False, "for": "rank 2"})

    def at_an_exception(self, viewers):
        for viewer in viewers:
            viewer.ask("catch", on=True, lease=600)
        # At least: a node that knows of that raises them further.
        for limits in self.limits():
            self.assertGreaterEqual(min(limits), 900)
        self.stage(2)
        body = viewers[2].event("stopped")
        self.assertIn("ValueError: bad batch 7", body["text"])
        self.others_wait()
        viewers[2].close()
        viewer = self.viewer(2)
        thread = body["threadId"]
        frames = viewer.stack(thread)
        self.assertEqual([frame["name"] for frame in frames],
                         ["load", "step", "<module>"])
        names = viewer.variables(viewer.scopes(frames[0]["id"])["Locals"])
        self.assertEqual(names["number"]["value"], "7")
        self.assertEqual(viewer.value("sum(batch['rows']) + rank",
                                      frameId=frames[0]["id"]), "8")
        viewer.ask("continue", threadId=thread)

    def ends_as_it_would_have(self):
        self.assertEqual(self.job.end(60), 1)
        text = self.job.text()
        self.assertIn("[rank2]: ValueError: bad batch 7", text)
        self.assertEqual(text.count("ValueError: bad batch 7\n"), 1, text)
        self.assertRegex(text, r"rank +: 2 \(local_rank: 2\)\n +"
                         r"exitcode +: 1 ")
        self.assertNotIn("Timed out", text)

    @unittest.skipUnless(SOAK, "PROBETUI_SOAK is not set")
    def test_it_ends_by_itself_when_the_lease_is_over(self):
        self.start(PROBETUI_CATCH="%ds" % HOLD)
        viewer = self.viewer(2)
        self.stage(2)
        viewer.event("stopped")
        begun = time.monotonic()
        self.ends_as_it_would_have()
        self.assertGreater(time.monotonic() - begun, HOLD - 1)

    @unittest.skipUnless(SOAK, "PROBETUI_SOAK is not set")
    def test_a_node_has_the_others_wait(self):
        """A breakpoint from outside, and agents that know nothing of it."""
        self.start()
        node = Node()
        self.addCleanup(node.close)
        node.ask("initialize", protocol=1)
        pids = [client.get("/")["pid"] for client in self.ranks]
        node.discover(pids=pids)
        lines = [""] + PROGRAM.split("\n")
        node.ask("setBreakpoints", pid=pids[2], breakpoints=[
            {"id": 1, "path": self.job.place.inside + "/job.py",
             "line": lines.index("    dist.all_reduce(ones)")}])
        # Before anybody can be held.
        wait_for(lambda: [min(limits) for limits in self.limits()][:2]
                 == [86400] * 2, "the limits")
        self.stage(1)
        node.event("stopped", pids[2])
        self.others_wait()
        node.wait_for(lambda message: message.get("event") == "debugger" and
                      message["body"].get("watchdog") == 86400)
        node.ask("setBreakpoints", pid=pids[2], breakpoints=[])
        node.ask("continue", pid=pids[2])
        self.job.wait_for_output("reduced", COUNT)
        self.wait_for_limits(LIMIT)


if __name__ == "__main__":
    unittest.main()
