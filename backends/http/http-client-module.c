/*
 * http-client-module: probetui-http.so, the only file that includes libcurl.
 *
 * libcurl reports the sockets and time-outs that it waits for, and the loop watches these. libcurl
 * is called from the loop only. Finished transfers are reported after libcurl has returned, so that
 * their callbacks may send and cancel transfers.
 */
#include "backends/http/http-client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "banned.h"
#include "base/loop.h"

#define CONNECT_SECONDS 5L
/* The agent closes idle connections after a minute. */
#define IDLE_SECONDS 50L
/*
 * Maximum number of idle connections that are kept to one agent, which accepts some dozens from all
 * clients together.
 */
#define KEPT_MAXIMUM 2
/* Maximum number of connections that are kept to all agents together. */
#define CONNECTIONS 1024L

struct http_multi {
	CURLM *curl;
	struct http_loop loop;
	struct loop_timer *timer;
	struct http_transfer *transfers;
	struct wait *waits;
};

/* A socket that libcurl waits for. */
struct wait {
	struct wait *next;
	struct http_multi *multi;
	struct loop_watch *watch;
	int fd;
};

struct http_transfer {
	struct http_transfer *next;
	struct http_multi *multi;
	CURL *easy;
	struct curl_slist *headers;
	int (*check)(int fd, void *data);
	int fd;	      /* socket of a new connection that is not checked yet; -1: none */
	char *path;   /* path of a Unix socket; NULL: TCP */
	bool is_once; /* the request must not be sent a second time */
	bool is_sent;
	bool is_again; /* libcurl has tried to send the request again, which was refused */
	void (*done)(const struct http_answer *answer, void *data);
	void *data;
	char *bytes;
	size_t length;
	size_t capacity;
	size_t maximum;
	char why[CURL_ERROR_SIZE];
};

static const char version_name[] = "probetui";

/*
 * Transfers
 */

static void transfer_free(struct http_transfer *transfer)
{
	struct http_transfer **link = &transfer->multi->transfers;

	while (*link != transfer)
		link = &(*link)->next;
	*link = transfer->next;
	curl_multi_remove_handle(transfer->multi->curl, transfer->easy);
	curl_easy_cleanup(transfer->easy);
	curl_slist_free_all(transfer->headers);
	free(transfer->bytes);
	free(transfer->path);
	free(transfer);
}

/* Appends received bytes. A result less than length makes libcurl end the transfer. */
static size_t http_client_module_on_bytes(char *bytes, size_t one, size_t length, void *data)
{
	struct http_transfer *transfer = data;
	size_t wanted = transfer->length + length + 1;

	(void)one;
	if (length > transfer->maximum - transfer->length)
		return 0;
	if (wanted > transfer->capacity) {
		size_t capacity = wanted * 2;
		char *grown = realloc(transfer->bytes, capacity);

		if (!grown)
			return 0;
		transfer->bytes = grown;
		transfer->capacity = capacity;
	}
	memcpy(transfer->bytes + transfer->length, bytes, length);
	transfer->length += length;
	transfer->bytes[transfer->length] = '\0';
	return length;
}

static curl_socket_t on_open(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct http_transfer *transfer = data;

	(void)purpose;
	transfer->fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
	return transfer->fd < 0 ? CURL_SOCKET_BAD : transfer->fd;
}

/*
 * Called before a request is sent on a connection. If a kept connection closes without an answer,
 * libcurl sends the request again: a request that runs code must not be sent twice, unless the
 * agent drops repeated requests (is_repeatable).
 */
static int http_client_module_on_connected(void *data, char *address, char *own, int port,
					   int own_port)
{
	struct http_transfer *transfer = data;

	(void)address;
	(void)own;
	(void)port;
	(void)own_port;
	if (transfer->fd >= 0 && transfer->check(transfer->fd, transfer->data) < 0)
		return CURL_PREREQFUNC_ABORT;
	transfer->fd = -1;
	if (transfer->is_once && transfer->is_sent) {
		transfer->is_again = true;
		return CURL_PREREQFUNC_ABORT;
	}
	transfer->is_sent = true;
	return CURL_PREREQFUNC_OK;
}

static const struct {
	CURLcode code;
	enum http_outcome outcome;
} outcomes[] = {
	{ CURLE_OPERATION_TIMEDOUT, HTTP_LATE },
	{ CURLE_PEER_FAILED_VERIFICATION, HTTP_DISTRUSTED },
	{ CURLE_SSL_CACERT_BADFILE, HTTP_DISTRUSTED },
	{ CURLE_SSL_CONNECT_ERROR, HTTP_DISTRUSTED },
	{ CURLE_SSL_ISSUER_ERROR, HTTP_DISTRUSTED },
	{ CURLE_WRITE_ERROR, HTTP_UNREADABLE },
	{ CURLE_WEIRD_SERVER_REPLY, HTTP_UNREADABLE },
	{ CURLE_UNSUPPORTED_PROTOCOL, HTTP_UNREADABLE },
	{ CURLE_BAD_CONTENT_ENCODING, HTTP_UNREADABLE },
	{ CURLE_HTTP2, HTTP_UNREADABLE },
};

