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
	{ "Tab", "\t" },       { "S-Tab", "\033[Z" }, { "Enter", "\r" },
	{ "Esc", "\033" },     { "Up", "\033OA" },    { "Down", "\033OB" },
	{ "Right", "\033OC" }, { "Left", "\033OD" },  { "Home", "\033OH" },
	{ "End", "\033OF" },   { "PgUp", "\033[5~" }, { "PgDn", "\033[6~" },
	{ "F1", "\033OP" },    { "C-l", "\014" },     { "C-c", "\003" },
	{ "C-z", "\032" },
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
	char *recording =
		xasprintf("%s/tests/recordings/hung8.jsonl", stage_folder());
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

static void press_prompt_key(struct terminal *terminal,
			     const struct binding *binding)
{
	const char *label = " :";

	if (strcmp(binding->line, "prompt search") == 0)
		label = " /";
	else if (strncmp(binding->line, "prompt rank", 11) == 0)
		label = " rank ";
	terminal_send(terminal, binding->key);
	terminal_wait_for(terminal, LAST_ROW, label);
	terminal_send(terminal, "\003");
	terminal_wait_for(terminal, LAST_ROW, "[ ] rank");
}

/* A lone escape is one only after a while: nothing may follow it at once. */
static void press_escape(struct terminal *terminal)
{
	terminal_send(terminal, "?");
	terminal_wait_for(terminal, ANY_ROW, "Help ─");
	terminal_send(terminal, "\033");
	terminal_wait_for(terminal, LAST_ROW, "[ ] rank");
}

/* The key does its work, and help still comes and goes afterwards. */
static void press_key(struct terminal *terminal, const struct binding *binding)
{
	terminal_send(terminal, bytes_of(binding->key));
	terminal_send(terminal, "?");
	terminal_wait_for(terminal, ANY_ROW, "Help ─");
	/* Back from help, from the key's view, from its zoom. */
	terminal_send(terminal, "\003\003\003");
	terminal_wait_for(terminal, LAST_ROW, "[ ] rank");
}

static void every_key_works(void **state)
{
	struct terminal *terminal = *state;
	struct keymap keymap;

	keymap_init(&keymap);
	keymap_add_default(&keymap);
	for (size_t i = 0; i < keymap.count; i++) {
		const struct binding *binding = &keymap.bindings[i];

		/* These end or stop the program: they have their own tests. */
		if (strcmp(binding->line, "quit") == 0 ||
		    strcmp(binding->line, "suspend") == 0)
			continue;
		if (strcmp(binding->key, "Esc") == 0)
			press_escape(terminal);
		else if (strncmp(binding->line, "prompt", 6) == 0)
			press_prompt_key(terminal, binding);
		else
			press_key(terminal, binding);
	}
	keymap_clear(&keymap);
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

#define ON_TERMINAL(test)                                                      \
	cmocka_unit_test_setup_teardown(test, open_terminal, close_terminal)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_TERMINAL(every_key_works),
		ON_TERMINAL(views_open_and_close),
		ON_TERMINAL(a_tiny_window_and_back),
		ON_TERMINAL(q_leaves),
		cmocka_unit_test(a_signal_leaves),
		ON_TERMINAL(a_fatal_signal_restores),
		ON_TERMINAL(a_closed_terminal_ends),
		ON_TERMINAL(suspend_and_return),
	};

	return cmocka_run_group_tests_name("pty", tests, NULL, NULL);
}
