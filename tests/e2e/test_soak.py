"""Random keys, mouse and sizes: nothing crashes, leaks or stays behind.

PROBETUI_SOAK is how many seconds (5), PROBETUI_SEED makes a run again. What is
pressed is the same each time unless it is asked for so many seconds.
"""
import fcntl
import os
import random
import shutil
import signal
import struct
import tempfile
import termios
import time
import unittest

import jobs
from terminals import Terminal

SECONDS = float(os.environ.get("PROBETUI_SOAK", "5"))
SEED = int(os.environ.get("PROBETUI_SEED") or
           ("PROBETUI_SOAK" in os.environ and random.randrange(1 << 32)))
LIVE_SECONDS = 30    # from so many on a real job is looked at, too
RECORDINGS = [["hung8.jsonl"], ["jobs.jsonl"], ["nothing.jsonl"],
              ["native.jsonl"], ["gpu01.jsonl", "gpu02.jsonl"],
              ["stopped4.jsonl"], ["stopped8.jsonl"]]

SPECIAL = [b"\t", b"\x1b[Z", b"\r", b"\x1b", b"\x1bOA", b"\x1bOB", b"\x1bOC",
           b"\x1bOD", b"\x1bOH", b"\x1bOF", b"\x1b[5~", b"\x1b[6~", b"\x1bOP",
           b"\x0c", b"\x03", b"\x1a", b"\x7f", b" ", b"\x12", b"\x15", b"\x17",
           b"\x01", b"\x05", b"\x0b", b"\x10", b"\x0e", b"\x04", b"\x1d"]
KEYS = b"[]{}udMDvGgxzPRLE/.,:?jkhl0123456789yAI@oOHJN\\<>aZ~nsfctbBe=C-"
# All but ^\\, which ends a program whose terminal is not its own yet.
BYTES = [i for i in range(256) if i != 0x1c]
LINES = ["rank 3", "rank 99", "merged", "diff majority", "diff 0 5", "diff 3s",
         "grid cells", "grid table", "grid cards", "focus 0-3", "focus all",
         "focus outlier", "seek 3", "theme mono", "theme nosuch", "theme light",
         "granularity file", "set ascii on", "set ascii off", "set mouse off",
         "set mouse on", "keys", "name odd 3", "search time", "search \"",
         "click 5 5 open", "wheel 12 7 down", "gr\t", "focus st\t\t", "no\u00e4",
         "bind X zoom", "nosuch", "frame 1", "thread 1", "back", "zoom", "copy",
         "edit", "redraw", "log", "cursor page-down", "expand", "help",
         "native", "native on", "native off", "job 29500", "job 29501",
         "record FOLDER/seen", "time -1", "time +2", "doctor", "verdict",
         "break train.py:14 if x", "break nosuch", "tbreak 3", "clear",
         "clear 1", "disable 1", "ignore 1 2", "condition 1 x", "display step",
         "undisplay", "print step", "eval 1", "compare step", "broadcast w",
         "next", "continue ranks 0", "until 3", "jump 2", "console",
         "connect pdb:unix:/nosuch", "detach", "terminate", "breakpoints"]
TEXTS = ["time", "\u4e2d\u6587", "train", "\u0301", "\u202e", "'", "0-7,16", "="]


def random_keys(chance):
    """Some bytes as a person's hands might send them."""
    kind = chance.random()
    if kind < 0.35:
        return bytes([chance.choice(KEYS)])
    if kind < 0.65:
        return chance.choice(SPECIAL)
    if kind < 0.85:
        button = chance.choice([0, 0, 0, 64, 65, 1, 2, 35])
        place = (button, chance.randint(1, 210), chance.randint(1, 62))
        click = b"\x1b[<%d;%d;%dM" % place + b"\x1b[<%d;%d;%dm" % place
        return click * chance.choice([1, 1, 2])
    if kind < 0.93:
        return b":" + chance.choice(LINES).encode() + b"\r"
    if kind < 0.98:
        return chance.choice(TEXTS).encode()
    return bytes(chance.choice(BYTES) for _ in range(chance.randint(1, 6)))


