#include "backends/discover/exe-cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "banned.h"
#include "backends/linux/procfs.h"
#include "backends/native/elf-file.h"
#include "base/alloc.h"
#include "base/array.h"

/* Maximum number of executables that are remembered; a new one replaces the oldest. */
#define EXECUTABLES_MAXIMUM 512
/* An executable's file is read when this number of its processes was found. */
#define PROCESSES_TO_INSPECT 3
/*
 * A process is checked with statx(2) in each of its first FIRST_LOOKS scans, then in every
 * LOOKS_IN_TURN-th scan.
 */
#define FIRST_LOOKS 16
#define LOOKS_IN_TURN 4
#define STRINGS_MAXIMUM (4u << 20)
#define DYNAMIC_MAXIMUM 512
/*
 * Minimum number of new processes for which a second thread pays: it starts in 30 us, and one
 * statx(2) takes 3 us.
 */
#define PREFETCH_MINIMUM 128
/* Pid of kthreadd, the parent of all kernel threads, in the first pid namespace. */
#define KTHREADD 2

struct identity {
	uint64_t mount; /* mount id; 0: unknown (Linux before 5.8) */
	uint64_t inode;
	int64_t changed; /* stx_ctime in nanoseconds */
	uint32_t major;
	uint32_t minor;
};

struct executable {
	struct identity identity;
	char name[256];
	unsigned process_count;
	bool is_inspected;
	bool is_plain; /* the executable does not load Python as a library */
};

struct known {
	pid_t pid;
	enum exe_answer answer; /* EXE_UNKNOWN: not remembered */
	uint64_t inode;		/* inode of /proc/PID, which identifies the process: a later process
				 * may have the same pid */
	struct identity identity;
	unsigned looks; /* number of scans that have found the process */
};

struct known_list {
	struct known *items; /* sorted by pid */
	size_t count;
	size_t capacity;
};

/* The second thread, which calls statx(2) for the later half of the processes. */
struct prefetch {
	pthread_t thread;
	bool is_running;
	struct procfs procfs; /* used by this thread only; the descriptor of /proc is shared */
	const struct procfs_entry *entries;
	size_t first; /* index of the first entry that the thread reads */
	size_t count; /* number of all entries; 0: prefetch is not used */
	struct statx *abouts;
	int *errors; /* errno of each statx(2); 0: success */
};

struct exe_cache {
	struct executable *executables; /* ring buffer */
	size_t executable_count;	/* number of executables added since the start */
	struct known_list before;	/* results of the previous scan */
	struct known_list now;
	size_t next;   /* find_known() has searched before.items up to this index */
	pid_t *kernel; /* pids of kernel threads, sorted */
	size_t kernel_count;
	bool is_whole;	      /* this scan checks every process */
	struct known current; /* the process of the last call of exe_cache_look() */
	unsigned links;	      /* number of hard links of the executable of `current` */
	int error;	      /* errno of statx(2) of `current`; 0: success */
	struct prefetch prefetch;
	uint64_t own_mount; /* mount id of the file of this program; 0: unknown, or not on a local
			     * file system */
};

/* True for local file systems that containers and chroots use; magic is f_type of statfs(2). */
static bool is_local_magic(uint32_t magic)
{
	return magic == BTRFS_SUPER_MAGIC || magic == EXT4_SUPER_MAGIC ||
	       magic == OVERLAYFS_SUPER_MAGIC || magic == TMPFS_MAGIC || magic == XFS_SUPER_MAGIC;
}

struct exe_cache *exe_cache_new(void)
{
	static const char own[] = "/proc/self/exe";
	struct exe_cache *cache = xcalloc(1, sizeof(*cache));
	struct statx about = { .stx_mask = 0 };
	struct statfs mounted;

