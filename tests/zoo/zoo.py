#!/usr/bin/env python3
"""The zoo: small jobs that hang, over many frameworks, each with its truth.

    zoo.py [--keep] [--times N] NAME...     runs these, and prints what was found
    zoo.py --all                            runs all whose modules are here
    zoo.py --list                           prints the names

A job says that it is ready by a file each process that is (jobs/zoo_job.py).
Then `probetui verdict --for 2` is asked until the state is the expected one,
or for LIMIT seconds. Its answer is

    right   the state, the outliers, the user's line and the words
    half    no rank is blamed wrongly, but something of these is missing
    wrong   a rank is blamed that is not at fault, a hang is denied, a healthy
            job is called hung, or there is no answer

PROBETUI names the program, PROBETUI_FRAMEWORKS_PYTHON (else
PROBETUI_TORCH_PYTHON) the Python of the jobs.
"""
import argparse
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import jobs as e2e  # noqa: E402

PROGRAMS = os.path.join(HERE, "jobs")
LIMIT = 40
HUNG = ("hung",)
CRASHED = ("crashed",)
PROGRESSING = ("progressing",)
# Of a rank that computes or sleeps while others wait: both are true.
LATE = ("hung", "progressing")


class Job:
    """A program of jobs/, how it is started, and the truth.

    at        "MARK" in the program: FILE:LINE of one of these lines stands in
              the sentence (a tuple: any of them); "" if there is none to name
    ranks     the ranks at fault
    cycle     the ranks that wait for each other: all are named, and none
              outside of them is an outlier
    words     stand in the sentence
    seconds   for which the job is sampled: of a healthy one more than the time
              from one of its collectives to the next
    is_pickled: cloudpickle may have brought the function to a child, without
    its file: <dynamic-code>:LINE is then the place.
    """

    def __init__(self, name, program, argument="", needs="torch", count=3,
                 start="launch", states=HUNG, ranks=(), cycle=(), at=(),
                 words=(), ready=None, target="job", is_healthy=False,
                 is_pickled=False, seconds=2):
        self.name, self.program, self.argument = name, program, argument
        self.needs, self.count, self.start = needs.split(), count, start
        self.states, self.ranks = states, set(ranks)
        self.cycle, self.words = set(cycle), words
        self.at = (at,) if isinstance(at, str) else at
        self.ready = count if ready is None else ready
        self.target, self.is_healthy = target, is_healthy
        self.is_pickled, self.seconds = is_pickled, seconds

    def path(self):
        return os.path.join(PROGRAMS, self.program)

    def lines(self):
        with open(self.path()) as file:
            lines = file.read().split("\n")
        found = []
        for mark in self.at:
            at = [number for number, line in enumerate(lines, 1)
                  if line.endswith("# " + mark)]
            if len(at) != 1:
                raise ValueError("%s: '%s' marks %d lines"
                                 % (self.program, mark, len(at)))
            found.append("%s:%d" % (self.program, at[0]))
            if self.is_pickled:
                found.append("<dynamic-code>:%d" % at[0])
        return found

    def truth(self):
        parts = ["/".join(self.states)]
        if self.ranks:
            parts.append("rank%s %s" % ("s"[len(self.ranks) < 2:], ",".join(
                map(str, sorted(self.ranks)))))
        if self.cycle:
            parts.append("cycle of " + ",".join(map(str, sorted(self.cycle))))
        return ", ".join(parts + [" or ".join(self.lines())] * bool(self.at)
                         + ["'%s'" % word for word in self.words])


def c10d(name, **truth):
    return Job("torch-" + name.replace("_", "-"), "c10d.py", name, **truth)


def ddp(name, **truth):
    return Job("ddp-" + name.replace("_", "-"), "ddp.py", name, **truth)


def threads(name, **truth):
    return Job("own-" + name.replace("_", "-"), "threads.py", name, **truth)


def sharded(name, **truth):
    return Job(name.replace("_", "-"), "sharded.py", name, **truth)


def healthy(name, **truth):
    return Job("healthy-" + name, "healthy.py", name, is_healthy=True,
               **dict({"states": PROGRESSING}, **truth))


def lightning(name, **truth):
    return Job("lightning-" + name, "lightning_fit.py", name,
               needs="torch lightning", start="alone", target="told", **truth)


def accelerated(name, **truth):
    return Job("accelerate-" + name.replace("_", "-"), "accelerated.py", name,
               needs="torch accelerate", start="torchrun", **truth)


def trainer(name, **truth):
    return Job("trainer-" + name, "trainer.py", name, start="torchrun",
               needs="torch transformers accelerate", **truth)


def zero(name, **truth):
    return Job("deepspeed-" + name, "deepspeed_zero.py", name,
               needs="torch deepspeed", **truth)


