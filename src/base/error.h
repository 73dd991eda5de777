/*
 * error: why something failed, as one complete sentence for a person.
 *
 * A function fills *error once, where the cause is known, and leaves *error unchanged on success. A
 * caller that knows more adds it with error_prefix(). An error owns no memory.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>

struct error;

struct error {
	char message[512];
};

#define ERROR_INIT { .message = "" }

/* Writes the sentence (cut at 511 bytes). Always returns -1; error may be NULL. */
int error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* error_set(), then appends ": " and strerror(number). */
int error_set_errno(struct error *error, int number, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Puts "CONTEXT: " in front of the sentence. Always returns -1. */
int error_prefix(struct error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* True if error has a sentence; false also if error is NULL. */
bool error_is_set(const struct error *error);

/*
 * Two clauses: why something cannot be done, and what would help.
 */

struct reason {
	char why[256];
	char fix[256]; /* "": nothing would help */
};

/* Fills *reason. Always returns false. */
bool reason_set(struct reason *reason, const char *why, const char *fix);
/* Sets "WHY: FIX" as the error. Always returns -1. */
int reason_explain(const struct reason *reason, struct error *error);

#endif
