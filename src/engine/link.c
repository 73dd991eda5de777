#include "engine/link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/loop.h"
#include "engine/transport.h"
#include "protocol/message.h"
#include "protocol/process.h"

#define NODE_NAME "probetui-node"
#define READ_SIZE 65536
/* Maximum number of bytes read per turn of the loop, so that other watches get their turn. */
#define TURN_MAXIMUM (1u << 20)
#define QUEUE_MAXIMUM (16u << 20)
#define END_MILLISECONDS 5
/* A client passes the end of the input on, and the end of the node back, over a network. */
#define CLIENT_MILLISECONDS 300
#define LAST_WORDS_MILLISECONDS 40
/* Maximum number of bytes that are kept of what a client writes to standard error. */
#define ERRORS_MAXIMUM 4096

struct link {
	pid_t pid;
	char *name; /* "probetui-node", or "ssh, which runs probetui-node on n3" */
	size_t number;
	double shut_at; /* loop_now() when the pipes were closed */
	int input;	/* write end to the node; -1: closed */
	int output;	/* read end from the node; -1: closed */
	bool is_client;
	char *refusal; /* why the link is closed at the end of this turn; NULL: it is not */
	int errors;    /* read end of the standard error of a client; -1: closed, or no client */
	struct buffer error_text; /* the end of what the client has written to it */
	struct buffer in;
	size_t searched; /* leading bytes of in without a newline */
	struct buffer out;
	struct loop *loop;
	struct loop_watch *read_watch;
	struct loop_watch *write_watch;
	struct loop_watch *errors_watch;
	struct link_handlers handlers;
};

char *link_find_node(struct error *error)
{
	const char *named = getenv("PROBETUI_NODE");
	char *folder;
	char *path;

	if (named && named[0] != '\0') {
		if (access(named, X_OK) < 0) {
			error_set_errno(error, errno, "PROBETUI_NODE names %s, which cannot be run",
					named);
			return NULL;
		}
		return xstrdup(named);
	}
	folder = file_program_folder();
	path = folder ? xasprintf("%s/" NODE_NAME, folder) : NULL;
	free(folder);
	if (path && access(path, X_OK) == 0)
		return path;
	free(path);
	path = xstrdup(PROBETUI_LIBEXECDIR "/" NODE_NAME);
	if (access(path, X_OK) == 0)
		return path;
	error_set(error, "%s not found beside probetui or at %s: install it or set PROBETUI_NODE",
		  NODE_NAME, path);
	free(path);
	return NULL;
}

/* The node must not inherit ignored signals (SIGPIPE, SIGXFSZ), nor a blocked one. */
static int set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t defaults;
	sigset_t none;

	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGXFSZ);
	posix_spawnattr_setsigdefault(attributes, &defaults);
	posix_spawnattr_setsigmask(attributes, &none);
	return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF |
							    POSIX_SPAWN_SETSIGMASK);
}

/* Descriptors that the node inherits. */
struct inherited {
	int input;
	int output;
	int job_input; /* -1: none */
	int errors;    /* standard error; -1: that of this program */
	bool is_quiet;
};

static int spawn(struct link *link, char *const *argv, const struct inherited *inherited)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int result;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_adddup2(&actions, inherited->input, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, inherited->output, STDOUT_FILENO);
	/* posix_spawn clears FD_CLOEXEC if both numbers are equal. */
	if (inherited->job_input >= 0)
		posix_spawn_file_actions_adddup2(&actions, inherited->job_input,
						 inherited->job_input);
	if (inherited->errors >= 0)
		posix_spawn_file_actions_adddup2(&actions, inherited->errors, STDERR_FILENO);
	else if (inherited->is_quiet)
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	set_attributes(&attributes);
	/* Only a client is searched for in PATH. */
	result = (inherited->errors >= 0 ? posix_spawnp : posix_spawn)(
		&link->pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return result;
}

static void link_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* down: to the node; up: from the node. [0] reads, [1] writes. */
struct pipes {
	int down[2];
	int up[2];
};

/* Returns 0, or an errno value. */
static int open_pipes(struct pipes *pipes)
{
	*pipes = (struct pipes){ { -1, -1 }, { -1, -1 } };
	return pipe2(pipes->down, O_CLOEXEC) == 0 && pipe2(pipes->up, O_CLOEXEC) == 0 ? 0 : errno;
}

