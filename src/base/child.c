#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/loop.h"

/* Maximum number of bytes that are kept of standard error. */
#define ERRORS_MAXIMUM 65536

extern char **environ;

/* Standard output and standard error of the child. */
enum { OUTPUT, ERRORS, STREAMS };

struct child {
	const char *name;
	pid_t pid;
	struct pollfd streams[STREAMS]; /* fd -1: ended */
	struct buffer *texts[STREAMS];
};

static void child_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Starts the child with these write ends as standard output and error. Returns an errno value. */
static int child_spawn(struct child *child, const char *const *argv, const int *writes)
{
	posix_spawn_file_actions_t actions;
	int result;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, writes[OUTPUT], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, writes[ERRORS], STDERR_FILENO);
	result = posix_spawnp(&child->pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv,
			      environ);
	posix_spawn_file_actions_destroy(&actions);
	return result;
}

static int child_start(struct child *child, const char *const *argv, struct error *error)
{
	int writes[STREAMS] = { -1, -1 };
	int result = 0;

	for (size_t i = 0; i < STREAMS; i++) {
		int ends[2] = { -1, -1 };

		if (pipe2(ends, O_CLOEXEC) < 0)
			result = errno;
		child->streams[i] = (struct pollfd){ .fd = ends[0], .events = POLLIN };
		writes[i] = ends[1];
	}
	if (result == 0)
		result = child_spawn(child, argv, writes);
	for (size_t i = 0; i < STREAMS; i++) {
		child_close(&writes[i]);
		if (result != 0)
			child_close(&child->streams[i].fd);
	}
	return result == 0 ? 0 : error_set_errno(error, result, "cannot start %s", child->name);
}

/* Reads a stream that poll(2) has reported. Returns -1 if the text is too long. */
static int child_take(struct child *child, size_t i)
{
	char bytes[4096];
	ssize_t count = read(child->streams[i].fd, bytes, sizeof(bytes));

	if (count < 0 && errno == EINTR)
		return 0;
	if (count <= 0) {
		child_close(&child->streams[i].fd);
		return 0;
	}
	return buffer_append(child->texts[i], bytes, (size_t)count);
}

/* Reads both streams to their ends. Returns -1 and *error: too late, or too long. */
static int child_drain(struct child *child, double deadline, struct error *error)
{
	while (child->streams[OUTPUT].fd >= 0 || child->streams[ERRORS].fd >= 0) {
		double left = deadline - loop_now();

		if (left <= 0)
			return error_set(error, "%s did not end in time", child->name);
		if (poll(child->streams, STREAMS, (int)(left * 1000) + 1) <= 0)
			continue;
		for (size_t i = 0; i < STREAMS; i++) {
			if (child->streams[i].fd >= 0 && child->streams[i].revents &&
			    child_take(child, i) < 0)
				return error_set(error, "%s printed too much", child->name);
		}
	}
	return 0;
}

/* Sets the error: the exit status, and the last line of standard error. */
static int child_fail(const struct child *child, int status, struct error *error)
{
	struct buffer *text = child->texts[ERRORS];
	const char *line;

	while (text->length > 0 && strchr("\r\n ", text->data[text->length - 1]))
		buffer_truncate(text, text->length - 1);
	line = strrchr(text->data, '\n');
	line = line ? line + 1 : text->data;
	if (WIFEXITED(status))
		error_set(error, "%s exited with status %d%s%s", child->name, WEXITSTATUS(status),
			  line[0] != '\0' ? ": " : "", line);
	else
		error_set(error, "%s was killed by signal %d", child->name, WTERMSIG(status));
	return -1;
}

int child_read(const char *const *argv, double seconds, struct buffer *out, struct error *error)
{
	struct buffer errors = BUFFER_INIT;
	struct child child = { .name = argv[0], .texts = { out, &errors } };
	int status = 0;
	int result;

	buffer_init(&errors, ERRORS_MAXIMUM);
	result = child_start(&child, argv, error);
	if (result == 0) {
		result = child_drain(&child, loop_now() + seconds, error);
		if (result < 0)
			kill(child.pid, SIGKILL);
		while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
			;
		if (result == 0 && status != 0)
			result = child_fail(&child, status, error);
		child_close(&child.streams[OUTPUT].fd);
		child_close(&child.streams[ERRORS].fd);
	}
	buffer_clear(&errors);
	return result;
}
