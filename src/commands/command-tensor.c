/*
 * command-tensor: describes one tensor of one rank (statistics over all elements), prints a slice
 * of the tensor, or writes all elements to a file.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/tensor-export.h"
#include "engine/tensor-requests.h"
#include "model/npy.h"
#include "model/tensorformat.h"
#include "model/tensorplane.h"
#include "protocol/dtype.h"
#include "protocol/tensoranswer.h"

#define COLUMN_WIDTH 11

struct looking {
	struct command_context *context;
	int rank;
	char *expression;
	const char *slice_text;
	const char *path;
	bool is_sample; /* true: only a part of a large tensor is read, without a hash */
	struct tensor_answer told;
	struct tensor_answer sliced;
	bool is_torn; /* true: the file's elements were read at different times */
};

/*
 * Sends a request for the tensor. The rank is searched for each request, because ranks appear and
 * exit while the command waits.
 */
static json_t *command_tensor_ask_rank(const struct looking *looking,
				       const struct tensor_question *ask, struct error *error)
{
	struct engine *engine = looking->context->engine;
	const struct rank *rank = session_find_rank(&engine->session, looking->rank);

	if (!rank) {
		error_set(error, "the rank no longer exists");
		return NULL;
	}
	return request_call(
		engine, rank->node, "tensor",
		tensor_question_arguments(
			engine, tensor_question_place(engine, rank, looking->expression), ask),
		error);
}

/* Sets *error to the failure, prefixed with the rank. */
static int command_tensor_fail(const struct looking *looking, struct error *failure,
			       struct error *error)
{
	format_clause(failure->message);
	return error_set(error, "rank %d: %s", looking->rank, failure->message);
}

static int command_tensor_fetch(const struct looking *looking, const struct tensor_question *ask,
				struct tensor_answer *answer, struct error *error)
{
	struct error failure = ERROR_INIT;
	json_t *body = command_tensor_ask_rank(looking, ask, &failure);
	int result = -1;

	if (body)
		result = tensor_answer_from_json(answer, body, &failure);
	json_decref(body);
	return result == 0 ? 0 : command_tensor_fail(looking, &failure, error);
}

static int command_tensor_look(struct looking *looking, struct error *error)
{
	const struct tensor_question ask = {
		.statistics = looking->is_sample ? "sample" : "whole",
		.wants_hash = !looking->is_sample,
	};
	const struct variable *value = &looking->told.value;

	looking->context->status = STATUS_NOTHING;
	if (command_tensor_fetch(looking, &ask, &looking->told, error) < 0)
		return -1;
	looking->context->status = STATUS_DONE;
	if (looking->told.has_tensor)
		return 0;
	looking->context->status = STATUS_FINDING;
	if (value->type && strncmp(value->type, "pandas.", 7) == 0 &&
	    strcmp(strrchr(value->type, '.'), ".DataFrame") == 0)
		return error_set(error,
				 "rank %d: the value is a DataFrame, not a tensor; use `tensor "
				 "%.100s['NAME']` to read one column, or `diff-params %.100s` to "
				 "compare all columns",
				 looking->rank, looking->expression, looking->expression);
	return error_set(error, "rank %d: the value is not a tensor but %.100s: %.200s",
			 looking->rank, value->type ? value->type : "another type", value->value);
}

static int check_size(const struct tensor_slice *slice, struct error *error)
{
	if (slice->row_count <= TENSOR_CELLS_MAXIMUM &&
	    slice->column_count <= TENSOR_CELLS_MAXIMUM &&
	    slice->row_count * slice->column_count <= TENSOR_CELLS_MAXIMUM)
		return 0;
	return error_set(error, "a slice has at most %d elements; --npy FILE writes all elements",
			 TENSOR_CELLS_MAXIMUM);
}

static int command_tensor_cut(struct looking *looking, struct error *error)
{
	struct tensor_slice slice;
	struct tensor_question ask = {
		.slice = &slice,
	};

	if (!looking->slice_text)
		return 0;
	looking->context->status = STATUS_USAGE;
	if (slicetext_parse(&slice, looking->slice_text, &looking->told.tensor, error) < 0 ||
	    check_size(&slice, error) < 0)
		return -1;
	looking->context->status = STATUS_NOTHING;
	if (command_tensor_fetch(looking, &ask, &looking->sliced, error) < 0)
		return -1;
	looking->context->status = STATUS_DONE;
	return looking->sliced.has_slice ? 0
					 : error_set(error, "rank %d sent no slice", looking->rank);
}

/* From here on: writing the elements to a file. */

