/*
 * carrier-module: the only file that includes libcurl.
 *
 * libcurl says which sockets it waits for and when it wants to be called
 * again; the loop watches and counts for it. It is called from the loop only,
 * and finished transfers are reported after it has returned, so that their
 * callbacks may send and cancel.
 */
#include "backends/http/carrier.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "banned.h"
#include "base/loop.h"

#define CONNECT_SECONDS 5L
/* The agent closes after a minute. */
#define IDLE_SECONDS 50L
/* Of one agent: it has room for some dozens, of all its clients. */
#define KEPT_MAXIMUM 2
/* Of all agents together: kept open between requests. */
#define CONNECTIONS 1024L

struct carrier {
	CURLM *multi;
	struct carrier_loop loop;
	struct loop_timer *timer;
	struct carrier_letter *letters;
	struct wait *waits;
};

/* A socket that libcurl waits for. */
struct wait {
	struct wait *next;
	struct carrier *carrier;
	struct loop_watch *watch;
	int fd;
};

struct carrier_letter {
	struct carrier_letter *next;
	struct carrier *carrier;
	CURL *easy;
	struct curl_slist *headers;
	int (*check)(int fd, void *data);
	int fd;	      /* of a connection that is new; -1 */
	char *path;   /* of a Unix socket; NULL: there is none */
	bool is_once; /* not to be sent a second time */
	bool is_sent;
	bool is_again; /* and was not sent a second time */
	void (*done)(const struct carrier_answer *answer, void *data);
	void *data;
	char *bytes;
	size_t length;
	size_t capacity;
	size_t maximum;
	char why[CURL_ERROR_SIZE];
};

static const char version_name[] = "probetui";

/*
 * Letters
 */

static void letter_free(struct carrier_letter *letter)
{
	struct carrier_letter **link = &letter->carrier->letters;

	while (*link != letter)
		link = &(*link)->next;
	*link = letter->next;
	curl_multi_remove_handle(letter->carrier->multi, letter->easy);
	curl_easy_cleanup(letter->easy);
	curl_slist_free_all(letter->headers);
	free(letter->bytes);
	free(letter->path);
	free(letter);
}

/* Less than was given: libcurl ends the exchange. */
static size_t on_bytes(char *bytes, size_t one, size_t length, void *data)
{
	struct carrier_letter *letter = data;
	size_t wanted = letter->length + length + 1;

	(void)one;
	if (length > letter->maximum - letter->length)
		return 0;
	if (wanted > letter->capacity) {
		size_t capacity = wanted * 2;
		char *grown = realloc(letter->bytes, capacity);

		if (!grown)
			return 0;
		letter->bytes = grown;
		letter->capacity = capacity;
	}
	memcpy(letter->bytes + letter->length, bytes, length);
	letter->length += length;
	letter->bytes[letter->length] = '\0';
	return length;
}

static curl_socket_t on_open(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct carrier_letter *letter = data;

	(void)purpose;
	letter->fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
	return letter->fd < 0 ? CURL_SOCKET_BAD : letter->fd;
}

/*
 * Connected, and nothing was sent on this connection. libcurl sends again
 * what a kept one has taken before it closed: what runs code must not come
 * twice, unless who takes it sees to that.
 */
static int on_connected(void *data, char *address, char *own, int port, int own_port)
{
	struct carrier_letter *letter = data;

	(void)address;
	(void)own;
	(void)port;
	(void)own_port;
	if (letter->fd >= 0 && letter->check(letter->fd, letter->data) < 0)
		return CURL_PREREQFUNC_ABORT;
	letter->fd = -1;
	if (letter->is_once && letter->is_sent) {
		letter->is_again = true;
		return CURL_PREREQFUNC_ABORT;
	}
	letter->is_sent = true;
	return CURL_PREREQFUNC_OK;
}

static const struct {
	CURLcode code;
	enum carrier_outcome outcome;
} outcomes[] = {
	{ CURLE_OPERATION_TIMEDOUT, CARRIER_LATE },
	{ CURLE_PEER_FAILED_VERIFICATION, CARRIER_DISTRUSTED },
	{ CURLE_SSL_CACERT_BADFILE, CARRIER_DISTRUSTED },
	{ CURLE_SSL_CONNECT_ERROR, CARRIER_DISTRUSTED },
	{ CURLE_SSL_ISSUER_ERROR, CARRIER_DISTRUSTED },
	{ CURLE_WRITE_ERROR, CARRIER_UNREADABLE },
	{ CURLE_WEIRD_SERVER_REPLY, CARRIER_UNREADABLE },
	{ CURLE_UNSUPPORTED_PROTOCOL, CARRIER_UNREADABLE },
	{ CURLE_BAD_CONTENT_ENCODING, CARRIER_UNREADABLE },
	{ CURLE_HTTP2, CARRIER_UNREADABLE },
};

