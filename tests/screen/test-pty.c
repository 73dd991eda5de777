/*
 * The program on a terminal: each key of the table is pressed, the window is
 * resized, and the terminal is checked after every way out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "stage.h"
#include "terminal.h"
#include "ui/keymap.h"

#define ANY_ROW -1
#define LAST_ROW -2

struct key_bytes {
	const char *name;
	const char *bytes;
};

/* What xterm sends in keypad mode. */
static const struct key_bytes special_keys[] = {
	{ "Tab", "\t" },      { "S-Tab", "\033[Z" },   { "Enter", "\r" },     { "Esc", "\033" },
	{ "Up", "\033OA" },   { "Down", "\033OB" },    { "Right", "\033OC" }, { "Left", "\033OD" },
	{ "Home", "\033OH" }, { "End", "\033OF" },     { "PgUp", "\033[5~" }, { "PgDn", "\033[6~" },
	{ "F1", "\033OP" },   { "C-l", "\014" },       { "C-c", "\003" },     { "C-z", "\032" },
	{ "Space", " " },     { "Delete", "\033[3~" },
};

static const char *bytes_of(const char *key)
{
	for (size_t i = 0; i < ARRAY_LENGTH(special_keys); i++)
		if (strcmp(special_keys[i].name, key) == 0)
			return special_keys[i].bytes;
	return key;
}

static void open_replay(struct terminal *terminal)
{
	char *recording = xasprintf("%s/tests/recordings/hung8.jsonl", stage_folder());
	char *themes = xasprintf("%s/themes", stage_folder());
	char *argv[] = { "./probetui", "--replay", recording, NULL };

	setenv("PROBETUI_THEMES", themes, 1);
	terminal_open(terminal, 24, 80, argv);
	terminal_wait_for(terminal, ANY_ROW, "3 ◆ sleep");
	assert_true(terminal->is_alternate);
	free(themes);
	free(recording);
}

static int open_terminal(void **state)
{
	struct terminal *terminal = xcalloc(1, sizeof(*terminal));

	open_replay(terminal);
	*state = terminal;
	return 0;
}

static int close_terminal(void **state)
{
	terminal_close(*state);
	free(*state);
	return 0;
}

/* What each command line of a key does: what is on the screen afterwards. */
struct work {
	const char *line;
	const char *before; /* pressed first; "" nothing */
	const char *ready;  /* on the screen then; NULL: as at the start */
	const char *done;
};

