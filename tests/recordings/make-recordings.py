#!/usr/bin/env python3
"""Writes the recordings that the screen's tests replay.

hung8.jsonl: eight ranks of train.py for 34 s; rank 3 sleeps in load_batch,
the others wait for it in all_reduce. nothing.jsonl: a machine without ranks.
jobs.jsonl: two jobs, of 4 and of 16 ranks.
The messages are those of doc/protocol.md.
"""
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 34
RANKS = 8
ODD = 3
FIRST_PID = 4200
FOLDER = "/home/ana/job"
TORCH = "/opt/venv/lib/python3.11/site-packages/torch/distributed/"
SCRIPT = FOLDER + "/train.py"
C10D = TORCH + "distributed_c10d.py"
LOGGER = TORCH + "c10d_logger.py"

SOURCE = '''\
def load_batch(step, rank):
    if rank == 3 and step == 3:
        while True:
            # storage went away
            time.sleep(1)
    return torch.randn(64, 32)
import time, torch, torch.distributed as dist; from torch import nn, optim
def train():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = nn.Linear(32, 8); opt = optim.SGD(model.parameters(), lr=0.1)
    for step in range(1000):
        x = load_batch(step, rank)
        loss = model(x).pow(2).mean()
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
        opt.step(); opt.zero_grad()
train()
'''

# id, function, qualified name, file, first line, type (0: Python)
CODES = [
    [1, "<module>", "<module>", SCRIPT, 1, 0],
    [2, "train", "train", SCRIPT, 8, 0],
    [3, "load_batch", "load_batch", SCRIPT, 1, 0],
    [4, "wrapper", "_exception_logger.<locals>.wrapper", LOGGER, 79, 0],
    [5, "all_reduce", "all_reduce", C10D, 3184, 0],
]
# Innermost first: [code, line].
WAITING = [[5, 3252], [4, 83], [2, 17], [1, 19]]
SLEEPING = [[3, 5], [2, 13], [1, 19]]
LOSSES = ["0.1131", "0.1204", "0.1187", None, "0.1255", "0.1302", "0.1178",
          "0.1310"]


class Recording:
    def __init__(self):
        self.lines = []
        self.seq = 0

    def add(self, time, message):
        self.seq += 1
        line = {"seq": self.seq}
        line.update(message)
        line["time"] = round(time, 3)
        self.lines.append(json.dumps(line, ensure_ascii=False,
                                     separators=(",", ":")))

    def event(self, time, name, body):
        self.add(time, {"type": "event", "event": name, "body": body})

    def response(self, time, command, body):
        self.add(time, {"type": "response", "request_seq": self.seq + 1,
                        "success": True, "command": command, "body": body})

    def write(self, name):
        with open(os.path.join(HERE, name), "w", encoding="utf-8") as out:
            out.write("\n".join(self.lines) + "\n")


def hello(recording):
    recording.response(0, "initialize",
                       {"protocol": 1, "version": "0.1.0", "host": "gpu01",
                        "uid": 1000, "pid": 4190})


def process(rank):
    return {"pid": FIRST_PID + rank, "rank": rank, "local_rank": rank,
            "group_rank": 0, "world_size": RANKS, "uid": 1000,
            "start_time": 880000 + rank, "age": 60.0, "host": "gpu01",
            "job": "127.0.0.1:29500", "launcher_pid": 4195,
            "launcher": "torchrun", "script": "train.py",
            "script_path": SCRIPT, "cwd": FOLDER, "python": "3.11.7",
            "state": "live"}


def sample(rank, second):
    pid = FIRST_PID + rank
    is_odd = rank == ODD
    thread = {"tid": pid, "name": "MainThread", "is_main": True,
              "has_gil": False, "state": "blocked", "exact": "exact",
              # clock_nanosleep and futex
              "syscall": 230 if is_odd else 202,
              "wchan": "hrtimer_nanosleep" if is_odd else "futex_wait_queue",
              "cpu_ns": 4000000000 + rank, "switches": 1000 + rank,
              "stack": 2 if is_odd else 1}
    body = {"pid": pid, "rank": rank, "epoch": second + 1,
            "time": 1000.0 + second, "held_ns": 0, "syscalls": 4,
            "memory": 412 << 20, "threads": [thread]}
    if second == 0 and rank == 0:
        body["stacks"] = [{"id": 1, "dropped": 0,
                           "codes": [CODES[i] for i in (4, 3, 1, 0)],
                           "frames": WAITING}]
    if second == 0 and is_odd:
        body["stacks"] = [{"id": 2, "dropped": 0, "codes": [CODES[2]],
                           "frames": SLEEPING}]
    return body


