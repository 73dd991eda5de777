"""The request `evidence`: what is known of a rank besides its stacks."""
import json
import os
import resource
import shutil
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from nodes import WAIT, Node, Target  # noqa: E402

# Maps what stands for torch's library, as a rank that has imported torch.
TORCH = """
import mmap, sys
with open(%r, "rb") as file:
    held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
print("ready", flush=True)
sys.stdin.read()
"""


class TestEvidence(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="probetui-evidence-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.node = Node()
        self.addCleanup(self.node.close)

    def start(self, *code, **options):
        target = Target(*code, RANK="3", **options)
        self.addCleanup(target.close)
        self.node.discover(pids=[target.pid], follow=True, period=0.1)
        return target

    def ask(self, target):
        ranks = self.node.ask("evidence", pids=[target.pid])["ranks"]
        self.assertEqual([rank["pid"] for rank in ranks], [target.pid])
        return ranks[0]

    def path(self, *names):
        path = os.path.join(self.folder, *names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.node.process.pid))

    def test_no_descriptor_is_kept_of_what_has_ended(self):
        self.ask(self.start())
        before = self.descriptors()
        for i in range(6):
            path = self.path(str(i), "error.json")
            target = self.start(TORCHELASTIC_ERROR_FILE=path)
            self.ask(target)
            with open(path, "w") as file:
                json.dump({"message": "said %d" % i}, file)
            target.end()
            self.node.event("rankRemoved", target.pid)
            self.assertEqual(self.ask(target)["error_file"]["message"],
                             "said %d" % i)
        self.assertEqual(self.descriptors(), before)
        shutil.rmtree(os.path.dirname(path))
        self.assertEqual(self.ask(target)["error_file"]["message"],
                         "said %d" % i)

    def write(self, text, *names):
        with open(self.path(*names), "w") as file:
            file.write(text)

    def test_what_a_rank_was_started_with(self):
        self.write(WAIT, "src", "train.py")
        before = time.time()
        target = self.start(
            argv=[sys.executable, self.path("src", "train.py"), "--lr", "0.1",
                  "--token", "hunter2"],
            NCCL_DEBUG="INFO", TORCH_API_KEY="hunter2", OMP_NUM_THREADS="1",
            GLOO_URL="http://bob:hunter2@host", HARMLESS="hunter2",
            TORCHELASTIC_RESTART_COUNT="1")
        after = time.time()
        origin = self.ask(target)["origin"]
        self.assertTrue(origin["command"].endswith(
            "src/train.py --lr 0.1 --token <masked>"), origin["command"])
        for name, value in (("NCCL_DEBUG", "INFO"), ("OMP_NUM_THREADS", "1"),
                            ("TORCH_API_KEY", "<masked>"),
                            ("GLOO_URL", "http://<masked>@host"),
                            ("TORCHELASTIC_RESTART_COUNT", "1")):
            self.assertEqual(origin["environment"][name], value)
        self.assertNotIn("hunter2", json.dumps(origin))
        # The kernel counts in hundredths, and the answer in whole seconds.
        self.assertLessEqual(before - 2, origin["started"])
        self.assertLessEqual(origin["started"], after + 2)
        self.assertEqual(origin["limits"]["open files"], str(
            resource.getrlimit(resource.RLIMIT_NOFILE)[0]))
        self.assertNotIn("commit", origin)

    def test_the_commit_of_its_script(self):
        loose, packed = "a1" * 20, "b2" * 20
        self.write(WAIT, "src", "deep", "train.py")
        self.write("# pack-refs with: peeled\n%s refs/heads/other\n"
                   "%s refs/heads/main\n" % ("c3" * 20, packed),
                   "src", ".git", "packed-refs")
        for head, commit in (
                (loose + "\n", loose), ("ref: refs/heads/main\n", packed),
                ("ref: refs/heads/none\n", None),
                ("ref: refs/../../secret\n", None), ("nonsense", None)):
            self.write(head, "src", ".git", "HEAD")
            target = self.start(argv=[sys.executable, self.path(
                "src", "deep", "train.py")])
            self.assertEqual(self.ask(target)["origin"].get("commit"), commit)
        self.write("gitdir: ../elsewhere\n", "src", "deep", ".git")
        target = self.start(argv=[sys.executable, self.path(
            "src", "deep", "train.py")])
        self.assertNotIn("commit", self.ask(target)["origin"])
        os.unlink(self.path("src", "deep", ".git"))
        self.write(loose, "src", ".git", "refs", "heads", "main")
        self.write("ref: refs/heads/main\n", "src", ".git", "HEAD")
        target = self.start(argv=[sys.executable, self.path(
            "src", "deep", "train.py")])
        self.assertEqual(self.ask(target)["origin"]["commit"], loose)

    def test_a_version_of_torch_that_was_installed_later(self):
        library = self.path("torch", "lib", "libtorch_cpu.so")
        with open(library, "wb") as file:
            file.write(b"\0" * 4096)
        version = self.path("torch", "version.py")
        with open(version, "w") as file:
            file.write("from typing import Optional\n__version__ = '2.1'\n")
        os.utime(version, (1000000000, 1000000000))
        target = self.start(TORCH % library)
        self.assertEqual(self.ask(target)["torch"], "2.1")
        with open(version, "w") as file:
            file.write("\n__version__ = '9.9'\n")
        os.utime(version, (time.time() + 60, time.time() + 60))
        other = Node()
        self.addCleanup(other.close)
        other.discover(pids=[target.pid])
        self.assertIsNone(
            other.ask("evidence", pids=[target.pid])["ranks"][0]["torch"])


if __name__ == "__main__":
    unittest.main()
