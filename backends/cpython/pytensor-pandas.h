/*
 * pytensor-pandas: a Series, and the columns of a DataFrame: where the arrays
 * lie that pandas (1.3 to 3) keeps their values in. Its blocks are objects of
 * C, of which members are known by the classes of what they point to.
 */
#ifndef BACKENDS_CPYTHON_PYTENSOR_PANDAS_H
#define BACKENDS_CPYTHON_PYTENSOR_PANDAS_H

#include <stdbool.h>
#include <stdint.h>

struct buffer;
struct error;
struct pyreader;
struct pytensor;
struct pytype;

/* Whether its objects are, or derive from, a Series; a DataFrame. */
bool pandas_is_series(struct pyreader *reader, const struct pytype *type);
bool pandas_is_frame(struct pyreader *reader, const struct pytype *type);
/* The same of the class itself, whose ways are known. */
bool pandas_is_plain(struct pyreader *reader, const struct pytype *type);
/* Reads a Series as a tensor; -1: the Series cannot be read. */
int pandas_read_series(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
/* Of a DataFrame. How many columns it has; -1: it cannot be read. */
int64_t pandas_count_columns(struct pyreader *reader, uint64_t frame);
/* Appends the name of one as Python writes it: 'loss', 3; -1: not known. */
int pandas_append_name(struct pyreader *reader, uint64_t frame, int64_t column, struct buffer *out);
/*
 * The column of that name, which is text, or a number where text is NULL; -1
 * and a sentence.
 */
int pandas_find_column(struct pyreader *reader, uint64_t frame, const char *text, int64_t number,
		       int64_t *column, struct error *error);
/* That column; -1: it cannot be read. */
int pandas_read_column(struct pyreader *reader, uint64_t frame, int64_t column,
		       struct pytensor *tensor);

#endif
