/*
 * carrier: HTTP requests, many at a time, on the node's loop. What does that
 * is the module probetui-http.so, the only one that links libcurl: a verdict
 * about processes that have no agent does not pay for loading it.
 *
 * It knows bytes, nothing of agents or JSON. Nothing is followed, looked up
 * in the environment or kept but connections: no redirection, no proxy, no
 * cookie, no .netrc.
 */
#ifndef BACKENDS_HTTP_CARRIER_H
#define BACKENDS_HTTP_CARRIER_H

#include <stdbool.h>
#include <stddef.h>

struct carrier;
struct carrier_letter;
struct error;
struct loop;
struct loop_timer;
struct loop_watch;

enum carrier_outcome {
	CARRIER_ANSWERED,    /* status and bytes are what came */
	CARRIER_UNREACHABLE, /* no listener, or it left in the middle */
	CARRIER_LATE,	     /* its time was over */
	CARRIER_DISTRUSTED,  /* TLS: it is not who it should be */
	CARRIER_UNENCRYPTED, /* TLS was asked for, and is not spoken there */
	CARRIER_UNREADABLE,  /* what came is no HTTP, or too long */
};

struct carrier_answer {
	enum carrier_outcome outcome;
	int status;
	const char *bytes; /* lent, with a NUL behind; never NULL */
	size_t length;
	const char *why; /* what libcurl says; "" of CARRIER_ANSWERED */
};

struct carrier_request {
	const char *url;
	const char *path; /* of a Unix socket; NULL: TCP */
	/*
	 * Of that: whether who is at the other end of a new connection is to
	 * be sent anything. Called before the first byte; -1: it is closed.
	 */
	int (*check)(int fd, void *data);
	const char *token;   /* NULL: none */
	const char *ca_file; /* of https; NULL: the system's */
	const char *body;    /* NULL: GET; it is copied */
	size_t length;
	/*
	 * Where a kept connection ends before a byte of the answer, a GET is
	 * sent again, and a POST that is not done twice by that.
	 */
	bool is_repeatable;
	double seconds; /* from now on to the last byte */
	size_t maximum; /* bytes of an answer */
	/* Called once, from the loop, unless it is cancelled before. */
	void (*done)(const struct carrier_answer *answer, void *data);
	void *data;
};

/* What the module takes of loop.h. */
struct carrier_loop {
	struct loop *loop;
	struct loop_watch *(*watch)(struct loop *loop, int fd, int events,
				    void (*ready)(int fd, int events, void *data), void *data);
	void (*watch_stop)(struct loop_watch *watch);
	struct loop_timer *(*timer)(struct loop *loop, double delay, double period,
				    void (*due)(void *data), void *data);
	void (*timer_stop)(struct loop_timer *timer);
};

struct carrier_module {
	/* NULL: libcurl cannot be set up. */
	struct carrier *(*open)(const struct carrier_loop *loop);
	/* What is under way is cancelled. Not from within done. */
	void (*close)(struct carrier *carrier);
	struct carrier_letter *(*send)(struct carrier *carrier,
				       const struct carrier_request *request);
	void (*cancel)(struct carrier_letter *letter);
};

/* The module's only name. */
#define CARRIER_MODULE_NAME "probetui_carrier_module"

/* The node's carrier, opened at the first call; NULL and a sentence. */
struct carrier_office *carrier_office_new(struct loop *loop);
void carrier_office_free(struct carrier_office *office);
struct carrier_letter *carrier_send(struct carrier_office *office,
				    const struct carrier_request *request, struct error *error);
void carrier_cancel(struct carrier_office *office, struct carrier_letter *letter);
/* Letters that are sent on leaving: the node waits for their answers a bit. */
void carrier_note_leaving(struct carrier_office *office, int change);
bool carrier_has_left(const struct carrier_office *office);

#endif
