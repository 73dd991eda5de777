#!/usr/bin/env python3
"""How jobs of torchrun end (flows.py), and what `wait` says of each.

Each takes ten seconds: a few every day, all with PROBETUI_SOAK.
"""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import flows  # noqa: E402

TORCH = os.environ.get("PROBETUI_TORCH_PYTHON")
EVERYDAY = ("chain", "exit0", "size")


@unittest.skipUnless(TORCH, "no Python with torch (PROBETUI_TORCH_PYTHON)")
class TestFlows(unittest.TestCase):
    def check(self, flow):
        if flow.name not in EVERYDAY and "PROBETUI_SOAK" not in os.environ:
            self.skipTest("it takes minutes: PROBETUI_SOAK=1")
        lacks = flows.missing(flow)
        if lacks:
            self.skipTest(lacks)
        found, document, report = flows.run(flow)
        self.assertEqual(found, [], "%s\n%s" % (document, report))
        if document["report"]:
            self.assertIn(document["headline"], report)


def add(flow):
    def test(self):
        self.check(flow)
    setattr(TestFlows, "test_" + flow.name.replace("-", "_"), test)


for each in flows.FLOWS:
    add(each)


if __name__ == "__main__":
    unittest.main()
