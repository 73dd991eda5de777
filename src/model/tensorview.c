#include "model/tensorview.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "model/place.h"
#include "model/tensorformat.h"
#include "protocol/tensoranswer.h"

static void clear_statistics(struct tensor_statistics *statistics)
{
	tensor_number_clear(&statistics->minimum);
	tensor_number_clear(&statistics->maximum);
}

void tensorview_init(struct tensorview *tensorview)
{
	*tensorview = (struct tensorview){ .rank = -1, .found = -1 };
	tensor_init(&tensorview->tensor);
	tensor_slice_clear(&tensorview->slice);
	tensor_slice_clear(&tensorview->previous);
}

/* Drops all data, but keeps the expression. */
static void tensorview_forget(struct tensorview *tensorview)
{
	char *expression = tensorview->expression;

	free(tensorview->error);
	free(tensorview->where);
	variable_clear(&tensorview->value);
	tensor_clear(&tensorview->tensor);
	clear_statistics(&tensorview->before);
	tensor_slice_clear(&tensorview->slice);
	tensor_slice_clear(&tensorview->previous);
	tensor_heat_clear(&tensorview->heat);
	tensor_heat_clear(&tensorview->next_heat);
	tensorview_init(tensorview);
	tensorview->expression = expression;
}

void tensorview_clear(struct tensorview *tensorview)
{
	tensorview_forget(tensorview);
	free(tensorview->expression);
	tensorview_init(tensorview);
}

void tensorview_look(struct tensorview *tensorview, const char *expression)
{
	char *owned_expression = xstrdup_or_null(expression);

	tensorview_clear(tensorview);
	tensorview->expression = owned_expression;
}

void tensorview_move(struct tensorview *tensorview, int rank, size_t node, pid_t pid)
{
	tensorview_forget(tensorview);
	tensorview->rank = rank;
	tensorview->node = node;
	tensorview->pid = pid;
}

void tensorview_begin_reading(struct tensorview *tensorview)
{
	tensorview->reading++;
}

static void take_statistics(struct tensorview *tensorview, struct tensor *tensor)
{
	struct tensor *known = &tensorview->tensor;
	bool is_same = known->has_statistics && known->dtype != NULL && tensor->dtype != NULL &&
		       strcmp(known->dtype, tensor->dtype) == 0 &&
		       tensor_has_same_shape(known, tensor);

	if (tensor->has_statistics) {
		if (is_same && tensorview->statistics_reading != tensorview->reading) {
			clear_statistics(&tensorview->before);
			tensorview->before = known->statistics;
			known->statistics = (struct tensor_statistics){ .count = 0 };
			tensorview->has_before = true;
		}
		tensorview->statistics_reading = tensorview->reading;
		return;
	}
	if (!is_same)
		return;
	/* Show the known statistics again until newer statistics arrive. */
	clear_statistics(&tensor->statistics);
	tensor->has_statistics = true;
	tensor->statistics = known->statistics;
	tensor->share = known->share;
	free(tensor->histogram.bins);
	tensor->histogram = known->histogram;
	known->statistics = (struct tensor_statistics){ .count = 0 };
	known->histogram = (struct tensor_histogram){ .bins = NULL };
}

static void tensorview_take_slice(struct tensorview *tensorview, struct tensor_slice *slice)
{
	if (tensorview->slice_reading != tensorview->reading) {
		tensor_slice_clear(&tensorview->previous);
		tensorview->previous = tensorview->slice;
	} else {
		tensor_slice_clear(&tensorview->slice);
	}
	tensorview->slice = *slice;
	tensorview->slice_reading = tensorview->reading;
	*slice = (struct tensor_slice){ .numbers = NULL };
}

static void take_heat(struct tensorview *tensorview, const struct tensor_slice *slice)
{
	struct tensor_slice more;

	if (tensorview->next_heat.bins == NULL)
		return;
	tensor_heat_add(&tensorview->next_heat, slice);
	if (tensor_heat_next(&tensorview->next_heat, &more))
		return;
	tensor_heat_clear(&tensorview->heat);
	tensorview->heat = tensorview->next_heat;
	tensorview->next_heat = (struct tensor_heat){ .bins = NULL };
}

