"""What an agent and its client said to each other, checked: each is to be a
message of DAP."""
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("SRCDIR") or os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(SOURCE, "tests", "agent"))
import dap_schema  # noqa: E402


class Recorder:
    """.variables are for the environment of a process with an agent."""

    def __init__(self):
        self._file = tempfile.NamedTemporaryFile()
        self.variables = {
            "DAP_LOG": self._file.name, "PYTHONPATH": os.pathsep.join([
                os.path.join(SOURCE, "agent"),
                os.path.join(SOURCE, "tests", "backend", "recorded")])}

    def complaints(self):
        """What the schema says against the messages; closes the file."""
        with self._file as file:
            messages = [json.loads(line.decode()) for line in file]
        return [(problems, message) for message, problems in
                [(each, dap_schema.problems(each)) for each in messages]
                if problems]

    def check(self):
        found = self.complaints()
        assert not found, found
