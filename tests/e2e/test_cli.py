#!/usr/bin/env python3
"""What a shell sees: shapes, exit statuses, bad input, scripts.

The shapes are the headless contract written as data. A recording gives the
same answers everywhere; a job of small ranks that wait for each other over
sockets shows that they hold for real processes.
"""
import gzip
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jobs  # noqa: E402

HUNG = os.path.join(jobs.SOURCE, "tests", "recordings", "hung8.jsonl")
NOTHING = os.path.join(jobs.SOURCE, "tests", "recordings", "nothing.jsonl")


def drop_stacks(messages):
    """The messages of a recording with `stacksDropped` before the last sample
    of each rank, and what the node sends again then."""
    sampled = [i for i, message in enumerate(messages)
               if message.get("event") == "sampled"]
    pids = {messages[i]["body"]["pid"] for i in sampled}
    first = sampled[-len(pids)]
    codes, stacks, new = {}, {}, {}
    result = []
    for i, message in enumerate(messages):
        if i == first:
            result.append({"seq": message["seq"], "type": "event",
                           "event": "stacksDropped", "body": {},
                           "time": message["time"]})
        body = message.get("body", {})
        if message.get("event") == "sampled":
            for stack in body.pop("stacks", []):
                stacks[stack["id"]] = stack
                codes.update((code[0], code) for code in stack["codes"])
                if i < first:
                    body.setdefault("stacks", []).append(stack)
            for thread in body["threads"] if i >= first else ():
                if "stack" in thread:
                    old = thread["stack"]
                    if old not in new:
                        # From the other end, so ids mean something else.
                        new[old] = len(stacks) - len(new)
                        stack = dict(stacks[old], id=new[old])
                        stack["codes"] = [codes[number] for number in sorted(
                            {frame[0] for frame in stack["frames"]})]
                        body.setdefault("stacks", []).append(stack)
                    thread["stack"] = new[old]
        result.append(message)
    return result


class Null:
    """A value that may be null."""

    def __init__(self, shape):
        self.shape = shape


class OneOf:
    """A string out of a few."""

    def __init__(self, *words):
        self.words = words


class Text:
    """A string that a pattern fits."""

    def __init__(self, pattern):
        self.pattern = pattern


class Shape(dict):
    """An object with exactly these keys (refer: another shape's name)."""


SET = Text(r"(\d+(-\d+)?(,\d+(-\d+)?)*)?\Z")
FRAME = Shape(func=str, qualname=Null(str), file=str, lineno=Null(int),
              depth=Null(int), frame_type=OneOf("Python", "Native"),
              is_user=bool)
VARIABLE = Shape(name=str, kind=OneOf("local", "cell", "free", "global"),
                 type=str, value=str, address=Null(Text(r"0x[0-9a-f]+\Z")),
                 children=Null(int))
FRAME_WITH_LOCALS = Shape(FRAME, variables=Null([VARIABLE]))
THREAD = Shape(tid=int, name=Null(str), is_main=bool, has_gil=Null(bool),
               state=OneOf("running", "blocked", "gil", "gc", "stopped",
                           "unknown"),
               exact=OneOf("exact", "consistent", "torn"),
               activity=Null(str), missing=Null(str), frames=[FRAME])
CHILD = Shape({
    "role": Null(str), "pid": Null(int), "host": Null(str),
    "world_size": Null(int),
    "state": OneOf("running", "waiting", "sleeping", "stopped", "exited",
                   "not found", "unreadable", "unknown"),
    "class": Null(int), "age_s": Null(float), "source": str,
    "error": Null(str), "children": [], "threads": [THREAD]})
RANK = Shape(CHILD, rank=int, children=[CHILD])
del RANK["role"]
VERDICT = Shape(job=Null(str), world_size=Null(int), ranks_found=int,
                verdict=str,
                state=OneOf("hung", "progressing", "crashed", "stopped",
                            "unknown"),
                outliers=[int],
                classes=[Shape(ranks=SET, count=int, activity=Null(str),
                               frames=[FRAME])],
                # What is in it: tests/e2e/test_waits.py, and the manual page.
                waits=Shape(nodes=[dict], edges=[dict]))
TREE = Shape(frames=[FRAME], ranks=SET, count=int, is_outlier=bool,
             children=[])
TREE["children"] = [TREE]
DIFF = Shape(a=SET, b=SET, rows=[Shape(op=OneOf("=", "~", "-", "+"),
                                       a=Null(FRAME), b=Null(FRAME))])
LOCALS = Shape(rank=int, tid=int, frame=FRAME, variables=[VARIABLE])
DOCTOR = Shape(ranks=[Shape(rank=int, pid=int, ways=[
    Shape(way=str, ok=bool, why=str, fix=str)])])
PLACE = Shape(rank=int, tid=int, frame=Null(FRAME))
ERROR = Shape(event=OneOf("error"), rank=Null(int), command=str, error=str)
EXITED = Shape(event=OneOf("exited"), rank=int, code=Null(int),
               signal=Null(str))


