#!/usr/bin/env python3
"""Writes recordings of ranks that debuggers hold, for the screen's tests.

stopped8.jsonl: eight ranks of train.py; 0 and 3 stopped at breakpoint 1 for
41 s, the others wait for them in all_reduce. A line before they had stopped,
too, so what changed is known. outside8.jsonl: the same without any debugger:
the node stops them from outside. stopped4.jsonl: four ranks; 1 raised and is
held by its agent, the debugger of 3 waits for a client, the socket of 2 is
stale, and 0 has none. The messages are those of docs/protocol.md.
"""
import os
import runpy

MAKE = runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                   "make-recordings.py"))
FIRST_PID = MAKE["FIRST_PID"]
SCRIPT = MAKE["SCRIPT"]
CODES = MAKE["CODES"]
HELD = 41
BEFORE = [[2, 13], [1, 19]]
STOPPED = [[2, 14], [1, 19]]
RAISED = [[3, 6], [2, 13], [1, 19]]
HOLDERS = (0, 3)
ENDS = ("Leaving ends the debugger: it takes one client only. The process "
        "goes on from where it is.")


def sample(rank, second, stack, stacks=(), is_held=False):
    body = MAKE["sample"](0, second)
    pid = FIRST_PID + rank
    body.pop("stacks", None)
    body.update(pid=pid, rank=rank)
    body["threads"][0].update(tid=pid, stack=stack)
    if is_held:
        body["threads"][0].update(state="stopped", exact="exact")
    if stacks:
        body["stacks"] = list(stacks)
    return body


def stack(number, frames, codes):
    return {"id": number, "dropped": 0, "frames": frames,
            "codes": [CODES[i] for i in codes]}


def binding(number, line, ranks_hits, **more):
    body = {"id": number, "number": number, "path": SCRIPT, "line": line,
            "hits": ranks_hits, "disabled": False, "temporary": False,
            "condition": None, "message": None}
    body.update(more)
    return body


def debugger(rank, state, **more):
    body = {"pid": FIRST_PID + rank, "rank": rank, "state": state,
            "backend": "pdb", "dialect": "pdb", "breakpoints": [],
            "target": "pdb:unix:/tmp/pdb.sock.%d" % rank}
    body.update(more)
    return body


def both():
    return [binding(1, 14, 2, condition="step > 3"),
            binding(2, 16, 0, disabled=True)]


def three():
    watch = binding(3, 0, 0, watch="loss")
    watch.update(path=None, line=None)
    return both() + [watch]


def variables(rank, values, depth=0):
    body = MAKE["variables"](rank, depth, values)
    body["epoch"] = 1
    return body


def train_locals(step, loss):
    variable = MAKE["variable"]
    model = 0x7f2a20003000
    tensor = "torch.Tensor"
    x = "tensor([[%d.0, 0.5, -0.5]])" % step
    return [variable("step", "int", str(step)), variable("rank", "int", "3"),
            variable("x", tensor, x, 4, model + 128),
            variable("model", "torch.nn.modules.linear.Linear",
                     "<torch.nn.modules.linear.Linear at %#x>" % model, 3,
                     model),
            variable("loss", tensor, loss, 2, model + 256)]


def begin(ranks):
    recording = MAKE["Recording"]()
    MAKE["hello"](recording)
    for rank in range(ranks):
        body = MAKE["process"](rank)
        body["world_size"] = ranks
        recording.event(0, "rankAdded", body)
    recording.response(0, "discover",
                       {"looked_at": 57, "uid": 1000, "bystanders": []})
    return recording


def source(recording, time, rank):
    recording.response(time, "source", {
        "pid": FIRST_PID + rank, "path": SCRIPT, "changed": False,
        "content": MAKE["SOURCE"]})


def outside(rank, state, **more):
    """The same of a rank that has no debugger."""
    more.pop("leaving", None)
    more.pop("lease", None)
    body = debugger(rank, state, slots=4, slots_free=2, watchdog=600.0,
                    **more)
    body.update(backend="ptrace", dialect=None,
                target="ptrace:%d" % (FIRST_PID + rank))
    return body


def write_eight(name, debugger, both):
    recording = begin(8)
    stacks = [stack(1, MAKE["WAITING"], (4, 3, 1, 0)), stack(2, BEFORE, ()),
              stack(3, STOPPED, ())]
    for rank in range(8):
        recording.event(0, "sampled", sample(rank, 0, 1, stacks))
        stacks = ()
    for rank in HOLDERS:
        recording.event(0.1, "sampled", sample(rank, 1, 2, (), True))
        recording.event(0.1, "stopped", debugger(
            rank, "stopped", stops=1, reason="step", at="line", held=0.0,
            tid=FIRST_PID + rank, breakpoints=both(), leaving=ENDS))
    recording.response(0.2, "variables",
                       variables(3, train_locals(3, "tensor(0.1210)")))
    for rank in HOLDERS:
        recording.event(0.5, "continued", debugger(
            rank, "running", stops=1, breakpoints=both(), leaving=ENDS))
    for rank in HOLDERS:
        recording.event(1, "sampled", sample(rank, 2, 3, (), True))
        recording.event(1, "stopped", debugger(
            rank, "stopped", stops=2, reason="breakpoint", at="line",
            held=0.0, tid=FIRST_PID + rank, breakpoints=both(), hit=[1],
            description="breakpoint 1", leaving=ENDS, lease=600.0))
    for second in range(2, HELD + 2, 3):
        for rank in range(8):
            is_held = rank in HOLDERS
            recording.event(second, "sampled", sample(
                rank, second, 3 if is_held else 1, (), is_held))
    for rank in range(8):
        source(recording, HELD + 1, rank)
    recording.response(HELD + 1, "variables",
                       variables(3, train_locals(4, "tensor(0.1210)")))
    recording.write(name)


def write_four():
    recording = begin(4)
    stacks = [stack(1, MAKE["WAITING"], (4, 3, 1, 0)),
              stack(2, RAISED, (2,))]
    for rank in range(4):
        recording.event(0, "sampled", sample(rank, 0, 1, stacks))
        stacks = ()
    recording.event(0.1, "debugger", debugger(2, "stale", why=(
        "The socket /tmp/pdb.sock.2 is there, but nobody listens on it; it "
        "can be removed.")))
    recording.event(0.1, "debugger", debugger(3, "waiting", leaving=ENDS))
    recording.event(1, "sampled", sample(1, 1, 2, (), True))
    recording.event(1, "stopped", debugger(
        1, "stopped", dialect="probetui", stops=1, reason="exception",
        at="exception", held=0.0, tid=FIRST_PID + 1, post_mortem=True,
        exception="RuntimeError: boom\nfrom ValueError: no batch",
        lease=1800.0,
        target="pdb:unix:/tmp/pdb-1000/1.sock", description="raised"))
    for second in range(2, 9):
        for rank in range(4):
            is_held = rank == 1
            recording.event(second, "sampled", sample(
                rank, second, 2 if is_held else 1, (), is_held))
    for rank in range(4):
        source(recording, 8, rank)
    variable = MAKE["variable"]
    recording.response(8, "variables", variables(
        1, [variable("step", "int", "3"), variable("rank", "int", "1")]))
    recording.write("stopped4.jsonl")


if __name__ == "__main__":
    write_eight("stopped8.jsonl", debugger, both)
    write_eight("outside8.jsonl", outside, three)
    write_four()
