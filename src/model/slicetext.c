#include "model/slicetext.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/error.h"
#include "protocol/tensor.h"
#include "protocol/tensorslice.h"

/* The part of a slice for one dimension. */
struct part {
	bool runs;
	int64_t first; /* start of the range, or the index */
	int64_t end;
};

static void slicetext_skip_blanks(const char **at)
{
	*at += strspn(*at, " \t");
}

/* Reads a number; negative numbers count from the end, as in Python. False: no number. */
static bool slicetext_read_number(const char **at, int64_t size, int64_t *number)
{
	char *end;

	slicetext_skip_blanks(at);
	if (!strchr("-0123456789", **at) || **at == '\0')
		return false;
	*number = strtoll(*at, &end, 10);
	if (end == *at)
		return false;
	if (*number < 0)
		*number += size;
	*at = end;
	slicetext_skip_blanks(at);
	return true;
}

static int64_t bound(int64_t number, int64_t size)
{
	if (number < 0)
		return 0;
	return number > size ? size : number;
}

static int no_part(const char *text, struct error *error)
{
	return error_set(error, "'%.20s' is no part of a slice; it is written so: [0:8, 3, :]",
			 text);
}

/* Parses one part: "3", "0:8", ":", "2:". */
static int read_part(struct part *part, const char **at, int64_t size, int dimension,
		     struct error *error)
{
	bool has_number = slicetext_read_number(at, size, &part->first);

	slicetext_skip_blanks(at);
	part->runs = **at == ':';
	if (!part->runs && !has_number)
		return no_part(*at, error);
	if (!part->runs && (part->first < 0 || part->first >= size))
		return error_set(error,
				 "dimension %d has %" PRId64 " elements; there is no such index",
				 dimension, size);
	if (!part->runs)
		return 0;
	++*at;
	part->first = has_number ? bound(part->first, size) : 0;
	part->end = size;
	if (slicetext_read_number(at, size, &part->end))
		part->end = bound(part->end, size);
	if (part->end < part->first)
		part->end = part->first;
	return 0;
}

static int slicetext_read_parts(struct part *parts, const char *text, const struct tensor *tensor,
				struct error *error)
{
	int count = tensor->dimension_count;
	const char *at = text + strspn(text, " \t");
	bool has_bracket = *at == '[';
	int i = 0;

	at += has_bracket;
	slicetext_skip_blanks(&at);
	for (; *at != '\0' && *at != ']'; i++) {
		if (i == count)
			return error_set(error, "it has %d dimension%s only", count,
					 count == 1 ? "" : "s");
		if (read_part(&parts[i], &at, tensor->shape[i], i, error) < 0)
			return -1;
		if (*at != ',' && *at != ']' && *at != '\0')
			return no_part(at, error);
		at += *at == ',';
		slicetext_skip_blanks(&at);
	}
	at += has_bracket && *at == ']';
	slicetext_skip_blanks(&at);
	if (*at != '\0')
		return no_part(at, error);
	for (; i < count; i++)
		parts[i] = (struct part){ true, 0, tensor->shape[i] };
	return 0;
}

static void slicetext_set_row(struct tensor_slice *slice, int dimension, const struct part *part)
{
	slice->row_dimension = dimension;
	slice->row = part->first;
	slice->row_count = part->end - part->first;
}

static void set_column(struct tensor_slice *slice, int dimension, const struct part *part)
{
	slice->column_dimension = dimension;
	slice->column = part->first;
	slice->column_count = part->end - part->first;
}

int slicetext_parse(struct tensor_slice *slice, const char *text, const struct tensor *tensor,
		    struct error *error)
{
	struct part parts[TENSOR_DIMENSIONS];
	int running = 0;

	*slice = (struct tensor_slice){
		.row_dimension = -1,
		.column_dimension = -1,
		.dimension_count = tensor->dimension_count,
		.row_count = 1,
		.column_count = 1,
	};
	if (slicetext_read_parts(parts, text, tensor, error) < 0)
		return -1;
	for (int i = tensor->dimension_count - 1; i >= 0; i--) {
		if (!parts[i].runs)
			slice->index[i] = parts[i].first;
		else if (++running == 1)
			set_column(slice, i, &parts[i]);
		else if (running == 2)
			slicetext_set_row(slice, i, &parts[i]);
		else
			return error_set(error, "two dimensions of a slice run at most; give the "
						"others an index: [0, :, :]");
	}
	return 0;
}
