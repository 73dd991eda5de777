#include "backends/linux/task.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backends/linux/procfs.h"
#include "banned.h"

static const char *const file_names[TASK_FILES] = {
	[TASK_SCHEDSTAT] = "schedstat",
	[TASK_SYSCALL] = "syscall",
	[TASK_WCHAN] = "wchan",
	[TASK_STAT] = "stat",
};

static int task_open_file(struct task *task, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)task->pid, (int)task->tid, name);
	task->calls++;
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int task_read_file(struct task *task, int fd, char *out, size_t size)
{
	task->calls++;
	ssize_t got = pread(fd, out, size - 1, 0);
	if (got < 0)
		return -1;
	out[got] = '\0';
	return 0;
}

/*
 * True if the file may be kept open: its descriptor is in the lower half of the limit of
 * descriptors.
 */
static bool may_be_kept(int fd)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) < 0 || (rlim_t)fd < limit.rlim_cur / 2;
}

/* Reads a file that is kept open; the first read opens the file. */
static int task_read_kept(struct task *task, enum task_file file, char *out, size_t size)
{
	int number;
	int result;
	int fd;

	if (task->fds[file] >= 0)
		return task_read_file(task, task->fds[file], out, size);
	fd = task_open_file(task, file_names[file]);
	if (fd < 0)
		return -1;
	result = task_read_file(task, fd, out, size);
	number = errno;
	if (may_be_kept(fd))
		task->fds[file] = fd;
	else
		close(fd);
	errno = number;
	return result;
}

static bool task_is_gone(int number)
{
	return number == ESRCH || number == ENOENT;
}

void task_begin(struct task *task)
{
	task->missing = NULL;
	task->failure = 0;
	task->is_letter_unread = false;
}

/* Notes a read that has failed, unless the thread has exited. */
static void task_note_missing(struct task *task, const char *what)
{
	if (task->missing || task_is_gone(errno))
		return;
	task->missing = what;
	task->failure = errno;
}

void task_init(struct task *task, pid_t pid, pid_t tid)
{
	*task = (struct task){ .pid = pid, .tid = tid };
	for (int i = 0; i < TASK_FILES; i++)
		task->fds[i] = -1;
}

void task_clear(struct task *task)
{
	for (int i = 0; i < TASK_FILES; i++) {
		if (task->fds[i] >= 0)
			close(task->fds[i]);
		task->fds[i] = -1;
	}
}

/*
 * /proc/PID/task/TID/schedstat is "CPU-NS WAITED-NS TIMES"; all three are 0 if the kernel does not
 * count.
 */
int task_look_switches(struct task *task, struct task_state *state)
{
	char text[128];

	state->cpu_ns = 0;
	state->switches = 0;
	if (task_read_kept(task, TASK_SCHEDSTAT, text, sizeof(text)) < 0)
		return -1;
	if (sscanf(text, "%" SCNu64 " %*u %" SCNu64, &state->cpu_ns, &state->switches) != 2)
		state->switches = 0;
	return 0;
}

static void keep_syscall(struct task_state *state, const char *text)
{
	struct task_syscall call;

	state->is_known = true;
	state->is_blocked = task_syscall_parse(&call, text);
	state->syscall = call.number;
	if (!state->is_blocked)
		return;
	state->argument = call.arguments[0];
	state->stack_pointer = call.stack_pointer;
	state->instruction = call.instruction;
}

int task_look(struct task *task, struct task_state *state)
{
	char text[256];
	uint64_t switches = state->switches;

	if (task_look_switches(task, state) < 0) {
		if (task_is_gone(errno))
			return -1;
		task_note_missing(task, "the processor time");
	}
	if (state->is_blocked && switches && state->switches == switches)
		return 0;
	state->is_known = false;
	state->is_blocked = false;
	state->syscall = -1;
	state->argument = 0;
	if (task_read_kept(task, TASK_SYSCALL, text, sizeof(text)) < 0) {
		task_note_missing(task, "the system call");
		return task_is_gone(errno) ? -1 : 0;
	}
	keep_syscall(state, text);
	return 0;
}

void task_wchan(struct task *task, char *out, size_t size)
{
	if (task_read_kept(task, TASK_WCHAN, out, size) < 0 || strcmp(out, "0") == 0)
		out[0] = '\0';
}

void task_name(struct task *task, char *out, size_t size)
{
	out[0] = '\0';
	int fd = task_open_file(task, "comm");
	if (fd < 0)
		return;
	if (task_read_file(task, fd, out, size) == 0)
		out[strcspn(out, "\n")] = '\0';
	close(fd);
}

/*
 * The letter of the state follows the name, which is in parentheses and may itself contain
 * parentheses.
 */
char task_letter(struct task *task)
{
	char text[256];

	if (task_read_kept(task, TASK_STAT, text, sizeof(text)) < 0) {
		task_note_missing(task, "the state");
		task->is_letter_unread = true;
		return 0;
	}
	const char *end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : 0;
}

static pid_t inner_tid(int folder, const char *name)
{
	char path[300];
	char text[8192];

	snprintf(path, sizeof(path), "%s/status", name);
	int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t got = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return procfs_inner_pid(text);
}

pid_t task_find(pid_t pid, pid_t inner)
{
	char path[64];
	pid_t found = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *folder = opendir(path);
	if (!folder)
		return 0;
	for (struct dirent *entry = readdir(folder); entry && !found; entry = readdir(folder))
		if (entry->d_name[0] != '.' && inner_tid(dirfd(folder), entry->d_name) == inner)
			found = (pid_t)strtol(entry->d_name, NULL, 10);
	closedir(folder);
	return found;
}

pid_t task_inner(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return inner_tid(AT_FDCWD, path);
}

pid_t task_inner_thread(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return inner_tid(AT_FDCWD, path);
}

bool task_syscall_parse(struct task_syscall *call, const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);

	*call = (struct task_syscall){ .number = -1 };
	if (end == text)
		return false;
	call->number = (int)number;
	for (int i = 0; number >= 0 && i < TASK_SYSCALL_ARGUMENTS; i++)
		call->arguments[i] = strtoull(end, &end, 16);
	call->stack_pointer = strtoull(end, &end, 16);
	call->instruction = strtoull(end, &end, 16);
	return true;
}

bool task_syscall_read(struct task_syscall *call, pid_t pid, pid_t tid)
{
	char path[64];
	char text[256];
	ssize_t got;
	int fd;

	*call = (struct task_syscall){ .number = -1 };
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return task_syscall_parse(call, text);
}
