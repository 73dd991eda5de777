#include "backends/pdb/pdb-socket.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "backends/connections.h"
#include "backends/linger.h"
#include "backends/pdb/pdb-finder.h"
#include "backends/target.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/loop.h"
#include "protocol/process.h"

#define READ_BYTES (64u << 10)
#define QUEUE_MAXIMUM (256u << 10)

struct pdb_socket {
	struct loop *loop;
	struct loop_watch *watch;
	/* if connect() has succeeded at once: calls calls.connected() from the loop */
	struct loop_timer *soon;
	struct host_lookup *lookup; /* pending look-up of the host; NULL: the addresses are known */
	struct addrinfo *addresses; /* all addresses of the host */
	struct addrinfo *next;	    /* next address to try; NULL: none is left */
	struct pdb_socket_calls calls;
	struct buffer queue;
	char *name; /* name of the target, for messages */
	int fd;
	pid_t pid; /* expected process of the peer; 0: unknown */
	uid_t uid;
	bool is_connected;
	char bytes[READ_BYTES];
};

static void pdb_socket_on_ready(int fd, int events, void *data);

static void pdb_socket_stop_watch(struct pdb_socket *wire)
{
	if (wire->watch)
		loop_watch_stop(wire->watch);
	wire->watch = NULL;
}

static void pdb_socket_watch(struct pdb_socket *wire, int events)
{
	pdb_socket_stop_watch(wire);
	wire->watch = loop_watch(wire->loop, wire->fd, events, pdb_socket_on_ready, wire);
}

void pdb_socket_free(struct pdb_socket *wire)
{
	if (!wire)
		return;
	pdb_socket_stop_watch(wire);
	if (wire->soon)
		loop_timer_stop(wire->soon);
	host_lookup_cancel(wire->lookup);
	if (wire->addresses)
		freeaddrinfo(wire->addresses);
	if (wire->fd >= 0)
		close(wire->fd);
	buffer_clear(&wire->queue);
	free(wire->name);
	free(wire);
}

/* Reports the end of the connection. The caller must not use wire afterwards. */
static void pdb_socket_end(struct pdb_socket *wire, const struct error *error)
{
	pdb_socket_stop_watch(wire);
	wire->calls.ended(error->message, wire->calls.data);
}

/*
 * Connects to the next address. Returns -1 if no address is left; errno is that of the last
 * address.
 */
