/*
 * http-client: HTTP requests, many at a time, on the node's loop. The module
 * probetui-http.so does the work and alone links libcurl: a node without agents
 * does not load it.
 *
 * The client only sends and returns bytes. It uses no redirections, proxies, cookies, .netrc or
 * environment variables; connections are kept open for further requests.
 */
#ifndef BACKENDS_HTTP_HTTP_CLIENT_H
#define BACKENDS_HTTP_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

struct http_multi;
struct http_transfer;
struct error;
struct loop;
struct loop_timer;
struct loop_watch;

enum http_outcome {
	HTTP_ANSWERED,	  /* status and bytes are those of the answer */
	HTTP_UNREACHABLE, /* no listener, or the connection ended */
	HTTP_LATE,	  /* time-out */
	HTTP_DISTRUSTED,  /* TLS: the certificate is not trusted */
	HTTP_UNENCRYPTED, /* the URL is https, and the peer does not use TLS */
	HTTP_UNREADABLE,  /* the answer is not HTTP, or too long */
};

struct http_answer {
	enum http_outcome outcome;
	int status;
	const char *bytes; /* valid during done(), NUL-terminated; never NULL */
	size_t length;
	const char *why; /* text of the error; HTTP_ANSWERED: "" */
};

struct http_request {
	const char *url;
	const char *path; /* path of a Unix socket; NULL: TCP */
	/*
	 * Checks the peer of a new connection to the Unix socket before the first byte is sent. If
	 * it returns -1, the connection is closed.
	 */
	int (*check)(int fd, void *data);
	const char *token;   /* NULL: none */
	const char *ca_file; /* certificates to trust (https); NULL: the system's */
	const char *body;    /* body of a POST, copied; NULL: GET */
	size_t length;
	/*
	 * The peer may close a kept connection before the first byte of the answer: a GET is then
	 * sent again, and also a POST if is_repeatable is true.
	 */
	bool is_repeatable;
	double seconds; /* time-out until the last byte of the answer */
	size_t maximum; /* bytes of the answer, at most */
	/* Called once, from the loop, unless the transfer is cancelled. */
	void (*done)(const struct http_answer *answer, void *data);
	void *data;
};

/* The functions of loop.h that the module uses. */
struct http_loop {
	struct loop *loop;
	struct loop_watch *(*watch)(struct loop *loop, int fd, int events,
				    void (*ready)(int fd, int events, void *data), void *data);
	void (*watch_stop)(struct loop_watch *watch);
	struct loop_timer *(*timer)(struct loop *loop, double delay, double period,
				    void (*due)(void *data), void *data);
	void (*timer_stop)(struct loop_timer *timer);
};

struct http_module {
	/* Returns NULL if libcurl cannot be set up. */
	struct http_multi *(*open)(const struct http_loop *loop);
	/* Cancels all transfers. Not to be called within done(). */
	void (*close)(struct http_multi *multi);
	struct http_transfer *(*send)(struct http_multi *multi, const struct http_request *request);
	void (*cancel)(struct http_transfer *transfer);
};

/* The only symbol of the module. */
#define HTTP_MODULE_NAME "probetui_http_module"

/* Makes a client; the first http_client_send() loads the module. */
struct http_client *http_client_new(struct loop *loop);
void http_client_free(struct http_client *client);
/* Starts a transfer. Returns NULL and sets error, without calling done(), if libcurl is missing or
 * does not accept the URL. */
struct http_transfer *http_client_send(struct http_client *client,
				       const struct http_request *request, struct error *error);
/* Cancels and frees the transfer; done() is not called. */
void http_client_cancel(struct http_client *client, struct http_transfer *transfer);
/* Adds `change` to the number of pending transfers that end a session; the node waits shortly for
 * their answers before it exits. */
void http_client_note_leaving(struct http_client *client, int change);
/* Whether no transfer that ends a session is pending. */
bool http_client_has_left(const struct http_client *client);

#endif
