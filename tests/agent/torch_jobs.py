"""Jobs of torchrun whose ranks have an agent. PROBETUI_TORCH_PYTHON names the
Python."""
import os
import signal
import subprocess
import sys

from agents import LIMIT, Place, connect, wait_for
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "backend"))
import pythons  # noqa: E402

PYTHON = os.environ.get("PROBETUI_TORCH_PYTHON")
WHY_NOT = "PROBETUI_TORCH_PYTHON names no Python with torch"
WHY_NO_TORCH_2 = pythons.why_no_torch_2(PYTHON)
# Importing torch in many processes at once.
BEGIN = 120


class Rank:
    """What daps.Viewer wants to know of its target."""

    def __init__(self, job, number):
        self._job, self._number = job, number

    def client(self):
        return self._job.connect(self._number)


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
            pythons.torchrun(PYTHON, count) + [path], env=kept, stdout=self.output,
            stderr=subprocess.STDOUT, start_new_session=True)
        self.clients = {}
        self.more = []
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

    def connect(self, rank):
        """One more connection to that rank."""
        (pid,) = [pid for pid, client in self.clients.items()
                  if client.get("/")["rank"] == rank]
        client = connect("/tmp/pdb-%d/%d.agent" % (os.geteuid(), pid))
        self.more.append(client)
        return client

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
        for client in list(self.clients.values()) + self.more:
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