/* Requests the elements of one part and adds them to the file. */
static int write_part(const struct looking *looking, struct tensor_export *export, int64_t start,
		      int64_t count, struct error *error)
{
	const struct tensor_question ask = {
		.data_start = start,
		.data_count = count,
	};
	struct error failure = ERROR_INIT;
	json_t *body = command_tensor_ask_rank(looking, &ask, &failure);

	int result = body ? tensor_export_add(export, body, &failure) : -1;

	json_decref(body);
	if (result == 0)
		return 0;
	return command_tensor_fail(looking, &failure, error);
}

static int export(struct looking *looking, struct error *error)
{
	struct tensor_export *export;
	int64_t start;
	int64_t count;
	int result;

	if (!looking->path)
		return 0;
	looking->context->status = STATUS_NOTHING;
	export = tensor_export_new(looking->path, &looking->told.tensor, error);
	result = export ? 0 : -1;
	while (result == 0 && (count = tensor_export_next(export, &start)) > 0)
		result = write_part(looking, export, start, count, error);
	looking->is_torn = export && tensor_export_is_torn(export);
	tensor_export_free(export);
	if (result == 0)
		looking->context->status = STATUS_DONE;
	return result;
}

/* From here on: printing. */

static void command_tensor_append_frame(struct buffer *out, const struct tensor_answer *told)
{
	if (!told->func || !told->file)
		return;
	buffer_append_string(out, "  in ");
	format_text(out, told->func);
	buffer_append_string(out, " (");
	format_text(out, told->file);
	buffer_printf(out, ":%d)", told->line);
}

static void append_storage(struct buffer *out, const struct tensor *tensor)
{
	/* The element count of a nested tensor is unknown (-1). */
	if (tensor->element_count >= 0) {
		buffer_append_string(out, "  strides ");
		tensortext_append_sizes(out, tensor->strides, tensor->dimension_count);
		buffer_printf(out, "  %" PRId64 " bytes", tensor->byte_count);
	}
	if (tensor->device) {
		buffer_append_string(out, "  on ");
		format_text(out, tensor->device);
	}
	if (tensor->requires_grad > 0)
		buffer_append_string(out, "  requires grad");
	if (tensor->placement) {
		buffer_append_string(out, "  ");
		format_text(out, tensor->placement);
	}
	if (tensor->has_hash)
		buffer_printf(out, "  hash %08" PRIx32, tensor->hash);
	buffer_append_char(out, '\n');
}

static void append_slice(struct buffer *out, const struct tensor_slice *slice)
{
	for (size_t i = 0; i < slice->count; i++) {
		struct buffer number = BUFFER_INIT;

		tensortext_append_number(&number, &slice->numbers[i]);
		buffer_printf(out, "%s%*s", i % (size_t)slice->column_count ? " " : "  ",
			      COLUMN_WIDTH, number.data);
		if ((i + 1) % (size_t)slice->column_count == 0)
			buffer_append_char(out, '\n');
		buffer_clear(&number);
	}
}

/* True for types like uint4, and structured ones: their bytes are read, but are not numbers. */
static bool is_opaque(const struct tensor *tensor)
{
	const struct dtype *dtype = tensor->dtype ? dtype_find(tensor->dtype) : NULL;

	return !dtype || dtype->class == DTYPE_OPAQUE || dtype->class == DTYPE_PACKED;
}

static void append_no_numbers(struct buffer *out, const struct tensor *tensor)
{
	buffer_append_string(out, "no statistics: elements of ");
	format_text(out, tensor->dtype ? tensor->dtype : "?");
	buffer_append_string(out, is_opaque(tensor) ? " cannot be decoded; the command compare can "
						      "only tell whether their bytes are equal"
						    : " are not numbers");
}

static void command_tensor_append_text(const struct looking *looking)
{
	struct buffer *out = looking->context->out;
	const struct tensor *tensor = &looking->told.tensor;

	buffer_printf(out, "rank %d  ", looking->rank);
	format_text(out, looking->expression);
	buffer_append_string(out, "  ");
	format_text(out, tensor->type ? tensor->type : "?");
	buffer_append_string(out, "  ");
	tensortext_append_head(out, tensor);
	command_tensor_append_frame(out, &looking->told);
	buffer_append_string(out, "\n  ");
	tensortext_append_statistics(out, tensor);
	if (tensor->unread)
		format_text(out, tensor->unread);
	else if (!tensor->has_statistics)
		append_no_numbers(out, tensor);
	buffer_append_char(out, '\n');
	append_storage(out, tensor);
	append_slice(out, &looking->sliced.slice);
	if (looking->path)
		buffer_printf(out, "  written to %s%s%s\n", looking->path,
			      npy_converted(tensor) ? " as " : "",
			      npy_converted(tensor) ? npy_converted(tensor) : "");
}

