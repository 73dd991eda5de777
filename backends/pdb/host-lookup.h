/*
 * host-lookup: the addresses of a host by its name, found on another thread: who
 * is asked for them may take half a minute.
 */
#ifndef BACKENDS_PDB_HOST_LOOKUP_H
#define BACKENDS_PDB_HOST_LOOKUP_H

struct addrinfo;
struct loop;
struct host_lookup;

/*
 * Calls done from the loop: with the addresses (freeaddrinfo() them) and 0, or
 * NULL and getaddrinfo(3)'s number. The lookup is gone then.
 */
struct host_lookup *
host_lookup_new(struct loop *loop, const char *host, int port,
		void (*done)(struct addrinfo *owned_found, int number, void *data), void *data);
/* done is not called. NULL is fine. */
void host_lookup_cancel(struct host_lookup *lookup);

#endif
