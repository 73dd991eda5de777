/* link: lines through a node's pipe; a program that echoes is the node. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/loop.h"
#include "engine/link.h"

#define LIMIT_SECONDS 120.0

struct heard {
	struct loop *loop;
	struct buffer lines; /* each with a '|' behind it */
	size_t line_count;
	size_t longest;
	size_t wanted;
	int closed_count;
	char why[256];
};

static void on_line(struct link *link, const char *line, size_t length, void *data)
{
	struct heard *heard = data;

	(void)link;
	heard->line_count++;
	if (length > heard->longest)
		heard->longest = length;
	if (length < 100) {
		buffer_append(&heard->lines, line, length);
		buffer_append_char(&heard->lines, '|');
	}
}

static void on_drained(struct link *link, void *data)
{
	(void)link;
	(void)data;
}

static void on_closed(struct link *link, const char *why, void *data)
{
	struct heard *heard = data;

	(void)link;
	heard->closed_count++;
	snprintf(heard->why, sizeof(heard->why), "%s", why);
}

static void on_limit(void *data)
{
	(void)data;
	fail_msg("nothing came within the limit");
}

static void hear(struct link *link, struct heard *heard)
{
	const struct link_handlers handlers = {
		.line = on_line,
		.drained = on_drained,
		.closed = on_closed,
		.data = heard,
	};

	*heard = (struct heard){ .loop = loop_new(), .lines = BUFFER_INIT };
	link_watch(link, heard->loop, &handlers);
}

/* Until so many lines came, or the link is closed. */
static void await(struct heard *heard, size_t line_count)
{
	struct loop_timer *limit = loop_timer(heard->loop, LIMIT_SECONDS, 0, on_limit, NULL);

	while (heard->line_count < line_count && heard->closed_count == 0)
		loop_turn(heard->loop);
	loop_timer_stop(limit);
}

static void end(struct link *link, struct heard *heard)
{
	link_free(link);
	loop_free(heard->loop);
	buffer_clear(&heard->lines);
}

static struct link *start(const char *path)
{
	struct error error = ERROR_INIT;
	struct link *link = link_new(path, true, -1, &error);

	if (!link)
		fail_msg("%s", error.message);
	return link;
}

static void lines_come_back(void **state)
{
	struct heard heard;
	struct link *link = start("/bin/cat");

	(void)state;
	link_send(link, "sent before the loop\n", 21);
	hear(link, &heard);
	link_send(link, "one\ntw", 6);
	link_send(link, "o\n\nhalf", 7);
	await(&heard, 4);
	assert_string_equal(heard.lines.data, "sent before the loop|one|two||");
	assert_true(link_is_open(link));
	end(link, &heard);
}

/* More than both pipes hold: the queue drains while the answers are read. */
static void a_long_line_passes(void **state)
{
	enum { LENGTH = 3 << 20 };
	char *line = xmalloc(LENGTH);
	struct heard heard;
	struct link *link = start("/bin/cat");

	(void)state;
	memset(line, 'x', LENGTH);
	line[LENGTH - 1] = '\n';
	hear(link, &heard);
	link_send(link, line, LENGTH);
	link_send(link, "behind\n", 7);
	await(&heard, 2);
	assert_int_equal(heard.longest, LENGTH - 1);
	assert_string_equal(heard.lines.data, "behind|");
	end(link, &heard);
	free(line);
}

static void an_end_is_told_once(void **state)
{
	struct heard heard;
	struct link *link = start("/bin/false");

	(void)state;
	hear(link, &heard);
	await(&heard, 1);
	assert_int_equal(heard.closed_count, 1);
	assert_string_equal(heard.why, "probetui-node exited with status 1");
	assert_false(link_is_open(link));
	link_send(link, "x\n", 2);
	assert_int_equal(heard.closed_count, 1);
	end(link, &heard);
}

/* A node that is no program of its own: it says its name, then echoes. */
static int echo(int count, char **words)
{
	char name[16] = "";
	char bytes[64];
	ssize_t length;

	prctl(PR_GET_NAME, name);
	dprintf(STDOUT_FILENO, "%d %s %s %d\n", count, words[0], name, getsid(0) == getpid());
	while ((length = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0)
		file_write(STDOUT_FILENO, bytes, (size_t)length);
	return 7;
}

static void a_part_of_this_program_is_a_node(void **state)
{
	struct error error = ERROR_INIT;
	struct heard heard;
	struct link *link;

	(void)state;
	/* Not written yet when the child begins, and none of its output. */
	printf("# ");
	link = link_fork("/a/node", echo, &error);
	assert_non_null(link);
	puts("in a child");
	link_send(link, "sent\n", 5);
	hear(link, &heard);
	await(&heard, 2);
	assert_string_equal(heard.lines.data, "1 /a/node probetui-node 1|sent|");
	end(link, &heard);
	/* It saw the end of its input, so that nobody is left. */
	while (waitpid(-1, NULL, 0) > 0)
		;
	assert_int_equal(errno, ECHILD);
}

static void what_has_rights_of_its_own_is_executed(void **state)
{
	char path[] = "/tmp/link-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(fchmod(fd, 0755), 0);
	assert_false(link_needs_exec(path));
	assert_int_equal(fchmod(fd, 04755), 0);
	assert_true(link_needs_exec(path));
	unlink(path);
	assert_true(link_needs_exec(path));
	close(fd);
}

static void a_program_that_is_not_there(void **state)
{
	struct error error = ERROR_INIT;

	(void)state;
	assert_null(link_new("/nowhere/probetui-node", true, -1, &error));
	assert_non_null(strstr(error.message, "/nowhere/probetui-node"));
	setenv("PROBETUI_NODE", "/nowhere/probetui-node", 1);
	assert_null(link_find_node(&error));
	assert_non_null(strstr(error.message, "PROBETUI_NODE"));
	unsetenv("PROBETUI_NODE");
}

static int ignore_pipe(void **state)
{
	(void)state;
	return signal(SIGPIPE, SIG_IGN) == SIG_ERR;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_back),
		cmocka_unit_test(a_long_line_passes),
		cmocka_unit_test(an_end_is_told_once),
		cmocka_unit_test(a_program_that_is_not_there),
		cmocka_unit_test(a_part_of_this_program_is_a_node),
		cmocka_unit_test(what_has_rights_of_its_own_is_executed),
	};

	return cmocka_run_group_tests(tests, ignore_pipe, NULL);
}
