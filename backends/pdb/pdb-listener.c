#include "backends/pdb/pdb-listener.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "backends/linux/procfs.h"
#include "backends/pdb/listening-sockets.h"
#include "backends/pdb/pdb-finder.h"
#include "backends/pdb/socket-file.h"
#include "backends/sampler.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "protocol/debugger.h"

#define PATH_SIZE sizeof(((struct sockaddr_un *)NULL)->sun_path)
/*
 * If a server was not in accept(2) in this number of scans in a row, it counts as no longer
 * accepting.
 */
#define IDLE_LOOKS 2

/*
 * Prefers a socket whose name has the rank's number, then one in a folder pdb-UID, then the newest
 * one.
 */
int pdb_listener_compare(const struct pdb_scan_state *state, const struct listener *a,
			 const struct listener *b)
{
	struct socket_name first;
	struct socket_name second;
	bool is_first;
	bool is_second;

	socket_file_read_name(&first, a->path);
	socket_file_read_name(&second, b->path);
	is_first = first.rank >= 0 && first.rank == state->rank;
	is_second = second.rank >= 0 && second.rank == state->rank;
	if (is_first != is_second)
		return is_first - is_second;
	if (first.has_folder != second.has_folder)
		return first.has_folder - second.has_folder;
	return (a->inode > b->inode) - (a->inode < b->inode);
}

/* Returns the path with control characters escaped, for display. */
static char *pdb_listener_show(const char *path)
{
	struct buffer shown = BUFFER_INIT;

	text_escape(&shown, path, strlen(path));
	return buffer_take(&shown);
}

