"""E gives the terminal to an editor, and takes it back."""
import os
import shutil
import signal
import tempfile
import unittest

import jobs
from terminals import Terminal

EDITOR = """#!/bin/sh
# Says what it was given and that the terminal is its own, and does what it
# is told.
echo "editing $# $1 $2 $3 $(stty -a | grep -o -e '-\\?icanon')"
while read -r order; do
	case $order in
	leave) exit 0 ;;
	show) stat -c "mode %a" "$3"; stat -c "folder %a" "${3%/*}"
		cat "$3"; touch "$3~" ;;
	fail) exit 3 ;;
	esac
done
"""


class TestEditor(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="probetui-editor-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.editor = os.path.join(self.folder, "an editor")
        with open(self.editor, "w") as file:
            file.write(EDITOR)
        os.chmod(self.editor, 0o700)
        self.terminal = Terminal()
        self.addCleanup(self.terminal.close)

    def start(self, **environment):
        job = jobs.RanksJob(4)
        self.addCleanup(job.close)
        environment.setdefault("VISUAL", "'%s' 'one word'" % self.editor)
        self.terminal.start(["--job", str(job.port)], **environment)
        # It is the rank looked at from then on, and this its line.
        self.terminal.wait_for(b"elsewhere")
        self.terminal.wait_for(b"ranks.py:5")
        self.terminal.wait_for(b"\xe2\x96\xb6")

    def wait_for_message(self, text):
        """The whole line is drawn where only a part of it had changed."""
        self.terminal.wait_for(b"\x1b[?1049h")
        self.terminal.resize(25, 90)
        self.terminal.wait_for(text)

    def leave(self):
        self.terminal.press(b"qq")
        self.assertEqual(self.terminal.wait_end(), 0)
        self.assertIsNone(self.terminal.problem())

    def test_there_and_back(self):
        self.start()
        self.terminal.press(b"E")
        self.terminal.wait_for(b"\x1b[?1049l")
        # Its words are split by the shell, as git does; keys are lines again.
        path = os.path.join(jobs.JOBS, "ranks.py")
        self.terminal.wait_for(b"editing 3 one word +5 %s icanon"
                               % path.encode())
        self.assertFalse(self.terminal.modes().get(1000))
        self.terminal.press(b"wait\n")
        # Its keys are its own, nothing is drawn, and the size may change.
        self.terminal.resize(30, 100)
        self.terminal.press(b"leave\n")
        self.terminal.wait_for(b"\x1b[?1049h")
        self.terminal.wait_for(b"\x1b[30;")
        self.terminal.press(b"?")
        self.terminal.wait_for(b"Select the previous, next rank")
        self.leave()

    def replay(self, lacking=None):
        """A recording whose source is said to be a file that is there."""
        self.named = os.path.join(self.folder, "train.py")
        with open(self.named, "w") as file:
            file.write("another one\n")
        path = os.path.join(jobs.SOURCE, "tests", "recordings", "hung8.jsonl")
        with open(path) as file:
            lines = [line.replace("/home/ana/job", self.folder)
                     for line in file if not lacking or lacking not in line]
        self.recording = os.path.join(self.folder, "recording")
        with open(self.recording, "w") as file:
            file.writelines(lines)
        self.copies = os.path.join(self.folder, "copies")
        os.mkdir(self.copies)
        self.terminal.start(["--replay", self.recording], TMPDIR=self.copies,
                            VISUAL="'%s' 'one word'" % self.editor)
        self.terminal.wait_for(b"elsewhere")
        self.terminal.press(b":time 100\r")
        self.terminal.wait_for(b"end")

    def test_a_recording_opens_no_file_it_names(self):
        self.replay()
        self.terminal.press(b"E")
        self.terminal.wait_for(b"editing 3 one word +5 " +
                               self.copies.encode() + b"/probetui-")
        self.terminal.press(b"show\n")
        self.terminal.wait_for(b"mode 400")
        self.terminal.wait_for(b"folder 700")
        self.terminal.wait_for(b"# storage went away")
        self.terminal.press(b"leave\n")
        self.terminal.wait_for(b"\x1b[?1049h")
        self.leave()
        self.assertEqual(os.listdir(self.copies), [])

    def test_a_recording_without_its_source(self):
        self.replay(lacking='"command":"source"')
        self.terminal.press(b"E")
        self.terminal.wait_for(b"cannot open train.py: the recording does not contain the source")
        self.leave()
        self.assertEqual(os.listdir(self.copies), [])

    def test_a_signal_leaves_no_copy(self):
        self.replay()
        self.terminal.press(b"E")
        self.terminal.wait_for(b"editing")
        os.kill(self.terminal.pid, signal.SIGTERM)
        self.assertEqual(self.terminal.wait_end(), 0)
        self.assertEqual(os.listdir(self.copies), [])

    def test_a_bad_end_is_said(self):
        self.start()
        self.terminal.press(b"E")
        self.terminal.wait_for(b"editing")
        self.terminal.press(b"fail\n")
        self.wait_for_message(b"exited with status 3")
        self.leave()

    def test_an_editor_that_is_not_there(self):
        self.start(VISUAL="", EDITOR="no-such-editor")
        self.terminal.press(b"E")
        self.wait_for_message(b"set VISUAL or EDITOR to an installed editor")
        self.leave()


if __name__ == "__main__":
    unittest.main()
