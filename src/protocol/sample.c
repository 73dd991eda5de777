#include "protocol/sample.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/field.h"
#include "protocol/stack.h"

#define TEXT_MAXIMUM 4096
#define WCHAN_MAXIMUM (sizeof(((struct thread_sample *)NULL)->wchan) - 1)

static const char *const state_names[] = {
	[THREAD_RUNNING] = "running", [THREAD_BLOCKED] = "blocked", [THREAD_GIL] = "gil",
	[THREAD_GC] = "gc",	      [THREAD_STOPPED] = "stopped", [THREAD_UNKNOWN] = "unknown",
};

static const char *const exactness_names[] = {
	[EXACT] = "exact",
	[CONSISTENT] = "consistent",
	[TORN] = "torn",
};

#define AT(member) offsetof(struct thread_sample, member)

/* clang-format off */
static const struct field thread_fields[] = {
	{ "tid", FIELD_INT, AT(tid), 0, -INT_MAX, INT_MAX, NULL },
	{ "loop_tid", FIELD_INT, AT(loop_tid), 0, 0, INT_MAX, NULL },
	{ "name", FIELD_TEXT, AT(name), 0, 0, TEXT_MAXIMUM, NULL },
	{ "is_main", FIELD_BOOL, AT(is_main), 0, 0, 1, NULL },
	{ "state", FIELD_ENUM, AT(state), THREAD_UNKNOWN, 0, THREAD_UNKNOWN, state_names },
	{ "exact", FIELD_ENUM, AT(exactness), EXACT, 0, TORN, exactness_names },
	{ "interpreter", FIELD_INT, AT(interpreter), 0, 0, INT_MAX, NULL },
	{ "syscall", FIELD_INT, AT(syscall), -1, -1, INT_MAX, NULL },
	{ "argument", FIELD_HEX, AT(argument), 0, 0, 0, NULL },
	{ "wchan", FIELD_CHARS, AT(wchan), 0, 0, WCHAN_MAXIMUM, NULL },
	{ "call", FIELD_TEXT, AT(call), 0, 0, TEXT_MAXIMUM, NULL },
	{ "awaited", FIELD_TEXT, AT(awaited), 0, 0, TEXT_MAXIMUM, NULL },
	{ "raised", FIELD_TEXT, AT(raised), 0, 0, TEXT_MAXIMUM, NULL },
	{ "holder", FIELD_INT, AT(holder), 0, 0, INT_MAX, NULL },
	{ "values", FIELD_HEX, AT(values), 0, 0, 0, NULL },
	{ "cpu_ns", FIELD_UINT64, AT(cpu_ns), 0, 0, INT64_MAX, NULL },
	{ "switches", FIELD_UINT64, AT(switches), 0, 0, INT64_MAX, NULL },
	{ "error", FIELD_TEXT, AT(error), 0, 0, TEXT_MAXIMUM, NULL },
	{ "missing", FIELD_TEXT, AT(missing), 0, 0, TEXT_MAXIMUM, NULL },
};
#undef AT
#define AT(member) offsetof(struct process_sample, member)

static const struct field sample_fields[] = {
	{ "pid", FIELD_INT, AT(pid), 0, 1, INT_MAX, NULL },
	{ "epoch", FIELD_UINT64, AT(epoch), 0, 0, INT64_MAX, NULL },
	{ "time", FIELD_REAL, AT(time), 0, 0, 0, NULL },
	{ "held_ns", FIELD_UINT64, AT(held_ns), 0, 0, INT64_MAX, NULL },
	{ "syscalls", FIELD_UINT64, AT(syscalls), 0, 0, INT64_MAX, NULL },
	{ "memory", FIELD_UINT64, AT(memory), 0, 0, INT64_MAX, NULL },
	{ "error", FIELD_TEXT, AT(error), 0, 0, TEXT_MAXIMUM, NULL },
	{ "source", FIELD_TEXT, AT(source), 0, 0, TEXT_MAXIMUM, NULL },
};
/* clang-format on */

static const struct field_table thread_table = {
	.what = "thread",
	.fields = thread_fields,
	.count = ARRAY_LENGTH(thread_fields),
};

static const struct field_table sample_table = {
	.what = "sample",
	.fields = sample_fields,
	.count = ARRAY_LENGTH(sample_fields),
};

void process_sample_clear(struct process_sample *sample)
{
	for (size_t i = 0; i < sample->thread_count; i++)
		field_clear(&thread_table, &sample->threads[i]);
	field_clear(&sample_table, sample);
	free(sample->threads);
	*sample = (struct process_sample){ .pid = 0 };
}

struct thread_sample *process_sample_add(struct process_sample *sample)
{
	struct thread_sample *thread;

	ARRAY_GROW(sample->threads, sample->thread_count, sample->thread_capacity);
	thread = &sample->threads[sample->thread_count++];
	*thread = (struct thread_sample){
		.state = THREAD_UNKNOWN,
		.syscall = -1,
	};
	return thread;
}

