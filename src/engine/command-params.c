/*
 * command-params: parameters and buffers that replicas should have alike.
 */
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/command.h"
#include "engine/commands.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/gather.h"
#include "engine/params.h"
#include "engine/pending.h"
#include "model/answers.h"
#include "model/paramdiff.h"
#include "model/tensortext.h"

#define DEFAULT_EXPRESSION "model"
/* What differs everywhere is not listed to its end. */
#define ROWS_MAXIMUM 20

static json_t *class_to_json(const struct paramdiff_class *class)
{
	json_t *json = json_object();

	json_object_set_new(json, "ranks", format_json_set(&class->ranks));
	json_object_set_new(
		json, "count",
		json_integer((json_int_t)rankset_count(&class->ranks)));
	json_object_set_new(json, "tensor",
			    class->tensor.dtype
				    ? tensor_to_json(&class->tensor)
				    : json_null());
	json_set_text(json, "error", class->error);
	return json;
}

static json_t *row_to_json(const struct paramdiff_row *row)
{
	json_t *json = json_object();
	json_t *classes = json_array();

	for (size_t i = 0; i < row->class_count; i++)
		json_array_append_new(classes, class_to_json(&row->classes[i]));
	json_set_text(json, "name", row->name);
	json_set_text(json, "kind", row->is_buffer ? "buffer" : "parameter");
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
	return format_json_tensordiff(difference->rank, difference->against,
				      difference->error, &difference->found);
}

static void add_count(json_t *json, const char *key, size_t count)
{
	json_object_set_new(json, key, json_integer((json_int_t)count));
}

static json_t *to_json(const struct paramdiff *diff)
{
	struct buffer sentence = BUFFER_INIT;
	json_t *json = json_object();
	json_t *rows = json_array();

	for (size_t i = 0; i < diff->row_count; i++)
		if (paramdiff_row_differs(&diff->rows[i]))
			json_array_append_new(rows,
					      row_to_json(&diff->rows[i]));
	paramdiff_append_sentence(&sentence, diff);
	json_set_text(json, "expr", diff->expression);
	json_object_set_new(json, "gradients",
			    json_boolean(diff->is_of_gradients));
	add_count(json, "total", diff->row_count);
	add_count(json, "same", diff->counts[PARAMDIFF_SAME]);
	add_count(json, "differing", paramdiff_differing(diff));
	add_count(json, "sharded", diff->counts[PARAMDIFF_SHARDED]);
	add_count(json, "unread", diff->counts[PARAMDIFF_UNREAD]);
	json_set_text(json, "first",
		      diff->first < 0 ? NULL : diff->rows[diff->first].name);
	json_object_set_new(json, "difference", difference_to_json(diff));
	json_object_set_new(json, "reordered",
			    format_json_set(&diff->reordered));
	json_object_set_new(json, "rows", rows);
	json_set_text(json, "sentence", sentence.data);
	json_object_set_new(json, "errors", errors_to_json(diff));
	buffer_clear(&sentence);
	return json;
}

static void append_row(struct buffer *out, const struct paramdiff_row *row)
{
	buffer_append_string(out, "! ");
	format_text(out, row->name);
	for (size_t i = 0; i < row->class_count; i++) {
		const struct paramdiff_class *class = &row->classes[i];

		buffer_append_string(out, i == 0 ? "  " : "; ");
		rankset_append(out, &class->ranks);
		buffer_append_char(out, ' ');
		if (class->error)
			format_text(out, class->error);
		else
			tensortext_append_head(out, &class->tensor);
		if (class->tensor.has_hash)
			buffer_printf(out, " %08x",
				      (unsigned int)class->tensor.hash);
	}
	if (rankset_count(&row->missing) > 0) {
		buffer_append_string(out, "; ");
		rankset_append(out, &row->missing);
		buffer_append_string(out, " missing");
	}
	buffer_append_char(out, '\n');
}

static void append_errors(struct buffer *out, const struct paramdiff *diff)
{
	struct failures failures = FAILURES_INIT;

	for (size_t i = 0; i < diff->rank_count; i++)
		if (diff->ranks[i].error)
			failures_add(&failures, diff->ranks[i].rank,
				     diff->ranks[i].error);
	if (failures.count > 0)
		failures_append_lines(out, &failures);
	failures_clear(&failures);
}

static void append_text(struct buffer *out, const struct paramdiff *diff)
{
	bool is_any = false;
	size_t count = 0;

	for (size_t i = 0; i < diff->rank_count; i++)
		is_any = is_any || !diff->ranks[i].error;
	if (is_any) {
		paramdiff_append_sentence(out, diff);
		buffer_append_char(out, '\n');
	}
	for (size_t i = 0; i < diff->row_count; i++) {
		if (!paramdiff_row_differs(&diff->rows[i]))
			continue;
		if (count++ < ROWS_MAXIMUM)
			append_row(out, &diff->rows[i]);
	}
	if (count > ROWS_MAXIMUM)
		buffer_printf(out, "  and %zu more\n", count - ROWS_MAXIMUM);
	append_errors(out, diff);
}

static void judge(struct command_context *context,
		  const struct paramdiff *diff)
{
	size_t failed = 0;

	for (size_t i = 0; i < diff->rank_count; i++)
		failed += diff->ranks[i].error != NULL;
	context->status = STATUS_DONE;
	if (failed > 0 || diff->counts[PARAMDIFF_UNREAD] > 0 ||
	    diff->row_count == 0)
		context->status = STATUS_PARTIAL;
	if (failed == diff->rank_count)
		context->status = STATUS_NOTHING;
	gather_finding(context, paramdiff_differing(diff) > 0 ||
					diff->reordered.range_count > 0);
}

/* The option may stand in front of the expression. */
static bool takes_gradients(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], "--gradients") == 0;
}

int command_diff_params(struct command_context *context, int argc, char **argv,
			struct error *error)
{
	const struct paramdiff *diff = &context->engine->session.paramdiff;
	bool is_of_gradients = takes_gradients(argc, argv);
	char *expression = command_tail(context, argc, argv,
					is_of_gradients ? 2 : 1);
	int result = params_begin(
		context, expression[0] ? expression : DEFAULT_EXPRESSION,
		is_of_gradients, error);

	free(expression);
	/* A screen shows them as they come. */
	if (result < 0 || context->screen)
		return result;
	params_wait(context->engine);
	judge(context, diff);
	if (context->is_json)
		format_document(context->out, to_json(diff));
	else
		append_text(context->out, diff);
	return 0;
}
