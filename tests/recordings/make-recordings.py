#!/usr/bin/env python3
"""Writes the recordings that the screen's tests replay.

hung8.jsonl: eight ranks of train.py for 34 s; rank 3 sleeps in load_batch,
the others wait for it in all_reduce. nothing.jsonl: a machine without ranks.
jobs.jsonl: two jobs, of 4 and of 16 ranks.
gpu01.jsonl, gpu02.jsonl: one job of 8 ranks as its two machines recorded it;
the second began three seconds later, and the pids are the same.
native.jsonl: the eight ranks of hung8 for 2 s, with native frames, by which
rank 5 is elsewhere than the others that wait.
many.jsonl: 1,024 ranks on 128 machines; all but nine wait in reduce_scatter.
It is written only when it is asked for, `make-recordings.py many FOLDER`, as
it is large. The messages are those of docs/protocol.md.
"""
import json
import os
import sys

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

    def write(self, name, folder=HERE):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
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


def add_answers(recording, second=SECONDS):
    for rank in range(RANKS):
        for path in (SCRIPT,) if rank == ODD else (SCRIPT, C10D, LOGGER):
            body = {"pid": FIRST_PID + rank, "path": path, "changed": False,
                    "content": SOURCE if path == SCRIPT else None}
            if path != SCRIPT:
                body["error"] = "%s was not recorded." % path
            recording.response(second, "source", body)
        depth = 1 if rank == ODD else 2
        recording.response(second, "variables",
                           variables(rank, depth, train_locals(rank)))
    recording.response(second, "variables", variables(
        ODD, 0, [variable("step", "int", "3"), variable("rank", "int", "3")]))
    model = 0x7f2a20000000 + ODD * 0x1000
    children = [variable("training", "bool", "True"),
                variable("_parameters", "dict",
                         "{'weight': …, 'bias': …}", 2, model + 512),
                variable("_modules", "dict", "{}", 0)]
    recording.response(second, "variables",
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


LIBRARIES = "/opt/venv/lib/python3.11/site-packages/torch/lib/"
TORCH_CPU = LIBRARIES + "libtorch_cpu.so"
TORCH_PYTHON = LIBRARIES + "libtorch_python.so"
NATIVE_CODES = [
    [10, "pthread_cond_wait", None, "./nptl/pthread_cond_wait.c", 0, 1],
    [11, "std::condition_variable::wait",
     "std::condition_variable::wait(std::unique_lock<std::mutex>&)",
     "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30", 0, 1],
    [12, "c10d::Work::wait", "c10d::Work::wait(std::chrono::duration<long>)",
     TORCH_CPU, 0, 1],
    [13, "pybind11::cpp_function::initialize<…>::{lambda#3}::_FUN", None,
     TORCH_PYTHON, 0, 1],
    [14, "pybind11::cpp_function::dispatcher", None, TORCH_PYTHON, 0, 1],
    [15, "clock_nanosleep", None, "/usr/lib/x86_64-linux-gnu/libc.so.6", 0, 1],
    [16, "time_sleep", None, "/usr/lib/libpython3.11.so.1.0", 0, 1],
    [17, "epoll_wait", None, "/usr/lib/x86_64-linux-gnu/libc.so.6", 0, 1],
    [18, "gloo::transport::tcp::Loop::run", None, TORCH_CPU, 0, 1],
    [19, "libtorch_cpu.so+0x51c2a0", None, TORCH_CPU, 0, 1],
]
BINDING = [[13, 0], [14, 0]]
# Innermost first, as above; the Python frames are those of the stack.
NATIVE = {
    3: [[10, 503], [11, 0], [12, 0]] + BINDING + WAITING,
    4: [[15, 0], [16, 0]] + SLEEPING,
    5: [[17, 0], [18, 0], [19, 0], [12, 0]] + BINDING + WAITING,
}


def native_sample(rank, second):
    body = sample(rank, second)
    thread = body["threads"][0]
    thread["native"] = 4 if rank == ODD else 5 if rank == 5 else 3
    if second == 0 and rank in (0, ODD, 5):
        stack = thread["native"]
        codes = {0: (0, 1, 2, 3, 4), ODD: (5, 6), 5: (7, 8, 9)}[rank]
        body.setdefault("stacks", []).append({"id": stack, "dropped": 0,
                               "codes": [NATIVE_CODES[i] for i in codes],
                               "frames": NATIVE[stack]})
    return body


def write_native():
    recording = Recording()
    hello(recording)
    for rank in range(RANKS):
        recording.event(0, "rankAdded", process(rank))
    recording.response(0, "discover",
                       {"looked_at": 57, "uid": 1000, "bystanders": []})
    for second in (0, 1, 2):
        for rank in range(RANKS):
            recording.event(second, "sampled", native_sample(rank, second))
    add_answers(recording, 2)
    recording.write("native.jsonl")


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


A_MACHINE = 4
CLOCK = 1795231915  # 2026-11-21 03:31:55 UTC


def machine_sample(rank, second):
    """As sample(), with the pid of one machine, and its stacks once."""
    body = sample(rank, second)
    pid = FIRST_PID + rank % A_MACHINE
    body.pop("stacks", None)
    body.update(pid=pid)
    body["threads"][0]["tid"] = pid
    if second == 0 and rank % A_MACHINE == 0:
        body["stacks"] = [
            {"id": 1, "dropped": 0, "frames": WAITING,
             "codes": [CODES[i] for i in (4, 3, 1, 0)]},
            {"id": 2, "dropped": 0, "frames": SLEEPING, "codes": [CODES[2]]}]
    return body


def write_machine(number):
    recording = Recording()
    host = "gpu%02d" % (number + 1)
    recording.event(0, "snapshot", {"host": host, "wanted": {}, "stacks": [],
                                    "ranks": [], "wall": CLOCK + 3 * number})
    ranks = range(A_MACHINE * number, A_MACHINE * (number + 1))
    for rank in ranks:
        body = process(rank)
        body.update(pid=FIRST_PID + rank % A_MACHINE, host=host,
                    local_rank=rank % A_MACHINE, group_rank=number,
                    job="gpu01:29500", launcher_pid=4195 + number)
        recording.event(0, "rankAdded", body)
    recording.response(0, "discover",
                       {"looked_at": 57, "uid": 1000, "bystanders": []})
    for second in range(SECONDS + 1):
        for rank in ranks:
            recording.event(second, "sampled", machine_sample(rank, second))
    recording.response(SECONDS, "source", {
        "pid": FIRST_PID + ODD, "path": SCRIPT, "changed": False,
        "content": SOURCE})
    recording.write(host + ".jsonl")


MANY = 1024
MANY_A_HOST = 8
MANY_SECONDS = 540
MANY_FIRST_PID = 10000
MANY_ODD = 77
# Ranks whose children and threads are in the recording: all of one machine.
MANY_FAMILIES = range(72, 80)
QUEUES = "/usr/lib/python3.11/multiprocessing/queues.py"
LOADER = "/opt/venv/lib/python3.11/site-packages/torch/utils/data/"
# id, then frames innermost first: function, file, line.
MANY_STACKS = {
    "scatter": [1, ["reduce_scatter", C10D, 4114], ["wrapper", LOGGER, 83],
                ["step", FOLDER + "/fsdp.py", 88],
                ["train", FOLDER + "/pretrain.py", 210],
                ["<module>", FOLDER + "/pretrain.py", 260]],
    "gather": [2, ["all_gather", C10D, 2924], ["wrapper", LOGGER, 83],
               ["prefetch", FOLDER + "/fsdp.py", 71],
               ["train", FOLDER + "/pretrain.py", 204],
               ["<module>", FOLDER + "/pretrain.py", 260]],
    "read": [3, ["batch", FOLDER + "/data.py", 40],
             ["train", FOLDER + "/pretrain.py", 201],
             ["<module>", FOLDER + "/pretrain.py", 260]],
    "idle": [4, ["get", QUEUES, 113],
             ["_worker_loop", LOADER + "_utils/worker.py", 275]],
    "stuck": [5, ["__getitem__", FOLDER + "/data.py", 23],
              ["fetch", LOADER + "_utils/fetch.py", 52],
              ["_worker_loop", LOADER + "_utils/worker.py", 309]],
    "pin": [6, ["get", QUEUES, 113],
            ["_pin_memory_loop", LOADER + "_utils/pin_memory.py", 35]],
    "copy": [7, ["pin_memory", LOADER + "_utils/pin_memory.py", 67],
             ["_pin_memory_loop", LOADER + "_utils/pin_memory.py", 41]],
}


def many_process(rank, pid):
    body = process(rank)
    host = rank // MANY_A_HOST
    body.update({"pid": pid, "local_rank": rank % MANY_A_HOST,
                 "group_rank": host, "world_size": MANY,
                 "host": "node%03d" % host, "job": "node000:29500",
                 "script": "pretrain.py", "start_time": 880000 + pid,
                 "script_path": FOLDER + "/pretrain.py"})
    return body


class Stacks:
    """Gives a stack its id, and the first time what it is."""

    def __init__(self):
        self.codes = {}
        self.sent = set()

    def code(self, function, path, new):
        key = (function, path)
        if key not in self.codes:
            self.codes[key] = len(self.codes) + 1
            new.append([self.codes[key], function, function, path, 1, 0])
        return self.codes[key]

    def take(self, name, body):
        number, *frames = MANY_STACKS[name]
        if name not in self.sent:
            self.sent.add(name)
            new = []
            lines = [[self.code(function, path, new), line]
                     for function, path, line in frames]
            body.setdefault("stacks", []).append(
                {"id": number, "dropped": 0, "codes": new, "frames": lines})
        return number


def many_thread(stacks, body, tid, stack, second, name=None):
    return {"tid": tid, "name": name or "MainThread", "is_main": not name,
            "has_gil": False, "state": "blocked", "exact": "exact",
            # read and futex
            "syscall": 0 if stack in ("read", "stuck") else 202,
            "cpu_ns": second * 10000000 * (tid % 7), "switches": 1000,
            "stack": stacks.take(stack, body)}


def many_sample(stacks, rank, pid, stack, second, threads=()):
    body = {"pid": pid, "rank": rank, "epoch": 1 + (second > 0),
            "time": 1000.0 + second, "held_ns": 0, "syscalls": 4,
            "memory": (20000 + pid * 37 % 50000) << 20}
    body["threads"] = [many_thread(stacks, body, pid, stack, second)]
    for index, (name, other) in enumerate(threads):
        body["threads"].append(many_thread(stacks, body, 50000 + rank + index,
                                           other, second, name))
    return body


def many_stack(rank):
    if rank == MANY_ODD:
        return "read"
    return "gather" if 512 <= rank < 520 else "scatter"


def write_many(folder):
    recording = Recording()
    stacks = Stacks()
    hello(recording)
    children = []
    for rank in range(MANY):
        recording.event(0, "rankAdded",
                        many_process(rank, MANY_FIRST_PID + rank))
    for rank in MANY_FAMILIES:
        for index in range(2):
            pid = 40000 + 2 * rank + index
            body = many_process(rank, pid)
            body.update({"parent_pid": MANY_FIRST_PID + rank,
                         "role": "dataloader"})
            recording.event(0, "rankAdded", body)
            children.append((rank, pid, rank == MANY_ODD and index == 1))
    recording.response(0, "discover",
                       {"looked_at": 2100, "uid": 1000, "bystanders": []})
    for second in (0, MANY_SECONDS):
        for rank in range(MANY):
            loop = "copy" if rank == MANY_ODD else "pin"
            threads = [("Thread-%d (_pin_memory_loop)" % (rank % 3), loop)]
            recording.event(second, "sampled", many_sample(
                stacks, rank, MANY_FIRST_PID + rank, many_stack(rank), second,
                threads if rank in MANY_FAMILIES else ()))
        for rank, pid, is_odd in children:
            recording.event(second, "sampled", many_sample(
                stacks, rank, pid, "stuck" if is_odd else "idle", second))
    recording.write("many.jsonl", folder)


if __name__ == "__main__":
    if sys.argv[1:2] == ["many"]:
        write_many(sys.argv[2])
    else:
        write_hung()
        write_native()
        write_nothing()
        write_two_jobs()
        write_machine(0)
        write_machine(1)
