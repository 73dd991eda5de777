#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/format-collectives.h"
#include "engine/format.h"
#include "model/place.h"
#include "model/session.h"
#include "model/stacktree.h"
#include "protocol/stack.h"
#include "protocol/variable.h"

/* Number of code objects whose JSON values are cached while one stack is converted. */
#define CODES_IN_TURN 32

/* Appends \uXXXX in place of a code point that a terminal may interpret. */
static void append_escaped(struct buffer *out, int32_t codepoint)
{
	if (codepoint < 0x10000) {
		buffer_printf(out, "\\u%04x", (unsigned int)codepoint);
		return;
	}
	codepoint -= 0x10000;
	buffer_printf(out, "\\u%04x\\u%04x", 0xd800 + (unsigned int)(codepoint >> 10),
		      0xdc00 + (unsigned int)(codepoint & 0x3ff));
}

void format_document(struct buffer *out, json_t *owned_value)
{
	struct buffer line = BUFFER_INIT;
	const char *at;

	json_append(&line, owned_value);
	json_decref(owned_value);
	/* In JSON text only strings contain anything but plain ASCII. */
	for (at = line.data; at < line.data + line.length;) {
		size_t left = line.length - (size_t)(at - line.data);
		size_t plain = text_plain_prefix(at, left);

		buffer_append(out, at, plain);
		at += plain;
		if (plain < left)
			append_escaped(out, text_next(&at));
	}
	buffer_append_char(out, '\n');
	buffer_clear(&line);
}

static json_t *format_json_text_or_null(const char *text)
{
	return text && text[0] != '\0' ? json_text(text) : json_null();
}

json_t *format_json_set(const struct rankset *set)
{
	struct buffer text = BUFFER_INIT;
	json_t *json;

	rankset_append(&text, set);
	json = json_string(text.data);
	buffer_clear(&text);
	return json;
}

static const char *frame_type_name(enum frame_type type)
{
	switch (type) {
	case FRAME_PYTHON:
		return "Python";
	case FRAME_NATIVE:
		return "Native";
	}
	return "Python";
}

/* JSON values that all frames of a code object share. */
static json_t *format_json_code_to_json(const struct code *code)
{
	json_t *json = json_object();

	json_object_set_new(json, "func", json_text(code->func));
	json_object_set_new(json, "qualname", format_json_text_or_null(code->qualname));
	json_object_set_new(json, "file", json_text(code->file));
	json_object_set_new(json, "frame_type", json_string(frame_type_name(code->type)));
	return json;
}

/*
 * Adds the member name of code to json; both share the value. Names are literals: no UTF-8 check
 * needed.
 */
static void share(json_t *json, const char *name, json_t *code)
{
	json_object_set_new_nocheck(json, name, json_incref(json_object_get(code, name)));
}

static json_t *format_json_frame_to_json(const struct process *process, const struct frame *frame,
					 size_t depth, json_t *code)
{
	json_t *json = json_object();

	share(json, "func", code);
	share(json, "qualname", code);
	share(json, "file", code);
	json_object_set_new_nocheck(json, "lineno",
				    frame->lineno > 0 ? json_integer(frame->lineno) : json_null());
	json_object_set_new_nocheck(json, "depth", json_integer((json_int_t)depth));
	share(json, "frame_type", code);
	json_object_set_new_nocheck(json, "is_user", json_boolean(place_is_user(process, frame)));
	return json;
}

json_t *format_json_frame(const struct process *process, const struct frame *frame, size_t depth)
{
	json_t *code = format_json_code_to_json(frame->code);
	json_t *json = format_json_frame_to_json(process, frame, depth, code);

	json_decref(code);
	return json;
}

/* Deep stacks repeat a few functions: the JSON values of recent code objects are reused. */
static json_t *frames_to_json(const struct process *process, const struct stack *stack)
{
	json_t *codes[CODES_IN_TURN] = { NULL };
	const struct code *known[CODES_IN_TURN] = { NULL };
	json_t *frames = json_array();

	for (size_t i = 0; stack && i < stack->frame_count; i++) {
		const struct frame *frame = &stack->frames[i];
		size_t slot = ((uintptr_t)frame->code >> 4) % CODES_IN_TURN;

		if (known[slot] != frame->code) {
			json_decref(codes[slot]);
			codes[slot] = format_json_code_to_json(frame->code);
			known[slot] = frame->code;
		}
		json_array_append_new(frames,
				      format_json_frame_to_json(process, frame, i, codes[slot]));
	}
	for (size_t i = 0; i < CODES_IN_TURN; i++)
		json_decref(codes[i]);
	return frames;
}

