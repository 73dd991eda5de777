/*
 * The history of command lines: kept in a file, shared by several screens.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "ui/history.h"

static char *path_of(const char *name)
{
	return xasprintf("%s/probetui/%s", getenv("XDG_STATE_HOME"), name);
}

static int make_home(void **state)
{
	char *home = xstrdup("/tmp/probetui-history-XXXXXX");

	assert_non_null(mkdtemp(home));
	setenv("XDG_STATE_HOME", home, 1);
	*state = home;
	return 0;
}

static int remove_home(void **state)
{
	char *file = path_of("history");
	char *folder = path_of("");

	unlink(file);
	rmdir(folder);
	rmdir(*state);
	free(folder);
	free(file);
	free(*state);
	return 0;
}

static void open_one(struct history *history)
{
	struct error error = ERROR_INIT;

	history_init(history);
	if (history_open(history, HISTORY_COMMANDS, &error) < 0)
		fail_msg("%s", error.message);
}

static void add(struct history *history, const char *line)
{
	struct error error = ERROR_INIT;

	if (history_add(history, line, &error) < 0)
		fail_msg("%s", error.message);
}

/* Fails unless a new screen finds these lines, with commas between them. */
static void expect(const char *lines)
{
	struct history history;
	char *found = xstrdup("");

	open_one(&history);
	for (size_t i = 0; i < history.count; i++) {
		char *longer = xasprintf("%s%s%s", found, i > 0 ? "," : "", history.lines[i]);

		free(found);
		found = longer;
	}
	assert_string_equal(found, lines);
	free(found);
	history_clear(&history);
}

static void lines_are_kept_once(void **state)
{
	struct history history;
	struct stat about;
	char *file = path_of("history");
	char *folder = path_of("");

	(void)state;
	open_one(&history);
	add(&history, "rank 3");
	add(&history, "focus 0-7");
	add(&history, "rank 3");
	add(&history, " said in secret");
	add(&history, "");
	add(&history, "with\nanother");
	history_clear(&history);
	expect("focus 0-7,rank 3");
	assert_int_equal(stat(file, &about), 0);
	assert_int_equal(about.st_mode & 07777, 0600);
	assert_int_equal(stat(folder, &about), 0);
	assert_int_equal(about.st_mode & 07777, 0700);
	free(folder);
	free(file);
}

static void two_screens_share_it(void **state)
{
	struct history a;
	struct history b;

	(void)state;
	open_one(&a);
	open_one(&b);
	add(&a, "one");
	add(&b, "two");
	add(&a, "three");
	/* Each sees what the others wrote when it writes. */
	assert_int_equal(a.count, 3);
	add(&b, "one");
	history_clear(&a);
	history_clear(&b);
	expect("two,three,one");
}

static void a_busy_file_is_written_later(void **state)
{
	struct history history;
	char *folder = path_of("");
	int other;

	(void)state;
	open_one(&history);
	other = open(folder, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(other, LOCK_EX), 0);
	add(&history, "one");
	add(&history, "two");
	add(&history, "one");
	expect("");
	close(other);
	add(&history, "three");
	expect("two,one,three");
	history_clear(&history);
	free(folder);
}

static void it_has_an_end(void **state)
{
	struct history history;
	char *file = path_of("history");
	FILE *out;

	(void)state;
	open_one(&history);
	add(&history, "first");
	history_clear(&history);
	out = fopen(file, "w");
	for (int i = 0; i < HISTORY_LINES + 5; i++)
		fprintf(out, "line %d\n", i);
	fclose(out);
	open_one(&history);
	assert_int_equal(history.count, HISTORY_LINES);
	assert_string_equal(history.lines[0], "line 5");
	add(&history, "last");
	assert_int_equal(history.count, HISTORY_LINES);
	assert_string_equal(history.lines[0], "line 6");
	history_clear(&history);
	free(file);
}

/* So long that not all of it is read: the newest lines are. */
static void the_end_of_a_long_file_is_read(void **state)
{
	struct history history;
	char *file = path_of("history");
	FILE *out;

	(void)state;
	open_one(&history);
	history_clear(&history);
	out = fopen(file, "w");
	for (int i = 0; i < 2 * HISTORY_LINES; i++)
		fprintf(out, "%04d%0*d\n", i, HISTORY_LINE_MAXIMUM - 4, 0);
	fprintf(out, "newest\n");
	fclose(out);
	open_one(&history);
	assert_string_equal(history.lines[history.count - 1], "newest");
	assert_memory_equal(history.lines[history.count - 2], "1999", 4);
	assert_int_equal(history.count, HISTORY_LINES);
	history_clear(&history);
	free(file);
}

/* Escape sequences, half a character, a line without an end, a long one. */
static void what_could_not_be_typed_is_left_out(void **state)
{
	struct history history;
	char *file = path_of("history");
	FILE *out;

	(void)state;
	open_one(&history);
	history_clear(&history);
	out = fopen(file, "w");
	fputs("good\n\033]0;x\a\n\303\nb\342\200\256c\n\n", out);
	for (int i = 0; i < 2 * HISTORY_LINE_MAXIMUM; i++)
		fputc('x', out);
	fputs("\nlast", out);
	fclose(out);
	expect("good,last");
	free(file);
}

static void only_a_file_of_our_own_is_used(void **state)
{
	struct history history;
	struct error error = ERROR_INIT;
	char *file = path_of("history");

	(void)state;
	open_one(&history);
	history_clear(&history);
	assert_int_equal(symlink("/etc/passwd", file), 0);
	assert_int_equal(history_open(&history, HISTORY_COMMANDS, &error), -1);
	assert_int_equal(history.count, 0);
	/* It lasts as long as the program. */
	add(&history, "one");
	assert_int_equal(history.count, 1);
	history_clear(&history);
	unlink(file);
	assert_int_equal(mkfifo(file, 0600), 0);
	error = (struct error)ERROR_INIT;
	assert_int_equal(history_open(&history, HISTORY_COMMANDS, &error), -1);
	assert_string_equal(
		error.message,
		"the history is not saved: history in the state folder of probetui is not a "
		"regular file of this user: move it away");
	history_clear(&history);
	free(file);
}

#define AT_HOME(test) cmocka_unit_test_setup_teardown(test, make_home, remove_home)

int main(void)
{
	const struct CMUnitTest tests[] = {
		AT_HOME(lines_are_kept_once),
		AT_HOME(two_screens_share_it),
		AT_HOME(a_busy_file_is_written_later),
		AT_HOME(it_has_an_end),
		AT_HOME(the_end_of_a_long_file_is_read),
		AT_HOME(what_could_not_be_typed_is_left_out),
		AT_HOME(only_a_file_of_our_own_is_used),
	};

	return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