static struct link *make_link(char *owned_name)
{
	struct link *link = xcalloc(1, sizeof(*link));

	link->pid = -1;
	link->name = owned_name;
	link->input = -1;
	link->output = -1;
	link->errors = -1;
	buffer_init(&link->error_text, 2 * ERRORS_MAXIMUM);
	buffer_init(&link->in, MESSAGE_LINE_MAXIMUM + READ_SIZE);
	buffer_init(&link->out, QUEUE_MAXIMUM);
	return link;
}

/*
 * Keeps the parent's ends of pipes and returns link. result is 0, or an errno value if the start
 * failed: then frees link, sets the error and returns NULL.
 */
static struct link *take_pipes(struct link *link, struct pipes *pipes, int result, const char *path,
			       struct error *error)
{
	link_close_fd(&pipes->down[0]);
	link_close_fd(&pipes->up[1]);
	link->input = pipes->down[1];
	link->output = pipes->up[0];
	if (result != 0) {
		error_set_errno(error, result, "cannot start %s", path);
		link_free(link);
		return NULL;
	}
	fcntl(link->input, F_SETFL, O_NONBLOCK);
	fcntl(link->output, F_SETFL, O_NONBLOCK);
	return link;
}

struct link *link_new(const char *path, bool is_quiet, int job_input, struct error *error)
{
	struct inherited inherited = { .job_input = -1, .errors = -1, .is_quiet = is_quiet };
	char *argv[] = { (char *)(uintptr_t)path, NULL, NULL, NULL };
	struct link *link = make_link(xstrdup(NODE_NAME));
	char number[16];
	struct pipes pipes;
	int result = open_pipes(&pipes);

	/*
	 * The copy's number must be above the standard descriptors, which spawn() replaces in the
	 * node.
	 */
	if (job_input >= 0 && result == 0) {
		inherited.job_input = fcntl(job_input, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		result = inherited.job_input < 0 ? errno : 0;
		snprintf(number, sizeof(number), "%d", inherited.job_input);
		argv[1] = (char *)(uintptr_t)JOB_INPUT_OPTION;
		argv[2] = number;
	}
	inherited.input = pipes.down[0];
	inherited.output = pipes.up[1];
	if (result == 0)
		result = spawn(link, argv, &inherited);
	link_close_fd(&inherited.job_input);
	return take_pipes(link, &pipes, result, path, error);
}

struct link *link_start_client(const struct machine *machine, struct error *error)
{
	struct inherited inherited = { .job_input = -1 };
	struct link *link = make_link(xasprintf("%s for %s", machine->client, machine->name));
	int errors[2] = { -1, -1 };
	struct pipes pipes;
	int result = open_pipes(&pipes);

	if (result == 0 && pipe2(errors, O_CLOEXEC) < 0)
		result = errno;
	inherited.input = pipes.down[0];
	inherited.output = pipes.up[1];
	inherited.errors = errors[1];
	if (result == 0)
		result = spawn(link, machine->argv, &inherited);
	link_close_fd(&errors[1]);
	link->errors = errors[0];
	if (link->errors >= 0)
		fcntl(link->errors, F_SETFL, O_NONBLOCK);
	link->is_client = true;
	return take_pipes(link, &pipes, result, machine->argv[0], error);
}

bool link_needs_exec(const char *path)
{
	struct stat about;

	return getauxval(AT_SECURE) || stat(path, &about) < 0 ||
	       (about.st_mode & (S_ISUID | S_ISGID)) ||
	       getxattr(path, "security.capability", NULL, 0) > 0;
}

/*
 * Runs program in the child, with the same process state as spawn() sets. Closes all pipe
 * descriptors but standard input and output: with the parent's write end open the child would never
 * see the end of its input.
 */
static int run_child(struct pipes *pipes, const char *path, link_program *program)
{
	char *words[] = { (char *)(uintptr_t)path, NULL };
	sigset_t none;

	sigemptyset(&none);
	setsid();
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, NODE_NAME);
	if (dup2(pipes->down[0], STDIN_FILENO) < 0 || dup2(pipes->up[1], STDOUT_FILENO) < 0)
		return EXIT_FAILURE;
	for (size_t i = 0; i < 2; i++) {
		link_close_fd(&pipes->down[i]);
		link_close_fd(&pipes->up[i]);
	}
	return program(1, words);
}