static const struct work works[] = {
	{ "rank previous", "", NULL, " rank 2 " },
	{ "rank next", "", NULL, " rank 4 " },
	{ "outlier previous", "5\r", " rank 5 ", "train.py · rank 3 " },
	{ "outlier next", "5\r", " rank 5 ", "train.py · rank 3 " },
	{ "up", "", NULL, "Locals · train ─" },
	{ "down", "u", "Locals · train ─", "Locals · load_batch ─" },
	{ "pause", "", NULL, "pause needs a running job, not a recording" },
	{ "release", "", NULL, "release needs a running job, not a recording" },
	{ "stay", "", NULL, "stay needs a running job, not a recording" },
	{ "interrupt", "?", "┌Help", "3 ◆ sleep" },
	{ "prompt watch", "", NULL, "\n watch " },
	{ "next", "", NULL, "next needs a running job, not a recording" },
	{ "step", "", NULL, "step needs a running job, not a recording" },
	{ "finish", "", NULL, "finish needs a running job, not a recording" },
	{ "continue", "", NULL, "continue needs a running job, not a recording" },
	{ "connect", "", NULL, "connect needs a running job, not a recording" },
	{ "here until", "", NULL, "until needs a running job, not a recording" },
	{ "here break", "", NULL, "needs a running job, not a recording" },
	{ "breakpoints", "", NULL, "┌Breakpoints" },
	{ "remove", "B", "┌Breakpoints", "no breakpoint is set" },
	{ "assign", "", NULL, "under the cursor of the locals" },
	{ "repl", "", NULL, "┌Eval · ranks 0-7" },
	{ "merged", "", NULL, "┌Merged stacks" },
	{ "diff", "", NULL, "┌Diff · rank 3" },
	{ "why", "", NULL, "┌Why" },
	{ "collectives", "", NULL, "┌Collectives" },
	{ "against", "D", "┬majority", "┬rank 4 " },
	{ "grid", "", NULL, "│ ▲rank " },
	{ "sort next", "G", "▲rank", "by pid" },
	{ "sort reverse", "G", "▲rank", "▼rank" },
	{ "group", "G", "▲rank", "- ◆ time.sleep  load_batch train.py:5  1 rank" },
	{ "prompt filter", "", NULL, "\n \\" },
	{ "granularity", "M", "by line", "by function" },
	{ "native", "M", "N native off", "N native on" },
	{ "expand", "M\033OH", "▸ 8 ", "<module> …" },
	{ "zoom", "\t", NULL, "┌Source" },
	{ "jobs", "", NULL, "1 job found" },
	{ "toggle", "", NULL, "focus 3 (1)" },
	{ "focus all", " ", "focus 3 (1)", "focus 0-7 (8)" },
	{ "focus !focus", " ", "focus 3 (1)", "focus 0-2,4-7 (7)" },
	{ "prompt focus", "", NULL, "\n focus @" },
	{ "jobs", "", NULL, "1 job found" },
	{ "hold", "", NULL, "of 0:34, frozen" },
	{ "time previous", ":time last\r", "0:34, end", "0:00 of 0:34, frozen" },
	{ "time next", "P", ", frozen", "no change after the shown time" },
	{ "refresh", "", NULL, "refresh needs a running job, not a recording" },
	{ "edit", "", NULL, "the editor false exited with status 1" },
	{ "copy", "", NULL, "verdict copied to the terminal's clipboard" },
	{ "log", "", NULL, "┌Output" },
	{ "console", "", NULL, "┌Console" },
	{ "terminal", "", NULL, "┌Terminal" },
	{ "prompt compare", "", NULL, "\n = " },
	{ "prompt tensor", "", NULL, "\n tensor " },
	{ "prompt search", "", NULL, "\n /" },
	{ "find next", "/wait\r", " rank 4 ", " rank 5 " },
	{ "find previous", "/wait\r", " rank 4 ", " rank 2 " },
	{ "prompt", "", NULL, "\n :" },
	{ "help", "", NULL, "┌Help" },
	{ "pane next", "z", "┌0 ●", "┌Source" },
	{ "pane previous", "z", "┌0 ●", "┌Locals" },
	{ "open", "M", "┌Merged", "├Source · train.py · rank 3 " },
	{ "cursor up", "7\r", " rank 7 ", "train.py · rank 3 " },
	{ "cursor down", "", NULL, " rank 7 " },
	{ "cursor left", "", NULL, " rank 2 " },
	{ "cursor right", "", NULL, " rank 4 " },
	{ "cursor page-up", "7\r", " rank 7 ", " rank 0 " },
	{ "cursor page-down", "", NULL, " rank 7 " },
	{ "cursor first", "", NULL, " rank 0 " },
	{ "cursor last", "", NULL, " rank 7 " },
	{ "prompt rank 0", "", NULL, "\n rank 0" },
	{ "prompt rank 1", "", NULL, "\n rank 1" },
	{ "prompt rank 2", "", NULL, "\n rank 2" },
	{ "prompt rank 3", "", NULL, "\n rank 3" },
	{ "prompt rank 4", "", NULL, "\n rank 4" },
	{ "prompt rank 5", "", NULL, "\n rank 5" },
	{ "prompt rank 6", "", NULL, "\n rank 6" },
	{ "prompt rank 7", "", NULL, "\n rank 7" },
	{ "prompt rank 8", "", NULL, "\n rank 8" },
	{ "prompt rank 9", "", NULL, "\n rank 9" },
	{ "redraw", "", NULL, "3 ◆ sleep" },
	{ "back", "?", "┌Help", "3 ◆ sleep" },
	{ "quit", "?", "┌Help", "3 ◆ sleep" },
};

