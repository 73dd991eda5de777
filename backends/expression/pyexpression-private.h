/*
 * pyexpression-private: what the two parts of pyexpression.h share:
 * pyexpression.c tests and finds places, pyexpression-read.c gives values.
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

/* Where the process has run since the reader read, all is read afresh. */
void pyexpression_begin(struct pyevaluation *evaluation, struct pyreader *reader,
			const struct pyobject_frame *frame, struct error *error);

#endif
