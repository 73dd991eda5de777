#include "backends/tensor/tensor-requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "backends/connections.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/tensor-layout.h"
#include "backends/linux/memory.h"
#include "backends/linux/procfs.h"
#include "backends/node.h"
#include "backends/process-table.h"
#include "backends/ptrace/reader.h"
#include "backends/tensor/expression-lookup.h"
#include "backends/tensor/parameter-list.h"
#include "backends/tensor/scan-query.h"
#include "backends/tensor/scan-work.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "protocol/debugger.h"
#include "protocol/message.h"
#include "protocol/process.h"
#include "protocol/tensor.h"

/* An error of pyexpression.h that says that code would have to run contains " run ". */
static void respond_error(struct node *node, const struct message *request, const struct error *why)
{
	struct error error = *why;

	if (strstr(why->message, " run "))
		error_set(&error,
			  "%s; inject an agent to run code (probetui inject), or start the program "
			  "with PROBETUI=1",
			  why->message);
	node_respond(node, request, NULL, error.message);
}

/* An agent would run code, so a read-only node uses none. */
static struct connection *find_agent(struct node *node, const struct process *process,
				     enum request_kind kind, const struct message *request)
{
	if (node_is_read_only(node))
		return NULL;
	return connections_find_agent(node_connections(node), process, kind, request);
}

static void tensor_requests_send(struct node *node, struct connection *agent,
				 enum request_kind kind, const struct message *request)
{
	struct error error = ERROR_INIT;

	if (agent->backend->send(agent, kind, request, &error) < 0)
		node_respond(node, request, NULL, error.message);
}

/*
 * Tries without an agent, then with an agent, then without the elements that only an agent could
 * read.
 */
static void tensor_requests_ask(struct node *node, const struct process *process,
				enum request_kind kind, const struct message *request,
				enum value_request (*begin)(struct node *node,
							    const struct process *process,
							    const struct message *request,
							    bool is_last, struct error *error))
{
	struct error error = ERROR_INIT;
	enum value_request valuing = begin(node, process, request, false, &error);
	struct connection *agent = NULL;

	if (valuing == VALUE_REQUEST_TOO_MUCH)
		agent = find_agent(node, process, kind, request);
	if (agent) {
		tensor_requests_send(node, agent, kind, request);
		return;
	}
	if (valuing == VALUE_REQUEST_TOO_MUCH)
		valuing = begin(node, process, request, true, &error);
	if (valuing != VALUE_REQUEST_TAKEN)
		respond_error(node, request, &error);
}

void tensor_request(struct node *node, const struct process *process, const struct message *request)
{
	tensor_requests_ask(node, process, REQUEST_TENSOR, request, value_request_begin);
}

void tensor_parameters_request(struct node *node, const struct process *process,
			       const struct message *request)
{
	tensor_requests_ask(node, process, REQUEST_PARAMETERS, request, parameter_list_begin);
}

/* Maximum number of times that a changed tensor is read. */
#define TRIES_MAXIMUM 3

struct valuing_ask {
	struct tensor_ask base;
	struct expression_lookup finding; /* its strings are borrowed from base.request */
	struct found found;
	struct tensor_query query;
	struct tensor told;
	struct tensor_work *work; /* NULL: not started, or ended */
	int tries;
	double deadline;
	bool is_doubtful; /* true: each attempt found a changed tensor */
	bool is_cancelled;
};

static void value_request_clear(struct valuing_ask *ask)
{
	expression_lookup_clear(&ask->finding);
	found_clear(&ask->found);
	tensor_clear(&ask->told);
	tensor_ask_end(&ask->base);
	free(ask);
}

static void value_request_cancel(struct tensor_ask *base)
{
	struct valuing_ask *ask = (struct valuing_ask *)base;

	ask->is_cancelled = true;
	if (ask->work)
		tensor_work_cancel(ask->work);
}

static void value_request_forget(struct tensor_ask *base)
{
	struct valuing_ask *ask = (struct valuing_ask *)base;

	if (ask->work)
		tensor_work_forget(ask->work);
	value_request_clear(ask);
}

/*
 * Answers
 */

