#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/format.h"
#include "model/answers.h"
#include "model/difference.h"
#include "model/paramdiff.h"
#include "model/tensortext.h"
#include "protocol/tensor.h"

/* Indents all lines but the first to column indent; ends without a newline. */
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

/* "  rank 5 against rank 0: 12 of 256 elements differ …" */
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