def check(value, shape, path="$"):
    """Yields a line for each place where value has not the shape."""
    if isinstance(shape, Null):
        if value is not None:
            yield from check(value, shape.shape, path)
    elif isinstance(shape, OneOf):
        if value not in shape.words:
            yield "%s: %r is none of %s" % (path, value, shape.words)
    elif isinstance(shape, Text):
        if not isinstance(value, str) or not re.match(shape.pattern, value):
            yield "%s: %r does not fit %s" % (path, value, shape.pattern)
    elif isinstance(shape, dict):
        yield from check_object(value, shape, path)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield "%s: %r is no array" % (path, value)
            return
        for number, item in enumerate(value):
            if not shape:
                yield "%s: not empty" % path
                return
            yield from check(item, shape[0], "%s[%d]" % (path, number))
    elif shape is float:
        if type(value) not in (int, float):
            yield "%s: %r is no number" % (path, value)
    elif type(value) is not shape:
        yield "%s: %r is no %s" % (path, value, shape.__name__)


def check_object(value, shape, path):
    if not isinstance(value, dict):
        yield "%s: %r is no object" % (path, value)
        return
    if set(value) != set(shape):
        yield "%s: keys %s, not %s" % (path, sorted(value), sorted(shape))
    for key in set(value) & set(shape):
        yield from check(value[key], shape[key], "%s.%s" % (path, key))


class Cli(unittest.TestCase):
    maxDiff = None

    def environment(self, **more):
        return dict(os.environ, LC_ALL="C.UTF-8", **more)

    def run_cli(self, *arguments, status=0, stdin=None, env=None):
        """Runs it and checks the exit status."""
        result = subprocess.run(
            [jobs.PROBETUI] + [str(a) for a in arguments],
            input=stdin if stdin is not None else "",
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, timeout=jobs.LIMIT,
            env=self.environment(**(env or {})))
        wanted = status if isinstance(status, tuple) else (status,)
        self.assertIn(result.returncode, wanted,
                      result.stdout + result.stderr)
        return result

    def ask(self, shape, *arguments, status=0):
        """The one document that it prints, which must have the shape."""
        result = self.run_cli("--json", *arguments, status=status)
        self.assertEqual(result.stdout.count("\n"), 1, result.stdout)
        document = json.loads(result.stdout)
        self.assertEqual(list(check(document, shape)), [])
        return document

    def sentence(self, *arguments, status, says, env=None):
        """It refuses with a sentence, on standard error; with --json it is on
        standard output, too."""
        result = self.run_cli(*arguments, status=status, env=env)
        if "--json" in arguments:
            told = json.loads(result.stdout)
            self.assertEqual(told.pop("status"), status)
            self.assertIn(told.pop("error"), result.stderr)
            self.assertEqual(told, {})
        else:
            self.assertEqual(result.stdout, "")
        self.assertTrue(result.stderr.startswith("probetui: "),
                        result.stderr)
        self.assertIn(says, result.stderr)


