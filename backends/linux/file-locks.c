#include "backends/linux/file-locks.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "banned.h"

/* Maximum lines that are read: the kernel keeps its lists locked while it prints them. */
#define LINES_MAXIMUM 4000

/*
 * Reads "1: -> FLOCK  ADVISORY  WRITE 4711 fe:00:2149124 0 EOF" (fs/locks.c). is_waiting: the lock
 * is waited for; the line of its holder stands before. A process that waits behind another one has
 * more blanks in front of the arrow.
 */
static bool read_line(const char *line, int *number, bool *is_waiting, int *pid)
{
	static const char arrow[] = "-> ";
	const char *rest = strchr(line, ':');

	if (!rest)
		return false;
	rest += 1 + strspn(rest + 1, " ");
	*is_waiting = strncmp(rest, arrow, strlen(arrow)) == 0;
	if (*is_waiting)
		rest += strlen(arrow);
	return sscanf(line, "%9d:", number) == 1 && sscanf(rest, "%*s %*s %*s %9d", pid) == 1;
}

pid_t file_locks_find(FILE *file, pid_t waiter)
{
	char line[256];
	int held = -1;
	int holder = 0;

	for (int i = 0; i < LINES_MAXIMUM && fgets(line, sizeof(line), file); i++) {
		bool is_waiting;
		int number, pid;

		if (!read_line(line, &number, &is_waiting, &pid))
			continue;
		if (!is_waiting) {
			held = number;
			holder = pid;
		} else if (number == held && pid == waiter) {
			/* The holder of a lock of an open file description (F_OFD_SETLKW) is -1. */
			return holder > 0 && holder != waiter ? holder : 0;
		}
	}
	return 0;
}

pid_t file_locks_holder(pid_t waiter)
{
	FILE *file = fopen("/proc/locks", "re");
	pid_t holder;

	if (!file)
		return 0;
	holder = file_locks_find(file, waiter);
	fclose(file);
	return holder;
}
