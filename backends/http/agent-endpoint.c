#include "backends/http/agent-endpoint.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "backends/linux/procfs.h"
#include "backends/linux/task.h"
#include "backends/pdb/listening-sockets.h"
#include "backends/pdb/pdb-finder.h"
#include "backends/pdb/socket-file.h"
#include "backends/target.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/loop.h"
#include "base/map.h"
#include "protocol/process.h"

#define TOKEN_MAXIMUM 4096
#define INFIX_BYTES 32
#define SUFFIX ".agent"
#define GET_ONE "run `probetui inject`, or start the program with PROBETUI=1"

static pid_t inner_pid(pid_t pid)
{
	pid_t inner = task_inner(pid);

	return inner > 0 ? inner : pid;
}

/* Writes the path of the agent's socket. infix is "", or the part of the name that the agent adds
 * if another container has the name without it. */
static void agent_endpoint_make_path(char *out, size_t size, pid_t pid, uid_t uid,
				     const char *infix)
{
	snprintf(out, size, "/proc/%d/root/tmp/pdb-%u/%d%s" SUFFIX, (int)pid, (unsigned)uid,
		 (int)inner_pid(pid), infix);
}

static bool is_socket(const char *path)
{
	struct stat about;

	return lstat(path, &about) == 0 && S_ISSOCK(about.st_mode);
}

/* Writes ".INODE", where INODE is that of the process's pid namespace; "": unknown. */
static void make_infix(char *infix, size_t size, pid_t pid)
{
	char namespace[64];
	struct stat about;

	infix[0] = '\0';
	snprintf(namespace, sizeof(namespace), "/proc/%d/ns/pid", (int)pid);
	if (stat(namespace, &about) == 0)
		snprintf(infix, size, ".%lu", (unsigned long)about.st_ino);
}

/*
 * Writes the path of the socket in /tmp/pdb-UID to out. Returns false if there is no socket; out is
 * then the path that it would have.
 */
static bool find_usual(char *out, size_t size, pid_t pid, uid_t uid)
{
	char infix[INFIX_BYTES];

	make_infix(infix, sizeof(infix), pid);
	agent_endpoint_make_path(out, size, pid, uid, infix);
	if (infix[0] && is_socket(out))
		return true;
	agent_endpoint_make_path(out, size, pid, uid, "");
	return is_socket(out);
}

/* Returns the path without /proc/PID/root, as the process sees it. */
static const char *agent_endpoint_shown(const char *path)
{
	const char *at = strstr(path, "/root/");

	return at ? at + strlen("/root") : path;
}

static char *agent_endpoint_distrust(const char *path, uid_t uid)
{
	char *why = socket_file_distrust(path, agent_endpoint_shown(path), uid);

	return why ? why : socket_file_distrust_folder(path, agent_endpoint_shown(path), uid);
}

static bool is_trusted(const char *path, uid_t uid)
{
	char *why = agent_endpoint_distrust(path, uid);

	free(why);
	return why == NULL;
}

/*
 * True if the agent cannot use /tmp/pdb-UID, and so listens in another folder: another user owns
 * /tmp/pdb-UID, others may enter it, or it cannot be created.
 */
static bool is_denied(pid_t pid, uid_t uid)
{
	char path[64];
	struct stat about;

	snprintf(path, sizeof(path), "/proc/%d/root/tmp/pdb-%u", (int)pid, (unsigned)uid);
	if (lstat(path, &about) == 0)
		return !S_ISDIR(about.st_mode) || about.st_uid != uid ||
		       (about.st_mode & (S_IRWXG | S_IRWXO));
	if (errno != ENOENT)
		return errno == ENOTDIR;
	snprintf(path, sizeof(path), "/proc/%d/root/tmp", (int)pid);
	return lstat(path, &about) < 0 || !S_ISDIR(about.st_mode) ||
	       (about.st_uid != uid && !(about.st_mode & S_IWOTH));
}

