/*
 * standard: the descriptors 0 to 2 that every program starts with.
 *
 * A daemon or a cron job may start the program with some of them closed. The next opened
 * file would then get such a number, and error messages would be written into it; libuv
 * aborts.
 */
#ifndef BASE_STANDARD_H
#define BASE_STANDARD_H

/* Opens /dev/null for each of the descriptors 0 to 2 that is closed. */
void standard_open(void);

#endif
