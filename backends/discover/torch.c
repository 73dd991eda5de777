#include "backends/discover/torch.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/linux/procfs.h"
#include "backends/linux/root-file.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "protocol/process.h"

#define VERSION_MAXIMUM 64

/* Returns the folder …/torch if the line of maps ends with …/torch/lib/libtorch*.so, else NULL. */
static char *folder_of(const char *line, size_t length)
{
	static const char library[] = "/lib/libtorch";
	const char *path = memchr(line, '/', length);
	const char *found = path;
	const char *next;

	if (!path)
		return NULL;
	while ((next = memmem(found + 1, length - (size_t)(found + 1 - line), library,
			      strlen(library))))
		found = next;
	if (found == path || found - path >= PATH_MAX)
		return NULL;
	return xstrndup(path, (size_t)(found - path));
}

static char *find_folder(struct procfs *procfs, pid_t pid)
{
	char *bytes;
	char *folder = NULL;

	if (procfs_read(procfs, pid, "maps", &bytes, NULL) < 0)
		return NULL;
	while (*bytes != '\0' && !folder) {
		size_t length = strcspn(bytes, "\n");

		folder = folder_of(bytes, length);
		bytes += length + (bytes[length] == '\n');
	}
	return folder;
}

/*
 * Returns the path as the process sees it: paths in maps begin at the root of this program, so the
 * root of the process (chroot) is removed.
 */
static const char *below_root(struct procfs *procfs, pid_t pid, const char *path)
{
	char root[PATH_MAX];
	size_t length;

	if (procfs_link(procfs, pid, "root", root, sizeof(root)) < 0)
		return path;
	length = strlen(root);
	if (length > 1 && strncmp(path, root, length) == 0 && path[length] == '/')
		return path + length;
	return path;
}

/* Parses a line __version__ = '2.1.0' or __version__: str = '2.1.0'. */
static char *torch_version_parse_version(const char *text)
{
	const char *at = strstr(text, "\n__version__");
	size_t length;

	if (!at)
		return NULL;
	at++;
	at += strcspn(at, "'\"\n");
	if (*at != '\'' && *at != '"')
		return NULL;
	length = strcspn(at + 1, "'\"\n");
	if (length == 0 || length > VERSION_MAXIMUM)
		return NULL;
	return xstrndup(at + 1, length);
}

char *torch_version(struct procfs *procfs, const struct process *process)
{
	char *folder = find_folder(procfs, process->pid);
	struct source_file source = { .content = NULL };
	char *version = NULL;
	char *path;

	if (!folder)
		return NULL;
	path = xasprintf("%s/version.py", below_root(procfs, process->pid, folder));
	/* If the file was changed after the start of the process, it is not the loaded version. */
	if (source_file_read(&source, process, path, NULL) == 0 && !source.is_changed)
		version = torch_version_parse_version(source.content);
	free(source.content);
	free(source.full);
	free(path);
	free(folder);
	return version;
}

#define NCCL_SECONDS 600.0
#define OTHER_SECONDS 1800.0

/*
 * True if the thread is one of torch's NCCL threads, by its name: pt_nccl_watchdg, pt_nccl_heartbt.
 */
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
