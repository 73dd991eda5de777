#include "backends/pdb/socket-file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/pdb/pdb-finder.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/map.h"
#include "protocol/rankset.h"

#define WORD "pdb"
#define PREFIX "pdb.sock."
#define FOLDER "pdb-"
#define SUFFIX ".sock"
/*
 * Seconds; a folder that was changed less than this time ago is read again, because it can change
 * again within one tick of the file system's clock.
 */
#define SETTLED_SECONDS 1
#define ENTRIES_MAXIMUM 65536

static const char *socket_file_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Parses a number of decimal digits. Returns -1 for other text or a number above maximum. */
static int socket_file_parse_number(const char *text, size_t length, long maximum)
{
	long number = 0;

	if (length == 0 || length > 10)
		return -1;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		number = number * 10 + (text[i] - '0');
	}
	return number <= maximum ? (int)number : -1;
}

/* True if the file's folder is named pdb-UID. */
static bool has_folder(const char *path)
{
	const char *end = socket_file_last_part(path);
	const char *at = end;
	size_t length;

	if (end == path)
		return false;
	for (at = --end; at > path && at[-1] != '/'; at--)
		;
	length = (size_t)(end - at);
	return length > strlen(FOLDER) && strncmp(at, FOLDER, strlen(FOLDER)) == 0 &&
	       socket_file_parse_number(at + strlen(FOLDER), length - strlen(FOLDER), INT_MAX) >= 0;
}

static bool has_suffix(const char *name)
{
	size_t length = strlen(name);

	return length > strlen(SUFFIX) && strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0;
}

bool socket_file_is_debugger(const char *path)
{
	const char *name = socket_file_last_part(path);

	return strstr(name, WORD) || (has_suffix(name) && has_folder(path));
}

/* Parses a pid. Returns 0 if the text is not a pid. */
static pid_t socket_file_parse_pid(const char *text, size_t length)
{
	int pid = socket_file_parse_number(text, length, INT_MAX);

	return pid > 0 ? pid : 0;
}

/* Parses "RANK" or "RANK.PID", or py_debug's "PID-HEX.RANK". */
static void socket_file_read_numbers(struct socket_name *name, const char *text, size_t length)
{
	const char *dot = memchr(text, '.', length);
	const char *dash = memchr(text, '-', length);
	const char *rest = dot ? dot + 1 : text;
	size_t rest_length = length - (size_t)(rest - text);

	if (dot && (!dash || dash > dot)) {
		name->pid = socket_file_parse_pid(rest, rest_length);
		rest = text;
		rest_length = (size_t)(dot - text);
	} else if (dot) {
		name->pid = socket_file_parse_pid(text, (size_t)(dash - text));
		name->is_relay = name->pid > 0;
	}
	name->rank = socket_file_parse_number(rest, rest_length, RANKSET_MAXIMUM);
}

void socket_file_read_name(struct socket_name *name, const char *path)
{
	const char *last = socket_file_last_part(path);
	size_t length = strlen(last);

	*name = (struct socket_name){
		.rank = -1,
		.has_folder = has_folder(path),
	};
	if (strncmp(last, PREFIX, strlen(PREFIX)) == 0)
		socket_file_read_numbers(name, last + strlen(PREFIX), length - strlen(PREFIX));
	else if (name->has_folder && has_suffix(last))
		socket_file_read_numbers(name, last, length - strlen(SUFFIX));
}

/* True if a file of `owner` may belong to a process of uid. A file of root is always accepted. */
static bool may_be_of(uid_t owner, uid_t uid)
{
	return owner == uid || owner == 0;
}

char *socket_file_distrust_folder(const char *path, const char *shown, uid_t uid)
{
	char folder[PATH_MAX];
	struct stat about;

	snprintf(folder, sizeof(folder), "%.*s", (int)(socket_file_last_part(path) - path - 1),
		 path);
	if (lstat(folder, &about) < 0)
		return xasprintf("the folder of %s cannot be accessed: %s", shown, strerror(errno));
	if (!S_ISDIR(about.st_mode))
		return xasprintf("the folder of %s is a symbolic link, which any user may have "
				 "created: not used",
				 shown);
	if (!may_be_of(about.st_uid, uid))
		return xasprintf("the folder of %s belongs to user %u, but the process belongs to "
				 "user %u: not used",
				 shown, about.st_uid, uid);
	if (about.st_mode & (S_IRWXG | S_IRWXO))
		return xasprintf("the folder of %s is open to other users (mode %04o): chmod 0700 "
				 "the folder",
				 shown, about.st_mode & 07777);
	return NULL;
}

