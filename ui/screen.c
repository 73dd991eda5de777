#include "ui/screen.h"

#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "ui/canvas.h"
#include "ui/theme.h"

#define RESTORE_SIZE 256
/* Colour pairs of curses: one for each style, then one for each pair of heat styles (two halves of
 * a cell). */
#define HALVES_PAIR (STYLE_COUNT + 1)
#define PAIR_COUNT (HALVES_PAIR + STYLE_HEAT_COUNT * STYLE_HEAT_COUNT)

struct screen {
	SCREEN *curses;
	FILE *terminal;	     /* /dev/tty if stdin or stdout is not a terminal; else NULL */
	struct canvas shown; /* the terminal's present contents */
	int colour_count;    /* count of colours; 0: no colours */
	bool is_utf8;
	bool is_away; /* another program has the terminal */
	struct theme theme;
};

/*
 * All state that the handler of fatal signals may access. curses has one global screen, so the
 * state is global, too.
 */
static struct {
	volatile sig_atomic_t is_open;
	int fd;
	struct termios settings;
	char restore[RESTORE_SIZE];
	size_t restore_length;
} emergency;

static const int fatal_signals[] = {
	SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT, SIGSYS,
};

/* Makes only async-signal-safe calls (signal-safety(7)). */
static void restore_and_die(int number)
{
	if (emergency.is_open) {
		ssize_t ignored = write(emergency.fd, emergency.restore, emergency.restore_length);

		(void)ignored;
		tcsetattr(emergency.fd, TCSANOW, &emergency.settings);
		emergency.is_open = 0;
	}
	/* SA_RESETHAND restored the default action, so the exit status names the signal. */
	raise(number);
}

static void screen_add_text(const char *text)
{
	size_t length = strlen(text);

	if (emergency.restore_length + length > RESTORE_SIZE)
		return;
	memcpy(emergency.restore + emergency.restore_length, text, length);
	emergency.restore_length += length;
}

static void add_restore(const char *capability)
{
	const char *text = tigetstr(capability);

	if (text != NULL && text != (const char *)-1)
		screen_add_text(text);
}

/*
 * Adds the sequence that turns the mouse off: terminfo's XM, else xterm's sequence, like ncurses.
 */
static void add_mouse_restore(void)
{
	const char *format = tigetstr("XM");
	const char *text = "\033[?1000l";

	if (format != NULL && format != (const char *)-1)
		text = tiparm(format, 0);
	screen_add_text(text);
}

static void catch_fatal(int number)
{
	struct sigaction action = {
		.sa_handler = restore_and_die,
		.sa_flags = SA_RESETHAND | SA_NODEFER,
	};

	sigaction(number, &action, NULL);
}

static void prepare_emergency(int fd, const struct termios *settings)
{
	emergency.fd = fd;
	emergency.settings = *settings;
	emergency.restore_length = 0;
	add_restore("sgr0");
	add_restore("op");
	add_restore("rmkx");
	add_restore("cnorm");
	add_mouse_restore();
	add_restore("rmcup");
	emergency.is_open = 1;
	for (size_t i = 0; i < ARRAY_LENGTH(fatal_signals); i++)
		catch_fatal(fatal_signals[i]);
}

static void forget_emergency(void)
{
	emergency.is_open = 0;
	for (size_t i = 0; i < ARRAY_LENGTH(fatal_signals); i++)
		signal(fatal_signals[i], SIG_DFL);
}

/* Fails if TERM is unset or unknown, or if the terminal cannot place its cursor. */
static int check_type(int fd, struct error *error)
{
	const char *type = getenv("TERM");
	const char *move_cursor;
	int result;

	if (type == NULL || *type == '\0')
		return error_set(
			error,
			"TERM is not set: set it to the terminal's type, such as xterm or vt100");
	if (setupterm(NULL, fd, &result) != OK)
		return error_set(error,
				 "unknown terminal type '%.60s': set TERM to a known type, such as "
				 "xterm or vt100",
				 type);
	move_cursor = tigetstr("cup");
	del_curterm(cur_term);
	if (move_cursor == NULL || move_cursor == (const char *)-1)
		return error_set(error,
				 "a terminal of type '%.60s' cannot move the cursor: set TERM to a "
				 "type that can, such as xterm or vt100",
				 type);
	return 0;
}

