#include "backends/linux/procfs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"

#define FIRST_CAPACITY (64u << 10)
#define PATH_SIZE 64

/* struct linux_dirent64 of getdents64(2), which the C library does not define. */
struct directory_entry {
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

int procfs_open(struct procfs *procfs, struct error *error)
{
	procfs->data = NULL;
	procfs->capacity = 0;
	procfs->unread = 0;
	procfs->fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (procfs->fd < 0)
		return error_set_errno(error, errno, "cannot open /proc");
	return 0;
}

void procfs_close(struct procfs *procfs)
{
	if (procfs->fd >= 0)
		close(procfs->fd);
	free(procfs->data);
	*procfs = (struct procfs){ .fd = -1 };
}

/*
 * Notes an error that makes a scan incomplete. EINVAL is not noted: it means that the process is a
 * zombie, which has no network files.
 */
void procfs_note(struct procfs *procfs, int number)
{
	if (procfs->unread == 0 && number != 0 && number != EACCES && number != EPERM &&
	    number != EINVAL && !procfs_is_gone(number))
		procfs->unread = number;
}

static int failed(struct procfs *procfs)
{
	procfs_note(procfs, errno);
	return -1;
}

static void procfs_reserve(struct procfs *procfs, size_t capacity)
{
	if (procfs->capacity >= capacity)
		return;
	procfs->data = xrealloc(procfs->data, capacity);
	procfs->capacity = capacity;
}

static pid_t procfs_parse_pid(const char *name)
{
	char *end;
	long value;

	if (!isdigit((unsigned char)name[0]))
		return 0;
	value = strtol(name, &end, 10);
	return *end == '\0' && value > 0 && value <= INT32_MAX ? (pid_t)value : 0;
}

/* Lists the entries of a folder whose names are numbers. */
static int list_numbers(struct procfs *procfs, int fd, struct procfs_entry **entries, size_t *count)
{
	size_t capacity = 0;

	*entries = NULL;
	*count = 0;
	procfs_reserve(procfs, FIRST_CAPACITY);
	for (;;) {
		long length = syscall(SYS_getdents64, fd, procfs->data, FIRST_CAPACITY);

		if (length <= 0)
			return length < 0 ? failed(procfs) : 0;
		for (long at = 0; at < length;) {
			const struct directory_entry *entry = (const void *)(procfs->data + at);
			pid_t pid = procfs_parse_pid(entry->name);

			at += entry->length;
			if (pid == 0)
				continue;
			ARRAY_GROW(*entries, *count, capacity);
			(*entries)[(*count)++] =
				(struct procfs_entry){ .pid = pid, .inode = entry->inode };
		}
	}
}

int procfs_entries(struct procfs *procfs, struct procfs_entry **entries, size_t *count)
{
	*entries = NULL;
	*count = 0;
	if (lseek(procfs->fd, 0, SEEK_SET) < 0)
		return failed(procfs);
	return list_numbers(procfs, procfs->fd, entries, count);
}

/* Returns the pids of the entries; frees entries. */
static pid_t *take_pids(struct procfs_entry *entries, size_t count)
{
	pid_t *pids = count > 0 ? xcalloc(count, sizeof(*pids)) : NULL;

	for (size_t i = 0; i < count; i++)
		pids[i] = entries[i].pid;
	free(entries);
	return pids;
}

int procfs_list(struct procfs *procfs, pid_t **pids, size_t *count)
{
	struct procfs_entry *entries;
	int result = procfs_entries(procfs, &entries, count);

	*pids = take_pids(entries, *count);
	return result;
}

/* Writes "PID/FILE". Without printf(), for speed: called for each process of the machine. */
static void procfs_make_path(char *path, pid_t pid, const char *file)
{
	size_t file_length = strlen(file);
	char digits[16];
	size_t length = 0;
	size_t at = 0;

	do
		digits[length++] = (char)('0' + pid % 10);
	while ((pid /= 10) > 0);
	while (length > 0)
		path[at++] = digits[--length];
	path[at++] = '/';
	if (file_length >= PATH_SIZE - at)
		file_length = PATH_SIZE - at - 1;
	memcpy(path + at, file, file_length);
	path[at + file_length] = '\0';
}

static ssize_t procfs_read_all(struct procfs *procfs, int fd)
{
	size_t length = 0;

	procfs_reserve(procfs, FIRST_CAPACITY);
	for (;;) {
		size_t room = procfs->capacity - 1 - length;
		ssize_t got = read(fd, procfs->data + length, room);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return failed(procfs);
		length += (size_t)got;
		/*
		 * A short read is the last one, except in long listings, which the kernel returns
		 * one page at a time.
		 */
		if (got == 0 || ((size_t)got < room && length < 2048) ||
		    length >= PROCFS_FILE_MAXIMUM)
			break;
		if (length + 1 == procfs->capacity)
			procfs_reserve(procfs, procfs->capacity * 2);
	}
	procfs->data[length] = '\0';
	return (ssize_t)length;
}

ssize_t procfs_read(struct procfs *procfs, pid_t pid, const char *file, char **bytes, uid_t *owner)
{
	char path[PATH_SIZE];
	struct stat about;
	ssize_t length;
	int number;
	int fd;

	procfs_make_path(path, pid, file);
	fd = openat(procfs->fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return failed(procfs);
	if (owner)
		*owner = fstat(fd, &about) == 0 ? about.st_uid : (uid_t)-1;
	length = procfs_read_all(procfs, fd);
	number = errno;
	close(fd);
	errno = number;
	*bytes = procfs->data;
	return length;
}

int procfs_threads(struct procfs *procfs, pid_t pid, pid_t **tids, size_t *count)
{
	struct procfs_entry *entries;
	char path[PATH_SIZE];
	int result;
	int fd;

	*tids = NULL;
	*count = 0;
	procfs_make_path(path, pid, "task");
	fd = openat(procfs->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return failed(procfs);
	result = list_numbers(procfs, fd, &entries, count);
	close(fd);
	*tids = take_pids(entries, *count);
	return result;
}

int procfs_statx(struct procfs *procfs, pid_t pid, const char *file, struct statx *about)
{
	char path[PATH_SIZE];

	procfs_make_path(path, pid, file);
	return statx(procfs->fd, path, AT_STATX_DONT_SYNC,
		     STATX_INO | STATX_CTIME | STATX_NLINK | STATX_MNT_ID, about) < 0
		       ? failed(procfs)
		       : 0;
}

int procfs_open_file(struct procfs *procfs, pid_t pid, const char *file)
{
	char path[PATH_SIZE];

	procfs_make_path(path, pid, file);
	return openat(procfs->fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int procfs_link(struct procfs *procfs, pid_t pid, const char *file, char *out, size_t size)
{
	char path[PATH_SIZE];
	ssize_t length;

	procfs_make_path(path, pid, file);
	length = readlinkat(procfs->fd, path, out, size - 1);
	out[length > 0 ? length : 0] = '\0';
	return length < 0 ? failed(procfs) : 0;
}

/* Fields of /proc/PID/stat after the name, as proc(5) numbers them, from 3 (state) on. */
enum {
	FIELD_STATE = 3,
	FIELD_PARENT = 4,
	FIELD_START = 22,
	FIELD_EXIT_CODE = 52,
};

static void parse_fields(struct procfs_stat *stat, char *at)
{
	char *rest = NULL;
	int number = FIELD_STATE;

	for (char *word = strtok_r(at, " \n", &rest); word;
	     word = strtok_r(NULL, " \n", &rest), number++) {
		if (number == FIELD_STATE)
			stat->state = word[0];
		else if (number == FIELD_PARENT)
			stat->parent_pid = (pid_t)strtol(word, NULL, 10);
		else if (number == FIELD_START)
			stat->start_time = strtoull(word, NULL, 10);
		/* The exit code is used only for zombies. */
		if (number == FIELD_START && !procfs_has_ended(stat))
			break;
		if (number == FIELD_EXIT_CODE)
			stat->wait_status = (int)strtol(word, NULL, 10);
	}
}

int procfs_stat(struct procfs *procfs, pid_t pid, struct procfs_stat *stat)
{
	char *bytes;
	char *open_bracket;
	char *close_bracket;

	*stat = (struct procfs_stat){ .state = '?' };
	if (procfs_read(procfs, pid, "stat", &bytes, NULL) < 0)
		return -1;
	/* The name may contain brackets and blanks, so the last closing bracket ends it. */
	open_bracket = strchr(bytes, '(');
	close_bracket = strrchr(bytes, ')');
	if (!open_bracket || !close_bracket || close_bracket < open_bracket ||
	    close_bracket[1] != ' ') {
		errno = EINVAL;
		return -1;
	}
	*close_bracket = '\0';
	snprintf(stat->name, sizeof(stat->name), "%s", open_bracket + 1);
	parse_fields(stat, close_bracket + 2);
	return 0;
}

bool procfs_has_ended(const struct procfs_stat *stat)
{
	return stat->state == 'Z' || stat->state == 'X' || stat->state == 'x';
}

bool procfs_is_gone(int number)
{
	return number == ESRCH || number == ENOENT;
}

int procfs_owner(struct procfs *procfs, pid_t pid, uid_t *owner)
{
	char path[PATH_SIZE];
	struct stat about;

	procfs_make_path(path, pid, "");
	if (fstatat(procfs->fd, path, &about, 0) < 0)
		return failed(procfs);
	*owner = about.st_uid;
	return 0;
}

const char *procfs_status_line(const char *status, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, length) == 0 && line[length] == ':')
			return line + length + 1;
	}
	return NULL;
}

/* Returns the last number of the line NSpid (proc_pid_status(5)); 0: none. */
pid_t procfs_inner_pid(const char *status)
{
	const char *line = procfs_status_line(status, "NSpid");
	const char *last;

	if (!line)
		return 0;
	last = line + strcspn(line, "\n");
	while (last > line && last[-1] >= '0' && last[-1] <= '9')
		last--;
	return (pid_t)strtol(last, NULL, 10);
}

int64_t procfs_status(struct procfs *procfs, pid_t pid, const char *key, int64_t fallback)
{
	const char *line;
	char *bytes;

	if (procfs_read(procfs, pid, "status", &bytes, NULL) < 0)
		return fallback;
	line = procfs_status_line(bytes, key);
	return line ? strtoll(line, NULL, 10) : fallback;
}

double procfs_age(uint64_t start_time)
{
	struct timespec now;
	double age;

	clock_gettime(CLOCK_BOOTTIME, &now);
	age = (double)now.tv_sec + (double)now.tv_nsec / 1e9 -
	      (double)start_time / (double)sysconf(_SC_CLK_TCK);
	return age > 0 ? age : 0;
}

#define SIGNAL_MAXIMUM 64
#define BIT(number) (UINT64_C(1) << ((number) - 1))

/*
 * By default the signals in HARMLESS are ignored or continue the process, those in STOPS stop it
 * (signal(7)).
 */
#define HARMLESS (BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH))
#define STOPS (BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU))

static const struct {
	const char *key;
	size_t offset;
} lines[] = {
	{ "SigPnd", offsetof(struct pending_signals, pending) },
	{ "ShdPnd", offsetof(struct pending_signals, shared) },
	{ "SigBlk", offsetof(struct pending_signals, blocked) },
	{ "SigIgn", offsetof(struct pending_signals, ignored) },
	{ "SigCgt", offsetof(struct pending_signals, caught) },
};

void pending_signals_parse(struct pending_signals *signals, const char *status)
{
	*signals = (struct pending_signals){ .pending = 0 };
	for (size_t i = 0; i < ARRAY_LENGTH(lines); i++) {
		const char *line = procfs_status_line(status, lines[i].key);
		uint64_t set = line ? strtoull(line, NULL, 16) : 0;

		memcpy((char *)signals + lines[i].offset, &set, sizeof(set));
	}
}

bool pending_signals_read(struct pending_signals *signals, struct procfs *procfs, pid_t tid)
{
	char *status;

	*signals = (struct pending_signals){ .pending = 0 };
	if (procfs_read(procfs, tid, "status", &status, NULL) < 0)
		return false;
	pending_signals_parse(signals, status);
	return true;
}

uint64_t pending_signals_that_count(const struct pending_signals *signals, uint64_t set)
{
	uint64_t ends = ~(HARMLESS | STOPS | signals->ignored);

	return set & (signals->caught | ends) & ~(HARMLESS | BIT(SIGTRAP));
}

void pending_signals_append(struct buffer *out, uint64_t set)
{
	const char *between = "";

	for (int number = 1; number <= SIGNAL_MAXIMUM; number++) {
		const char *name = sigabbrev_np(number);

		if (!(set & BIT(number)))
			continue;
		if (name)
			buffer_printf(out, "%sSIG%s", between, name);
		else
			buffer_printf(out, "%ssignal %d", between, number);
		between = ", ";
	}
}
