/*
 * banned: makes the compiler refuse, by name, functions that invite overruns or surprises. Every .c
 * file includes this header after the system headers (git has the same header).
 */
#ifndef BANNED_H
#define BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* glibc defines alloca as a macro, which #pragma GCC poison refuses. */
#undef alloca

#pragma GCC poison strcpy strcat sprintf vsprintf strncpy strncat strtok atoi gets system alloca

#endif
