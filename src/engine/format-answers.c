#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/format.h"
#include "model/answers.h"
#include "model/paramdiff.h"
#include "model/tensordiff.h"
#include "model/tensorformat.h"
#include "protocol/tensor.h"

/*
 * Appends text. All lines but the first are indented by indent columns; the output ends without a
 * newline.
 */
static void format_answers_append_lines(struct buffer *out, const char *text, size_t indent)
{
	size_t length = strcspn(text, "\n");

	text_append_line(out, text, length);
	while (text[length] == '\n' && text[length + 1] != '\0') {
		text += length + 1;
		length = strcspn(text, "\n");
		buffer_printf(out, "\n%*s", (int)indent, "");
		text_append_line(out, text, length);
	}
}

static char mark_of(const struct answer_class *class)
{
	if (class->is_failure && !class->is_raised)
		return '?';
	return class->is_odd || class->is_raised ? '!' : ' ';
}

/* Appends a tensor's shape, statistics and hash; the tensor's text would repeat them. */
static void append_tensor(struct buffer *out, const struct tensor *tensor)
{
	tensortext_append_head(out, tensor);
	buffer_append_string(out, "  ");
	tensortext_append_statistics(out, tensor);
	if (tensor->placement) {
		buffer_append_string(out, "  ");
		format_text(out, tensor->placement);
	}
	if (tensor->has_hash)
		buffer_printf(out, "  hash %08" PRIx32, tensor->hash);
	if (!tensor->unread)
		return;
	buffer_append_char(out, ' ');
	format_text(out, tensor->unread);
}

static void format_answers_append_class(struct buffer *out, const struct answer_class *class,
					int width)
{
	struct buffer ranks = BUFFER_INIT;
	struct buffer deviation = BUFFER_INIT;
	size_t start = out->length;

	rankset_append(&ranks, &class->ranks);
	buffer_printf(out, "%c %-*s (%zu)  ", mark_of(class), width, ranks.data,
		      rankset_count(&class->ranks));
	if (class->tensor)
		append_tensor(out, class->tensor);
	else
		format_answers_append_lines(out, class->text, out->length - start);
	if (class->is_raised && class->first->traceback) {
		buffer_append_string(out, "\n    ");
		format_answers_append_lines(out, class->first->traceback, 4);
	}
	answer_class_append_deviation(&deviation, class);
	if (deviation.length > 0)
		buffer_printf(out, "   %s", deviation.data);
	buffer_append_char(out, '\n');
	buffer_clear(&deviation);
	buffer_clear(&ranks);
}

static int format_answers_width_of(const struct answer_classes *classes)
{
	struct buffer ranks = BUFFER_INIT;
	int width = 0;

	for (size_t i = 0; i < classes->count; i++) {
		buffer_reset(&ranks);
		rankset_append(&ranks, &classes->items[i].ranks);
		if ((int)ranks.length > width)
			width = (int)ranks.length;
	}
	buffer_clear(&ranks);
	return width;
}

/* Appends "  rank 5 against rank 0: 12 of 256 elements differ …". */
static void append_difference(struct buffer *out, const struct difference *difference)
{
	buffer_printf(out, "  rank %d against rank %d: ", difference->rank, difference->against);
	if (difference->state == DIFFERENCE_DONE)
		tensordiff_append(out, &difference->found);
	else
		format_text(out, difference->error ? difference->error : "not compared");
	buffer_append_char(out, '\n');
}

void format_text_answers(struct buffer *out, const struct answers *answers,
			 const struct answer_classes *classes)
{
	int width = format_answers_width_of(classes);
	size_t length;

	if (!answers_are_of_code(answers)) {
		format_text(out, answers->question);
		buffer_append_string(out, ": ");
		answer_classes_append_summary(out, classes, answers);
		buffer_append_char(out, '\n');
	}
	for (size_t i = 0; i < classes->count; i++)
		format_answers_append_class(out, &classes->items[i], width);
	for (size_t i = 0; i < answers->difference_count; i++)
		append_difference(out, &answers->differences[i]);
	length = out->length;
	answer_classes_append_sentence(out, classes, answers);
	if (out->length > length)
		buffer_append_char(out, '\n');
	if (answers->parts && answers->parts->is_over)
		format_text_parameters(out, answers->parts);
}

static const struct answer *answer_of(const struct answers *answers, int rank)
{
	for (size_t i = 0; i < answers->count; i++)
		if (answers->items[i].rank == rank)
			return &answers->items[i];
	return NULL;
}

