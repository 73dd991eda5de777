/*
 * error: why something failed, as one complete sentence for a person.
 *
 * It is filled once, where the cause is known, and left alone on success.
 * A caller that knows more puts its words in front. No memory is owned.
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
/* error_set() with ": " and the text of the errno value number at the end. */
int error_set_errno(struct error *error, int number, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Puts "CONTEXT: " in front of the sentence. Always returns -1. */
int error_prefix(struct error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* False also for NULL. */
bool error_is_set(const struct error *error);

/*
 * Two clauses: why something cannot be done, and what would help.
 */

struct reason {
	char why[256];
	char fix[256]; /* "": nothing would help */
};

/* Always returns false. */
bool reason_set(struct reason *reason, const char *why, const char *fix);
/* Sets "WHY: FIX" as the error. Always returns -1. */
int reason_explain(const struct reason *reason, struct error *error);

#endif
