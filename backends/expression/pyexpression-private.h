/*
 * pyexpression-private: shared by the two files that implement pyexpression.h: pyexpression.c tests
 * conditions and finds places, pyexpression-read.c reads values.
 */
#ifndef BACKENDS_EXPRESSION_PYEXPRESSION_PRIVATE_H
#define BACKENDS_EXPRESSION_PYEXPRESSION_PRIVATE_H

#include "backends/expression/pyexpression.h"

struct pyevaluation;
struct pysyntax;

struct pyexpression {
	char *text;
	struct pysyntax *syntax;
};

/*
 * Starts an evaluation. Unless reader->is_still, starts a new memory snapshot, because the process
 * may have run since the last one.
 */
void pyexpression_begin(struct pyevaluation *evaluation, struct pyreader *reader,
			const struct pyobject_frame *frame, struct error *error);

#endif