static int try_next(struct pdb_socket *wire)
{
	int one = 1;

	for (; wire->next; wire->next = wire->next->ai_next) {
		const struct addrinfo *address = wire->next;

		if (wire->fd >= 0)
			close(wire->fd);
		wire->fd =
			socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (wire->fd < 0)
			continue;
		setsockopt(wire->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		if (connect(wire->fd, address->ai_addr, address->ai_addrlen) < 0 &&
		    errno != EINPROGRESS)
			continue;
		wire->next = address->ai_next;
		pdb_socket_watch(wire, LOOP_WRITABLE);
		return 0;
	}
	return -1;
}

static void pdb_socket_on_found(struct addrinfo *owned_found, int number, void *data)
{
	struct pdb_socket *wire = data;
	struct error error = ERROR_INIT;

	wire->lookup = NULL;
	wire->addresses = owned_found;
	wire->next = owned_found;
	if (number != 0)
		error_set(&error, "%s: host not found: %s", wire->name, gai_strerror(number));
	else if (try_next(wire) < 0)
		error_set_errno(&error, errno, "cannot connect to %s", wire->name);
	if (error_is_set(&error))
		pdb_socket_end(wire, &error);
}

static void finish_connecting(struct pdb_socket *wire)
{
	struct error error = ERROR_INIT;
	socklen_t length = sizeof(int);
	int number = 0;

	getsockopt(wire->fd, SOL_SOCKET, SO_ERROR, &number, &length);
	if (number != 0) {
		pdb_socket_stop_watch(wire);
		if (try_next(wire) == 0)
			return;
		error_set_errno(&error, number, "cannot connect to %s", wire->name);
	}
	if (number != 0 || pdb_finder_check_peer(wire->fd, wire->uid, wire->pid, &error) < 0) {
		pdb_socket_end(wire, &error);
		return;
	}
	wire->is_connected = true;
	pdb_socket_watch(wire, LOOP_READABLE);
	wire->calls.connected(wire->calls.data);
}

static void on_soon(void *data)
{
	struct pdb_socket *wire = data;

	loop_timer_stop(wire->soon);
	wire->soon = NULL;
	finish_connecting(wire);
}

/* Sends as much of the queue as the socket takes. Returns 0 or the errno of a failure. */
static int write_queue(struct pdb_socket *wire)
{
	while (wire->queue.length > 0) {
		ssize_t length = send(wire->fd, wire->queue.data, wire->queue.length, MSG_NOSIGNAL);

		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return errno == EAGAIN ? 0 : errno;
		buffer_consume(&wire->queue, (size_t)length);
	}
	return 0;
}

static void pdb_socket_read_some(struct pdb_socket *wire)
{
	ssize_t length = recv(wire->fd, wire->bytes, sizeof(wire->bytes), 0);
	struct error error = ERROR_INIT;

	if (length > 0) {
		wire->calls.bytes(wire->bytes, (size_t)length, wire->calls.data);
		return;
	}
	if (length < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (length == 0 || errno == ECONNRESET)
		error_set(&error, "the debugger has closed the connection");
	else
		error_set_errno(&error, errno, "cannot read from %s", wire->name);
	pdb_socket_end(wire, &error);
}

static void pdb_socket_on_ready(int fd, int events, void *data)
{
	struct pdb_socket *wire = data;
	int number;

	(void)fd;
	if (!wire->is_connected) {
		finish_connecting(wire);
		return;
	}
	if (events & LOOP_WRITABLE) {
		number = write_queue(wire);
		if (wire->queue.length == 0)
			pdb_socket_watch(wire, LOOP_READABLE);
		/* The failure is not reported yet: the peer's last output is read first. */
		if (number != 0)
			buffer_reset(&wire->queue);
	}
	if (events & LOOP_READABLE)
		pdb_socket_read_some(wire);
}

static int open_unix(struct pdb_socket *wire, const struct target *target, struct error *error)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = strlen(target->path);

	if (length >= sizeof(address.sun_path))
		return error_set(error,
				 "%s: the socket path is longer than %zu bytes (the maximum)",
				 target->text, sizeof(address.sun_path) - 1);
	memcpy(address.sun_path, target->path, length + 1);
	length += offsetof(struct sockaddr_un, sun_path);
	/* An abstract name begins with a NUL and has no terminator. */
	if (target->path[0] == '@')
		address.sun_path[0] = '\0';
	else
		length++;
	wire->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (wire->fd < 0)
		return error_set_errno(error, errno, "no socket could be created");
	return connect(wire->fd, (struct sockaddr *)&address, (socklen_t)length);
}

/* Sets *error to the reason of a failed connect(), with a remedy if one is known. */
static int pdb_socket_explain(const struct pdb_socket *wire, int number, struct error *error)
{
	if (number == ENOENT)
		return error_set(error, "%s does not exist", wire->name);
	if (number == ECONNREFUSED)
		return error_set(error, "%s is stale: no process listens on the socket",
				 wire->name);
	if (number == EAGAIN)
		return error_set(error,
				 "%s accepts no more clients: one client is connected, and more "
				 "clients wait",
				 wire->name);
	return error_set_errno(error, number, "cannot connect to %s", wire->name);
}

static int pdb_socket_open_socket(struct pdb_socket *wire, const struct target *target,
				  struct error *error)
{
	int result;

	if (!target->path) {
		wire->lookup = host_lookup_new(wire->loop, target->host, target->port,
					       pdb_socket_on_found, wire);
		return 0;
	}
	errno = 0;
	result = open_unix(wire, target, error);
	if (error_is_set(error))
		return -1;
	if (result < 0 && errno != EINPROGRESS)
		return pdb_socket_explain(wire, errno, error);
	if (result == 0)
		wire->soon = loop_timer(wire->loop, 0, 0, on_soon, wire);
	else
		pdb_socket_watch(wire, LOOP_WRITABLE);
	return 0;
}

struct pdb_socket *pdb_socket_new(struct loop *loop, const struct target *target,
				  const struct process *process,
				  const struct pdb_socket_calls *calls, struct error *error)
{
	struct pdb_socket *wire = xcalloc(1, sizeof(*wire));
	struct error why = ERROR_INIT;

	wire->loop = loop;
	wire->calls = *calls;
	wire->fd = -1;
	wire->pid = process->pid < PROCESS_FIRST_STANDIN ? process->pid : 0;
	wire->uid = process->uid;
	wire->name = xstrdup(target->path ? target->path : target->text);
	buffer_init(&wire->queue, QUEUE_MAXIMUM);
	if (pdb_socket_open_socket(wire, target, &why) < 0) {
		error_set(error, "%s", why.message);
		pdb_socket_free(wire);
		return NULL;
	}
	return wire;
}

int pdb_socket_send(struct pdb_socket *wire, const char *bytes, size_t length, struct error *error)
{
	if (buffer_append(&wire->queue, bytes, length) < 0)
		return error_set(
			error,
			"the debugger does not read its input; it may be stopped by a signal");
	if (!wire->is_connected)
		return 0;
	/* If the write fails, the next read reports the failure. */
	write_queue(wire);
	if (wire->queue.length > 0)
		pdb_socket_watch(wire, LOOP_READABLE | LOOP_WRITABLE);
	return 0;
}

/* True if the peer may have accepted the connection: then the last line must be sent to it. */
static bool pdb_socket_is_there(const struct pdb_socket *wire)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);
	struct error ignored = ERROR_INIT;

	if (wire->is_connected || wire->fd < 0)
		return wire->is_connected;
	return getpeername(wire->fd, (struct sockaddr *)&address, &length) == 0 &&
	       pdb_finder_check_peer(wire->fd, wire->uid, wire->pid, &ignored) == 0;
}

