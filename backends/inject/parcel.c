#include "backends/inject/parcel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"

#include "backends/rootfile.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"

#define FILE_MAXIMUM (1 << 20)
#define ANSWER_MAXIMUM 8192
#define DEPTH_MAXIMUM 4
#define PACKAGE "probetui"
#define SCRIPT "injected.py"
#define START "start.py"

static const char *const places[] = { "/tmp", "/var/tmp", "/dev/shm" };

struct parcel {
	int place;  /* the folder it is in */
	int folder; /* itself */
	char name[32];
	char script[96];
	char start[96]; /* which runs it */
	uid_t user; /* whose it is to be */
	gid_t group;
};

/*
 * Away with it
 */

static void empty(int folder, int depth);

static void remove_entry(int folder, const char *name, int depth)
{
	int inner;

	if (unlinkat(folder, name, 0) == 0 || depth == 0)
		return;
	inner = openat(folder, name,
		       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (inner < 0)
		return;
	empty(inner, depth - 1);
	unlinkat(folder, name, AT_REMOVEDIR);
}

/* Takes the descriptor. */
static void empty(int folder, int depth)
{
	DIR *entries = fdopendir(folder);
	struct dirent *entry;

	if (!entries) {
		close(folder);
		return;
	}
	while ((entry = readdir(entries)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			remove_entry(folder, entry->d_name, depth);
	closedir(entries);
}

void parcel_free(struct parcel *parcel)
{
	if (!parcel)
		return;
	if (parcel->folder >= 0) {
		empty(parcel->folder, DEPTH_MAXIMUM);
		unlinkat(parcel->place, parcel->name, AT_REMOVEDIR);
	}
	if (parcel->place >= 0)
		close(parcel->place);
	free(parcel);
}

/*
 * Making it
 */

static void make_name(struct parcel *parcel, const char *place)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), 0) < 0)
		number = (uint64_t)getpid();
	snprintf(parcel->name, sizeof(parcel->name), "probetui-%016llx",
		 (unsigned long long)number);
	snprintf(parcel->script, sizeof(parcel->script),
		 "%s/%s/" PACKAGE "/" SCRIPT, place, parcel->name);
	snprintf(parcel->start, sizeof(parcel->start), "%s/%s/" START, place,
		 parcel->name);
}

