#include "backends/pdb/seat.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"
#include "backends/files.h"
#include "backends/pdb/server.h"
#include "backends/procfs.h"
#include "base/alloc.h"
#include "protocol/process.h"

void seat_init(struct seat *seat, const struct process *process)
{
	*seat = (struct seat){
		.pid = process->pid,
		.start_time = process->start_time,
		.uid = process->uid,
		.rank = process->role ? -1 : process->rank,
	};
}

void seat_clear(struct seat *seat)
{
	free(seat->folder);
	free(seat->prefix);
	free(seat->told);
	seat->folder = NULL;
	seat->prefix = NULL;
	seat->told = NULL;
}

void seat_update(struct seat *seat, const struct process *process, const struct files *files)
{
	const struct server *server;

	seat->rank = process->role ? -1 : process->rank;
	if (!files || seat->file_count == files_count(files))
		return;
	seat->file_count = files_count(files);
	server = server_of_files(files);
	/* What was seen may be forgotten; it served all the same. */
	if (server)
		seat->server = server;
}

/* The number in "net:[4026531840]"; 0: it cannot be seen. */
static uint64_t read_network(struct procfs *procfs, pid_t pid)
{
	char link[64];
	uint64_t number;

	if (procfs_link(procfs, pid, "ns/net", link, sizeof(link)) < 0 ||
	    sscanf(link, "net:[%" SCNu64 "]", &number) != 1)
		return 0;
	return number;
}

/* The value of the first that is a path; NULL: there is none. */
static char *find_path(const char *bytes, size_t length, const char *name)
{
	const char *end = bytes + length;

	for (const char *at = bytes; at < end; at += strlen(at) + 1)
		if (strncmp(at, name, strlen(name)) == 0 && at[strlen(name)] == '/')
			return xstrdup(at + strlen(name));
	return NULL;
}

static void read_environment(struct seat *seat, struct procfs *procfs)
{
	char *bytes;
	ssize_t length = procfs_read(procfs, seat->pid, "environ", &bytes, NULL);

	if (length < 0)
		return;
	seat->folder = find_path(bytes, (size_t)length, "TMPDIR=");
	seat->prefix = find_path(bytes, (size_t)length, "IPDB_SOCK_PATH=");
}

void seat_learn(struct seat *seat, struct procfs *procfs)
{
	struct stat ours;
	struct stat about;
	uint64_t network;
	char path[64];

	if (seat->is_learnt)
		return;
	seat->is_learnt = true;
	network = read_network(procfs, seat->pid);
	if (network != read_network(procfs, getpid()))
		seat->network = network;
	read_environment(seat, procfs);
	snprintf(path, sizeof(path), "%d/root/tmp", (int)seat->pid);
	if (fstatat(procfs->fd, path, &about, 0) < 0)
		return;
	seat->device = about.st_dev;
	seat->inode = about.st_ino;
	seat->is_rooted = stat("/tmp", &ours) < 0 || ours.st_dev != about.st_dev ||
			  ours.st_ino != about.st_ino;
}

bool seat_reach(const struct seat *seat, const char *path, char *out, size_t size)
{
	int length;

	if (seat->is_rooted)
		length = snprintf(out, size, "/proc/%d/root%s", (int)seat->pid, path);
	else
		length = snprintf(out, size, "%s", path);
	return length >= 0 && (size_t)length < size;
}
