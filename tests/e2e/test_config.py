"""The config file, themes and settings as a shell meets them."""
import os
import shutil
import subprocess
import tempfile
import unittest

import jobs

HUNG = os.path.join(jobs.SOURCE, "tests", "recordings", "hung8.jsonl")


class TestConfig(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="probetui-config-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.mkdir(os.path.join(self.folder, "probetui"))
        self.path = os.path.join(self.folder, "probetui", "config")
        self.environment = dict(os.environ, XDG_CONFIG_HOME=self.folder,
                                PROBETUI_NODE="/nowhere/probetui-node")

    def run_with(self, config, *arguments, cwd=None):
        with open(self.path, "w") as file:
            file.write(config)
        return subprocess.run([jobs.PROBETUI] + list(arguments), cwd=cwd,
                              env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, timeout=jobs.LIMIT)

    def test_a_mistake_is_status_2_and_names_its_line(self):
        cases = (
            ("set period 0", "line 1: period: '0' is not a number of seconds"),
            ("\nbind M megred", "line 2: unknown command 'megred'"),
            ("bind PageUp up", "line 1: 'PageUp' is not a key"),
            ("bind M up\nbind M down", "line 2: 'bind M' is 'down' here"),
            ("\n\ntheme nosuch", "line 3: unknown theme 'nosuch'"),
        )
        for config, says in cases:
            with self.subTest(config):
                result = self.run_with(config, "--replay", HUNG, "verdict")
                self.assertEqual(result.returncode, 2)
                self.assertEqual(result.stdout, "")
                self.assertIn(self.path, result.stderr)
                self.assertIn(says, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1)

    def test_settings_and_keys_need_no_ranks(self):
        result = self.run_with("set timeout 9\nbind F5 refresh\n", "set")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"(?m)^timeout +9 ")
        self.assertRegex(result.stdout, r"(?m)^mouse +on ")
        result = self.run_with("bind F5 refresh\n", "keys")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"(?m)^R F5 ")

    def test_what_a_value_does_not_do_is_said(self):
        result = self.run_with("", "set", "threads", "one")
        self.assertEqual(result.returncode, 4)
        self.assertEqual(result.stderr, "probetui: the setting is reset when "
                         "this command exits; use the screen (:set) or a "
                         "script (-x) to keep it\n")
        self.assertEqual(result.stdout, "while one thread is stopped, other "
                         "threads of the rank may run C code without the GIL "
                         "(I/O, BLAS)\n")
        self.assertEqual(self.run_with("", "set", "threads", "all").stdout, "")

    def test_a_theme_that_is_not_there_is_not_set(self):
        result = self.run_with("", "set", "theme", "nosuch")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("unknown theme 'nosuch'", result.stderr)

    def test_nothing_is_taken_from_the_working_directory(self):
        os.makedirs(os.path.join(self.folder, "here", "probetui"))
        here = os.path.join(self.folder, "here")
        for name in ("config", ".probetui", "probetui/config"):
            with open(os.path.join(here, name), "w") as file:
                file.write("no such line\n")
        # A relative folder of configuration does not count.
        self.environment["XDG_CONFIG_HOME"] = "."
        self.environment["HOME"] = "/nowhere"
        result = self.run_with("", "set", cwd=here)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_a_mistake_in_a_theme_names_its_line(self):
        os.mkdir(os.path.join(self.folder, "probetui", "themes"))
        theme = os.path.join(self.folder, "probetui", "themes", "mine")
        with open(theme, "w") as file:
            file.write("text\ndim pink\n")
        result = self.run_with("theme mine\n", "--replay", HUNG, "verdict")
        self.assertEqual(result.returncode, 2)
        self.assertIn(theme + ", line 2: 'pink': not a colour", result.stderr)


if __name__ == "__main__":
    unittest.main()
