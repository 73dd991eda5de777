"""Viewers: what speaks DAP to an agent."""
from agents import wait_for


class Failed(Exception):
    """A response that says no."""

    def __init__(self, response):
        super().__init__(response["message"])
        self.body = response["body"]


class Viewer:
    """A session. `target` gives its connections: one for requests, one that
    waits for events."""

    def __init__(self, target, **arguments):
        self.client = target.client()
        self.waiter = target.client()
        self.count = 0
        self.session = None
        self.capabilities = self.ask("initialize", adapterID="probetui",
                                     **arguments)
        self.session = self.capabilities["probetui"]["session"]
        self.after = self.capabilities["probetui"]["next"]
        self.past = []

    def send(self, command, client=None, **arguments):
        """The whole answer of HTTP."""
        self.count += 1
        path = "/dap"
        if self.session is not None:
            path += "?session=" + self.session
        return (client or self.client).ask("POST", path, {
            "seq": self.count, "type": "request", "command": command,
            "arguments": arguments})

    def response(self, command, **arguments):
        answer = self.send(command, **arguments)
        assert answer.status == 200, answer
        told = answer.value
        assert (told["type"], told["command"], told["request_seq"]) == (
            "response", command, self.count), told
        return told

    def ask(self, command, **arguments):
        """The body of the response."""
        told = self.response(command, **arguments)
        if not told["success"]:
            raise Failed(told)
        return told.get("body")

    def message(self, command, **arguments):
        """Of a response that says no."""
        told = self.response(command, **arguments)
        assert not told["success"], told
        assert told["body"]["error"]["id"] == 1, told
        return told["message"]

    def poll(self, timeout=60):
        """Events, once there are any."""
        told = self.waiter.get("/events?session=%s&after=%d&timeout=%d" % (
            self.session, self.after, timeout))
        self.after = told["next"]
        self.past += told["events"]
        return told["events"]

    def event(self, name, timeout=60):
        """The body of the next one of that name; those before it are
        gone."""
        while True:
            while self.past:
                event = self.past.pop(0)
                if event["event"] == name:
                    return event["body"]
            assert self.poll(timeout), "there was no event " + name

    def main_thread(self):
        return self.ask("threads")["threads"][0]["id"]

    def stack(self, thread_id=None, **arguments):
        return self.ask("stackTrace", threadId=thread_id or
                        self.main_thread(), **arguments)["stackFrames"]

    def scopes(self, frame_id):
        """variablesReference by name."""
        return {scope["name"]: scope["variablesReference"] for scope in
                self.ask("scopes", frameId=frame_id)["scopes"]}

    def variables(self, reference, **arguments):
        """By their names."""
        return {variable["name"]: variable for variable in self.ask(
            "variables", variablesReference=reference,
            **arguments)["variables"]}

    def value(self, expression, **arguments):
        return self.ask("evaluate", expression=expression,
                        **arguments)["result"]

    def run(self, code, **arguments):
        return self.ask("evaluate", expression=code, context="repl",
                        **arguments)

    def labels(self, text, **arguments):
        return [target["label"] for target in self.ask(
            "completions", text=text, **dict(
                dict(column=len(text) + 1), **arguments))["targets"]]

    def close(self):
        self.client.close()
        self.waiter.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def wait_until_over(viewer, client):
    """Another client sees that the session is gone."""
    wait_for(lambda: client.value(
        "from probetui import agent\nlen([session for session in "
        "agent._agent._debugger.sessions.all() if session.id == %r])"
        % viewer.session) == "0", "the session to end")
    assert viewer.send("threads", client).status == 404
