/* watch-nan-tell: reports a found NaN, as a sentence and as an event. */
#include "engine/watch-nan.h"

#include "banned.h"
#include "base/buffer.h"
#include "base/json.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "model/place.h"

void watch_nan_append(struct buffer *out, const struct watch_nan *watch)
{
	const struct nan_find *find = &watch->found;

	buffer_printf(out, "Rank %d: ", find->rank);
	if (watch->is_of_gradients)
		buffer_append_string(out, "the gradient of ");
	if (find->tensor) {
		format_text(out, find->tensor);
		buffer_append_string(out, " of ");
	}
	buffer_printf(out, "%s is ", watch->expression);
	format_text(out, find->value);
	if (find->func) {
		buffer_append_string(out, ", in ");
		format_text(out, find->func);
		buffer_append_string(out, " (");
		format_text(out, place_file_name(find->file));
		buffer_printf(out, ":%d)", find->line);
	}
	if (find->step_name) {
		buffer_printf(out, ", %s ", find->step_name);
		format_text(out, find->step_value);
	}
	buffer_append_string(
		out, find->is_exact ? "." : "; seen from outside, so it may be older than that.");
}

static json_t *watch_nan_tell_frame_to_json(const struct nan_find *find)
{
	json_t *json;

	if (!find->func)
		return json_null();
	json = json_object();
	json_object_set_new(json, "func", json_text(find->func));
	json_object_set_new(json, "file", json_text(find->file));
	json_object_set_new(json, "lineno", json_integer(find->line));
	json_object_set_new(json, "depth", json_integer(find->depth));
	return json;
}

static json_t *count_to_json(int64_t count)
{
	return count < 0 ? json_null() : json_integer(count);
}

json_t *watch_nan_to_json(const struct watch_nan *watch)
{
	const struct nan_find *find = &watch->found;
	json_t *json = json_object();
	json_t *step = json_null();

	if (find->step_name) {
		step = json_object();
		json_object_set_new(step, "name", json_text(find->step_name));
		json_object_set_new(step, "value", json_text(find->step_value));
	}
	json_object_set_new(json, "event", json_string("nan"));
	json_object_set_new(json, "expr", json_text(watch->expression));
	json_object_set_new(json, "rank", json_integer(find->rank));
	json_set_text(json, "tensor", find->tensor);
	json_object_set_new(json, "value", json_text(find->value));
	json_object_set_new(json, "nan", count_to_json(find->nan_count));
	json_object_set_new(json, "inf", count_to_json(find->infinity_count));
	json_object_set_new(json, "frame", watch_nan_tell_frame_to_json(find));
	json_object_set_new(json, "step", step);
	json_object_set_new(json, "exact", json_boolean(find->is_exact));
	return json;
}

void watch_nan_append_way(struct buffer *out, const struct watch_nan *watch)
{
	struct rankset others = RANKSET_INIT;

	buffer_printf(out, "watch-nan %s%s: ", watch->is_of_gradients ? "--gradients " : "",
		      watch->expression);
	rankset_copy(&others, &watch->ranks);
	rankset_subtract(&others, &watch->exact);
	if (rankset_count(&watch->exact) > 0) {
		rankset_append_named(out, &watch->exact);
		buffer_append_string(out, " at each line, by their agents");
	}
	if (rankset_count(&others) > 0) {
		if (rankset_count(&watch->exact) > 0)
			buffer_append_string(out, "; ");
		rankset_append_named(out, &others);
		buffer_append_string(out,
				     " by samples from outside: a NaN there may be reported late");
	}
	rankset_clear(&others);
}

void watch_nan_append_event(struct command_context *context)
{
	struct watch_nan *watch = &context->engine->watch_nan;

	if (watch->state != WATCH_NAN_FOUND || watch->is_told)
		return;
	watch->is_told = true;
	context->status = STATUS_FINDING;
	if (context->is_json) {
		format_document(context->out, watch_nan_to_json(watch));
		return;
	}
	watch_nan_append(context->out, watch);
	buffer_append_char(context->out, '\n');
}
