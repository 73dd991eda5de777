"""Programs that were written for py_debug run unchanged with the agent's folder
in their path."""
import os
import re
import shutil
import subprocess
import sys
import unittest

from sessions import AGENT, LIMIT, RANK, Client, Place

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "backend"))
import pythons  # noqa: E402

RAISES = """
from py3_tools.py_debug import Debugger
@Debugger.attach_on_error()
def main():
    value = 41
    raise RuntimeError("boom")
%s
main()
"""
LATE = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--debug", action="store_true")
parser.add_argument("--mode", default="socket")
options = parser.parse_args()
Debugger.debug_flag = options.debug
Debugger.debug_mode = options.mode
"""


class ProgramCase(unittest.TestCase):
    def setUp(self):
        self.place = Place(self.python.argv)
        self.addCleanup(self.place.close)
        shutil.copytree(os.path.join(AGENT, "py3_tools"),
                        os.path.join(self.place.path, "py3_tools"),
                        ignore=shutil.ignore_patterns("__pycache__"))

    def run_with(self, text, *arguments, commands="", **more):
        process = self.place.start(self.place.write("program.py", text),
                                   *arguments, **more)
        output, errors = process.communicate(commands, timeout=LIMIT)
        return process.returncode, output, errors

    def start(self, text, *arguments, **more):
        process = self.place.start(self.place.write("program.py", text),
                                   *arguments, **more)
        self.addCleanup(process.communicate, timeout=LIMIT)
        self.addCleanup(process.kill)
        return process

    def test_not_enabled(self):
        status, output, errors = self.run_with(RAISES % "", IPDB_DEBUG=None)
        self.assertEqual((status, output), (1, ""))
        self.assertNotIn("probetui:", errors)
        self.assertTrue(errors.endswith("RuntimeError: boom\n"), errors)

    def test_flag_and_mode_from_arguments(self):
        process = self.start(RAISES % LATE, "--debug", IPDB_DEBUG=None,
                             IPDB_MODE="console")
        with Client(self.place.socket()) as client:
            self.assertIn("RuntimeError: boom", client.read())
            self.assertEqual(client.say("p value").strip(), "41")
            client.send("c")
            self.assertEqual(process.wait(LIMIT), 1)

    def test_console_of_a_pipe_from_arguments(self):
        """The environment's mode is the socket."""
        status, output, errors = self.run_with(
            RAISES % LATE, "--debug", "--mode", "console",
            commands="p value + 1\nw\nc\n")
        self.assertEqual(status, 1)
        self.assertIn("42\n", output)
        self.assertIn("main()", output)
        self.assertIn("rank 7 raised RuntimeError: boom", errors)
        self.assertNotIn("terminal", errors)

    def test_console_without_input_continues(self):
        status, _, errors = self.run_with(RAISES % "", IPDB_MODE="console")
        self.assertEqual(status, 1)
        self.assertTrue(errors.endswith("RuntimeError: boom\n"), errors)

    def test_set_trace_in_a_pipe(self):
        status, output, errors = self.run_with(
            "from py3_tools.py_debug import Debugger\n"
            "value = 1\nDebugger.set_trace()\nprint('value', value)\n",
            commands="value = 5\nn\nc\n", IPDB_MODE="console")
        self.assertEqual(status, 0, errors)
        self.assertIn("value 5\n", output)

    def test_post_mortem_on_the_console(self):
        text = ("from py3_tools.py_debug import Debugger\n"
                "Debugger.debug_flag = True\n"
                "try:\n"
                "    1 / 0\n"
                "except ZeroDivisionError:\n"
                "    Debugger.blocking_console_post_mortem(rank=%d)\n"
                "print('continued')\n" % RANK)
        status, output, errors = self.run_with(
            text, commands="p 6 * 7\np Debugger.debug_mode\nc\n",
            IPDB_DEBUG=None)
        self.assertEqual(status, 0, errors)
        self.assertIn("42\n", output)
        # What the others of the class do in the meantime is not changed.
        self.assertIn("'socket'\n", output)
        self.assertTrue(output.endswith("continued\n"), output)
        self.assertIn("ZeroDivisionError", errors)

    def test_other_ranks_wait_and_then_it_is_their_turn(self):
        text = ("from py3_tools.py_debug import Debugger\n"
                "import os\n"
                "try:\n"
                "    1 / 0\n"
                "except ZeroDivisionError:\n"
                "    Debugger.blocking_console_post_mortem(rank=0)\n"
                "    os.write(1, b'rank %s continued\\n'"
                " % os.environ['RANK'].encode())\n"
                "Debugger.debug_mode = 'console'\n"
                "Debugger.set_trace()\n")
        script = self.place.write("ranks.py", text)
        reading, writing = os.pipe()
        ranks = [subprocess.Popen(
            self.place.argv + ["-u", script], stdin=reading,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, env=self.place.environment(
                RANK=str(rank), WORLD_SIZE="2")) for rank in (0, 1)]
        os.close(reading)
        line = ""
        while "rank 1 waits for rank 0" not in line:
            line = ranks[1].stderr.readline()
            self.assertNotEqual(line, "")
        # One line each; none is taken for the other rank.
        os.write(writing, b"c\nc\nc\n")
        os.close(writing)
        for rank, process in enumerate(ranks):
            output, errors = process.communicate(timeout=LIMIT)
            self.assertEqual(process.returncode, 0, errors)
            self.assertIn("rank %d continued" % rank, output)
            self.assertEqual(errors.count("rank %d stopped at" % rank), 1)
            self.assertEqual(errors.count("rank %d raised" % rank), 1 - rank)

    def test_clients_of_the_documented_path(self):
        """nc -U and socat, where they are installed."""
        if self.python.argv[0] == "chroot":
            self.skipTest("the socket is within another root")
        rank = 100000 + os.getpid() % 100000
        path = "/tmp/pdb.sock.%d" % rank
        tools = [["nc", "-U", path],
                 ["socat", "-", "UNIX-CONNECT:" + path]]
        found = [tool for tool in tools if shutil.which(tool[0])]
        if not found:
            self.skipTest("neither nc nor socat is installed")
        for tool in found:
            process = self.start(RAISES % "", IPDB_MODE="socket",
                                 RANK=str(rank), IPDB_SOCK_PATH=None)
            line = process.stderr.readline()
            self.assertIn("waits in pdb at", line)
            said = subprocess.run(
                tool, input="p value + 1\nc\n", stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, universal_newlines=True,
                timeout=LIMIT)
            self.assertIn("42\n", said.stdout, said.stderr)
            self.assertEqual(process.wait(LIMIT), 1)

    def test_web_offers_the_socket(self):
        process = self.start(RAISES % "", IPDB_MODE="web")
        with Client(self.place.socket()) as client:
            client.read()
            client.send("c")
            _, errors = process.communicate(timeout=LIMIT)
        self.assertRegex(errors, "IPDB_MODE=web is not implemented yet: pdb "
                                 "waits on a socket\n")
        self.assertRegex(errors, re.escape(self.place.inside) + "/s.7")

    def test_a_port_of_probing_is_answered_by_a_hint(self):
        for rank, value, count in (("0", None, 1), ("1", None, 0),
                                   ("0", "0", 0)):
            status, _, errors = self.place.run(
                "-c", "", IPDB_DEBUG=None, PROBING_PORT="8080", RANK=rank,
                PROBETUI=value)
            self.assertEqual((status, errors.count("PROBETUI=1")), (0, count),
                             errors)

    def test_an_installed_one_has_precedence(self):
        os.makedirs(os.path.join(self.place.path, "site", "py3_tools"))
        self.place.write("site/py3_tools/__init__.py", "mine = 1\n")
        code = ("import py3_tools, py3_tools.py_debug as p; "
                "print(py3_tools.mine, p.__file__)")
        path = self.place.inside + ":" + self.place.inside + "/site"
        for theirs in (False, True):
            if theirs:
                self.place.write("site/py3_tools/py_debug.py", "")
            status, output, errors = self.place.run("-c", code,
                                                    PYTHONPATH=path)
            self.assertEqual((status, errors), (0, ""))
            self.assertEqual(output, "1 %s%s/py3_tools/py_debug.py\n" % (
                self.place.inside, "/site" if theirs else ""))


def load_tests(loader, tests, _):
    return pythons.load_cases(loader, __name__, ProgramCase)


if __name__ == "__main__":
    unittest.main()