static void value_request_add_elements(json_t *body, const struct tensor_result *result)
{
	struct buffer text = BUFFER_INIT;

	if (result->slice.numbers)
		json_object_set_new(body, "slice", tensor_slice_to_json(&result->slice));
	if (result->found >= 0)
		json_object_set_new(body, "found", json_integer(result->found));
	if (!result->data)
		return;
	base64_encode(&text, result->data, result->data_length);
	json_set_text(body, "data", text.data);
	buffer_clear(&text);
}

/* Answers with the value, and the elements of result (or NULL); frees ask. */
static void value_request_answer(struct valuing_ask *ask, const struct tensor_result *result)
{
	const struct found *found = &ask->found;
	json_t *body = json_object();

	ask->told.is_torn |= ask->is_doubtful;
	ask->told.is_live = tensor_ask_is_live(&ask->base);
	json_object_set_new(body, "pid", json_integer(ask->base.pid));
	json_object_set_new(body, "tid", json_integer(found->tid));
	json_object_set_new(body, "value", variable_to_json(&found->list.items[0]));
	json_object_set_new(body, "tensor",
			    found->value.has_tensor ? tensor_to_json(&ask->told) : json_null());
	json_object_set_new(body, "frame",
			    ask->found.frame ? json_incref(ask->found.frame) : json_null());
	json_object_set_new(body, "found", json_null());
	json_object_set_new(body, "held_ns", json_integer((json_int_t)found->held_ns));
	json_object_set_new(body, "held_calls", json_integer((json_int_t)found->held_calls));
	if (result)
		value_request_add_elements(body, result);
	tensor_ask_respond(&ask->base, body, NULL);
	value_request_clear(ask);
}

static void value_request_fail(struct valuing_ask *ask, const struct error *error)
{
	tensor_ask_respond(&ask->base, NULL, error->message);
	value_request_clear(ask);
}

/* Finding and reading */

static int value_request_look_once(struct valuing_ask *ask, struct error *error)
{
	struct ptrace_connection *reader;

	tensor_clear(&ask->told);
	if (tensor_ask_look(&ask->base, &ask->finding, &ask->found, &reader, error))
		return -1;
	if (ask->found.value.has_tensor)
		pytensor_tell(&ask->found.value.tensor, &ask->told);
	return 0;
}

/*
 * True if a second lookup finds the same tensor. Only the frame's thread is stopped during a
 * lookup: another thread may have freed the object between the reads of name and sizes.
 */
static bool is_found_again(struct valuing_ask *ask)
{
	struct error unused = ERROR_INIT;
	struct ptrace_connection *connection = tensor_ask_reader(&ask->base, &unused);
	struct found again = { .tid = 0 };
	const struct pyexpression_value *value = &ask->found.value;
	bool is_same = connection &&
		       !expression_lookup_look(&ask->finding, connection, &again, &unused) &&
		       again.value.address == value->address && again.value.has_tensor &&
		       pytensor_is_same(&value->whole, &again.value.whole);

	found_clear(&again);
	return is_same;
}

static int value_request_look(struct valuing_ask *ask, struct error *error)
{
	ask->is_doubtful = false;
	for (int i = 0; i < TRIES_MAXIMUM; i++) {
		if (value_request_look_once(ask, error))
			return -1;
		if (!ask->found.value.has_tensor || !tensor_ask_is_live(&ask->base) ||
		    is_found_again(ask))
			return 0;
	}
	ask->is_doubtful = true;
	return 0;
}

/* True if the tensor is unchanged since it was found. */
static bool is_the_same(struct valuing_ask *ask)
{
	const struct pytensor *whole = &ask->found.value.whole;
	struct error unused = ERROR_INIT;
	struct ptrace_connection *connection = tensor_ask_reader(&ask->base, &unused);
	struct pytensor now;
	struct pyreader reader;

	if (!connection)
		return false;
	memory_begin(connection->memory, false);
	pyreader_init(&reader, connection->memory, &connection->python);
	return pyexpression_read_again(&ask->found.value, &reader, &now) == 0 &&
	       pytensor_is_same(whole, &now);
}

static void value_request_on_done(struct tensor_result *result, void *data);