static enum http_outcome outcome_of(CURLcode code)
{
	if (code == CURLE_OK)
		return HTTP_ANSWERED;
	for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++)
		if (outcomes[i].code == code)
			return outcomes[i].outcome;
	return HTTP_UNREACHABLE;
}

/* Parts of the messages of OpenSSL and GnuTLS for a peer that does not use TLS. */
static const char *const plain_words[] = {
	"wrong version number",
	"packet length too long",
	"unexpected TLS packet",
	"record layer failure",
};

static bool is_unencrypted(const struct http_transfer *transfer, CURLcode code)
{
	if (code != CURLE_SSL_CONNECT_ERROR)
		return false;
	for (size_t i = 0; i < sizeof(plain_words) / sizeof(plain_words[0]); i++)
		if (strstr(transfer->why, plain_words[i]))
			return true;
	return false;
}

/* Returns a message for a time-out in place of libcurl's, which has milliseconds. */
static const char *explain_late(struct http_transfer *transfer)
{
	curl_off_t connected = 0;
	curl_off_t took = 0;

	curl_easy_getinfo(transfer->easy, CURLINFO_CONNECT_TIME_T, &connected);
	curl_easy_getinfo(transfer->easy, CURLINFO_TOTAL_TIME_T, &took);
	snprintf(transfer->why, sizeof(transfer->why), "%s within %.3g s",
		 transfer->length > 0		   ? "incomplete answer"
		 : connected > 0 || transfer->path ? "no answer"
						   : "no connection",
		 (double)(took / 100000) / 10);
	return transfer->why;
}

static const char *http_client_module_explain(struct http_transfer *transfer, CURLcode code)
{
	if (code == CURLE_OPERATION_TIMEDOUT)
		return explain_late(transfer);
	if (transfer->is_again || code == CURLE_GOT_NOTHING)
		return "the connection was closed before the answer";
	/* libcurl's message names a host and a port, which a Unix socket does not have. */
	if (transfer->path && code == CURLE_COULDNT_CONNECT)
		return "no process listens on the socket";
	return transfer->why[0] ? transfer->why : curl_easy_strerror(code);
}

static void http_client_module_finish(struct http_transfer *transfer, CURLcode code)
{
	struct http_answer answer = {
		.outcome = outcome_of(code),
		.bytes = transfer->bytes ? transfer->bytes : "",
		.length = transfer->length,
		.why = "",
	};
	long status = 0;

	curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
	answer.status = (int)status;
	if (is_unencrypted(transfer, code))
		answer.outcome = HTTP_UNENCRYPTED;
	if (code != CURLE_OK)
		answer.why = http_client_module_explain(transfer, code);
	transfer->done(&answer, transfer->data);
}

/* Reports finished transfers; a callback may send and cancel other transfers. */
static void http_client_module_tell(struct http_multi *multi)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(multi->curl, &left))) {
		struct http_transfer *transfer;
		CURLcode code = message->data.result;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
		http_client_module_finish(transfer, code);
		transfer_free(transfer);
	}
}

/*
 * Sockets and time-outs of libcurl
 */

static void act(struct http_multi *multi, curl_socket_t fd, int events)
{
	int running;

	curl_multi_socket_action(multi->curl, fd, events, &running);
	http_client_module_tell(multi);
}

static void http_client_module_on_ready(int fd, int events, void *data)
{
	struct wait *wait = data;

	act(wait->multi, fd,
	    (events & LOOP_READABLE ? CURL_CSELECT_IN : 0) |
		    (events & LOOP_WRITABLE ? CURL_CSELECT_OUT : 0));
}

static void wait_free(struct wait *wait)
{
	struct wait **link = &wait->multi->waits;

	while (*link != wait)
		link = &(*link)->next;
	*link = wait->next;
	if (wait->watch)
		wait->multi->loop.watch_stop(wait->watch);
	free(wait);
}

static struct wait *wait_new(struct http_multi *multi, curl_socket_t fd)
{
	struct wait *wait = calloc(1, sizeof(*wait));

	if (!wait)
		return NULL;
	wait->multi = multi;
	wait->fd = fd;
	wait->next = multi->waits;
	multi->waits = wait;
	curl_multi_assign(multi->curl, fd, wait);
	return wait;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *known)
{
	struct http_multi *multi = data;
	struct wait *wait = known;
	int events = (what & CURL_POLL_IN ? LOOP_READABLE : 0) |
		     (what & CURL_POLL_OUT ? LOOP_WRITABLE : 0);

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (wait)
			wait_free(wait);
		curl_multi_assign(multi->curl, fd, NULL);
		return 0;
	}
	if (!wait)
		wait = wait_new(multi, fd);
	if (!wait)
		return -1;
	if (wait->watch)
		multi->loop.watch_stop(wait->watch);
	wait->watch =
		multi->loop.watch(multi->loop.loop, fd, events, http_client_module_on_ready, wait);
	return 0;
}

