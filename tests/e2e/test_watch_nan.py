#!/usr/bin/env python3
"""watch-nan tells of the first NaN over several ranks: from outside, of
programs that nobody prepared, and at its line where they have an agent."""
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jobs  # noqa: E402

# A step for each line of its input; "nan" makes its loss one.
PROGRAM = textwrap.dedent("""\
    import array
    import sys


    losses = [1.0]


    def train():
        loss = 1.0
        name = "a text"
        grads = array.array("d", [0.5] * 1000)
        for step, line in enumerate(sys.stdin):
            if line == "nan\\n":
                loss = losses[0] = float("nan")
            if line == "element\\n":
                grads[7] = float("inf")
            print(step, flush=True)


    print("ready", flush=True)
    train()
    """)
LINE = PROGRAM.splitlines().index(
    "    for step, line in enumerate(sys.stdin):") + 1
NAN = PROGRAM.splitlines().index(
    "            loss = losses[0] = float(\"nan\")") + 1
ELEMENT = PROGRAM.splitlines().index(
    "            grads[7] = float(\"inf\")") + 1

TORCH = os.environ.get("PROBETUI_TORCH_PYTHON")
# The same with a model, whose tensor, or gradient, gets one.
MODEL = textwrap.dedent("""\
    import sys

    import torch
    from torch import nn


    def train():
        model = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        model(torch.ones(4)).sum().backward()
        optimizer.step()
        batch = {"x": torch.ones(3), "meta": {"mask": torch.ones(2)},
                 "what is it": torch.ones(2)}
        for step, line in enumerate(sys.stdin):
            with torch.no_grad():
                if line == "weight\\n":
                    model[1].weight[0, 1] = float("nan")
                if line == "grad\\n":
                    model[0].bias.grad[2] = float("inf")
                if line == "batch\\n":
                    batch["meta"]["mask"][:] = float("nan")
                if line == "key\\n":
                    batch["what is it"][0] = float("nan")
                if line == "state\\n":
                    optimizer.state[model[0].bias]["momentum_buffer"][0] = \\
                        float("nan")
            print(step, flush=True)


    print("ready", flush=True)
    train()
    """)