void pdb_socket_leave(struct pdb_socket *owned_wire, struct linger_list *linger_list,
		      const char *bytes, enum linger_when when)
{
	struct pdb_socket *wire = owned_wire;

	if (pdb_socket_is_there(wire)) {
		buffer_append_string(&wire->queue, bytes);
		pdb_socket_stop_watch(wire);
		linger_list_add(linger_list, wire->fd, wire->queue.data, wire->queue.length, when);
		wire->fd = -1;
	}
	pdb_socket_free(wire);
}

#define TOKEN_MAXIMUM 4096

/* Lines that the agent sends (agent/probetui/channel.py). */
static const char question[] = "probetui: send the token first (IPDB_TOKEN_FILE)\n";
static const char refusal[] = "probetui: the token was refused\n";

void socket_token_expect_question(struct socket_token_talk *talk)
{
	*talk = (struct socket_token_talk){ .expected = question };
}

void socket_token_expect_refusal(struct socket_token_talk *talk)
{
	*talk = (struct socket_token_talk){ .expected = refusal };
}

enum socket_token_result socket_token_hear(struct socket_token_talk *talk, const char *bytes,
					   size_t length, size_t *used)
{
	const char *expected = talk->expected;
	size_t i = 0;

	*used = 0;
	if (!expected)
		return SOCKET_TOKEN_NOTHING;
	while (i < length && expected[talk->matched] == bytes[i] &&
	       expected[talk->matched] != '\0') {
		talk->matched++;
		i++;
	}
	if (expected[talk->matched] == '\0') {
		*used = i;
		talk->expected = NULL;
		return expected == question ? SOCKET_TOKEN_ASKED : SOCKET_TOKEN_REFUSED;
	}
	if (i == length)
		return SOCKET_TOKEN_WAIT;
	talk->expected = NULL;
	return SOCKET_TOKEN_NOTHING;
}

