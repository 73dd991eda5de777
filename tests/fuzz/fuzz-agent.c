/* What an agent answers to each request, and what is asked meanwhile. A line:
 *	A WHAT STATUS BYTES	the oldest request for that is answered: a
 *				command of DAP, "/" or "/events"
 *	F WHAT OUTCOME		it fails, as enum http_outcome has it
 *	R NAME JSON		a request of the pipe
 * This file takes the place of multi.c. Each request of the pipe is to be
 * answered once, and all that is said is to be a message. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "banned.h"
#include "backends/backend.h"
#include "backends/http/http-client.h"
#include "backends/node.h"
#include "backends/target.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "protocol/debugger.h"
#include "protocol/message.h"
#include "protocol/process.h"
#include "tests/fuzz/fuzz.h"

#define REQUESTS_MAXIMUM 200
#define SEQ_FIRST 1000

/*
 * The multi
 */

struct http_transfer {
	struct http_transfer *next;
	char *what;
	void (*done)(const struct http_answer *answer, void *data);
	void *data;
};

static struct http_transfer *transfers; /* the newest first */

struct http_client *http_client_new(struct loop *loop)
{
	(void)loop;
	return NULL;
}

void http_client_free(struct http_client *client)
{
	(void)client;
}

struct http_transfer *http_client_send(struct http_client *client,
				       const struct http_request *request, struct error *error)
{
	struct http_transfer *transfer = xcalloc(1, sizeof(*transfer));
	const char *path = strchr(strstr(request->url, "//") + 2, '/');
	json_t *body = request->body ? json_loadb(request->body, request->length, 0, NULL) : NULL;

	(void)client;
	(void)error;
	/* What is sent is JSON, too. */
	if (request->body && !body)
		abort();
	transfer->what = xstrndup(path, strcspn(path, "?"));
	if (strcmp(transfer->what, "/dap") == 0) {
		free(transfer->what);
		transfer->what = xstrdup(json_get_string(body, "command", ""));
	}
	json_decref(body);
	transfer->done = request->done;
	transfer->data = request->data;
	transfer->next = transfers;
	transfers = transfer;
	return transfer;
}

static void take_out(struct http_transfer *transfer)
{
	struct http_transfer **link = &transfers;

	while (*link != transfer)
		link = &(*link)->next;
	*link = transfer->next;
}

void http_client_cancel(struct http_client *client, struct http_transfer *transfer)
{
	(void)client;
	take_out(transfer);
	free(transfer->what);
	free(transfer);
}

void http_client_note_leaving(struct http_client *client, int change)
{
	(void)client;
	(void)change;
}

bool http_client_has_left(const struct http_client *client)
{
	(void)client;
	return true;
}

/* With a NUL behind, as the multi gives it. */
static void answer(struct http_transfer *transfer, enum http_outcome outcome, int status,
		   const char *bytes)
{
	struct http_answer told = {
		.outcome = outcome,
		.status = status,
		.bytes = bytes,
		.length = strlen(bytes),
		.why = outcome == HTTP_ANSWERED ? "" : "so it is",
	};
	struct http_transfer taken = *transfer;

	take_out(transfer);
	free(transfer->what);
	free(transfer);
	taken.done(&told, taken.data);
}

static struct http_transfer *oldest(const char *what, size_t length)
{
	struct http_transfer *found = NULL;

	for (struct http_transfer *one = transfers; one; one = one->next)
		if (strlen(one->what) == length && strncmp(one->what, what, length) == 0)
			found = one;
	return found;
}

/*
 * The pipe
 */

struct talk {
	struct node *node;
	struct connection *connection;
	int fd;
	struct buffer out;
	int answers[REQUESTS_MAXIMUM]; /* to each request */
	int request_count;
};

static void take_message(struct talk *talk, const char *line, size_t length)
{
	struct error error = ERROR_INIT;
	struct message message;
	int64_t index;

	if (message_parse(&message, line, length, &error) < 0)
		abort();
	index = message.request_seq - SEQ_FIRST;
	if (message.type == MESSAGE_RESPONSE && index >= 0 && index < talk->request_count &&
	    ++talk->answers[index] > 1)
		abort();
	message_clear(&message);
}

static void hear(struct talk *talk)
{
	char bytes[65536];
	char *line;
	char *end;
	ssize_t length;

	node_flush(talk->node);
	while ((length = read(talk->fd, bytes, sizeof(bytes))) > 0) {
		buffer_append(&talk->out, bytes, (size_t)length);
		node_flush(talk->node);
	}
	if (talk->out.length == 0)
		return;
	for (line = talk->out.data; (end = strchr(line, '\n')); line = end + 1)
		take_message(talk, line, (size_t)(end - line));
	buffer_clear(&talk->out);
}

