"""The scripts of `probetui completion`, run by the shells themselves."""
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

import jobs

# The words behind `probetui`, the last of them at the cursor, and what is
# offered: all of it, or some of it ("…").
CASES = (
    (["--re"], ["--replay", "--record", "--read-only", "…"]),
    (["verd"], ["verdict"]),
    ([""], ["ranks", "verdict", "stacks", "keys", "completion", "…"]),
    (["--json", "--timeout", "3", "sta"], ["stacks"]),
    (["--timeout", ""], []),
    (["verdict", "--f"], ["--for", "…"]),
    (["verdict", "--for", ""], []),
    (["stacks", ""], ["--merge", "--locals", "ranks", "…"]),
    (["stacks", "ranks", ""], []),
    (["wait", ""], ["verdict", "exited", "ranks", "timeout", "…"]),
    (["wait", "exited", "ra"], ["ranks"]),
    (["wait", "timeout", ""], []),
    (["completion", ""], ["bash", "zsh"]),
    (["help", "comp"], ["completion", "compare"]),
    (["set", "read"], ["read-only"]),
    (["--theme", ""], ["default", "light", "mono", "high-contrast", "mine"]),
    (["--theme", "li"], ["light"]),
    (["--replay", "re"], ["recording one", "records"]),
    (["-x", "recording"], ["recording one"]),
)
# As readline splits them.
BASH_CASES = (
    (["--theme", "=", "hi"], ["high-contrast"]),
    (["--theme", "="], ["default", "light", "mono", "high-contrast", "mine"]),
    (["--theme", "=", "light", "verd"], ["verdict"]),
)
ZSH_CASES = ((["--theme=hi"], ["high-contrast"]),)

BASH = """
COMP_WORDS=(probetui %s); COMP_CWORD=%d; _probetui
printf '%%s\\n' "${COMPREPLY[@]}"; echo .
"""
# What zsh's completion system would do with what it is given.
ZSH_STUBS = """
compdef() { : }
compset() { word=${word#*=} }
offer() { local each; for each; do
    [[ $each == "$word"* ]] && print -r -- "$each"; done }
compadd() { shift; offer "$@" }
_describe() { offer "${(@P)2%%:*}" }
_files() { offer *(.N) }
"""
ZSH = """
words=(probetui %s); CURRENT=%d; _probetui; echo .
"""


class TestCompletion(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="probetui-completion-")
        self.addCleanup(shutil.rmtree, self.folder)
        themes = os.path.join(self.folder, "probetui", "themes")
        os.makedirs(themes)
        for path in (themes + "/mine", themes + "/$(touch oops)",
                     themes + "/old~", self.folder + "/recording one",
                     self.folder + "/records"):
            open(path, "w").close()

    def script(self, shell):
        result = jobs.probetui("completion", shell)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def check(self, shell, prepare, form, first, cases):
        if not shutil.which(shell):
            self.skipTest("%s is not installed" % shell)
        text = prepare + self.script(shell) + "".join(
            form % (" ".join(map(shlex.quote, words)), len(words) + first)
            for words, _ in cases)
        environment = dict(
            os.environ, XDG_CONFIG_HOME=self.folder,
            PROBETUI_THEMES=os.path.join(jobs.SOURCE, "themes"))
        result = subprocess.run(
            [shell] + (["-f"] if shell == "zsh" else ["--norc"]), input=text,
            cwd=self.folder, env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
        self.assertEqual(result.stderr, "")
        answers = result.stdout.split(".\n")
        self.assertEqual(len(answers), len(cases) + 1)
        for (words, wanted), answer in zip(cases, answers):
            with self.subTest(" ".join(words)):
                offered = set(answer.split("\n")) - {""}
                if "…" in wanted:
                    self.assertLessEqual(set(wanted) - {"…"}, offered)
                else:
                    self.assertEqual(set(wanted), offered)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "oops")))

    def test_bash_offers_what_fits(self):
        self.check("bash", "", BASH, 0, CASES + BASH_CASES)

    def test_a_folder_that_is_not_set_is_not_the_root(self):
        for shell, form, prepare, first in (("bash", BASH, "", 0),
                                            ("zsh", ZSH, ZSH_STUBS, 1)):
            if not shutil.which(shell):
                self.skipTest("%s is not installed" % shell)
            environment = dict(os.environ, XDG_CONFIG_HOME=self.folder)
            environment.pop("PROBETUI_THEMES", None)
            result = subprocess.run(
                [shell] + (["-f"] if shell == "zsh" else ["--norc"]),
                input=prepare + self.script(shell) + "set -x\n" +
                form % ("--theme ''", 2 + first),
                env=environment, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
            self.assertIn("mine", result.stdout)
            for folder in os.listdir("/"):
                self.assertNotIn(" /%s " % folder, result.stderr)

    def test_zsh_offers_what_fits(self):
        self.check("zsh", ZSH_STUBS, ZSH, 1, CASES + ZSH_CASES)

    def test_every_option_and_command_is_offered(self):
        text = jobs.probetui("--help").stdout
        options, commands = text.split("Options:")[1].split("Commands:")
        words = re.findall(r"(?m)^  (?:-., |    )(--[a-z-]+)", options)
        words += re.findall(r"(?m)^  ([a-z-]+)", commands)
        self.assertGreater(len(words), 30)
        for shell in ("bash", "zsh"):
            script = self.script(shell)
            for word in words:
                self.assertRegex(script, r"'%s[':]" % word)

    def test_another_shell_is_wrong_usage(self):
        result = jobs.probetui("completion", "fish")
        self.assertEqual(result.returncode, 2)
        self.assertIn("use bash or zsh", result.stderr)


if __name__ == "__main__":
    unittest.main()
