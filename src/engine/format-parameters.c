/*
 * format-parameters: compared parameters of replicas, or compared parts of values: as JSON, and as
 * text with a line for each that differs.
 */
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/json.h"
#include "engine/format.h"
#include "model/paramdiff.h"
#include "model/tensortext.h"

/* Maximum of lines; the rest is counted only. */
#define ROWS_MAXIMUM 20

static json_t *format_parameters_class_to_json(const struct paramdiff_class *class)
{
	json_t *json = json_object();

	json_object_set_new(json, "ranks", format_json_set(&class->ranks));
	json_object_set_new(json, "count", json_integer((json_int_t)rankset_count(&class->ranks)));
	json_object_set_new(json, "tensor",
			    class->tensor.dtype ? tensor_to_json(&class->tensor) : json_null());
	if (class->value)
		json_set_text(json, "value", class->value);
	json_set_text(json, "error", class->error);
	return json;
}

static const char *format_parameters_kind_of(const struct paramdiff_row *row)
{
	if (row->class_count > 0 && row->classes[0].value)
		return "value";
	return row->is_buffer ? "buffer" : "parameter";
}

static json_t *row_to_json(const struct paramdiff_row *row)
{
	json_t *json = json_object();
	json_t *classes = json_array();

	for (size_t i = 0; i < row->class_count; i++)
		json_array_append_new(classes, format_parameters_class_to_json(&row->classes[i]));
	json_set_text(json, "name", row->name);
	json_set_text(json, "kind", format_parameters_kind_of(row));
	json_object_set_new(json, "classes", classes);
	json_object_set_new(json, "missing", format_json_set(&row->missing));
	return json;
}

static json_t *errors_to_json(const struct paramdiff *diff)
{
	json_t *errors = json_array();

	for (size_t i = 0; i < diff->rank_count; i++) {
		json_t *json;

		if (!diff->ranks[i].error)
			continue;
		json = json_pack("{s:i}", "rank", diff->ranks[i].rank);
		json_set_text(json, "error", diff->ranks[i].error);
		json_array_append_new(errors, json);
	}
	return errors;
}

static json_t *difference_to_json(const struct paramdiff *diff)
{
	const struct difference *difference = &diff->difference;

	if (!diff->has_difference)
		return json_null();
	return format_json_tensordiff(difference->rank, difference->against, difference->error,
				      &difference->found);
}

static void add_count(json_t *json, const char *key, size_t count)
{
	json_object_set_new(json, key, json_integer((json_int_t)count));
}

json_t *format_json_parameters(const struct paramdiff *diff)
{
	struct buffer sentence = BUFFER_INIT;
	json_t *json = json_object();
	json_t *rows = json_array();

	for (size_t i = 0; i < diff->row_count; i++)
		if (paramdiff_row_is_odd(&diff->rows[i]))
			json_array_append_new(rows, row_to_json(&diff->rows[i]));
	paramdiff_append_sentence(&sentence, diff);
	json_set_text(json, "expr", diff->expression);
	json_object_set_new(json, "gradients", json_boolean(diff->is_of_gradients));
	add_count(json, "total", diff->row_count);
	add_count(json, "same", diff->counts[PARAMDIFF_SAME]);
	add_count(json, "differing", paramdiff_differing(diff));
	add_count(json, "sharded", diff->counts[PARAMDIFF_SHARDED]);
	add_count(json, "unread", diff->counts[PARAMDIFF_UNREAD]);
	json_set_text(json, "first", diff->first < 0 ? NULL : diff->rows[diff->first].name);
	add_count(json, "nan", diff->nan_count);
	json_object_set_new(json, "nan_ranks", format_json_set(&diff->nan_ranks));
	json_set_text(json, "first_nan",
		      diff->first_nan < 0 ? NULL : diff->rows[diff->first_nan].name);
	json_object_set_new(json, "difference", difference_to_json(diff));
	json_object_set_new(json, "reordered", format_json_set(&diff->reordered));
	json_object_set_new(json, "rows", rows);
	json_set_text(json, "sentence", sentence.data);
	json_object_set_new(json, "errors", errors_to_json(diff));
	buffer_clear(&sentence);
	return json;
}

static void format_parameters_append_nan(struct buffer *out, const struct paramdiff_class *class)
{
	struct buffer text = BUFFER_INIT;

	paramdiff_append_nan(&text, class);
	if (text.length > 0)
		buffer_printf(out, " %s", text.data);
	buffer_clear(&text);
}

static void format_parameters_append_row(struct buffer *out, const struct paramdiff_row *row)
{
	buffer_append_string(out, "! ");
	format_text(out, row->name);
	for (size_t i = 0; i < row->class_count; i++) {
		const struct paramdiff_class *class = &row->classes[i];

		buffer_append_string(out, i == 0 ? "  " : "; ");
		rankset_append(out, &class->ranks);
		buffer_append_char(out, ' ');
		if (class->error || class->value)
			format_text(out, class->value ? class->value : class->error);
		else
			tensortext_append_head(out, &class->tensor);
		if (class->tensor.placement) {
			buffer_append_char(out, ' ');
			format_text(out, class->tensor.placement);
		}
		if (class->tensor.has_hash && !class->tensor.placement)
			buffer_printf(out, " %08x", (unsigned int)class->tensor.hash);
		format_parameters_append_nan(out, class);
	}
	if (rankset_count(&row->missing) > 0) {
		buffer_append_string(out, "; ");
		rankset_append(out, &row->missing);
		buffer_append_string(out, " missing");
	}
	buffer_append_char(out, '\n');
}

void format_text_parameters(struct buffer *out, const struct paramdiff *diff)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->row_count; i++) {
		if (!paramdiff_row_is_odd(&diff->rows[i]))
			continue;
		if (count++ < ROWS_MAXIMUM)
			format_parameters_append_row(out, &diff->rows[i]);
	}
	if (count > ROWS_MAXIMUM)
		buffer_printf(out, "  and %zu more\n", count - ROWS_MAXIMUM);
}
