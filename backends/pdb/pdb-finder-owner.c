#include "backends/pdb/pdb-finder.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/discover/process-scan.h"
#include "backends/linux/pid-list.h"
#include "backends/linux/procfs.h"
#include "backends/node.h"
#include "backends/pdb/listening-sockets.h"
#include "backends/pdb/socket-file.h"
#include "backends/process-table.h"
#include "backends/target.h"
#include "banned.h"
#include "base/error.h"
#include "base/map.h"

/* The target, and the best owner found so far. */
struct search {
	struct node *node;
	const struct target *target;
	struct stat file; /* file of the socket; st_ino 0: no file */
	struct listening_sockets listeners;
	pid_t owner;
	uid_t owner_uid;
	uint64_t start_time; /* start time of the owner */
};

static const char *pdb_finder_owner_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_abstract(const struct target *target)
{
	return target->path && target->path[0] == '@';
}

/* Reads the status of the socket's file; a symbolic link is an error. */
static int pdb_finder_owner_find_file(struct search *search, struct error *error)
{
	const char *path = search->target->path;

	if (lstat(path, &search->file) < 0 && errno == ENOENT)
		return error_set(error,
				 "socket %s not found: the program may have exited, or has not "
				 "opened the socket yet",
				 path);
	if (search->file.st_ino == 0)
		return error_set_errno(error, errno, "%s cannot be accessed", path);
	if (S_ISLNK(search->file.st_mode))
		return error_set(error,
				 "%s is a symbolic link, which any user may have created: name the "
				 "socket itself",
				 path);
	if (!S_ISSOCK(search->file.st_mode))
		return error_set(error, "%s is not a socket", path);
	return 0;
}