struct link *link_fork(const char *path, link_program *program, struct error *error)
{
	struct link *link = make_link(xstrdup(NODE_NAME));
	struct pipes pipes;
	int result = open_pipes(&pipes);

	if (result == 0) {
		link->pid = fork();
		/* _exit() keeps the child from flushing stdio buffers inherited from the parent. */
		if (link->pid == 0)
			_exit(run_child(&pipes, path, program));
		result = link->pid < 0 ? errno : 0;
	}
	return take_pipes(link, &pipes, result, path, error);
}

static void link_stop_watch(struct loop_watch **watch)
{
	if (*watch)
		loop_watch_stop(*watch);
	*watch = NULL;
}

static void shut(struct link *link)
{
	if (link_is_open(link))
		link->shut_at = loop_now();
	link_stop_watch(&link->read_watch);
	link_stop_watch(&link->write_watch);
	link_stop_watch(&link->errors_watch);
	link_close_fd(&link->input);
	link_close_fd(&link->output);
	link_close_fd(&link->errors);
}

static void close_link(struct link *link, const char *why)
{
	if (!link_is_open(link))
		return;
	shut(link);
	link->handlers.closed(link, why, link->handlers.data);
}

static void link_on_writable(int fd, int events, void *data);

/* Writes as much as the pipe takes; watches for writability if data is left. */
static void flush(struct link *link)
{
	while (link->out.length > 0) {
		ssize_t count = write(link->input, link->out.data, link->out.length);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			break;
		buffer_consume(&link->out, (size_t)count);
	}
	/* A write error drops the queue: link_on_readable() reports why the node has ended. */
	if (link->out.length > 0 && errno != EAGAIN)
		buffer_reset(&link->out);
	if (link->out.length == 0)
		link_stop_watch(&link->write_watch);
	else if (!link->write_watch && link->loop)
		link->write_watch =
			loop_watch(link->loop, link->input, LOOP_WRITABLE, link_on_writable, link);
}

static void link_on_writable(int fd, int events, void *data)
{
	(void)fd;
	(void)events;
	flush(data);
}

void link_send(struct link *link, const char *line, size_t length)
{
	if (!link_is_open(link))
		return;
	buffer_append(&link->out, line, length);
	flush(link);
}

static void link_hand_out(struct link *link)
{
	size_t start = 0;
	char *newline;

	while ((newline = memchr(link->in.data + link->searched, '\n',
				 link->in.length - link->searched))) {
		size_t end = (size_t)(newline - link->in.data);

		link->handlers.line(link, link->in.data + start, end - start, link->handlers.data);
		start = end + 1;
		link->searched = start;
	}
	buffer_consume(&link->in, start);
	link->searched = link->in.length;
}

/*
 * Waits until the child is a zombie, but not longer than milliseconds. End of file on the pipe
 * comes too early: a process closes its pipes before it becomes a zombie.
 */
static void await_end(pid_t pid, int milliseconds)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd end = { .fd = fd, .events = POLLIN };

	if (fd < 0)
		return;
	poll(&end, 1, milliseconds);
	close(fd);
}

/* Keeps the end of what a client writes to standard error. */
static void take_errors(int fd, int events, void *data)
{
	struct link *link = data;
	char bytes[ERRORS_MAXIMUM];
	ssize_t count = read(fd, bytes, sizeof(bytes));

	(void)events;
	if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
		link_stop_watch(&link->errors_watch);
		return;
	}
	if (count < 0)
		return;
	if (link->error_text.length + (size_t)count > ERRORS_MAXIMUM)
		buffer_consume(&link->error_text,
			       link->error_text.length + (size_t)count - ERRORS_MAXIMUM);
	buffer_append(&link->error_text, bytes, (size_t)count);
}

/* Appends ": " and the last line that the client has written to standard error, if any. */
static void append_last_error(char *why, size_t size, struct link *link)
{
	size_t length = strlen(why);
	const char *line;
	size_t end;

	if (link->errors < 0)
		return;
	take_errors(link->errors, LOOP_READABLE, link);
	end = link->error_text.length;
	while (end > 0 && strchr("\r\n ", link->error_text.data[end - 1]))
		end--;
	line = link->error_text.data;
	for (size_t i = end; i > 0; i--) {
		if (link->error_text.data[i - 1] == '\n') {
			line = link->error_text.data + i;
			break;
		}
	}
	if (end > 0)
		snprintf(why + length, size - length, ": %.*s",
			 (int)(link->error_text.data + end - line), line);
}