static char *socket_file_explain_missing(const char *shown, int number)
{
	if (number == ENOENT)
		return xasprintf("the socket file %s was removed: no client can connect any more",
				 shown);
	return xasprintf("%s cannot be accessed: %s", shown, strerror(number));
}

char *socket_file_distrust(const char *path, const char *shown, uid_t uid)
{
	struct stat about;

	if (lstat(path, &about) < 0)
		return socket_file_explain_missing(shown, errno);
	if (S_ISLNK(about.st_mode))
		return xasprintf("%s is a symbolic link, which any user may have created: not used",
				 shown);
	if (!S_ISSOCK(about.st_mode))
		return xasprintf("%s is not a socket: not used", shown);
	if (!may_be_of(about.st_uid, uid))
		return xasprintf(
			"%s was created by user %u, but the process belongs to user %u: not used",
			shown, about.st_uid, uid);
	return has_folder(path) ? socket_file_distrust_folder(path, shown, uid) : NULL;
}

static void drop_files(struct socket_folder *folder)
{
	for (size_t i = 0; i < folder->count; i++)
		free(folder->files[i].name);
	folder->count = 0;
}

static void socket_file_take_entry(struct socket_folder *folder, const char *name)
{
	struct socket_file *file;
	struct socket_name numbers;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder->seen, name);
	socket_file_read_name(&numbers, path);
	if (numbers.rank < 0 && numbers.pid == 0)
		return;
	ARRAY_GROW(folder->files, folder->count, folder->capacity);
	file = &folder->files[folder->count++];
	file->name = xstrdup(name);
	file->numbers = numbers;
}

static void list_files(struct socket_folder *folder)
{
	DIR *entries = opendir(folder->path);

	if (!entries)
		return;
	for (int i = 0; i < ENTRIES_MAXIMUM; i++) {
		const struct dirent *entry = readdir(entries);

		if (!entry || folder->count == SOCKET_FILES_MAXIMUM)
			break;
		if (entry->d_type == DT_SOCK || entry->d_type == DT_LNK ||
		    entry->d_type == DT_UNKNOWN)
			socket_file_take_entry(folder, entry->d_name);
	}
	closedir(entries);
}

static bool is_as_read(const struct socket_folder *folder, const struct stat *about)
{
	return folder->inode == about->st_ino && folder->device == about->st_dev &&
	       folder->changed.tv_sec == about->st_mtim.tv_sec &&
	       folder->changed.tv_nsec == about->st_mtim.tv_nsec &&
	       folder->read.tv_sec > folder->changed.tv_sec + SETTLED_SECONDS;
}

void socket_folder_read(struct socket_folder *folder)
{
	struct stat about;

	if (stat(folder->path, &about) < 0) {
		drop_files(folder);
		folder->inode = 0;
		return;
	}
	if (is_as_read(folder, &about))
		return;
	drop_files(folder);
	folder->device = about.st_dev;
	folder->inode = about.st_ino;
	folder->changed = about.st_mtim;
	clock_gettime(CLOCK_REALTIME, &folder->read);
	list_files(folder);
}

void socket_folder_clear(struct socket_folder *folder)
{
	drop_files(folder);
	free(folder->files);
	free(folder->path);
	free(folder->seen);
	*folder = (struct socket_folder){ .path = NULL };
}

/* Maximum number of files that are reported for one process. */
#define MATCHES_MAXIMUM 16
/*
 * Maximum number of folders in the cache, more than jobs use: the others are those of containers
 * that have ended.
 */
#define DIRS_MAXIMUM 256

struct socket_dir {
	struct socket_folder folder;
	unsigned scan; /* number of the last scan that has read the folder */
};

struct socket_dir_cache {
	struct strmap *dirs; /* by socket_dir_cache_make_key() */
	unsigned scan;
};