class TestUsage(Cli):
    """Wrong usage is status 2 and a sentence; nothing is started."""

    CASES = (
        (["--jsn"], "did you mean --json?"),
        (["--frobnicate"], "unknown option '--frobnicate'"),
        (["verdikt"], "did you mean verdict?"),
        (["wai", "x"], "wait needs --stuck SECONDS, verdict TEXT"),
        (["st"], "ambiguous command 'st': stacks, step"),
        (["sta", "x"], "unexpected word 'x'"),
        (["verdict", "--fro", "3"], "did you mean --for?"),
        (["verdict", "--for"], "needs a value"),
        (["verdict", "--for", "soon"], "not a number of seconds"),
        (["verdict", "--for", "-1"], "not a number of seconds"),
        (["verdict", "--for", "nan"], "not a number of seconds"),
        (["wait", "--stuck", "2s", "timeout", "3"],
         "unexpected word 'timeout'; usage: wait --stuck SECONDS [--report DIR]"),
        (["diff", "1"], "diff A B"),
        (["diff", "1", "2", "3"], "unexpected word '3'"),
        (["stacks", "--merge", "--locals"], "omit"),
        (["stacks", "--secrets"], "add --locals"),
        (["stacks", "--nativ"], "no option '--nativ'"),
        (["--ranks", "x", "ranks"], "--ranks"),
        (["--pid", "12,", "ranks"], "--pid"),
        (["--timeout", "0", "ranks"], "--timeout"),
        (["--connect", "ftp://h:1", "ranks"], "ptrace:PID and replay:FILE"),
        (["--replay", HUNG, "--record", "/nowhere/x", "verdict"],
         "leave out --record"),
        (["--replay", HUNG, "diff", "1", "99"], "rank 99 does not exist"),
        (["--ranks", "0-8", "--replay", HUNG, "diff", "0", "99"],
         "rank 99 does not exist"),
        (["--replay", HUNG, "diff", "1", "x"], "x"),
        (["--replay", HUNG, "locals"], "locals needs a rank"),
        (["--replay", HUNG, "locals", "2"], "locals --rank 2"),
        (["--replay", HUNG, "locals", "x"], "unexpected word 'x'"),
        (["--json", "keys"], "has no JSON output"),
        (["--json", "help"], "has no JSON output"),
        (["--replay", HUNG, "locals", "--rank", "8"], "no rank 8"),
        (["--replay", HUNG, "locals", "--rank", "-1"], "'-1' is not a rank"),
        (["--replay", HUNG, "locals", "--rank", "3", "--frame", "3"],
         "(0 to 2)"),
        (["--replay", HUNG, "locals", "--rank", "3", "--thread", "1"],
         "no Python thread 1"),
        (["--replay", HUNG, "doctor"],
         "doctor needs a running job, not a recording"),
        (["--", "torchrun", "train.py"], "without a terminal"),
        (["-x", "/dev/null", "--", "/nosuch"], "cannot be run"),
        (["-x", "/dev/null", "--", "nosuch"], "program 'nosuch' not found"),
        (["-x", "/dev/null", "--", "/"], "is a folder"),
        (["verdict", "--", "true"], "cannot run while the job starts"),
        (["--pid", "1", "-x", "/dev/null", "--", "true"],
         "-- PROGRAM and --pid cannot be combined"),
        (["--break", "train.py:4", "verdict"], "--break needs a job to start"),
        (["--break", "x.py:y", "-x", "/dev/null", "--", "true"],
         "has no line number"),
        (["--read-only", "--break", "f", "-x", "/dev/null", "--", "true"],
         "--break and --read-only cannot be combined"),
        (["--"], "no program after --"),
        (["--theme", "nosuch", "--replay", HUNG, "verdict"], "nosuch"),
        (["-x", "/nowhere/script"], "/nowhere/script"),
        (["-x", "/dev/null", "verdict"], "put 'verdict' into the script"),
        (["--replay", "/nowhere/recording", "verdict"], "cannot open"),
        (["--replay", "/", "verdict"], "is a folder"),
        (["--config", "/nowhere/config", "verdict"], "/nowhere/config"),
        (["--record", "/nowhere/r", "verdict"], "/nowhere/r"),
    )

    def test_wrong_words(self):
        for arguments, says in self.CASES:
            with self.subTest(" ".join(arguments)):
                self.sentence(*arguments, status=2, says=says)

    def test_a_full_disk(self):
        for arguments in (["verdict"], ["stacks", "--json"]):
            with open("/dev/full", "w") as full:
                result = subprocess.run(
                    [jobs.PROBETUI, "--replay", HUNG] + arguments,
                    stdin=subprocess.DEVNULL, stdout=full,
                    stderr=subprocess.PIPE, universal_newlines=True,
                    timeout=jobs.LIMIT)
            self.assertEqual(result.returncode, 2)
            self.assertIn("No space left", result.stderr)
        with open("/dev/full", "w") as full:
            result = subprocess.run([jobs.PROBETUI, "--help"], stdout=full,
                                    stderr=subprocess.PIPE, timeout=jobs.LIMIT)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"No space left", result.stderr)

    def test_help_names_every_option_and_command(self):
        text = self.run_cli("--help").stdout
        for word in ("--ranks SET", "--pid LIST", "--job PORT", "--replay",
                     "--record", "--connect", "--json", "--timeout",
                     "--theme", "--config", "--read-only", "--ascii", "-x",
                     "--version", "--help", "verdict [--for SECONDS]",
                     "stacks [--merge]", "diff A B", "locals", "ranks",
                     "doctor", "wait"):
            self.assertIn(word, text)
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_help_behind_a_command_is_of_that_command(self):
        text = self.run_cli("stacks", "--help").stdout
        self.assertEqual(text, self.run_cli("help", "stacks").stdout)
        self.assertRegex(text, r"\A  stacks \[")
        self.sentence("nosuch", "--help", status=2,
                      says="unknown command")
        self.assertEqual(self.run_cli("verdict", "--for", "x", "-h").returncode,
                         0)

    def test_version(self):
        text = self.run_cli("--version").stdout
        self.assertRegex(text, r"\Aprobetui \d+\.\d+\.\d+\n\Z")

    def test_a_node_that_is_none(self):
        self.sentence("ranks", status=3, says="cannot be run",
                      env={"PROBETUI_NODE": "/nowhere/probetui-node"})
        self.sentence("ranks", status=3, says="exited with status 1",
                      env={"PROBETUI_NODE": "/bin/false"})
        self.sentence("--timeout", "0.2", "ranks", status=3,
                      says="no answer within 0.2 s",
                      env={"PROBETUI_NODE": "/bin/cat"})


def deepened(count):
    """The recording, with rank 3 in as many calls of rec."""
    lines = []
    with open(HUNG) as file:
        for line in file:
            message = json.loads(line)
            for stack in message.get("body", {}).get("stacks", ()):
                if stack["id"] == 2:
                    stack["codes"].append([9, "rec", "rec", "/home/ana/r.py",
                                           1, 0])
                    stack["frames"][:1] = [[9, 4]] * count
            lines.append(json.dumps(message) + "\n")
    return "".join(lines)