static const struct work *work_of(const char *line)
{
	for (size_t i = 0; i < ARRAY_LENGTH(works); i++)
		if (strcmp(works[i].line, line) == 0)
			return &works[i];
	fail_msg("it is not known what '%s' does", line);
	return NULL;
}

/* Over what the program drew, as another program's message would. */
static void scribble(struct terminal *terminal)
{
	static const char text[] =
		"\033[4;1HXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX";

	vterm_input_write(terminal->vterm, text, strlen(text));
	vterm_screen_flush_damage(terminal->screen);
}

static void press(const struct binding *binding)
{
	const struct work *work = work_of(binding->line);
	struct terminal terminal;

	open_replay(&terminal);
	terminal_send(&terminal, work->before);
	if (work->ready != NULL)
		terminal_wait_for(&terminal, ANY_ROW, work->ready);
	if (strcmp(binding->line, "redraw") == 0)
		scribble(&terminal);
	terminal_send(&terminal, bytes_of(binding->key));
	terminal_wait_for(&terminal, ANY_ROW, work->done);
	terminal_close(&terminal);
}

static void every_key_works(void **state)
{
	struct keymap keymap;

	(void)state;
	setenv("VISUAL", "false", 1);
	keymap_init(&keymap);
	keymap_add_default(&keymap);
	for (size_t i = 0; i < keymap.count; i++)
		/* It has a test of its own, as keys of one view have. */
		if (strcmp(keymap.bindings[i].line, "suspend") != 0 &&
		    !strchr(keymap.bindings[i].key + 1, ':'))
			press(&keymap.bindings[i]);
	keymap_clear(&keymap);
}

struct terminal_type {
	const char *setting;
	const char *sentence;
};

static void a_terminal_that_will_not_do_is_named(void **state)
{
	static const struct terminal_type types[] = {
		{ "TERM=dumb", "cannot move the" },
		{ "TERM=nosuch", "unknown terminal type" },
		{ "TERM=", "TERM is not set" },
	};
	char *recording = xasprintf("%s/tests/recordings/hung8.jsonl", stage_folder());

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(types); i++) {
		char *setting = xstrdup(types[i].setting);
		char *argv[] = {
			"/usr/bin/env", setting, "./probetui", "--replay", recording, NULL
		};
		struct terminal terminal;
		int status;

		terminal_open(&terminal, 24, 80, argv);
		terminal_wait_for(&terminal, ANY_ROW, types[i].sentence);
		status = terminal_wait_end(&terminal);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 2);
		terminal_close(&terminal);
		free(setting);
	}
	free(recording);
}

static void views_open_and_close(void **state)
{
	struct terminal *terminal = *state;

	terminal_send(terminal, ":seek 34\r");
	terminal_wait_for(terminal, 2, "for 34 s.");
	terminal_send(terminal, "M");
	terminal_wait_for(terminal, ANY_ROW, "┌Merged stacks");
	terminal_send(terminal, "D");
	terminal_wait_for(terminal, ANY_ROW, "┌Diff · rank 3");
	terminal_send(terminal, "\033");
	terminal_wait_for(terminal, ANY_ROW, "Source · train.py · rank 3");
	terminal_send(terminal, "5\r");
	terminal_wait_for(terminal, ANY_ROW, "Source · train.py · rank 5");
	terminal_send(terminal, ":no-such-command\r");
	terminal_wait_for(terminal, LAST_ROW, "no-such-command");
}

static void a_tiny_window_and_back(void **state)
{
	struct terminal *terminal = *state;

	terminal_resize(terminal, 5, 20);
	terminal_wait_for(terminal, 1, "7 of 8 ranks …");
	terminal_resize(terminal, 24, 80);
	terminal_wait_for(terminal, ANY_ROW, "Source · train.py · rank 3");
	terminal_wait_for(terminal, LAST_ROW, "? help");
}