	if (statx(AT_FDCWD, own, AT_STATX_DONT_SYNC, STATX_MNT_ID, &about) == 0 &&
	    about.stx_mask & STATX_MNT_ID && statfs(own, &mounted) == 0 &&
	    is_local_magic((uint32_t)mounted.f_type))
		cache->own_mount = about.stx_mnt_id;
	return cache;
}

void exe_cache_free(struct exe_cache *cache)
{
	if (!cache)
		return;
	free(cache->executables);
	free(cache->before.items);
	free(cache->now.items);
	free(cache->kernel);
	free(cache);
}

static int compare_pids(const void *a, const void *b)
{
	pid_t one = *(const pid_t *)a;
	pid_t other = *(const pid_t *)b;

	return (one > other) - (one < other);
}

static bool is_kthreadd(struct procfs *procfs)
{
	struct procfs_stat stat;

	return procfs_stat(procfs, KTHREADD, &stat) == 0 && stat.parent_pid == 0 &&
	       strcmp(stat.name, "kthreadd") == 0;
}

/* Lists all kernel threads with one read, which saves one statx(2) per kernel thread. */
static void list_kernel_threads(struct exe_cache *cache, struct procfs *procfs)
{
	size_t capacity = 0;
	char *bytes;

	free(cache->kernel);
	cache->kernel = NULL;
	cache->kernel_count = 0;
	if (!is_kthreadd(procfs) ||
	    procfs_read(procfs, KTHREADD, "task/2/children", &bytes, NULL) < 0)
		return;
	for (;;) {
		char *end;
		long pid = strtol(bytes, &end, 10);

		if (end == bytes || pid <= 0)
			break;
		bytes = end;
		ARRAY_GROW(cache->kernel, cache->kernel_count, capacity);
		cache->kernel[cache->kernel_count++] = (pid_t)pid;
	}
	if (cache->kernel_count > 0)
		qsort(cache->kernel, cache->kernel_count, sizeof(*cache->kernel), compare_pids);
}

void exe_cache_begin(struct exe_cache *cache, struct procfs *procfs, bool is_whole)
{
	struct known_list before = cache->before;

	cache->before = cache->now;
	cache->now = before;
	cache->now.count = 0;
	cache->next = 0;
	cache->is_whole = is_whole;
	list_kernel_threads(cache, procfs);
}

static bool is_kernel_thread(const struct exe_cache *cache, pid_t pid)
{
	return cache->kernel_count > 0 &&
	       (pid == KTHREADD || bsearch(&pid, cache->kernel, cache->kernel_count,
					   sizeof(*cache->kernel), compare_pids));
}

/* Returns the result of the previous scan for the process, or NULL if it was not found. */
static const struct known *find_known(struct exe_cache *cache, const struct procfs_entry *entry)
{
	const struct known_list *list = &cache->before;

	while (cache->next < list->count && list->items[cache->next].pid < entry->pid)
		cache->next++;
	if (cache->next == list->count || list->items[cache->next].pid != entry->pid ||
	    list->items[cache->next].inode != entry->inode)
		return NULL;
	return &list->items[cache->next];
}

static void exe_cache_keep(struct exe_cache *cache, const struct known *known)
{
	struct known_list *list = &cache->now;

	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count] = *known;
	list->items[list->count++].looks++;
}

static bool exe_cache_is_same(const struct identity *a, const struct identity *b)
{
	return a->inode == b->inode && a->mount == b->mount && a->changed == b->changed &&
	       a->major == b->major && a->minor == b->minor;
}

static void *run_prefetch(void *data)
{
	struct prefetch *prefetch = data;

	for (size_t i = prefetch->first; i < prefetch->count; i++) {
		size_t at = i - prefetch->first;

		if (procfs_statx(&prefetch->procfs, prefetch->entries[i].pid, "exe",
				 &prefetch->abouts[at]) < 0)
			prefetch->errors[at] = errno;
	}
	return NULL;
}