const char *thread_state_name(enum thread_state state)
{
	return state_names[state];
}

const char *exactness_name(enum exactness exactness)
{
	return exactness_names[exactness];
}

static void set_stack(json_t *json, const char *key, const struct stack *stack)
{
	if (stack)
		json_object_set_new_nocheck(json, key, json_integer((json_int_t)stack->id));
}

static json_t *thread_to_json(const struct thread_sample *thread)
{
	json_t *json = json_object();

	field_write(&thread_table, thread, json);
	if (thread->is_gil_known)
		json_object_set_new_nocheck(json, "has_gil", json_boolean(thread->has_gil));
	set_stack(json, "stack", thread->stack);
	set_stack(json, "native", thread->native);
	set_stack(json, "raised_stack", thread->raised_stack);
	return json;
}

static void send_stack(json_t *stacks, struct stack_table *table, const struct stack *stack)
{
	json_t *json = stack ? stack_table_send(table, stack) : NULL;

	if (json)
		json_array_append_new(stacks, json);
}

json_t *process_sample_to_json(struct process_sample *sample, struct stack_table *table)
{
	json_t *json = json_object();
	json_t *stacks = json_array();
	json_t *threads = json_array();
	size_t count = sample->thread_count;

	if (count > SAMPLE_THREADS_MAXIMUM)
		count = SAMPLE_THREADS_MAXIMUM;
	field_write(&sample_table, sample, json);
	for (size_t i = 0; i < count; i++) {
		const struct thread_sample *thread = &sample->threads[i];

		send_stack(stacks, table, thread->stack);
		send_stack(stacks, table, thread->native);
		send_stack(stacks, table, thread->raised_stack);
		json_array_append_new(threads, thread_to_json(thread));
	}
	if (json_array_size(stacks) > 0)
		json_object_set_new_nocheck(json, "stacks", stacks);
	else
		json_decref(stacks);
	json_object_set_new_nocheck(json, "threads", threads);
	return json;
}

/*
 * Sets *array to the array at key, or to NULL if the key is missing or null. Returns -1 and sets
 * *error if the value is not an array or has more than maximum items.
 */
static int get_array(const json_t *json, const char *key, int maximum, const json_t **array,
		     struct error *error)
{
	const json_t *value = json_object_get(json, key);

	*array = NULL;
	if (!value || json_is_null(value))
		return 0;
	if (!json_is_array(value) || json_array_size(value) > (size_t)maximum)
		return error_set(error, "sample: \"%s\" is not an array of at most %d elements",
				 key, maximum);
	*array = value;
	return 0;
}

static int find_stack(const struct stack **stack, const struct thread_sample *thread,
		      const struct stack_table *table, const json_t *json, const char *key,
		      struct error *error)
{
	int64_t id = json_get_integer(json, key, 0);

	if (id == 0)
		return 0;
	*stack = stack_table_find(table, (uint64_t)id);
	if (*stack)
		return 0;
	return error_set(error, "thread %d: stack %lld was not sent", (int)thread->tid,
			 (long long)id);
}

static int thread_from_json(struct thread_sample *thread, const struct stack_table *table,
			    const json_t *json, struct error *error)
{
	const json_t *has_gil = json_object_get(json, "has_gil");

	if (field_read(&thread_table, thread, json, error) < 0)
		return -1;
	if (thread->tid == 0)
		return error_set(error, "thread: \"tid\" is missing");
	thread->is_gil_known = json_is_boolean(has_gil);
	thread->has_gil = json_is_true(has_gil);
	if (find_stack(&thread->stack, thread, table, json, "stack", error) < 0 ||
	    find_stack(&thread->native, thread, table, json, "native", error) < 0)
		return -1;
	return find_stack(&thread->raised_stack, thread, table, json, "raised_stack", error);
}

int process_sample_from_json(struct process_sample *sample, struct stack_table *table,
			     const json_t *json, struct error *error)
{
	const json_t *stacks;
	const json_t *threads;

	process_sample_clear(sample);
	if (field_read(&sample_table, sample, json, error) < 0 ||
	    get_array(json, "stacks", 3 * SAMPLE_THREADS_MAXIMUM, &stacks, error) < 0 ||
	    get_array(json, "threads", SAMPLE_THREADS_MAXIMUM, &threads, error) < 0)
		return -1;
	if (sample->pid == 0)
		return error_set(error, "sample: \"pid\" is missing");
	for (size_t i = 0; i < json_array_size(stacks); i++)
		if (stack_table_receive(table, json_array_get(stacks, i), error) < 0)
			return -1;
	for (size_t i = 0; i < json_array_size(threads); i++)
		if (thread_from_json(process_sample_add(sample), table, json_array_get(threads, i),
				     error) < 0)
			return -1;
	return 0;
}