/* Uses stdin and stdout, else /dev/tty; returns -1 and sets the error if there is no terminal. */
static int find_terminal(FILE **in, FILE **out, struct termios *settings, struct error *error)
{
	*in = stdin;
	*out = stdout;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		*in = fopen("/dev/tty", "r+e");
		*out = *in;
	}
	if (*in != NULL && tcgetattr(fileno(*in), settings) == 0)
		return 0;
	return error_set(error, "no terminal for the screen: run a command instead, such as "
				"probetui verdict");
}

static void close_terminal(FILE *in)
{
	if (in != NULL && in != stdin)
		fclose(in);
}

int screen_check(struct error *error)
{
	struct termios settings;
	FILE *in;
	FILE *out;
	int result = find_terminal(&in, &out, &settings, error);

	if (result == 0)
		result = check_type(fileno(out), error);
	close_terminal(in);
	return result;
}

struct screen *screen_open(bool has_no_color, struct error *error)
{
	struct screen *screen = xcalloc(1, sizeof(*screen));
	FILE *in;
	FILE *out;
	struct termios settings = { .c_iflag = 0 };

	setlocale(LC_CTYPE, "");
	if (find_terminal(&in, &out, &settings, error) == 0 && check_type(fileno(out), error) == 0)
		screen->curses = newterm(NULL, out, in);
	if (screen->curses == NULL) {
		close_terminal(in);
		free(screen);
		return NULL;
	}
	if (in != stdin)
		screen->terminal = in;
	set_term(screen->curses);
	prepare_emergency(fileno(in), &settings);
	raw();
	noecho();
	nonl();
	set_escdelay(25);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	screen->is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (!has_no_color && has_colors()) {
		/* start_color() sets COLORS. */
		start_color();
		use_default_colors();
		screen->colour_count = COLORS >= 8 ? COLORS : 0;
	}
	canvas_init(&screen->shown, 1, 1);
	return screen;
}

void screen_close(struct screen *screen)
{
	if (screen == NULL)
		return;
	if (!screen->is_away) {
		curs_set(1);
		endwin();
	}
	forget_emergency();
	delscreen(screen->curses);
	if (screen->terminal != NULL)
		fclose(screen->terminal);
	canvas_clear(&screen->shown);
	free(screen);
}

int screen_fd(const struct screen *screen)
{
	return screen->terminal != NULL ? fileno(screen->terminal) : STDIN_FILENO;
}

static int output_of(const struct screen *screen)
{
	return screen->terminal != NULL ? fileno(screen->terminal) : STDOUT_FILENO;
}

bool screen_is_utf8(const struct screen *screen)
{
	return screen->is_utf8;
}

void screen_size(const struct screen *screen, int *row_count, int *column_count)
{
	(void)screen;
	*row_count = LINES;
	*column_count = COLS;
}

