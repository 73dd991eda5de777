"""docs/protocol.md names the requests and events that the node has."""
import glob
import os
import re
import unittest

SOURCE = os.environ.get("SRCDIR") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What the Debug Adapter Protocol has under the same name.
DAP_REQUESTS = {"initialize", "variables", "source", "disconnect", "continue",
                "next", "stepIn", "stepOut", "pause", "terminate",
                "setBreakpoints", "evaluate", "completions", "setVariable",
                "setExceptionBreakpoints", "cancel"}
DAP_EVENTS = {"output", "stopped", "continued"}


def read(*names):
    with open(os.path.join(SOURCE, *names), encoding="utf-8") as file:
        return file.read()


def document():
    return read("docs", "protocol.md").split("\n## Recordings")[0]


def first_column(title):
    """The names in the first column of the table with that heading."""
    table = document().split("\n| %s |" % title)[1].split("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def requests():
    rows = read("backends", "requests.c").split("rows[] = {")[1].split("};")[0]
    return set(re.findall(r'{ "(\w+)",', rows))


def events():
    found = set()
    for path in glob.glob(os.path.join(SOURCE, "backends", "**", "*.c"),
                          recursive=True):
        found |= set(re.findall(r'\b(?:node_emit|tell)\([\w>.-]+,\s*"(\w+)"',
                                read(path)))
    # The state of a debugger says which event tells of it.
    function = read("src", "protocol", "debugger.c").split(
        "\nconst char *debugger_event(")[1].split("\n}")[0]
    return found | set(re.findall(r'"(\w+)"', function))


class TestProtocol(unittest.TestCase):
    def test_requests(self):
        self.assertIn("evidence", requests())
        self.assertEqual(first_column("request"), requests())

    def test_answers_are_known(self):
        """The screen takes the answer to each; it asks all of them."""
        known = re.findall(r'MESSAGE_RESPONSE, "(\w+)"',
                           read("src", "model", "apply.c"))
        self.assertEqual(requests() - set(known), set())

    def test_events(self):
        self.assertIn("rankRemoved", events())
        self.assertEqual(first_column("event"), events())

    def test_what_is_ours_is_said_to_be(self):
        sentence = re.search(r"ours are (.*?)\.\n", document(), re.S).group(1)
        self.assertEqual(set(re.findall(r"`(\w+)`", sentence)),
                         (requests() - DAP_REQUESTS)
                         | (events() - DAP_EVENTS))


if __name__ == "__main__":
    unittest.main()
