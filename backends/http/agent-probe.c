#include "backends/http/agent-probe.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "banned.h"
#include "backends/http/agent-endpoint.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "protocol/process.h"

#define ANSWER_MAXIMUM (1u << 20)
#define SILENT "Its agent does not answer."

/* Waits until fd has one of the events; -1: none before `until`. */
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
		return error_set(error, "The path of its agent is too long.");
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

/* Reads until the peer closes; -1: an error, no end in time, or too many bytes. */
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
		error_set(error, "What its agent says makes no sense.");
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
