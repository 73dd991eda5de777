#include "backends/tensor/parameter-list.h"

#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pyobject.h"
#include "backends/cpython/pytensor-pandas.h"
#include "backends/cpython/tensor-layout.h"
#include "backends/linux/memory.h"
#include "backends/node.h"
#include "backends/ptrace/reader.h"
#include "backends/tensor/expression-lookup.h"
#include "backends/tensor/parameter-walk.h"
#include "backends/tensor/scan-query.h"
#include "backends/tensor/scan-work.h"
#include "backends/tensor/tensor-requests.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "protocol/process.h"
#include "protocol/tensor.h"
#include "protocol/tensoranswer.h"

/* Maximum number of tensors that are read at the same time. */
#define WORKS_MAXIMUM 4
/* Maximum number of times that a changed tensor is read. */
#define TRIES_MAXIMUM 3
#define PROGRESS_SECONDS 0.2

struct listing_ask;

/* One tensor that is being read. */
struct listing_work {
	struct listing_ask *ask;
	struct tensor_work *work; /* NULL: the place is free */
	size_t index;		  /* index in the page */
	int tries;
};

struct listing_ask {
	struct tensor_ask base;
	struct expression_lookup finding; /* its strings are borrowed from base.request */
	struct found found;
	struct tensor_walk walk;
	struct tensor_query query;
	bool has_gradients;
	bool wants_values;
	int64_t start;
	struct tensor_parameters page;
	struct pytensor *raw; /* one for each item of the page; all 0: no tensor, or unreadable */
	size_t next;	      /* index in the page of the next tensor to read */
	int64_t done, total;  /* bytes read so far, and bytes to read in all */
	double told_at;	      /* time of the newest progress event */
	double deadline;
	bool is_stopped; /* true: cancelled, or out of time */
	int rounds;	 /* number of walks begun */
	struct error error;
	struct listing_work works[WORKS_MAXIMUM];
};

static void parameter_list_clear(struct listing_ask *ask)
{
	expression_lookup_clear(&ask->finding);
	found_clear(&ask->found);
	tensor_walk_clear(&ask->walk);
	tensor_parameters_clear(&ask->page);
	free(ask->raw);
	tensor_ask_end(&ask->base);
	free(ask);
}

static void cancel_works(struct listing_ask *ask)
{
	ask->is_stopped = true;
	for (size_t i = 0; i < WORKS_MAXIMUM; i++)
		if (ask->works[i].work)
			tensor_work_cancel(ask->works[i].work);
}

static void parameter_list_cancel(struct tensor_ask *base)
{
	struct listing_ask *ask = (struct listing_ask *)base;

	error_set(&ask->error, "the request was cancelled");
	cancel_works(ask);
}

static void parameter_list_forget(struct tensor_ask *base)
{
	struct listing_ask *ask = (struct listing_ask *)base;

	for (size_t i = 0; i < WORKS_MAXIMUM; i++)
		if (ask->works[i].work)
			tensor_work_forget(ask->works[i].work);
	parameter_list_clear(ask);
}

/*
 * Answers
 */

static void parameter_list_tell_progress(struct listing_ask *ask, bool is_over)
{
	json_t *body;

	if (is_over ? ask->told_at == 0 : loop_now() < ask->told_at + PROGRESS_SECONDS)
		return;
	/* A quick request sends no progress event: the first call only stores the time. */
	if (ask->told_at == 0) {
		ask->told_at = loop_now();
		return;
	}
	ask->told_at = loop_now();
	body = json_object();
	json_object_set_new(body, "pid", json_integer(ask->base.pid));
	json_set_text(body, "title", "tensor");
	json_object_set_new(body, "done", json_integer(ask->done));
	json_object_set_new(body, "total", json_integer(is_over ? 0 : ask->total));
	json_set_text(body, "message", ask->finding.text);
	node_emit(ask->base.node, EVENT_PROGRESS, body);
	node_flush(ask->base.node);
}

static void parameter_list_answer(struct listing_ask *ask)
{
	bool is_live = tensor_ask_is_live(&ask->base);
	json_t *body;

	parameter_list_tell_progress(ask, true);
	for (size_t i = 0; i < ask->page.count; i++)
		ask->page.items[i].tensor.is_live = is_live;
	body = tensor_parameters_to_json(&ask->page);
	json_object_set_new(body, "pid", json_integer(ask->base.pid));
	json_object_set_new(body, "start", json_integer(ask->start));
	json_object_set_new(body, "frame",
			    ask->found.frame ? json_incref(ask->found.frame) : json_null());
	tensor_ask_respond(&ask->base, body, NULL);
	parameter_list_clear(ask);
}

