#include "backends/discover/process-scan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/discover/exe-cache.h"
#include "backends/linux/pid-list.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/map.h"

static void process_scan_free_entry(void *value)
{
	struct process_scan_entry *entry = value;

	free(entry->command);
	free(entry->words);
	free(entry);
}

void process_scan_init(struct process_scan *scan, struct procfs *procfs)
{
	*scan = (struct process_scan){ .procfs = procfs };
	gethostname(scan->host, sizeof(scan->host) - 1);
	scan->entries = map_new(process_scan_free_entry);
}

void process_scan_clear(struct process_scan *scan)
{
	map_free(scan->entries);
	free(scan->list);
	*scan = (struct process_scan){ .procfs = NULL };
}

/* True if the process has mapped libpython: a program that embeds Python may have any name. */
static bool maps_libpython(struct process_scan *scan, pid_t pid)
{
	char *bytes;

	return procfs_read(scan->procfs, pid, "maps", &bytes, NULL) > 0 &&
	       strstr(bytes, "/libpython");
}

static struct process_scan_entry *process_scan_add_entry(struct process_scan *scan, pid_t pid)
{
	struct process_scan_entry *entry = xcalloc(1, sizeof(*entry));

	entry->pid = pid;
	entry->uid = (uid_t)-1;
	environment_init(&entry->environment);
	map_put(scan->entries, (uint64_t)pid, entry);
	ARRAY_GROW(scan->list, scan->count, scan->capacity);
	scan->list[scan->count++] = entry;
	return entry;
}

static const char *process_scan_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * For a process that could not be read (errno is that of the failed read): true if it is Python, by
 * its comm, which every user may read. Root can read every process.
 */
static bool is_hidden_python(struct process_scan *scan, pid_t pid)
{
	char *name;

	return (errno == EACCES || errno == EPERM) &&
	       procfs_read(scan->procfs, pid, "comm", &name, NULL) > 0 && exe_is_python_name(name);
}

/* Returns false and sets errno for a kernel thread, a zombie, or a process of another user. */
static bool read_executable(struct process_scan *scan, pid_t pid, char *name, size_t size)
{
	char path[PATH_MAX];

	if (procfs_link(scan->procfs, pid, "exe", path, sizeof(path)) < 0)
		return false;
	snprintf(name, size, "%s", process_scan_base_name(path));
	return true;
}

/* Returns true if a process that could not be read is Python, and counts it. */
static bool count_hidden(struct process_scan *scan, pid_t pid)
{
	if (!is_hidden_python(scan, pid))
		return false;
	scan->hidden_count++;
	scan->own_hidden_count += procfs_status(scan->procfs, pid, "Uid", -1) == (int64_t)geteuid();
	return true;
}

static void look_at_environment(struct process_scan *scan, struct process_scan_entry *entry)
{
	char *bytes;
	ssize_t length = procfs_read(scan->procfs, entry->pid, "environ", &bytes, &entry->uid);

	if (length < 0) {
		count_hidden(scan, entry->pid);
		return;
	}
	entry->is_readable = true;
	scan->readable_count++;
	environment_parse(&entry->environment, bytes, (size_t)length);
	entry->is_python = exe_is_python_name(entry->executable) ||
			   (environment_family(&entry->environment) != FAMILY_NONE &&
			    maps_libpython(scan, entry->pid));
}

static void process_scan_look_at(struct process_scan *scan, pid_t pid)
{
	char name[sizeof(((struct process_scan_entry *)NULL)->executable)];
	struct process_scan_entry *entry;

	if (!read_executable(scan, pid, name, sizeof(name))) {
		count_hidden(scan, pid);
		return;
	}
	entry = process_scan_add_entry(scan, pid);
	memcpy(entry->executable, name, sizeof(name));
	look_at_environment(scan, entry);
}

static bool process_scan_is_hidden(int number)
{
	return number == EACCES || number == EPERM;
}

/*
 * Reads a process that the cache does not know. If it does not run Python, the cache remembers
 * that: without an execve(2) it cannot become a rank.
 */
