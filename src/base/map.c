#include "base/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define uthash_malloc(size) xmalloc(size)
#include <uthash.h>

#include "banned.h"

struct entry {
	uint64_t key;
	void *value;
	UT_hash_handle hh;
};

struct map {
	struct entry *entries;
	void (*free_value)(void *);
};

struct string_entry {
	void *value;
	UT_hash_handle hh;
	char key[];
};

struct strmap {
	struct string_entry *entries;
	void (*free_value)(void *);
};

static void map_replace(void **place, void *value, void (*free_value)(void *))
{
	if (free_value && *place != value)
		free_value(*place);
	*place = value;
}

struct map *map_new(void (*free_value)(void *))
{
	struct map *map = xcalloc(1, sizeof(*map));

	map->free_value = free_value;
	return map;
}

void map_free(struct map *map)
{
	struct entry *entry;
	struct entry *next;

	if (!map)
		return;
	entry = map->entries;
	HASH_CLEAR(hh, map->entries);
	for (; entry; entry = next) {
		next = entry->hh.next;
		if (map->free_value)
			map->free_value(entry->value);
		free(entry);
	}
	free(map);
}

static struct entry *map_find_entry(const struct map *map, uint64_t key)
{
	struct entry *entry;

	HASH_FIND(hh, map->entries, &key, sizeof(key), entry);
	return entry;
}

void *map_find(const struct map *map, uint64_t key)
{
	struct entry *entry = map_find_entry(map, key);

	return entry ? entry->value : NULL;
}

void map_put(struct map *map, uint64_t key, void *value)
{
	struct entry *entry = map_find_entry(map, key);

	if (entry) {
		map_replace(&entry->value, value, map->free_value);
		return;
	}
	entry = xcalloc(1, sizeof(*entry));
	entry->key = key;
	entry->value = value;
	HASH_ADD(hh, map->entries, key, sizeof(entry->key), entry);
}

void map_remove(struct map *map, uint64_t key)
{
	struct entry *entry = map_find_entry(map, key);

	if (!entry)
		return;
	HASH_DELETE(hh, map->entries, entry);
	if (map->free_value)
		map->free_value(entry->value);
	free(entry);
}

size_t map_count(const struct map *map)
{
	return HASH_COUNT(map->entries);
}

void map_each(const struct map *map, void (*each)(uint64_t key, void *value, void *data),
	      void *data)
{
	struct entry *entry;
	struct entry *next;

	/* each() may remove the entry that it is called for, so read the next entry first. */
	for (entry = map->entries; entry; entry = next) {
		next = entry->hh.next;
		each(entry->key, entry->value, data);
	}
}

struct strmap *strmap_new(void (*free_value)(void *))
{
	struct strmap *map = xcalloc(1, sizeof(*map));

	map->free_value = free_value;
	return map;
}

void strmap_free(struct strmap *map)
{
	struct string_entry *entry;
	struct string_entry *next;

	if (!map)
		return;
	entry = map->entries;
	HASH_CLEAR(hh, map->entries);
	for (; entry; entry = next) {
		next = entry->hh.next;
		if (map->free_value)
			map->free_value(entry->value);
		free(entry);
	}
	free(map);
}

static struct string_entry *find_string_entry(const struct strmap *map, const char *key)
{
	struct string_entry *entry;

	HASH_FIND(hh, map->entries, key, strlen(key), entry);
	return entry;
}

void *strmap_find(const struct strmap *map, const char *key)
{
	struct string_entry *entry = find_string_entry(map, key);

	return entry ? entry->value : NULL;
}

void strmap_put(struct strmap *map, const char *key, void *value)
{
	struct string_entry *entry = find_string_entry(map, key);
	size_t length = strlen(key);

	if (entry) {
		map_replace(&entry->value, value, map->free_value);
		return;
	}
	entry = xcalloc(1, sizeof(*entry) + length + 1);
	memcpy(entry->key, key, length);
	entry->value = value;
	HASH_ADD(hh, map->entries, key[0], length, entry);
}

void strmap_each(const struct strmap *map, void (*each)(const char *key, void *value, void *data),
		 void *data)
{
	const struct string_entry *entry;

	for (entry = map->entries; entry; entry = entry->hh.next)
		each(entry->key, entry->value, data);
}

size_t strmap_count(const struct strmap *map)
{
	return HASH_COUNT(map->entries);
}

#define HASH_PRIME UINT64_C(0x100000001b3)

static uint64_t hash_hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ byte[i]) * HASH_PRIME;
	return hash;
}

uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_hash_bytes(hash, text, strlen(text) + 1);
}

uint64_t hash_number(uint64_t hash, uint64_t number)
{
	return hash_hash_bytes(hash, &number, sizeof(number));
}
