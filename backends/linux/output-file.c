#include "backends/linux/output-file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"
#include "backends/linux/procfs.h"
#include "backends/linux/root-file.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "protocol/process.h"

#define ANCESTORS_MAXIMUM 8
#define DESCRIPTORS_MAXIMUM 4096

static const char *const categories[] = { "stdout", "stderr" };
static const char *const names[] = { "standard output", "standard error" };

const char *output_file_category(const struct output_file *stream)
{
	return categories[stream->number - 1];
}

/* Returns a text like "rank 3's standard output", to free(). */
static char *owner_of(const struct output_file *stream, const struct process *process)
{
	const char *name = names[stream->number - 1];

	if (process->parent_pid == 0)
		return xasprintf("rank %d's %s", process->rank, name);
	return xasprintf("the %s of process %d", name, (int)process->pid);
}

/* True if descriptor `number` of process pid is open for reading. */
static bool output_file_is_readable(struct procfs *procfs, pid_t pid, const char *number)
{
	static const char key[] = "flags:";
	const char *found;
	char file[300];
	char *bytes;

	snprintf(file, sizeof(file), "fdinfo/%s", number);
	if (procfs_read(procfs, pid, file, &bytes, NULL) < 0)
		return false;
	found = strstr(bytes, key);
	return found && (strtoul(found + strlen(key), NULL, 8) & O_ACCMODE) != O_WRONLY;
}

/*
 * True if process pid has a descriptor that is open for reading and has the given link in
 * /proc/PID/fd.
 */
static bool reads(struct procfs *procfs, pid_t pid, const char *link)
{
	char path[64];
	DIR *folder;
	struct dirent *entry;
	bool is_found = false;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	for (int i = 0; folder && !is_found && i < DESCRIPTORS_MAXIMUM; i++) {
		char file[300];
		char target[64];

		entry = readdir(folder);
		if (!entry)
			break;
		snprintf(file, sizeof(file), "fd/%s", entry->d_name);
		is_found = procfs_link(procfs, pid, file, target, sizeof(target)) == 0 &&
			   strcmp(target, link) == 0 &&
			   output_file_is_readable(procfs, pid, entry->d_name);
	}
	if (folder)
		closedir(folder);
	return is_found;
}

/*
 * Returns the process that reads a pipe, if it is an ancestor of pid. 0: no ancestor reads the
 * pipe, or the descriptors of the ancestors cannot be read.
 */
static pid_t find_reader(struct procfs *procfs, pid_t pid, const char *link)
{
	struct procfs_stat stat;

	for (int i = 0; i < ANCESTORS_MAXIMUM; i++) {
		if (procfs_stat(procfs, pid, &stat) < 0 || stat.parent_pid <= 1)
			return 0;
		pid = stat.parent_pid;
		if (reads(procfs, pid, link))
			return pid;
	}
	return 0;
}

static const char *advice_for(const struct process *process)
{
	if (process->launcher && strstr(process->launcher, "torchrun"))
		return "; to see the output here, start torchrun with --log-dir DIR --redirects 3";
	return "; only output to a file is shown here";
}

static char *explain_pipe(const char *owner, struct procfs *procfs, const struct process *process,
			  const char *link)
{
	pid_t reader = find_reader(procfs, process->pid, link);
	struct procfs_stat stat;
	const char *name = stat.name;

	if (reader == 0 || procfs_stat(procfs, reader, &stat) < 0)
		return xasprintf("%s is a pipe%s", owner, advice_for(process));
	if (reader == process->launcher_pid && process->launcher)
		name = process->launcher;
	return xasprintf("%s is a pipe to %s (pid %d)%s", owner, name, (int)reader,
			 advice_for(process));
}

/* Returns a sentence that explains an output that is not a regular file; free() it. */
static char *output_file_explain(const struct output_file *stream, mode_t mode,
				 struct procfs *procfs, const struct process *process,
				 const char *link)
{
	char *owner = owner_of(stream, process);
	char *sentence;

	if (S_ISFIFO(mode))
		sentence = explain_pipe(owner, procfs, process, link);
	else if (S_ISSOCK(mode))
		sentence = xasprintf("%s is a socket%s", owner, advice_for(process));
	else if (strcmp(link, "/dev/null") == 0)
		sentence = xasprintf("%s is discarded (%s)", owner, link);
	else if (S_ISCHR(mode))
		sentence = xasprintf("%s is the terminal or device %s%s", owner, link,
				     advice_for(process));
	else
		sentence = xasprintf("%s is %s, which is not a file%s", owner, link,
				     advice_for(process));
	free(owner);
	return sentence;
}