class Rank:
    def __init__(self, test, program=PROGRAM, python=sys.executable,
                 **environment):
        folder = tempfile.TemporaryDirectory(prefix="probetui-nan-")
        test.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "train.py")
        with open(path, "w") as file:
            file.write(program)
        self.process = subprocess.Popen(
            [python, path], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, universal_newlines=True,
            preexec_fn=jobs.end_with_parent,
            env=dict(os.environ, **environment))
        test.addCleanup(self.close)
        test.assertEqual(self.process.stdout.readline(), "ready\n")
        self.pid = self.process.pid

    def send(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def tell(self, word):
        self.send(word)
        return self.process.stdout.readline().strip()

    def end(self):
        self.process.stdin.close()
        return self.process.wait(jobs.LIMIT)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Case(unittest.TestCase):
    program = PROGRAM
    python = sys.executable

    def start(self, count, **environment):
        self.ranks = [Rank(self, self.program, self.python, **environment)
                      for _ in range(count)]
        for rank in self.ranks:
            self.assertEqual([rank.tell("go") for _ in range(3)],
                             ["0", "1", "2"])
        self.pids = ",".join(str(rank.pid) for rank in self.ranks)

    def begin(self, *words):
        """It, once it looks."""
        run = subprocess.Popen(
            [jobs.PROBETUI, "--json", "--pid", self.pids, "watch-nan", *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True)
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        self.assertIn("watch-nan %s: " % " ".join(words),
                      run.stderr.readline())
        return run


class WatchNanTest(Case):

    def check(self, found, rank, **wanted):
        self.assertEqual((found["event"], found["rank"]), ("nan", rank))
        self.assertEqual((found["frame"]["func"], found["frame"]["lineno"]),
                         ("train", LINE))
        self.assertEqual(found["step"], {"name": "step", "value": "3"})
        self.assertIs(found["exact"], False)
        self.assertEqual({key: found[key] for key in wanted}, wanted)

    def test_the_rank_that_has_it(self):
        self.start(3)
        run = self.begin("loss")
        self.ranks[1].tell("nan")
        found = json.loads(run.communicate(timeout=jobs.LIMIT)[0])
        self.check(found, 1, expr="loss", value="nan", nan=1, inf=0)
        self.assertEqual(run.returncode, 1)
        self.assertEqual([rank.end() for rank in self.ranks], [0, 0, 0])

    def test_an_element(self):
        self.start(1)
        run = self.begin("grads")
        self.ranks[0].tell("element")
        found = json.loads(run.communicate(timeout=jobs.LIMIT)[0])
        self.check(found, 0, value="1 Inf of 1,000", nan=0, inf=1)

    def test_a_global_by_an_agent(self):
        self.start(1, PROBETUI="1",
                   PYTHONPATH=os.path.join(jobs.SOURCE, "agent"))
        run = self.begin("losses[0]")
        self.ranks[0].send("nan")
        found = json.loads(run.communicate(timeout=jobs.LIMIT)[0])
        self.assertEqual([found[key] for key in ("rank", "value", "exact")],
                         [0, "nan, since line %d" % NAN, True])

    def test_one_from_before_an_agent_watches(self):
        """The thread reads standard input, so no line comes at which the agent
        could report the value."""
        self.start(1, PROBETUI="1",
                   PYTHONPATH=os.path.join(jobs.SOURCE, "agent"))
        self.ranks[0].tell("nan")
        run = self.begin("losses[0]")
        found = json.loads(run.communicate(timeout=jobs.LIMIT)[0])
        self.assertEqual([found[key] for key in ("rank", "value", "exact")],
                         [0, "nan", False])

    def test_an_agent_tells_at_its_line(self):
        self.start(2, PROBETUI="1", PYTHONPATH=os.path.join(jobs.SOURCE,
                                                            "agent"))
        run = subprocess.Popen(
            [jobs.PROBETUI, "--json", "--pid", self.pids, "-x", "-"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True)
        self.addCleanup(run.kill)
        run.stdin.write("watch-nan grads\nwatch\n")
        run.stdin.flush()
        while True:
            # What it says when both agents have it.
            line = run.stdout.readline()
            if '"watch"' in line:
                watched, = json.loads(line)["breakpoints"]
                break
        self.assertEqual((watched["watch"], watched["set"]),
                         ("grads", "0-1"))
        self.ranks[1].send("element")
        told, said = run.communicate("wait nan timeout 100\n", jobs.LIMIT)
        events = [json.loads(line) for line in told.splitlines()]
        found = [one for one in events if one.get("event") == "nan"]
        self.assertEqual(len(found), 1, told + said)
        self.assertEqual(
            [found[0][key] for key in ("rank", "value", "exact", "step")],
            [1, "1 Inf of 1000, since line %d" % ELEMENT, True,
             {"name": "step", "value": "3"}])
        self.assertEqual(found[0]["frame"]["lineno"], ELEMENT + 1)
        self.assertEqual([rank.end() for rank in self.ranks], [0, 0])

    def test_the_ranks_stop_for_a_script(self):
        self.start(2)
        self.ranks[0].tell("nan")
        script = """
            watch-nan loss stop
            wait nan timeout 100
            wait stopped ranks 0-1
            print step
            continue
            """
        run = subprocess.run(
            [jobs.PROBETUI, "--json", "--pid", self.pids, "-x", "-"],
            input=script, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, timeout=jobs.LIMIT)
        told = [json.loads(line) for line in run.stdout.splitlines()]
        events = {one["event"]: one for one in told if "event" in one}
        self.assertEqual(sorted(events), ["nan", "stopped"], run.stderr)
        self.check(events["nan"], 0)
        self.assertEqual([one["result"] for one in told if "result" in one],
                         ["3", "2"])
        self.assertEqual(run.returncode, 1)
        self.assertEqual([rank.end() for rank in self.ranks], [0, 0])

    def test_nothing_is_found(self):
        self.start(1)
        for expression, status, said in (
                ("loss", 0, ""), ("step", 0, ""),
                ("missing", 3, "missing"), ("name", 3, "neither a number")):
            run = jobs.probetui("--pid", self.pids, "--timeout", "0.5",
                                "watch-nan", expression)
            self.assertEqual(run.returncode, status, run.stderr)
            self.assertIn(said, run.stderr)
            if status == 0:
                self.assertIn(expression + " was finite in all",
                              run.stdout)

    def test_the_ranks_end(self):
        """It ends with them; if it was faster than they, it has looked."""
        self.start(2)
        run = self.begin("loss")
        for rank in self.ranks:
            self.assertEqual(rank.end(), 0)
        told, said = run.communicate(timeout=jobs.LIMIT)
        self.assertIn(run.returncode, (0, 3), said)
        if run.returncode == 0:
            found = json.loads(told)
            self.assertEqual((found["expr"], found["rank"]), ("loss", None))


@unittest.skipUnless(TORCH, "PROBETUI_TORCH_PYTHON names no Python with torch")
class WatchModules(Case):
    """All tensors in it are watched, and the one that has some is named."""
    program = MODEL
    python = TORCH

    def find(self, word, *words):
        run = self.begin(*words)
        self.ranks[1].tell(word)
        told, said = run.communicate(timeout=jobs.LIMIT)
        self.assertEqual(run.returncode, 1, said)
        found = json.loads(told)
        self.assertEqual((found["event"], found["rank"], found["exact"]),
                         ("nan", 1, False))
        self.assertEqual((found["frame"]["func"], found["step"]["name"]),
                         ("train", "step"))
        return [found[key] for key in ("expr", "tensor", "value")]

    def test_what_is_in_it_is_named(self):
        self.start(2)
        self.assertEqual(self.find("batch", "batch"),
                         ["batch", "['meta']['mask']", "2 NaN of 2"])
        self.assertEqual(self.find("state", "optimizer"),
                         ["optimizer", "state[1].momentum_buffer",
                          "1 NaN of 3"])
        self.assertEqual(self.find("grad", "--gradients", "model"),
                         ["model", "0.bias", "1 Inf of 3"])
        self.assertEqual(self.find("weight", "model"),
                         ["model", "1.weight", "1 NaN of 6"])
        run = jobs.probetui("--pid", self.pids, "watch-nan", "model")
        self.assertEqual(run.returncode, 1)
        self.assertIn("Rank 1: 1.weight of model is 1 NaN of 6, in train (",
                      run.stdout)

    def test_nothing_is_found(self):
        self.start(1)
        for words, status, said in (
                (("model",), 0, ""), (("--gradients", "model"), 0, ""),
                (("train",), 3, "neither a number nor a tensor"),
                (("optimizer.defaults",), 3, "no tensor found in the value")):
            run = jobs.probetui("--pid", self.pids, "--timeout", "2",
                                "watch-nan", *words)
            self.assertEqual(run.returncode, status, run.stderr)
            self.assertIn(said, run.stderr)

    def find_by_an_agent(self, word, expression):
        self.start(2, PROBETUI="1",
                   PYTHONPATH=os.path.join(jobs.SOURCE, "agent"))
        run = self.begin(expression)
        self.ranks[1].send(word)
        # What takes long is not looked at at each line, but at a later one.
        while run.poll() is None:
            self.ranks[1].tell("go")
        told, said = run.communicate(timeout=jobs.LIMIT)
        self.assertEqual(run.returncode, 1, said)
        found = json.loads(told)
        self.assertEqual((found["rank"], found["exact"]), (1, True))
        return found["tensor"], found["value"]

    def test_an_agent_names_it_at_its_line(self):
        tensor, value = self.find_by_an_agent("weight", "model")
        self.assertEqual(tensor, "1.weight")
        self.assertRegex(value, "^1 NaN of 6, since line [0-9]+$")

    def test_a_key_with_the_word_of_the_sentence(self):
        tensor, value = self.find_by_an_agent("key", "batch")
        self.assertEqual(tensor, "['what is it']")
        self.assertRegex(value, "^1 NaN of 2, since line [0-9]+$")


if __name__ == "__main__":
    unittest.main()
