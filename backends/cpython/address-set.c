#include "backends/cpython/address-set.h"

#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"

#define SLOTS_AT_FIRST 1024u /* a power of two */

void address_set_clear(struct address_set *addresses)
{
	free(addresses->slots);
	*addresses = (struct address_set){ .slots = NULL };
}

/* The slot of address, or the free slot where address belongs; the table is never full. */
static size_t address_set_find(const struct address_set *addresses, uint64_t address)
{
	size_t mask = addresses->slot_count - 1;
	size_t slot = (address * UINT64_C(0x9e3779b97f4a7c15)) >> 32;

	for (;; slot++) {
		uint64_t held = addresses->slots[slot & mask];

		if (!held || held == address)
			return slot & mask;
	}
}

static void grow(struct address_set *addresses)
{
	struct address_set larger = {
		.slot_count = addresses->slot_count ? addresses->slot_count * 2 : SLOTS_AT_FIRST,
		.count = addresses->count,
	};

	larger.slots = xcalloc(larger.slot_count, sizeof(*larger.slots));
	for (size_t i = 0; i < addresses->slot_count; i++) {
		uint64_t held = addresses->slots[i];

		if (held)
			larger.slots[address_set_find(&larger, held)] = held;
	}
	free(addresses->slots);
	*addresses = larger;
}

bool address_set_add(struct address_set *addresses, uint64_t address)
{
	size_t slot;

	if (!address)
		return false;
	if (addresses->count * 2 >= addresses->slot_count)
		grow(addresses);
	slot = address_set_find(addresses, address);
	if (addresses->slots[slot])
		return false;
	addresses->slots[slot] = address;
	addresses->count++;
	return true;
}

bool address_set_has(const struct address_set *addresses, uint64_t address)
{
	return address && addresses->slot_count &&
	       addresses->slots[address_set_find(addresses, address)] == address;
}
