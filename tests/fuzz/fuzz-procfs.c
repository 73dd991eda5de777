/*
 * The files of one process in a folder like /proc: the input is cut at bytes
 * of 0xff into the files below, in their order.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"

#include "backends/discover/environment.h"
#include "backends/discover/exe-cache.h"
#include "backends/discover/process-info.h"
#include "backends/discover/process-scan.h"
#include "base/array.h"
#include "protocol/process.h"
#include "tests/fuzz/fuzz.h"

#define FOLDER "4"
#define PID 4

static const char *const files[] = { "environ", "cmdline", "stat", "status", "comm", "maps" };
static char root_path[] = "/tmp/probetui-fuzz-XXXXXX";
static bool has_root;

static void remove_folder(void)
{
	int root = open(root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
		char path[64];

		snprintf(path, sizeof(path), FOLDER "/%s", files[i]);
		unlinkat(root, path, 0);
	}
	unlinkat(root, FOLDER "/exe", 0);
	unlinkat(root, FOLDER "/cwd", 0);
	unlinkat(root, FOLDER, AT_REMOVEDIR);
	close(root);
	rmdir(root_path);
}

/* The folder, made at the first call. -1: it cannot be. */
static int open_root(void)
{
	int root;

	if (!has_root) {
		if (!mkdtemp(root_path))
			return -1;
		has_root = true;
		atexit(remove_folder);
	}
	root = open(root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mkdirat(root, FOLDER, 0700);
	(void)!symlinkat("/usr/bin/python3.11", root, FOLDER "/exe");
	(void)!symlinkat("/tmp", root, FOLDER "/cwd");
	return root;
}

static void write_file(int root, const char *name, const uint8_t *data, size_t size)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), FOLDER "/%s", name);
	fd = openat(root, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	(void)!write(fd, data, size);
	close(fd);
}

static void write_files(int root, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
		const uint8_t *end = memchr(data, 0xff, size);
		size_t length = end ? (size_t)(end - data) : size;

		write_file(root, files[i], data, length);
		data += length + (end != NULL);
		size -= length + (end != NULL);
	}
}

static void look(struct procfs *procfs)
{
	struct exe_cache *exes = exe_cache_new();
	struct process process;
	struct process_scan_entry *entry;
	struct process_scan scan;

	process_scan_init(&scan, procfs);
	exe_cache_begin(exes, procfs, true);
	process_scan_all(&scan, exes);
	entry = process_scan_find(&scan, PID);
	if (entry) {
		process_init(&process);
		process_info_describe(&scan, entry, entry, &process);
		process_clear(&process);
	}
	procfs_status(procfs, PID, "NSpid", -1);
	process_scan_clear(&scan);
	exe_cache_free(exes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct procfs procfs = { .fd = open_root() };

	if (procfs.fd < 0)
		abort();
	write_files(procfs.fd, data, size);
	look(&procfs);
	procfs_close(&procfs);
	return 0;
}
