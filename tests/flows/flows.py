#!/usr/bin/env python3
"""Flows: how jobs end, each with its truth, and what `wait` says of them.

    flows.py [--times N] NAME...    runs these, and prints the headlines
    flows.py --list                 prints the names

Each is a job of torchrun with three ranks (crash.py), or of ranks that were
started by hand. PROBETUI names the program, PROBETUI_TORCH_PYTHON the Python of
the jobs.
"""
import argparse
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import jobs  # noqa: E402

PROGRAM = os.path.join(HERE, "crash.py")
COUNT = 3
GUILTY = 1
# A control group (version 1) can be made below it, by root.
MEMORY = "/sys/fs/cgroup/memory"
LIMIT = 600 << 20
# What the launcher gets in some flows.
SIGNALS = {"cancelled": signal.SIGTERM, "interrupted": signal.SIGINT,
           "launcher-killed": signal.SIGKILL, "orphans": signal.SIGKILL}

Flow = collections.namedtuple(
    "Flow", "name says exception place event rank stuck launcher wait",
    defaults=("failed", GUILTY, "60s", (), ()))
# What an uncaught exception is called, by where it was seen.
RAISED = (r"^Rank 1 failed first: it (exited with code 1; its last "
          r"traceback: |raised )")
FULL = (r"OSError: \[Errno 28\] No space left on device "
        r"\(crash\.py:{SAVER}\)")
ENDED = r"^The job has ended successfully\.$"
# says: a regular expression for the headline; exception: (type, message) of
# the JSON, or None; place: the mark of its line in crash.py, or None; event,
# rank: those of the JSON; stuck: of `wait`; launcher, wait: more of their
# options. torch before 2.13 records no calls of gloo, if it is not asked to:
# then the headline has the stacks ("Before the failure").
FLOWS = [
    Flow("raise", RAISED + r"ValueError: bad batch 4 \(crash\.py:{LOAD}\)",
         ("ValueError", "bad batch 4"), "LOAD"),
    Flow("record", r"^Rank 1 failed first: it raised ValueError: bad batch 4 "
         r"\(crash\.py:{LOAD}\), and exited with code 1\.$",
         ("ValueError", "bad batch 4"), "LOAD"),
    Flow("chain", r"RuntimeError: step 4 failed \(crash\.py:{CHAIN}\), caused "
         r"by ValueError: bad batch 4 \(crash\.py:{LOAD}\)",
         ("RuntimeError", "step 4 failed"), "CHAIN"),
    Flow("during", r"KeyError: 'loss' \(crash\.py:{DURING}\), raised while "
         r"handling ValueError: bad batch 4 \(crash\.py:{LOAD}\)",
         ("KeyError", "'loss'"), "DURING"),
    Flow("group", r"ExceptionGroup: unhandled errors in a TaskGroup \(1 "
         r"sub-exception\) \(crash\.py:\d+\), of which ValueError: bad batch 4 "
         r"\(crash\.py:{LOAD}\)", ("ExceptionGroup", None), None),
    Flow("thread", r"^Rank 1 failed first: it exited with code 1; (its last "
         r"traceback|the last traceback in the standard error of ranks 0-2), of "
         r"thread saver: " + FULL, None, None),
    Flow("lost-thread", r"^(Ranks have waited for rank 1|The job hangs: no rank has "
         r"made progress) for [0-9.]+ s\. .* Rank 1 has lost its thread saver: "
         + FULL, ("OSError", None), "SAVER", event="stuck", stuck="4s"),
    Flow("killed", r"^Rank 1 failed first: it was killed by SIGKILL\.$",
         None, None),
    Flow("segv", r"^Rank 1 failed first: it was killed by SIGSEGV\.$",
         None, None),
    Flow("abort", r"^Rank 1 failed first: it was killed by SIGABRT\.$",
         None, None),
    # The kernel's log has no pids of another pid namespace.
    Flow("oom", r"^Rank 1 failed first: it was killed by SIGKILL(: by the kernel, "
         r"|; since it was first looked at, the kernel has killed a process of "
         r"control group /\S+ )"
         r"for lack of memory \(limit 600 MB\)\.$", None, None),
    Flow("exit0", r"^Rank 1 ended first: it exited with code 0\. Rank [02] then "
         r"raised ", None, None),
    Flow("terminated", r"^Rank 1 ended first: it was killed by SIGTERM\. Rank [02] "
         r"then raised ", None, None),
    Flow("exit3", r"^Rank 1 failed first: it exited with code 3\.$", None, None),
    Flow("asleep", r"^Rank [02] waited too long for rank 1, and .*RuntimeError: "
         r".*Timed out waiting .* (Rank 1 has not called all_reduce "
         r"\(crash\.py:{REDUCE}\)|Before the failure: .* Rank 1 is elsewhere: <lambda> "
         r"\(crash\.py:{ASLEEP}\) in time\.sleep)", None, None),
    Flow("cancelled", r"^The job was ended from outside: ranks 0-2 were ended "
         r"by SIGTERM, and no rank failed before\.", None, None, rank=None),
    Flow("interrupted", r"^The job was ended from outside: ranks 0-2 were ended "
         r"by SIGINT, and no rank failed before\.", None, None, rank=None),
    Flow("size", r"^Rank 1 failed first: it was killed by SIGABRT; (its last "
         r"error in standard error|the last error in the standard error of ranks "
         r"0-2): gloo::EnforceNotMet: .* 8 vs 4\.",
         ("gloo::EnforceNotMet", None), None),
    Flow("other-op", r" Rank 1 has called broadcast \(crash\.py:{OTHER}\) as "
         r"collective \d+ of default_pg, ranks 0 and 2 all_reduce "
         r"\(crash\.py:{REDUCE}\)|Before the failure: .* Rank 1 waits in broadcast "
         r"\(crash\.py:{OTHER}\)", None, None),
    Flow("worker-killed", RAISED + r"RuntimeError: DataLoader worker \(pid",
         None, None),
    Flow("worker-raises", RAISED + r"LookupError: Caught LookupError in "
         r"DataLoader worker process 0", None, None),
    Flow("all", RAISED.replace("1", "[012]", 1) + r"ValueError: bad batch 4 "
         r"\(crash\.py:{LOAD}\)", ("ValueError", "bad batch 4"), "LOAD",
         rank=range(COUNT)),
    Flow("restart", ENDED, None, None, event="ended", rank=None,
         launcher=("--max-restarts", "2"), wait=("--restarts",)),
    Flow("restart-lost", r"bad batch 4 .* This was attempt 1 of 3; torchrun "
         r"starts the ranks again\.$", ("ValueError", "bad batch 4"), "LOAD",
         launcher=("--max-restarts", "2")),
    Flow("launcher-killed", ENDED, None, None, event="ended", rank=None),
    Flow("orphans", r"Rank 1 .*\(crash\.py:{ORPHAN}\) in time\.sleep, for [0-9.]+ s\. "
         r"The launcher torchrun \(pid \d+\) has ended\.$", None, None,
         event="stuck", stuck="4s"),
    Flow("resolves", ENDED, None, None, event="ended", rank=None, stuck="8s"),
    Flow("slow", ENDED, None, None, event="ended", rank=None, stuck="4s"),
    Flow("never-came", r"2 of 3 ranks wait in init_process_group .* Rank 1 is "
         r"elsewhere: main \(crash\.py:{NEVER}\) in time\.sleep", None, None,
         event="stuck", stuck="4s"),
    Flow("absent", r"^The job hangs: no rank has made progress for [0-9.]+ s\. "
         r"Rank 1 was not found\. The other 2 ranks wait in init_process_group",
         None, None, event="stuck", stuck="4s"),
]
# Their ranks wait before they can say that they are ready.
UNREADY = ("never-came", "absent")