def mpi(name, prefix="mpi-", **truth):
    return Job(prefix + name, "mpi.py", name, needs="mpi4py", start="mpirun",
               target="launcher", **truth)


def pool(name, **truth):
    return Job("pool-" + name.replace("_", "-"), "pools.py", name,
               start="alone", target="process", count=1, at="stuck", ready=1,
               **truth)


JOBS = [
    c10d("other_op", ranks=[1], at="other", words=["broadcast"]),
    c10d("barrier_and_reduce", ranks=[0], at="alone", words=["barrier"]),
    c10d("exits_early", states=CRASHED, ranks=[2], at="made",
         words=["new_group"]),
    c10d("raises", states=HUNG + CRASHED, ranks=[1], words=["ValueError"]),
    c10d("ring", cycle=[0, 1, 2], at="receives", words=["recv"]),
    c10d("cycle", cycle=[0, 1, 2], at="reduce", words=["all_reduce"]),
    c10d("swapped", cycle=[0, 1, 2], at="reduce", words=["all_reduce"]),
    c10d("monitored", ranks=[2], at="asleep", words=["monitored_barrier"]),
    c10d("objects", ranks=[0], at="reads", words=["broadcast_object_list"]),
    c10d("subgroup_absent", cycle=[1, 2], at="all"),
    c10d("gathers_object", ranks=[1], at="left out",
         words=["all_gather"]),
    c10d("irecv", ranks=[2], at="empty", words=["queue"]),
    c10d("batched", ranks=[1], at="skips"),
    c10d("async_reduce", count=2, ranks=[1], at="late"),
    c10d("endless", states=LATE, ranks=[1], at=("searches", "loops")),
    c10d("stopped", ranks=[1], at="stopped", words=["stopped"]),
    c10d("store_key", ranks=[1], at="before"),
    c10d("no_rendezvous", states=CRASHED, ranks=[2], at="init"),
    ddp("loader_sleeps", ranks=[1], at="asleep", ready=1, start="torchrun"),
    ddp("worker_stuck", ranks=[1], at="shard", ready=1, words=["worker"]),
    ddp("reads_shard", ranks=[1], at="read here", ready=1, words=["open"]),
    ddp("skips_backward", ranks=[1], at="skipped", words=["barrier"]),
    ddp("uneven", ranks=[1], at="metrics", words=["all_gather"]),
    ddp("rank_zero_eval", ranks=[0], at="eval", words=["all_gather"]),
    ddp("bad_hook", ranks=[2], at="polls"),
    threads("lock", ranks=[0], at="holds the lock", words=["lock"]),
    threads("checkpoint", ranks=[2], at="checkpoint", words=["open"]),
    threads("child", ranks=[1], at="child"),
    threads("pool", ranks=[1], at="pool child"),
    threads("program", ranks=[0], at="program", words=["sleep"]),
    threads("coroutine", ranks=[1], at="awaits"),
    threads("data_server", ranks=[1], at="answer"),
    threads("download", ranks=[0], at="downloads"),
    threads("file_lock", cycle=[0, 1, 2], at="takes the lock",
            words=["lock"]),
    threads("log_pipe", ranks=[1], at="prints", words=["write"]),
    threads("own_lock", ranks=[2], at="twice", words=["lock"]),
    threads("prefetch", ranks=[0], at=("feeds", "next batch")),
    sharded("fsdp2", ranks=[1], at="stuck", ready=2, count=2),
    sharded("dtensor", ranks=[0], at="whole"),
    sharded("tensor_parallel", ranks=[2], at="stuck"),
    sharded("pipeline", ranks=[1], at="stuck"),
    sharded("dcp", ranks=[1], at="stuck"),
    sharded("dcp_rank_zero", ranks=[0], at="saves alone"),
    sharded("dcp_async", ranks=[1], at="stuck"),
    sharded("rpc", ranks=[1], at="stuck"),
    sharded("join_uneven", ranks=[2], at="stuck"),
    Job("spawn", "spawned.py", start="alone", target="launcher", ranks=[2],
        at="asleep", words=["all_reduce"]),
    lightning("step", ranks=[1], at="step"),
    lightning("save", ranks=[0], at="saves"),
    lightning("metric", ranks=[2], at="gathers", words=["all_gather"]),
    accelerated("main_only", ranks=[0], at="main only",
                words=["barrier"]),
    accelerated("metrics", ranks=[1], at=("backward", "end")),
    accelerated("first", ranks=[0], at="tokenizes"),
    trainer("dataset", ranks=[1], at="reads", ready=1, words=["open"]),
    trainer("callback", ranks=[2], at="uploads"),
    trainer("save", ranks=[0], at="trains", words=["evaluation"]),
    zero("step", ranks=[1], at="asleep"),
    zero("overflow", ranks=[2], at="skips the step", words=["barrier"]),
    Job("ray-step", "ray_train.py", "step", needs="torch ray.train", ranks=[1],
        start="alone", target="told", at="stuck"),
    Job("ray-report", "ray_train.py", "report", needs="torch ray.train",
        ranks=[0], start="alone", target="told", at="reports",
        words=["barrier"]),
    Job("ray-task", "ray_train.py", "task", needs="torch ray.train", count=1,
        start="alone", target="process", at="task", ready=1),
    Job("jax-gather", "jax_ranks.py", "gather", needs="jax", count=2,
        ranks=[1], at="late"),
    Job("jax-sync", "jax_ranks.py", "sync", needs="jax", count=2, ranks=[1],
        at="late"),
    mpi("ring", cycle=[0, 1, 2], at="receives", words=["recv"]),
    mpi("barrier", ranks=[1], at="asleep", words=["Barrier"]),
    mpi("skipped", ranks=[2], at="skipped", words=["allreduce"]),
    mpi("scatter", ranks=[0], at="reads", words=["scatter"]),
    pool("joblib", needs="joblib", is_pickled=True),
    pool("executor", needs="concurrent.futures"),
    pool("dask", needs="distributed", is_pickled=True),
    pool("dask_threads", needs="dask"),
    pool("datasets", needs="datasets"),
    Job("webdataset-file", "shards.py", "file", needs="torch webdataset",
        ranks=[1], at="shards"),
    Job("webdataset-pipe", "shards.py", "pipe", needs="torch webdataset",
        ranks=[1], at="shards"),
    healthy("ddp"),
    healthy("slow", seconds=5),
    healthy("reduces"),
    healthy("loader"),
    healthy("checkpoint"),
    healthy("evaluates"),
    healthy("pipeline"),
    healthy("pauses", states=("progressing", "unknown")),
    healthy("feeder"),
    healthy("overlaps"),
    mpi("steps", "healthy-mpi-", states=PROGRESSING, is_healthy=True),
    mpi("reduces", "healthy-mpi-", states=PROGRESSING, is_healthy=True),
]


