"""Runs functions of stepping_program.py under pdb's rules, or the engine's.

    engine_stepping_target.py pdb|engine FOLDER

As stepping_target.py, which lies in FOLDER: takes a line of JSON for each
scenario, says the stops as a list of "EVENT FILE:LINE FUNCTION"; EVENT of an
exception is "exception TYPE".
"""
import json
import os
import queue
import sys
import threading

sys.path.insert(0, sys.argv[2])
import stepping_target  # noqa: E402
from probetui import inspection  # noqa: E402
from probetui.debugging.engine import Engine  # noqa: E402
from probetui.debugging.specs import Spec  # noqa: E402
from stepping_target import Untouched  # noqa: E402

OUTSIDE = (__file__, stepping_target.__file__)
LIBRARY = ("bdb.py", "threading.py")
STEPS = {"n": "next", "s": "stepIn", "r": "stepOut", "unt": "until",
         "c": "continue"}
LIMIT = 120


class Plain(Untouched):
    """As after set_trace(), which traces all that is on the stack; with
    is_all_traced, at each stop that no step has led to (docs/stepping.md, From
    inside)."""

    def stop(self, event, frame, value=""):
        # So it is after set_continue(); a set_return() of a generator leaves
        # -1, too.
        continues = self.stoplineno == -1 and self.stopframe is self.botframe
        if self.is_all_traced and continues or (
                self.is_waiting and frame.f_code.co_name == "run"):
            step = frame
            while step is not None:
                step.f_trace = self.trace_dispatch
                step = step.f_back
        super().stop(event, frame, value)

    def user_exception(self, frame, exc_info):
        self.stop("exception " + exc_info[0].__name__, frame)


class Follower:
    """The same script, in a thread beside the program."""

    def __init__(self, folder):
        self.folder = folder
        self.engine = Engine()
        self.events = queue.Queue()
        self.engine.on_event = lambda name, body: self.events.put(
            (name, body))

    def begin(self, script):
        self.script = list(script)
        self.stops = []
        self.specs = {}
        self.act(None)

    def act(self, stop):
        """Until it goes on."""
        frames = [frame for frame, _line in stop.frames] if stop else []
        depth = 0
        while self.script:
            command, _, argument = self.script.pop(0).partition(":")
            if command in ("b", "cl"):
                self.set_break(command, argument)
            elif command in ("up", "down"):
                depth += 1 if command == "up" else -1
            elif stop is None:
                assert command == "c", command
                return
            else:
                stop.go(STEPS[command], frames[depth],
                        int(argument) if argument else None)
                return
        self.end(stop)

    def end(self, stop):
        self.engine.leave("test")
        if stop:
            stop.go()

    def set_break(self, command, argument):
        name, _, line = argument.partition(":")
        if command == "cl":
            self.specs.pop(argument, None)
        else:
            self.specs[argument] = Spec(
                len(self.specs) + 1, os.path.join(self.folder, name),
                int(line))
        for bound in self.engine.set_breakpoints(
                "test", list(self.specs.values())):
            assert not bound.refused, bound

    def follow(self):
        """Until the program has ended."""
        while True:
            name, body = self.events.get(timeout=LIMIT)
            if name == "end":
                return
            if name == "stopped":
                self.take(body["stop"])

    def take(self, stop):
        frame, line = stop.frames[0]
        name = frame.f_code.co_filename
        if name in OUTSIDE or os.path.basename(name) in LIBRARY:
            self.stops.append("outside")
            self.end(stop)
            return
        at = stop.at if stop.exception is None else "%s %s" % (
            stop.at, type(stop.exception).__name__)
        self.stops.append("%s %s:%d %s" % (
            at, os.path.basename(name), line, frame.f_code.co_name))
        del frame
        self.act(stop)


def run_engine(folder, order, call):
    follower = Follower(folder)
    begun = threading.Event()

    def follow():
        follower.begin(order["script"])
        begun.set()
        follower.follow()

    thread = threading.Thread(target=follow, daemon=True)
    inspection.hide(thread)
    thread.start()
    begun.wait(LIMIT)
    call()
    follower.events.put(("end", None))
    thread.join(LIMIT)
    follower.engine.close()
    # Nothing of it may remain.
    assert sys.gettrace() is None
    assert threading._trace_hook is None
    if sys.version_info >= (3, 12):
        assert not any(sys.monitoring.get_tool(tool) for tool in range(6))
    return follower.stops


def run_pdb(folder, order, call):
    recorder = Plain(folder, order["script"], "program" in order)
    call(recorder)
    recorder.clear_all_breaks()
    return recorder.stops


def obey(mode, folder, order):
    program = order.get("program", stepping_target.FILES[0])
    space = stepping_target.load(folder, program)
    run = space["run"]
    functions = [space[name] for name in order["functions"]]
    if "script" not in order:
        return stepping_target.run_lines(
            run, functions, os.path.join(folder, program), space["__code__"])
    for _ in range(order["warm"]):
        run(functions)

    def call(recorder=None):
        stepping_target.call(
            lambda: run(functions) if recorder is None
            else recorder.runcall(run, functions), order["in_thread"])

    return (run_engine if mode == "engine" else run_pdb)(folder, order, call)


def main():
    mode, folder = sys.argv[1:]
    sys.dont_write_bytecode = True
    while True:
        order = json.loads(stepping_target.read_line().decode())
        stepping_target.say(obey(mode, folder, order))


if __name__ == "__main__":
    main()