def make_group():
    """The path of a new control group with a limit of memory."""
    path = os.path.join(MEMORY, "probetui-flow-%d" % os.getpid())
    os.makedirs(path, exist_ok=True)
    for name in ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"):
        if os.path.exists(os.path.join(path, name)):
            with open(os.path.join(path, name), "w") as file:
                file.write(str(LIMIT))
    return path


def missing(flow):
    """What the flow needs and is not here; None: nothing."""
    if flow.name == "oom" and not os.access(
            os.path.join(MEMORY, "memory.limit_in_bytes"), os.W_OK):
        return "no control group for memory can be made below " + MEMORY
    return None


def find(name):
    return next(flow for flow in FLOWS if flow.name == name)


def line_of(mark):
    with open(PROGRAM) as file:
        for number, line in enumerate(file, 1):
            if line.rstrip().endswith("# " + mark):
                return number
    raise LookupError(mark)


class Run:
    """One job with `wait` beside it. redirects: torchrun's --redirects; "":
    the standard error of all ranks goes to one file; None: to a pipe."""

    def __init__(self, flow, redirects="3"):
        name = flow.name
        self.flow = flow
        self.folder = tempfile.mkdtemp(prefix="probetui-flow-")
        self.port = jobs.free_port()
        self.output = open(os.path.join(self.folder, "output"), "wb")
        self.group = make_group() if name == "oom" else None
        command = [os.environ["PROBETUI_TORCH_PYTHON"], "-m",
                   "torch.distributed.run", "--nproc-per-node", str(COUNT),
                   "--master-addr", "127.0.0.1", "--master-port",
                   str(self.port), "--monitor-interval", "0.5"]
        command += flow.launcher
        if redirects:
            command += ["--redirects", redirects, "--log-dir",
                        os.path.join(self.folder, "log")]
        if name == "absent":
            command = [sys.executable, os.path.join(HERE, "by_hand.py"),
                       str(self.port), str(COUNT), str(GUILTY),
                       os.environ["PROBETUI_TORCH_PYTHON"]]
        self.job = subprocess.Popen(
            command + [PROGRAM, self.folder], stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=subprocess.PIPE if redirects is None else self.output,
            start_new_session=True,
            preexec_fn=jobs.end_with_parent,
            env=dict(os.environ, FLOW=name, FLOW_CGROUP=self.group or ""))
        self.watch = None

    def is_found(self, count):
        ranks = json.loads(jobs.probetui("--job", self.port, "--json",
                                         "ranks").stdout)
        return isinstance(ranks, list) and sum(
            rank["state"] not in ("not found", "exited")
            for rank in ranks) >= count

    def wait_ready(self):
        if self.flow.name in UNREADY:
            jobs.wait_for(lambda: self.is_found(COUNT - (
                self.flow.name == "absent")), "the ranks", 120)
            return
        names = ["ready.%d" % rank for rank in range(COUNT)]
        jobs.wait_for(lambda: all(
            os.path.exists(os.path.join(self.folder, name)) for name in names)
            or self.job.poll() is not None, "the ranks", 120)
        assert self.job.poll() is None, self.printed()

    def printed(self):
        with open(self.output.name, errors="replace") as file:
            return file.read()

    def begin(self, *arguments):
        self.watch = subprocess.Popen(
            [os.environ["PROBETUI"], "--job", str(self.port), "--json", "wait",
             "--stuck", self.flow.stuck,
             "--report", os.path.join(self.folder, "reports")]
            + list(self.flow.wait + arguments), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True)
        said = self.watch.stderr.readline()
        assert "watching" in said, said + self.watch.stderr.read()

    def go(self):
        open(os.path.join(self.folder, "go"), "w").close()

    def act(self):
        """Sends the launcher what the flow is about."""
        if self.flow.name in SIGNALS:
            self.job.send_signal(SIGNALS[self.flow.name])

    def finish(self):
        """The document, and the report's text."""
        output, said = self.watch.communicate(timeout=120)
        try:
            document = json.loads(output)
        except ValueError:
            raise AssertionError(output + said)
        if document["report"] is None:
            return document, ""
        with open(document["report"]) as file:
            return document, file.read()

    def ready(self):
        """The processes of ranks that have said that they are ready."""
        pids = []
        for rank in range(COUNT):
            try:
                with open(os.path.join(self.folder, "ready.%d" % rank)) as file:
                    pids.append(int(file.read() or 0))
            except FileNotFoundError:
                pass
        return [pid for pid in pids if pid and self.folder.encode() in
                jobs.command_line(pid)]

    def remove_group(self):
        try:
            os.rmdir(self.group)
        except OSError:
            return False
        return True

    def close(self):
        if self.watch and self.watch.poll() is None:
            self.watch.kill()
            self.watch.communicate()
        pids = [self.job.pid] + jobs.descendants(self.job.pid) + self.ready()
        self.job.terminate()
        try:
            self.job.wait(10)
        except subprocess.TimeoutExpired:
            pass
        for pid in pids:
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass
        self.job.wait()
        self.output.close()
        if self.group:
            jobs.wait_for(self.remove_group, "the end of the control group")
        shutil.rmtree(self.folder, ignore_errors=True)


