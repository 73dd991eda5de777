#include "backends/pdb/pdb-scan-state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"
#include "backends/linux/procfs.h"
#include "backends/pdb/pdb-programs.h"
#include "backends/stack-files.h"
#include "base/alloc.h"
#include "protocol/process.h"

void pdb_scan_state_init(struct pdb_scan_state *state, const struct process *process)
{
	*state = (struct pdb_scan_state){
		.pid = process->pid,
		.start_time = process->start_time,
		.uid = process->uid,
		.rank = process->role ? -1 : process->rank,
	};
}

void pdb_scan_state_clear(struct pdb_scan_state *state)
{
	free(state->folder);
	free(state->prefix);
	free(state->told);
	state->folder = NULL;
	state->prefix = NULL;
	state->told = NULL;
}

void pdb_scan_state_update(struct pdb_scan_state *state, const struct process *process,
			   const struct stack_files *files)
{
	const struct pdb_programs *server;

	state->rank = process->role ? -1 : process->rank;
	if (!files || state->file_count == stack_files_count(files))
		return;
	state->file_count = stack_files_count(files);
	server = pdb_programs_of_files(files);
	/* A server that was seen once stays known, even if the stacks are forgotten. */
	if (server)
		state->server = server;
}

/* Returns the number in "net:[4026531840]"; 0: it cannot be read. */
static uint64_t pdb_scan_state_read_network(struct procfs *procfs, pid_t pid)
{
	char link[64];
	uint64_t number;

	if (procfs_link(procfs, pid, "ns/net", link, sizeof(link)) < 0 ||
	    sscanf(link, "net:[%" SCNu64 "]", &number) != 1)
		return 0;
	return number;
}

/* Returns the first value of name ("NAME=") that is an absolute path; NULL: none. */
static char *pdb_scan_state_find_path(const char *bytes, size_t length, const char *name)
{
	const char *end = bytes + length;

	for (const char *at = bytes; at < end; at += strlen(at) + 1)
		if (strncmp(at, name, strlen(name)) == 0 && at[strlen(name)] == '/')
			return xstrdup(at + strlen(name));
	return NULL;
}

static void pdb_scan_state_read_environment(struct pdb_scan_state *state, struct procfs *procfs)
{
	char *bytes;
	ssize_t length = procfs_read(procfs, state->pid, "environ", &bytes, NULL);

	if (length < 0)
		return;
	state->folder = pdb_scan_state_find_path(bytes, (size_t)length, "TMPDIR=");
	state->prefix = pdb_scan_state_find_path(bytes, (size_t)length, "IPDB_SOCK_PATH=");
}

void pdb_scan_state_learn(struct pdb_scan_state *state, struct procfs *procfs)
{
	struct stat ours;
	struct stat about;
	uint64_t network;
	char path[64];

	if (state->is_learnt)
		return;
	state->is_learnt = true;
	network = pdb_scan_state_read_network(procfs, state->pid);
	if (network != pdb_scan_state_read_network(procfs, getpid()))
		state->network = network;
	pdb_scan_state_read_environment(state, procfs);
	snprintf(path, sizeof(path), "%d/root/tmp", (int)state->pid);
	if (fstatat(procfs->fd, path, &about, 0) < 0)
		return;
	state->device = about.st_dev;
	state->inode = about.st_ino;
	state->is_rooted = stat("/tmp", &ours) < 0 || ours.st_dev != about.st_dev ||
			   ours.st_ino != about.st_ino;
}

bool pdb_scan_state_reach(const struct pdb_scan_state *state, const char *path, char *out,
			  size_t size)
{
	int length;

	if (state->is_rooted)
		length = snprintf(out, size, "/proc/%d/root%s", (int)state->pid, path);
	else
		length = snprintf(out, size, "%s", path);
	return length >= 0 && (size_t)length < size;
}