/* Arguments of socket_dir_cache_each(). */
struct search {
	struct socket_dir_cache *cache;
	const struct pdb_scan_state *state;
	void (*each)(const char *path, const char *seen, void *data);
	void *data;
	int match_count;
};

static void free_dir(void *value)
{
	struct socket_dir *dir = value;

	socket_folder_clear(&dir->folder);
	free(dir);
}

struct socket_dir_cache *socket_dir_cache_new(void)
{
	struct socket_dir_cache *cache = xcalloc(1, sizeof(*cache));

	cache->dirs = strmap_new(free_dir);
	return cache;
}

void socket_dir_cache_free(struct socket_dir_cache *cache)
{
	if (!cache)
		return;
	strmap_free(cache->dirs);
	free(cache);
}

void socket_dir_cache_begin(struct socket_dir_cache *cache)
{
	cache->scan++;
	if (strmap_count(cache->dirs) <= DIRS_MAXIMUM)
		return;
	strmap_free(cache->dirs);
	cache->dirs = strmap_new(free_dir);
}

/*
 * Makes the key of a folder: its path and, in a container, the device and inode of the container's
 * /tmp, so that all processes of a container share an entry.
 */
static void socket_dir_cache_make_key(const struct pdb_scan_state *state, const char *seen,
				      char *out, size_t size)
{
	if (state->is_rooted)
		snprintf(out, size, "%ju:%ju:%s", (uintmax_t)state->device, (uintmax_t)state->inode,
			 seen);
	else
		snprintf(out, size, "%s", seen);
}

/* Returns the folder (borrowed), which is read once per scan; NULL: the path is too long. */
static struct socket_folder *read_folder(struct search *search, const char *seen)
{
	struct socket_dir_cache *cache = search->cache;
	char key[PATH_MAX + 64];
	char path[PATH_MAX];
	struct socket_dir *dir;

	if (!pdb_scan_state_reach(search->state, seen, path, sizeof(path)))
		return NULL;
	socket_dir_cache_make_key(search->state, seen, key, sizeof(key));
	dir = strmap_find(cache->dirs, key);
	if (!dir) {
		dir = xcalloc(1, sizeof(*dir));
		dir->folder.seen = xstrdup(seen);
		strmap_put(cache->dirs, key, dir);
	}
	if (dir->scan == cache->scan)
		return &dir->folder;
	dir->scan = cache->scan;
	free(dir->folder.path);
	dir->folder.path = xstrdup(path);
	socket_folder_read(&dir->folder);
	return &dir->folder;
}

static bool is_match(const struct pdb_scan_state *state, const struct socket_name *name)
{
	return (state->rank >= 0 && name->rank == state->rank) || name->pid == state->pid;
}

static void search_folder(struct search *search, const char *seen)
{
	const struct socket_folder *folder = read_folder(search, seen);

	for (size_t i = 0; folder && i < folder->count; i++) {
		const struct socket_file *file = &folder->files[i];
		char path[PATH_MAX];
		char name[PATH_MAX];

		if (!is_match(search->state, &file->numbers) ||
		    search->match_count++ >= MATCHES_MAXIMUM)
			continue;
		snprintf(name, sizeof(name), "%s/%s", seen, file->name);
		if (pdb_scan_state_reach(search->state, name, path, sizeof(path)))
			search->each(path, name, search->data);
	}
}

static void search_base(struct search *search, const char *base)
{
	char folder[PATH_MAX];

	search_folder(search, base);
	snprintf(folder, sizeof(folder), "%s/pdb-%u", base, search->state->uid);
	search_folder(search, folder);
}

void socket_dir_cache_each(struct socket_dir_cache *cache, const struct pdb_scan_state *state,
			   void (*each)(const char *path, const char *seen, void *data), void *data)
{
	struct search search = {
		.cache = cache,
		.state = state,
		.each = each,
		.data = data,
	};
	const char *ours = state->is_rooted ? NULL : getenv("TMPDIR");
	const char *its = state->folder;

	if (its)
		search_base(&search, its);
	if (!its || strcmp(its, "/tmp") != 0)
		search_base(&search, "/tmp");
	if (ours && ours[0] == '/' && strcmp(ours, "/tmp") != 0 && (!its || strcmp(its, ours) != 0))
		search_base(&search, ours);
}

