"""docs/protocol.md has the requests and events of src/protocol/*.def."""
import glob
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import protocoldef  # noqa: E402

REQUESTS = set(protocoldef.requests())
EVENTS = set(protocoldef.events())


def document():
    return protocoldef.read("docs", "protocol.md").split(
        "\n## Recordings")[0]


def first_column(title):
    """The names in the first column of the table with that heading."""
    table = document().split("\n| %s |" % title)[1].split("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


class TestProtocol(unittest.TestCase):
    def test_requests(self):
        self.assertIn("evidence", REQUESTS)
        self.assertEqual(first_column("request"), REQUESTS)

    def test_the_arguments_of_each_are_explained(self):
        table = document().split("\n| request |")[1].split("\n\n")[0]
        lines = {name: line for line in table.splitlines()[2:]
                 for name in re.findall(r"`(\w+)`", line.split("|")[1])}
        for name, row in protocoldef.requests().items():
            text = lines[name] + "".join(
                lines.get(other, "") for other in
                re.findall(r"as (?:of|in) `(\w+)`", lines[name]))
            for key, _ in row[-1]:
                self.assertRegex(text, r"`%s\b" % key, name)

    def test_events(self):
        self.assertIn("rankRemoved", EVENTS)
        self.assertEqual(first_column("event"), EVENTS)

    def test_the_table_is_that_of_the_definitions(self):
        """tests/protocoldef.py writes it."""
        text = protocoldef.read("docs", "protocol.md")
        self.assertEqual(
            text.split(protocoldef.BEGIN)[1].split(protocoldef.END)[0],
            protocoldef.table())

    def test_the_node_answers_each_request_that_is_its_own(self):
        handlers = protocoldef.read("backends", "requests.c")
        for name, row in protocoldef.requests().items():
            if not row[2]:
                self.assertIn("[REQUEST_%s] = " % row[0], handlers, name)

    def test_a_backend_sends_each_request_that_it_can_serve(self):
        for column, *names in ((1, "ptrace", "debugger-backend.c"),
                               (2, "http", "agent-backend.c"),
                               (3, "pdb", "pdb-requests.c")):
            text = protocoldef.read("backends", *names)
            for name, row in protocoldef.requests().items():
                # pdb's session, and no question to pdb.
                if row[2] and name != "terminal":
                    found = "[REQUEST_%s] = " % row[0] in text
                    self.assertEqual(not row[2][column].startswith("NO_"),
                                     found, (names, name))

    def test_each_event_is_sent(self):
        text = protocoldef.read("src", "protocol", "debugger.c")
        for path in glob.glob(os.path.join(protocoldef.SOURCE, "backends",
                                           "**", "*.c"), recursive=True):
            text += protocoldef.read(path)
        for name, row in protocoldef.events().items():
            self.assertRegex(text, r"\bEVENT_%s\b" % row[0], name)


if __name__ == "__main__":
    unittest.main()