class TestSoak(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="probetui-soak-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.terminal = Terminal()
        self.addCleanup(self.terminal.close)
        self.keep_output()
        self.job = None

    def keep_output(self):
        """A ^C behind the end takes nothing away that was written."""
        settings = termios.tcgetattr(self.terminal.line)
        settings[3] |= termios.NOFLSH
        termios.tcsetattr(self.terminal.line, termios.TCSANOW, settings)
        self.terminal.before = settings

    def arguments(self, chance):
        """What is looked at this time."""
        if self.job is not None and chance.random() < 0.5:
            return ["--job", str(self.job.port)]
        folder = os.path.join(jobs.SOURCE, "tests", "recordings")
        return [word for name in chance.choice(RECORDINGS)
                for word in ("--replay", os.path.join(folder, name))]

    def start(self, chance):
        report = "log_path=" + os.path.join(self.folder, "report")
        environment = {
            "EDITOR": chance.choice(["true", "false", "no-such-editor",
                                     "cat </dev/null #"]),
            "VISUAL": "",
            "XDG_STATE_HOME": self.folder,
            "PROBETUI_THEMES": os.path.join(jobs.SOURCE, "themes"),
            # It is traced by nobody, so that leaks can be looked for; what
            # makes it crash is said in place of restoring the terminal.
            "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=1:"
                            "allow_user_segv_handler=0:" + report,
            "UBSAN_OPTIONS": "print_stacktrace=1",
        }
        # What was pressed behind the last one's end is not for this one.
        termios.tcflush(self.terminal.line, termios.TCIFLUSH)
        self.terminal.start(self.arguments(chance), **environment)
        self.wait_until_drawn()

    def wait_until_drawn(self, limit=60):
        """From then on keys are its own. A late ^C may end it before."""
        end = time.monotonic() + limit
        while (self.terminal.is_running() and
               b"probetui" not in self.terminal.output):
            if time.monotonic() > end:
                raise TimeoutError("seed %d: nothing is drawn; last: %r"
                                   % (SEED, self.terminal.output[-800:]))
            self.terminal.take(0.1)

    def reports(self):
        """What the sanitisers wrote."""
        found = ""
        for name in sorted(os.listdir(self.folder)):
            if name.startswith("report"):
                with open(os.path.join(self.folder, name)) as file:
                    found += file.read()
        return found

    def check_end(self, status):
        note = "seed %d, status %d\n%s\n%r" % (
            SEED, status, self.reports(), self.terminal.output[-4000:])
        self.assertIsNone(self.terminal.problem(), note)
        self.assertEqual(self.reports(), "", note)
        # ^C behind a q may come when the terminal is given back already.
        self.assertIn(status, (0, -signal.SIGINT), note)

    def is_drawing(self):
        """False as soon as it gave the terminal back, to end. What it wrote may
        come late; its settings of the terminal are at once what they are."""
        lines = termios.tcgetattr(self.terminal.line)[3] & termios.ICANON
        return (self.terminal.is_running() and not lines and
                self.terminal.modes().get(1049) is not False)

    def unread(self):
        """How much of what was pressed nobody has read yet."""
        count = fcntl.ioctl(self.terminal.line, termios.FIONREAD, bytes(4))
        return struct.unpack("i", count)[0]

    def wait_for_hands(self, limit=60):
        """Waits until all was read and the terminal is its own, or the end."""
        end = time.monotonic() + limit
        self.terminal.take(0)
        while (self.terminal.is_running() and
               (self.unread() or not self.is_drawing())):
            if time.monotonic() > end:
                raise TimeoutError("seed %d: nobody reads the keys; last: %r"
                                   % (SEED, self.terminal.output[-800:]))
            self.terminal.take(0.002)

    def leave(self):
        """By q, as often as it takes; else as a shell ends it."""
        for key in [b"\x1b", b"q"] * 12:
            self.wait_for_hands()
            if self.is_drawing():
                self.terminal.press(key)
        self.wait_for_hands()
        if self.terminal.is_running():
            os.kill(self.terminal.pid, signal.SIGTERM)
        self.check_end(self.terminal.wait_end())

    def test_random_hands(self):
        print("# seed %d, %g seconds" % (SEED, SECONDS), flush=True)
        chance = random.Random(SEED)
        if SECONDS >= LIVE_SECONDS:
            self.job = jobs.RanksJob(4)
            self.addCleanup(self.job.close)
        end = time.monotonic() + SECONDS
        lives = keys = 0
        while time.monotonic() < end:
            self.terminal.resize(24, 80)
            self.start(chance)
            lives += 1
            for _ in range(chance.randint(50, 600)):
                if chance.random() < 0.03:
                    self.terminal.resize(chance.randint(1, 60),
                                         chance.randint(1, 200))
                stroke = random_keys(chance)
                self.terminal.press(stroke.replace(
                    b"FOLDER", self.folder.encode()))
                keys += 1
                self.wait_for_hands()
                if not self.terminal.is_running() or time.monotonic() > end:
                    break
            self.leave()
        print("# %d strokes in %d lives" % (keys, lives), flush=True)
        self.assertGreater(keys, SECONDS, "nothing was pressed")


if __name__ == "__main__":
    unittest.main()
