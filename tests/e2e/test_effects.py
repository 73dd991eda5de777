#!/usr/bin/env python3
"""What each action does to a process: docs/effects.md says it, and is right.

Programs with known results run beside each action of its table. Their
standard output, standard error and exit status equal those of untouched runs;
what else was done to them is measured and compared with the table's row: of
some rows every day, of all with PROBETUI_SOAK.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jobs  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "effects_program.py")
DOCUMENT = os.path.join(jobs.SOURCE, "docs", "effects.md")
KINDS = ["quiet", "compute", "threads", "tasks", "signals", "calls",
         "processes"]
# The last one cannot be stopped while it makes a child (the C library then
# blocks all signals): it need not.
STOPPED = "wait stopped ranks 0-5 timeout 60"
LIMIT = 120
# What is still there then is taken to stay: a thread that ends needs a moment.
SETTLED = 5
# Of memory: less is what any program's own work may take meanwhile.
GROWTH_KB = 1024
# More stops than to set a breakpoint and to leave takes (8 were seen).
SET_AND_LEFT = 20
TRACED = ("ptrace,kill,tgkill,tkill,rt_sigqueueinfo,rt_tgsigqueueinfo,"
          "pidfd_send_signal,process_vm_writev,openat,open")
COLUMNS = ["traced", "stops", "EINTR", "signals", "memory written", "mappings", "RSS",
           "modules", "threads", "descriptors", "files"]


def line_of(comment):
    with open(PROGRAM) as file:
        for number, line in enumerate(file, 1):
            if line.rstrip().endswith("# " + comment):
                return "%s:%d" % (PROGRAM, number)
    raise AssertionError(comment)


def script(*lines):
    return lambda folder: ["-x", write(folder, "\n".join(lines) + "\n")]


def write(folder, text):
    path = os.path.join(folder, "script")
    with open(path, "w") as file:
        file.write(text)
    return path


def command(*words):
    return lambda folder: [word.format(folder=folder) for word in words]


HIT, NEVER = line_of("hit"), line_of("never hit")
# What each row of the table is measured with: command lines, in turn.
ACTIONS = {
    "verdict": [command("verdict")],
    "ranks": [command("ranks")],
    "stacks": [command("stacks")],
    "stacks --native": [command("stacks", "--native")],
    "stacks --locals": [command("stacks", "--locals")],
    "locals": [command("locals", "--rank", "0")],
    "compare EXPR": [command("compare", "wrong")],
    "tensor": [command("tensor", "samples", "--rank", "0")],
    "output": [command("output")],
    "report": [command("report", "--out", "{folder}/report")],
    "--record": [command("--record", "{folder}/recorded", "verdict")],
    "--record-locals": [command("--record-locals", "--record",
                                "{folder}/recorded", "stacks", "--locals")],
    "--replay": [command("--record", "{folder}/recorded", "verdict"),
                 command("--replay", "{folder}/recorded", "verdict")],
    "doctor": [command("doctor")],
    "pause, continue": [script("pause", STOPPED,
                               "continue")],
    "pause, quit": [script("pause", STOPPED)],
    "break (not hit)": [script("break " + NEVER)],
    "break log": [script("break %s log {count}" % HIT,
                         "wait stopped timeout 2")],
    "break (hit), continue": [script("break " + HIT,
                                     STOPPED,
                                     "clear all", "continue")],
    "step, next, finish": [script(
        "break " + HIT, STOPPED, "step", STOPPED, "finish", STOPPED, "next",
        STOPPED, "clear all", "continue")],
    "eval (stopped)": [script("break " + HIT, STOPPED, "eval count",
                              "clear all", "continue")],
    "watch": [script("break " + HIT, STOPPED,
                     "clear all", "watch count", "continue",
                     STOPPED, "clear all", "continue")],
    "inject": [command("inject")],
    "inject, eval": [command("inject"), command("eval", "1 + 1")],
    "inject, pause, continue": [command("inject"), script("pause", STOPPED,
                                                          "continue")],
    "inject, break (hit), continue": [
        command("inject"), script("break " + HIT, STOPPED, "clear all",
                                  "continue")],
    "inject, catch": [command("inject"), command("catch", "on"),
                      command("catch", "off")],
    "inject, eject": [command("inject"), command("eject")],
    "inject, eject, again": [command("inject"), command("eject")],
    "launch": [],  # probetui -- PROGRAM: see StartedJob
}
# What was done to the programs before, of rows that measure what follows.
BEFORE = {"inject, eject, again": [command("inject"), command("eject")] * 2}
EVERYDAY = ["verdict", "break log", "break (hit), continue", "launch"]


class Program:
    def __init__(self, kind, folder):
        self.kind = kind
        self.modules = os.path.join(folder, "modules-" + kind)
        self.errors = tempfile.TemporaryFile()
        self.output = tempfile.TemporaryFile()
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1",
                           TMPDIR=folder)
        self.process = subprocess.Popen(
            [sys.executable, PROGRAM, kind, self.modules],
            stdin=subprocess.PIPE, stdout=self.output, stderr=self.errors,
            cwd=folder, env=environment)
        self.pid = self.process.pid

    def text(self, file):
        # The offset is the program's, too: it is not to be moved.
        return os.pread(file.fileno(), 1 << 20, 0).decode()

    def await_ready(self):
        deadline = time.monotonic() + LIMIT
        while not self.is_ready():
            if self.process.poll() is not None or \
                    time.monotonic() > deadline:
                raise AssertionError(self.text(self.output) +
                                     self.text(self.errors))
            time.sleep(0.01)

    def is_ready(self):
        lines = self.text(self.output).splitlines()
        if "ready" not in lines:
            return False
        tids = [line.split()[1] for line in lines if len(line.split()) == 3]
        return all(self.sleeps(tid) for tid in tids)

    def sleeps(self, tid):
        with open("/proc/%d/task/%s/stat" % (self.pid, tid)) as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "S"

    def end(self):
        self.process.stdin.write(b"go\n")
        self.process.stdin.close()
        self.process.wait(LIMIT)
        output = self.text(self.output)
        return (output.split("ready\n", 1)[1], self.text(self.errors),
                self.process.returncode)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(LIMIT)
        self.process.stdin.close()
        self.output.close()
        self.errors.close()

    def status(self, key):
        with open("/proc/%d/status" % self.pid) as file:
            return int(re.search(key + r":\s*(\d+)", file.read()).group(1))

    def footprint(self):
        """What a visitor could leave behind in a process that is quiet."""
        with open("/proc/%d/maps" % self.pid) as file:
            maps = {line.split(None, 5)[5].strip() if len(line.split()) > 5
                    else "code" if "x" in line.split()[1] else ""
                    for line in file}
        return {"mappings": len(maps), "threads": self.status("Threads"),
                "descriptors": len(os.listdir("/proc/%d/fd" % self.pid)),
                "RSS": self.status("VmRSS"), "TracerPid":
                self.status("TracerPid")}


class Started(Program):
    """One that probetui has started. Its terminal takes standard output and
    standard error, which probetui passes on."""

    def __init__(self, kind, folder, outside):
        self.kind = kind
        self.modules = os.path.join(folder, "modules-" + kind)
        self.trace = os.path.join(outside, "trace-" + kind)
        self.output = tempfile.TemporaryFile()
        self.errors = tempfile.TemporaryFile()  # events, not the program's
        os.mkdir(os.path.join(outside, kind))
        node = os.path.join(outside, kind, "node")
        with open(node, "w") as file:
            # Not what the node starts: that begins with an execve().
            file.write('#!/bin/sh\nexec strace -f -qq -b execve -o %s -e '
                       'trace=%s %s "$@"\n' % (self.trace, TRACED,
                                              os.environ["PROBETUI_NODE"]))
        os.chmod(node, 0o755)
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1",
                           TMPDIR=folder, PROBETUI_NODE=node,
                           XDG_STATE_HOME=outside)
        self.process = subprocess.Popen(
            [jobs.PROBETUI, "--json", "-x",
             write(os.path.dirname(node), "wait exited timeout %d\n" % LIMIT),
             "--", sys.executable, PROGRAM, kind, self.modules],
            stdin=subprocess.PIPE, stdout=self.errors, stderr=self.output,
            cwd=folder, env=environment)
        self.pid = None

    def find(self, is_it):
        """The first process with such a command line; None."""
        for name in sorted(filter(str.isdigit, os.listdir("/proc")), key=int):
            try:
                with open("/proc/%s/cmdline" % name) as file:
                    words = file.read().split("\0")
            except OSError:
                continue
            if is_it(words):
                return int(name)
        return None

    def find_program(self):
        return self.find(lambda words: words[1:4] == [PROGRAM, self.kind,
                                                      self.modules])

    def await_node(self):
        """Its end, and strace's: then all of the trace is written."""
        jobs.wait_for(lambda: self.find(lambda words: self.trace in words)
                      is None,
                      "the node's end")

    def close(self):
        super().close()
        pid = self.find_program()
        if pid:
            os.kill(pid, signal.SIGKILL)
        self.await_node()

    def is_ready(self):
        # Not one that it has forked.
        self.pid = self.pid or self.find_program()
        return self.pid is not None and super().is_ready()

    def end(self):
        self.process.stdin.write(b"go\n")
        self.process.stdin.close()
        self.process.wait(LIMIT)
        self.await_node()
        events = [json.loads(line)
                  for line in self.text(self.errors).splitlines()]
        job, = [event for event in events if event.get("event") == "job"]
        output = self.text(self.output).replace("\r\n", "\n")
        return output.split("ready\n", 1)[1], "", job["code"]