static void parameter_list_fail(struct listing_ask *ask)
{
	parameter_list_tell_progress(ask, true);
	tensor_ask_respond(&ask->base, NULL, ask->error.message);
	parameter_list_clear(ask);
}

/*
 * The page
 */

static void complain(struct tensor_parameter *parameter, const char *why)
{
	free(parameter->error);
	parameter->error = xstrdup(why);
}

static int64_t bytes_of(const struct pytensor *raw)
{
	return raw->element_count * raw->item_size;
}

/* Reads the current description of an item's tensor; -1 with *error set. */
static int parameter_list_read_item(const struct listing_ask *ask, struct pyreader *reader,
				    const struct tensor_walk_item *item, struct pytensor *raw,
				    struct error *error)
{
	if (item->column < 0)
		return pytensor_read_this(reader, item->object, ask->has_gradients, raw, error);
	if (ask->has_gradients)
		return error_set(error, "the DataFrame column has no gradient");
	return pandas_read_column(reader, item->object, item->column, raw)
		       ? error_set(error, "the DataFrame column is stored in an unknown way: "
					  "inject an agent")
		       : 0;
}

/* Appends an item of the walk to the page, without its elements. */
static void parameter_list_fill(struct listing_ask *ask, struct pyreader *reader,
				const struct tensor_walk_item *item, struct pytensor *raw)
{
	struct tensor_parameter *parameter = tensor_parameters_add(&ask->page);
	struct error error = ERROR_INIT;

	parameter->name = xstrdup(item->name);
	parameter->is_buffer = item->is_buffer;
	parameter->value = xstrdup_or_null(item->value);
	parameter->error = xstrdup_or_null(item->error);
	if (!item->object) {
		*raw = (struct pytensor){ .object = 0 };
		return;
	}
	if (parameter_list_read_item(ask, reader, item, raw, &error)) {
		complain(parameter, error.message);
		*raw = (struct pytensor){ .object = 0 };
		return;
	}
	pytensor_tell(raw, &parameter->tensor);
	if (tensor_query_is_any(&ask->query) && !raw->unread)
		ask->total += bytes_of(raw);
}

static void parameter_list_fill_page(struct listing_ask *ask, struct ptrace_connection *connection)
{
	struct tensor_walk *walk = &ask->walk;
	struct pyreader reader;
	size_t first, count;

	first = (size_t)ask->start < walk->count ? (size_t)ask->start : walk->count;
	count = walk->count - first;
	if (count > PARAMETER_LIST_PAGE)
		count = PARAMETER_LIST_PAGE;
	ask->page.total = (int64_t)walk->count;
	ask->page.has_values = ask->wants_values;
	ask->raw = xcalloc(count ? count : 1, sizeof(*ask->raw));
	for (size_t i = 0; i < count; i++) {
		/*
		 * Each group of 32 items gets a new reader, so the group may read as much as one
		 * request.
		 */
		if (i % 32 == 0) {
			memory_begin(connection->memory, false);
			pyreader_init(&reader, connection->memory, &connection->python);
		}
		parameter_list_fill(ask, &reader, &walk->items[first + i], &ask->raw[i]);
	}
}

/*
 * Walks the value of the request's expression; returns the connection that was used, or NULL with
 * *error set.
 */
static struct ptrace_connection *walk(struct listing_ask *ask, struct found *found,
				      struct tensor_walk *items, struct error *error)
{
	const char *text = ask->finding.text ? ask->finding.text : "";
	struct ptrace_connection *connection;

	if (tensor_ask_look(&ask->base, &ask->finding, found, &connection, error))
		return NULL;
	if (!found->value.address) {
		error_set(error, "%s is a computed value: read its items one by one", text);
		return NULL;
	}
	return tensor_walk(connection, found->value.address, text, ask->wants_values, items, error)
		       ? NULL
		       : connection;
}

static int parameter_list_look(struct listing_ask *ask, struct error *error)
{
	struct ptrace_connection *connection = walk(ask, &ask->found, &ask->walk, error);

	ask->rounds++;
	if (!connection)
		return -1;
	parameter_list_fill_page(ask, connection);
	return 0;
}

/*
 * Elements
 */

static void parameter_list_go_on(struct listing_ask *ask);
static void parameter_list_on_done(struct tensor_result *result, void *data);

