/*
 * Looks up keys of dicts and sets as the interpreter does, by hash; the hash is computed here.
 *
 * A hash proves that a key is missing only if the process computes the same hash. The hash of a str
 * depends on how the interpreter was built, so the computed hash of one str key of the dict is
 * compared with the hash stored in that str.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pydict.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/expression/pycompare.h"
#include "backends/expression/pyelement.h"
#include "backends/expression/pyevaluate.h"
#include "backends/expression/pyvalue.h"
#include "banned.h"
#include "base/error.h"

/* Limits of a tuple as a key: depth of nested tuples, and items. */
#define TUPLE_DEPTH 8
#define TUPLE_ITEMS 64
/* hash() of a tuple (Objects/tupleobject.c, xxHash). */
#define XX_PRIME_1 UINT64_C(11400714785074694791)
#define XX_PRIME_2 UINT64_C(14029467366897019727)
#define XX_PRIME_5 UINT64_C(2870177450012600261)
#define XX_MIX UINT64_C(3527539)
/* hash(None) since 3.12. */
#define HASH_NONE UINT64_C(0xfca86420)
/* Maximum number of a dict's keys that are searched for a str with a stored hash. */
#define WITNESSES 30
/* Offset of the stored hash in PyASCIIObject; -1 there: the hash was not computed yet. */
#define STRING_HASH 24

static int hash_value(struct pyevaluation *evaluation, const struct pyvalue *value, int depth,
		      uint64_t *hash);

/* Bytes of each character in the str object: as many as the widest character needs. */
static unsigned pykey_width_of(const uint32_t *characters, size_t count)
{
	uint32_t all = 0;

	for (size_t i = 0; i < count; i++)
		all |= characters[i];
	if (all > UINT16_MAX)
		return 4;
	return all > UINT8_MAX ? 2 : 1;
}

static int hash_characters(struct pyevaluation *evaluation, const struct pyvalue *value,
			   uint64_t *hash)
{
	const uint32_t *characters;
	size_t count;
	unsigned width;
	uint8_t *bytes;

	if (pyvalue_characters(evaluation, value, &characters, &count))
		return -1;
	width = pykey_width_of(characters, count);
	bytes = pyevaluation_allocate(evaluation, count * width);
	for (size_t i = 0; i < count; i++)
		memcpy(bytes + i * width, &characters[i], width);
	if (pyhash_bytes(evaluation->reader, bytes, count * width, hash))
		return error_set(evaluation->error,
				 "str keys cannot be looked up without an agent: the hash secret "
				 "of the process cannot be read");
	return 0;
}

static int hash_tuple(struct pyevaluation *evaluation, const struct pyvalue *value, int depth,
		      uint64_t *hash)
{
	int64_t count = pyvalue_length(evaluation, value);
	uint64_t sum = XX_PRIME_5;

	if (count > TUPLE_ITEMS || depth >= TUPLE_DEPTH)
		return error_set(evaluation->error, "the tuple is too large or too deeply nested "
						    "to be looked up as a key without an agent");
	for (int64_t i = 0; i < count; i++) {
		struct pyvalue item;
		uint64_t lane;

		if (pyvalue_item(evaluation, value, i, &item) ||
		    hash_value(evaluation, &item, depth + 1, &lane))
			return -1;
		sum += lane * XX_PRIME_2;
		sum = (sum << 31 | sum >> 33) * XX_PRIME_1;
	}
	sum += (uint64_t)count ^ (XX_PRIME_5 ^ XX_MIX);
	*hash = sum == UINT64_MAX ? UINT64_C(1546275796) : sum;
	return count < 0 ? -1 : 0;
}

static uint64_t hash_address(uint64_t address)
{
	return address >> 4 | address << 60;
}

/* Up to 3.11, hash(None) depends on the address of None. */
static int hash_none(struct pyevaluation *evaluation, uint64_t *hash)
{
	uint64_t address;

	*hash = HASH_NONE;
	if (evaluation->reader->python->minor >= 12)
		return 0;
	if (pyevaluation_module(evaluation, "builtins", "None", &address))
		return error_set(evaluation->error,
				 "the key None cannot be looked up without an agent: the object "
				 "None was not found in the process");
	*hash = hash_address(address);
	return 0;
}

/* Like object.__hash__: a hash of the address. */
static int hash_object(struct pyevaluation *evaluation, const struct pyvalue *value, uint64_t *hash)
{
	if (!value->address ||
	    !pyslot_is_kept(evaluation->reader, value->type,
			    pyslot_root(evaluation->reader, value->type), PYSLOT_HASH))
		return error_set(evaluation->error,
				 "a key of type %s cannot be looked up without an agent: the hash "
				 "of the key is unknown",
				 pyvalue_type_name(evaluation, value));
	*hash = hash_address(value->address);
	return 0;
}

