/*
 * address-set: a set of addresses, for what walks over hundreds of thousands
 * of objects and must not come to one twice.
 */
#ifndef BACKENDS_CPYTHON_ADDRESS_SET_H
#define BACKENDS_CPYTHON_ADDRESS_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is an empty one. */
struct addresses {
	uint64_t *slots; /* 0: free */
	size_t slot_count;
	size_t count;
};

void addresses_clear(struct addresses *addresses);
/* True when it was not there before. 0 is never. */
bool addresses_add(struct addresses *addresses, uint64_t address);
bool addresses_has(const struct addresses *addresses, uint64_t address);

#endif
