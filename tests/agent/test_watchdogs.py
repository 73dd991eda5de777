"""The time-outs of torch's groups while somebody looks: what can be raised,
and what is told of it."""
import unittest

from agents import wait_for
from daps import Viewer
from torch_jobs import WHY_NO_TORCH_2, Job, Rank

PROGRAM = """
import datetime, os, sys, time
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=10))
half = dist.new_group([0, 1], timeout=datetime.timedelta(seconds=5))
ones = torch.ones(4)
stage = 0
dist.barrier()
print("ready", flush=True)
def wait(number):
    while stage < number:
        time.sleep(0.02)
wait(1)
dist.all_reduce(ones, group=half)
print("reduced", flush=True)
wait(2)
dist.destroy_process_group()
"""


@unittest.skipIf(WHY_NO_TORCH_2, WHY_NO_TORCH_2)
class TestWatchdogs(unittest.TestCase):
    def limits(self, client):
        return [(one["group"], one["backend"], one["limit"], one["own"])
                for one in client.get("/watchdogs")["groups"]]

    def stage(self, ranks, number):
        for client in ranks:
            client.value("[globals().update(stage=%d)]" % number)

    def test_limits_are_raised_and_as_they_were_afterwards(self):
        job = Job(PROGRAM, 2)
        self.addCleanup(job.close)
        ranks = job.ranks()
        job.wait_for_output("ready", 2)
        own = [("0", "gloo", 10.0, 10.0), ("0", "store", 10.0, 10.0),
               ("1", "gloo", 5.0, 5.0)]
        self.assertEqual(self.limits(ranks[0]), own)
        first, second = (Viewer(Rank(job, 0)) for _ in range(2))
        first.ask("watchdog", **{"raise": True, "seconds": 7})
        self.assertEqual(self.limits(ranks[0]), [
            own[0], own[1], ("1", "gloo", 7.0, 5.0)])
        second.ask("watchdog", **{"raise": True, "seconds": 500, "for": "a"})
        self.assertEqual({one[2] for one in self.limits(ranks[0])}, {500.0})
        # It ends with who asked for it.
        second.ask("disconnect")
        self.assertEqual(self.limits(ranks[0])[2][2:], (7.0, 5.0))
        first.ask("watchdog", **{"raise": False})
        self.assertEqual(self.limits(ranks[0]), own)
        self.assertEqual(self.limits(ranks[1]), own)
        self.assertIn("raise", first.message("watchdog"))
        self.assertIn("seconds", first.message(
            "watchdog", **{"raise": True, "seconds": -1}))
        self.leases_and_new_limits(first, ranks[0])
        self.what_is_under_way(first, ranks, job)
        self.stage(ranks, 2)
        self.assertEqual(job.end(), 0)

    def leases_and_new_limits(self, session, client):
        session.ask("watchdog", **{"raise": True, "seconds": 60, "lease": .3})
        self.assertEqual(self.limits(client)[2][2:], (60.0, 5.0))
        # The program's own is the program's.
        client.value("dist.distributed_c10d._set_pg_timeout("
                     "datetime.timedelta(seconds=20), half)")
        wait_for(lambda: self.limits(client)[0][2] == 10, "the lease's end")
        self.assertEqual(self.limits(client)[2], ("1", "gloo", 20.0, 20.0))

    def what_is_under_way(self, session, ranks, job):
        """It keeps the limit that it began with, and that is told."""
        self.stage(ranks[:1], 1)
        wait_for(lambda: ranks[0].get("/watchdogs")["left"], "an operation")
        told = ranks[0].get("/watchdogs")
        self.assertIn("all_reduce", [one["operation"]
                                     for one in told["under_way"]])
        self.assertGreater(told["left"], 15)
        self.assertLessEqual(told["left"], 20)
        session.ask("watchdog", **{"raise": True, "seconds": 60})
        self.assertLessEqual(ranks[0].get("/watchdogs")["left"], 20)
        session.ask("watchdog", **{"raise": False})
        self.stage(ranks[1:], 1)
        job.wait_for_output("reduced", 2)


if __name__ == "__main__":
    unittest.main()