static void http_client_module_on_due(void *data)
{
	struct http_multi *multi = data;

	multi->loop.timer_stop(multi->timer);
	multi->timer = NULL;
	act(multi, CURL_SOCKET_TIMEOUT, 0);
}

static int http_client_module_on_timer(CURLM *curl, long milliseconds, void *data)
{
	struct http_multi *multi = data;

	(void)curl;
	if (multi->timer)
		multi->loop.timer_stop(multi->timer);
	multi->timer = NULL;
	if (milliseconds >= 0)
		multi->timer = multi->loop.timer(multi->loop.loop, (double)milliseconds / 1000, 0,
						 http_client_module_on_due, multi);
	return 0;
}

/*
 * The module
 */

static struct http_multi *http_client_module_module_open(const struct http_loop *loop)
{
	struct http_multi *multi;

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return NULL;
	multi = calloc(1, sizeof(*multi));
	if (!multi)
		return NULL;
	multi->loop = *loop;
	multi->curl = curl_multi_init();
	if (!multi->curl) {
		free(multi);
		return NULL;
	}
	curl_multi_setopt(multi->curl, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(multi->curl, CURLMOPT_SOCKETDATA, multi);
	curl_multi_setopt(multi->curl, CURLMOPT_TIMERFUNCTION, http_client_module_on_timer);
	curl_multi_setopt(multi->curl, CURLMOPT_TIMERDATA, multi);
	curl_multi_setopt(multi->curl, CURLMOPT_MAXCONNECTS, CONNECTIONS);
	return multi;
}

static void http_client_module_module_close(struct http_multi *multi)
{
	while (multi->transfers)
		transfer_free(multi->transfers);
	curl_multi_cleanup(multi->curl);
	while (multi->waits)
		wait_free(multi->waits);
	if (multi->timer)
		multi->loop.timer_stop(multi->timer);
	free(multi);
}

static void set_headers(struct http_transfer *transfer, const struct http_request *request)
{
	struct curl_slist *headers = NULL;

	if (request->body)
		headers = curl_slist_append(headers, "Content-Type: application/json");
	/* Without this, libcurl may send "Expect: 100-continue" and wait before the body. */
	headers = curl_slist_append(headers, "Expect:");
	headers = curl_slist_append(headers, "Accept:");
	transfer->headers = headers;
	curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, headers);
	if (!request->token)
		return;
	curl_easy_setopt(transfer->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
	curl_easy_setopt(transfer->easy, CURLOPT_XOAUTH2_BEARER, request->token);
}

/*
 * True if KEPT_MAXIMUM or more other transfers use the same socket: their connections are kept, so
 * that of this transfer need not be kept.
 */
static bool has_others(const struct http_transfer *transfer)
{
	const struct http_transfer *other = transfer->multi->transfers;
	int count = 0;

	for (; other; other = other->next)
		count += other != transfer && other->path && transfer->path &&
			 strcmp(other->path, transfer->path) == 0;
	return count >= KEPT_MAXIMUM;
}

static void set_way(struct http_transfer *transfer, const struct http_request *request)
{
	CURL *easy = transfer->easy;

	curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, http_client_module_on_connected);
	curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, IDLE_SECONDS);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (request->ca_file)
		curl_easy_setopt(easy, CURLOPT_CAINFO, request->ca_file);
	if (!request->path)
		return;
	curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, request->path);
	transfer->path = strdup(request->path);
	if (has_others(transfer))
		curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer);
}

static void set_body(struct http_transfer *transfer, const struct http_request *request)
{
	CURL *easy = transfer->easy;

	if (!request->body)
		return;
	transfer->is_once = !request->is_repeatable;
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->length);
	curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, request->body);
}

static struct http_transfer *transfer_new(struct http_multi *multi,
					  const struct http_request *request)
{
	struct http_transfer *transfer = calloc(1, sizeof(*transfer));

	if (!transfer)
		return NULL;
	transfer->multi = multi;
	transfer->check = request->check;
	transfer->fd = -1;
	transfer->done = request->done;
	transfer->data = request->data;
	transfer->maximum = request->maximum;
	transfer->next = multi->transfers;
	multi->transfers = transfer;
	transfer->easy = curl_easy_init();
	return transfer;
}

static struct http_transfer *module_send(struct http_multi *multi,
					 const struct http_request *request)
{
	struct http_transfer *transfer = transfer_new(multi, request);
	CURL *easy = transfer ? transfer->easy : NULL;

	if (!transfer)
		return NULL;
	curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->why);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, version_name);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, http_client_module_on_bytes);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(request->seconds * 1000) + 1);
	set_way(transfer, request);
	set_headers(transfer, request);
	set_body(transfer, request);
	if (curl_easy_setopt(easy, CURLOPT_URL, request->url) == CURLE_OK &&
	    curl_multi_add_handle(multi->curl, easy) == CURLM_OK)
		return transfer;
	transfer_free(transfer);
	return NULL;
}

__attribute__((visibility("default"))) extern const struct http_module probetui_http_module;
const struct http_module probetui_http_module = {
	.open = http_client_module_module_open,
	.close = http_client_module_module_close,
	.send = module_send,
	.cancel = transfer_free,
};