/* The thread starts with all signals blocked, because only the main thread handles signals. */
static bool start_prefetch(struct prefetch *prefetch)
{
	sigset_t all;
	sigset_t before;
	bool is_started;

	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
		return false;
	is_started = pthread_create(&prefetch->thread, NULL, run_prefetch, prefetch) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return is_started;
}

static bool has_two_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1;
}

void exe_cache_prefetch(struct exe_cache *cache, struct procfs *procfs,
			const struct procfs_entry *entries, size_t count)
{
	struct prefetch *prefetch = &cache->prefetch;
	size_t first;

	if (count < cache->kernel_count + PREFETCH_MINIMUM ||
	    (cache->before.count > 0 && !cache->is_whole) || !has_two_processors())
		return;
	/*
	 * Kernel threads have low pids and need no statx(2): the other entries are split in two
	 * halves.
	 */
	first = cache->kernel_count + (count - cache->kernel_count) / 2;
	*prefetch = (struct prefetch){
		.procfs = { .fd = procfs->fd },
		.entries = entries,
		.first = first,
		.count = count,
		.abouts = xcalloc(count - first, sizeof(*prefetch->abouts)),
		.errors = xcalloc(count - first, sizeof(*prefetch->errors)),
	};
	prefetch->is_running = start_prefetch(prefetch);
	if (!prefetch->is_running)
		exe_cache_end(cache, procfs);
}

static void exe_cache_join(struct prefetch *prefetch)
{
	if (prefetch->is_running)
		pthread_join(prefetch->thread, NULL);
	prefetch->is_running = false;
}

void exe_cache_end(struct exe_cache *cache, struct procfs *procfs)
{
	struct prefetch *prefetch = &cache->prefetch;

	exe_cache_join(prefetch);
	if (procfs->unread == 0)
		procfs->unread = prefetch->procfs.unread;
	free(prefetch->abouts);
	free(prefetch->errors);
	*prefetch = (struct prefetch){ .count = 0 };
}

/*
 * Fills *about with the result of statx(2) of /proc/PID/exe, which may come from the second thread.
 * Returns 0, or an errno value.
 */
static int read_about(struct exe_cache *cache, struct procfs *procfs,
		      const struct procfs_entry *entry, struct statx *about)
{
	struct prefetch *prefetch = &cache->prefetch;
	size_t at;

	if (prefetch->count == 0 || entry < prefetch->entries + prefetch->first)
		return procfs_statx(procfs, entry->pid, "exe", about) < 0 ? errno : 0;
	exe_cache_join(prefetch);
	at = (size_t)(entry - prefetch->entries) - prefetch->first;
	*about = prefetch->abouts[at];
	return prefetch->errors[at];
}

/*
 * Identifies the executable of the process. procfs_statx() sets AT_STATX_DONT_SYNC, so a file
 * server that does not answer cannot block the call.
 */
static void exe_cache_identify(struct exe_cache *cache, struct procfs *procfs,
			       const struct procfs_entry *entry)
{
	struct statx about = { .stx_mask = 0 };
	struct known *current = &cache->current;

	cache->error = read_about(cache, procfs, entry, &about);
	if (cache->error != 0)
		return;
	cache->links = about.stx_nlink;
	current->identity = (struct identity){
		.inode = about.stx_ino,
		.mount = about.stx_mask & STATX_MNT_ID ? about.stx_mnt_id : 0,
		.changed = (int64_t)((uint64_t)about.stx_ctime.tv_sec * 1000000000 +
				     about.stx_ctime.tv_nsec),
		.major = about.stx_dev_major,
		.minor = about.stx_dev_minor,
	};
}

/* Returns the known executable of the current process; NULL: the executable is new. */
static struct executable *find_executable(struct exe_cache *cache)
{
	size_t count = cache->executable_count < EXECUTABLES_MAXIMUM ? cache->executable_count
								     : EXECUTABLES_MAXIMUM;

