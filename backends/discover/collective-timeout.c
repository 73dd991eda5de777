#include "backends/discover/collective-timeout.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "banned.h"

#define NCCL_SECONDS 600.0
#define OTHER_SECONDS 1800.0

/* Whether the thread has a name of torch's NCCL threads: pt_nccl_watchdg, pt_nccl_heartbt. */
static bool is_nccl(pid_t pid, const char *tid)
{
	char path[80];
	char name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/comm", (int)pid, tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return strcasestr(name, "nccl");
}

double collective_timeout_seconds_of(pid_t pid)
{
	double seconds = OTHER_SECONDS;
	const struct dirent *entry;
	char path[40];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return seconds;
	while (seconds > NCCL_SECONDS && (entry = readdir(tasks))) {
		if (entry->d_name[0] != '.' && is_nccl(pid, entry->d_name))
			seconds = NCCL_SECONDS;
	}
	closedir(tasks);
	return seconds;
}
