"""Sixty secrets in a job, each with a number: none is in what probetui writes of
the job, but where an option asks for it."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import jobs

RANDOM = "Aa0Bb1Cc2Dd3Ee4Ff5Gg6Hh7"
# What stands before and behind a secret's number, by its format. The prefixes
# are put together here so that scanners do not take them for secrets.
FORMATS = {
    "word": ("w", "qzx9"),
    "github": ("gh" + "p_", RANDOM),
    "pat": ("github" + "_pat_", RANDOM),
    "face": ("h" + "f_", RANDOM),
    "amazon": ("AK" + "IA", "QQ7XW3ZJ9"),
    "openai": ("s" + "k-", RANDOM),
    "slack": ("xox" + "b-", RANDOM),
    "token": ("ey" + "JhbGciOiJIUzI1NiJ9.ey" + "J", RANDOM + ".dozjgNryP4J3jVmN"),
    "pem": ("-----BEGIN PRIVATE " + "KEY-----\\nMIIEvQ", "\\n-----END PRIVATE KEY-----"),
}
ENVIRONMENT = [
    ("TORCH_HUB_TOKEN", "{word}"), ("NCCL_API_KEY", "{word}"),
    ("PYTORCH_SECRET", "{word}"), ("GLOO_PASSWORD", "{word}"),
    ("TORCH_AUTH", "{word}"), ("CUDA_CREDENTIALS", "{word}"),
    ("NCCL_DEBUG_FILE", "/tmp/x?token={word}"),
    ("TORCH_HOME", "https://bob:{word}@host/x"), ("NCCL_COMM_ID", "{github}"),
    ("TORCH_LOGS", "a,{token}"),
]
ARGUMENTS = [
    "--token {word}", "--password={word}", "--api-key {word}", "--auth {word}",
    "https://bob:{word}@host/data", "--url=https://bob:{word}@host",
    "--wandb-key={word}", "{face}", "--name={openai}", "--id {amazon}",
]
LOCALS = [
    "a1 = '{github}'", "a2 = ['x', '{face}']", "a3 = {{'x': '{openai}'}}",
    "a4 = {{'password': '{word}'}}", "a5 = {{'outer': {{'api_key': '{word}'}}}}",
    "a6 = '{token}'", "a7 = '{pem}'", "a8 = ('{amazon}', 1)",
    "api_key = '{word}'", "a9 = {{'Authorization': 'Bearer {word}'}}",
    "a10 = 'https://bob:{word}@host'", "a11 = b'{slack}'",
]
SOURCE = [
    "password = '{word}'", "API_KEY: str = '{word}'", "connect(token='{word}')",
    "settings = {{'secret': '{word}'}}", "pass  # the token={word}",
    "'''Authorization: Bearer {word}abc'''", "password == '{word}'",
    "connect('{pat}')", "connect('https://bob:{word}@host')",
    "connect('x?api_key={word}')",
]
OUTPUT = [
    "token: {word}", "using {github} now", "login https://bob:{word}@host",
    "password={word}", "Authorization: Bearer {word}abc", "{{'api_key': '{word}'}}",
    "key {amazon}", "[rank0]: auth_token={word}", "jwt {token}",
]
EXCEPTIONS = [
    "ValueError('token={word} was refused')", "KeyError('{github}')",
    "RuntimeError('401 for https://bob:{word}@host/x')",
    "OSError('Authorization: Bearer {word}abc')",
    "LookupError({{'password': '{word}'}})", "TypeError('{openai} is no key')",
    "ValueError('--api-key {word}')", "EOFError('cookie {token}')",
    "RuntimeError('{pem}')",
]
PROGRAM = """
import sys

def connect(*words, **names):
    pass

def work():
%(locals)s
    print("ready", flush=True)
    sys.stdin.readline()

def unused():
%(source)s

%(output)s
work()
error = None
for each in (%(exceptions)s):
    try:
        raise each from error
    except Exception as caught:
        error = caught