def variable(name, kind, value, children=None, address=0x7f2a10000000):
    return {"name": name, "kind": "local", "type": kind, "value": value,
            "address": None if value == "unbound" else hex(address),
            "children": children}


def train_locals(rank):
    model = 0x7f2a20000000 + rank * 0x1000
    values = [variable("step", "int", "3"),
              variable("rank", "int", str(rank)),
              variable("model", "torch.nn.modules.linear.Linear",
                       "<torch.nn.modules.linear.Linear at %#x>" % model,
                       3, model),
              variable("opt", "torch.optim.sgd.SGD",
                       "<torch.optim.sgd.SGD at %#x>" % (model + 64), 5,
                       model + 64)]
    if LOSSES[rank] is None:
        values.append(variable("loss", "", "unbound"))
    else:
        values.append(variable("loss", "float", LOSSES[rank]))
    return values


def variables(rank, depth, values, **more):
    pid = FIRST_PID + rank
    body = {"pid": pid, "tid": pid, "depth": depth, "address": None,
            "epoch": SECONDS + 1, "start": 0, "exactness": "exact",
            "variables": values, "total": len(values)}
    body.update(more)
    return body


def add_answers(recording):
    for rank in range(RANKS):
        for path in (SCRIPT,) if rank == ODD else (SCRIPT, C10D, LOGGER):
            body = {"pid": FIRST_PID + rank, "path": path, "changed": False,
                    "content": SOURCE if path == SCRIPT else None}
            if path != SCRIPT:
                body["error"] = "%s was not recorded." % path
            recording.response(SECONDS, "source", body)
        depth = 1 if rank == ODD else 2
        recording.response(SECONDS, "variables",
                           variables(rank, depth, train_locals(rank)))
    recording.response(SECONDS, "variables", variables(
        ODD, 0, [variable("step", "int", "3"), variable("rank", "int", "3")]))
    model = 0x7f2a20000000 + ODD * 0x1000
    children = [variable("training", "bool", "True"),
                variable("_parameters", "dict",
                         "{'weight': …, 'bias': …}", 2, model + 512),
                variable("_modules", "dict", "{}", 0)]
    recording.response(SECONDS, "variables",
                       variables(ODD, -1, children, tid=0,
                                 address=hex(model)))


def write_hung():
    recording = Recording()
    hello(recording)
    for rank in range(RANKS):
        recording.event(0, "rankAdded", process(rank))
    recording.response(0, "discover",
                       {"looked_at": 57, "uid": 1000, "bystanders": []})
    for second in range(SECONDS + 1):
        for rank in range(RANKS):
            recording.event(second, "sampled", sample(rank, second))
    add_answers(recording)
    recording.write("hung8.jsonl")


def write_nothing():
    recording = Recording()
    hello(recording)
    recording.response(0.1, "discover", {
        "looked_at": 41, "uid": 1000,
        "bystanders": [{"pid": 4183, "name": "python", "script": "train.py",
                        "why": "is Python, but has no rank"}]})
    recording.write("nothing.jsonl")


JOBS = [
    {"ranks": range(4), "job": "127.0.0.1:29500"},
    {"ranks": range(16), "job": "gpu01:41311", "launcher": "mpirun",
     "launcher_pid": 5100, "script": "finetune.py", "uid": 1001,
     "age": 7300.0},
]


def write_two_jobs():
    """The first hangs; the second was started by another user, and moves."""
    recording = Recording()
    hello(recording)
    pids = [[FIRST_PID + 100 * number + rank for rank in job["ranks"]]
            for number, job in enumerate(JOBS)]
    for job, own in zip(JOBS, pids):
        for rank, pid in enumerate(own):
            body = process(rank)
            body.update(job, pid=pid, world_size=len(own))
            del body["ranks"]
            recording.event(0, "rankAdded", body)
    recording.response(0.1, "discover",
                       {"looked_at": 41, "uid": 1000, "bystanders": []})
    for second in range(12):
        for own in pids:
            for rank, pid in enumerate(own):
                body = sample(ODD if own is pids[0] and rank == ODD else 0,
                              second)
                is_first = second == 0 and rank in (0, ODD)
                if not is_first or own is not pids[0]:
                    body.pop("stacks", None)
                body.update(pid=pid, rank=rank)
                body["threads"][0]["tid"] = pid
                if own is pids[1]:
                    body["threads"][0]["switches"] += 500 * second
                recording.event(0.2 + second, "sampled", body)
    recording.write("jobs.jsonl")


if __name__ == "__main__":
    write_hung()
    write_nothing()
    write_two_jobs()
