"""The check of messages against DAP's schema finds what is wrong with one."""
import unittest

import dap_schema

STOPPED = {"seq": 3, "type": "event", "event": "stopped", "body": {
    "reason": "step", "threadId": 12, "hitBreakpointIds": [1, 2]}}
SET = {"seq": 1, "type": "request", "command": "setBreakpoints",
       "arguments": {"source": {"path": "/a.py"}, "breakpoints": [
           {"line": 3, "condition": "x"}]}}
FAILED = {"seq": 2, "type": "response", "request_seq": 1, "success": False,
          "command": "evaluate", "message": "no", "body": {
              "error": {"id": 1, "format": "no"}}}


def with_body(message, **fields):
    name = "body" if "body" in message else "arguments"
    return dict(message, **{name: dict(message[name], **fields)})


class TestSchema(unittest.TestCase):
    def test_what_is_right_passes(self):
        for message in STOPPED, SET, FAILED:
            self.assertEqual(dap_schema.problems(message), [])
            self.assertEqual(dap_schema.own(message), set())
            self.assertTrue(dap_schema.is_known(message))

    def check(self, message, *words):
        found = dap_schema.problems(message)
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def test_what_is_missing_is_named(self):
        self.check(with_body(SET, source=None), "source", "object")
        self.check(with_body(SET, breakpoints=[{}]), "breakpoints[0]", "line")
        self.check({"seq": 1, "type": "event", "event": "stopped"}, "body")

    def test_a_kind_that_is_wrong_is_named(self):
        self.check(with_body(STOPPED, threadId="12"), "threadId", "integer")
        self.check(with_body(STOPPED, threadId=True), "threadId", "integer")
        self.check(with_body(STOPPED, hitBreakpointIds=[1, None]),
                   "hitBreakpointIds[1]")

    def test_a_number_out_of_range_is_named(self):
        self.check(with_body(STOPPED, threadId=2 ** 31), "out of range")
        self.check(with_body(SET, breakpoints=[{"line": -1}]), "line")

    def test_a_choice_that_there_is_not_is_named(self):
        self.check({"seq": 1, "type": "request", "command": "evaluate",
                    "arguments": {"expression": "x", "format": {"hex": 1}}},
                   "hex")
        self.check({"seq": 1, "type": "event", "event": "output",
                    "body": {"output": "x", "group": "ended"}}, "group")

    def test_a_failure_has_its_own_schema(self):
        self.check(with_body(FAILED, error={"id": 1}), "format")

    def test_fields_of_our_own_are_told_apart(self):
        message = with_body(SET, breakpoints=[{"line": 1, "temporary": True}])
        self.assertEqual(dap_schema.problems(message), [])
        self.assertEqual(dap_schema.own(message), {
            "SetBreakpointsRequest.arguments.breakpoints.temporary"})

    def test_messages_of_our_own_are_told_apart(self):
        message = dict(SET, command="until")
        self.assertEqual(dap_schema.problems(message), [])
        self.assertFalse(dap_schema.is_known(message))
        self.assertFalse(dap_schema.is_known(dict(STOPPED, event="odd")))


if __name__ == "__main__":
    unittest.main()