/* The folder, ours alone until it is handed over. */
static int make_folder(int parent, const char *name)
{
	if (mkdirat(parent, name, 0700) < 0)
		return -1;
	return openat(parent, name,
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int make_in(struct parcel *parcel, pid_t pid, const char *place)
{
	int found = rootfile_find(pid, "root", place);

	if (found < 0)
		return -1;
	make_name(parcel, place);
	parcel->folder = make_folder(found, parcel->name);
	if (parcel->folder < 0) {
		int number = errno;
		close(found);
		errno = number;
		return -1;
	}
	parcel->place = found;
	return 0;
}

static int hand_over(const struct parcel *parcel, int fd)
{
	if (parcel->user == geteuid() && parcel->group == getegid())
		return 0;
	return fchown(fd, parcel->user, parcel->group);
}

static int write_file(const struct parcel *parcel, int folder,
		      const char *name, const struct buffer *content)
{
	int fd = openat(folder, name,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);
	int result;

	if (fd < 0)
		return -1;
	result = file_write(fd, content->data, content->length) < 0 ||
				 hand_over(parcel, fd) < 0
			 ? -1
			 : 0;
	close(fd);
	return result;
}

static int copy_file(const struct parcel *parcel, int folder,
		     const char *package, const char *name, struct error *error)
{
	struct buffer content = BUFFER_INIT;
	char *path = xasprintf("%s/%s", package, name);
	int result;

	content.maximum = FILE_MAXIMUM;
	result = file_read(path, "the Python package", &content, error);
	if (result == 0 && write_file(parcel, folder, name, &content) < 0)
		result = error_set_errno(error, errno,
					 "%s cannot be put where the process "
					 "finds it",
					 name);
	buffer_clear(&content);
	free(path);
	return result;
}

static bool is_module(const char *name)
{
	size_t length = strlen(name);

	return length > 3 && strcmp(name + length - 3, ".py") == 0;
}

static int copy_modules(const struct parcel *parcel, int folder,
			const char *package, int depth, struct error *error);

/* A sub-package; what else lies there is none of it. */
static int copy_folder(const struct parcel *parcel, int parent,
		       const char *package, const char *name, int depth,
		       struct error *error)
{
	char *path = xasprintf("%s/%s", package, name);
	char *init = xasprintf("%s/__init__.py", path);
	int folder = -1;
	int result = 0;

	if (depth > 0 && access(init, F_OK) == 0) {
		folder = make_folder(parent, name);
		result = folder < 0 || hand_over(parcel, folder) < 0
				 ? error_set_errno(error, errno,
						   "no folder for %s of the "
						   "package",
						   name)
				 : copy_modules(parcel, folder, path,
						depth - 1, error);
	}
	if (folder >= 0)
		close(folder);
	free(init);
	free(path);
	return result;
}

static int copy_modules(const struct parcel *parcel, int folder,
			const char *package, int depth, struct error *error)
{
	DIR *entries = opendir(package);
	struct dirent *entry;
	int result = 0;

	if (!entries)
		return error_set_errno(error, errno,
				       "the Python package at %s cannot be "
				       "read",
				       package);
	while (result == 0 && (entry = readdir(entries)) != NULL)
		if (is_module(entry->d_name))
			result = copy_file(parcel, folder, package,
					   entry->d_name, error);
		else if (entry->d_name[0] != '.')
			result = copy_folder(parcel, folder, package,
					     entry->d_name, depth, error);
	closedir(entries);
	return result;
}

/* Whoever runs it may not say where it lies. */
static int write_start(const struct parcel *parcel, struct error *error)
{
	struct buffer text = BUFFER_INIT;
	int result;

	buffer_printf(&text,
		      "with open('%s', encoding='utf-8') as file:\n"
		      "    code = compile(file.read(), '%s', 'exec')\n"
		      "exec(code, {'__name__': '__probetui__',\n"
		      "            '__file__': '%s'})\n",
		      parcel->script, parcel->script, parcel->script);
	result = write_file(parcel, parcel->folder, START, &text);
	buffer_clear(&text);
	if (result < 0)
		return error_set_errno(error, errno,
				       "no script can be put where the process "
				       "finds it");
	return 0;
}

static int fill(struct parcel *parcel, const char *package, struct error *error)
{
	int folder = make_folder(parcel->folder, PACKAGE);
	int result;

	if (folder < 0)
		return error_set_errno(error, errno,
				       "no folder for the package");
	result = copy_modules(parcel, folder, package, DEPTH_MAXIMUM - 2,
			      error);
	if (result == 0)
		result = write_start(parcel, error);
	if (result == 0 && (hand_over(parcel, folder) < 0 ||
			    hand_over(parcel, parcel->folder) < 0))
		result = error_set_errno(error, errno,
					 "the package cannot be given to the "
					 "process's user");
	close(folder);
	return result;
}

static int find_user(struct parcel *parcel, pid_t pid)
{
	char path[32];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &status) < 0)
		return -1;
	parcel->user = status.st_uid;
	parcel->group = status.st_gid;
	return 0;
}

static void refuse(const struct parcel *parcel, pid_t pid, struct error *error)
{
	if (geteuid() != 0 && parcel->user != geteuid())
		error_set(error,
			  "Process %d belongs to user %u; probetui runs as "
			  "user %u. That user, or root, can do that: sudo "
			  "probetui inject %d.",
			  (int)pid, (unsigned)parcel->user,
			  (unsigned)geteuid(), (int)pid);
	else
		error_set_errno(error, errno,
				"pid %d sees no folder that the package could "
				"be put into",
				(int)pid);
}

struct parcel *parcel_new(pid_t pid, const char *package, struct error *error)
{
	struct parcel *parcel = xcalloc(1, sizeof(*parcel));
	int result;

	parcel->place = -1;
	parcel->folder = -1;
	result = find_user(parcel, pid);
	for (size_t i = 0; result == 0 && parcel->folder < 0 &&
			   i < ARRAY_LENGTH(places);
	     i++)
		make_in(parcel, pid, places[i]);
	if (parcel->folder < 0)
		refuse(parcel, pid, error);
	else if (fill(parcel, package, error) == 0)
		return parcel;
	parcel_free(parcel);
	return NULL;
}

const char *parcel_script(const struct parcel *parcel)
{
	return parcel->start;
}

int parcel_read(const struct parcel *parcel, const char *name,
		struct buffer *out)
{
	char bytes[ANSWER_MAXIMUM];
	int fd = openat(parcel->folder, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -1;
	got = read(fd, bytes, sizeof(bytes));
	close(fd);
	if (got < 0)
		return -1;
	buffer_append(out, bytes, (size_t)got);
	return 0;
}