static void look_at_unknown(struct process_scan *scan, struct exe_cache *exes, pid_t pid)
{
	const char *name = exe_cache_name(exes, scan->procfs);
	struct process_scan_entry *entry;

	if (!name) {
		if (process_scan_is_hidden(errno) && !count_hidden(scan, pid))
			exe_cache_learn(exes, EXE_HIDDEN);
		return;
	}
	entry = process_scan_add_entry(scan, pid);
	snprintf(entry->executable, sizeof(entry->executable), "%s", name);
	look_at_environment(scan, entry);
	if (entry->is_readable && !entry->is_python &&
	    environment_family(&entry->environment) == FAMILY_NONE)
		exe_cache_learn(exes, EXE_OTHER);
}

int process_scan_all(struct process_scan *scan, struct exe_cache *exes)
{
	struct procfs_entry *entries;
	size_t count;
	int result = procfs_entries(scan->procfs, &entries, &count);

	exe_cache_prefetch(exes, scan->procfs, entries, count);
	for (size_t i = 0; i < count; i++) {
		switch (exe_cache_look(exes, scan->procfs, &entries[i])) {
		case EXE_UNKNOWN:
			look_at_unknown(scan, exes, entries[i].pid);
			break;
		case EXE_OTHER:
			scan->readable_count++;
			break;
		case EXE_HIDDEN:
		case EXE_NONE:
			break;
		}
	}
	exe_cache_end(exes, scan->procfs);
	free(entries);
	return result;
}

void process_scan_below(struct process_scan *scan, pid_t root)
{
	struct pid_list list = { .pids = NULL };

	process_tree_list(scan->procfs, root, &list);
	for (size_t i = 0; i < list.count; i++)
		if (!map_find(scan->entries, (uint64_t)list.pids[i]))
			process_scan_look_at(scan, list.pids[i]);
	pid_list_clear(&list);
}

struct process_scan_entry *process_scan_find(struct process_scan *scan, pid_t pid)
{
	struct process_scan_entry *entry;

	if (pid <= 0) {
		errno = ESRCH;
		return NULL;
	}
	entry = map_find(scan->entries, (uint64_t)pid);
	if (!entry) {
		entry = process_scan_add_entry(scan, pid);
		if (read_executable(scan, pid, entry->executable, sizeof(entry->executable)))
			look_at_environment(scan, entry);
	}
	return process_scan_stat(scan, entry) ? entry : NULL;
}

struct process_scan_entry *process_scan_parent(struct process_scan *scan,
					       struct process_scan_entry *entry)
{
	if (!process_scan_stat(scan, entry))
		return NULL;
	return process_scan_find(scan, entry->stat.parent_pid);
}

bool process_scan_stat(struct process_scan *scan, struct process_scan_entry *entry)
{
	if (!entry->has_stat) {
		entry->has_stat = true;
		if (procfs_stat(scan->procfs, entry->pid, &entry->stat) < 0)
			entry->stat_error = errno;
		/*
		 * Every user may read /proc/PID/stat, so this error is not a lack of permission:
		 * the scan is incomplete.
		 */
		if (entry->stat_error && !procfs_is_gone(entry->stat_error))
			scan->procfs->unread = entry->stat_error;
	}
	errno = entry->stat_error;
	return entry->stat_error == 0;
}

bool process_scan_words(struct process_scan *scan, struct process_scan_entry *entry)
{
	size_t capacity = 0;
	char *bytes;
	ssize_t length;

	if (entry->command)
		return entry->word_count > 0;
	length = procfs_read(scan->procfs, entry->pid, "cmdline", &bytes, NULL);
	if (length < 0)
		length = 0;
	entry->command = xmalloc((size_t)length + 1);
	if (length > 0)
		memcpy(entry->command, bytes, (size_t)length);
	entry->command[length] = '\0';
	for (ssize_t at = 0; at < length && entry->word_count < PROCESS_SCAN_WORDS_MAXIMUM;) {
		ARRAY_GROW(entry->words, entry->word_count, capacity);
		entry->words[entry->word_count++] = entry->command + at;
		at += (ssize_t)strlen(entry->command + at) + 1;
	}
	return entry->word_count > 0;
}

bool process_scan_mentions(struct process_scan *scan, struct process_scan_entry *entry,
			   const char *text)
{
	process_scan_words(scan, entry);
	for (size_t i = 0; i < entry->word_count; i++)
		if (strstr(entry->words[i], text))
			return true;
	return false;
}
