#include "terminal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"

#define LIMIT_SECONDS 120.0
#define ANY_ROW -1
#define LAST_ROW -2

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int on_property(VTermProp property, VTermValue *value, void *data)
{
	struct terminal *terminal = data;

	if (property == VTERM_PROP_ALTSCREEN)
		terminal->is_alternate = value->boolean != 0;
	if (property == VTERM_PROP_CURSORVISIBLE)
		terminal->is_cursor_visible = value->boolean != 0;
	return 1;
}

static const VTermScreenCallbacks callbacks = {
	.settermprop = on_property,
};

static void run_program(struct terminal *terminal, char **argv)
{
	setsid();
	ioctl(terminal->line, TIOCSCTTY, 0);
	dup2(terminal->line, STDIN_FILENO);
	dup2(terminal->line, STDOUT_FILENO);
	dup2(terminal->line, STDERR_FILENO);
	close(terminal->controller);
	close(terminal->line);
	setenv("TERM", "xterm-256color", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	unsetenv("NO_COLOR");
	/* Nothing of the tests is kept: there is no such folder. */
	setenv("XDG_STATE_HOME", "/dev/null", 1);
	execv(argv[0], argv);
	_exit(127);
}

void terminal_open(struct terminal *terminal, int row_count, int column_count, char **argv)
{
	*terminal = (struct terminal){
		.is_cursor_visible = true,
		.written = BUFFER_INIT,
	};
	terminal->controller = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(terminal->controller >= 0);
	assert_int_equal(grantpt(terminal->controller), 0);
	assert_int_equal(unlockpt(terminal->controller), 0);
	terminal->line = open(ptsname(terminal->controller), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(terminal->line >= 0);
	terminal->vterm = vterm_new(row_count, column_count);
	vterm_set_utf8(terminal->vterm, 1);
	terminal->screen = vterm_obtain_screen(terminal->vterm);
	vterm_screen_enable_altscreen(terminal->screen, 1);
	vterm_screen_set_callbacks(terminal->screen, &callbacks, terminal);
	vterm_screen_reset(terminal->screen, 1);
	terminal_resize(terminal, row_count, column_count);
	assert_int_equal(tcgetattr(terminal->line, &terminal->before), 0);
	terminal->pid = fork();
	assert_true(terminal->pid >= 0);
	if (terminal->pid == 0)
		run_program(terminal, argv);
}

void terminal_close(struct terminal *terminal)
{
	if (terminal->pid > 0) {
		kill(terminal->pid, SIGKILL);
		waitpid(terminal->pid, NULL, 0);
	}
	if (terminal->controller >= 0)
		close(terminal->controller);
	if (terminal->line >= 0)
		close(terminal->line);
	vterm_free(terminal->vterm);
	buffer_clear(&terminal->written);
}

void terminal_send(struct terminal *terminal, const char *bytes)
{
	size_t length = strlen(bytes);

	assert_int_equal(write(terminal->controller, bytes, length), (ssize_t)length);
}

void terminal_resize(struct terminal *terminal, int row_count, int column_count)
{
	struct winsize size = {
		.ws_row = (unsigned short)row_count,
		.ws_col = (unsigned short)column_count,
	};

	terminal->row_count = row_count;
	terminal->column_count = column_count;
	vterm_set_size(terminal->vterm, row_count, column_count);
	assert_int_equal(ioctl(terminal->controller, TIOCSWINSZ, &size), 0);
}

/* Takes what the program wrote; waits for some of it at most so long. */
static void take_output(struct terminal *terminal, int milliseconds)
{
	struct pollfd ready = { .fd = terminal->controller, .events = POLLIN };
	char bytes[4096];

	while (poll(&ready, 1, milliseconds) > 0) {
		ssize_t length = read(terminal->controller, bytes, sizeof(bytes));

		if (length <= 0)
			return;
		buffer_append(&terminal->written, bytes, (size_t)length);
		vterm_input_write(terminal->vterm, bytes, (size_t)length);
		milliseconds = 0;
	}
	vterm_screen_flush_damage(terminal->screen);
}

static void append_row(struct buffer *out, struct terminal *terminal, int row)
{
	for (int column = 0; column < terminal->column_count; column++) {
		VTermPos at = { .row = row, .col = column };
		VTermScreenCell cell;

		vterm_screen_get_cell(terminal->screen, at, &cell);
		/* The right half of a wide character. */
		if (cell.chars[0] == (uint32_t)-1)
			continue;
		text_put_codepoint(out, cell.chars[0] != 0 ? (int32_t)cell.chars[0] : ' ');
	}
	buffer_append_char(out, '\n');
}

static bool has_text(struct terminal *terminal, int row, const char *text, struct buffer *shown)
{
	int first = row;
	int last = row;

	if (row == ANY_ROW) {
		first = 0;
		last = terminal->row_count - 1;
	} else if (row == LAST_ROW) {
		first = terminal->row_count - 1;
		last = first;
	}
	buffer_reset(shown);
	for (int i = first; i <= last; i++)
		append_row(shown, terminal, i);
	return strstr(shown->data, text) != NULL;
}

void terminal_wait_for(struct terminal *terminal, int row, const char *text)
{
	double limit = now() + LIMIT_SECONDS;
	struct buffer shown = BUFFER_INIT;

	while (!has_text(terminal, row, text, &shown)) {
		if (now() > limit) {
			has_text(terminal, ANY_ROW, text, &shown);
			fail_msg("'%s' did not come. The screen:\n%s", text, shown.data);
		}
		take_output(terminal, 100);
	}
	buffer_clear(&shown);
}

void terminal_wait_written(struct terminal *terminal, const char *bytes)
{
	double limit = now() + LIMIT_SECONDS;

	while (strstr(terminal->written.data, bytes) == NULL) {
		if (now() > limit)
			fail_msg("'%s' was not written", bytes);
		take_output(terminal, 100);
	}
}

/* libvterm 0.1 knows one mode a sequence, ncurses sends two. */
bool terminal_tells_mouse(const struct terminal *terminal)
{
	const char *at = terminal->written.data;
	bool is_on = false;

	while ((at = strstr(at, "1000")) != NULL) {
		at += strlen("1000");
		if (*at == 'h' || *at == 'l')
			is_on = *at == 'h';
	}
	return is_on;
}

static int wait_status(struct terminal *terminal, int flags)
{
	double limit = now() + LIMIT_SECONDS;
	int status = 0;

	/* Its output must be taken, or it waits for us to. */
	while (waitpid(terminal->pid, &status, WNOHANG | flags) == 0) {
		if (now() > limit)
			fail_msg("the program did not end");
		take_output(terminal, 20);
	}
	take_output(terminal, 0);
	return status;
}

int terminal_wait_end(struct terminal *terminal)
{
	int status = wait_status(terminal, 0);

	terminal->pid = 0;
	return status;
}

void terminal_wait_stop(struct terminal *terminal)
{
	assert_true(WIFSTOPPED(wait_status(terminal, WUNTRACED)));
}

void terminal_check_restored(struct terminal *terminal)
{
	struct termios after;

	assert_int_equal(tcgetattr(terminal->line, &after), 0);
	assert_int_equal(after.c_lflag, terminal->before.c_lflag);
	assert_int_equal(after.c_iflag, terminal->before.c_iflag);
	assert_int_equal(after.c_oflag, terminal->before.c_oflag);
	assert_false(terminal->is_alternate);
	assert_true(terminal->is_cursor_visible);
	assert_false(terminal_tells_mouse(terminal));
}