/* True if the path that process pid has bound leads to search->file. */
static bool pdb_finder_owner_is_file(const struct search *search, pid_t pid, const char *path)
{
	char seen[PATH_MAX];
	struct stat about;
	int length = snprintf(seen, sizeof(seen), "%d/%s/%s", (int)pid,
			      path[0] == '/' ? "root" : "cwd", path);

	return length < (int)sizeof(seen) &&
	       fstatat(node_procfs(search->node)->fd, seen, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
	       about.st_dev == search->file.st_dev && about.st_ino == search->file.st_ino;
}

/*
 * True if the socket's file belongs to this listener, or if the kernel does not report it. Several
 * sockets can have been bound to one path, one after another.
 */
static bool pdb_finder_owner_is_reached(const struct search *search,
					const struct listener *listener)
{
	size_t count = 0;

	for (size_t i = 0; i < search->listeners.count; i++) {
		const char *path = search->listeners.items[i].path;

		count += path && strcmp(path, listener->path) == 0;
	}
	return count < 2 || unix_diag_is_bound(listener->inode, search->file.st_ino) != 0;
}

static bool is_sought(const struct search *search, const struct listener *listener)
{
	const struct target *target = search->target;

	if (target->port > 0)
		return !listener->path && listener->port == target->port;
	if (!listener->path)
		return false;
	if (is_abstract(target))
		return strcmp(listener->path, target->path) == 0;
	return strcmp(pdb_finder_owner_last_part(listener->path),
		      pdb_finder_owner_last_part(target->path)) == 0;
}

/*
 * Returns the user of the process from /proc/PID/status. The owner of /proc/PID is root if the
 * process has changed its user.
 */
static uid_t read_uid(struct procfs *procfs, pid_t pid)
{
	return (uid_t)procfs_status(procfs, pid, "Uid", (uid_t)-1);
}

/*
 * Makes pid the owner if it is older than the owner found so far: of the processes that have the
 * socket open, the younger ones have inherited it.
 */
static void consider(struct search *search, pid_t pid)
{
	struct procfs *procfs = node_procfs(search->node);
	struct procfs_stat stat;

	if (procfs_stat(procfs, pid, &stat) < 0 || procfs_has_ended(&stat) ||
	    (search->owner && stat.start_time >= search->start_time))
		return;
	search->owner_uid = read_uid(procfs, pid);
	search->owner = pid;
	search->start_time = stat.start_time;
}

static void pdb_finder_owner_look_at(struct search *search, pid_t pid)
{
	struct map *held = listening_sockets_held(node_procfs(search->node), pid);

	if (!held)
		return;
	for (size_t i = 0; i < search->listeners.count; i++) {
		const struct listener *listener = &search->listeners.items[i];

		if (is_sought(search, listener) && map_find(held, listener->inode) &&
		    (search->file.st_ino == 0 ||
		     (pdb_finder_owner_is_file(search, pid, listener->path) &&
		      pdb_finder_owner_is_reached(search, listener))))
			consider(search, pid);
	}
	map_free(held);
}

/*
 * Searches the ranks first, then all processes: a rank takes precedence over other processes that
 * have its socket open.
 */
static void pdb_finder_owner_find_holder(struct search *search)
{
	struct pid_list list = { .pids = NULL };
	pid_t *pids;
	size_t count;

	process_table_list(node_process_table(search->node), &list);
	for (size_t i = 0; i < list.count; i++)
		pdb_finder_owner_look_at(search, list.pids[i]);
	pid_list_clear(&list);
	if (search->owner || procfs_list(node_procfs(search->node), &pids, &count) < 0)
		return;
	for (size_t i = 0; i < count; i++)
		pdb_finder_owner_look_at(search, pids[i]);
	free(pids);
}

/* Returns the path as the listening process sees it: without a leading "/proc/PID/root". */
static const char *inner_path(const struct target *target)
{
	int length = 0;
	int pid;

	if (sscanf(target->path, "/proc/%d/root%n", &pid, &length) == 1 && length > 0 &&
	    target->path[length] == '/')
		return target->path + length;
	return target->path;
}

/* Returns the listener that has the target's name or port (borrowed); NULL: none. */
static const struct listener *pdb_finder_owner_find_named(const struct search *search)
{
	const struct target *target = search->target;

	for (size_t i = 0; i < search->listeners.count; i++) {
		const struct listener *listener = &search->listeners.items[i];

		if (is_sought(search, listener) &&
		    (!target->path || strcmp(listener->path, inner_path(target)) == 0))
			return listener;
	}
	return NULL;
}

static bool has_sought(const struct search *search)
{
	for (size_t i = 0; i < search->listeners.count; i++)
		if (is_sought(search, &search->listeners.items[i]))
			return true;
	return false;
}

static int read_listeners(struct search *search, struct error *error)
{
	struct procfs *procfs = node_procfs(search->node);
	pid_t pid = getpid();
	int inner;
	int result;

	/*
	 * A path "/proc/PID/…" names a socket in a container: the sockets of PID's network
	 * namespace are read.
	 */
	if (search->target->path && sscanf(search->target->path, "/proc/%d/", &inner) == 1 &&
	    inner > 0)
		pid = inner;
	if (search->target->path)
		result = listening_sockets_add_unix(&search->listeners, procfs, pid, NULL);
	else
		result = listening_sockets_add_tcp(&search->listeners, procfs, pid);
	if (result < 0)
		return error_set_errno(error, errno,
				       "the process that listens on %s cannot be found",
				       search->target->text);
	return 0;
}

/*
 * Sets error if no visible process has the socket open: why, by the user who created the socket.
 * Returns 0 without an error for a port of root, which may be forwarded to a container.
 */
static int explain_hidden(const struct search *search, struct error *error)
{
	const struct listener *named = pdb_finder_owner_find_named(search);
	uid_t uid;

	if (!named)
		return error_set(error,
				 "no process listens on %s: the program has exited, or has not "
				 "opened the socket yet",
				 search->target->text);
	uid = search->file.st_ino ? search->file.st_uid : named->uid;
	if (uid == 0 && search->target->port > 0)
		return 0;
	if (uid == geteuid() || uid == (uid_t)-1)
		return error_set(error,
				 "the process that listens on %s is not visible: it may be in "
				 "another container",
				 search->target->text);
	return error_set(
		error, "%s was created by user %u, not by you (user %u): probetui does not connect",
		search->target->text, uid, geteuid());
}

static int pdb_finder_owner_check_file(const struct search *search, struct error *error)
{
	const char *path = search->target->path;
	char *why = socket_file_distrust(path, path, search->owner_uid);

	if (!why)
		return 0;
	error_set(error, "%s", why);
	free(why);
	return -1;
}

/* Checks that the process owns the socket's file, and that it is a rank or run by our user. */
static int pdb_finder_owner_check_owner(const struct search *search, struct error *error)
{
	uid_t uid = search->owner_uid;

	if (search->file.st_ino != 0 && pdb_finder_owner_check_file(search, error) < 0)
		return -1;
	if (uid == geteuid() || process_table_find(node_process_table(search->node), search->owner))
		return 0;
	return error_set(error,
			 "%s was created by user %u (process %d), not by you (user %u): to debug "
			 "that process anyway, name it with --pid",
			 search->target->text, uid, (int)search->owner, geteuid());
}

/* True if the owner is a Python process. Otherwise it may forward to another machine (ssh -L). */
static bool is_python(struct search *search)
{
	struct process_scan_entry *entry;
	struct process_scan scan;
	bool is_it;

	process_scan_init(&scan, node_procfs(search->node));
	entry = process_scan_find(&scan, search->owner);
	is_it = entry && entry->is_python;
	process_scan_clear(&scan);
	return is_it;
}

static int find_owner(struct search *search, struct error *error)
{
	if (search->target->path && !is_abstract(search->target) &&
	    pdb_finder_owner_find_file(search, error) < 0)
		return -1;
	if (read_listeners(search, error) < 0)
		return -1;
	if (has_sought(search))
		pdb_finder_owner_find_holder(search);
	if (search->owner == 0)
		return explain_hidden(search, error);
	if (pdb_finder_owner_check_owner(search, error) < 0)
		return -1;
	if (search->target->port > 0 && !is_python(search))
		search->owner = 0;
	return 0;
}

/* True for the names and addresses of this machine. */
static bool pdb_finder_owner_is_here(const char *host)
{
	struct in_addr address;

	return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
	       (inet_pton(AF_INET, host, &address) == 1 &&
		ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET);
}

int pdb_finder_owner(struct node *node, const struct target *target, pid_t *owner,
		     struct error *error)
{
	struct search search = { .node = node, .target = target };
	int result;

	*owner = 0;
	if (target->host && !pdb_finder_owner_is_here(target->host))
		return 0;
	result = find_owner(&search, error);
	listening_sockets_clear(&search.listeners);
	*owner = search.owner;
	return result;
}

static bool is_user_of(uid_t uid, pid_t pid)
{
	struct procfs procfs;
	bool is_its;

	if (pid == 0 || procfs_open(&procfs, NULL) < 0)
		return false;
	is_its = read_uid(&procfs, pid) == uid;
	procfs_close(&procfs);
	return is_its;
}

int pdb_finder_check_peer(int fd, uid_t expected_uid, pid_t expected_pid, struct error *error)
{
	struct ucred peer = { .pid = 0 };
	socklen_t length = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
		return error_set_errno(
			error, errno, "the process at the other end of the socket cannot be found");
	/* SO_PEERCRED has no credentials for TCP connections, which are not checked. */
	if (peer.uid == (uid_t)-1)
		return 0;
	/* A peer of root is always accepted. */
	if (peer.uid != expected_uid && peer.uid != 0 && !is_user_of(peer.uid, expected_pid))
		return error_set(error,
				 "the socket belongs to user %u, not to user %u: nothing was sent",
				 peer.uid, expected_uid);
	/* peer.pid is 0 if the peer's pid namespace is not a descendant of ours (a container). */
	if (peer.pid == 0 || expected_pid == 0 || peer.pid == expected_pid)
		return 0;
	/* The process that opened the socket may have exited and left it to a child. */
	if (kill(peer.pid, 0) < 0 && errno == ESRCH)
		return 0;
	return error_set(
		error,
		"the socket now belongs to process %d, no longer to process %d: nothing was sent",
		(int)peer.pid, (int)expected_pid);
}