json_t *format_json_thread(const struct session *session, const struct rank *rank,
			   const struct thread *thread)
{
	const struct thread_sample *sample = &thread->sample;
	json_t *json = json_object();

	json_object_set_new(json, "tid", json_integer(sample->tid));
	json_object_set_new(json, "name", format_json_text_or_null(sample->name));
	json_object_set_new(json, "is_main", json_boolean(sample->is_main));
	json_object_set_new(json, "has_gil",
			    sample->is_gil_known ? json_boolean(sample->has_gil) : json_null());
	json_object_set_new(json, "state", json_string(thread_state_name(sample->state)));
	json_object_set_new(json, "exact", json_string(exactness_name(sample->exactness)));
	json_object_set_new(json, "activity", format_json_text_or_null(thread->activity.name));
	json_object_set_new(json, "missing", format_json_text_or_null(sample->missing));
	json_object_set_new(json, "frames",
			    frames_to_json(&rank->process, session_shown_stack(session, thread)));
	return json;
}

/* Rounds to milliseconds, as sampling is not more precise. */
static json_t *seconds_to_json(double seconds)
{
	return json_real((double)(int64_t)(seconds * 1000 + 0.5) / 1000);
}

static json_t *age_to_json(const struct session *session, const struct rank *rank)
{
	const struct thread *thread = rank_main_thread(rank);

	if (!thread || rank->sampled_at < 0 || session->now < thread->since)
		return json_null();
	return seconds_to_json(session->now - thread->since);
}

static json_t *error_to_json(const struct rank *rank)
{
	if (rank->error && rank->error[0] != '\0')
		return json_text(rank->error);
	return format_json_text_or_null(rank->process.error);
}

static json_t *positive_to_json(int64_t number)
{
	return number > 0 ? json_integer(number) : json_null();
}

static const char *format_json_find_source(const struct session *session, const struct rank *rank)
{
	if (!session_controls(session, rank))
		return "replay";
	return rank->sample_source ? rank->sample_source : "ptrace";
}

static void set_process(json_t *json, const struct session *session, const struct rank *rank)
{
	json_object_set_new(json, "pid", positive_to_json(process_shown_pid(&rank->process)));
	json_object_set_new(json, "host", format_json_text_or_null(rank->process.host));
	json_object_set_new(json, "world_size", positive_to_json(rank->process.world_size));
	json_object_set_new(json, "state", json_string(rank_state_name(rank->state)));
	json_object_set_new(json, "class",
			    rank->class_index >= 0 ? json_integer(rank->class_index) : json_null());
	json_object_set_new(json, "age_s", age_to_json(session, rank));
	json_object_set_new(json, "source", json_string(format_json_find_source(session, rank)));
	json_object_set_new(json, "error", error_to_json(rank));
}

static json_t *threads_to_json(const struct session *session, const struct rank *rank)
{
	json_t *threads = json_array();

	for (size_t i = 0; i < rank->thread_count; i++)
		json_array_append_new(threads,
				      format_json_thread(session, rank, &rank->threads[i]));
	return threads;
}

/* A child process of a rank: no rank number, but a role. */
static json_t *child_to_json(const struct session *session, const struct rank *child)
{
	json_t *json = json_object();

	json_object_set_new(json, "role", format_json_text_or_null(child->process.role));
	set_process(json, session, child);
	json_object_set_new(json, "children", json_array());
	json_object_set_new(json, "threads", threads_to_json(session, child));
	return json;
}

json_t *format_json_rank(const struct session *session, const struct rank *rank)
{
	json_t *json = json_object();
	json_t *children = json_array();

	json_object_set_new(json, "rank", json_integer(rank->process.rank));
	set_process(json, session, rank);
	for (size_t i = 0; i < rank->child_count; i++)
		json_array_append_new(children, child_to_json(session, rank->children[i]));
	json_object_set_new(json, "children", children);
	json_object_set_new(json, "threads", threads_to_json(session, rank));
	return json;
}

