"""The cells of a terminal's screen, by libvterm, which probetui needs too."""
import ctypes

LIBRARY = ctypes.CDLL("libvterm.so.0")
LIBRARY.vterm_new.restype = ctypes.c_void_p
LIBRARY.vterm_obtain_screen.restype = ctypes.c_void_p
LIBRARY.vterm_input_write.restype = ctypes.c_size_t
LIBRARY.vterm_screen_get_text.restype = ctypes.c_size_t
CELL_BYTES = 28     # of UTF-8: a character and its five combining ones


class Rect(ctypes.Structure):
    """VTermRect: rows and columns from 0, the ends are not included."""
    _fields_ = [(name, ctypes.c_int) for name in (
        "start_row", "end_row", "start_column", "end_column")]


class Cells:
    """A screen of rows x columns that is written to in xterm's sequences."""

    def __init__(self, rows, columns):
        self.vterm = ctypes.c_void_p(LIBRARY.vterm_new(rows, columns))
        LIBRARY.vterm_set_utf8(self.vterm, 1)
        self.screen = ctypes.c_void_p(LIBRARY.vterm_obtain_screen(self.vterm))
        LIBRARY.vterm_screen_enable_altscreen(self.screen, 1)
        LIBRARY.vterm_screen_reset(self.screen, 1)
        self.size = rows, columns

    def __del__(self):
        LIBRARY.vterm_free(self.vterm)

    def resize(self, rows, columns):
        LIBRARY.vterm_set_size(self.vterm, rows, columns)
        self.size = rows, columns

    def write(self, output):
        LIBRARY.vterm_input_write(self.vterm, output,
                                  ctypes.c_size_t(len(output)))

    def text(self):
        """The lines, without the blanks at their ends."""
        rows, columns = self.size
        line = ctypes.create_string_buffer(columns * CELL_BYTES)
        lines = []
        for row in range(rows):
            length = LIBRARY.vterm_screen_get_text(
                self.screen, line, ctypes.c_size_t(len(line)),
                Rect(row, row + 1, 0, columns))
            lines.append(line.raw[:length].decode("utf-8", "replace").rstrip())
        return "\n".join(lines)