static void parameter_list_on_progress(int64_t done, int64_t total, void *data)
{
	(void)done;
	(void)total;
	parameter_list_tell_progress(((struct listing_work *)data)->ask, false);
}

/*
 * Starts to read a tensor's elements; -1: they cannot be read, and tensor.unread gives the
 * reason.
 */
static int parameter_list_begin_work(struct listing_work *place)
{
	struct listing_ask *ask = place->ask;
	struct tensor_parameter *parameter = &ask->page.items[place->index];
	struct tensor_work_calls calls = { parameter_list_on_done, parameter_list_on_progress,
					   place };
	struct error error = ERROR_INIT;
	struct tensor_layout layout;

	if (!parameter->tensor.dtype)
		return -1;
	if (pytensor_layout(&ask->raw[place->index], ask->base.pid, &layout, &error) ||
	    tensor_layout_check(&layout, &error)) {
		if (!parameter->tensor.unread)
			parameter->tensor.unread = xstrdup(error.message);
		return -1;
	}
	ask->query.timeout = ask->deadline - loop_now();
	place->tries++;
	place->work = tensor_work_start(node_loop(ask->base.node), &layout, &ask->query, &calls);
	return 0;
}

/* Reads the item's description again. Returns 1: unchanged, 0: changed, -1: unreadable. */
static int parameter_list_look_again(struct listing_work *place, struct pytensor *now)
{
	struct listing_ask *ask = place->ask;
	size_t item = (size_t)ask->start + place->index;
	struct error unused = ERROR_INIT;
	struct ptrace_connection *connection = tensor_ask_reader(&ask->base, &unused);
	struct pyreader reader;

	if (!connection)
		return -1;
	memory_begin(connection->memory, false);
	pyreader_init(&reader, connection->memory, &connection->python);
	if (parameter_list_read_item(ask, &reader, &ask->walk.items[item], now, &unused))
		return -1;
	return pytensor_is_same(&ask->raw[place->index], now);
}

static void parameter_list_take_result(struct listing_work *place, struct tensor_result *result)
{
	struct listing_ask *ask = place->ask;
	struct tensor_parameter *parameter = &ask->page.items[place->index];
	struct pytensor now;
	int same = parameter_list_look_again(place, &now);

	if (same == 0 && place->tries < TRIES_MAXIMUM) {
		ask->raw[place->index] = now;
		tensor_clear(&parameter->tensor);
		pytensor_tell(&now, &parameter->tensor);
		if (parameter_list_begin_work(place) == 0)
			return;
	}
	if (error_is_set(&result->error))
		complain(parameter, result->error.message);
	else
		tensor_ask_take(&parameter->tensor, result);
	parameter->tensor.is_torn = same <= 0;
}

static void parameter_list_on_done(struct tensor_result *result, void *data)
{
	struct listing_work *place = data;
	struct listing_ask *ask = place->ask;

	place->work = NULL;
	if (error_is_set(&result->error) && (ask->is_stopped || loop_now() >= ask->deadline)) {
		if (!error_is_set(&ask->error)) {
			ask->error = result->error;
			error_prefix(&ask->error, "%s", expression_lookup_name(&ask->finding));
		}
		cancel_works(ask);
	} else if (!ask->is_stopped) {
		parameter_list_take_result(place, result);
	}
	if (place->work)
		return;
	ask->done += bytes_of(&ask->raw[place->index]);
	parameter_list_tell_progress(ask, false);
	parameter_list_go_on(ask);
}

static bool has_same_name(const struct tensor_walk *walk, const struct tensor_walk *again,
			  size_t at)
{
	return at < again->count && again->items[at].object == walk->items[at].object &&
	       again->items[at].column == walk->items[at].column &&
	       strcmp(again->items[at].name, walk->items[at].name) == 0;
}

/*
 * True if the second walk found the same tensor. The description is compared, too: a tensor may
 * have been freed and another created at its address under the same name.
 */
static bool parameter_list_is_same(struct listing_ask *ask, const struct tensor_walk *again,
				   size_t i)
{
	struct listing_work place = { .ask = ask, .index = i };
	struct pytensor now;

	return has_same_name(&ask->walk, again, (size_t)ask->start + i) &&
	       (!ask->raw[i].object || parameter_list_look_again(&place, &now) > 0);
}

/*
 * Replaces items that a second walk does not find by an error: the memory of such an item may
 * belong to another tensor by now. Returns the number of replaced items.
 */