/* Starts to read the elements; -1: they cannot be read, and told.unread gives the reason. */
static int value_request_begin_work(struct valuing_ask *ask, struct error *error)
{
	struct tensor_layout layout;

	if (pytensor_layout(&ask->found.value.tensor, ask->base.pid, &layout, error) ||
	    tensor_layout_check(&layout, error)) {
		if (!ask->told.unread)
			ask->told.unread = xstrdup(error->message);
		return -1;
	}
	ask->tries++;
	ask->query.timeout = ask->deadline - loop_now();
	ask->work =
		tensor_work_begin(ask->base.node, &layout, &ask->query, value_request_on_done, ask);
	return 0;
}

/*
 * Finds and reads a tensor again that was changed or freed. why: the error of the first reading, if
 * any.
 */
static void read_anew(struct valuing_ask *ask, const struct error *why)
{
	struct error error = ERROR_INIT;

	if (value_request_look(ask, &error))
		value_request_fail(ask, error_is_set(why) ? why : &error);
	else if (!ask->found.value.has_tensor || value_request_begin_work(ask, &error))
		value_request_answer(ask, NULL);
}

static void value_request_on_done(struct tensor_result *result, void *data)
{
	struct valuing_ask *ask = data;
	bool is_over = ask->is_cancelled || loop_now() >= ask->deadline;
	bool is_same = is_the_same(ask);

	ask->work = NULL;
	if (error_is_set(&result->error))
		error_prefix(&result->error, "%s", expression_lookup_name(&ask->finding));
	if (!is_same && !is_over && ask->tries < TRIES_MAXIMUM) {
		read_anew(ask, &result->error);
		return;
	}
	if (error_is_set(&result->error)) {
		value_request_fail(ask, &result->error);
		return;
	}
	tensor_ask_take(&ask->told, result);
	ask->told.is_torn = !is_same;
	value_request_answer(ask, result);
}

static int value_request_parse(struct valuing_ask *ask, struct error *error)
{
	const json_t *arguments = ask->base.request.body;
	int result = expression_lookup_parse(&ask->finding, arguments, error);

	/* An expression that pyexpression_parse() refuses may be valid for an agent. */
	ask->found.needs_code = ask->finding.text && !ask->finding.expression;
	if (result)
		return -1;
	if (tensor_query_parse(&ask->query, arguments, error))
		return error_prefix(error, "tensor");
	ask->deadline = loop_now() + ask->query.timeout;
	return value_request_look(ask, error);
}

/* True if the request wants elements that only an agent can read. */
static bool is_too_much(const struct valuing_ask *ask)
{
	const struct pytensor *tensor = &ask->found.value.tensor;

	return tensor->unread && !(tensor->device && strcmp(tensor->device, "meta") == 0);
}

enum value_request value_request_begin(struct node *node, const struct process *process,
				       const struct message *request, bool is_last,
				       struct error *error)
{
	struct valuing_ask *ask = xcalloc(1, sizeof(*ask));
	enum value_request result = VALUE_REQUEST_TAKEN;

	ask->base.cancel = value_request_cancel;
	ask->base.forget = value_request_forget;
	tensor_init(&ask->told);
	tensor_ask_begin(&ask->base, node, process, request);
	if (value_request_parse(ask, error)) {
		result = ask->found.needs_code ? VALUE_REQUEST_TOO_MUCH : VALUE_REQUEST_FAILED;
		value_request_clear(ask);
	} else if (!ask->found.value.has_tensor || !tensor_query_is_any(&ask->query)) {
		value_request_answer(ask, NULL);
	} else if (!is_last && is_too_much(ask)) {
		result = VALUE_REQUEST_TOO_MUCH;
		error_set(error, "%s", ask->found.value.tensor.unread);
		value_request_clear(ask);
	} else if (value_request_begin_work(ask, error)) {
		value_request_answer(ask, NULL);
	}
	return result;
}

struct tensor_asks {
	struct tensor_ask *first;
};

struct tensor_asks *tensor_asks_new(void)
{
	return xcalloc(1, sizeof(struct tensor_asks));
}