static char *explain_failure(const struct output_file *stream, const struct process *process,
			     int number)
{
	char *owner = owner_of(stream, process);
	char *sentence;

	if (number == ENOENT)
		sentence = xasprintf("%s is closed", owner);
	else
		sentence = xasprintf("%s cannot be accessed: %s", owner, strerror(number));
	free(owner);
	return sentence;
}

static void descriptor_path(char path[64], const struct output_file *stream, pid_t pid)
{
	snprintf(path, 64, "/proc/%d/fd/%d", (int)pid, stream->number);
}

static void open_found(struct output_file *stream, int found, struct procfs *procfs,
		       const struct process *process)
{
	char link[PATH_MAX];
	char file[16];
	struct stat about;

	snprintf(file, sizeof(file), "fd/%d", stream->number);
	if (fstat(found, &about) < 0 ||
	    procfs_link(procfs, process->pid, file, link, sizeof(link)) < 0) {
		stream->why = explain_failure(stream, process, errno);
		return;
	}
	stream->device = about.st_dev;
	stream->inode = about.st_ino;
	if (!S_ISREG(about.st_mode)) {
		stream->why = output_file_explain(stream, about.st_mode, procfs, process, link);
		return;
	}
	stream->path = xstrdup(link);
	stream->fd = root_file_open(found);
	if (stream->fd < 0)
		stream->why = explain_failure(stream, process, errno);
}

void output_file_open(struct output_file *stream, int number, struct procfs *procfs,
		      const struct process *process)
{
	char path[64];
	int found;

	*stream = (struct output_file){ .number = number, .fd = -1 };
	descriptor_path(path, stream, process->pid);
	found = open(path, O_PATH | O_CLOEXEC);
	if (found < 0) {
		stream->why = explain_failure(stream, process, errno);
		return;
	}
	open_found(stream, found, procfs, process);
	close(found);
}

void output_file_note(struct output_file *stream, int number, struct procfs *procfs,
		      const struct process *process)
{
	char link[PATH_MAX];
	char path[64];
	struct stat about;

	*stream = (struct output_file){ .number = number, .fd = -1 };
	descriptor_path(path, stream, process->pid);
	if (stat(path, &about) < 0 || !S_ISREG(about.st_mode))
		return;
	if (procfs_link(procfs, process->pid, number == 1 ? "fd/1" : "fd/2", link, sizeof(link)) <
	    0)
		return;
	stream->device = about.st_dev;
	stream->inode = about.st_ino;
	stream->path = xstrdup(link);
}

void output_file_open_noted(struct output_file *stream, const struct output_file *noted)
{
	struct stat about;
	int found = -1;

	*stream = (struct output_file){
		.number = noted->number,
		.fd = -1,
		.device = noted->device,
		.inode = noted->inode,
	};
	if (noted->path)
		found = open(noted->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (found >= 0 && fstat(found, &about) == 0 && S_ISREG(about.st_mode) &&
	    about.st_dev == noted->device && about.st_ino == noted->inode)
		stream->fd = root_file_open(found);
	if (found >= 0)
		close(found);
	if (stream->fd >= 0)
		stream->path = xstrdup(noted->path);
	else if (noted->path)
		stream->why =
			xasprintf("the process has exited, and its %s (%s) cannot be read any more",
				  names[noted->number - 1], noted->path);
	else
		stream->why = xasprintf("the process has exited, and its %s was not a file, so the "
					"output was not kept",
					names[noted->number - 1]);
}

void output_file_close(struct output_file *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	free(stream->path);
	free(stream->why);
	*stream = (struct output_file){ .number = stream->number, .fd = -1 };
}

off_t output_file_size(const struct output_file *stream)
{
	struct stat about;

	if (stream->fd < 0 || fstat(stream->fd, &about) < 0)
		return 0;
	return about.st_size;
}

bool output_file_leads_there(const struct output_file *stream, const struct process *process)
{
	struct stat about;
	char path[64];

	descriptor_path(path, stream, process->pid);
	return stat(path, &about) == 0 && about.st_dev == stream->device &&
	       about.st_ino == stream->inode;
}

bool output_file_has_changed(const struct output_file *stream, const struct process *process)
{
	struct stat about;
	char path[64];

	descriptor_path(path, stream, process->pid);
	if (stat(path, &about) < 0)
		return false;
	return about.st_dev != stream->device || about.st_ino != stream->inode;
}

void output_file_read(struct output_file *stream, size_t maximum, struct buffer *out)
{
	char bytes[4096];

	while (maximum > 0) {
		size_t wanted = maximum < sizeof(bytes) ? maximum : sizeof(bytes);
		ssize_t got = pread(stream->fd, bytes, wanted, stream->at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0 || buffer_append(out, bytes, (size_t)got) < 0)
			return;
		stream->at += got;
		maximum -= (size_t)got;
	}
}
