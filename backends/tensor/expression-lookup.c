#include "backends/tensor/expression-lookup.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/pyobject.h"
#include "backends/ptrace/peek.h"
#include "backends/ptrace/reader.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/stack.h"

/* The request */

int expression_lookup_parse(struct expression_lookup *finding, const json_t *arguments,
			    struct error *error)
{
	*finding = (struct expression_lookup){
		.tid = (pid_t)json_get_integer(arguments, "tid", 0),
		.interpreter = (int)json_get_integer(arguments, "interpreter", -1),
		.depth = json_get_integer(arguments, "depth", -1),
		.frames = json_get_integer(arguments, "frames", -1),
		.text = json_get_string(arguments, "expression", NULL),
		.function = json_get_string(arguments, "function", NULL),
		.address = json_get_hex(arguments, "address"),
		.type = json_get_string(arguments, "type", NULL),
	};
	if (finding->frames >= 0 && finding->depth >= finding->frames)
		return error_set(error,
				 "\"depth\" must be less than \"frames\", the number of frames");
	finding->is_searched = finding->depth < 0 || json_get_boolean(arguments, "search", false);
	if (!finding->text == !finding->address)
		return error_set(error,
				 "exactly one of \"expression\" and \"address\" must be given");
	if (!finding->text)
		return 0;
	finding->expression = pyexpression_parse(finding->text, error);
	return finding->expression ? 0 : -1;
}

void expression_lookup_clear(struct expression_lookup *finding)
{
	pyexpression_free(finding->expression);
	finding->expression = NULL;
}

const char *expression_lookup_name(const struct expression_lookup *finding)
{
	return finding->text ? finding->text : "the object";
}

/*
 * Frames
 */

/* The current stack of a thread. */
struct frames {
	const struct peek *reading;
	struct pyreader *reader;
	int count;
	int above; /* number of newer frames, which the client does not know */
	/* What earlier attempts have found, such as which names are builtins. */
	struct pyexpression_search *search;
};

static int refuse_change(struct error *error)
{
	return error_set(error, "the stack has changed: take a new sample");
}

static int open_frames(const struct expression_lookup *finding, struct frames *frames,
		       struct error *error)
{
	size_t dropped;
	size_t kept = peek_count(frames->reading, &dropped);
	int64_t count = (int64_t)(kept + dropped);

	if (!kept)
		return error_set(error, "thread %d has no Python frames",
				 (int)frames->reading->tid);
	frames->count = (int)kept;
	if (finding->frames < 0)
		return 0;
	if (count < finding->frames - (finding->depth < 0 ? 0 : finding->depth))
		return refuse_change(error);
	frames->above = (int)(count - finding->frames);
	return 0;
}

/* The current depth of the requested frame, or of the first frame to search. */
static int first_depth(const struct expression_lookup *finding, const struct frames *frames)
{
	int depth = finding->depth < 0 ? 0 : (int)finding->depth;

	if (finding->frames >= 0)
		return depth + frames->above;
	return finding->depth < 0 ? 0 : peek_follow(frames->reading, depth);
}

static bool expression_lookup_is_named(const struct code *code, const char *name)
{
	return strcmp(code->func, name) == 0 ||
	       (code->qualname && strcmp(code->qualname, name) == 0);
}

static int check_function(const struct expression_lookup *finding, const struct frames *frames,
			  int depth, struct error *error)
{
	if (depth < 0 || depth >= frames->count)
		return refuse_change(error);
	if (finding->function && finding->depth >= 0 &&
	    !expression_lookup_is_named(peek_code(frames->reading, depth), finding->function))
		return refuse_change(error);
	return 0;
}

/* True if a file belongs to Python itself or to an installed package. */
static bool is_library(const char *file)
{
	static const char *const places[] = { "/site-packages/", "/dist-packages/",
					      "/lib/python3" };

	if (file[0] == '<')
		return true;
	for (size_t i = 0; i < ARRAY_LENGTH(places); i++)
		if (strstr(file, places[i]))
			return true;
	return false;
}

/* Maximum number of frames that are searched; a deep recursion repeats the same functions. */
#define SEARCHED_MAXIMUM 512

/*
 * True if all names are bound in the frame at depth. is_own true: only variables of the frame and
 * builtins count; false: globals count, too.
 */
static bool has_names(const struct expression_lookup *finding, const struct frames *frames,
		      int depth, bool is_own, struct pyexpression_search *search)
{
	struct error unused = ERROR_INIT;
	struct pyobject_frame frame;

	if (peek_frame(frames->reading, depth, &frame, &unused))
		return false;
	return is_own ? pyexpression_is_own(finding->expression, frames->reader, &frame, search)
		      : pyexpression_is_seen(finding->expression, frames->reader, &frame, search);
}

/* Returns the depth behind the last frame that is searched. */
static int end_of_search(const struct frames *frames, int depth)
{
	return frames->count > depth + SEARCHED_MAXIMUM ? depth + SEARCHED_MAXIMUM : frames->count;
}

/*
 * Finds the first frame whose own variables have the names, else the first frame in which the names
 * are bound, preferably of the program, not of a library; -1: none.
 */
static int expression_lookup_search(const struct expression_lookup *finding,
				    const struct frames *frames, int depth)
{
	struct pyexpression_search *seen = frames->search;
	int count = end_of_search(frames, depth);
	int best = -1;

	seen->judged_count = 0;
	seen->stranger_count = 0;
	for (int i = depth; i < count; i++)
		if (has_names(finding, frames, i, true, seen))
			return i;
	for (int i = depth; i < count; i++) {
		bool is_theirs = is_library(peek_code(frames->reading, i)->file);

		if ((is_theirs && best >= 0) || !has_names(finding, frames, i, false, seen))
			continue;
		if (!is_theirs)
			return i;
		best = i;
	}
	return best;
}