static bool is_agent_path(const char *path)
{
	size_t length = strlen(path);

	return path[0] == '/' && length > strlen(SUFFIX) &&
	       strcmp(path + length - strlen(SUFFIX), SUFFIX) == 0;
}

/* True if the file has one of the two names that the process's agent uses. */
static bool has_name(const char *path, pid_t pid)
{
	char infix[INFIX_BYTES];
	char plain[64];
	char own[64];
	const char *name = strrchr(path, '/') + 1;

	make_infix(infix, sizeof(infix), pid);
	snprintf(plain, sizeof(plain), "%d" SUFFIX, (int)inner_pid(pid));
	snprintf(own, sizeof(own), "%d%s" SUFFIX, (int)inner_pid(pid), infix);
	return strcmp(name, plain) == 0 || strcmp(name, own) == 0;
}

/*
 * Searches the sockets that listen in the process's network namespace. Any user may create a socket
 * with such a path, so the socket must have the right name, be open in the process (if the
 * process's descriptors can be read), and be in a folder that only the user can enter.
 */
static bool find_listener(char *out, size_t size, struct procfs *procfs, pid_t pid, uid_t uid)
{
	struct listening_sockets listeners = LISTENING_SOCKETS_INIT;
	struct map *held = listening_sockets_held(procfs, pid);
	bool is_found = false;

	if (listening_sockets_add_unix(&listeners, procfs, pid, is_agent_path) < 0)
		listeners.count = 0;
	for (size_t i = 0; i < listeners.count && !is_found; i++) {
		const struct listener *listener = &listeners.items[i];
		int length;

		if (!has_name(listener->path, pid) || (held && !map_find(held, listener->inode)))
			continue;
		length = snprintf(out, size, "/proc/%d/root%s", (int)pid, listener->path);
		is_found = length < (int)size && is_trusted(out, uid);
	}
	listening_sockets_clear(&listeners);
	map_free(held);
	return is_found;
}

static bool find_elsewhere(char *out, size_t size, pid_t pid, uid_t uid)
{
	struct procfs procfs;
	bool is_found;

	if (procfs_open(&procfs, NULL) < 0)
		return false;
	is_found = find_listener(out, size, &procfs, pid, uid);
	procfs_close(&procfs);
	return is_found;
}

/*
 * Writes the path of the socket to out. Returns false if there is no socket; out is then the path
 * that it would have.
 */
static bool agent_endpoint_find_path(char *out, size_t size, pid_t pid, uid_t uid)
{
	if (find_usual(out, size, pid, uid) && is_trusted(out, uid))
		return true;
	if (is_denied(pid, uid) && find_elsewhere(out, size, pid, uid))
		return true;
	return find_usual(out, size, pid, uid);
}

bool agent_endpoint_exists(pid_t pid, uid_t uid)
{
	char path[128];

	return pid > 0 && pid < PROCESS_FIRST_STANDIN &&
	       agent_endpoint_find_path(path, sizeof(path), pid, uid);
}

static int agent_endpoint_check_file(const char *path, uid_t uid, struct error *error)
{
	char *why = agent_endpoint_distrust(path, uid);

	if (!why)
		return 0;
	error_set(error, "%s", why);
	free(why);
	return -1;
}

/* The peer must be the process itself, not another process that has listened on the path before. */
int agent_endpoint_check_peer(struct agent_endpoint *way, int fd)
{
	struct ucred peer = { .pid = 0 };
	socklen_t length = sizeof(peer);
	struct error *error = &way->refused;

	error->message[0] = '\0';
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == (uid_t)-1)
		return error_set(
			error,
			"the agent accepts no more clients: others wait to connect (try again)");
	if (pdb_finder_check_peer(fd, way->uid, way->pid, error) < 0)
		return -1;
	if (peer.pid != 0 && peer.pid != way->pid)
		return error_set(error,
				 "the agent's socket belongs to process %d, not to process %d: "
				 "nothing was sent",
				 (int)peer.pid, (int)way->pid);
	return 0;
}

