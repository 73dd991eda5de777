"""make install and uninstall, and the installed program."""
import os
import shutil
import subprocess
import tempfile
import unittest

import jobs

BUILD = os.environ.get("BUILDDIR", ".")


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(path, name), folder)
                  for path, _, names in os.walk(folder) for name in names)


class TestInstall(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="probetui-install-")
        self.addCleanup(shutil.rmtree, self.folder)

    def make(self, *arguments):
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        run = subprocess.run(["make", "-C", BUILD] + list(arguments),
                             stdin=subprocess.DEVNULL, env=environment,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             universal_newlines=True)
        self.assertEqual(run.returncode, 0, run.stdout)

    def test_destdir(self):
        self.make("install", "DESTDIR=" + self.folder, "prefix=/usr")
        agent = ["usr/share/probetui/agent/" + name for name in files_below(
            os.path.join(jobs.SOURCE, "agent"))
            if name.endswith((".py", "py.typed"))]
        self.assertEqual(files_below(self.folder), sorted(agent + [
            "usr/bin/probetui",
            "usr/libexec/probetui-http.so",
            "usr/libexec/probetui-native.so",
            "usr/libexec/probetui-node",
            "usr/share/bash-completion/completions/probetui",
            "usr/share/man/man1/probetui.1",
            "usr/share/probetui/dap-bridge",
            "usr/share/probetui/themes/default",
            "usr/share/probetui/themes/high-contrast",
            "usr/share/probetui/themes/light",
            "usr/share/probetui/themes/mono",
            "usr/share/zsh/site-functions/_probetui",
        ]))
        self.make("uninstall", "DESTDIR=" + self.folder, "prefix=/usr")
        self.assertEqual(files_below(self.folder), [])


if __name__ == "__main__":
    unittest.main()
