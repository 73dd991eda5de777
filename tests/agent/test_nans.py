"""Checks for a NaN at each line: their share of the time."""
import sys
import unittest

from sessions import SOURCE

sys.path.insert(0, SOURCE + "/agent")
from probetui.debugging import nans, paths  # noqa: E402


class Clock:
    """Elapsed time passes between any two looks at it, as on a busy machine;
    CPU time passes only by `costs`."""

    def __init__(self, costs):
        self.costs = costs
        self.elapsed = self.used = 0.0

    def monotonic(self):
        self.elapsed += 1
        return self.elapsed

    def thread_time(self):
        self.used += self.costs
        return self.used


class ShareTest(unittest.TestCase):
    def checks(self, costs):
        """Returns how many of three checks, of the same value, were made."""
        values = [1.0]  # a list has no stamp
        frame = sys._getframe()
        nan = nans.Nan(1, paths.parse("values"), frame.f_code)
        made = []

        def find(value, *_):
            made.append(value)

        self.addCleanup(setattr, nans, "time", nans.time)
        self.addCleanup(setattr, nans, "find", nans.find)
        nans.time, nans.find = Clock(costs), find
        for _ in range(3):
            self.assertIsNone(nan.look(frame, "line"))
        self.assertEqual(made, [values] * len(made))
        return len(made)

    def test_a_check_that_takes_long_postpones_the_next(self):
        self.assertEqual(self.checks(1.0), 1)

    def test_a_busy_machine_postpones_none(self):
        self.assertEqual(self.checks(0.0), 3)


if __name__ == "__main__":
    unittest.main()