/*
 * Reads the file into text and returns its length. Returns -1 and sets *error if it cannot be read.
 */
static ssize_t socket_token_read_file(const char *path, char *text, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat about;
	ssize_t length;

	if (fd < 0 || fstat(fd, &about) < 0) {
		error_set_errno(error, errno,
				"the program asks for a token, but the file %s (IPDB_TOKEN_FILE) "
				"cannot be read",
				path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	length = read(fd, text, TOKEN_MAXIMUM);
	if (length < 0)
		error_set_errno(error, errno,
				"the program asks for a token, but the file %s (IPDB_TOKEN_FILE) "
				"cannot be read",
				path);
	close(fd);
	if (length >= 0 && (about.st_mode & 077) != 0)
		return error_set(error,
				 "the program asks for a token, but other users can read the file "
				 "%s (IPDB_TOKEN_FILE): chmod 600 the file",
				 path);
	return length;
}

/* Returns the text without blanks at both ends, as the agent does, and with a newline. */
static char *socket_token_cut(const char *text, size_t length)
{
	while (length > 0 && isspace((unsigned char)text[length - 1]))
		length--;
	while (length > 0 && isspace((unsigned char)*text)) {
		text++;
		length--;
	}
	return xasprintf("%.*s\n", (int)length, text);
}

char *socket_token_line(struct error *error)
{
	const char *path = getenv("IPDB_TOKEN_FILE");
	const char *token = getenv("IPDB_TOKEN");
	char text[TOKEN_MAXIMUM];
	ssize_t length;

	if (path && *path) {
		length = socket_token_read_file(path, text, error);
		return length < 0 ? NULL : socket_token_cut(text, (size_t)length);
	}
	if (token && *token && !strchr(token, '\n'))
		return xasprintf("%s\n", token);
	error_set(error, "the program asks for a token: set IPDB_TOKEN to the token of the "
			 "program, or IPDB_TOKEN_FILE to a file with it");
	return NULL;
}

struct host_lookup {
	char *host;
	char port[16];
	struct addrinfo *found;
	int number;
	void (*done)(struct addrinfo *owned_found, int number, void *data);
	void *data;
	/* The request was dropped. Set by the loop's thread; never read by the lookup's thread. */
	bool is_cancelled;
};

static void host_lookup_look_up(void *data)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	struct host_lookup *lookup = data;

	lookup->number = getaddrinfo(lookup->host, lookup->port, &hints, &lookup->found);
	if (lookup->number != 0)
		lookup->found = NULL;
}

static void host_lookup_on_found(void *data)
{
	struct host_lookup *lookup = data;

	if (!lookup->is_cancelled)
		lookup->done(lookup->found, lookup->number, lookup->data);
	else if (lookup->found)
		freeaddrinfo(lookup->found);
	free(lookup->host);
	free(lookup);
}

struct host_lookup *
host_lookup_new(struct loop *loop, const char *host, int port,
		void (*done)(struct addrinfo *owned_found, int number, void *data), void *data)
{
	struct host_lookup *lookup = xcalloc(1, sizeof(*lookup));

	lookup->host = xstrdup(host);
	snprintf(lookup->port, sizeof(lookup->port), "%d", port);
	lookup->done = done;
	lookup->data = data;
	loop_work(loop, host_lookup_look_up, host_lookup_on_found, lookup);
	return lookup;
}

void host_lookup_cancel(struct host_lookup *lookup)
{
	if (lookup)
		lookup->is_cancelled = true;
}