/*
 * Writes "probetui-node exited with status 1" or "probetui-node was killed by signal 11
 * (Segmentation fault)" to why; for a client with its last line: "ssh for n3 exited with status
 * 255: ssh: connect to host n3 port 22: Connection refused".
 */
static void describe_end(struct link *link, char *why, size_t size)
{
	int status;

	snprintf(why, size, "%s closed the connection", link->name);
	await_end(link->pid, LAST_WORDS_MILLISECONDS);
	if (waitpid(link->pid, &status, WNOHANG) > 0) {
		link->pid = -1;
		if (WIFSIGNALED(status))
			snprintf(why, size, "%s was killed by signal %d (%s)", link->name,
				 WTERMSIG(status), strsignal(WTERMSIG(status)));
		else
			snprintf(why, size, "%s exited with status %d", link->name,
				 WEXITSTATUS(status));
	}
	append_last_error(why, size, link);
}

static void link_on_readable(int fd, int events, void *data)
{
	struct link *link = data;
	char bytes[READ_SIZE];
	char why[512] = "";
	size_t total = 0;

	(void)events;
	while (total < TURN_MAXIMUM && why[0] == '\0') {
		ssize_t count = read(fd, bytes, sizeof(bytes));

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 && errno == EAGAIN)
			break;
		if (count <= 0) {
			describe_end(link, why, sizeof(why));
			break;
		}
		total += (size_t)count;
		if (buffer_append(&link->in, bytes, (size_t)count) < 0 ||
		    link->searched > MESSAGE_LINE_MAXIMUM)
			snprintf(why, sizeof(why), "%s sent a line of more than %u MB", link->name,
				 MESSAGE_LINE_MAXIMUM >> 20);
		else
			link_hand_out(link);
		/* A short read means that the pipe is empty. */
		if (count < (ssize_t)sizeof(bytes))
			break;
	}
	link->handlers.drained(link, link->handlers.data);
	if (why[0] != '\0')
		close_link(link, why);
	else if (link->refusal)
		close_link(link, link->refusal);
}

void link_watch(struct link *link, struct loop *loop, const struct link_handlers *handlers)
{
	link->handlers = *handlers;
	link->loop = loop;
	link->read_watch = loop_watch(loop, link->output, LOOP_READABLE, link_on_readable, link);
	if (link->errors >= 0)
		link->errors_watch =
			loop_watch(loop, link->errors, LOOP_READABLE, take_errors, link);
	flush(link);
}

void link_refuse(struct link *link, const char *why)
{
	free(link->refusal);
	link->refusal = xstrdup(why);
}

void link_set_number(struct link *link, size_t number)
{
	link->number = number;
}

size_t link_number(const struct link *link)
{
	return link->number;
}

bool link_is_open(const struct link *link)
{
	return link->output >= 0;
}

/* Waits until the child has exited, so many milliseconds at most; true: it has. */
static bool has_exited(const struct link *link, int milliseconds)
{
	await_end(link->pid, milliseconds);
	return waitpid(link->pid, &(int){ 0 }, WNOHANG) != 0;
}

/* Time that the child still has for its exit, since its pipes were closed. */
static int milliseconds_left(const struct link *link)
{
	double left = CLIENT_MILLISECONDS - (loop_now() - link->shut_at) * 1000;

	if (!link->is_client)
		return END_MILLISECONDS;
	return left > 0 ? (int)left : 0;
}

void link_end(struct link *link)
{
	shut(link);
}

void link_free(struct link *link)
{
	if (!link)
		return;
	shut(link);
	if (link->pid > 0 && !has_exited(link, milliseconds_left(link)) && link->is_client) {
		/* The client leads a session, and thereby a process group, of its own. */
		kill(-link->pid, SIGTERM);
		has_exited(link, END_MILLISECONDS);
	}
	buffer_clear(&link->in);
	buffer_clear(&link->out);
	buffer_clear(&link->error_text);
	free(link->name);
	free(link->refusal);
	free(link);
}
