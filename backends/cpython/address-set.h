/*
 * address-set: a set of addresses, for walks over hundreds of thousands of objects that must visit
 * no object twice.
 */
#ifndef BACKENDS_CPYTHON_ADDRESS_SET_H
#define BACKENDS_CPYTHON_ADDRESS_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An all-zero struct is an empty set. */
struct address_set {
	uint64_t *slots; /* 0: free */
	size_t slot_count;
	size_t count;
};

void address_set_clear(struct address_set *addresses);
/* Adds address. True: it was not in the set before. Address 0 is never added: false. */
bool address_set_add(struct address_set *addresses, uint64_t address);
bool address_set_has(const struct address_set *addresses, uint64_t address);

#endif
