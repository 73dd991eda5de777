"""What stands on the screen of a program on a pseudo terminal: enough of a
terminal for what ncurses writes to an xterm."""
import codecs
import re
import select
import time

import terminals

SEQUENCE = re.compile(
    r"\x1b\[(?P<private>[?>!]?)(?P<numbers>[0-9;]*)[ -/]*(?P<end>[@-~])"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-B]"
    r"|\x1b(?P<one>[=>78MDEc])|(?P<control>[\x00-\x1a\x1c-\x1f])|(?P<text>[^\x1b])")
BLANK = " "


class Cells:
    """The characters, and where the next one comes to stand."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.lines = [[BLANK] * columns for _ in range(rows)]
        self.row = self.column = 0
        self.top, self.bottom = 0, rows - 1
        self.last = BLANK
        self.rest = ""

    def feed(self, text):
        text = self.rest + text
        at = 0
        while at < len(text):
            found = SEQUENCE.match(text, at)
            if not found:
                break  # the rest of it comes later
            self.act(found)
            at = found.end()
        self.rest = text[at:]

    def act(self, found):
        if found.group("text"):
            self.put(found.group("text"))
        elif found.group("control"):
            self.control(found.group("control"))
        elif found.group("one") == "M":
            self.scroll(-1) if self.row == self.top else self.move(
                self.row - 1, self.column)
        elif found.group("end") and not found.group("private"):
            numbers = [int(each or 0) for each
                       in found.group("numbers").split(";")]
            self.sequence(found.group("end"), numbers)

    def put(self, character):
        if self.column >= self.columns:
            self.column = 0
            self.control("\n")
        self.lines[self.row][self.column] = self.last = character
        self.column += 1

    def control(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\b":
            self.column = max(0, min(self.column, self.columns) - 1)
        elif character == "\n":
            if self.row == self.bottom:
                self.scroll(1)
            else:
                self.move(self.row + 1, self.column)

    def move(self, row, column):
        self.row = max(0, min(row, self.rows - 1))
        self.column = max(0, min(column, self.columns - 1))

    def scroll(self, count):
        for _ in range(abs(count)):
            goes, comes = (self.top, self.bottom) if count > 0 else (
                self.bottom, self.top)
            del self.lines[goes]
            self.lines.insert(comes, [BLANK] * self.columns)

    def insert_lines(self, count):
        top, self.top = self.top, self.row
        self.scroll(-count)
        self.top = top

    def erase(self, row, first, last):
        for column in range(first, min(last, self.columns)):
            self.lines[row][column] = BLANK

    def erase_display(self, kind):
        if kind == 2:
            first, last = 0, self.rows
        elif kind == 0:
            self.erase(self.row, self.column, self.columns)
            first, last = self.row + 1, self.rows
        else:
            self.erase(self.row, 0, self.column + 1)
            first, last = 0, self.row
        for row in range(first, last):
            self.erase(row, 0, self.columns)

    def sequence(self, end, numbers):
        first = numbers[0]
        count = max(first, 1)
        line = self.lines[self.row]
        if end == "H":
            column = numbers[1] if len(numbers) > 1 else 1
            self.move(count - 1, max(column, 1) - 1)
        elif end in "ABCD":
            row, column = {"A": (-count, 0), "B": (count, 0),
                           "C": (0, count), "D": (0, -count)}[end]
            self.move(self.row + row, self.column + column)
        elif end == "G":
            self.move(self.row, count - 1)
        elif end == "d":
            self.move(count - 1, self.column)
        elif end == "J":
            self.erase_display(first)
        elif end == "K":
            self.erase(self.row, 0 if first else self.column,
                       self.column + 1 if first == 1 else self.columns)
        elif end == "X":
            self.erase(self.row, self.column, self.column + count)
        elif end == "P":
            del line[self.column:self.column + count]
            line += [BLANK] * (self.columns - len(line))
        elif end == "@":
            line[self.column:self.column] = [BLANK] * count
            del line[self.columns:]
        elif end == "b":
            for _ in range(count):
                self.put(self.last)
        elif end == "r":
            self.top = count - 1
            self.bottom = (numbers[1] if len(numbers) > 1 else self.rows) - 1
            self.move(0, 0)
        elif end in "ST":
            self.scroll(count if end == "S" else -count)
        elif end in "LM":
            self.insert_lines(count if end == "L" else -count)

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.lines)


class Screen(terminals.Terminal):
    """A program on a terminal whose screen can be read."""

    def __init__(self, rows=24, columns=80):
        super().__init__(rows, columns)
        self.cells = Cells(rows, columns)
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def take(self, seconds):
        if not select.select([self.controller], [], [], seconds)[0]:
            return
        before = self.output
        self.output = b""
        super().take(0)
        self.cells.feed(self.decoder.decode(self.output))
        self.output = (before + self.output)[-terminals.KEPT:]

    def settle(self, seconds):
        """Takes what comes in that time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.take(0.05)

    def text(self):
        return self.cells.text()

    def until(self, *texts, limit=60, lacks=()):
        """Until all of them stand on the screen, each within a line, and none
        of the others; the screen as text."""
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
