/*
 * host-lookup: resolves a host name on another thread, because getaddrinfo(3) can take half a
 * minute.
 */
#ifndef BACKENDS_PDB_HOST_LOOKUP_H
#define BACKENDS_PDB_HOST_LOOKUP_H

struct addrinfo;
struct loop;
struct host_lookup;

/*
 * Calls done() from the loop: with the addresses (free them with freeaddrinfo(3)) and 0, or with
 * NULL and the error number of getaddrinfo(3). The lookup is freed after done() and must not be
 * cancelled any more.
 */
struct host_lookup *
host_lookup_new(struct loop *loop, const char *host, int port,
		void (*done)(struct addrinfo *owned_found, int number, void *data), void *data);
/* Cancels the lookup: done() is not called. NULL is fine. */
void host_lookup_cancel(struct host_lookup *lookup);

#endif