raise error
"""


class Plants:
    """Fills numbered secrets into templates. patterns: of their numbers."""

    def __init__(self):
        self.count = 0

    def fill(self, template):
        def secret(mark):
            before, behind = FORMATS[mark[1]]
            self.count += 1
            return "%sPLANT%02d%s" % (before, self.count, behind)
        text = re.sub(r"\{(\w+)\}", secret, template.replace("{{", "\0"))
        return text.replace("\0", "{").replace("}}", "}")


class TestSecrets(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.start()

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self):
        plants = Plants()

        def fill(templates, form):
            return [form % plants.fill(template) for template in templates]
        with open(self.path("train.py"), "w") as file:
            file.write(PROGRAM % {
                "locals": "\n".join(fill(LOCALS, "    %s")),
                "source": "\n".join(fill(SOURCE, "    %s")),
                "output": "\n".join(
                    "print(%r, file=sys.std%s)" % (
                        plants.fill(line), ("out", "err")[number % 2])
                    for number, line in enumerate(OUTPUT)),
                "exceptions": ", ".join(fill(EXCEPTIONS, "%s"))})
        arguments = [word for argument in ARGUMENTS
                     for word in plants.fill(argument).split()]
        variables = {name: plants.fill(value) for name, value in ENVIRONMENT}
        self.assertEqual(plants.count, 60)
        output = [open(self.path(name), "wb") for name in ("out", "err")]
        self.rank = subprocess.Popen(
            [sys.executable, "-u", self.path("train.py")] + arguments,
            stdin=subprocess.PIPE, stdout=output[0], stderr=output[1],
            preexec_fn=jobs.end_with_parent,
            env=dict(os.environ, RANK="0", WORLD_SIZE="1",
                     MASTER_ADDR="127.0.0.1", MASTER_PORT=str(jobs.free_port()),
                     **variables))
        for file in output:
            file.close()
        self.addCleanup(self.rank.communicate)
        self.addCleanup(self.rank.kill)
        jobs.wait_for(self.is_ready, "the rank")

    def is_ready(self):
        with open(self.path("out")) as file:
            return "ready\n" in file.read()

    def check(self, what, text):
        """No secret is in it, and it is about the job."""
        self.assertIn("train.py", text, what)
        lines = [line[max(0, found.start() - 80):found.end() + 20]
                 for line in text.split("\n")
                 for found in re.finditer(r"PLANT\d\d", line)]
        self.assertEqual(lines, [], what)

    def run_probetui(self, *arguments):
        result = jobs.probetui("--pid", self.rank.pid, *arguments)
        self.assertIn(result.returncode, (0, 1, 4), result.stderr)
        return result.stdout + result.stderr

    def watch(self, stuck):
        return subprocess.Popen(
            [jobs.PROBETUI, "--pid", str(self.rank.pid), "--json", "wait",
             "--stuck", stuck, "--report", self.path("reports"),
             "--record-locals", "--record-output"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def check_event(self, watch, event):
        output, errors = watch.communicate(timeout=jobs.LIMIT)
        document = json.loads(output)
        self.assertEqual(document["event"], event, errors)
        self.check(event, output + errors)
        with open(document["report"]) as file:
            self.check("report of " + event, file.read())
        recorded = jobs.unpacked(document["recording"]).decode()
        self.check("recording of " + event, recorded)
        result = jobs.probetui("--replay", document["recording"], "--json",
                               "report")
        self.check("report of the recording of " + event, result.stdout)
        return recorded

    def test_none_is_written(self):
        for words in (["verdict"], ["--json", "verdict"], ["stacks", "--locals"],
                      ["--json", "stacks", "--locals"], ["report"],
                      ["--json", "report"], ["--json", "ranks"], ["jobs"]):
            with self.subTest(words):
                self.check(words, self.run_probetui(*words))
        recorded = self.check_event(self.watch("1s"), "stuck")
        for part in ('"name":"a1"', "using <masked> now",
                     "connect(token='<masked>')"):
            self.assertIn(part, recorded)
        watch = self.watch("600s")
        self.addCleanup(watch.communicate)
        self.addCleanup(watch.kill)
        self.assertIn("watching", watch.stderr.readline())
        self.rank.stdin.write(b"\n")
        self.rank.stdin.flush()
        self.check_event(watch, "failed")
        result = jobs.probetui("post-mortem", self.path("err"))
        self.check("post-mortem", result.stdout + result.stderr)

    def test_they_are_there(self):
        """What the other test does not find is where an option asks for it."""
        said = self.run_probetui("stacks", "--locals", "--secrets")
        self.assertIn("PLANT", said)


if __name__ == "__main__":
    unittest.main()
