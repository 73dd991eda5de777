"""Programs that have the agent put into them as `probetui inject` does it
(backends/inject/staging-dir.c), by themselves."""
import os

from agents import Place, Target
from sessions import AGENT

PACKAGE = os.path.join(AGENT, "probetui")

# Nothing is imported for it that the program has not imported.
PUT_IN = """
import os
def put_in():
    here = os.path.dirname(os.path.abspath(sys.argv[0]))
    folder = here + "/staging"
    os.mkdir(folder)
    os.link(here + "/packed", folder + "/package")
    with open(here + "/probetui/injected.py", "rb") as file:
        code = compile(file.read(), folder + "/start.py", "exec")
    before = len(os.listdir("/proc/self/task"))
    exec(code, {"__name__": "__probetui__", "__file__": folder + "/start.py",
                "PROCESS": os.getpid(), "SECONDS": 60.0})
    while not os.path.exists(folder + "/answer"):
        time.sleep(0.001)
    with open(folder + "/answer") as file:
        told = json.load(file)
    os.unlink(folder + "/answer")
    os.rmdir(folder)
    # The thread that made it listen ends; a probetui of somebody else may
    # have connected.
    end = time.monotonic() + 1
    while len(os.listdir("/proc/self/task")) > before + 1 and \\
            time.monotonic() < end:
        time.sleep(0.001)
    return told["names"] or told["error"]
"""


def pack():
    """The modules' names and sizes, each with its text."""
    packed = b""
    for folder, folders, names in os.walk(PACKAGE):
        folders[:] = sorted(name for name in folders if name[0] != "_")
        for name in sorted(names):
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    text = file.read()
                packed += b"%s %d\n" % (
                    os.path.relpath(path, PACKAGE).encode(), len(text)) + text
    return packed


class InjectedPlace(Place):
    """A folder of a program that has PUT_IN."""

    def __init__(self, argv):
        super().__init__(argv)
        with open(self.path + "/packed", "wb") as file:
            file.write(pack())


def inject(place, begins="", **more):
    """A program that runs PUT_IN."""
    return Target(place, PUT_IN + begins + "\nsay(put_in())\n",
                  IPDB_DEBUG=None, **more)