static size_t drop_replaced(struct listing_ask *ask)
{
	struct tensor_walk again = { .items = NULL };
	struct found found = { .tid = 0 };
	struct error unused = ERROR_INIT;
	size_t dropped = 0;

	if (!walk(ask, &found, &again, &unused))
		again.count = 0;
	for (size_t i = 0; i < ask->page.count; i++) {
		if (parameter_list_is_same(ask, &again, i))
			continue;
		tensor_clear(&ask->page.items[i].tensor);
		complain(&ask->page.items[i], "the tensor was replaced while it was read");
		dropped++;
	}
	tensor_walk_clear(&again);
	found_clear(&found);
	return dropped;
}

/*
 * If items were replaced, walks and reads everything again; false: nothing is read again, and the
 * answer is what was read so far.
 */
static bool parameter_list_begin_anew(struct listing_ask *ask)
{
	if (!tensor_ask_is_live(&ask->base) || drop_replaced(ask) == 0 ||
	    ask->rounds >= TRIES_MAXIMUM || loop_now() >= ask->deadline)
		return false;
	tensor_walk_clear(&ask->walk);
	tensor_parameters_clear(&ask->page);
	free(ask->raw);
	ask->raw = NULL;
	ask->next = 0;
	ask->done = 0;
	ask->total = 0;
	return parameter_list_look(ask, &ask->error) == 0;
}

/*
 * Starts to read further tensors while places in works are free; answers when the last tensor was
 * read.
 */
static void parameter_list_go_on(struct listing_ask *ask)
{
	bool is_busy = false;

	for (size_t i = 0; i < WORKS_MAXIMUM; i++) {
		struct listing_work *place = &ask->works[i];

		while (!place->work && !ask->is_stopped && tensor_query_is_any(&ask->query) &&
		       ask->next < ask->page.count) {
			place->index = ask->next++;
			place->tries = 0;
			parameter_list_begin_work(place);
		}
		is_busy |= place->work != NULL;
	}
	if (is_busy)
		return;
	if (!error_is_set(&ask->error) && parameter_list_begin_anew(ask))
		parameter_list_go_on(ask);
	else if (error_is_set(&ask->error))
		parameter_list_fail(ask);
	else
		parameter_list_answer(ask);
}

/*
 * The request
 */

static int parameter_list_parse(struct listing_ask *ask, struct error *error)
{
	const json_t *arguments = ask->base.request.body;
	int result = expression_lookup_parse(&ask->finding, arguments, error);

	/* An expression that pyexpression_parse() refuses may be valid for an agent. */
	ask->found.needs_code = ask->finding.text && !ask->finding.expression;
	if (result)
		return -1;
	ask->has_gradients = json_get_boolean(arguments, "gradients", false);
	ask->wants_values = json_get_boolean(arguments, "values", false) && !ask->has_gradients;
	ask->start = json_get_integer(arguments, "start", 0);
	if (tensor_query_parse_each(&ask->query, arguments, error))
		return error_prefix(error, "parameters");
	ask->deadline = loop_now() + ask->query.timeout;
	return 0;
}

static bool is_on_device(const struct listing_ask *ask)
{
	for (size_t i = 0; i < ask->page.count; i++)
		if (ask->raw[i].device && ask->raw[i].unread &&
		    strcmp(ask->raw[i].device, "meta") != 0)
			return true;
	return false;
}

enum value_request parameter_list_begin(struct node *node, const struct process *process,
					const struct message *request, bool is_last,
					struct error *error)
{
	struct listing_ask *ask = xcalloc(1, sizeof(*ask));

	ask->base.cancel = parameter_list_cancel;
	ask->base.forget = parameter_list_forget;
	for (size_t i = 0; i < WORKS_MAXIMUM; i++)
		ask->works[i].ask = ask;
	tensor_ask_begin(&ask->base, node, process, request);
	if (parameter_list_parse(ask, error) || parameter_list_look(ask, error)) {
		bool needs_code = ask->found.needs_code;

		parameter_list_clear(ask);
		return needs_code ? VALUE_REQUEST_TOO_MUCH : VALUE_REQUEST_FAILED;
	}
	if (!is_last && tensor_query_is_any(&ask->query) && is_on_device(ask)) {
		parameter_list_clear(ask);
		return VALUE_REQUEST_TOO_MUCH;
	}
	parameter_list_go_on(ask);
	return VALUE_REQUEST_TAKEN;
}
