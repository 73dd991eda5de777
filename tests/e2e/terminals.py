"""probetui on a pseudo terminal, for tests: its output is taken while keys
are pressed, and its settings are compared afterwards."""
import fcntl
import os
import re
import select
import signal
import struct
import termios
import time

import jobs
import vterm

KEPT = 65536     # bytes of output that are remembered
MODE = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")


class Terminal:
    """A program on a terminal of its own; `start` starts another one."""

    def __init__(self, rows=24, columns=80):
        self.controller, self.line = os.openpty()
        os.set_blocking(self.controller, False)
        self.cells = vterm.Cells(rows, columns)
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.line)
        self.pid = 0
        self.output = b""
        self.status = None

    def start(self, arguments, **environment):
        self.output, self.status = b"", None
        self.pid = os.fork()
        if self.pid:
            return
        try:
            os.setsid()
            fcntl.ioctl(self.line, termios.TIOCSCTTY, 0)
            for number in range(3):
                os.dup2(self.line, number)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            os.environ.update({"TERM": "xterm-256color", "LC_ALL": "C.UTF-8",
                               "XDG_STATE_HOME": "/dev/null"})
            os.environ.update(environment)
            os.execv(jobs.PROBETUI, [jobs.PROBETUI] + list(arguments))
        finally:
            os._exit(127)

    def resize(self, rows, columns):
        self.cells.resize(rows, columns)
        fcntl.ioctl(self.controller, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def take(self, seconds):
        """Takes output for so long, or until some came."""
        if not select.select([self.controller], [], [], seconds)[0]:
            return
        try:
            output = os.read(self.controller, KEPT)
        except (BlockingIOError, OSError):
            return
        self.cells.write(output)
        self.output = (self.output + output)[-KEPT:]

    def settle(self, seconds):
        """Takes what comes in that time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.take(0.05)

    def press(self, keys, limit=60):
        """Writes all of it; the program's output is taken meanwhile."""
        end = time.monotonic() + limit
        while keys:
            ready = select.select([self.controller], [self.controller], [],
                                  0.1)
            if ready[0]:
                self.take(0)
            if ready[1]:
                keys = keys[os.write(self.controller, keys[:512]):]
            if not self.is_running():
                return
            if time.monotonic() > end:
                raise TimeoutError("nobody reads the keys")

    def text(self):
        """The lines of the screen."""
        return self.cells.text()

    def until(self, *texts, limit=60, lacks=()):
        """Waits until all of them are on the screen, each within a line or
        across lines, and none of `lacks`; returns the lines."""
        end = time.monotonic() + limit
        while True:
            shown = self.text()
            flat = " ".join(shown.split())
            if all(text in shown or text in flat for text in texts) and \
                    not any(text in flat for text in lacks):
                return shown
            if time.monotonic() > end or not self.is_running():
                raise TimeoutError("%r is not on the screen, or %r is:\n%s"
                                   % (texts, lacks, shown))
            self.take(0.1)

    def wait_for(self, text, limit=60):
        """Waits until text is written, all of it: letters that are on the
        screen already are not written again (`until` reads the screen). What
        came before the text is forgotten."""
        end = time.monotonic() + limit
        while text not in self.output:
            if time.monotonic() > end:
                raise TimeoutError("%r was not written; last: %r"
                                   % (text, self.output[-800:]))
            self.take(0.1)
        self.output = self.output[self.output.index(text) + len(text):]

    def see(self, text, limit=60):
        """Waits until text is on the screen, which is drawn anew meanwhile
        (^L): what was there before is not written again else."""
        end = time.monotonic() + limit
        while True:
            self.output = b""
            self.press(b"\x0c")
            pause = time.monotonic() + 0.2
            while text not in self.output and time.monotonic() < pause:
                self.take(0.02)
            if text in self.output:
                return
            if time.monotonic() > end:
                raise TimeoutError("%r is not seen; last: %r"
                                   % (text, self.output[-4000:]))

    def is_running(self):
        """One that was stopped (^Z) goes on."""
        if self.pid:
            pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
            if pid and os.WIFSTOPPED(status):
                os.kill(self.pid, signal.SIGCONT)
            elif pid:
                self.pid, self.status = 0, status
                self.take(0)
        return self.pid != 0

    def wait_end(self, limit=60):
        """Waits for the end; returns the exit status, or minus a signal."""
        end = time.monotonic() + limit
        while self.is_running():
            if time.monotonic() > end:
                raise TimeoutError("it does not end; last: %r"
                                   % self.output[-800:])
            self.take(0.05)
        while select.select([self.controller], [], [], 0)[0]:
            self.take(0)
        if os.WIFSIGNALED(self.status):
            return -os.WTERMSIG(self.status)
        return os.WEXITSTATUS(self.status)

    def modes(self):
        """The private modes that were set last: {1049: False, …}."""
        found = {}
        for numbers, last in MODE.findall(self.output):
            for number in numbers.split(b";"):
                found[int(number)] = last == b"h"
        return found

    def problem(self):
        """What is not as it was before; None when all is."""
        modes = self.modes()
        if modes.get(1049) or modes.get(1000) or modes.get(1006):
            return "modes are left on: %r" % modes
        if modes.get(25) is False:
            return "the cursor is left hidden"
        if termios.tcgetattr(self.line) != self.before:
            return "the settings of the terminal are other ones"
        return None

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0
        os.close(self.controller)
        os.close(self.line)
