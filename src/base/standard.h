/*
 * standard: the three files that every program begins with.
 *
 * A daemon or a cron job may start us with some of them closed. Then the next
 * file that is opened gets such a number, and what is meant for a person goes
 * into it; libuv aborts.
 */
#ifndef BASE_STANDARD_H
#define BASE_STANDARD_H

/* Opens /dev/null for those of descriptors 0 to 2 that are closed. */
void standard_open(void);

#endif
