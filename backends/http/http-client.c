#include "backends/http/http-client.h"

#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/loop.h"

#define FILE_NAME "probetui-http.so"

struct http_client {
	struct loop *loop;
	const struct http_module *module; /* the loaded module; NULL: not loaded yet */
	struct http_multi *multi;
	int leaving; /* number of pending transfers that end a session */
};

static const struct http_module *open_module(struct error *error)
{
	return plugin_open(FILE_NAME, HTTP_MODULE_NAME,
			   "agents need " FILE_NAME
			   " beside probetui-node, and libcurl (Debian: libcurl4)",
			   error);
}

struct http_client *http_client_new(struct loop *loop)
{
	struct http_client *client = xcalloc(1, sizeof(*client));

	client->loop = loop;
	return client;
}

void http_client_free(struct http_client *client)
{
	if (!client)
		return;
	if (client->multi)
		client->module->close(client->multi);
	free(client);
}

static int open_multi(struct http_client *client, struct error *error)
{
	const struct http_loop loop = {
		.loop = client->loop,
		.watch = loop_watch,
		.watch_stop = loop_watch_stop,
		.timer = loop_timer,
		.timer_stop = loop_timer_stop,
	};

	client->module = open_module(error);
	if (!client->module)
		return -1;
	client->multi = client->module->open(&loop);
	if (!client->multi)
		return error_set(error, "libcurl cannot be initialised");
	return 0;
}

struct http_transfer *http_client_send(struct http_client *client,
				       const struct http_request *request, struct error *error)
{
	struct http_transfer *transfer;

	if (!client->multi && open_multi(client, error) < 0)
		return NULL;
	transfer = client->module->send(client->multi, request);
	if (!transfer)
		error_set(error, "libcurl does not accept \"%.200s\"", request->url);
	return transfer;
}

void http_client_cancel(struct http_client *client, struct http_transfer *transfer)
{
	client->module->cancel(transfer);
}

void http_client_note_leaving(struct http_client *client, int change)
{
	client->leaving += change;
}

bool http_client_has_left(const struct http_client *client)
{
	return client->leaving == 0;
}