static void add_errors(json_t *errors, const struct answers *answers,
		       const struct answer_class *class)
{
	int rank = -1;

	while ((rank = rankset_next(&class->ranks, rank)) >= 0) {
		const struct answer *answer = answer_of(answers, rank);
		json_t *json = json_pack("{s:i}", "rank", rank);

		json_set_text(json, "error", answer->error);
		if (answers_are_of_code(answers))
			json_set_text(json, "traceback", answer->traceback);
		if (answers_are_of_code(answers))
			json_set_text(json, "output", answer->output);
		json_array_append_new(errors, json);
	}
}

static json_t *format_answers_class_to_json(const struct answers *answers,
					    const struct answer_class *class)
{
	json_t *json = json_object();
	bool is_eval = answers_are_of_code(answers);
	size_t count = rankset_count(&class->ranks);

	json_object_set_new(json, "ranks", format_json_set(&class->ranks));
	json_object_set_new(json, "count", json_integer((json_int_t)count));
	json_set_text(json, "value", is_eval ? class->first->value : class->text);
	if (is_eval) {
		json_set_text(json, "type", class->first->type);
		json_set_text(json, "output", class->first->output);
	}
	if (answers->kind != ANSWERS_COMPARE)
		return json;
	json_object_set_new(json, "tensor",
			    class->tensor ? tensor_to_json(class->tensor) : json_null());
	json_object_set_new(json, "compared", json_boolean(class->is_sure));
	return json;
}

static json_t *sentence_to_json(const struct answers *answers, const struct answer_classes *classes)
{
	struct buffer sentence = BUFFER_INIT;
	json_t *json;

	answer_classes_append_sentence(&sentence, classes, answers);
	json = sentence.length > 0 ? json_text(sentence.data) : json_null();
	buffer_clear(&sentence);
	return json;
}

static json_t *place_to_json(const struct tensordiff *diff, const struct tensordiff_place *place)
{
	int64_t at[TENSOR_DIMENSIONS];
	json_t *index;

	if (place->index < 0)
		return json_null();
	index = json_array();
	tensordiff_find_index(diff, place->index, at);
	for (int i = 0; i < diff->dimension_count; i++)
		json_array_append_new(index, json_integer(at[i]));
	return json_pack("{s:o, s:[o, o]}", "index", index, "values",
			 tensor_number_to_json(&place->numbers[0]),
			 tensor_number_to_json(&place->numbers[1]));
}

static void format_answers_add_found(json_t *json, const struct tensordiff *found)
{
	json_object_set_new(json, "numel", json_integer(found->element_count));
	json_object_set_new(json, "compared", json_integer(found->compared));
	json_object_set_new(json, "differing", json_integer(found->differing));
	json_object_set_new(json, "unlike", json_integer(found->unlike));
	json_object_set_new(json, "first", place_to_json(found, &found->first));
	json_object_set_new(json, "max",
			    isnan(found->maximum) ? json_null() : json_real(found->maximum));
	json_object_set_new(json, "max_at", place_to_json(found, &found->farthest));
	json_object_set_new(json, "torn", json_boolean(found->is_torn));
}

json_t *format_json_tensordiff(int rank, int against, const char *error,
			       const struct tensordiff *found)
{
	json_t *json = json_pack("{s:i, s:i}", "rank", rank, "against", against);

	json_set_text(json, "error", error);
	if (!error)
		format_answers_add_found(json, found);
	return json;
}

static json_t *differences_to_json(const struct answers *answers)
{
	json_t *list = json_array();

	for (size_t i = 0; i < answers->difference_count; i++) {
		const struct difference *difference = &answers->differences[i];

		json_array_append_new(list,
				      format_json_tensordiff(difference->rank, difference->against,
							     difference->state == DIFFERENCE_DONE
								     ? NULL
								     : difference->error,
							     &difference->found));
	}
	return list;
}

json_t *format_json_answers(const struct answers *answers, const struct answer_classes *classes)
{
	json_t *document = json_object();
	json_t *list = json_array();
	json_t *errors = json_array();

	for (size_t i = 0; i < classes->count; i++) {
		const struct answer_class *class = &classes->items[i];

		if (class->is_failure)
			add_errors(errors, answers, class);
		else
			json_array_append_new(list, format_answers_class_to_json(answers, class));
	}
	json_set_text(document, answers->kind == ANSWERS_BROADCAST ? "line" : "expr",
		      answers->question);
	json_object_set_new(document, "classes", list);
	json_object_set_new(document, "errors", errors);
	if (answers->kind == ANSWERS_COMPARE)
		json_object_set_new(document, "sentence", sentence_to_json(answers, classes));
	if (answers->parts)
		json_object_set_new(document, "parts", format_json_parameters(answers->parts));
	if (answers->difference_count > 0)
		json_object_set_new(document, "differences", differences_to_json(answers));
	return document;
}

/*
 * Compared parameters of replicas, or compared parts of values: as JSON, and as text with one line
 * for each parameter or part that differs.
 */

/* Maximum number of lines; further rows are only counted. */
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
