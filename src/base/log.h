/*
 * log: one line per event, for a later diagnosis. The only mutable global state besides
 * the curses screen.
 *
 * Lines go to standard error until log_set_quiet(), with control characters escaped; the last 200
 * lines stay in memory for the log pane.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stddef.h>

enum log_level {
	LOG_DEBUG,
	LOG_INFO,
	LOG_NOTE, /* an event that is not a problem; lower levels are dropped */
	LOG_WARNING,
	LOG_ERROR,
};

/* Sets the program's name, which begins each line. */
void log_set_name(const char *name);
/* is_quiet: no lines on standard error (curses draws there), only in memory. */
void log_set_quiet(int is_quiet);
/* Formats one line; text is escaped. */
void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns borrowed line number i of the last 200, oldest first; NULL behind the last. */
const char *log_line(size_t i);

#endif
