/*
 * pytensor-pandas: a Series, and the columns of a DataFrame: the arrays in which pandas (1.3 to 3)
 * stores their values. Its blocks are C objects; their members are recognised by the classes of the
 * objects that they point to.
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

/* True for Series (DataFrame) and subclasses. */
bool pandas_is_series(struct pyreader *reader, const struct pytype *type);
bool pandas_is_frame(struct pyreader *reader, const struct pytype *type);
/* True for Series and DataFrame themselves: a subclass may behave in another way. */
bool pandas_is_plain(struct pyreader *reader, const struct pytype *type);
/* Reads a Series as a tensor; -1: the Series cannot be read. */
int pandas_read_series(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
/* Number of columns of a DataFrame; -1: unreadable. */
int64_t pandas_count_columns(struct pyreader *reader, uint64_t frame);
/* Appends a column's name as Python's repr() writes it: 'loss', 3; -1: unknown. */
int pandas_append_name(struct pyreader *reader, uint64_t frame, int64_t column, struct buffer *out);
/* Finds the column named text, or the integer number if text is NULL; -1 and *error. */
int pandas_find_column(struct pyreader *reader, uint64_t frame, const char *text, int64_t number,
		       int64_t *column, struct error *error);
/* Reads a column as a tensor; -1: unreadable. */
int pandas_read_column(struct pyreader *reader, uint64_t frame, int64_t column,
		       struct pytensor *tensor);

#endif
