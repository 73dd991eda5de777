"""Random commands in real and made programs stop in the engine where they stop
in bdb.

As test_engine_stepping.py does, with the programs and commands of
stepping_random.py. A sequence is its seed: PROBETUI_STEPPING_SEED=SEED does
that one alone, PROBETUI_STEPPING_COUNT so many from it on.

Each day's run does the same few sequences on two Pythons; with PROBETUI_SOAK it
does many on all, from a seed that it prints.
"""
import ast
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_engine_stepping  # noqa: E402
sys.path.insert(0, os.path.join(test_engine_stepping.SOURCE, "tests", "e2e"))
import stepping_random  # noqa: E402

FIRST, FEW = 40, 10     # sequences of a day


class RandomCase(test_engine_stepping.Case):
    def lines(self, order):
        order = {key: order[key] for key in ("program", "functions")}
        self.pdb.tell(order)
        return self.pdb.hear()

    def is_end_of_for(self, order, stop):
        """Whether the stop is at a StopIteration in the line of a `for`."""
        event, _, place = stop.partition(" %s:" % order["program"])
        if event != "exception StopIteration":
            return False
        path = os.path.join(self.program.folder, order["program"])
        with open(path) as file:
            line = file.read().split("\n")[int(place.split()[0]) - 1]
        return "for " in line

    def is_in_generator(self, order, stop):
        """Whether the stop is in a generator, or a coroutine, of the
        program."""
        path = os.path.join(self.program.folder, order["program"])
        _, _, place = stop.partition(" %s:" % order["program"])
        line = int((place.split() or ["0"])[0])
        with open(path) as file:
            tree = ast.parse(file.read())
        return any(
            node.lineno <= line <= node.end_lineno and any(isinstance(
                part, (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor,
                       ast.AsyncWith)) for part in ast.walk(node))
            for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))

    def is_known(self, order, wanted, got):
        """bdb still traces a suspended generator that was entered while its
        file had a breakpoint which has been cleared: a GeneratorExit or
        StopIteration in it, and below 3.10 one that ends a `for`, stops bdb
        alone. From 3.12 on the end of a generator is an event in the `for`
        that takes its values only where that `for` ran untraced before, which
        of the two only the engine lets it (docs/stepping.md, From inside)."""
        if any(word.startswith("cl:") for word in order["script"]) and \
                wanted.startswith(("exception GeneratorExit ",
                                   "exception StopIteration ")):
            return self.python.version < (3, 10) or \
                self.is_in_generator(order, wanted)
        return self.python.version >= (3, 12) and \
            self.is_end_of_for(order, got)

    def differs(self, order):
        """None, or the first stop that differs."""
        wanted, got = self.stops(order)
        for number in range(max(len(wanted), len(got))):
            both = [stops[number] if number < len(stops) else ""
                    for stops in (wanted, got)]
            if both[0] != both[1]:
                if self.is_known(order, *both):
                    return None
                return "stop %d of %d: bdb %s, here %s, after %s" % (
                    number, len(wanted), both[0] or "none",
                    both[1] or "none", got[:number][-3:])
        return None

    def try_seed(self, sequences, seed):
        order = sequences.order(seed, self.lines)
        found = self.differs(order)
        if found and stepping_random.ALL:
            order = stepping_random.reduced(order, self.differs)
            found = self.differs(order) or found
        self.assertIsNone(found, "%s %s" % (found, json.dumps(order)))

    def test_random_commands_stop_as_under_bdb(self):
        if not stepping_random.ALL and self.python.version[:2] not in \
                test_engine_stepping.FEW:
            self.skipTest("with PROBETUI_SOAK=1")
        sequences = stepping_random.Sequences([self.program.folder])
        for seed in stepping_random.seeds(FIRST, FEW):
            with self.subTest(seed=seed):
                self.try_seed(sequences, seed)


def load_tests(loader, _tests, _pattern):
    return test_engine_stepping.pythons.load_cases(loader, __name__,
                                                   RandomCase)