static char *make_where(const struct tensor_answer *answer)
{
	if (answer->func == NULL)
		return NULL;
	if (answer->file == NULL || answer->line < 1)
		return xstrdup(answer->func);
	return xasprintf("%s (%s:%d)", answer->func, place_file_name(answer->file), answer->line);
}

static void tensorview_take_tensor(struct tensorview *tensorview, struct tensor_answer *answer)
{
	tensorview->has_tensor = answer->has_tensor;
	if (!answer->has_tensor)
		return;
	take_statistics(tensorview, &answer->tensor);
	tensor_clear(&tensorview->tensor);
	tensorview->tensor = answer->tensor;
	tensor_init(&answer->tensor);
}

static void tensorview_take_answer(struct tensorview *tensorview, enum tensor_work work,
				   struct tensor_answer *answer)
{
	variable_clear(&tensorview->value);
	tensorview->value = answer->value;
	answer->value = (struct variable){ .child_count = -1 };
	tensorview->has_value = true;
	tensorview_take_tensor(tensorview, answer);
	if (work == TENSOR_WORK_FIND) {
		tensorview->has_found = true;
		tensorview->found = answer->found;
	}
	if (work == TENSOR_WORK_HEAT)
		take_heat(tensorview, &answer->slice);
	else if (answer->slice.numbers != NULL)
		tensorview_take_slice(tensorview, &answer->slice);
	free(tensorview->where);
	tensorview->where = make_where(answer);
	free(tensorview->error);
	tensorview->error = NULL;
}

int tensorview_take(struct tensorview *tensorview, enum tensor_work work, const json_t *body,
		    double now, struct error *error)
{
	struct tensor_answer answer;
	int result = tensor_answer_from_json(&answer, body, error);

	if (result == 0) {
		tensorview_take_answer(tensorview, work, &answer);
		tensorview->time = now;
	}
	tensor_answer_clear(&answer);
	return result;
}

void tensorview_fail(struct tensorview *tensorview, const char *why)
{
	char *owned_why = xstrdup(why);

	free(tensorview->error);
	tensorview->error = owned_why;
}

static bool is_of_plane(const struct tensor_slice *slice, const struct tensor_plane *plane)
{
	if (slice->dimension_count != plane->dimension_count ||
	    slice->row_dimension != plane->row_dimension ||
	    slice->column_dimension != plane->column_dimension)
		return false;
	for (int i = 0; i < plane->dimension_count; i++)
		if (i != plane->row_dimension && i != plane->column_dimension &&
		    slice->index[i] != plane->index[i])
			return false;
	return true;
}

static const struct tensor_number *number_in(const struct tensor_slice *slice,
					     const struct tensor_plane *plane,
					     const struct tensor_place *place)
{
	int64_t row = place->row - slice->row;
	int64_t column = place->column - slice->column;

	if (slice->numbers == NULL || !is_of_plane(slice, plane) || row < 0 ||
	    row >= slice->row_count || column < 0 || column >= slice->column_count)
		return NULL;
	return &slice->numbers[row * slice->column_count + column];
}

const struct tensor_number *tensorview_number(const struct tensorview *tensorview,
					      const struct tensor_plane *plane,
					      const struct tensor_place *place)
{
	return number_in(&tensorview->slice, plane, place);
}

bool tensorview_has_changed(const struct tensorview *tensorview, const struct tensor_plane *plane,
			    const struct tensor_place *place)
{
	const struct tensor_number *now = number_in(&tensorview->slice, plane, place);
	const struct tensor_number *before = number_in(&tensorview->previous, plane, place);

	return now != NULL && before != NULL && !tensor_number_is_same(now, before);
}

bool tensorview_covers(const struct tensorview *tensorview, const struct tensor_slice *slice)
{
	const struct tensor_slice *known = &tensorview->slice;
	struct tensor_plane plane = {
		.dimension_count = slice->dimension_count,
		.row_dimension = slice->row_dimension,
		.column_dimension = slice->column_dimension,
	};

	memcpy(plane.index, slice->index, sizeof(plane.index));
	return tensorview->slice_reading == tensorview->reading && known->numbers != NULL &&
	       is_of_plane(known, &plane) && known->row <= slice->row &&
	       known->row + known->row_count >= slice->row + slice->row_count &&
	       known->column <= slice->column &&
	       known->column + known->column_count >= slice->column + slice->column_count;
}
