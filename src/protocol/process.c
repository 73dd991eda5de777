#include "protocol/process.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/error.h"
#include "protocol/field.h"
#include "protocol/rankset.h"

#define TEXT_MAXIMUM 4096
#define UID_UNKNOWN UINT32_MAX

static const char *const state_names[] = {
	[PROCESS_LIVE] = "live",
	[PROCESS_STOPPED] = "stopped",
	[PROCESS_EXITED] = "exited",
	[PROCESS_UNREADABLE] = "unreadable",
};

#define AT(member) offsetof(struct process, member)

/* clang-format off */
static const struct field process_fields[] = {
	{ "pid", FIELD_INT, AT(pid), 0, 1, INT_MAX, NULL },
	{ "parent_pid", FIELD_INT, AT(parent_pid), 0, 0, INT_MAX, NULL },
	{ "rank", FIELD_INT, AT(rank), -1, -1, RANKSET_MAXIMUM, NULL },
	{ "local_rank", FIELD_INT, AT(local_rank), -1, -1, RANKSET_MAXIMUM, NULL },
	{ "group_rank", FIELD_INT, AT(group_rank), -1, -1, RANKSET_MAXIMUM, NULL },
	{ "world_size", FIELD_INT, AT(world_size), -1, -1, RANKSET_MAXIMUM + 1, NULL },
	{ "uid", FIELD_UINT32, AT(uid), UID_UNKNOWN, 0, UINT32_MAX, NULL },
	{ "start_time", FIELD_UINT64, AT(start_time), 0, 0, INT64_MAX, NULL },
	{ "age", FIELD_REAL, AT(age), -1, 0, 0, NULL },
	{ "host", FIELD_STRING, AT(host), 0, 0, TEXT_MAXIMUM, NULL },
	{ "job", FIELD_STRING, AT(job), 0, 0, TEXT_MAXIMUM, NULL },
	{ "launcher_pid", FIELD_INT, AT(launcher_pid), 0, 0, INT_MAX, NULL },
	{ "launcher", FIELD_STRING, AT(launcher), 0, 0, TEXT_MAXIMUM, NULL },
	{ "script", FIELD_STRING, AT(script), 0, 0, TEXT_MAXIMUM, NULL },
	{ "script_path", FIELD_STRING, AT(script_path), 0, 0, TEXT_MAXIMUM, NULL },
	{ "cwd", FIELD_STRING, AT(cwd), 0, 0, TEXT_MAXIMUM, NULL },
	{ "role", FIELD_TEXT, AT(role), 0, 0, TEXT_MAXIMUM, NULL },
	{ "python", FIELD_STRING, AT(python), 0, 0, TEXT_MAXIMUM, NULL },
	{ "state", FIELD_ENUM, AT(state), -1, 0, PROCESS_UNREADABLE, state_names },
	{ "exit_code", FIELD_INT, AT(exit_code), -1, -1, INT_MAX, NULL },
	{ "exit_signal", FIELD_INT, AT(exit_signal), 0, 0, INT_MAX, NULL },
	{ "error", FIELD_TEXT, AT(error), 0, 0, TEXT_MAXIMUM, NULL },
	{ "slurm_job", FIELD_TEXT, AT(slurm_job), 0, 0, TEXT_MAXIMUM, NULL },
	{ "slurm_nodes", FIELD_TEXT, AT(slurm_nodes), 0, 0, TEXT_MAXIMUM, NULL },
};
/* clang-format on */

static const struct field_table process_table = {
	.what = "process",
	.fields = process_fields,
	.count = ARRAY_LENGTH(process_fields),
};

void process_init(struct process *process)
{
	field_init(&process_table, process);
	process->state = PROCESS_LIVE;
}

void process_clear(struct process *process)
{
	/* field_clear() sets strings to NULL, not "", so a cleared process owns no memory. */
	field_clear(&process_table, process);
}

void process_copy(struct process *to, const struct process *from)
{
	if (to == from)
		return;
	field_clear(&process_table, to);
	field_copy(&process_table, to, from);
}

bool process_is_same_job(const struct process *a, const struct process *b)
{
	return a->launcher_pid == b->launcher_pid && a->uid == b->uid &&
	       strcmp(a->job, b->job) == 0;
}

pid_t process_shown_pid(const struct process *process)
{
	return process->pid < PROCESS_FIRST_STANDIN ? process->pid : 0;
}

json_t *process_to_json(const struct process *process)
{
	json_t *json = json_object();

	field_write(&process_table, process, json);
	return json;
}

int process_from_json(struct process *process, const json_t *json, struct error *error)
{
	process_clear(process);
	process_init(process);
	if (field_read(&process_table, process, json, error) < 0)
		return -1;
	if (process->pid == 0)
		return error_set(error, "process: \"pid\" is missing");
	return 0;
}

#define SIZE_MAXIMUM 65535

static const char *const launched_states[] = {
	[LAUNCHED_NONE] = "none",
	[LAUNCHED_RUNNING] = "running",
	[LAUNCHED_ENDED] = "ended",
	[LAUNCHED_LOST] = "lost",
};

#undef AT
#define AT(member) offsetof(struct launched, member)

/* clang-format off */
static const struct field launched_fields[] = {
	{ "state", FIELD_ENUM, AT(state), -1, 0, LAUNCHED_LOST, launched_states },
	{ "pid", FIELD_INT, AT(pid), 0, 0, INT_MAX, NULL },
	{ "program", FIELD_TEXT, AT(program), 0, 0, TEXT_MAXIMUM, NULL },
	{ "terminal", FIELD_TEXT, AT(terminal), 0, 0, TEXT_MAXIMUM, NULL },
	{ "log", FIELD_TEXT, AT(log), 0, 0, TEXT_MAXIMUM, NULL },
	{ "error", FIELD_TEXT, AT(error), 0, 0, TEXT_MAXIMUM, NULL },
	{ "exit_code", FIELD_INT, AT(exit_code), -1, 0, 255, NULL },
	{ "exit_signal", FIELD_INT, AT(exit_signal), 0, 0, 127, NULL },
	{ "has_others", FIELD_BOOL, AT(has_others), 0, 0, 0, NULL },
	{ "rows", FIELD_INT, AT(rows), 0, 0, SIZE_MAXIMUM, NULL },
	{ "columns", FIELD_INT, AT(columns), 0, 0, SIZE_MAXIMUM, NULL },
};
/* clang-format on */

static const struct field_table table = {
	.what = "job",
	.fields = launched_fields,
	.count = ARRAY_LENGTH(launched_fields),
};

void launched_init(struct launched *launched)
{
	*launched = (struct launched){ .exit_code = -1 };
}

void launched_clear(struct launched *launched)
{
	field_clear(&table, launched);
	launched_init(launched);
}

json_t *launched_to_json(const struct launched *launched)
{
	json_t *json = json_object();

	field_write(&table, launched, json);
	return json;
}

int launched_from_json(struct launched *launched, const json_t *json, struct error *error)
{
	launched_clear(launched);
	return field_read(&table, launched, json, error);
}