void tensor_asks_free(struct tensor_asks *asks)
{
	if (!asks)
		return;
	while (asks->first) {
		struct tensor_ask *ask = asks->first;

		node_respond(ask->node, &ask->request, NULL,
			     "the value was not read: probetui-node is exiting");
		ask->forget(ask);
	}
	free(asks);
}

void tensor_asks_interrupt(struct tensor_asks *asks, pid_t pid)
{
	for (struct tensor_ask *ask = asks->first; ask; ask = ask->next)
		if (ask->pid == pid)
			ask->cancel(ask);
}

void tensor_ask_begin(struct tensor_ask *ask, struct node *node, const struct process *process,
		      const struct message *request)
{
	struct tensor_asks *asks = node_tensor_asks(node);

	ask->node = node;
	ask->pid = process->pid;
	ask->start_time = process->start_time;
	message_make_request(&ask->request, request->name, json_incref(request->body));
	ask->request.seq = request->seq;
	ask->previous = NULL;
	ask->next = asks->first;
	if (asks->first)
		asks->first->previous = ask;
	asks->first = ask;
}

void tensor_ask_end(struct tensor_ask *ask)
{
	if (ask->previous)
		ask->previous->next = ask->next;
	else
		node_tensor_asks(ask->node)->first = ask->next;
	if (ask->next)
		ask->next->previous = ask->previous;
	message_clear(&ask->request);
}

void tensor_ask_respond(struct tensor_ask *ask, json_t *owned_body, const char *error)
{
	node_respond(ask->node, &ask->request, owned_body, error);
	node_flush(ask->node);
}

struct ptrace_connection *tensor_ask_reader(struct tensor_ask *ask, struct error *error)
{
	const struct process *process = process_table_find(node_process_table(ask->node), ask->pid);

	if (!process || (ask->start_time && process->start_time != ask->start_time)) {
		error_set(error, "process %d has exited", (int)ask->pid);
		return NULL;
	}
	return (struct ptrace_connection *)connections_open(node_connections(ask->node), process,
							    error);
}

static bool scan_requests_has_ended(const struct tensor_ask *ask)
{
	struct procfs_stat stat;

	if (procfs_stat(node_procfs(ask->node), ask->pid, &stat) < 0)
		return procfs_is_gone(errno);
	return procfs_has_ended(&stat);
}

/*
 * If the process has exited, *error becomes that fact, instead of the error about the expression.
 * Returns -1.
 */
static int scan_requests_fail(const struct tensor_ask *ask, struct error *error)
{
	if (scan_requests_has_ended(ask))
		error_set(error, "process %d has exited", (int)ask->pid);
	return -1;
}

int tensor_ask_look(struct tensor_ask *ask, const struct expression_lookup *finding,
		    struct found *found, struct ptrace_connection **reader, struct error *error)
{
	/* The program may have been replaced (execve): the second try uses a new connection. */
	for (int tries = 0; tries < 2; tries++) {
		*reader = tensor_ask_reader(ask, error);
		found_clear(found);
		found->needs_code = !*reader;
		if (!*reader)
			return -1;
		if (expression_lookup_look(finding, *reader, found, error) == 0)
			return 0;
		if (!found->is_lost)
			break;
		connections_forget(node_connections(ask->node), ask->pid);
	}
	return scan_requests_fail(ask, error);
}

bool tensor_ask_is_live(struct tensor_ask *ask)
{
	const struct debugger *debugger =
		connections_debugger(node_connections(ask->node), ask->pid);

	return !debugger || debugger->state != DEBUGGER_STOPPED;
}

void tensor_ask_take(struct tensor *told, struct tensor_result *result)
{
	struct tensor *from = &result->told;

	told->has_statistics = from->has_statistics;
	told->statistics = from->statistics;
	from->statistics.minimum.text = NULL;
	from->statistics.maximum.text = NULL;
	told->share = from->share;
	told->histogram = from->histogram;
	from->histogram.bins = NULL;
	told->has_hash = from->has_hash;
	told->hash = from->hash;
	told->blocks = from->blocks;
	from->blocks = NULL;
	told->block_count = from->block_count;
	told->block_elements = from->block_elements;
}
