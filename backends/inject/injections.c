#include "backends/inject/injections.h"

#include <stdbool.h>

#include "banned.h"

#include "backends/backend.h"
#include "backends/inject/inject.h"
#include "backends/inject/staging-dir.h"
#include "backends/linux/pid-list.h"
#include "backends/node.h"
#include "backends/process-table.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/loop.h"
#include "base/text.h"
#include "protocol/message.h"
#include "protocol/process.h"

#define SECONDS_DEFAULT 4.0
#define LOOK_SECONDS 0.01
#define OF_REST                                                                                    \
	0.75 /* share of the remaining time for the injection; the agent needs the rest to         \
	      * start */
#define ANSWER "answer"
#define ANSWER_MAXIMUM 8192

struct injection {
	struct injection *next;
	struct injections *injections;
	struct message request; /* only seq and name, for the answer */
	pid_t pid;
	struct staging_dir *dir;
	struct inject *inject;	  /* the injection of the script; NULL: it has ended, and the script
				   * runs */
	struct loop_timer *timer; /* while the script runs: checks whether it has answered */
	double deadline;
	bool is_for_main; /* the script must run in the main thread */
};

struct injections {
	struct node *node;
	struct injection *first;
};

/*
 * The end
 */

static void injection_free(struct injection *injection)
{
	if (injection->timer)
		loop_timer_stop(injection->timer);
	inject_free(injection->inject);
	staging_dir_free(injection->dir);
	message_clear(&injection->request);
	free(injection);
}

/* Answers the request and frees the injection. */
static void injections_end(struct injection *injection, json_t *owned_body, const char *error)
{
	struct injection **link = &injection->injections->first;
	struct node *node = injection->injections->node;

	while (*link != injection)
		link = &(*link)->next;
	*link = injection->next;
	node_respond(node, &injection->request, owned_body, error);
	injection_free(injection);
	node_flush(node);
}

/*
 * The agent's answer
 */

static void injections_append_names(struct buffer *out, const json_t *answer)
{
	const json_t *names = json_object_get(answer, "names");

	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));
		if (!name)
			continue;
		if (out->length > 0)
			buffer_append_string(out, ", ");
		buffer_append_string(out, name);
	}
}

static void injections_tell(struct injection *injection, const json_t *answer)
{
	const char *said = json_get_string(answer, "error", "");
	struct buffer problem = BUFFER_INIT;
	struct error error = ERROR_INIT;
	struct buffer names = BUFFER_INIT;
	json_t *body = NULL;

	injections_append_names(&names, answer);
	if (names.length > 0) {
		body = json_object();
		json_object_set_new(body, "pid", json_integer(injection->pid));
		json_set_text(body, "result", names.data);
	} else {
		text_escape(&problem, said, strlen(said));
		error_set(&error, "the agent does not listen: %s",
			  problem.length > 0 ? problem.data
					     : "see the program's standard error for the reason");
	}
	buffer_clear(&problem);
	buffer_clear(&names);
	injections_end(injection, body, body ? NULL : error.message);
}

static json_t *injections_read_answer(const struct injection *injection)
{
	struct buffer text = BUFFER_INIT;
	json_t *answer = NULL;

	text.maximum = ANSWER_MAXIMUM;
	if (staging_dir_read(injection->dir, ANSWER, &text) == 0)
		answer = json_parse(text.data, text.length, NULL);
	buffer_clear(&text);
	return answer;
}

static int injections_start(struct injection *injection, double limit_seconds, struct error *error);

/* Returns the folder of the agent's package, to free(). NULL: error is set. */
static char *find_package(struct error *error)
{
	char *agent = file_agent_folder(error);
	char *package = agent ? xasprintf("%s/probetui", agent) : NULL;

	free(agent);
	return package;
}

/* Injects again so that the script runs in the main thread: threading must be imported there. */
static void start_in_main(struct injection *injection)
{
	double limit_seconds = (injection->deadline - loop_now()) * OF_REST;
	struct error error = ERROR_INIT;
	char *package = find_package(&error);

	injection->is_for_main = true;
	if (package && staging_dir_write_script(injection->dir, package, &error) == 0 &&
	    injections_start(injection, limit_seconds > 0 ? limit_seconds : 0, &error) == 0)
		inject_into_main(injection->inject);
	else
		injections_end(injection, NULL, error.message);
	free(package);
}

