#include "backends/linger.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/loop.h"

/* As much is read in one turn of the loop at most. */
#define READ_SIZE (64u << 10)
/* An answer has come when nothing more comes for so long. */
#define QUIET_SECONDS 0.02
/* So long it is waited for. */
#define ANSWER_SECONDS (LINGER_SECONDS / 2)

struct farewell {
	struct farewells *all;
	struct farewell *next;
	int fd;
	struct buffer bytes; /* not written yet */
	struct loop_watch *watch;
	struct loop_timer *answer; /* they wait for it; NULL: they do not */
	struct loop_timer *timer;
};

struct farewells {
	struct loop *loop;
	struct farewell *first; /* NULL: all are over */
};

struct farewells *farewells_new(struct loop *loop)
{
	struct farewells *farewells = xcalloc(1, sizeof(*farewells));

	farewells->loop = loop;
	return farewells;
}

static void end(struct farewell *farewell)
{
	struct farewell **link = &farewell->all->first;

	while (*link != farewell)
		link = &(*link)->next;
	*link = farewell->next;
	loop_watch_stop(farewell->watch);
	loop_timer_stop(farewell->timer);
	if (farewell->answer)
		loop_timer_stop(farewell->answer);
	close(farewell->fd);
	buffer_clear(&farewell->bytes);
	free(farewell);
}

void farewells_free(struct farewells *farewells)
{
	if (!farewells)
		return;
	while (farewells->first)
		end(farewells->first);
	free(farewells);
}

bool farewells_are_over(const struct farewells *farewells)
{
	return !farewells->first;
}

static bool is_later(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* False: the client has gone. */
static bool put(struct farewell *farewell)
{
	while (farewell->bytes.length > 0) {
		ssize_t sent = send(farewell->fd, farewell->bytes.data, farewell->bytes.length,
				    MSG_NOSIGNAL);

		if (sent < 0)
			return is_later();
		buffer_consume(&farewell->bytes, (size_t)sent);
	}
	return true;
}

static bool drop(struct farewell *farewell)
{
	char bytes[READ_SIZE];
	ssize_t got = recv(farewell->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	return got > 0 || (got < 0 && is_later());
}

static int events_of(const struct farewell *farewell)
{
	return farewell->bytes.length > 0 && !farewell->answer ? LOOP_READABLE | LOOP_WRITABLE
							       : LOOP_READABLE;
}

static void on_ready(int fd, int events, void *data);

static void watch(struct farewell *farewell)
{
	if (farewell->watch)
		loop_watch_stop(farewell->watch);
	farewell->watch = loop_watch(farewell->all->loop, farewell->fd, events_of(farewell),
				     on_ready, farewell);
}

static void on_answered(void *data)
{
	struct farewell *farewell = data;

	loop_timer_stop(farewell->answer);
	farewell->answer = NULL;
	watch(farewell);
}

static void wait_for_answer(struct farewell *farewell, double seconds)
{
	if (farewell->answer)
		loop_timer_stop(farewell->answer);
	farewell->answer = loop_timer(farewell->all->loop, seconds, 0, on_answered, farewell);
}

static void on_ready(int fd, int events, void *data)
{
	struct farewell *farewell = data;
	int before = events_of(farewell);

	(void)fd;
	if (((events & LOOP_WRITABLE) && !put(farewell)) ||
	    ((events & LOOP_READABLE) && !drop(farewell))) {
		end(farewell);
		return;
	}
	if (farewell->answer)
		wait_for_answer(farewell, QUIET_SECONDS);
	else if (events_of(farewell) != before)
		watch(farewell);
}

static void on_late(void *data)
{
	end(data);
}

void farewells_add(struct farewells *farewells, int owned_fd, const char *bytes, size_t length,
		   enum linger_when when)
{
	struct farewell *farewell = xcalloc(1, sizeof(*farewell));

	farewell->all = farewells;
	farewell->next = farewells->first;
	farewells->first = farewell;
	farewell->fd = owned_fd;
	buffer_init(&farewell->bytes, 0);
	buffer_append(&farewell->bytes, bytes, length);
	/* At once: the node may be ended before its next turn. */
	if (when == LINGER_NOW)
		put(farewell);
	else
		wait_for_answer(farewell, ANSWER_SECONDS);
	watch(farewell);
	farewell->timer = loop_timer(farewells->loop, LINGER_SECONDS, 0, on_late, farewell);
}