static json_t *command_tensor_frame_to_json(const struct tensor_answer *told)
{
	json_t *json = told->func ? json_object() : json_null();

	if (!told->func)
		return json;
	json_set_text(json, "func", told->func);
	json_set_text(json, "file", told->file);
	json_object_set_new(json, "lineno", json_integer(told->line));
	json_object_set_new(json, "depth", json_integer(told->depth));
	return json;
}

static void command_tensor_append_json(const struct looking *looking)
{
	json_t *json = tensor_to_json(&looking->told.tensor);

	json_object_set_new(json, "rank", json_integer(looking->rank));
	json_set_text(json, "expr", looking->expression);
	json_object_set_new(json, "frame", command_tensor_frame_to_json(&looking->told));
	if (looking->sliced.has_slice)
		json_object_set_new(json, "slice", tensor_slice_to_json(&looking->sliced.slice));
	if (looking->path)
		json_set_text(json, "npy", looking->path);
	format_document(looking->context->out, json);
}

/*
 * Sets the exit status: unread elements, or elements read at different times, make the answer
 * partial.
 */
static void command_tensor_judge(struct looking *looking)
{
	const struct tensor *tensor = &looking->told.tensor;
	struct command_context *context = looking->context;

	if (tensor->unread || tensor->is_torn || looking->is_torn ||
	    (!tensor->has_statistics && is_opaque(tensor)))
		context->status = STATUS_PARTIAL;
	collect_finding(context, tensor_nan_count(tensor) > 0 || tensor_infinity_count(tensor) > 0);
	if (!context->notes || !(tensor->is_torn || looking->is_torn))
		return;
	buffer_printf(context->notes,
		      "rank %d: the tensor changed while it was read, so old and new elements are "
		      "mixed\n",
		      looking->rank);
}

static int command_tensor_choose_rank(struct looking *looking, const char *text,
				      struct error *error)
{
	struct engine *engine = looking->context->engine;
	const struct session *session = &engine->session;
	const struct rank *rank;
	int number = -1;

	looking->context->status = STATUS_USAGE;
	if (!text && !engine->settings.script && session->rank_count > 1)
		return error_set(error, "tensor needs a rank; usage: tensor %s",
				 command_tensor.synopsis);
	if (text && arguments_integer(text, "rank", 0, RANKSET_MAXIMUM, &number, error) < 0)
		return -1;
	rank = text ? session_find_rank(session, number) : session_selected(session);
	if (!rank && !text && session->rank_count == 1)
		rank = session->ranks[0];
	if (!rank || rank->process.pid <= 0)
		return error_set(error, "no rank %s", text ? text : "is selected");
	looking->rank = rank->process.rank;
	return 0;
}

static int command_tensor_answer(struct looking *looking, struct error *error)
{
	if (command_tensor_look(looking, error) < 0 || command_tensor_cut(looking, error) < 0 ||
	    export(looking, error) < 0)
		return -1;
	if (looking->context->is_json)
		command_tensor_append_json(looking);
	else
		command_tensor_append_text(looking);
	command_tensor_judge(looking);
	return 0;
}

static int tensor_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct looking looking = {
		.context = context,
		.slice_text = arguments_value(arguments, "--slice"),
		.path = arguments_value(arguments, "--npy"),
		.is_sample = arguments_has(arguments, "--sample"),
	};
	int result = -1;

	if (arguments->count == 0)
		return arguments_refuse(arguments, error);
	looking.expression = arguments_text(arguments, 0, arguments->count);
	if (collect_ranks(context, error) == 0 &&
	    command_tensor_choose_rank(&looking, arguments_value(arguments, "--rank"), error) == 0)
		result = command_tensor_answer(&looking, error);
	tensor_answer_clear(&looking.told);
	tensor_answer_clear(&looking.sliced);
	free(looking.expression);
	return result;
}

const struct command command_tensor = {
	.name = "tensor",
	.synopsis = "EXPR [--rank R] [--sample] [--slice SLICE] [--npy FILE]",
	.help = "show statistics of a tensor of one rank; --slice [0:8, 3]: show elements; --npy: "
		"write all elements to FILE",
	.screen_synopsis = "[EXPR]",
	.screen_help =
		"show a tensor of the selected rank; without EXPR: show the last tensor again",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN | COMMAND_JOB,
	.run = tensor_run,
};
