#include "backends/pdb/host-lookup.h"

#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/loop.h"

struct host_lookup {
	char *host;
	char port[16];
	struct addrinfo *found;
	int number;
	void (*done)(struct addrinfo *owned_found, int number, void *data);
	void *data;
	/*
	 * Set by the loop's thread when the request was dropped; the lookup's thread never reads
	 * it.
	 */
	bool is_cancelled;
};

static void host_lookup_look_up(void *data)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	struct host_lookup *lookup = data;

	lookup->number = getaddrinfo(lookup->host, lookup->port, &hints, &lookup->found);
	if (lookup->number != 0)
		lookup->found = NULL;
}

static void host_lookup_on_found(void *data)
{
	struct host_lookup *lookup = data;

	if (!lookup->is_cancelled)
		lookup->done(lookup->found, lookup->number, lookup->data);
	else if (lookup->found)
		freeaddrinfo(lookup->found);
	free(lookup->host);
	free(lookup);
}

struct host_lookup *
host_lookup_new(struct loop *loop, const char *host, int port,
		void (*done)(struct addrinfo *owned_found, int number, void *data), void *data)
{
	struct host_lookup *lookup = xcalloc(1, sizeof(*lookup));

	lookup->host = xstrdup(host);
	snprintf(lookup->port, sizeof(lookup->port), "%d", port);
	lookup->done = done;
	lookup->data = data;
	loop_work(loop, host_lookup_look_up, host_lookup_on_found, lookup);
	return lookup;
}

void host_lookup_cancel(struct host_lookup *lookup)
{
	if (lookup)
		lookup->is_cancelled = true;
}
