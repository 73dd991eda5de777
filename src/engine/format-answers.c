#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/format.h"
#include "model/answers.h"

/* Lines after the first one begin below it; the last has no end. */
static void append_lines(struct buffer *out, const char *text, size_t indent)
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

static void append_class(struct buffer *out, const struct answer_class *class,
			 int width)
{
	struct buffer ranks = BUFFER_INIT;
	struct buffer deviation = BUFFER_INIT;
	size_t start = out->length;

	rankset_append(&ranks, &class->ranks);
	buffer_printf(out, "%c %-*s (%zu)  ", mark_of(class), width, ranks.data,
		      rankset_count(&class->ranks));
	append_lines(out, class->text, out->length - start);
	if (class->is_raised && class->first->traceback) {
		buffer_append_string(out, "\n    ");
		append_lines(out, class->first->traceback, 4);
	}
	answer_class_append_deviation(&deviation, class);
	if (deviation.length > 0)
		buffer_printf(out, "   %s", deviation.data);
	buffer_append_char(out, '\n');
	buffer_clear(&deviation);
	buffer_clear(&ranks);
}

static int width_of(const struct answer_classes *classes)
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

void format_text_answers(struct buffer *out, const struct answers *answers,
			 const struct answer_classes *classes)
{
	int width = width_of(classes);

	if (!answers_are_of_code(answers)) {
		format_text(out, answers->question);
		buffer_append_string(out, ": ");
		answer_classes_append_summary(out, classes, answers);
		buffer_append_char(out, '\n');
	}
	for (size_t i = 0; i < classes->count; i++)
		append_class(out, &classes->items[i], width);
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

static json_t *class_to_json(const struct answers *answers,
			     const struct answer_class *class)
{
	json_t *json = json_object();
	bool is_eval = answers_are_of_code(answers);
	size_t count = rankset_count(&class->ranks);

	json_object_set_new(json, "ranks", format_json_set(&class->ranks));
	json_object_set_new(json, "count", json_integer((json_int_t)count));
	json_set_text(json, "value",
		      is_eval ? class->first->value : class->text);
	if (is_eval) {
		json_set_text(json, "type", class->first->type);
		json_set_text(json, "output", class->first->output);
	}
	/* Tensors are read from outside, which a debugger is not. */
	if (answers->kind == ANSWERS_COMPARE)
		json_object_set_new(json, "tensor", json_null());
	return json;
}

json_t *format_json_answers(const struct answers *answers,
			    const struct answer_classes *classes)
{
	json_t *document = json_object();
	json_t *list = json_array();
	json_t *errors = json_array();

	for (size_t i = 0; i < classes->count; i++) {
		const struct answer_class *class = &classes->items[i];

		if (class->is_failure)
			add_errors(errors, answers, class);
		else
			json_array_append_new(list,
					      class_to_json(answers, class));
	}
	json_set_text(document,
		      answers->kind == ANSWERS_BROADCAST ? "line" : "expr",
		      answers->question);
	json_object_set_new(document, "classes", list);
	json_object_set_new(document, "errors", errors);
	return document;
}
