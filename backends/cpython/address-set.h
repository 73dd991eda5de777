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
struct address_set {
	uint64_t *slots; /* 0: free */
	size_t slot_count;
	size_t count;
};

void address_set_clear(struct address_set *addresses);
/* True when it was not there before. 0 is never. */
bool address_set_add(struct address_set *addresses, uint64_t address);
bool address_set_has(const struct address_set *addresses, uint64_t address);

#endif