/* What xterm sends: row and column from 1, the end of a press in vain. */
static void the_mouse_chooses_and_opens(void **state)
{
	struct terminal *terminal = *state;

	assert_true(terminal_tells_mouse(terminal));
	terminal_send(terminal, "\033[<0;25;8M\033[<0;25;8m");
	terminal_wait_for(terminal, ANY_ROW, "Source · train.py · rank 5");
	terminal_send(terminal, "\033[<65;10;20M");
	terminal_send(terminal, "\033[<0;2;24M");
	terminal_wait_for(terminal, ANY_ROW, "Source · train.py · rank 4");
}

static void the_mouse_stays_the_terminals(void **state)
{
	char *recording = xasprintf("%s/tests/recordings/hung8.jsonl", stage_folder());
	char *argv[] = { "./probetui", "--no-mouse", "--replay", recording, NULL };
	struct terminal terminal;

	(void)state;
	terminal_open(&terminal, 24, 80, argv);
	terminal_wait_for(&terminal, ANY_ROW, "3 ◆ sleep");
	assert_false(terminal_tells_mouse(&terminal));
	terminal_close(&terminal);
	free(recording);
}

static void y_copies_the_verdict(void **state)
{
	struct terminal *terminal = *state;

	unsetenv("TMUX");
	terminal_send(terminal, "y");
	/* "7 of 8 ranks" */
	terminal_wait_written(terminal, "\033]52;c;NyBvZiA4IHJhbmtz");
}

static void q_leaves(void **state)
{
	struct terminal *terminal = *state;
	int status;

	terminal_send(terminal, "q");
	status = terminal_wait_end(terminal);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	terminal_check_restored(terminal);
}

static void a_signal_leaves(void **state)
{
	static const int signals[] = { SIGTERM, SIGHUP, SIGINT };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(signals); i++) {
		struct terminal terminal;

		open_replay(&terminal);
		kill(terminal.pid, signals[i]);
		assert_true(WIFEXITED(terminal_wait_end(&terminal)));
		terminal_check_restored(&terminal);
		terminal_close(&terminal);
	}
}

static void a_fatal_signal_restores(void **state)
{
	struct terminal *terminal = *state;
	int status;

	kill(terminal->pid, SIGSEGV);
	status = terminal_wait_end(terminal);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
	terminal_check_restored(terminal);
}

static void a_closed_terminal_ends(void **state)
{
	struct terminal *terminal = *state;
	int status = 0;

	close(terminal->line);
	close(terminal->controller);
	terminal->line = -1;
	terminal->controller = -1;
	/* There is no output to wait for any more: the alarm is the limit. */
	alarm(20);
	assert_int_equal(waitpid(terminal->pid, &status, 0), terminal->pid);
	alarm(0);
	terminal->pid = 0;
	assert_true(WIFEXITED(status));
}

static void suspend_and_return(void **state)
{
	struct terminal *terminal = *state;

	terminal_send(terminal, "\032");
	terminal_wait_stop(terminal);
	terminal_check_restored(terminal);
	kill(terminal->pid, SIGCONT);
	terminal_send(terminal, "M");
	terminal_wait_for(terminal, ANY_ROW, "┌Merged stacks");
	assert_true(terminal->is_alternate);
}

#define ON_TERMINAL(test) cmocka_unit_test_setup_teardown(test, open_terminal, close_terminal)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_works),
		cmocka_unit_test(a_terminal_that_will_not_do_is_named),
		ON_TERMINAL(views_open_and_close),
		ON_TERMINAL(a_tiny_window_and_back),
		ON_TERMINAL(the_mouse_chooses_and_opens),
		cmocka_unit_test(the_mouse_stays_the_terminals),
		ON_TERMINAL(y_copies_the_verdict),
		ON_TERMINAL(q_leaves),
		cmocka_unit_test(a_signal_leaves),
		ON_TERMINAL(a_fatal_signal_restores),
		ON_TERMINAL(a_closed_terminal_ends),
		ON_TERMINAL(suspend_and_return),
	};

	return cmocka_run_group_tests_name("pty", tests, NULL, NULL);
}