/* True if both paths lead to the same file. */
static bool pdb_listener_is_same_file(const char *a, const char *b)
{
	struct stat first;
	struct stat second;

	return lstat(a, &first) == 0 && lstat(b, &second) == 0 && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

/*
 * Writes a path by which probetui reaches the socket: the path that the process uses, if it leads
 * to the same file here, else a path through /proc/PID/root or cwd.
 */
static void pdb_listener_find_path(const struct pdb_scan_state *state, struct procfs *procfs,
				   const char *path, char *out, size_t size)
{
	char through[PATH_MAX];
	char folder[PATH_MAX] = "";
	bool is_absolute = path[0] == '/';

	snprintf(through, sizeof(through), "/proc/%d/%s%s%s", (int)state->pid,
		 is_absolute ? "root" : "cwd", is_absolute ? "" : "/", path);
	if (!is_absolute)
		procfs_link(procfs, state->pid, "cwd", folder, sizeof(folder));
	/* A path that is too long cannot be used either: then use the path through /proc. */
	if (snprintf(out, size, "%s%s%s", folder, is_absolute ? "" : "/", path) < (int)size &&
	    (pdb_listener_is_same_file(out, through) || (is_absolute && !state->is_rooted)))
		return;
	snprintf(out, size, "%s", through);
}

/*
 * Returns why the owner of the socket's file is wrong, or NULL if it is right. state->uid may be
 * wrong: /proc/PID belongs to root if the process is not dumpable (after a change of its user).
 * Then the user is read from /proc/PID/status.
 */
static char *pdb_listener_distrust(const char *path, const char *shown,
				   struct pdb_scan_state *state, struct procfs *procfs)
{
	char *why = socket_file_distrust(path, shown, state->uid);
	int64_t uid;

	if (!why || state->uid != 0)
		return why;
	uid = procfs_status(procfs, state->pid, "Uid", 0);
	if (uid <= 0)
		return why;
	state->uid = (uid_t)uid;
	free(why);
	return socket_file_distrust(path, shown, state->uid);
}

/*
 * Returns a sentence if another process listens at the same path; NULL: the path leads to this
 * socket.
 */
static char *explain_twin(const struct pdb_listener *found, const char *path, const char *shown,
			  pid_t pid)
{
	char name[32] = "another process";
	struct stat about;
	int is_bound;

	if (lstat(path, &about) < 0)
		return NULL;
	is_bound = unix_diag_is_bound(found->listener->inode, about.st_ino);
	if (is_bound == 1)
		return NULL;
	if (found->twin_pid > 0)
		snprintf(name, sizeof(name), "process %d", (int)found->twin_pid);
	if (is_bound == 0)
		return xasprintf("%s has taken over %s from process %d: no client can connect to "
				 "process %d any more",
				 name, shown, (int)pid, (int)pid);
	return xasprintf(
		"process %d and %s both listen on %s: which of them would answer is unknown",
		(int)pid, name, shown);
}

/* Returns why probetui must not connect to the socket; NULL: it may. */
static char *find_fault(const struct pdb_listener *found, struct pdb_scan_state *state,
			struct procfs *procfs, const char *path, const char *shown)
{
	char *why;

	if (path[0] == '@' && state->network != 0)
		return xasprintf("pdb listens on %s in another network namespace (a container): "
				 "run probetui in that container",
				 shown);
	if (strlen(path) >= PATH_SIZE || !text_is_utf8(path, strlen(path)))
		return xasprintf("pdb listens on %s, a name that is too long or not text: probetui "
				 "cannot connect to it",
				 shown);
	if (path[0] == '@')
		return NULL;
	why = pdb_listener_distrust(path, shown, state, procfs);
	if (!why && found->has_twin)
		why = explain_twin(found, path, shown, state->pid);
	return why;
}

static const struct pdb_programs *choose_server(const struct pdb_scan_state *state,
						const struct listener *listener)
{
	return state->server ? state->server : pdb_programs_find(NULL, listener->path);
}

/*
 * Returns a sentence if the server accepts only one client and has, or has had, one; NULL: the
 * server waits for a client, as far as is known.
 */
static char *explain_taken(const struct listener *listener, struct pdb_scan_state *state,
			   struct procfs *procfs, const char *shown, struct debugger *debugger)
{
	const struct pdb_programs *server = choose_server(state, listener);
	bool has_taken = state->taken == listener->inode;
	bool has_client = listener->client_count > 0;

	if ((server && !server->takes_one) || (!server && !has_taken && !has_client))
		return NULL;
	if (listening_sockets_is_accepting(procfs, state->pid, listener->inode,
					   state->idle_looks <= IDLE_LOOKS)) {
		state->idle_looks = 0;
		return NULL;
	}
	debugger->is_taken = has_client && unix_diag_is_left(listener->client) != 1;
	if (debugger->is_taken)
		return xasprintf("another client is connected to %s, and the server accepts only "
				 "one client%s",
				 shown, server ? "" : " (probably)");
	/*
	 * The server may be about to accept: it counts as not accepting only after IDLE_LOOKS
	 * scans.
	 */
	if (++state->idle_looks < IDLE_LOOKS && !has_taken && !has_client)
		return NULL;
	return xasprintf("the server at %s accepts only one client, which has disconnected: no "
			 "other client is served",
			 shown);
}

static void say_waiting(const struct pdb_listener *found, const struct pdb_scan_state *state,
			struct debugger *debugger)
{
	const struct pdb_programs *server = choose_server(state, found->listener);

	debugger->state = DEBUGGER_WAITING;
	debugger->dialect = xstrdup_or_null(server ? server->dialect : NULL);
	debugger->leaving = xstrdup_or_null(pdb_programs_leaving(server));
	/* Not said of the agent, which always listens at two paths. */
	if (found->more > 0 && (!server || server->takes_one))
		debugger->why = xasprintf("pdb also listens on %zu other socket%s of the process",
					  found->more, found->more == 1 ? "" : "s");
}

static void describe_port(const struct pdb_listener *found, const struct pdb_scan_state *state,
			  struct debugger *debugger)
{
	const struct listener *listener = found->listener;
	bool is_six = strchr(listener->host, ':');

	debugger->target = xasprintf("pdb:tcp:%s%s%s:%d", is_six ? "[" : "", listener->host,
				     is_six ? "]" : "", listener->port);
	if (state->network == 0) {
		say_waiting(found, state, debugger);
		return;
	}
	debugger->state = DEBUGGER_REFUSED;
	debugger->why = xasprintf("pdb listens on port %d in another network namespace (a "
				  "container): run probetui in that container",
				  listener->port);
}

/*
 * True if the agent keeps a notice file of this kind in /tmp/pdb-UID for the rank (socket-file.h).
 */
static bool is_kept(const struct pdb_scan_state *state, const char *kind, int rank)
{
	char folder[64];
	char path[PATH_MAX];

	snprintf(folder, sizeof(folder), "/tmp/pdb-%ld", (long)state->uid);
	return rank >= 0 && pdb_scan_state_reach(state, folder, path, sizeof(path)) &&
	       socket_notice_is_kept(path, kind, rank, state->pid, state->uid);
}

/* Returns the rank in a socket name of the agent; -1: the name is not one of the agent's. */
static int rank_of_package(const struct pdb_scan_state *state, const char *name)
{
	size_t length = state->prefix ? strlen(state->prefix) : 0;
	struct socket_name numbers;
	int end = 0;
	int rank;

	socket_file_read_name(&numbers, name);
	if (numbers.has_folder)
		return numbers.rank;
	if (length == 0 || strncmp(name, state->prefix, length) != 0 ||
	    sscanf(name + length, ".%6d%n", &rank, &end) != 1)
		return -1;
	name += length + end;
	return *name == '\0' || *name == '.' ? rank : -1;
}

/*
 * Recognises the agent by its files, before its frames are sampled. Returns false if the agent is
 * there, but the rank does not wait in pdb.
 */
static bool learn_package(struct pdb_scan_state *state, const char *name)
{
	int rank = rank_of_package(state, name);

	if (!is_kept(state, SOCKET_NOTICE_LIFE, rank))
		return true;
	state->server = pdb_programs_named("probetui");
	return is_kept(state, SOCKET_NOTICE_WAITS, rank);
}

static void describe_path(const struct pdb_listener *found, struct pdb_scan_state *state,
			  struct procfs *procfs, struct debugger *debugger)
{
	const char *name = found->listener->path;
	char path[PATH_MAX];
	char *shown;
	char *why;

	if (!learn_package(state, name))
		return;
	if (name[0] == '@')
		snprintf(path, sizeof(path), "%s", name);
	else
		pdb_listener_find_path(state, procfs, name, path, sizeof(path));
	shown = pdb_listener_show(path);
	debugger->target = xasprintf("pdb:unix:%s", path);
	why = find_fault(found, state, procfs, path, shown);
	if (!why)
		debugger->exception = socket_notice_read(path, name, state->uid);
	/* Only the agent leaves a notice, so the server is the agent. */
	if (debugger->exception && !state->server)
		state->server = pdb_programs_named("probetui");
	if (!why)
		why = explain_taken(found->listener, state, procfs, shown, debugger);
	if (why) {
		debugger->state = DEBUGGER_REFUSED;
		debugger->why = why;
	} else {
		say_waiting(found, state, debugger);
	}
	free(shown);
}

void pdb_listener_describe(const struct pdb_listener *found, struct pdb_scan_state *state,
			   struct procfs *procfs, struct debugger *debugger)
{
	if (found->listener->path)
		describe_path(found, state, procfs, debugger);
	else
		describe_port(found, state, debugger);
	if (debugger->state != DEBUGGER_NONE)
		debugger->backend = xstrdup("pdb");
}

bool pdb_listener_describe_file(const char *path, bool is_served, struct pdb_scan_state *state,
				struct procfs *procfs, struct debugger *debugger)
{
	char *shown = pdb_listener_show(path);
	char *why = pdb_listener_distrust(path, shown, state, procfs);

	/*
	 * Nothing is reported if another process of the same user listens: the file does not belong
	 * to this rank.
	 */
	if (why || !is_served) {
		debugger->state = why ? DEBUGGER_REFUSED : DEBUGGER_STALE;
		debugger->backend = xstrdup("pdb");
		debugger->target = xasprintf("pdb:unix:%s", path);
		debugger->why = why ? why
				    : xasprintf("no process listens on %s: the program that opened "
						"the socket has exited",
						shown);
	}
	free(shown);
	return debugger->state != DEBUGGER_NONE;
}

/*
 * Observed with CPython 3.8, 3.11 and 3.13. The broken pipe occurs when the prompt is written
 * again, or if input was left unread.
 */
#define QUITS                                                                                      \
	"the server accepts only one client: when that client disconnects, the program exits "     \
	"(BdbQuit, or a broken pipe); in a post-mortem the exception propagates"

/*
 * remote-pdb 2.1 and rpdb 0.2 accept once, in the constructor; the end of input is EOF for pdb,
 * which quits. py_debug is a relay between the socket and a pty, which exits with its client; pdb
 * continues to wait at the pty.
 */
static const struct pdb_programs servers[] = {
	{
		.file = "/probetui/channel.py",
		.dialect = "probetui",
		.has_port = true,
	},
	{
		.file = "/remote_pdb.py",
		.dialect = "remote-pdb",
		.takes_one = true,
		.has_port = true,
		.leaving = QUITS,
	},
	{
		.file = "/rpdb/__init__.py",
		.dialect = "rpdb",
		.takes_one = true,
		.has_port = true,
		.leaving = QUITS,
	},
	{
		.file = "/py3_tools/",
		.dialect = "ipdb",
		.takes_one = true,
		.has_port = true,
		.is_relay = true,
		.leaving =
			"the server accepts a client only once: when that client disconnects, the "
			"program waits forever at its prompt, which no client can reach any more",
		.after =
			"the server keeps the program's output: after its client has disconnected, "
			"the program waits forever once it has printed some kilobytes",
	},
};

static const char unknown_leaving[] =
	"the server may accept only one client: when that client disconnects, the program may exit "
	"(BdbQuit), or wait forever";

struct search {
	const struct pdb_programs *found;
};

static void pdb_programs_look_at(const char *path, void *data)
{
	struct search *search = data;

	for (size_t i = 0; i < ARRAY_LENGTH(servers); i++)
		if (strstr(path, servers[i].file) &&
		    (!search->found || search->found > &servers[i]))
			search->found = &servers[i];
}

const struct pdb_programs *pdb_programs_of_files(const struct stack_files *files)
{
	struct search search = { .found = NULL };

	stack_files_each(files, pdb_programs_look_at, &search);
	return search.found;
}

static const struct pdb_programs *server_of_path(const char *path)
{
	struct socket_name name;

	socket_file_read_name(&name, path);
	for (size_t i = 0; i < ARRAY_LENGTH(servers); i++)
		if (servers[i].is_relay && name.is_relay)
			return &servers[i];
	return NULL;
}

const struct pdb_programs *pdb_programs_find(const struct stack_files *files, const char *path)
{
	const struct pdb_programs *server = files ? pdb_programs_of_files(files) : NULL;

	return server || !path ? server : server_of_path(path);
}

const struct pdb_programs *pdb_programs_named(const char *dialect)
{
	for (size_t i = 0; i < ARRAY_LENGTH(servers); i++)
		if (strcmp(servers[i].dialect, dialect) == 0)
			return &servers[i];
	return NULL;
}

const char *pdb_programs_leaving(const struct pdb_programs *server)
{
	return server ? server->leaving : unknown_leaving;
}