class Job:
    """All the programs at once, as ranks 0, 1, ... of probetui."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        self.outside = tempfile.mkdtemp()
        self.programs = self.start()
        self.before = None

    def start(self):
        return [Program(kind, self.folder) for kind in KINDS]

    def await_ready(self):
        for program in self.programs:
            program.await_ready()
        self.before = self.programs[0].footprint()
        self.files = self.list_files()

    def start_over(self):
        """What is measured begins now."""
        self.before = self.settle()
        self.files = self.list_files()
        self.trace = ""

    def list_files(self):
        found = set()
        for folder in self.folder, "/tmp":
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                inner = os.listdir(path) if os.path.isdir(path) and \
                    name.startswith(("pdb-", "probetui")) else []
                found.update([path] if not inner else
                             [os.path.join(path, one) for one in inner])
        return {path for path in found if "modules-" not in path and
                any(path.endswith((".%d" % pid, "%d.agent" % pid)) or
                    path.startswith(self.folder) or str(pid) in path
                    for pid in (one.pid for one in self.programs))}

    def act(self, steps):
        """Runs them; gives what the node did, as strace tells it."""
        pids = ",".join(str(program.pid) for program in self.programs)
        trace = os.path.join(self.outside, "trace")
        said = ""
        for number, step in enumerate(steps):
            step = step(self.outside)
            words = [jobs.PROBETUI, "--timeout", "60", "--yes",
                     *(["--pid", pids] if "--replay" not in step else []),
                     *step]
            done = subprocess.run(
                ["strace", "-f", "--seccomp-bpf", "-qq", "-o",
                 "%s%d" % (trace, number), "-e", "trace=" + TRACED, *words],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=LIMIT)
            said += done.stdout.decode(errors="replace")
            if done.returncode not in (0, 1, 4):
                raise AssertionError("%s: %d: %s" % (words[3:],
                                                     done.returncode, said))
            with open("%s%d" % (trace, number)) as file:
                said_trace = file.read()
            self.trace = getattr(self, "trace", "") + said_trace
        return said

    def settle(self):
        """The footprint, as soon as it is the one before; or what stays."""
        deadline = time.monotonic() + SETTLED
        while True:
            after = self.programs[0].footprint()
            if time.monotonic() > deadline or all(
                    after[key] <= self.before[key] for key in after
                    if key != "RSS"):
                return after
            time.sleep(0.05)

    def traces(self):
        """What the node did, once all have ended."""
        pids = [program.pid for program in self.programs]
        # Each stop of a thread ends with one of these.
        resumed = re.findall(r"ptrace\(PTRACE_(?:CONT|LISTEN|DETACH|SYSCALL), "
                             r"%d," % pids[0], self.trace)
        sent = re.findall(r"\b(?:kill|tkill|tgkill)\((\d+), .*?SIG(\w+)",
                          self.trace)
        return {
            "traced": "PTRACE_INTERRUPT" in self.trace,
            "stops": len(resumed),
            "signals": any(int(pid) in pids for pid, _ in sent),
            "memory written": "process_vm_writev(" in self.trace or
            re.search(r'/mem", O_(WRONLY|RDWR)', self.trace) is not None,
        }

    def done(self):
        """What is left in them."""
        after = self.settle()
        found = {
            "mappings": after["mappings"] > self.before["mappings"],
            "RSS": after["RSS"] - self.before["RSS"] > GROWTH_KB,
            "threads": after["threads"] > self.before["threads"],
            "descriptors": after["descriptors"] > self.before["descriptors"],
            "files": bool(self.list_files() - self.files),
        }
        if after["TracerPid"]:
            raise AssertionError("it is still traced")
        return found

    def close(self):
        for program in self.programs:
            program.close()
        shutil.rmtree(self.folder)
        shutil.rmtree(self.outside)


class StartedJob(Job):
    """The programs, each started by a probetui of its own."""

    def start(self):
        return [Started(kind, self.folder, self.outside) for kind in KINDS]

    def await_ready(self):
        super().await_ready()
        untouched = Program("quiet", self.outside)
        try:
            untouched.await_ready()
            self.before = untouched.footprint()
        finally:
            untouched.close()

    def traces(self):
        self.trace = ""
        for program in self.programs:
            with open(program.trace) as file:
                self.trace += file.read()
        return super().traces()


def read_rows():
    """The table of the document: action to column to what it says."""
    rows = {}
    with open(DOCUMENT) as file:
        lines = [line for line in file if line.startswith("|")]
    names = [cell.strip() for cell in lines[0].strip("|\n").split("|")]
    for line in lines[2:]:
        if line.startswith("| call |"):
            break
        cells = [cell.strip() for cell in line.strip("|\n").split("|")]
        rows[cells[0].strip("`")] = dict(zip(names[1:], cells[1:]))
    return rows


@unittest.skipUnless(shutil.which("strace"), "strace is not here")
class TestEffects(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        job = Job()
        try:
            job.await_ready()
            cls.untouched = {one.kind: one.end() for one in job.programs}
            with open(job.programs[0].modules) as file:
                cls.modules = set(json.load(file))
        finally:
            job.close()
        cls.rows = read_rows()

    def check(self, name):
        is_started = name == "launch"
        job = StartedJob() if is_started else Job()
        self.addCleanup(job.close)
        job.await_ready()
        modules = self.modules
        if name in BEFORE:
            job.act(BEFORE[name])
            job.start_over()
            modules = self.modules_after(BEFORE[name])
        said = job.act(ACTIONS[name])
        found = job.done()
        ends = {}
        for program in job.programs:
            with self.subTest(program=program.kind, said=said):
                ends[program.kind] = program.end()
                untouched = self.untouched[program.kind]
                if is_started:
                    # One terminal takes both.
                    untouched = (untouched[0] + untouched[1], "",
                                 untouched[2])
                self.assertEqual(ends[program.kind], untouched)
        found.update(job.traces())
        found["EINTR"] = " 4\n" in ends["calls"][0]
        with open(job.programs[0].modules) as file:
            found["modules"] = bool(set(json.load(file)) - modules)
        # Nobody is stopped without it, or by it alone.
        self.assertLessEqual(found["stops"] > 0, found["traced"])
        self.assertLessEqual(found["memory written"], found["traced"])
        row = self.rows.get(name, {})
        cells = {column: "yes" if found[column] else "-"
                 for column in COLUMNS}
        cells["stops"] = self.count_stops(row, found["stops"])
        # "may": it depends on what the programs do at that instant.
        for column in COLUMNS:
            if row.get(column) == "may":
                cells[column] = "may"
        self.assertEqual(row, cells, "| `%s` | %s |" % (
            name, " | ".join(cells[column] for column in COLUMNS)))

    def count_stops(self, row, count):
        """Of the first program, as its cell has it, where that is right."""
        cell = row.get("stops", "")
        if cell == "each hit":
            return cell if count > SET_AND_LEFT else str(count)
        least = re.match(r"(\d+) or more$", cell)
        if least and count >= int(least.group(1)):
            return cell
        return str(count)

    def modules_after(self, steps):
        """What those steps leave loaded."""
        job = Job()
        try:
            job.await_ready()
            job.act(steps)
            job.programs[0].end()
            with open(job.programs[0].modules) as file:
                return set(json.load(file))
        finally:
            job.close()

    def test_every_row_is_measured(self):
        self.assertEqual(sorted(self.rows), sorted(ACTIONS))

    def test_untouched(self):
        for kind, (output, errors, _) in self.untouched.items():
            with self.subTest(kind=kind):
                if kind != "calls":
                    self.assertIn("wrong: []", output)
                    self.assertEqual(errors, "the end of %s\n" % kind)
                else:
                    self.assertNotIn(" 4\n", output)


class TestCalls(unittest.TestCase):
    def test_each_call_that_is_begun_again_is_named(self):
        path = os.path.join(jobs.SOURCE, "backends", "tracer", "syscall-restart.c")
        with open(path) as file:
            calls = re.findall(r"\{ SYS_(\w+), LIMIT", file.read())
        with open(DOCUMENT) as file:
            said = file.read()
        self.assertGreater(len(calls), 15)
        self.assertEqual([name for name in calls
                          if "`%s`" % name not in said], [])


class TestDoctor(unittest.TestCase):
    def read(self, path):
        with open(path) as file:
            return file.read()

    def test_a_time_out_that_begins_anew_is_said(self):
        target = subprocess.Popen(
            [sys.executable, os.path.join(jobs.SOURCE, "tests", "backend",
                                          "calls_target.py"), "1000", "recv"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(target.communicate, b"go\n", LIMIT)
        tid = [target.stdout.readline().split() for _ in range(3)][1][1]
        path = "/proc/%d/task/%s/syscall" % (target.pid, tid.decode())
        deadline = time.monotonic() + LIMIT
        while self.read(path).split()[0] != "45":
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        done = subprocess.run([jobs.PROBETUI, "--json", "--pid",
                               str(target.pid), "doctor"],
                              stdout=subprocess.PIPE, timeout=LIMIT)
        ways = json.loads(done.stdout)["ranks"][0]["ways"]
        self.assertIn("thread %s waits in recvfrom" % tid.decode(),
                      " ".join(way["why"] or "" for way in ways))


def add_tests():
    rows = ACTIONS if os.environ.get("PROBETUI_SOAK") else EVERYDAY
    for name in rows:
        def test(self, name=name):
            self.check(name)
        words = re.sub(r"\W+", "_", name).strip("_")
        setattr(TestEffects, "test_" + words.lower(), test)


add_tests()

if __name__ == "__main__":
    unittest.main()