/* Handles the agent's answer. Returns false if there is no answer yet. */
static bool injections_take_answer(struct injection *injection)
{
	json_t *answer = injections_read_answer(injection);

	if (!answer)
		return false;
	staging_dir_remove(injection->dir, ANSWER);
	if (json_get_boolean(answer, "wants_main", false))
		start_in_main(injection);
	else
		injections_tell(injection, answer);
	json_decref(answer);
	return true;
}

static void injections_look(void *data)
{
	struct injection *injection = data;

	injection->timer = NULL;
	if (injections_take_answer(injection))
		return;
	if (loop_now() > injection->deadline) {
		injections_end(injection, NULL,
			       "the agent was started, but did not report its socket in time");
		return;
	}
	injection->timer = loop_timer(node_loop(injection->injections->node), LOOK_SECONDS, 0,
				      injections_look, injection);
}

static void explain_main(struct error *error)
{
	struct error why = *error;

	error_set(error,
		  "no agent was injected, as the main thread has to import threading first (%s): "
		  "inject again later, wait longer (--timeout), or import threading in the program",
		  why.message);
}

static void on_begun(struct inject *inject, const struct reason *reason, void *data)
{
	struct injection *injection = data;
	struct error error = ERROR_INIT;

	inject_free(inject);
	injection->inject = NULL;
	if (!reason) {
		injections_look(injection);
		return;
	}
	reason_explain(reason, &error);
	if (injection->is_for_main)
		explain_main(&error);
	injections_end(injection, NULL, error.message);
}

/*
 * The beginning
 */

static int injections_start(struct injection *injection, double limit_seconds, struct error *error)
{
	struct node *node = injection->injections->node;
	struct reason reason;

	injection->inject = inject_new(node_loop(node), node_holds(node), injection->pid,
				       staging_dir_script(injection->dir), limit_seconds, on_begun,
				       injection, &reason);
	return injection->inject ? 0 : reason_explain(&reason, error);
}

static int injections_put_in(struct injection *injection, double seconds, struct error *error)
{
	char *package = find_package(error);

	if (package)
		injection->dir = staging_dir_new(injection->pid, package, seconds, error);
	free(package);
	return injection->dir ? 0 : -1;
}

static void injections_begin(struct node *node, const struct message *request, pid_t pid,
			     double seconds)
{
	struct injections *injections = node_injections(node);
	struct injection *injection = xcalloc(1, sizeof(*injection));
	struct error error = ERROR_INIT;

	injection->injections = injections;
	injection->next = injections->first;
	injections->first = injection;
	injection->request.seq = request->seq;
	injection->request.name = xstrdup(request->name);
	injection->pid = pid;
	injection->deadline = loop_now() + seconds;
	if (injections_put_in(injection, seconds, &error) < 0 ||
	    injections_start(injection, seconds / 2, &error) < 0)
		injections_end(injection, NULL, error.message);
}

void inject_request(struct node *node, const struct message *request)
{
	double seconds = json_get_real(request->body, "seconds", SECONDS_DEFAULT);
	pid_t pid = pid_read(request->body);
	struct error error = ERROR_INIT;

	if (!process_table_find(node_process_table(node), pid))
		process_table_miss(pid, &error);
	else if (pid >= PROCESS_FIRST_STANDIN)
		error_set(&error, "the process is on another machine: run `probetui inject` there");
	if (error_is_set(&error))
		node_respond(node, request, NULL, error.message);
	else
		injections_begin(node, request, pid, seconds);
}

struct injections *injections_new(struct node *node)
{
	struct injections *injections = xcalloc(1, sizeof(*injections));

	injections->node = node;
	return injections;
}

void injections_free(struct injections *injections)
{
	if (!injections)
		return;
	while (injections->first)
		injections_end(injections->first, NULL,
			       "the injection was abandoned: probetui exits");
	free(injections);
}