/*
 * Chooses the frame to read. If no frame has the names, this is the frame at which the search
 * began, so that the error names the unknown name.
 */
static int expression_lookup_choose_frame(const struct expression_lookup *finding,
					  struct frames *frames, struct found *found,
					  struct pyobject_frame *frame, struct error *error)
{
	int depth;

	if (open_frames(finding, frames, error))
		return -1;
	depth = first_depth(finding, frames);
	if (check_function(finding, frames, depth, error))
		return -1;
	found->searched = 0;
	if (finding->is_searched) {
		int first = depth;

		depth = expression_lookup_search(finding, frames, first);
		if (depth < 0)
			found->searched = end_of_search(frames, first) - first;
		if (depth < 0)
			depth = first;
	}
	found->depth = depth;
	found->above = frames->above;
	return peek_frame(frames->reading, depth, frame, error);
}

/* Describes the frame by names and lines, for which the thread need not be stopped. */
static json_t *tell_frame(const struct peek *reading, const struct found *found)
{
	const struct code *code = peek_code(reading, found->depth);
	json_t *json = json_object();

	json_set_text(json, "func", code->func);
	json_set_text(json, "file", code->file);
	json_object_set_new(json, "lineno", json_integer(peek_line(reading, found->depth)));
	json_object_set_new(json, "depth", json_integer(found->depth - found->above));
	return json;
}

/* Reading */

/*
 * Maximum number of attempts to read a thread that is idle when an attempt begins, and runs before
 * the attempt ends.
 */
#define LOOKS_MAXIMUM 3

static int read_expression(const struct expression_lookup *finding, struct peek *reading,
			   struct pyreader *reader, struct pyexpression_search *search,
			   struct found *found, struct error *error)
{
	struct frames frames = {
		.reading = reading,
		.reader = reader,
		.search = search,
	};
	struct pyobject_frame frame;
	int result;

	found->depth = -1;
	if (expression_lookup_choose_frame(finding, &frames, found, &frame, error))
		return -1;
	result = pyexpression_read(finding->expression, reader, &frame,
				   variable_list_add(&found->list), &found->value, error);
	/* A name that is unbound in the frame is unknown to an agent, too. */
	found->needs_code = result && pyexpression_is_seen(finding->expression, reader, &frame,
							   &(struct pyexpression_search){ 0 });
	return result;
}

static int read_address(const struct expression_lookup *finding, struct pyreader *reader,
			struct found *found, struct error *error)
{
	struct variable *variable = variable_list_add(&found->list);
	int result = peek_check_type(reader, finding->address, finding->type, error);

	if (result)
		return -1;
	result = pyexpression_read_object(reader, finding->address, variable, &found->value, error);
	if (!result)
		variable->name = xstrdup("");
	return result;
}

struct look {
	const struct expression_lookup *finding;
	struct found *found;
	struct pyexpression_search search;
};

static int expression_lookup_read_it(struct peek *reading, void *data, struct error *error)
{
	struct look *look = data;
	struct found *found = look->found;
	struct pyreader reader;

	found_clear(found);
	peek_reader(reading, &reader);
	found->tid = reading->tid;
	return look->finding->expression ? read_expression(look->finding, reading, &reader,
							   &look->search, found, error)
					 : read_address(look->finding, &reader, found, error);
}

/* Replaces an error about the first frame by an error about all frames that were searched. */
static void explain_search(const struct expression_lookup *finding, const struct found *found,
			   struct error *error)
{
	struct error first = ERROR_INIT;

	if (!found->searched || found->needs_code || !error)
		return;
	first = *error;
	if (pyexpression_is_name(finding->expression))
		error_set(error,
			  "name '%s' is not defined in any frame of the thread (searched: %d) or "
			  "in their modules",
			  finding->text, found->searched);
	else
		error_set(error,
			  "no frame of the thread (searched: %d) defines all names in %s; in the "
			  "first frame: %s",
			  found->searched, finding->text, first.message);
}

/* Returns 1 if the thread was not stopped and has run meanwhile, so that the value may be wrong. */
static int expression_lookup_look_once(const struct expression_lookup *finding,
				       struct ptrace_connection *connection, struct found *found,
				       bool is_last, struct error *error)
{
	struct look look = { .finding = finding, .found = found };
	struct peek reading = {
		.connection = connection,
		.tid = finding->tid,
		.interpreter = finding->interpreter,
	};
	int result = peek_begin(&reading, error);

	found->is_lost = result != 0;
	if (!result)
		result = peek_look(&reading, expression_lookup_read_it, &look, error);
	if (!result && finding->expression)
		found->frame = tell_frame(&reading, found);
	else if (result < 0 && !found->is_lost)
		explain_search(finding, found, error);
	found->held_ns = reading.held_ns;
	found->held_calls = reading.has_stood ? reading.held_calls : 0;
	if (!is_last && !found->is_lost) {
		peek_judge(&reading);
		if (reading.exactness == TORN)
			result = 1;
	}
	peek_clear(&reading);
	return result;
}

int expression_lookup_look(const struct expression_lookup *finding,
			   struct ptrace_connection *connection, struct found *found,
			   struct error *error)
{
	int result = 1;

	for (int i = 1; result > 0; i++) {
		struct error failed = ERROR_INIT;

		found_clear(found);
		result = expression_lookup_look_once(finding, connection, found, i == LOOKS_MAXIMUM,
						     &failed);
		if (result < 0 && error)
			*error = failed;
	}
	return result;
}

void found_clear(struct found *found)
{
	variable_list_clear(&found->list);
	json_decref(found->frame);
	found->frame = NULL;
}
