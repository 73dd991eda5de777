/*
 * pytensor-pandas: reads a Series, and the columns of a DataFrame, from the arrays in which pandas
 * (1.3 to 3) stores their values. The blocks of pandas are C objects, whose members are recognised
 * by the classes of the objects to which they point.
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

/* Return true if the type is Series or DataFrame, respectively, or a subclass. */
bool pandas_is_series(struct pyreader *reader, const struct pytype *type);
bool pandas_is_frame(struct pyreader *reader, const struct pytype *type);
/* Returns true if the type is Series or DataFrame itself; a subclass may behave differently. */
bool pandas_is_plain(struct pyreader *reader, const struct pytype *type);
/* Reads a Series as a tensor. Returns -1 if the Series cannot be read. */
int pandas_read_series(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
/* Returns the number of columns of a DataFrame; -1: unreadable. */
int64_t pandas_count_columns(struct pyreader *reader, uint64_t frame);
/* Appends a column's name as Python's repr() writes it: 'loss', 3. Returns -1 if the name is
 * unknown. */
int pandas_append_name(struct pyreader *reader, uint64_t frame, int64_t column, struct buffer *out);
/* Finds the column whose name is the str `text` or, if text is NULL, the int `number`. Returns -1
 * and sets error on failure. */
int pandas_find_column(struct pyreader *reader, uint64_t frame, const char *text, int64_t number,
		       int64_t *column, struct error *error);
/* Reads a column as a tensor. Returns -1 if it is unreadable. */
int pandas_read_column(struct pyreader *reader, uint64_t frame, int64_t column,
		       struct pytensor *tensor);

#endif