def find(name):
    for job in JOBS:
        if job.name == name:
            return job
    raise KeyError(name)


def python():
    return os.environ.get("PROBETUI_FRAMEWORKS_PYTHON") or \
        os.environ.get("PROBETUI_TORCH_PYTHON") or sys.executable


def missing(job, has={}):
    """The first module that the job needs and the Python lacks, or None."""
    for module in job.needs:
        if module not in has:
            has[module] = subprocess.run(
                [python(), "-c", "import importlib.util, sys; sys.exit("
                 "not importlib.util.find_spec(%r))" % module], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                ).returncode == 0
        if not has[module]:
            return module
    return None


class Running(e2e.Launched):
    def __init__(self, job):
        self.job = job
        self.folder = tempfile.mkdtemp(prefix="zoo-")
        self.readiness = os.path.join(self.folder, "ready")
        os.mkdir(self.readiness)
        port = e2e.free_port()
        program = [job.path()] + [job.argument] * bool(job.argument)
        self.selection = ["--job", str(port)]
        command = {
            "launch": [python(), os.path.join(e2e.JOBS, "launch.py"), "-n",
                       str(job.count), "--port", str(port)] + program,
            "torchrun": [python(), "-m", "torch.distributed.run",
                         "--nproc_per_node=%d" % job.count, "--master_addr",
                         "127.0.0.1", "--master_port", str(port)] + program,
            "alone": [python()] + program,
            "mpirun": mpirun(job.count) + [python()] + program,
        }[job.start]
        paths = [PROGRAMS, os.environ.get("PYTHONPATH", "")]
        super().__init__(
            command, ZOO_READY=self.readiness, HOME=self.folder,
            PYTHONPATH=":".join(path for path in paths if path),
            PYTHONFAULTHANDLER="1", ZOO_PORT=str(port), ZOO_COUNT=str(job.count),
            GLOO_SOCKET_IFNAME="lo", TOKENIZERS_PARALLELISM="false",
            HF_HUB_OFFLINE="1", MKL_NUM_THREADS="1",
            OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
            PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",
            PATH=os.path.dirname(python()) + ":" + os.environ["PATH"])
        if job.target == "launcher":
            self.selection = ["--job", str(self.process.pid)]

    def wait_ready(self):
        def is_ready():
            if self.process.poll() is not None:
                raise RuntimeError("the job has ended: " + self.output()[-2000:])
            return len([name for name in os.listdir(self.readiness)
                        if name.isdigit()]) >= self.job.ready
        e2e.wait_for(is_ready, "%s to be ready" % self.job.name, 240)
        if self.job.target == "told":
            self.selection = ["--job", self.told_port()]
        elif self.job.target == "process":
            self.selection = ["--pid", str(self.process.pid)]

    def told_port(self):
        for name in os.listdir(self.readiness):
            with open(os.path.join(self.readiness, name)) as file:
                return file.read()

    def verdict(self):
        run = e2e.probetui(*self.selection, "--json", "verdict", "--for",
                            str(self.job.seconds))
        try:
            return dict(json.loads(run.stdout), status=run.returncode)
        except ValueError:
            return {"state": "none", "outliers": [], "status": run.returncode,
                    "verdict": (run.stderr or run.stdout).strip()}

    def watch(self, stuck):
        """`wait --stuck` beside the job."""
        return subprocess.Popen(
            [e2e.PROBETUI] + self.selection + ["wait", "--stuck", stuck],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def settled(self):
        """The verdict, once its state is what the truth says; else the last."""
        end = time.monotonic() + LIMIT
        while True:
            found = self.verdict()
            if self.process.poll() is not None:
                raise RuntimeError("the job has ended: " + self.output()[-2000:])
            if found["state"] in self.job.states or time.monotonic() > end:
                return found

    def close(self):
        super().close()
        shutil.rmtree(self.folder, ignore_errors=True)


def mpirun(count):
    program = os.path.join(os.path.dirname(python()), "mpirun")
    return [program, "-n", str(count)]


def named(sentence):
    """The ranks whose numbers stand in the sentence."""
    text = re.sub(r"\([^)]*\)", "", sentence)
    found = set()
    everybody = re.match(r"All (\d+) ranks ", sentence)
    if everybody:
        found.update(range(int(everybody.group(1))))
    for first, last in re.findall(r"\b(\d+)(?:-(\d+))?\b", text):
        found.update(range(int(first), int(last or first) + 1))
    return found


Grade = collections.namedtuple("Grade", "word reasons")


def grade(job, found):
    blamed, sentence = set(found["outliers"]), found["verdict"]
    if found["state"] == "none":
        return Grade("wrong", ["no answer"])
    if job.is_healthy:
        alarms = (["state " + found["state"]]
                  if found["state"] in ("hung", "crashed", "stopped") else [])
        if found["status"] != 0:
            alarms.append("status %d" % found["status"])
        return Grade("wrong" if alarms else "right", alarms)
    wrongly = blamed - (job.cycle or job.ranks)
    if wrongly:
        return Grade("wrong", ["blames rank %s" % ",".join(
            map(str, sorted(wrongly)))])
    if found["state"] == "progressing" and found["state"] not in job.states:
        return Grade("wrong", ["denies the hang"])
    reasons = []
    if found["state"] not in job.states:
        reasons.append("state " + found["state"])
    if job.ranks and blamed != job.ranks:
        reasons.append("outliers %s" % (sorted(blamed) or "none"))
    if job.cycle and not job.cycle <= named(sentence):
        reasons.append("does not name all of the cycle")
    if job.at and not any(line in sentence for line in job.lines()):
        reasons.append("not " + " or ".join(job.lines()))
    reasons += ["not '%s'" % word for word in job.words
                if word not in sentence]
    return Grade("half" if reasons else "right", reasons)


def run(job):
    """The grade and the verdict."""
    running = Running(job)
    try:
        running.wait_ready()
        found = running.settled()
        return grade(job, found), found
    finally:
        running.close()


def show(job, result, found):
    print("%-22s %s%s" % (job.name, result.word, " (%s)" % ", ".join(
        result.reasons) if result.reasons else ""))
    print("    %s%s: %s" % (found["state"], " %s" % found["outliers"]
                            if found["outliers"] else "", found["verdict"]))
    print("    truth: " + job.truth(), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep", action="store_true",
                        help="leave the job running until Return")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("name", nargs="*")
    options = parser.parse_args()
    if options.list:
        print("\n".join(job.name for job in JOBS))
        return 0
    names = [job.name for job in JOBS] if options.all else [
        job.name for name in options.name for job in JOBS
        if glob.fnmatch.fnmatch(job.name, name)]
    counts = collections.Counter()
    for job in map(find, names):
        lacks = missing(job)
        if lacks:
            print("%-22s skipped (no module %s)" % (job.name, lacks))
            counts["skipped"] += 1
            continue
        for _ in range(options.times):
            if options.keep:
                keep(job)
                continue
            try:
                result, found = run(job)
            except (RuntimeError, TimeoutError) as error:
                print("%-22s failed: %s" % (job.name, error), flush=True)
                counts["failed"] += 1
                continue
            show(job, result, found)
            counts[result.word] += 1
    print(", ".join("%d %s" % (count, word)
                    for word, count in sorted(counts.items())))
    return 1 if counts["wrong"] or counts["failed"] else 0


def keep(job):
    running = Running(job)
    try:
        running.wait_ready()
        found = running.settled()
        show(job, grade(job, found), found)
        print(" ".join(running.selection))
        input()
        print(running.output())
    finally:
        running.close()


if __name__ == "__main__":
    sys.exit(main())
