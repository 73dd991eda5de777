/*
 * map and strmap: hash tables of pointers, by 64-bit key and by string respectively. Over uthash,
 * which only map.c includes.
 *
 * A map that was made with a free function owns its values. Values are never NULL.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map;
struct strmap;

/* free_value may be NULL: then the map does not own the values. */
struct map *map_new(void (*free_value)(void *));
void map_free(struct map *map);
/* Returns the borrowed value; NULL: no such key. */
void *map_find(const struct map *map, uint64_t key);
/* Sets the value of key, and frees the old value if the map owns its values. */
void map_put(struct map *map, uint64_t key, void *value);
/* Frees the value of key, if there is one. */
void map_remove(struct map *map, uint64_t key);
size_t map_count(const struct map *map);
/* Calls each(key, value, data) for all, in order of insertion. */
void map_each(const struct map *map, void (*each)(uint64_t key, void *value, void *data),
	      void *data);

struct strmap *strmap_new(void (*free_value)(void *));
void strmap_free(struct strmap *map);
void *strmap_find(const struct strmap *map, const char *key);
/* Like map_put(); copies the key. */
void strmap_put(struct strmap *map, const char *key, void *value);
/* Calls each(key, value, data) for all, in order of insertion. */
void strmap_each(const struct strmap *map, void (*each)(const char *key, void *value, void *data),
		 void *data);
size_t strmap_count(const struct strmap *map);

/*
 * FNV-1a, 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/), of a sequence of
 * values. Start with HASH_START.
 */

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* The NUL is hashed, too: "ab", "c" has another hash than "a", "bc". */
uint64_t hash_text(uint64_t hash, const char *text);
/* Hashes the number's 8 bytes in this machine's order. */
uint64_t hash_number(uint64_t hash, uint64_t number);

#endif