def faults(flow, document):
    """What is wrong in the document; empty: nothing."""
    found = []
    says = re.sub(r"\{([A-Z]+)\}", lambda mark: str(line_of(mark[1])),
                  flow.says)
    guilty = flow.rank if isinstance(flow.rank, range) else [flow.rank]
    if document["rank"] not in guilty:
        found.append("rank %s" % document["rank"])
    if document["event"] != flow.event:
        found.append("event " + document["event"])
    if flow.name == "restart":
        earlier = document["earlier_attempts"]
        if [attempt["attempt"] for attempt in earlier] != [1, 2] or any(
                attempt["rank"] != GUILTY for attempt in earlier):
            found.append("earlier attempts")
    if not re.search(says, document["headline"]):
        found.append("headline")
    exception = document["exception"] or {}
    if flow.exception:
        kind, message = flow.exception
        if exception.get("type") != kind or (
                message and exception["message"] != message):
            found.append("exception %s" % exception)
    if flow.place and exception.get("line") != line_of(flow.place):
        found.append("line %s" % exception.get("line"))
    return found


def run(flow, redirects="3"):
    job = Run(flow, redirects)
    try:
        job.wait_ready()
        job.begin()
        job.go()
        job.act()
        document, report = job.finish()
    finally:
        job.close()
    return faults(flow, document), document, report


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--redirects", default="3")
    parser.add_argument("--pipe", dest="redirects", action="store_const",
                        const=None)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.list:
        print("\n".join(flow.name for flow in FLOWS))
        return
    for name in options.names or [flow.name for flow in FLOWS]:
        for _ in range(options.times):
            try:
                found, document, report = run(find(name), options.redirects)
            except AssertionError as error:
                print("%-14s NO ANSWER %s" % (name, error), flush=True)
                continue
            print("%-14s %-7s %s" % (name, "right" if not found else "WRONG",
                                     document["headline"]), flush=True)
            if found:
                print("    ", ", ".join(found), document["exception"])
            if options.report:
                print(report)


if __name__ == "__main__":
    main()
