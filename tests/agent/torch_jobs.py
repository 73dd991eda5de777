"""Jobs of torchrun whose ranks have an agent. PROBETUI_TORCH_PYTHON names the
Python."""
import os
import signal
import subprocess

from agents import LIMIT, Place, connect, wait_for

PYTHON = os.environ.get("PROBETUI_TORCH_PYTHON")
WHY_NOT = "PROBETUI_TORCH_PYTHON names no Python with torch"
# Importing torch in many processes at once.
BEGIN = 120


class Session:
    """A viewer of one rank."""

    def __init__(self, client):
        self.client = client
        body = self._post("/dap", "initialize", {"adapterID": "test"})["body"]
        self.id = body["probetui"]["session"]
        self.events = []
        self.next = body["probetui"]["next"]

    def _post(self, path, command, arguments):
        return self.client.post(path, seq=1, type="request", command=command,
                                arguments=arguments)

    def ask(self, command, **arguments):
        return self._post("/dap?session=" + self.id, command, arguments)

    def do(self, command, **arguments):
        told = self.ask(command, **arguments)
        assert told["success"], told
        return told.get("body")

    def refused(self, command, **arguments):
        told = self.ask(command, **arguments)
        assert not told["success"], told
        return told["message"]

    def wait(self, name, condition=lambda body: True, limit=LIMIT):
        """The body of the next event of that name."""
        def look():
            found = self.client.get("/events?session=%s&after=%d&timeout=1"
                                    % (self.id, self.next))
            self.next = found["next"]
            self.events += found["events"]
            while self.events:
                event = self.events.pop(0)
                if event["event"] == name and condition(event["body"]):
                    return event
            return None
        return wait_for(look, "the event " + name, limit)["body"]


class Job:
    def __init__(self, program, count, **environment):
        self.place = Place((PYTHON,))
        path = self.place.write("job.py", program)
        self.output = open(os.path.join(self.place.path, "output"), "w+")
        kept = self.place.environment(
            PROBETUI="1", IPDB_DEBUG=None, RANK=None, WORLD_SIZE=None,
            MASTER_ADDR=None, MASTER_PORT=None, OMP_NUM_THREADS="1",
            **environment)
        self.process = subprocess.Popen(
            [PYTHON, "-m", "torch.distributed.run", "--nproc_per_node",
             str(count), path], env=kept, stdout=self.output,
            stderr=subprocess.STDOUT, start_new_session=True)
        self.clients = {}
        self.count = count

    def text(self):
        with open(self.output.name) as file:
            return file.read()

    def _look(self):
        if self.process.poll() is not None:
            raise AssertionError("the job has ended: " + self.text())
        for pid in self._children():
            path = "/tmp/pdb-%d/%d.agent" % (os.geteuid(), pid)
            if pid in self.clients or not os.path.exists(path):
                continue
            try:
                self.clients[pid] = connect(path)
            except OSError:
                continue
        return len(self.clients) == self.count

    def _children(self):
        path = "/proc/%d/task/%d/children" % ((self.process.pid,) * 2)
        with open(path) as file:
            return [int(word) for word in file.read().split()]

    def ranks(self):
        """A client of each, by rank."""
        wait_for(self._look, "the agents", BEGIN)
        found = {}
        for client in self.clients.values():
            found[client.get("/")["rank"]] = client
        return [found[rank] for rank in sorted(found)]

    def wait_for_output(self, text, count=1):
        def look():
            if self.text().count(text) >= count:
                return True
            if self.process.poll() is not None:
                raise AssertionError("the job has ended: " + self.text())
            return False
        wait_for(look, repr(text), BEGIN)

    def end(self, limit=LIMIT):
        """Its status."""
        return self.process.wait(limit)

    def close(self):
        for client in self.clients.values():
            client.close()
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(LIMIT)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.output.close()
        self.place.close()

