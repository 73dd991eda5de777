#include "backends/linger.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/loop.h"

/* Maximum number of bytes read from a socket in one turn of the loop. */
#define READ_SIZE (64u << 10)
/* The peer's answer is taken to be complete when nothing has arrived for this time. */
#define QUIET_SECONDS 0.02
/* The longest wait for an answer. */
#define ANSWER_SECONDS (LINGER_SECONDS / 2)

struct linger_socket {
	struct linger_list *all;
	struct linger_socket *next;
	int fd;
	struct buffer bytes; /* bytes that are not written yet */
	struct loop_watch *watch;
	struct loop_timer *answer; /* runs while `bytes` is held back until the peer's answer has
				    * arrived; NULL: not held back */
	struct loop_timer *timer;
};

struct linger_list {
	struct loop *loop;
	struct linger_socket *first; /* list of the open sockets; NULL: all are closed */
};

struct linger_list *linger_list_new(struct loop *loop)
{
	struct linger_list *linger_list = xcalloc(1, sizeof(*linger_list));

	linger_list->loop = loop;
	return linger_list;
}

static void linger_end(struct linger_socket *linger_socket)
{
	struct linger_socket **link = &linger_socket->all->first;

	while (*link != linger_socket)
		link = &(*link)->next;
	*link = linger_socket->next;
	loop_watch_stop(linger_socket->watch);
	loop_timer_stop(linger_socket->timer);
	if (linger_socket->answer)
		loop_timer_stop(linger_socket->answer);
	close(linger_socket->fd);
	buffer_clear(&linger_socket->bytes);
	free(linger_socket);
}

void linger_list_free(struct linger_list *linger_list)
{
	if (!linger_list)
		return;
	while (linger_list->first)
		linger_end(linger_list->first);
	free(linger_list);
}

bool linger_list_are_over(const struct linger_list *linger_list)
{
	return !linger_list->first;
}

static bool is_later(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* Writes as many bytes as the socket takes. Returns false if the peer has closed its end. */
static bool linger_put(struct linger_socket *linger_socket)
{
	while (linger_socket->bytes.length > 0) {
		ssize_t sent = send(linger_socket->fd, linger_socket->bytes.data,
				    linger_socket->bytes.length, MSG_NOSIGNAL);

		if (sent < 0)
			return is_later();
		buffer_consume(&linger_socket->bytes, (size_t)sent);
	}
	return true;
}

static bool linger_drop(struct linger_socket *linger_socket)
{
	char bytes[READ_SIZE];
	ssize_t got = recv(linger_socket->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	return got > 0 || (got < 0 && is_later());
}

static int events_of(const struct linger_socket *linger_socket)
{
	return linger_socket->bytes.length > 0 && !linger_socket->answer
		       ? LOOP_READABLE | LOOP_WRITABLE
		       : LOOP_READABLE;
}

static void linger_on_ready(int fd, int events, void *data);

static void linger_watch(struct linger_socket *linger_socket)
{
	if (linger_socket->watch)
		loop_watch_stop(linger_socket->watch);
	linger_socket->watch = loop_watch(linger_socket->all->loop, linger_socket->fd,
					  events_of(linger_socket), linger_on_ready, linger_socket);
}

static void on_answered(void *data)
{
	struct linger_socket *linger_socket = data;

	loop_timer_stop(linger_socket->answer);
	linger_socket->answer = NULL;
	linger_watch(linger_socket);
}

static void wait_for_answer(struct linger_socket *linger_socket, double seconds)
{
	if (linger_socket->answer)
		loop_timer_stop(linger_socket->answer);
	linger_socket->answer =
		loop_timer(linger_socket->all->loop, seconds, 0, on_answered, linger_socket);
}

static void linger_on_ready(int fd, int events, void *data)
{
	struct linger_socket *linger_socket = data;
	int before = events_of(linger_socket);

	(void)fd;
	if (((events & LOOP_WRITABLE) && !linger_put(linger_socket)) ||
	    ((events & LOOP_READABLE) && !linger_drop(linger_socket))) {
		linger_end(linger_socket);
		return;
	}
	if (linger_socket->answer)
		wait_for_answer(linger_socket, QUIET_SECONDS);
	else if (events_of(linger_socket) != before)
		linger_watch(linger_socket);
}

static void linger_on_late(void *data)
{
	linger_end(data);
}

void linger_list_add(struct linger_list *linger_list, int owned_fd, const char *bytes,
		     size_t length, enum linger_when when)
{
	struct linger_socket *linger_socket = xcalloc(1, sizeof(*linger_socket));

	linger_socket->all = linger_list;
	linger_socket->next = linger_list->first;
	linger_list->first = linger_socket;
	linger_socket->fd = owned_fd;
	buffer_init(&linger_socket->bytes, 0);
	buffer_append(&linger_socket->bytes, bytes, length);
	/* Written at once, because the node may exit before the loop's next turn. */
	if (when == LINGER_NOW)
		linger_put(linger_socket);
	else
		wait_for_answer(linger_socket, ANSWER_SECONDS);
	linger_watch(linger_socket);
	linger_socket->timer =
		loop_timer(linger_list->loop, LINGER_SECONDS, 0, linger_on_late, linger_socket);
}
