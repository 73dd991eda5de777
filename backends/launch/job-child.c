#include "backends/launch/job-child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "banned.h"

/* Type of the terminal that the screen emulates (ui/terminal.h). */
#define TERMINAL_NAME "xterm-256color"

/* Opens both ends of a pseudoterminal with O_CLOEXEC. Returns 0 or an errno value. */
static int job_child_open_terminal(struct job_child *job_child)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	char name[64];

	if (fd < 0)
		return errno;
	job_child->master = fd;
	if (grantpt(fd) < 0 || unlockpt(fd) < 0)
		return errno;
	if (ptsname_r(fd, name, sizeof(name)) != 0)
		return errno;
	job_child->slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (job_child->slave < 0 || ioctl(job_child->slave, TIOCSCTTY, 0) < 0)
		return errno;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return 0;
}

void job_child_resize(const struct job_child *job_child, unsigned short rows,
		      unsigned short columns)
{
	struct winsize size = { .ws_row = rows, .ws_col = columns };

	if (rows > 0 && columns > 0)
		ioctl(job_child->master, TIOCSWINSZ, &size);
}

/*
 * Resets all signals to their default actions and unblocks them, as a shell does before execve(2).
 */
static void job_child_reset_signals(void)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		sigaction(number, &standard, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void reset_environment(void)
{
	setenv("TERM", TERMINAL_NAME, 1);
	/* Both variables contain the size of another terminal. */
	unsetenv("LINES");
	unsetenv("COLUMNS");
}

static void reset_limits(rlim_t files)
{
	struct rlimit limit;

	if (files > 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = files < limit.rlim_max ? files : limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void await_gate(int gate)
{
	char byte;
	ssize_t count;

	do {
		count = read(gate, &byte, 1);
	} while (count < 0 && errno == EINTR);
	if (count <= 0)
		_exit(127);
}

/*
 * Runs in the new process: prepares it and calls execve(2). All descriptors except 0, 1 and 2 have
 * FD_CLOEXEC.
 */
static _Noreturn void become(const struct job_child *job_child,
			     const struct job_child_options *options, int gate, int failure)
{
	int number;

	setpgid(0, 0);
	tcsetpgrp(job_child->slave, getpid());
	await_gate(gate);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup2(fd == STDIN_FILENO && options->input >= 0 ? options->input : job_child->slave,
		     fd);
	reset_environment();
	reset_limits(options->files);
	job_child_reset_signals();
	if (options->directory[0] == '\0' || chdir(options->directory) == 0)
		execvp(options->argv[0], options->argv);
	number = errno;
	if (write(failure, &number, sizeof(number)) < 0)
		number = ENOEXEC;
	_exit(127);
}

static void job_child_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int job_child_start(struct job_child *job_child, const struct job_child_options *options)
{
	int gate[2] = { -1, -1 };
	int failure[2] = { -1, -1 };
	int result;

	*job_child = (struct job_child){ 0, -1, -1, -1, -1 };
	result = job_child_open_terminal(job_child);
	if (result != 0)
		return result;
	job_child_resize(job_child, options->rows, options->columns);
	if (pipe2(gate, O_CLOEXEC) < 0 || pipe2(failure, O_CLOEXEC) < 0) {
		result = errno;
	} else {
		job_child->pid = fork();
		if (job_child->pid == 0) {
			/* If the child kept this end open, it would never read the end of file. */
			close(gate[1]);
			become(job_child, options, gate[0], failure[1]);
		}
		if (job_child->pid < 0)
			result = errno;
	}
	job_child->gate = gate[1];
	job_child->failure = failure[0];
	job_child_close_fd(&gate[0]);
	job_child_close_fd(&failure[1]);
	if (result != 0)
		job_child->pid = 0;
	return result;
}

void job_child_go(struct job_child *job_child)
{
	if (job_child->gate >= 0 && write(job_child->gate, "", 1) < 0)
		return; /* the child has exited: the supervisor notices that by SIGCHLD */
	job_child_close_fd(&job_child->gate);
}

void job_child_forbid(struct job_child *job_child)
{
	job_child_close_fd(&job_child->gate);
}

int job_child_outcome(struct job_child *job_child)
{
	int number = 0;
	ssize_t count;

	if (job_child->failure < 0)
		return 0;
	count = read(job_child->failure, &number, sizeof(number));
	if (count < 0 && (errno == EINTR || errno == EAGAIN))
		return -1;
	job_child_close_fd(&job_child->failure);
	return count == (ssize_t)sizeof(number) ? number : 0;
}