class TestBrokenRecordings(Cli):
    def test_each_line_cut_or_changed(self):
        """No damage crashes it, and what it says names a line or nothing."""
        with open(HUNG, "rb") as file:
            lines = file.read().splitlines(True)
        damages = (
            lambda line: line[:len(line) // 2] + b"\n",
            lambda line: b"[]\n",
            lambda line: b"\xff\xfe\n",
            lambda line: line.replace(b"\"time\"", b"\"tome\""),
            lambda line: line.replace(b":1", b":-1").replace(b"[", b"{"),
        )
        for number, damage in enumerate(damages):
            for at in (0, 1, len(lines) // 2, len(lines) - 1):
                broken = lines[:at] + [damage(lines[at])] + lines[at + 1:]
                with self.subTest("damage %d at line %d" % (number, at + 1)):
                    self.replay_broken(b"".join(broken), at + 1)

    def replay_broken(self, content, number):
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            result = self.run_cli("--replay", file.name, "verdict",
                                  status=(0, 1, 2, 3, 4))
        if result.returncode == 2:
            self.assertIn("line %d" % number, result.stderr)
            self.assertEqual(result.stdout, "")

    def test_a_recorder_that_was_killed(self):
        """A last line without its end is left out; the rest is there."""
        with open(HUNG, "rb") as file:
            content = file.read()
        with tempfile.NamedTemporaryFile() as file:
            file.write(content[:-20])
            file.flush()
            result = self.run_cli("--replay", file.name, "verdict", status=1)
        self.assertIn("Rank 3 is elsewhere", result.stdout)
        self.assertIn("is incomplete: its end is missing", result.stderr)

    def test_a_recording_of_the_beginning(self):
        """It ends while the ranks are looked for; that is what it says."""
        with open(HUNG, "rb") as file:
            lines = file.read().splitlines(True)
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"".join(lines[:5]))
            file.flush()
            for flags in ([], ["--job", "29500"]):
                self.sentence("--replay", file.name, *flags, "verdict",
                              status=3, says="ends before all ranks were")

    def test_wrong_values_do_no_harm(self):
        """Messages whose values are wrong are left out."""
        with open(HUNG) as file:
            lines = [json.loads(line) for line in file]
        for value in (None, -1, 2 ** 62, "x", [], {}, True, 1e300):
            for key in ("pid", "rank", "threads", "stacks", "tid"):
                for message in lines[1:30]:
                    if key in message.get("body", {}):
                        message["body"][key] = value
                with self.subTest("%s %r" % (key, value)), \
                        tempfile.NamedTemporaryFile("w") as file:
                    for message in lines:
                        file.write(json.dumps(message) + "\n")
                    file.flush()
                    self.run_cli("--replay", file.name, "stacks",
                                 status=(0, 1, 2, 3, 4))


class TestReplay(Cli):
    """The recording of SCREENS: rank 3 of 8 hangs."""

    def test_verdict(self):
        verdict = self.ask(VERDICT, "--replay", HUNG, "verdict", status=1)
        self.assertEqual(verdict["outliers"], [3])
        self.assertEqual(verdict["state"], "hung")
        self.assertEqual([c["ranks"] for c in verdict["classes"]],
                         ["0-2,4-7", "3"])
        self.assertEqual(
            verdict["verdict"],
            "7 of 8 ranks wait in all_reduce (train.py:17). Rank 3 is "
            "elsewhere: load_batch (train.py:5) in time.sleep, for 34 s.")

    def test_closed_standard_files_are_no_harm(self):
        for closed in "<&-", ">&-", "2>&-", "<&- >&- 2>&-":
            done = subprocess.run(
                ["sh", "-c", '"$0" "$@" ' + closed, jobs.PROBETUI, "--replay",
                 HUNG, "verdict"], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                timeout=jobs.LIMIT)
            self.assertEqual((closed, done.returncode), (closed, 1))

    def test_verdict_as_text(self):
        text = self.run_cli("--replay", HUNG, "verdict", status=1).stdout
        self.assertEqual(text.splitlines()[1:], [
            "  7  0-2,4-7  all_reduce  train (train.py:17)",
            "  1  3        time.sleep  load_batch (train.py:5)"])

    def test_ranks(self):
        ranks = self.ask([RANK], "--replay", HUNG, "ranks", status=1)
        self.assertEqual([r["rank"] for r in ranks], list(range(8)))
        self.assertEqual(ranks[3]["state"], "sleeping")
        self.assertEqual(ranks[0]["state"], "waiting")
        self.assertGreater(ranks[0]["age_s"], 30)

    def test_stacks(self):
        ranks = self.ask([RANK], "--replay", HUNG, "stacks", status=1)
        frames = ranks[3]["threads"][0]["frames"]
        self.assertEqual([f["func"] for f in frames],
                         ["load_batch", "train", "<module>"])
        self.assertEqual([f["depth"] for f in frames], [0, 1, 2])

    def test_a_script_of_several_recordings(self):
        folder = os.path.dirname(HUNG)
        parts = [os.path.join(folder, n + ".jsonl") for n in ("gpu01", "gpu02")]
        result = self.run_cli("--replay", *parts, "-x", "-", status=1,
                              stdin="ranks ranks 7\n")
        self.assertIn("all_reduce", result.stdout)
        self.sentence("--replay", *parts, "verdict", "-x", "-", status=2,
                      says="put 'verdict' into the script")

    def test_output_of_a_rank_that_is_not_there(self):
        result = self.run_cli("--replay", HUNG, "--ranks", "7-8", "--json",
                              "output", status=4)
        self.assertEqual([r["pid"] for r in json.loads(result.stdout)],
                         [4207, None])

    def test_stacks_of_some_ranks(self):
        ranks = self.ask([RANK], "--replay", HUNG, "stacks", "ranks", "2-3",
                         status=1)
        self.assertEqual([r["rank"] for r in ranks], [2, 3])

    def test_stacks_with_locals(self):
        shape = [Shape(RANK, threads=[Shape(THREAD,
                                            frames=[FRAME_WITH_LOCALS])])]
        ranks = self.ask(shape, "--replay", HUNG, "stacks", "--locals",
                         "ranks", "3", status=1)
        variables = ranks[0]["threads"][0]["frames"][0]["variables"]
        self.assertEqual([(v["name"], v["value"]) for v in variables],
                         [("step", "3"), ("rank", "3")])

    def test_merged_stacks(self):
        tree = self.ask(TREE, "--replay", HUNG, "stacks", "--merge", status=1)
        self.assertEqual((tree["ranks"], tree["count"]), ("0-7", 8))
        self.assertEqual([(f["func"], f["lineno"]) for f in tree["frames"]],
                         [("<module>", 19), ("train", None)])
        self.assertEqual([c["ranks"] for c in tree["children"]],
                         ["0-2,4-7", "3"])
        self.assertEqual([f["func"] for f in tree["children"][0]["frames"]],
                         ["train", "all_reduce"])
        self.assertTrue(tree["children"][1]["is_outlier"])
        text = self.run_cli("--replay", HUNG, "stacks", "--merge",
                            status=1).stdout
        self.assertEqual(text.splitlines(), [
            "   8  0-7         <module> (train.py:19)",
            "   8  0-7         └ train",
            "   7  0-2,4-7       ├ train (train.py:17)",
            "   7  0-2,4-7       │ └ all_reduce (distributed_c10d.py:3252)",
            "   1  3        ◆    └ train (train.py:13)",
            "   1  3        ◆      └ load_batch (train.py:5)"])
        text = self.run_cli("--ascii", "--replay", HUNG, "stacks", "--merge",
                            status=1).stdout
        text.encode("ascii")
        self.assertIn("*    ` train (train.py:13)", text)

    def test_merged_stacks_of_some_ranks(self):
        tree = self.ask(TREE, "--replay", HUNG, "stacks", "--merge", "ranks",
                        "2-3", status=1)
        self.assertEqual((tree["ranks"], tree["count"]), ("2-3", 2))
        text = self.run_cli("--replay", HUNG, "stacks", "--merge", "ranks",
                            "2", status=1).stdout
        self.assertEqual(text.splitlines(), [
            "   1  2     <module> (train.py:19)",
            "   1  2     └ train (train.py:17)",
            "   1  2       all_reduce (distributed_c10d.py:3252)"])

    def test_ranks_are_taken_away_from_those_that_are_there(self):
        ranks = self.ask([RANK], "--replay", HUNG, "ranks", "ranks", "!3",
                         status=1)
        self.assertEqual([r["rank"] for r in ranks], [0, 1, 2, 4, 5, 6, 7])

    def test_ranks_that_are_not_there(self):
        for command in (["ranks"], ["stacks"], ["stacks", "--merge"]):
            for flags in ([], ["--json"]):
                self.sentence("--replay", HUNG, *(flags + command), "ranks",
                              "77", status=2, says="rank 77 does not exist")

    def test_a_deep_recursion_is_no_deep_document(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(deepened(2500))
            file.flush()
            tree = self.ask(TREE, "--replay", file.name, "stacks", "--merge",
                            status=(0, 1))
            text = self.run_cli("--replay", file.name, "stacks", "--merge",
                                status=(0, 1)).stdout
        self.assertEqual(len(tree["children"][1]["frames"]), 2501)
        self.assertLess(len(text.splitlines()), 20)
        self.assertRegex(text, r"… 2,498 more of rec\n")

    def test_diff(self):
        diff = self.ask(DIFF, "--replay", HUNG, "diff", "3", "majority",
                        status=1)
        self.assertEqual((diff["a"], diff["b"]), ("3", "0-2,4-7"))
        self.assertEqual([row["op"] for row in diff["rows"]],
                         ["=", "~", "-", "+", "+"])
        diff = self.ask(DIFF, "--replay", HUNG, "diff", "0", "1")
        self.assertEqual({row["op"] for row in diff["rows"]}, {"="})

    def test_diff_of_a_set_with_two_stacks(self):
        result = self.run_cli("--json", "--replay", HUNG, "diff", "2-4", "3",
                              status=1)
        self.assertEqual(json.loads(result.stdout)["a"], "2,4")
        self.assertIn("different stacks", result.stderr)
        # The part that stands for 2-4 does not differ, but they do.
        result = self.run_cli("--replay", HUNG, "diff", "0-1", "2-4",
                              status=1)
        self.assertIn("different stacks", result.stderr)
        self.assertNotIn("\n+", result.stdout.split("\n\n")[1])

    def test_locals(self):
        answer = self.ask(LOCALS, "--replay", HUNG, "locals", "--rank", "3")
        self.assertEqual(answer["frame"]["func"], "load_batch")
        self.assertEqual([v["name"] for v in answer["variables"]],
                         ["step", "rank"])

    def test_without_a_command(self):
        result = self.run_cli("--replay", HUNG, status=1)
        self.assertTrue(result.stdout.startswith("7 of 8 ranks wait"))
        self.assertIn("└ load_batch (train.py:5)", result.stdout)

    def test_connect_replays(self):
        self.ask(VERDICT, "--connect", "replay:" + HUNG, "verdict", status=1)

    def test_some_ranks(self):
        ranks = self.ask([RANK], "--ranks", "6-9", "--replay", HUNG, "ranks",
                         status=(1, 4))
        self.assertEqual([(r["rank"], r["state"]) for r in ranks],
                         [(6, "waiting"), (7, "waiting"), (8, "not found"),
                          (9, "not found")])

    def test_same_answer_each_time(self):
        for command in (["verdict"], ["stacks"], ["ranks", "--json"]):
            first = self.run_cli("--replay", HUNG, *command, status=1)
            second = self.run_cli("--replay", HUNG, *command, status=1)
            self.assertEqual(first.stdout, second.stdout)

    def test_stacks_that_were_dropped(self):
        """In the middle the node gives its ids anew: nothing changes."""
        with open(HUNG) as file:
            lines = drop_stacks([json.loads(line) for line in file])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "dropped.jsonl")
            with open(path, "w") as file:
                file.writelines(json.dumps(line) + "\n" for line in lines)
            for command in (["verdict"], ["stacks"], ["ranks", "--json"]):
                whole = self.run_cli("--replay", HUNG, *command, status=1)
                dropped = self.run_cli("--replay", path, *command, status=1)
                self.assertEqual(whole.stdout, dropped.stdout)

    def test_what_a_pane_read_is_no_answer_to_compare(self):
        with open(HUNG) as file:
            lines = file.read().splitlines()
        told = {"dtype": "int8", "numel": 1, "itemsize": 1, "nbytes": 1,
                "shape": [1], "strides": [1], "stats": {"nan": 0},
                "share": 1.0}
        for i, (pid, is_hashed) in enumerate(
                [(4200, True), (4201, True), (4200, False)]):
            asked = {"pid": pid, "expression": "w", "statistics": "whole"}
            tensor = dict(told)
            if is_hashed:
                asked["hash"] = True
                tensor["hash"] = "00c0ffee"
            lines.append(json.dumps({
                "seq": 900 + i, "type": "response", "request_seq": 900 + i,
                "success": True, "command": "tensor",
                "time": json.loads(lines[-1])["time"],
                "body": {"pid": pid, "tensor": tensor, "frame": None,
                         "value": {"name": "w", "kind": "local", "type": "T",
                                   "value": "t", "address": "0x1",
                                   "children": None},
                         "asked": asked}}))
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            done = self.run_cli("--replay", file.name, "--ranks", "0-1",
                                "--json", "compare", "w", status=0)
        classes = json.loads(done.stdout)["classes"]
        self.assertEqual([one["ranks"] for one in classes], ["0-1"])

    def test_nothing_found(self):
        for command, shape in ((["ranks"], [RANK]), (["stacks"], [RANK]),
                               (["verdict"], VERDICT)):
            document = self.ask(shape, "--replay", NOTHING, *command,
                                status=3)
            if isinstance(document, list):
                self.assertEqual(document, [])
        result = self.run_cli("--replay", NOTHING, "verdict", status=3)
        self.assertEqual(result.stdout, "")
        self.assertIn("select it with --pid ", result.stderr)

    def test_what_targets_say_is_harmless(self):
        """Control characters of a target reach no terminal."""
        with open(HUNG) as file:
            content = file.read()
        evil = content.replace("load_batch",
                               "lo\\u001b[31m\\u202e\\u0085\\u2028ad")
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(evil)
            file.flush()
            for command in (["verdict"], ["stacks"], ["stacks", "--merge"],
                            ["diff", "3", "0"], ["locals", "--rank", "3"],
                            ["verdict", "--json"], ["stacks", "--json"]):
                result = self.run_cli("--replay", file.name, *command,
                                      status=(0, 1))
                for character in "\x1b\u202e\x85\u2028":
                    self.assertNotIn(character, result.stdout + result.stderr)
            result = self.run_cli("--replay", file.name, "verdict", "--json",
                                  status=1)
            self.assertIn("lo\x1b[31m\u202e\x85\u2028ad", json.dumps(
                json.loads(result.stdout), ensure_ascii=False).replace(
                    "\\u001b", "\x1b"))


class TestScript(Cli):
    def script(self, *lines, arguments=("--replay", HUNG), status=0):
        result = self.run_cli("--json", *arguments, "-x", "-", status=status,
                              stdin="\n".join(lines) + "\n")
        return [json.loads(line) for line in result.stdout.splitlines()]

    def shaped(self, document, shape):
        self.assertEqual(list(check(document, shape)), [])

    def test_one_object_a_line(self):
        answers = self.script("# a comment", "", "verdict", "rank 3",
                              "up", "frame 0", "locals  # here", "focus 0-2",
                              "stacks", "focus all", status=1)
        shapes = (VERDICT, PLACE, PLACE, PLACE, LOCALS, Shape(focus=SET),
                  [RANK], Shape(focus=SET))
        self.assertEqual(len(answers), len(shapes))
        for answer, shape in zip(answers, shapes):
            self.shaped(answer, shape)
        self.assertEqual(answers[2]["frame"]["func"], "train")
        self.assertEqual(answers[4]["frame"]["func"], "load_batch")
        self.assertEqual(len(answers[6]), 3)

    def test_a_failure_is_told_and_the_next_line_runs(self):
        answers = self.script("nonsense", "rank 77", "down", "print \"a",
                              "rank 0", status=1)
        for answer in answers[:4]:
            self.shaped(answer, ERROR)
        self.assertEqual(answers[0]["command"], "nonsense")
        self.shaped(answers[4], PLACE)

    def test_words_of_pdb_and_gdb(self):
        answers = self.script("f", "delete 1", "rank 3", "u", "d", status=1)
        self.assertIn(": finish needs a running job, not a recording",
                      answers[0]["error"])
        self.assertIn("break needs a running job, not a recording",
                      answers[1]["error"])
        self.assertEqual(answers[3]["frame"]["func"], "train")
        self.assertEqual(answers[4]["frame"]["func"], "load_batch")

    def test_a_failure_names_its_line(self):
        result = self.run_cli("--replay", HUNG, "-x", "-", status=1,
                              stdin="# one\nrank 0\nnonsense\n")
        self.assertIn("probetui: line 3: unknown command",
                      result.stderr)

    def test_locals_of_another_rank(self):
        """What is selected counts for the rank that is selected only."""
        answers = self.script("rank 0", "frame 1", "locals --rank 3", "rank 3",
                              "up", "locals --rank 3")
        self.assertEqual(answers[2]["frame"]["func"], "load_batch")
        self.assertEqual(answers[5]["frame"]["func"], "train")
        answers = self.script("rank 3", "up", "locals --rank 3", "rank 0",
                              "up", "locals --rank 3")
        self.assertEqual(answers[-1]["frame"]["func"], "load_batch")

    def test_a_replay_is_not_waited_for(self):
        for line in ("wait verdict 'all is well' timeout 60",
                     "wait exited timeout 60"):
            answers = self.script(line, status=1)
            self.assertIn("until the end of the recording", answers[0]["error"])

    def test_quit_ends_it(self):
        self.assertEqual(self.script("focus 0", "quit", "nonsense"),
                         [{"focus": "0"}])

    def test_wait_verdict(self):
        answers = self.script("wait verdict Rank 3 is elsewhere timeout 5")
        self.shaped(answers[0], VERDICT)
        answers = self.script("wait verdict 'all is well' timeout 0.1",
                              status=1)
        self.shaped(answers[0], ERROR)
        self.assertIn("does not contain", answers[0]["error"])

    def test_wait_knows_its_words(self):
        for line in ("wait", "wait stopped", "wait verdict",
                     "wait exited now", "wait exited timeout x"):
            answers = self.script(line, status=1)
            self.shaped(answers[0], ERROR)

    def test_a_script_in_a_file(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("verdict")
            file.flush()
            result = self.run_cli("--replay", HUNG, "-x", file.name, status=1)
        self.assertTrue(result.stdout.startswith("7 of 8 ranks wait"))


def bound(answer):
    """From 3.12 on a comprehension's variables are its function's, unbound."""
    return {v["name"]: v["value"] for v in answer["variables"]
            if v["value"] != "unbound"}


@unittest.skipUnless(hasattr(os, "fork"), "needs fork")
class TestLive(Cli):
    """Small ranks over sockets; rank 3 hangs at step 3."""

    @classmethod
    def setUpClass(cls):
        cls.job = jobs.RanksJob(4)
        cls.addClassCleanup(cls.job.close)
        jobs.wait_for(cls.is_hung, "rank 3 to hang")

    @classmethod
    def is_hung(cls):
        result = jobs.probetui("--job", cls.job.port, "--json", "verdict")
        if result.returncode != 1:
            return False
        # The others may still be on their way to where they wait; and it may
        # be late at its start, or at another step.
        verdict = json.loads(result.stdout)
        return verdict["outliers"] == [3] and verdict["state"] == "hung" \
            and "load_batch (ranks.py:5)" in verdict["verdict"]

    def on(self, *arguments):
        return ("--job", str(self.job.port)) + arguments

    def test_every_shape(self):
        cases = (
            (["ranks"], [RANK], 1), (["stacks"], [RANK], 1),
            (["verdict"], VERDICT, 1), (["stacks", "--merge"], TREE, 1),
            (["diff", "3", "majority"], DIFF, 1), (["diff", "0", "1"], DIFF,
                                                   (0, 1)),
            (["locals", "--rank", "3"], LOCALS, 0),
            (["doctor"], DOCTOR, (0, 1)),
        )
        for arguments, shape, status in cases:
            with self.subTest(" ".join(arguments)):
                self.ask(shape, *self.on(*arguments), status=status)

    def test_one_sample_cannot_tell_the_state(self):
        verdict = self.ask(VERDICT, *self.on("verdict", "--for", "0"),
                           status=1)
        self.assertEqual(verdict["state"], "unknown")
        self.assertNotRegex(verdict["verdict"], r"for \d")

    def test_two_samples_can(self):
        verdict = self.ask(VERDICT, *self.on("verdict"), status=1)
        self.assertEqual(verdict["state"], "hung")

    def test_pids_become_ranks_in_their_order(self):
        order = [self.job.pids[i] for i in (2, 0, 3)]
        ranks = self.ask([RANK], "--pid", ",".join(map(str, order)), "ranks",
                         status=(0, 1, 4))
        self.assertEqual(sorted(r["pid"] for r in ranks
                                if r["pid"] is not None), sorted(order))

    def test_ranks_that_are_not_there(self):
        result = self.run_cli(*self.on("--ranks", "0-5", "ranks", "--json"),
                              status=(1, 4))
        states = [r["state"] for r in json.loads(result.stdout)]
        self.assertEqual(states[4:], ["not found", "not found"])
        self.assertIn("rank 5", result.stderr)

    def test_locals_are_the_truth(self):
        answer = self.ask(LOCALS, *self.on("locals", "--rank", "3"))
        self.assertEqual(bound(answer), {"step": "3", "rank": "3"})

    def test_a_recording_says_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.jsonl")
            live = self.run_cli(*self.on("--record", path, "diff", "3", "0"),
                                status=1)
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
            again = self.run_cli("--replay", path, "diff", "3", "0", status=1)
            self.assertEqual(live.stdout, again.stdout)
            self.sentence(*self.on("--record", path, "verdict"), status=2,
                          says="already exists")
            with gzip.open(path, "rt") as file:
                self.assertNotIn("\"variables\"", file.read())

    def test_a_recording_has_the_sources(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.jsonl")
            self.run_cli(*self.on("--record", path, "verdict"), status=1)
            with gzip.open(path, "rt") as file:
                answers = [json.loads(line) for line in file]
        contents = [a["body"]["content"] for a in answers
                    if a["type"] == "response" and a["command"] == "source"]
        self.assertTrue(any("def " in c for c in contents if c))

    def test_ranks_that_are_not_known_yet(self):
        ranks = self.ask([RANK], *self.on("ranks", "ranks", "!1"), status=1)
        self.assertEqual([r["rank"] for r in ranks], [0, 2, 3])

    def test_ranks_that_the_job_lacks(self):
        self.sentence(*self.on("--ranks", "77", "verdict"), status=3,
                      says="no rank 77 in")

    def test_a_recording_of_locals_was_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.jsonl")
            self.run_cli(*self.on("--record", path, "locals", "--rank", "3"))
            answer = self.ask(LOCALS, "--replay", path, "locals", "--rank",
                              "3")
        self.assertEqual(bound(answer), {"step": "3", "rank": "3"})

    def test_the_node_is_gone_afterwards(self):
        self.run_cli(*self.on("verdict", "--for", "0"), status=1,
                     env={"PROBETUI_TEST": self.id()})
        jobs.wait_for(lambda: not nodes_of(self.id()), "the node to go",
                      limit=1)

    def check_signal(self, number):
        process = subprocess.Popen(
            [jobs.PROBETUI] + list(self.on("verdict", "--for", "60")),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            env=self.environment(PROBETUI_TEST=self.id()))
        jobs.wait_for(lambda: nodes_of(self.id()), "the node to start")
        process.send_signal(number)
        process.wait(timeout=jobs.LIMIT)
        jobs.wait_for(lambda: not nodes_of(self.id()), "the node to go")
        for pid in self.job.pids:
            self.assertEqual(jobs.tracer(pid), 0)

    def test_a_signal_ends_it(self):
        self.check_signal(signal.SIGTERM)

    def test_a_kill_ends_its_node_too(self):
        self.check_signal(signal.SIGKILL)

    def test_a_reader_that_leaves(self):
        process = subprocess.Popen(
            [jobs.PROBETUI] + list(self.on("stacks", "--json")),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=self.environment())
        process.stdout.close()
        _, errors = process.communicate(timeout=jobs.LIMIT)
        self.assertGreaterEqual(process.returncode, 0)
        self.assertNotIn(b"Sanitizer", errors)


def nodes_of(test):
    """Pids of the nodes that were started in this test's environment."""
    mark = ("PROBETUI_TEST=%s" % test).encode()
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % name, "rb") as file:
                is_ours = mark in file.read().split(b"\0")
            with open("/proc/%s/comm" % name) as file:
                is_node = file.read() == "probetui-node\n"
            if is_ours and is_node:
                found.append(int(name))
        except OSError:
            pass
    return found


class TestWithin(TestLive):
    """The same where probetui has the node in it."""

    def environment(self, **more):
        variables = super().environment(**more)
        variables.pop("PROBETUI_NODE", None)
        return variables

    def count_programs(self, *arguments, status):
        with tempfile.NamedTemporaryFile("r") as trace:
            result = subprocess.run(
                ["strace", "-f", "-qq", "-e", "trace=execve", "-o",
                 trace.name, jobs.PROBETUI] + list(self.on(*arguments)),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, env=self.environment())
            self.assertEqual(result.returncode, status, result.stderr)
            return sum("execve(" in line for line in trace)

    @unittest.skipUnless(shutil.which("strace"), "strace is not here")
    def test_what_only_looks_starts_no_other_program(self):
        for words in ("verdict", "--for", "0"), ("ranks",), ("stacks",):
            self.assertEqual(self.count_programs(*words, status=1), 1, words)
        # What may stop a rank has a node that a kill of probetui spares.
        self.assertEqual(self.count_programs("locals", "--rank", "3",
                                             status=0), 2)


class TestExits(Cli):
    """A script hears of the end of a rank."""

    def test_wait_exited(self):
        job = jobs.RanksJob(4)    # rank 3 hangs, so none ends by itself
        self.addCleanup(job.close)
        process = subprocess.Popen(
            [jobs.PROBETUI, "--json", "--job", str(job.port), "-x", "-"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            universal_newlines=True)
        self.addCleanup(process.stdout.close)
        process.stdin.write("ranks\nwait exited ranks 1 timeout 60\n")
        process.stdin.close()
        ready, _, _ = select.select([process.stdout], [], [], jobs.LIMIT)
        self.assertTrue(ready)
        self.assertEqual(list(check(json.loads(process.stdout.readline()),
                                    [RANK])), [])
        os.kill(job.pids[1], 9)
        events = [json.loads(line) for line in process.stdout]
        process.wait(timeout=jobs.LIMIT)
        ends = [e for e in events if e.get("rank") == 1]
        self.assertEqual(list(check(ends[0], EXITED)), [])


class TestUnreachable(Cli):
    """No rank can be read: status 3, and why."""

    def test_a_pid_that_is_gone(self):
        process = subprocess.Popen([sys.executable, "-c", ""])
        process.wait()
        self.sentence("--pid", process.pid, "verdict", status=3,
                      says=str(process.pid))
        result = self.run_cli("--pid", process.pid, "verdict", status=3)
        self.assertIn("(pid %d): process %d does not exist"
                      % (process.pid, process.pid),
                      result.stderr)

    def test_not_python(self):
        process = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdin.close)
        self.sentence("--pid", process.pid, "stacks", status=3,
                      says=str(process.pid))

    def test_a_job_that_is_not_there(self):
        result = self.run_cli("--job", "1", "verdict", status=3)
        self.assertTrue(result.stderr.startswith("probetui: "))


if __name__ == "__main__":
    unittest.main()
