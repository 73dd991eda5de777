/*
 * logline: the parts of a line that a rank has printed. torch.distributed begins each line of an
 * uncaught exception with "[rank2]: " (_distributed_excepthook in torch/distributed/__init__.py),
 * torchrun --tee each line with "[default0]:" (tail_log.py), the role and the local rank.
 */
#ifndef BASE_LOGLINE_H
#define BASE_LOGLINE_H

#include <stddef.h>

struct logline {
	const char *text; /* behind the prefixes, not terminated */
	size_t length;	  /* without "\r" at the end */
	size_t prefix;	  /* bytes before text */
	int rank;	  /* by the prefix of torch.distributed; -1: it has none */
};

/* bytes: a line without its "\n". */
void logline_read(struct logline *line, const char *bytes, size_t length);
/*
 * Number of bytes up to and with the "|" or "+" that CPython draws at the left of exception groups
 * ("  | text"); 0: there is none.
 */
size_t logline_margin(const char *text, size_t length);

/*
 * Number of bytes at the beginning of a line that a progress bar has drawn, behind which an error
 * of Python or C++ begins: a bar ends without a newline when the program does. 0: there is none.
 */
size_t logline_drawn(const char *bytes, size_t length);

#endif