/* Whether a class's frame is a user frame is decided by the process of the class's first rank. */
static const struct process *process_of(const struct session *session, const struct rankset *ranks)
{
	const struct rank *rank = session_find_rank(session, rankset_first(ranks));

	return rank ? &rank->process : NULL;
}

static json_t *format_json_class_to_json(const struct session *session,
					 const struct rank_class *class)
{
	const struct process *process = process_of(session, &class->ranks);
	json_t *json = json_object();

	json_object_set_new(json, "ranks", format_json_set(&class->ranks));
	json_object_set_new(json, "count", json_integer((json_int_t)rankset_count(&class->ranks)));
	json_object_set_new(json, "activity", format_json_text_or_null(class->activity.name));
	json_object_set_new(json, "frames",
			    process ? frames_to_json(process, class->stack) : json_array());
	return json;
}

json_t *format_json_verdict(const struct session *session)
{
	const struct verdict *verdict = &session->verdict;
	json_t *json = json_object();
	json_t *outliers = json_array();
	json_t *classes = json_array();
	int rank = -1;

	while ((rank = rankset_next(&verdict->outliers, rank)) >= 0)
		json_array_append_new(outliers, json_integer(rank));
	for (size_t i = 0; i < verdict->class_count; i++)
		json_array_append_new(classes,
				      format_json_class_to_json(session, &verdict->classes[i]));
	json_object_set_new(json, "job", format_json_text_or_null(verdict->job));
	json_object_set_new(json, "world_size", positive_to_json(verdict->world_size));
	json_object_set_new(json, "ranks_found", json_integer((json_int_t)verdict->ranks_found));
	json_object_set_new(json, "verdict", format_json_text_or_null(verdict->sentence));
	json_object_set_new(json, "state", json_string(verdict_state_name(verdict->state)));
	json_object_set_new(json, "outliers", outliers);
	json_object_set_new(json, "classes", classes);
	json_object_set_new(json, "waits", format_json_waits(session));
	return json;
}

static void append_tree_frame(json_t *frames, const struct process *process,
			      const struct stacktree_node *node)
{
	json_t *frame;

	if (!node->frame.code || !process)
		return;
	frame = format_json_frame(process, &node->frame, 0);
	/* A merged frame has a different depth in each stack. */
	json_object_set_new(frame, "depth", json_null());
	json_array_append_new(frames, frame);
}

json_t *format_json_tree(const struct session *session, const struct stacktree_node *node)
{
	const struct process *process = process_of(session, &node->ranks);
	json_t *json = json_object();
	json_t *frames = json_array();
	json_t *children = json_array();

	/*
	 * A recursion is a chain of thousands of nodes: one object for a chain, as nested objects
	 * would be too deep for many JSON parsers.
	 */
	append_tree_frame(frames, process, node);
	while (node->child_count == 1 &&
	       rankset_is_equal(&node->ranks, &node->children[0]->ranks)) {
		node = node->children[0];
		append_tree_frame(frames, process, node);
	}
	for (size_t i = 0; i < node->child_count; i++)
		json_array_append_new(children, format_json_tree(session, node->children[i]));
	json_object_set_new(json, "frames", frames);
	json_object_set_new(json, "ranks", format_json_set(&node->ranks));
	json_object_set_new(json, "count", json_integer((json_int_t)node->rank_count));
	json_object_set_new(json, "is_outlier", json_boolean(node->is_outlier));
	json_object_set_new(json, "children", children);
	return json;
}

json_t *format_json_rows(const struct stackdiff *diff, const struct process *a,
			 const struct process *b)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < diff->row_count; i++) {
		const struct stackdiff_row *row = &diff->rows[i];
		json_t *json = json_object();

		json_object_set_new(json, "op", json_stringn(&row->op, 1));
		json_object_set_new(json, "a",
				    row->a ? format_json_frame(a, row->a, row->a_depth)
					   : json_null());
		json_object_set_new(json, "b",
				    row->b ? format_json_frame(b, row->b, row->b_depth)
					   : json_null());
		json_array_append_new(rows, json);
	}
	return rows;
}

json_t *format_json_variables(const struct variable_list *list)
{
	json_t *variables = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(variables, variable_to_json(&list->items[i]));
	return variables;
}