void screen_resize(struct screen *screen)
{
	struct winsize size;

	if (ioctl(screen_fd(screen), TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
		resizeterm(size.ws_row, size.ws_col);
	screen_redraw(screen);
}

struct attribute_row {
	enum attribute ours;
	attr_t theirs;
};

static const struct attribute_row attribute_rows[] = {
	{ ATTRIBUTE_BOLD, A_BOLD },	  { ATTRIBUTE_DIM, A_DIM },
	{ ATTRIBUTE_ITALIC, A_ITALIC },	  { ATTRIBUTE_UNDERLINE, A_UNDERLINE },
	{ ATTRIBUTE_REVERSE, A_REVERSE },
};

static attr_t attributes_of(int attributes)
{
	attr_t result = A_NORMAL;

	for (size_t i = 0; i < ARRAY_LENGTH(attribute_rows); i++)
		if (attributes & attribute_rows[i].ours)
			result |= attribute_rows[i].theirs;
	return result;
}

void screen_set_mouse(struct screen *screen, bool is_on)
{
	(void)screen;
	/* Report a press at once; the caller finds double clicks. */
	mouseinterval(0);
	mousemask(is_on ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
}

bool screen_has_colour(const struct screen *screen)
{
	return screen->colour_count > 0;
}

bool screen_has_heat(const struct screen *screen)
{
	return screen->colour_count >= 256 && COLOR_PAIRS >= PAIR_COUNT &&
	       theme_has_heat(&screen->theme, screen->colour_count);
}

static bool is_heat(int style)
{
	return style >= STYLE_HEAT_1 && style <= STYLE_HEAT_12;
}

static short pair_of(const struct screen *screen, const struct cell *cell)
{
	if (screen->colour_count == 0)
		return 0;
	if (cell->lower == 0 || !is_heat(cell->style) || !is_heat(cell->lower))
		return (short)(cell->style + 1);
	return (short)(HALVES_PAIR + (cell->style - STYLE_HEAT_1) * STYLE_HEAT_COUNT +
		       (cell->lower - STYLE_HEAT_1));
}

static void set_halves(const struct screen *screen)
{
	for (int i = 0; i < STYLE_HEAT_COUNT * STYLE_HEAT_COUNT; i++) {
		struct cell cell = {
			.style = (uint8_t)(STYLE_HEAT_1 + i / STYLE_HEAT_COUNT),
			.lower = (uint8_t)(STYLE_HEAT_1 + i % STYLE_HEAT_COUNT),
		};
		struct shown_look look =
			theme_show_cell(&screen->theme, &cell, screen->colour_count);

		init_pair(pair_of(screen, &cell), (short)look.foreground, (short)look.background);
	}
}

void screen_set_theme(struct screen *screen, const struct theme *theme)
{
	screen->theme = *theme;
	for (int i = 0; i < STYLE_COUNT; i++) {
		struct shown_look look = theme_show(theme, (enum style)i, 0, screen->colour_count);

		if (screen->colour_count > 0 && i + 1 < COLOR_PAIRS)
			init_pair((short)(i + 1), (short)look.foreground, (short)look.background);
	}
	if (screen_has_heat(screen))
		set_halves(screen);
	screen_redraw(screen);
}

void screen_redraw(struct screen *screen)
{
	canvas_reset(&screen->shown, 1, 1);
	clearok(curscr, TRUE);
}

static bool is_row_equal(const struct canvas *a, const struct canvas *b, int row)
{
	return memcmp(canvas_cell(a, row, 0), canvas_cell(b, row, 0),
		      (size_t)a->column_count * sizeof(*a->cells)) == 0;
}

static void screen_draw_cell(const struct screen *screen, const struct cell *cell)
{
	wchar_t text[3] = { (wchar_t)cell_character(cell), (wchar_t)cell->combining, L'\0' };
	struct shown_look look = theme_show_cell(&screen->theme, cell, screen->colour_count);
	short pair = pair_of(screen, cell);
	cchar_t character;

	if (setcchar(&character, text, attributes_of(look.attributes), pair, NULL) == OK)
		add_wch(&character);
}

static void screen_draw_row(const struct screen *screen, const struct canvas *canvas, int row)
{
	bool is_lost = true;

	for (int column = 0; column < canvas->column_count; column++) {
		const struct cell *cell = canvas_cell(canvas, row, column);

		if (cell->width == 0)
			continue;
		/* curses may assume another width for non-ASCII characters, so move explicitly. */
		if (is_lost)
			move(row, column);
		screen_draw_cell(screen, cell);
		is_lost = cell_character(cell) >= 0x7f || cell->combining != 0;
	}
}

bool screen_draw(struct screen *screen, const struct canvas *canvas)
{
	bool is_known = screen->shown.row_count == canvas->row_count &&
			screen->shown.column_count == canvas->column_count;
	bool has_changed = false;

	if (!is_known)
		canvas_reset(&screen->shown, canvas->row_count, canvas->column_count);
	for (int row = 0; row < canvas->row_count && row < LINES; row++) {
		if (is_known && is_row_equal(&screen->shown, canvas, row))
			continue;
		screen_draw_row(screen, canvas, row);
		has_changed = true;
	}
	memcpy(screen->shown.cells, canvas->cells,
	       (size_t)canvas->row_count * (size_t)canvas->column_count * sizeof(*canvas->cells));
	if (canvas->cursor_row >= 0 && canvas->cursor_row < LINES && canvas->cursor_column < COLS) {
		curs_set(1);
		move(canvas->cursor_row, canvas->cursor_column);
	} else {
		curs_set(0);
		move(LINES - 1, 0);
	}
	refresh();
	return has_changed;
}

void screen_write(struct screen *screen, const char *bytes, size_t length)
{
	/* Flush the output that curses still holds. */
	refresh();
	file_write(output_of(screen), bytes, length);
}

void screen_leave(struct screen *screen)
{
	screen->is_away = true;
	curs_set(1);
	endwin();
	emergency.is_open = 0;
	/* While another program has the terminal, the quit key is meant for that program. */
	signal(SIGQUIT, SIG_IGN);
}

void screen_return(struct screen *screen)
{
	screen->is_away = false;
	emergency.is_open = 1;
	catch_fatal(SIGQUIT);
	screen_resize(screen);
	refresh();
}

void screen_suspend(struct screen *screen)
{
	screen_leave(screen);
	/* SIGTSTP is caught and leads to this function, so it cannot stop the process. */
	raise(SIGSTOP);
	screen_return(screen);
}