static enum carrier_outcome outcome_of(CURLcode code)
{
	if (code == CURLE_OK)
		return CARRIER_ANSWERED;
	for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++)
		if (outcomes[i].code == code)
			return outcomes[i].outcome;
	return CARRIER_UNREACHABLE;
}

/* What OpenSSL and GnuTLS call what is no TLS at all. */
static const char *const plain_words[] = {
	"wrong version number",
	"packet length too long",
	"unexpected TLS packet",
	"record layer failure",
};

static bool is_unencrypted(const struct carrier_letter *letter, CURLcode code)
{
	if (code != CURLE_SSL_CONNECT_ERROR)
		return false;
	for (size_t i = 0; i < sizeof(plain_words) / sizeof(plain_words[0]); i++)
		if (strstr(letter->why, plain_words[i]))
			return true;
	return false;
}

/* libcurl says it in milliseconds. */
static const char *explain_late(struct carrier_letter *letter)
{
	curl_off_t connected = 0;
	curl_off_t took = 0;

	curl_easy_getinfo(letter->easy, CURLINFO_CONNECT_TIME_T, &connected);
	curl_easy_getinfo(letter->easy, CURLINFO_TOTAL_TIME_T, &took);
	snprintf(letter->why, sizeof(letter->why), "%s within %.3g s",
		 letter->length > 0		 ? "not all of it came"
		 : connected > 0 || letter->path ? "nothing came"
						 : "no connection came about",
		 (double)(took / 100000) / 10);
	return letter->why;
}

static const char *explain(struct carrier_letter *letter, CURLcode code)
{
	if (code == CURLE_OPERATION_TIMEDOUT)
		return explain_late(letter);
	if (letter->is_again || code == CURLE_GOT_NOTHING)
		return "the connection ended before the answer";
	/* libcurl names a machine and a port, where there are none. */
	if (letter->path && code == CURLE_COULDNT_CONNECT)
		return "no process listens at its socket";
	return letter->why[0] ? letter->why : curl_easy_strerror(code);
}

static void finish(struct carrier_letter *letter, CURLcode code)
{
	struct carrier_answer answer = {
		.outcome = outcome_of(code),
		.bytes = letter->bytes ? letter->bytes : "",
		.length = letter->length,
		.why = "",
	};
	long status = 0;

	curl_easy_getinfo(letter->easy, CURLINFO_RESPONSE_CODE, &status);
	answer.status = (int)status;
	if (is_unencrypted(letter, code))
		answer.outcome = CARRIER_UNENCRYPTED;
	if (code != CURLE_OK)
		answer.why = explain(letter, code);
	letter->done(&answer, letter->data);
}

/* A callback may send other letters and cancel them. */
static void tell(struct carrier *carrier)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(carrier->multi, &left))) {
		struct carrier_letter *letter;
		CURLcode code = message->data.result;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&letter);
		finish(letter, code);
		letter_free(letter);
	}
}

/*
 * What libcurl waits for
 */

static void act(struct carrier *carrier, curl_socket_t fd, int events)
{
	int running;

	curl_multi_socket_action(carrier->multi, fd, events, &running);
	tell(carrier);
}

static void on_ready(int fd, int events, void *data)
{
	struct wait *wait = data;

	act(wait->carrier, fd,
	    (events & LOOP_READABLE ? CURL_CSELECT_IN : 0) |
		    (events & LOOP_WRITABLE ? CURL_CSELECT_OUT : 0));
}

static void wait_free(struct wait *wait)
{
	struct wait **link = &wait->carrier->waits;

	while (*link != wait)
		link = &(*link)->next;
	*link = wait->next;
	if (wait->watch)
		wait->carrier->loop.watch_stop(wait->watch);
	free(wait);
}

static struct wait *wait_new(struct carrier *carrier, curl_socket_t fd)
{
	struct wait *wait = calloc(1, sizeof(*wait));

	if (!wait)
		return NULL;
	wait->carrier = carrier;
	wait->fd = fd;
	wait->next = carrier->waits;
	carrier->waits = wait;
	curl_multi_assign(carrier->multi, fd, wait);
	return wait;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *known)
{
	struct carrier *carrier = data;
	struct wait *wait = known;
	int events = (what & CURL_POLL_IN ? LOOP_READABLE : 0) |
		     (what & CURL_POLL_OUT ? LOOP_WRITABLE : 0);

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (wait)
			wait_free(wait);
		curl_multi_assign(carrier->multi, fd, NULL);
		return 0;
	}
	if (!wait)
		wait = wait_new(carrier, fd);
	if (!wait)
		return -1;
	if (wait->watch)
		carrier->loop.watch_stop(wait->watch);
	wait->watch = carrier->loop.watch(carrier->loop.loop, fd, events, on_ready, wait);
	return 0;
}

