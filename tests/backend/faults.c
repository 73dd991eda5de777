/*
 * faults: a library for LD_PRELOAD that makes system calls of probetui-node
 * fail. No other program is changed by it.
 *
 * FAULTS="KIND:ERRNO:FIRST:LAST": of all calls of KIND those from number FIRST
 * to number LAST, counted from 1, fail with ERRNO. An ERRNO of 0 makes a read
 * or process_vm_readv short: half of what was asked for.
 *
 *     open     open, openat, fopen, opendir and readlink
 *     read     read, pread and fstatat of what was opened by name
 *     memory   process_vm_readv
 *
 * FAULTS_COUNTS=PATH: how often each kind was called stands in the file, as
 * three native 64-bit numbers, while the program runs and after it.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { KIND_OPEN, KIND_READ, KIND_MEMORY, KINDS };

static const char *const names[KINDS] = { "open", "read", "memory" };

#define DESCRIPTORS 4096

static bool is_node;
static enum kind failing = KINDS;
static int number;
static uint64_t first;
static uint64_t last;
static _Atomic uint64_t own_counts[KINDS];
static _Atomic uint64_t *counts = own_counts;
/* Opened by name: pipes and sockets are none of the evidence. */
static atomic_bool is_named[DESCRIPTORS];

#define REAL(type, name) ((type)dlsym(RTLD_NEXT, #name))

static void map_counts(const char *path)
{
	typedef int (*open_call)(const char *path, int flags, ...);
	size_t size = sizeof(own_counts);
	int fd = REAL(open_call, open)(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *shared;

	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		abort();
	shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		abort();
	close(fd);
	counts = shared;
}

__attribute__((constructor)) static void begin(void)
{
	const char *rule = getenv("FAULTS");
	const char *path = getenv("FAULTS_COUNTS");
	char kind[16];

	if (strcmp(program_invocation_short_name, "probetui-node") != 0)
		return;
	is_node = true;
	if (path)
		map_counts(path);
	if (!rule)
		return;
	if (sscanf(rule, "%15[a-z]:%d:%lu:%lu", kind, &number, &first, &last) != 4)
		abort();
	for (int i = 0; i < KINDS; i++)
		if (strcmp(names[i], kind) == 0)
			failing = (enum kind)i;
}

static bool is_due(enum kind kind)
{
	uint64_t count;

	if (!is_node)
		return false;
	count = atomic_fetch_add(&counts[kind], 1) + 1;
	return kind == failing && count >= first && count <= last;
}

static bool fails(enum kind kind)
{
	if (!is_due(kind))
		return false;
	errno = number;
	return true;
}

static int note(int fd)
{
	if (fd >= 0 && fd < DESCRIPTORS)
		is_named[fd] = true;
	return fd;
}

static bool is_noted(int fd)
{
	return fd >= 0 && fd < DESCRIPTORS && is_named[fd];
}

static mode_t mode_of(int flags, va_list arguments)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                                                                 \
	int name(const char *path, int flags, ...)                                                 \
	{                                                                                          \
		typedef int (*call)(const char *path, int flags, ...);                             \
		va_list arguments;                                                                 \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(arguments, flags);                                                        \
		mode = mode_of(flags, arguments);                                                  \
		va_end(arguments);                                                                 \
		if (fails(KIND_OPEN))                                                              \
			return -1;                                                                 \
		return note(REAL(call, name)(path, flags, mode));                                  \
	}

#define OPENAT(name)                                                                               \
	int name(int folder, const char *path, int flags, ...)                                     \
	{                                                                                          \
		typedef int (*call)(int folder, const char *path, int flags, ...);                 \
		va_list arguments;                                                                 \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(arguments, flags);                                                        \
		mode = mode_of(flags, arguments);                                                  \
		va_end(arguments);                                                                 \
		if (fails(KIND_OPEN))                                                              \
			return -1;                                                                 \
		return note(REAL(call, name)(folder, path, flags, mode));                          \
	}

#define FOPEN(name)                                                                                \
	FILE *name(const char *path, const char *mode)                                             \
	{                                                                                          \
		typedef FILE *(*call)(const char *path, const char *mode);                         \
                                                                                                   \
		return fails(KIND_OPEN) ? NULL : REAL(call, name)(path, mode);                     \
	}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
FOPEN(fopen)
FOPEN(fopen64)

DIR *opendir(const char *path)
{
	typedef DIR *(*call)(const char *path);

	return fails(KIND_OPEN) ? NULL : REAL(call, opendir)(path);
}

ssize_t readlink(const char *path, char *out, size_t size)
{
	typedef ssize_t (*call)(const char *path, char *out, size_t size);

	return fails(KIND_OPEN) ? -1 : REAL(call, readlink)(path, out, size);
}

ssize_t readlinkat(int folder, const char *path, char *out, size_t size)
{
	typedef ssize_t (*call)(int folder, const char *path, char *out, size_t size);

	return fails(KIND_OPEN) ? -1 : REAL(call, readlinkat)(folder, path, out, size);
}

int close(int fd)
{
	typedef int (*call)(int fd);

	if (fd >= 0 && fd < DESCRIPTORS)
		is_named[fd] = false;
	return REAL(call, close)(fd);
}

/* False: the call fails; else *size is what may be read. */
static bool may_read(int fd, size_t *size)
{
	if (!is_noted(fd) || !is_due(KIND_READ))
		return true;
	if (number == 0) {
		*size = (*size + 1) / 2;
		return true;
	}
	errno = number;
	return false;
}

ssize_t read(int fd, void *out, size_t size)
{
	typedef ssize_t (*call)(int fd, void *out, size_t size);

	return may_read(fd, &size) ? REAL(call, read)(fd, out, size) : -1;
}

#define PREAD(name)                                                                                \
	ssize_t name(int fd, void *out, size_t size, off_t at)                                     \
	{                                                                                          \
		typedef ssize_t (*call)(int fd, void *out, size_t size, off_t at);                 \
                                                                                                   \
		return may_read(fd, &size) ? REAL(call, name)(fd, out, size, at) : -1;             \
	}

PREAD(pread)
PREAD(pread64)

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long local_count,
			 const struct iovec *remote, unsigned long remote_count,
			 unsigned long flags)
{
	typedef ssize_t (*call)(pid_t pid, const struct iovec *local, unsigned long local_count,
				const struct iovec *remote, unsigned long remote_count,
				unsigned long flags);

	if (is_due(KIND_MEMORY)) {
		if (number != 0) {
			errno = number;
			return -1;
		}
		/* The kernel's own way to be short: whole elements. */
		local_count = (local_count + 1) / 2;
		remote_count = (remote_count + 1) / 2;
		if (local_count == 1 && local[0].iov_len > 1) {
			const struct iovec half = {
				local[0].iov_base,
				local[0].iov_len / 2,
			};

			return REAL(call, process_vm_readv)(pid, &half, 1, remote, 1, flags);
		}
	}
	return REAL(call, process_vm_readv)(pid, local, local_count, remote, remote_count, flags);
}
