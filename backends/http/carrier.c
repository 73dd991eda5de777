#include "backends/http/carrier.h"

#include <stdlib.h>

#include "banned.h"
#include "backends/module.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/loop.h"

#define FILE_NAME "probetui-http.so"

struct carrier_office {
	struct loop *loop;
	const struct carrier_module *module; /* NULL: not needed yet */
	struct carrier *carrier;
	int leaving;
};

static const struct carrier_module *open_module(struct error *error)
{
	return module_open(FILE_NAME, CARRIER_MODULE_NAME,
			   "Agents need " FILE_NAME
			   " beside probetui-node, and libcurl (Debian: libcurl4)",
			   error);
}

struct carrier_office *carrier_office_new(struct loop *loop)
{
	struct carrier_office *office = xcalloc(1, sizeof(*office));

	office->loop = loop;
	return office;
}

void carrier_office_free(struct carrier_office *office)
{
	if (!office)
		return;
	if (office->carrier)
		office->module->close(office->carrier);
	free(office);
}

static int open_carrier(struct carrier_office *office, struct error *error)
{
	const struct carrier_loop loop = {
		.loop = office->loop,
		.watch = loop_watch,
		.watch_stop = loop_watch_stop,
		.timer = loop_timer,
		.timer_stop = loop_timer_stop,
	};

	office->module = open_module(error);
	if (!office->module)
		return -1;
	office->carrier = office->module->open(&loop);
	if (!office->carrier)
		return error_set(error, "libcurl cannot be set up.");
	return 0;
}

struct carrier_letter *carrier_send(struct carrier_office *office,
				    const struct carrier_request *request, struct error *error)
{
	struct carrier_letter *letter;

	if (!office->carrier && open_carrier(office, error) < 0)
		return NULL;
	letter = office->module->send(office->carrier, request);
	if (!letter)
		error_set(error, "libcurl does not take \"%.200s\".", request->url);
	return letter;
}

void carrier_cancel(struct carrier_office *office, struct carrier_letter *letter)
{
	office->module->cancel(letter);
}

void carrier_note_leaving(struct carrier_office *office, int change)
{
	office->leaving += change;
}

bool carrier_has_left(const struct carrier_office *office)
{
	return office->leaving == 0;
}
