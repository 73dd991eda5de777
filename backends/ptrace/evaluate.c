#include "backends/ptrace/debuggee.h"

#include "banned.h"
#include "backends/cpython/pyobject.h"
#include "backends/expression/pyexpression.h"
#include "backends/node.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/message.h"
#include "protocol/variable.h"

static int evaluate_find_frame(struct debuggee *control, const struct message *request,
			       struct pyobject_frame *frame, struct error *error)
{
	int64_t depth = json_get_integer(request->body, "depth", 0);
	struct debuggee_thread *thread = debuggee_asked(control, request, error);

	if (!thread)
		return -1;
	if (debuggee_frame(control, thread, (int)depth, frame) < 0)
		return error_set(error, "There is no such frame any more; the stack has changed.");
	return 0;
}

static json_t *evaluate_make_answer(const struct variable *variable)
{
	json_t *body = variable_to_json(variable);

	json_object_set(body, "result", json_object_get(body, "value"));
	return body;
}

int debuggee_evaluate(struct debuggee *control, const struct message *request, struct error *error)
{
	const char *text = json_get_string(request->body, "expression", "");
	struct variable_list list = { .total = -1 };
	struct pyexpression *expression;
	struct pyobject_frame frame;
	struct pyreader reader;
	int result;

	if (evaluate_find_frame(control, request, &frame, error) < 0)
		return -1;
	expression = pyexpression_parse(text, error);
	if (!expression)
		return -1;
	pyreader_init(&reader, control->memory, &control->python);
	result = pyexpression_show(expression, &reader, &frame, variable_list_add(&list), error);
	if (result == 0)
		node_respond(control->base.node, request, evaluate_make_answer(&list.items[0]),
			     NULL);
	variable_list_clear(&list);
	pyexpression_free(expression);
	return result;
}
