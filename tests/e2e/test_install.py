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
        self.assertEqual(files_below(self.folder), [
            "usr/bin/probetui",
            "usr/libexec/probetui-http.so",
            "usr/libexec/probetui-native.so",
            "usr/libexec/probetui-node",
            "usr/share/bash-completion/completions/probetui",
            "usr/share/man/man1/probetui.1",
            "usr/share/probetui/agent/probetui/__init__.py",
            "usr/share/probetui/agent/probetui/access.py",
            "usr/share/probetui/agent/probetui/agent.py",
            "usr/share/probetui/agent/probetui/channel.py",
            "usr/share/probetui/agent/probetui/dap/__init__.py",
            "usr/share/probetui/agent/probetui/debugging/__init__.py",
            "usr/share/probetui/agent/probetui/debugging/arming.py",
            "usr/share/probetui/agent/probetui/debugging/breakpoints.py",
            "usr/share/probetui/agent/probetui/debugging/changes.py",
            "usr/share/probetui/agent/probetui/debugging/codes.py",
            "usr/share/probetui/agent/probetui/debugging/collectives.py",
            "usr/share/probetui/agent/probetui/debugging/engine.py",
            "usr/share/probetui/agent/probetui/debugging/expressions.py",
            "usr/share/probetui/agent/probetui/debugging/monitoring.py",
            "usr/share/probetui/agent/probetui/debugging/paths.py",
            "usr/share/probetui/agent/probetui/debugging/reaching.py",
            "usr/share/probetui/agent/probetui/debugging/specs.py",
            "usr/share/probetui/agent/probetui/debugging/stepping.py",
            "usr/share/probetui/agent/probetui/debugging/stop.py",
            "usr/share/probetui/agent/probetui/debugging/table.py",
            "usr/share/probetui/agent/probetui/debugging/tracing.py",
            "usr/share/probetui/agent/probetui/debugging/tstates.py",
            "usr/share/probetui/agent/probetui/debugging/uncaught.py",
            "usr/share/probetui/agent/probetui/debugging/watchdogs.py",
            "usr/share/probetui/agent/probetui/endpoints.py",
            "usr/share/probetui/agent/probetui/evaluation.py",
            "usr/share/probetui/agent/probetui/files.py",
            "usr/share/probetui/agent/probetui/holds.py",
            "usr/share/probetui/agent/probetui/http1.py",
            "usr/share/probetui/agent/probetui/identity.py",
            "usr/share/probetui/agent/probetui/injected.py",
            "usr/share/probetui/agent/probetui/inspection.py",
            "usr/share/probetui/agent/probetui/objects.py",
            "usr/share/probetui/agent/probetui/process.py",
            "usr/share/probetui/agent/probetui/prompt.py",
            "usr/share/probetui/agent/probetui/py.typed",
            "usr/share/probetui/agent/probetui/routes.py",
            "usr/share/probetui/agent/probetui/server.py",
            "usr/share/probetui/agent/probetui/settings.py",
            "usr/share/probetui/agent/probetui/starting.py",
            "usr/share/probetui/agent/probetui/values.py",
            "usr/share/probetui/agent/probetui/wire.py",
            "usr/share/probetui/agent/probetui/wrapping.py",
            "usr/share/probetui/agent/sitecustomize.py",
            "usr/share/probetui/dap-bridge",
            "usr/share/probetui/themes/default",
            "usr/share/probetui/themes/high-contrast",
            "usr/share/probetui/themes/light",
            "usr/share/probetui/themes/mono",
            "usr/share/zsh/site-functions/_probetui",
        ])
        self.make("uninstall", "DESTDIR=" + self.folder, "prefix=/usr")
        self.assertEqual(files_below(self.folder), [])


if __name__ == "__main__":
    unittest.main()