int agent_endpoint_find(struct agent_endpoint *way, struct error *error)
{
	char path[128];

	way->refused.message[0] = '\0';
	if (way->pid == 0 || way->is_address)
		return 0;
	free(way->path);
	way->path = NULL;
	if (!agent_endpoint_find_path(path, sizeof(path), way->pid, way->uid))
		return error_set(error, "no agent listens in the process: " GET_ONE);
	way->path = xstrdup(path);
	if (lstat(path, &way->file) < 0)
		way->file = (struct stat){ .st_ino = 0 };
	return agent_endpoint_check_file(path, way->uid, error);
}

bool agent_endpoint_has_another(const struct agent_endpoint *way)
{
	char path[128];
	struct stat now;

	return !way->is_address && way->pid != 0 &&
	       agent_endpoint_find_path(path, sizeof(path), way->pid, way->uid) &&
	       lstat(path, &now) == 0 &&
	       (now.st_ino != way->file.st_ino || now.st_ctim.tv_sec != way->file.st_ctim.tv_sec ||
		now.st_ctim.tv_nsec != way->file.st_ctim.tv_nsec);
}

int agent_endpoint_look(struct agent_endpoint_found *found, pid_t pid, uid_t uid,
			struct error *error)
{
	char path[128];

	found->is_there = agent_endpoint_find_path(path, sizeof(path), pid, uid);
	snprintf(found->path, sizeof(found->path), "%s", agent_endpoint_shown(path));
	if (!found->is_there)
		return error_set(error, "no agent listens in the process: " GET_ONE);
	return agent_endpoint_check_file(path, uid, error);
}

static char *agent_endpoint_trim(const char *text)
{
	size_t length;

	text += strspn(text, " \t\r\n");
	length = strlen(text);
	while (length > 0 && strchr(" \t\r\n", text[length - 1]))
		length--;
	return xstrndup(text, length);
}

/* Reads the token from the node's environment. A missing token is not an error. */
static int read_token(struct agent_endpoint *way, struct error *error)
{
	const char *path = getenv("PROBETUI_TOKEN_FILE");
	const char *text = getenv("PROBETUI_TOKEN");
	struct buffer bytes = BUFFER_INIT;

	if (!path || !path[0]) {
		way->token = text && text[0] ? agent_endpoint_trim(text) : NULL;
		return 0;
	}
	bytes.maximum = TOKEN_MAXIMUM;
	if (file_read_own(path, "the token of the agents (PROBETUI_TOKEN_FILE)", &bytes, error) <
	    0) {
		buffer_clear(&bytes);
		return -1;
	}
	way->token = agent_endpoint_trim(bytes.data);
	buffer_clear(&bytes);
	return 0;
}

static int init_address(struct agent_endpoint *way, const struct target *target,
			struct error *error)
{
	const char *ca_file = getenv("PROBETUI_CA_FILE");

	way->base = xstrdup(target->text);
	way->ca_file = ca_file && ca_file[0] ? xstrdup(ca_file) : NULL;
	/* Removes the slash of "http://host:9000/". */
	if (way->base[strlen(way->base) - 1] == '/')
		way->base[strlen(way->base) - 1] = '\0';
	return read_token(way, error);
}

int agent_endpoint_init(struct agent_endpoint *way, const struct process *process,
			const struct target *target, struct error *error)
{
	bool is_here = process->pid < PROCESS_FIRST_STANDIN;

	*way = (struct agent_endpoint){ .pid = is_here ? process->pid : 0 };
	way->uid = process->uid;
	way->is_address = target && target->host;
	if (way->is_address) {
		way->target = xstrdup(target->text);
		return init_address(way, target, error);
	}
	if (!is_here)
		return error_set(error, "the process is on another machine: only a debugger that "
					"is connected to it can answer requests");
	way->target = xasprintf("agent:%d", (int)process->pid);
	way->base = xstrdup("http://localhost");
	return agent_endpoint_find(way, error);
}

