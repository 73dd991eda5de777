#include "backends/linux/file-locks.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "banned.h"

#define LINES_MAXIMUM 100000

/*
 * Reads "1: -> FLOCK  ADVISORY  WRITE 4711 fe:00:2149124 0 EOF" (fs/locks.c). is_waiting: the lock
 * is waited for (->); the line of its holder stands before.
 */
static bool read_line(const char *line, int *number, bool *is_waiting, int *pid)
{
	const char *arrow = strstr(line, ": -> ");
	const char *rest = strstr(line, ": ");

	*is_waiting = arrow != NULL;
	rest = arrow ? arrow + strlen(": -> ") : rest ? rest + strlen(": ") : "";
	return sscanf(line, "%9d:", number) == 1 && sscanf(rest, "%*s %*s %*s %9d", pid) == 1;
}

pid_t file_locks_holder(pid_t waiter)
{
	FILE *file = fopen("/proc/locks", "re");
	char line[256];
	int held = -1;
	int holder = 0;
	int found = 0;

	for (int i = 0; file && !found && i < LINES_MAXIMUM && fgets(line, sizeof(line), file);
	     i++) {
		bool is_waiting;
		int number, pid;

		if (!read_line(line, &number, &is_waiting, &pid))
			continue;
		if (!is_waiting) {
			held = number;
			holder = pid;
		} else if (number == held && pid == waiter) {
			found = holder;
		}
	}
	if (file)
		fclose(file);
	/* The holder of a lock of an open file description (F_OFD_SETLKW) is -1. */
	return found > 0 && found != waiter ? found : 0;
}
