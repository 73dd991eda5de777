/*
 * looker: what the programs have in common that look into a process for a
 * test: each line of the standard input is a request, each line of the output
 * its answer, in JSON.
 */
#ifndef TESTS_BACKEND_LOOKER_H
#define TESTS_BACKEND_LOOKER_H

#include <jansson.h>

#include "backends/cpython/cpython.h"

struct looker {
	struct memory *memory;
	struct cpython python;
};

/*
 * Opens the process that the only argument names. -1: what is wrong was
 * printed, and there is nothing to close.
 */
int looker_open(struct looker *looker, int argc, char **argv);
/* Until the end of the input; owned answers, lines without their end. */
void looker_serve(json_t *(*answer)(void *data, char *line), void *data);
void looker_close(struct looker *looker);

#endif
