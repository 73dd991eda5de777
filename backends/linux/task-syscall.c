#include "backends/linux/task-syscall.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "banned.h"

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
