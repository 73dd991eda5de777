"""Root puts the agent into a process that has mounted other folders of the
host where the agent is to lie: nothing is made, changed or removed there."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROBETUI = os.environ.get("PROBETUI", "probetui")
LIMIT = 120
NOBODY = 65534
PYTHON = "/usr/bin/python3"

# A process of another user, root in its own user and mount namespace. It
# mounts FOLDER over each of `over`, and, as soon as the agent has said where
# it listens, over folders beside that, and inside.
TARGET = r"""
import ctypes, json, os, sys, threading
folder, over = sys.argv[1], sys.argv[2:]
library = ctypes.CDLL(None, use_errno=True)
mounted = []

def mount(place):
    if library.mount(folder.encode(), place.encode(), None, 4096, None):
        raise OSError(ctypes.get_errno(), "mount", place)
    mounted.append(place)

# It is "root" as the test is, which may have this folder.
own = "/tmp/pdb-0"
if not os.path.isdir(own):
    os.mkdir(own, 0o700)
library.mount(b"none", own.encode(), b"tmpfs", 0, b"mode=700")
for place in over:
    mount(place)
rename = os.rename
def rename_and_mount(old, new):
    if new.endswith("/answer"):
        here = os.path.dirname(new)
        for inner in ("/probetui", "/other"):
            if not os.path.isdir(here + inner):
                os.mkdir(here + inner)
            mount(here + inner)
    rename(old, new)
os.rename = rename_and_mount
print("ready", flush=True)
sys.stdin.readline()
print(json.dumps(mounted))
"""


def listing(folder):
    """What is in it, and whose it is, and when it was changed."""
    found = {}
    for path, folders, names in os.walk(folder):
        for name in [path] + [os.path.join(path, name) for name in names]:
            status = os.stat(name)
            found[name] = (status.st_uid, status.st_mode, status.st_mtime_ns)
    return found


@unittest.skipIf(os.getuid(), "not root: there is no other user")
@unittest.skipUnless(os.path.exists(PYTHON), "there is no " + PYTHON)
class TestMounts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="mounts-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o755)
        for name in ("probetui", "deep/probetui"):
            os.makedirs("%s/secret/%s" % (self.folder, name))
        for name in ("precious", "probetui/precious", "answer", "start.py"):
            path = "%s/secret/%s" % (self.folder, name)
            with open(path, "w") as file:
                file.write("root's")
            os.chmod(path, 0o600)
        self.secret = self.folder + "/secret"
        self.before = listing(self.secret)

    def start(self, *over):
        def become():
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)

        unshare = ["unshare", "-Urm"]
        if subprocess.run(unshare + ["true"], stderr=subprocess.DEVNULL,
                          preexec_fn=become).returncode:
            self.skipTest("no user namespaces here")
        process = subprocess.Popen(
            unshare + [PYTHON, "-c", TARGET, self.secret, *over],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=become)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def inject(self, process):
        return subprocess.run(
            [PROBETUI, "--pid", str(process.pid), "--timeout", "60",
             "inject"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=LIMIT, universal_newlines=True)

    def mounted(self, process):
        return json.loads(process.communicate(b"end\n", LIMIT)[0].decode())

    def test_inside(self):
        process = self.start()
        run = self.inject(process)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(len(self.mounted(process)), 2)
        self.assertEqual(listing(self.secret), self.before)

    def test_where_it_is_to_lie(self):
        places = ("/tmp", "/var/tmp", "/dev/shm")
        # What is below /tmp is still seen where it was mounted first.
        process = self.start(*reversed(places))
        run = self.inject(process)
        self.assertEqual(run.returncode, 3, run.stdout)
        self.assertIn("no folder was found that its user can write to", run.stderr)
        self.assertEqual(len(self.mounted(process)), 3)
        self.assertEqual(listing(self.secret), self.before)


if __name__ == "__main__":
    unittest.main()
