/*
 * banned: functions that invite overruns or surprises; every .c file includes this header
 * after the system headers (git's idea). The compiler names the banned function.
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