static int hash_value(struct pyevaluation *evaluation, const struct pyvalue *value, int depth,
		      uint64_t *hash)
{
	/* torch.Tensor.__hash__() returns the tensor's id(), which is the address. */
	if (value->kind == PYVALUE_TENSOR && value->address &&
	    pyelement_is_plain(evaluation->reader, value)) {
		*hash = value->address;
		return 0;
	}
	if (value->address && value->kind != PYVALUE_OBJECT &&
	    !pyslot_is_kept(evaluation->reader, value->type, value->base, PYSLOT_HASH))
		return error_set(evaluation->error,
				 "cannot look up a key of %s without an agent (its __hash__ would "
				 "run in the process)",
				 pyvalue_type_name(evaluation, value));
	if (pyvalue_is_integer(value)) {
		*hash = pybig_hash(&value->integer);
		return 0;
	}
	if (value->kind == PYVALUE_FLOAT && !isnan(value->number)) {
		*hash = pybig_hash_double(value->number);
		return 0;
	}
	if (value->kind == PYVALUE_STRING || value->kind == PYVALUE_BYTES)
		return hash_characters(evaluation, value, hash);
	if (value->kind == PYVALUE_TUPLE)
		return hash_tuple(evaluation, value, depth, hash);
	if (value->kind == PYVALUE_NONE)
		return hash_none(evaluation, hash);
	return hash_object(evaluation, value, hash);
}

struct search {
	struct pyevaluation *evaluation;
	const struct pyvalue *key;
	/* result of the last comparison: 1: equal, 0: different, -1: evaluation->error is set */
	int result;
};

static bool pykey_is_wanted(uint64_t key, void *data)
{
	struct search *search = data;
	struct pyvalue other;

	if (key == search->key->address) {
		search->result = 1;
		return true;
	}
	if (!key)
		return false;
	search->result = pyvalue_load(search->evaluation, key, &other)
				 ? -1
				 : pyvalue_is_equal(search->evaluation, &other, search->key);
	/* A failed comparison ends the search, too. */
	return search->result != 0;
}

/* The first str key with a stored hash in a dict. */
struct witness {
	struct pyevaluation *evaluation;
	bool is_other; /* true: the stored hash differs from the computed hash */
};

static bool take_witness(uint64_t key, uint64_t value, void *data)
{
	struct witness *witness = data;
	struct pyreader *reader = witness->evaluation->reader;
	struct pyvalue string;
	uint64_t kept, hash;

	(void)value;
	if (pyvalue_load(witness->evaluation, key, &string) || string.kind != PYVALUE_STRING ||
	    pyreader_pointer(reader, key + STRING_HASH, &kept) || kept == UINT64_MAX ||
	    hash_characters(witness->evaluation, &string, &hash))
		return true;
	witness->is_other = hash != kept;
	return false;
}

/*
 * True if the process computes the same hash for a str as this file. False: a key that was not
 * found by hash may still exist.
 */
static bool is_our_hash(struct pyevaluation *evaluation, const struct pytable *table)
{
	struct witness witness = { .evaluation = evaluation };
	struct error *error = evaluation->error;

	evaluation->error = NULL;
	pytable_each(evaluation->reader, table, 0, WITNESSES, take_witness, &witness);
	evaluation->error = error;
	return !witness.is_other;
}

static bool is_hashed_text(const struct pyvalue *key)
{
	return key->kind == PYVALUE_STRING || key->kind == PYVALUE_BYTES ||
	       key->kind == PYVALUE_TUPLE;
}

int pykey_find(struct pyevaluation *evaluation, const struct pyvalue *dict,
	       const struct pyvalue *key, uint64_t *place)
{
	struct search search = { .evaluation = evaluation, .key = key };
	struct pytable table;
	uint64_t hash, value;

	if (pytable_of_dict(evaluation->reader, dict->address, &table))
		return error_set(evaluation->error, "the dict at 0x%" PRIx64 " cannot be read",
				 dict->address);
	if (hash_value(evaluation, key, 0, &hash))
		return -1;
	if (!pytable_locate(evaluation->reader, &table, hash, pykey_is_wanted, &search, place)) {
		if (search.result < 0)
			return -1;
		return !pyreader_pointer(evaluation->reader, *place, &value) && value;
	}
	if (is_hashed_text(key) && !is_our_hash(evaluation, &table))
		return error_set(evaluation->error,
				 "str keys cannot be looked up without an agent: the hash function "
				 "of str in the interpreter is unknown");
	return 0;
}

struct set_search {
	struct search search;
	uint64_t hash;
};

static bool pykey_take_key(uint64_t key, int64_t hash, void *data)
{
	struct set_search *search = data;

	return (uint64_t)hash != search->hash || !pykey_is_wanted(key, &search->search);
}

int pykey_is_in_set(struct pyevaluation *evaluation, const struct pyvalue *set,
		    const struct pyvalue *key)
{
	struct set_search search = {
		.search = { .evaluation = evaluation, .key = key },
	};

	if (hash_value(evaluation, key, 0, &search.hash))
		return -1;
	if (pyset_each(evaluation->reader, set->address, pykey_take_key, &search))
		return error_set(evaluation->error,
				 "the set at 0x%" PRIx64
				 " cannot be read, or has too many items to search without an "
				 "agent",
				 set->address);
	return search.search.result;
}
