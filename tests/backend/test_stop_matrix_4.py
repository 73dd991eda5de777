"""As test_stop_matrix_2.py, of four ranks: a file of its own, so that both run
at once."""
import os
import unittest

from test_stop_limit import PYTHON, WHY_NOT
import test_stop_matrix_2


@unittest.skipUnless(PYTHON, WHY_NOT)
@unittest.skipUnless(os.environ.get("PROBETUI_SOAK"),
                     "it takes half an hour; PROBETUI_SOAK does it")
class TestFourRanks(test_stop_matrix_2.MatrixCase):
    pass


test_stop_matrix_2.add_cells(TestFourRanks, 4)


if __name__ == "__main__":
    unittest.main()