/* Only these are sent to a connection; the node answers the others. */
static const bool is_of_connection[REQUEST_KIND_COUNT] = {
#define REQUEST(name, ...) [REQUEST_##name] = true,
#include "protocol/requests.def"
};

static enum request_kind find_kind(const char *name, size_t length)
{
	for (int i = 0; i < REQUEST_KIND_COUNT; i++) {
		const char *known = request_kind_name((enum request_kind)i);

		if (is_of_connection[i] && strlen(known) == length &&
		    !strncmp(known, name, length))
			return (enum request_kind)i;
	}
	return REQUEST_KIND_COUNT;
}

static void ask(struct talk *talk, const char *text)
{
	size_t length = strcspn(text, " ");
	enum request_kind kind = find_kind(text, length);
	struct error error = ERROR_INIT;
	struct reason reason;
	struct message request;
	json_t *body = json_loads(text + length, 0, NULL);

	if (!json_is_object(body) || kind == REQUEST_KIND_COUNT ||
	    talk->request_count == REQUESTS_MAXIMUM) {
		json_decref(body);
		return;
	}
	message_make_request(&request, request_kind_name(kind), body);
	request.seq = SEQ_FIRST + talk->request_count;
	if (request_check(kind, request.body, NULL) < 0) {
		message_clear(&request);
		return;
	}
	if (!connection_can(talk->connection, kind, &request, &reason)) {
		if (!reason.why[0])
			abort();
	} else if (http_backend.send(talk->connection, kind, &request, &error) < 0) {
		if (!error_is_set(&error))
			abort();
	} else {
		talk->request_count++;
	}
	message_clear(&request);
}

static void follow(struct talk *talk, const char *line)
{
	struct http_transfer *transfer;
	size_t length;
	char *rest;
	long number;

	if (strlen(line) < 2 || line[1] != ' ')
		return;
	if (line[0] == 'R') {
		ask(talk, line + 2);
		return;
	}
	length = strcspn(line + 2, " ");
	transfer = oldest(line + 2, length);
	number = strtol(line + 2 + length, &rest, 10);
	if (!transfer)
		return;
	if (line[0] == 'A')
		answer(transfer, HTTP_ANSWERED, (int)(number % 1000), rest[0] ? rest + 1 : "");
	else if (number > HTTP_ANSWERED && number <= HTTP_UNREADABLE)
		answer(transfer, (enum http_outcome)number, 0, "");
}

static void begin(struct talk *talk, struct loop *loop, const int *ends)
{
	struct process process;
	struct target target;
	struct error error = ERROR_INIT;

	talk->node = node_new(loop, ends[0], ends[3]);
	process_init(&process);
	process.pid = PROCESS_FIRST_STANDIN;
	if (!talk->node || target_parse(&target, "http://localhost:9000", &error) < 0)
		abort();
	talk->connection = http_backend.open(talk->node, &process, &target, &error);
	if (!talk->connection)
		abort();
	target_clear(&target);
	process_clear(&process);
}

static void talk_over(struct talk *talk, const char *text, size_t size)
{
	char *all = xstrndup(text, size);
	char *save = NULL;

	for (char *line = strtok_r(all, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		follow(talk, line);
		hear(talk);
	}
	free(all);
	http_backend.close(talk->connection);
	hear(talk);
	for (int i = 0; i < talk->request_count; i++)
		if (talk->answers[i] != 1)
			abort();
	/* Nobody waits for its lingering socket. */
	while (transfers) {
		if (strcmp(transfers->what, "disconnect") != 0)
			abort();
		answer(transfers, HTTP_LATE, 0, "");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct talk *talk = xcalloc(1, sizeof(*talk));
	struct loop *loop = loop_new();
	int ends[4];

	/* Our end of the node's input stays open. */
	if (pipe(ends) < 0 || pipe(ends + 2) < 0 || fcntl(ends[2], F_SETFL, O_NONBLOCK) < 0)
		abort();
	talk->fd = ends[2];
	begin(talk, loop, ends);
	talk_over(talk, (const char *)data, size);
	node_free(talk->node);
	loop_free(loop);
	for (int i = 0; i < 4; i++)
		close(ends[i]);
	buffer_clear(&talk->out);
	free(talk);
	return 0;
}