#define TEXT_MAXIMUM 4096
/*
 * Maximum number of folders that are read, one for each job of a user that waits at the same time.
 */
#define FOLDERS_MAXIMUM 64

static bool socket_notice_ends_in(const char *text, const char *end)
{
	size_t length = strlen(text);
	size_t end_length = strlen(end);

	return length > end_length && strcmp(text + length - end_length, end) == 0;
}

/* Reads a small file. Returns false if it does not exist or is not owned by uid. */
static bool socket_notice_read_text(int folder, const char *file, uid_t uid, char *text,
				    size_t size)
{
	int fd = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;
	ssize_t length = -1;

	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == uid)
		length = read(fd, text, size - 1);
	close(fd);
	if (length < 0)
		return false;
	text[length] = '\0';
	return true;
}

/*
 * Returns the text between " raised " and the socket's name. A notice that lacks one of the two
 * belongs to another job: returns NULL.
 */
static char *socket_notice_cut(char *text, const char *name)
{
	static const char before[] = " raised ";
	char *behind = xasprintf(" and waits in pdb at %s\n", name);
	char *start = strstr(text, before);
	char *found = NULL;
	char *end;

	if (start) {
		start += strlen(before);
		end = strstr(start, behind);
		if (end) {
			*end = '\0';
			found = xstrdup(start);
		}
	}
	free(behind);
	return found;
}

static char *read_of_job(int folder, const char *job, int rank, const char *name, uid_t uid)
{
	char file[NAME_MAX + 32];
	char text[TEXT_MAXIMUM];

	snprintf(file, sizeof(file), "%s/%d", job, rank);
	if (!socket_notice_read_text(folder, file, uid, text, sizeof(text)))
		return NULL;
	return socket_notice_cut(text, name);
}

static char *socket_notice_search(DIR *folder, int rank, const char *name, uid_t uid)
{
	size_t looked_at = 0;
	struct dirent *entry;
	char *found = NULL;

	while (!found && looked_at < FOLDERS_MAXIMUM && (entry = readdir(folder))) {
		if (!socket_notice_ends_in(entry->d_name, ".holding"))
			continue;
		looked_at++;
		found = read_of_job(dirfd(folder), entry->d_name, rank, name, uid);
	}
	return found;
}

/* Returns the pid of the process that has locked the file; 0: not locked, or no such file. */
static pid_t find_supervisor(int folder, const char *file, uid_t uid)
{
	int fd = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct stat status;
	pid_t pid = 0;

	if (fd < 0)
		return 0;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == uid &&
	    fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
		pid = lock.l_pid;
	close(fd);
	return pid;
}

bool socket_notice_is_kept(const char *folder, const char *kind, int rank, pid_t pid, uid_t uid)
{
	DIR *jobs = opendir(folder);
	size_t looked_at = 0;
	struct dirent *entry;
	bool is_kept = false;

	while (jobs && !is_kept && looked_at < FOLDERS_MAXIMUM && (entry = readdir(jobs))) {
		char file[NAME_MAX + 32];

		if (!socket_notice_ends_in(entry->d_name, kind))
			continue;
		looked_at++;
		snprintf(file, sizeof(file), "%s/%d", entry->d_name, rank);
		is_kept = find_supervisor(dirfd(jobs), file, uid) == pid;
	}
	if (jobs)
		closedir(jobs);
	return is_kept;
}

char *socket_notice_read(const char *path, const char *name, uid_t uid)
{
	const char *slash = strrchr(path, '/');
	struct socket_name numbers;
	char *parent;
	char *found;
	DIR *folder;

	socket_file_read_name(&numbers, name);
	if (!slash || !numbers.has_folder || numbers.rank < 0)
		return NULL;
	parent = xasprintf("%.*s", (int)(slash - path), path);
	folder = opendir(parent);
	free(parent);
	if (!folder)
		return NULL;
	found = socket_notice_search(folder, numbers.rank, name, uid);
	closedir(folder);
	return found;
}