	for (size_t i = 0; i < count; i++)
		if (exe_cache_is_same(&cache->executables[i].identity, &cache->current.identity))
			return &cache->executables[i];
	return NULL;
}

static struct executable *add_executable(struct exe_cache *cache)
{
	struct executable *executable;

	if (!cache->executables)
		cache->executables = xcalloc(EXECUTABLES_MAXIMUM, sizeof(*cache->executables));
	executable = &cache->executables[cache->executable_count++ % EXECUTABLES_MAXIMUM];
	*executable = (struct executable){ .identity = cache->current.identity };
	return executable;
}

/* True if the file system type (from /proc/PID/mountinfo) does not depend on another machine. */
static bool is_local_type(const char *type)
{
	static const char *const types[] = { "bcachefs", "btrfs", "erofs",   "ext2",  "ext3",
					     "ext4",	 "f2fs",  "overlay", "ramfs", "rootfs",
					     "squashfs", "tmpfs", "xfs",     "zfs" };

	for (size_t i = 0; i < ARRAY_LENGTH(types); i++) {
		size_t length = strlen(types[i]);

		if (strncmp(type, types[i], length) == 0 && type[length] == ' ')
			return true;
	}
	return false;
}

/*
 * True if the executable is on a local file system, by proc_pid_mountinfo(5): lines "ID PARENT … -
 * TYPE SOURCE OPTIONS". In a chroot(2) the mount may have no line; then it is compared with
 * own_mount, the mount of this program.
 */
static bool is_local(const struct exe_cache *cache, struct procfs *procfs)
{
	uint64_t mount = cache->current.identity.mount;
	char *line;

	if (mount != 0 && mount == cache->own_mount)
		return true;
	if (mount == 0 || procfs_read(procfs, cache->current.pid, "mountinfo", &line, NULL) < 0)
		return false;
	while (line) {
		char *end = strchr(line, '\n');
		const char *type;

		if (end)
			*end++ = '\0';
		type = strstr(line, " - ");
		if (strtoull(line, NULL, 10) == mount)
			return type && is_local_type(type + strlen(" - "));
		line = end;
	}
	return false;
}

/* True for libraries that load no further libraries, and so not Python. */
static bool is_plain_library(const char *name)
{
	static const char *const plain[] = { "libc.so",	     "libm.so",	      "libdl.so",
					     "librt.so",     "libpthread.so", "libgcc_s.so",
					     "libstdc++.so", "ld-linux" };

	for (size_t i = 0; i < ARRAY_LENGTH(plain); i++)
		if (strncmp(name, plain[i], strlen(plain[i])) == 0)
			return true;
	return false;
}

/* True if all needed libraries are plain ones. strings has length bytes and ends with a NUL. */
static bool needs_plain_only(const Elf64_Dyn *entries, size_t count, const char *strings,
			     size_t length)
{
	for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
		if (entries[i].d_tag != DT_NEEDED)
			continue;
		if (entries[i].d_un.d_val >= length ||
		    !is_plain_library(strings + entries[i].d_un.d_val))
			return false;
	}
	return true;
}

static bool imports_dlopen(const char *strings, size_t length)
{
	return memmem(strings, length, "dlopen", sizeof("dlopen")) ||
	       memmem(strings, length, "dlmopen", sizeof("dlmopen"));
}

static bool is_plain_file(int fd)
{
	Elf64_Dyn entries[DYNAMIC_MAXIMUM];
	Elf64_Shdr dynamic;
	Elf64_Shdr names;
	struct elf_file file;
	char *strings;
	bool is_plain;

	if (elf_file_read(&file, fd) < 0 ||
	    elf_file_section(&file, SHT_DYNAMIC, &dynamic, &names) < 0 ||
	    dynamic.sh_size > sizeof(entries) || names.sh_size == 0 ||
	    names.sh_size > STRINGS_MAXIMUM ||
	    elf_file_bytes(&file, dynamic.sh_offset, entries, dynamic.sh_size) < 0)
		return false;
	strings = xmalloc(names.sh_size);
	is_plain = elf_file_bytes(&file, names.sh_offset, strings, names.sh_size) == 0 &&
		   strings[names.sh_size - 1] == '\0' &&
		   needs_plain_only(entries, dynamic.sh_size / sizeof(*entries), strings,
				    names.sh_size) &&
		   !imports_dlopen(strings, names.sh_size);
	free(strings);
	return is_plain;
}