void agent_endpoint_clear(struct agent_endpoint *way)
{
	free(way->base);
	free(way->path);
	free(way->target);
	if (way->token)
		memset(way->token, 0, strlen(way->token));
	free(way->token);
	free(way->ca_file);
	*way = (struct agent_endpoint){ .base = NULL };
}

#define ANSWER_MAXIMUM (1u << 20)
#define SILENT "the agent does not answer"

/* Waits until fd has one of the events. Returns -1 if none has come before `until`. */
static int agent_probe_wait_for(int fd, short events, double until)
{
	struct pollfd waiting = { .fd = fd, .events = events };
	double left = until - loop_now();

	if (left <= 0)
		return -1;
	return poll(&waiting, 1, (int)(left * 1000) + 1) > 0 ? 0 : -1;
}

static int agent_probe_open_socket(struct agent_endpoint *way, struct error *error)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(way->path) >= sizeof(address.sun_path))
		return error_set(error, "the path of the agent's socket is too long");
	memcpy(address.sun_path, way->path, strlen(way->path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		if (fd >= 0)
			close(fd);
		return error_set(error, SILENT);
	}
	if (agent_endpoint_check_peer(way, fd) < 0) {
		error_set(error, "%s", way->refused.message);
		close(fd);
		return -1;
	}
	return fd;
}

static int agent_probe_ask(int fd, const char *path, double until)
{
	char request[256];
	int length = snprintf(request, sizeof(request),
			      "GET %s HTTP/1.1\r\nHost: localhost\r\n"
			      "Connection: close\r\n\r\n",
			      path);

	if (length <= 0 || (size_t)length >= sizeof(request) ||
	    agent_probe_wait_for(fd, POLLOUT, until) < 0)
		return -1;
	return send(fd, request, (size_t)length, MSG_NOSIGNAL) == length ? 0 : -1;
}

/*
 * Reads until the peer closes the connection. Returns -1 for an error, at the time `until`, or if
 * the answer has too many bytes.
 */
static int agent_probe_read_all(int fd, struct buffer *out, double until)
{
	char bytes[4096];

	while (out->length < ANSWER_MAXIMUM && agent_probe_wait_for(fd, POLLIN, until) == 0) {
		ssize_t count = recv(fd, bytes, sizeof(bytes), 0);

		if (count == 0)
			return 0;
		if (count < 0 && errno != EINTR && errno != EAGAIN)
			return -1;
		if (count > 0)
			buffer_append(out, bytes, (size_t)count);
	}
	return -1;
}

static json_t *agent_probe_parse(const struct buffer *answer, struct error *error)
{
	const char *end = answer->length > 0 ? strstr(answer->data, "\r\n\r\n") : NULL;
	json_t *told = NULL;

	if (end && strncmp(answer->data, "HTTP/1.1 200 ", 13) == 0)
		told = json_parse(end + 4, answer->length - (size_t)(end + 4 - answer->data), NULL);
	if (!told)
		error_set(error, "the agent's answer is invalid");
	return told;
}

json_t *agent_probe(const struct process *process, const char *path, double seconds,
		    struct error *error)
{
	struct buffer answer = BUFFER_INIT;
	double until = loop_now() + seconds;
	json_t *told = NULL;
	struct agent_endpoint way;
	int fd = -1;

	answer.maximum = ANSWER_MAXIMUM + 8192;
	if (agent_endpoint_init(&way, process, NULL, error) == 0)
		fd = agent_probe_open_socket(&way, error);
	if (fd >= 0 &&
	    (agent_probe_ask(fd, path, until) < 0 || agent_probe_read_all(fd, &answer, until) < 0))
		error_set(error, SILENT);
	else if (fd >= 0)
		told = agent_probe_parse(&answer, error);
	if (fd >= 0)
		close(fd);
	buffer_clear(&answer);
	agent_endpoint_clear(&way);
	return told;
}