static void on_due(void *data)
{
	struct carrier *carrier = data;

	carrier->loop.timer_stop(carrier->timer);
	carrier->timer = NULL;
	act(carrier, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer(CURLM *multi, long milliseconds, void *data)
{
	struct carrier *carrier = data;

	(void)multi;
	if (carrier->timer)
		carrier->loop.timer_stop(carrier->timer);
	carrier->timer = NULL;
	if (milliseconds >= 0)
		carrier->timer = carrier->loop.timer(
			carrier->loop.loop, (double)milliseconds / 1000, 0, on_due, carrier);
	return 0;
}

/*
 * The module
 */

static struct carrier *module_open(const struct carrier_loop *loop)
{
	struct carrier *carrier;

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return NULL;
	carrier = calloc(1, sizeof(*carrier));
	if (!carrier)
		return NULL;
	carrier->loop = *loop;
	carrier->multi = curl_multi_init();
	if (!carrier->multi) {
		free(carrier);
		return NULL;
	}
	curl_multi_setopt(carrier->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(carrier->multi, CURLMOPT_SOCKETDATA, carrier);
	curl_multi_setopt(carrier->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(carrier->multi, CURLMOPT_TIMERDATA, carrier);
	curl_multi_setopt(carrier->multi, CURLMOPT_MAXCONNECTS, CONNECTIONS);
	return carrier;
}

static void module_close(struct carrier *carrier)
{
	while (carrier->letters)
		letter_free(carrier->letters);
	curl_multi_cleanup(carrier->multi);
	while (carrier->waits)
		wait_free(carrier->waits);
	if (carrier->timer)
		carrier->loop.timer_stop(carrier->timer);
	free(carrier);
}

static void set_headers(struct carrier_letter *letter, const struct carrier_request *request)
{
	struct curl_slist *headers = NULL;

	if (request->body)
		headers = curl_slist_append(headers, "Content-Type: application/json");
	/* No "Expect: 100-continue" before the body. */
	headers = curl_slist_append(headers, "Expect:");
	headers = curl_slist_append(headers, "Accept:");
	letter->headers = headers;
	curl_easy_setopt(letter->easy, CURLOPT_HTTPHEADER, headers);
	if (!request->token)
		return;
	curl_easy_setopt(letter->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
	curl_easy_setopt(letter->easy, CURLOPT_XOAUTH2_BEARER, request->token);
}

/* Whether others to the same socket are under way, for which it is kept. */
static bool has_others(const struct carrier_letter *letter)
{
	const struct carrier_letter *other = letter->carrier->letters;
	int count = 0;

	for (; other; other = other->next)
		count += other != letter && other->path && letter->path &&
			 strcmp(other->path, letter->path) == 0;
	return count >= KEPT_MAXIMUM;
}

static void set_way(struct carrier_letter *letter, const struct carrier_request *request)
{
	CURL *easy = letter->easy;

	curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected);
	curl_easy_setopt(easy, CURLOPT_PREREQDATA, letter);
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
	letter->path = strdup(request->path);
	if (has_others(letter))
		curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, letter);
}

static void set_body(struct carrier_letter *letter, const struct carrier_request *request)
{
	CURL *easy = letter->easy;

	if (!request->body)
		return;
	letter->is_once = !request->is_repeatable;
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->length);
	curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, request->body);
}

static struct carrier_letter *letter_new(struct carrier *carrier,
					 const struct carrier_request *request)
{
	struct carrier_letter *letter = calloc(1, sizeof(*letter));

	if (!letter)
		return NULL;
	letter->carrier = carrier;
	letter->check = request->check;
	letter->fd = -1;
	letter->done = request->done;
	letter->data = request->data;
	letter->maximum = request->maximum;
	letter->next = carrier->letters;
	carrier->letters = letter;
	letter->easy = curl_easy_init();
	return letter;
}

static struct carrier_letter *module_send(struct carrier *carrier,
					  const struct carrier_request *request)
{
	struct carrier_letter *letter = letter_new(carrier, request);
	CURL *easy = letter ? letter->easy : NULL;

	if (!letter)
		return NULL;
	curl_easy_setopt(easy, CURLOPT_PRIVATE, letter);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, letter->why);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, version_name);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, letter);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(request->seconds * 1000) + 1);
	set_way(letter, request);
	set_headers(letter, request);
	set_body(letter, request);
	if (curl_easy_setopt(easy, CURLOPT_URL, request->url) == CURLE_OK &&
	    curl_multi_add_handle(carrier->multi, easy) == CURLM_OK)
		return letter;
	letter_free(letter);
	return NULL;
}

__attribute__((visibility("default"))) extern const struct carrier_module probetui_carrier_module;
const struct carrier_module probetui_carrier_module = {
	.open = module_open,
	.close = module_close,
	.send = module_send,
	.cancel = letter_free,
};
