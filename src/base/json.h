/*
 * json: jansson with typed look-ups. All values may come from outside: a wrong type or a
 * missing key gives the fallback, never a crash.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct error;

/* The getters with a fallback return it if the key is missing or has another type. */
int64_t json_get_integer(const json_t *object, const char *key, int64_t fallback);
/* Returns a number of 0 to INT_MAX; 0 also if the number is missing or out of range. */
int json_get_count(const json_t *object, const char *key);
double json_get_real(const json_t *object, const char *key, double fallback);
bool json_get_boolean(const json_t *object, const char *key, bool fallback);
/* Returns a borrowed string, or fallback (which may be NULL). */
const char *json_get_string(const json_t *object, const char *key, const char *fallback);
/* Reads a 64-bit address or id, which JSON has as a string "0x1f…"; 0: missing or invalid. */
uint64_t json_get_hex(const json_t *object, const char *key);
void json_set_hex(json_t *object, const char *key, uint64_t value);
/* A new array of count integers. */
json_t *json_integers(const int64_t *integers, size_t count);
/* Returns the array's length; -1: not an array of integers, or longer than maximum. */
int json_read_integers(int64_t *integers, size_t maximum, const json_t *array);
/*
 * Sets a string that may not be valid UTF-8: bad bytes become U+FFFD. NULL
 * becomes null.
 */
void json_set_text(json_t *object, const char *key, const char *text);
/* A new JSON string, with the rules of json_set_text(); null for NULL. */
json_t *json_text(const char *text);
/* Appends the value in one line, keys in their order of insertion. */
void json_append(struct buffer *out, const json_t *value);
/* Parses one document; NULL and *error if the bytes are not JSON. */
json_t *json_parse(const char *bytes, size_t length, struct error *error);

#endif