static void inspect(struct exe_cache *cache, struct procfs *procfs, struct executable *executable)
{
	int fd;

	executable->is_inspected = true;
	if (!is_local(cache, procfs))
		return;
	fd = procfs_open_file(procfs, cache->current.pid, "exe");
	if (fd < 0)
		return;
	executable->is_plain = is_plain_file(fd);
	close(fd);
}

bool exe_is_python_name(const char *name)
{
	return strstr(name, "python") || strstr(name, "pypy");
}

static bool exe_cache_is_plain(struct exe_cache *cache, struct procfs *procfs)
{
	struct executable *executable = find_executable(cache);

	if (!executable || cache->links != 1 || exe_is_python_name(executable->name))
		return false;
	if (++executable->process_count >= PROCESSES_TO_INSPECT && !executable->is_inspected)
		inspect(cache, procfs, executable);
	return executable->is_plain;
}

/* True if this scan skips the process: a long-running process is checked in one of 4 scans. */
static bool may_rest(const struct exe_cache *cache, const struct known *known)
{
	return !cache->is_whole && known->looks >= FIRST_LOOKS &&
	       (known->looks + (unsigned)known->pid) % LOOKS_IN_TURN != 0;
}

static bool is_unchanged(const struct exe_cache *cache, const struct known *known)
{
	/* execve(2) of a process that cannot be read is not noticed: a complete scan reads the name
	 * of the process again. */
	if (known->answer == EXE_HIDDEN)
		return !cache->is_whole && (cache->error == EACCES || cache->error == EPERM);
	return cache->error == 0 && exe_cache_is_same(&known->identity, &cache->current.identity);
}

enum exe_answer exe_cache_look(struct exe_cache *cache, struct procfs *procfs,
			       const struct procfs_entry *entry)
{
	const struct known *known = find_known(cache, entry);

	if (is_kernel_thread(cache, entry->pid))
		return EXE_NONE;
	if (known && may_rest(cache, known)) {
		exe_cache_keep(cache, known);
		return known->answer;
	}
	cache->current = (struct known){ .pid = entry->pid, .inode = entry->inode };
	exe_cache_identify(cache, procfs, entry);
	if (known && is_unchanged(cache, known)) {
		exe_cache_keep(cache, known);
		return known->answer;
	}
	if (procfs_is_gone(cache->error))
		return EXE_NONE;
	if (cache->error == 0 && exe_cache_is_plain(cache, procfs)) {
		exe_cache_learn(cache, EXE_OTHER);
		return EXE_OTHER;
	}
	return EXE_UNKNOWN;
}

const char *exe_cache_name(struct exe_cache *cache, struct procfs *procfs)
{
	struct executable *executable = find_executable(cache);
	char path[PATH_MAX];
	const char *slash;

	errno = cache->error;
	if (cache->error != 0)
		return NULL;
	if (executable && cache->links == 1)
		return executable->name;
	if (procfs_link(procfs, cache->current.pid, "exe", path, sizeof(path)) < 0)
		return NULL;
	if (!executable)
		executable = add_executable(cache);
	slash = strrchr(path, '/');
	snprintf(executable->name, sizeof(executable->name), "%s", slash ? slash + 1 : path);
	executable->process_count++;
	return executable->name;
}

void exe_cache_learn(struct exe_cache *cache, enum exe_answer answer)
{
	cache->current.answer = answer;
	exe_cache_keep(cache, &cache->current);
}
