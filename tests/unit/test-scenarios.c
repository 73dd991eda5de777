/*
 * Runs the scenarios of tests/unit/scenarios; scenario.h has their syntax. A line of a
 * scenario is a finding (finding.h), a step or an event of the tables below, or what
 * processes show from then on:
 *
 *	0-3: load train.py:5, running, +cpu 0.2, x4 | @waits(17), futex
 *
 * These are looks, parted by " | ": each sample of a process takes the next one, and after
 * the last the first. A look is a stack, innermost frame first (scene.h), the thread's
 * state, its system call, the C function of "call time.sleep", "gil", the hash of
 * "values 7", the child of "awaits sleep", the pid of "holder 100" that has a lock, what
 * each sample adds to its counters, and how many samples are alike. In place of ranks
 * (rank 0 is pid 100) stand "pid 200-203", of children, and "0-3 tid 9", of a thread that
 * is not the main one. "0: nothing" ends it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "finding.h"
#include "model/joblist.h"
#include "scenario.h"
#include "scene.h"

#define FIRST_PID 100 /* of rank 0 */

struct look {
	char *stack;
	char *missing;	   /* NULL: nothing */
	char *call;	   /* NULL: unknown */
	char *awaited;	   /* NULL: none */
	double values;	   /* 0: unknown */
	double holder;	   /* pid; 0: unknown */
	const char *state; /* NULL: blocked */
	int syscall;	   /* 0: futex */
	double cpu;	   /* what each sample adds */
	double switches;
	bool has_gil;
	double samples; /* that are alike */
};

/* A thread, and what it shows. */
struct shown {
	int pid;
	int tid;
	struct look *looks;
	size_t count, capacity;
	size_t at; /* the look of the next sample */
	int taken; /* samples of that look so far */
	double cpu;
	double switches;
};

struct stage {
	struct scene scene;
	struct shown *shown;
	size_t count, capacity;
	int world_size;
	bool has_finding;
};

/* Words of a line: each function moves *at behind what it takes, or returns false. */

static bool line_take(const char **at, const char *text)
{
	size_t length = strlen(text);
	bool is_there = strncmp(*at, text, length) == 0;

	*at += is_there ? length : 0;
	return is_there;
}

static bool line_take_number(const char **at, double *number)
{
	char *end;
	double taken = strtod(*at, &end);

	if (end == *at)
		return false;
	*number = taken;
	*at = end;
	return true;
}

static bool line_take_set(const char **at, struct rankset *set)
{
	do {
		if (rankset_parse_range(set, at, NULL) < 0)
			return false;
	} while (line_take(at, ","));
	return true;
}

/* What processes show */

static void clear_looks(struct shown *shown)
{
	for (size_t i = 0; i < shown->count; i++) {
		free(shown->looks[i].stack);
		free(shown->looks[i].missing);
		free(shown->looks[i].call);
		free(shown->looks[i].awaited);
	}
	free(shown->looks);
	shown->looks = NULL;
	shown->count = shown->capacity = shown->at = 0;
	shown->taken = 0;
}

/* The thread's entry; a new one if there is none. */
static struct shown *find_thread_shown(struct stage *stage, int pid, int tid)
{
	for (size_t i = 0; i < stage->count; i++) {
		if (stage->shown[i].pid == pid && stage->shown[i].tid == tid)
			return &stage->shown[i];
	}
	ARRAY_GROW(stage->shown, stage->count, stage->capacity);
	stage->shown[stage->count] = (struct shown){ .pid = pid, .tid = tid };
	return &stage->shown[stage->count++];
}

static const struct {
	const char *name;
	int syscall;
	const char *state;
} attributes[] = {
	{ "running", 0, "running" },	    { "stopped", 0, "stopped" },
	{ "futex", SYS_futex, NULL },	    { "nanosleep", SYS_clock_nanosleep, NULL },
	{ "poll", SYS_poll, NULL },	    { "read", SYS_read, NULL },
	{ "recvfrom", SYS_recvfrom, NULL }, { "write", SYS_write, NULL },
	{ "unread syscall", -1, NULL },
};

static bool take_attribute(struct look *look, const char *text)
{
	for (size_t i = 0; i < ARRAY_LENGTH(attributes); i++) {
		if (strcmp(text, attributes[i].name) == 0) {
			if (attributes[i].state)
				look->state = attributes[i].state;
			else
				look->syscall = attributes[i].syscall;
			return true;
		}
	}
	if (line_take(&text, "missing ")) {
		xreplace(&look->missing, text);
		return true;
	}
	if (line_take(&text, "call ")) {
		xreplace(&look->call, text);
		return true;
	}
	if (line_take(&text, "awaits ")) {
		xreplace(&look->awaited, text);
		return true;
	}
	look->has_gil |= strcmp(text, "gil") == 0;
	return (line_take(&text, "gil") ||
		(line_take(&text, "+cpu ") && line_take_number(&text, &look->cpu)) ||
		(line_take(&text, "+switches ") && line_take_number(&text, &look->switches)) ||
		(line_take(&text, "values ") && line_take_number(&text, &look->values)) ||
		(line_take(&text, "holder ") && line_take_number(&text, &look->holder)) ||
		(line_take(&text, "x") && line_take_number(&text, &look->samples))) &&
	       *text == '\0';
}

/* The next part of *at, cut off at the separator; NULL: none is left. */
static char *line_next_part(char **at, const char *separator)
{
	char *part = *at;
	char *end = part ? strstr(part, separator) : NULL;

	if (end)
		*end = '\0';
	*at = end ? end + strlen(separator) : NULL;
	return part;
}

static int add_looks(struct shown *shown, const char *text, struct error *error)
{
	char *copy = xstrdup(text);
	char *at = copy;
	char *part;

	while ((part = line_next_part(&at, " | ")) && !error_is_set(error)) {
		struct look look = { .samples = 1 };
		const char *attribute;

		look.stack = xstrdup(line_next_part(&part, ", "));
		while ((attribute = line_next_part(&part, ", "))) {
			if (!take_attribute(&look, attribute))
				error_set(error, "no attribute of a look: %s", attribute);
		}
		ARRAY_GROW(shown->looks, shown->count, shown->capacity);
		shown->looks[shown->count++] = look;
	}
	free(copy);
	return error_is_set(error) ? -1 : 0;
}

/* "0-3 tid 9: LOOKS": 1; 0: it is another line; -1 and *error. */
static int show_looks(struct stage *stage, const char *line, struct error *error)
{
	struct rankset set = RANKSET_INIT;
	int base = line_take(&line, "pid ") ? 0 : FIRST_PID;
	bool is_it = line_take_set(&line, &set);
	double tid = 0;

	is_it = is_it && (!line_take(&line, " tid ") || line_take_number(&line, &tid));
	is_it = is_it && line_take(&line, ": ");
	for (int i = rankset_first(&set); is_it && i >= 0; i = rankset_next(&set, i)) {
		struct shown *shown = find_thread_shown(stage, base + i, (int)tid);

		clear_looks(shown);
		if (strcmp(line, "nothing") != 0)
			add_looks(shown, line, error);
	}
	rankset_clear(&set);
	return error_is_set(error) ? -1 : is_it;
}

/* The next sample of a thread. */
static struct seen next_sample(struct shown *shown)
{
	const struct look *look = &shown->looks[shown->at];

	shown->cpu += look->cpu;
	shown->switches += look->switches;
	if (++shown->taken >= look->samples) {
		shown->taken = 0;
		shown->at = (shown->at + 1) % shown->count;
	}
	return (struct seen){
		.pid = shown->pid,
		.tid = shown->tid,
		.stack = look->stack,
		.state = look->state,
		.syscall = look->syscall,
		.cpu = shown->cpu,
		.switches = (uint64_t)shown->switches,
		.has_gil = look->has_gil,
		.missing = look->missing,
		.call = look->call,
		.values = (uint64_t)look->values,
		.awaited = look->awaited,
		.holder = (int)look->holder,
	};
}

/* Samples the process of entry first, which has no entry before. */
static int sample_process(struct stage *stage, size_t first, struct error *error)
{
	struct seen *threads = xcalloc(stage->count, sizeof(*threads));
	size_t count = 0;
	int result = 0;

	for (size_t i = first; i < stage->count; i++) {
		if (stage->shown[i].pid == stage->shown[first].pid && stage->shown[i].count > 0)
			threads[count++] = next_sample(&stage->shown[i]);
	}
	if (count > 0 && scene_see_threads(&stage->scene, threads, count) < 0)
		result = error_set(error, "%s", stage->scene.error.message);
	free(threads);
	return result;
}

/* Samples each process, and judges. */
static int sample_all(struct stage *stage, struct error *error)
{
	for (size_t i = 0; i < stage->count; i++) {
		size_t first = 0;

		while (stage->shown[first].pid != stage->shown[i].pid)
			first++;
		if (first == i && sample_process(stage, i, error) < 0)
			return -1;
	}
	scene_judge(&stage->scene);
	return 0;
}

/* Steps: at is the line behind the step's name. -1 without *error: the usage is another. */

static bool is_state(const char *name)
{
	for (int state = VERDICT_UNKNOWN; state <= VERDICT_STOPPED; state++) {
		if (strcmp(verdict_state_name(state), name) == 0)
			return true;
	}
	return false;
}

/* Takes " COUNT every SECONDS", " [COUNT] after SECONDS" or nothing. */
static bool line_take_times(const char **at, double *count, double *seconds, bool *is_every)
{
	bool has_count;

	if (!line_take(at, " "))
		return true;
	has_count = line_take_number(at, count);
	if (has_count && (*count < 1 || !line_take(at, " ")))
		return false;
	*is_every = has_count && line_take(at, "every ");
	return (*is_every || line_take(at, "after ")) && line_take_number(at, seconds);
}

static int step_look(struct stage *stage, const char *at, struct error *error)
{
	double count = 1;
	double seconds = 0;
	bool is_every = false;
	bool is_right = line_take_times(&at, &count, &seconds, &is_every);
	bool is_each = line_take(&at, ": each ");
	bool is_never = line_take(&at, ": never ");

	if (!is_right || (is_each || is_never ? !is_state(at) : *at != '\0'))
		return -1;
	stage->has_finding |= is_each || is_never;
	for (int i = 0; i < (int)count; i++) {
		const char *found;

		scene_wait(&stage->scene, is_every && i == 0 ? 0 : seconds);
		if (sample_all(stage, error) < 0)
			return -1;
		found = verdict_state_name(stage->scene.session.verdict.state);
		if ((is_each && strcmp(found, at) != 0) || (is_never && strcmp(found, at) == 0))
			return error_set(error, "look %d found: %s", i + 1, found);
	}
	return 0;
}

static int step_wait(struct stage *stage, const char *at, struct error *error)
{
	double seconds;

	(void)error;
	if (!line_take(&at, " ") || !line_take_number(&at, &seconds) || *at)
		return -1;
	scene_wait(&stage->scene, seconds);
	stage->scene.session.now = stage->scene.now;
	return 0;
}

static int step_judge(struct stage *stage, const char *at, struct error *error)
{
	(void)error;
	scene_judge(&stage->scene);
	if (line_take(&at, " jobs"))
		joblist_judge(&stage->scene.session);
	return *at ? -1 : 0;
}

/* JSON of the members in fields, "$" standing for the rank. */
static json_t *read_event_fields(const char *fields, int rank, struct error *error)
{
	struct buffer text = BUFFER_INIT;
	json_t *json;

	buffer_append_char(&text, '{');
	for (; *fields; fields++) {
		if (*fields == '$')
			buffer_printf(&text, "%d", rank);
		else
			buffer_append_char(&text, *fields);
	}
	buffer_append_char(&text, '}');
	json = scene_json(text.data, error);
	buffer_clear(&text);
	return json;
}

static int send_to_session(struct stage *stage, const char *event, json_t *owned_body,
			   struct error *error)
{
	if (scene_event(&stage->scene, event, owned_body) < 0)
		return error_set(error, "%s", stage->scene.error.message);
	return 0;
}

/* Adds a process; parent_pid 0: it is no child. At is what follows: ": FIELDS", or nothing. */
static int add_scene_process(struct stage *stage, json_t *owned_process, int parent_pid,
			     const char *at, struct error *error)
{
	bool has_fields = line_take(&at, ": ");
	int rank = (int)json_integer_value(json_object_get(owned_process, "rank"));
	json_t *more = has_fields || !*at ? read_event_fields(at, rank, error) : NULL;

	if (!more) {
		json_decref(owned_process);
		return -1;
	}
	if (parent_pid > 0)
		json_object_set_new(owned_process, "parent_pid", json_integer(parent_pid));
	json_object_update(owned_process, more);
	json_decref(more);
	return send_to_session(stage, "rankAdded", owned_process, error);
}

static int step_add(struct stage *stage, const char *at, struct error *error)
{
	struct rankset set = RANKSET_INIT;
	double first = FIRST_PID;
	double world_size;
	int result = -1;

	if (line_take(&at, " ") && line_take_set(&at, &set) && line_take(&at, " of ") &&
	    line_take_number(&at, &world_size) &&
	    (!line_take(&at, " pid ") || line_take_number(&at, &first)))
		result = 0;
	for (int i = rankset_first(&set); result == 0 && i >= 0; i = rankset_next(&set, i))
		result = add_scene_process(stage, scene_process(i, (int)first + i, (int)world_size),
					   0, at, error);
	rankset_clear(&set);
	return result;
}

static int step_child(struct stage *stage, const char *at, struct error *error)
{
	double pid;
	double rank;

	if (!line_take(&at, " ") || !line_take_number(&at, &pid) || !line_take(&at, " of ") ||
	    !line_take_number(&at, &rank))
		return -1;
	return add_scene_process(stage, scene_process((int)rank, (int)pid, stage->world_size),
				 FIRST_PID + (int)rank, at, error);
}

static int step_discovered(struct stage *stage, const char *at, struct error *error)
{
	(void)error;
	scene_discovered(&stage->scene);
	return *at ? -1 : 0;
}

static int step_ranks(struct stage *stage, const char *at, struct error *error)
{
	double count;

	if (!line_take(&at, " ") || !line_take_number(&at, &count))
		return -1;
	stage->world_size = (int)count;
	scene_start(&stage->scene, stage->world_size);
	if (*at && !line_take(&at, ": "))
		return -1;
	for (int rank = 0; *at && rank < stage->world_size; rank++)
		add_looks(find_thread_shown(stage, FIRST_PID + rank, 0), at, error);
	return error_is_set(error) ? -1 : 0;
}

/* Takes a word, up to a blank or ";"; an empty word is none. */
static bool line_take_word(const char **at, char *word, size_t size)
{
	size_t length = strcspn(*at, " ;");

	if (length == 0 || length >= size)
		return false;
	memcpy(word, *at, length);
	word[length] = '\0';
	*at += length;
	return true;
}

/* Takes " [128, 3]" as a list of one shape; NULL: there is none. */
static json_t *line_take_shape(const char **at)
{
	const char *end = strchr(*at, ']');
	json_t *shape;

	if (strncmp(*at, " [", 2) != 0 || !end)
		return NULL;
	shape = json_loadb(*at + 1, (size_t)(end - *at), 0, NULL);
	*at = end + 1;
	return json_pack("[o]", shape);
}

/* The call's stack: train() called it at this line. */
static json_t *call_stack(int id, double line)
{
	return json_pack("{s:i, s:[[i, s, s, s, i, i], [i, s, s, s, i, i]], s:[[i, i], [i, i]]}",
			 "id", id, "codes", 2 * id, "train", "train", "/job/train.py", 1, 0,
			 2 * id + 1, "<module>", "<module>", "/job/train.py", 1, 0, "frames",
			 2 * id, (int)line, 2 * id + 1, 19);
}

/* Takes one call of a group: "4 all_reduce [128, 3] :17 done", "p2p recv [4] :17". */
static bool line_take_call(const char **at, json_t *body, int group)
{
	json_t *entries = json_object_get(body, "entries");
	int id = (int)json_array_size(entries) + 1;
	char operation[64];
	json_t *shape;
	double seq = 0;
	double line;
	bool is_p2p = line_take(at, "p2p");

	if ((!is_p2p && !line_take_number(at, &seq)) || !line_take(at, " ") ||
	    !line_take_word(at, operation, sizeof(operation)))
		return false;
	shape = line_take_shape(at);
	if (!line_take(at, " :") || !line_take_number(at, &line)) {
		json_decref(shape);
		return false;
	}
	json_array_append_new(json_object_get(body, "stacks"), call_stack(id, line));
	json_array_append_new(entries,
			      json_pack("{s:i, s:i, s:i, s:s, s:b, s:i, s:b, s:o*, s:i}", "id",
					id - 1, "group", group, "seq", (int)seq, "operation",
					operation, "is_p2p", is_p2p, "created", id, "is_retired",
					line_take(at, " done"), "input_sizes", shape, "stack", id));
	return true;
}

/* What a group says of itself: " by nccl number 3 status 9"; else what its last call says. */
struct group_words {
	char backend[64];
	double number;
	double status;
	bool is_told;
};

static bool line_take_group_words(const char **at, struct group_words *words)
{
	*words = (struct group_words){ .backend = "gloo" };
	words->is_told = line_take(at, " by ");
	if (!words->is_told)
		return true;
	*words->backend = '\0';
	return line_take_word(at, words->backend, sizeof(words->backend)) &&
	       line_take(at, " number ") && line_take_number(at, &words->number) &&
	       line_take(at, " status ") && line_take_number(at, &words->status);
}

/* Takes "default_pg of 0-2: CALL; CALL", a group with all of the rank's calls. */
static bool line_take_group(const char **at, json_t *body)
{
	json_t *groups = json_object_get(body, "groups");
	json_t *entries = json_object_get(body, "entries");
	int group = (int)json_array_size(groups);
	struct rankset set = RANKSET_INIT;
	json_t *ranks = json_array();
	struct group_words words;
	json_int_t last = 0;
	const json_t *entry;
	char name[64];
	bool is_right;
	size_t i;

	is_right = line_take_word(at, name, sizeof(name)) && line_take_group_words(at, &words) &&
		   line_take(at, " of ") && line_take_set(at, &set) && line_take(at, ":");
	for (int rank = rankset_first(&set); rank >= 0; rank = rankset_next(&set, rank))
		json_array_append_new(ranks, json_integer(rank));
	rankset_clear(&set);
	while (is_right && (line_take(at, " ") || line_take(at, "; "))) {
		if (strncmp(*at, "|", 1) == 0)
			break;
		is_right = line_take_call(at, body, group);
	}
	json_array_foreach(entries, i, entry)
	{
		if (json_integer_value(json_object_get(entry, "group")) == group)
			last = json_integer_value(json_object_get(entry, "seq"));
	}
	json_array_append_new(groups,
			      json_pack("{s:s, s:s, s:s, s:o, s:b, s:I, s:I}", "name", name,
					"description", name, "backend", words.backend, "ranks",
					ranks, "is_default", strcmp(name, "default_pg") == 0, "seq",
					words.is_told ? (json_int_t)words.number : last, "enqueued",
					words.is_told ? (json_int_t)words.status : last));
	return is_right;
}

static int step_calls(struct stage *stage, const char *at, struct error *error)
{
	struct rankset set = RANKSET_INIT;
	json_t *body = json_pack("{s:s, s:i, s:[], s:[], s:[]}", "version", "2.13.0", "recorded", 1,
				 "groups", "entries", "stacks");
	bool is_right = line_take(&at, " ") && line_take_set(&at, &set) && line_take(&at, " on ");

	while (is_right && (is_right = line_take_group(&at, body)) && line_take(&at, "| "))
		;
	for (int rank = rankset_first(&set); is_right && rank >= 0;
	     rank = rankset_next(&set, rank)) {
		json_object_set_new(body, "pid", json_integer(FIRST_PID + rank));
		json_object_set_new(body, "recorded",
				    json_integer((json_int_t)json_array_size(
					    json_object_get(body, "entries"))));
		if (scene_response(&stage->scene, "collectives", json_deep_copy(body)) < 0) {
			error_set(error, "%s", stage->scene.error.message);
			is_right = false;
		}
	}
	rankset_clear(&set);
	json_decref(body);
	return is_right && !*at ? 0 : -1;
}

/* The frame of recv() or send(), the innermost, names the peer. */
static int step_peer(struct stage *stage, const char *at, struct error *error)
{
	char name[64];
	char value[64];
	double rank;

	if (!line_take(&at, " of ") || !line_take_number(&at, &rank) || !line_take(&at, ": ") ||
	    !line_take_word(&at, name, sizeof(name)) || !line_take(&at, " ") ||
	    !line_take_word(&at, value, sizeof(value)) || *at)
		return -1;
	if (scene_response(&stage->scene, "variables",
			   json_pack("{s:i, s:i, s:i, s:[{s:s, s:s, s:s, s:s}]}", "pid",
				     FIRST_PID + (int)rank, "tid", FIRST_PID + (int)rank, "depth",
				     0, "variables", "name", name, "kind", "local", "type", "int",
				     "value", value)) < 0)
		return error_set(error, "%s", stage->scene.error.message);
	return 0;
}

static int step_select(struct stage *stage, const char *at, struct error *error)
{
	struct session *session = &stage->scene.session;
	struct selection *selection = &session->choice.selection;
	double number;
	bool is_right = true;

	(void)error;
	if (line_take(&at, " rank ") && line_take_number(&at, &number))
		selection->rank = (int)number;
	else if (line_take(&at, " pid ") && line_take_number(&at, &number))
		selection->pid = (int)number;
	else if (line_take(&at, " frame ") && line_take_number(&at, &number))
		selection->depth = (int)number;
	else if (line_take(&at, " job ") && line_take_number(&at, &number) &&
		 number < (double)session->job_count)
		session_choose_job(session, (size_t)number);
	else
		is_right = false;
	return is_right && !*at ? 0 : -1;
}

static int step_break(struct stage *stage, const char *at, struct error *error)
{
	struct breakpoints *list = &stage->scene.session.choice.breakpoints;
	struct session_breakpoint *added = breakpoints_add(list, error);

	if (!added)
		return -1;
	added->breakpoint.path = xstrdup("train.py");
	added->breakpoint.line = 14;
	added->is_everywhere = line_take(&at, " all");
	if (!added->is_everywhere && (!line_take(&at, " ") || !line_take_set(&at, &added->ranks)))
		return -1;
	added->breakpoint.is_temporary = line_take(&at, ", temporary");
	if (line_take(&at, ", answers awaited"))
		breakpoints_begin_setting(list, added->breakpoint.id);
	breakpoints_changed(list);
	return *at ? -1 : 0;
}

static int step_answered(struct stage *stage, const char *at, struct error *error)
{
	(void)error;
	breakpoints_end_setting(&stage->scene.session);
	return *at ? -1 : 0;
}

static const struct {
	const char *name;
	int (*run)(struct stage *stage, const char *at, struct error *error);
	const char *usage;
} steps[] = {
	{ "ranks", step_ranks, "ranks COUNT[: LOOKS] (the ranks of one job, and all there is)" },
	{ "add", step_add, "add RANKS of WORLD-SIZE [pid OF-RANK-0][: FIELDS]" },
	{ "child", step_child, "child PID of RANK[: FIELDS]" },
	{ "calls", step_calls,
	  "calls RANKS on GROUP [by BACKEND number SEQ status SEQ] of RANKS: SEQ OPERATION [SHAPE] "
	  ":LINE done; … | GROUP … (their "
	  "collectives, called by train() of train.py)" },
	{ "peer", step_peer, "peer of RANK: NAME VALUE (an argument of its send() or recv())" },
	{ "discovered", step_discovered, "discovered (all were added)" },
	{ "look", step_look,
	  "look, look COUNT every SECONDS[: each|never STATE], look [COUNT] after SECONDS" },
	{ "wait", step_wait, "wait SECONDS" },
	{ "judge", step_judge, "judge [jobs]" },
	{ "select", step_select, "select rank|pid|frame|job NUMBER" },
	{ "break", step_break, "break all|RANKS[, temporary][, answers awaited] (at train.py:14)" },
	{ "answered", step_answered, "answered (the command at `answers awaited` has printed)" },
};

/* "stopped 0,3: FIELDS": of each of these ranks, "$" standing for the rank; "unread: FIELDS". */
static const char *const events[] = { "stopped", "continued", "debugger", "rankRemoved",
				      "sampled", "unread",    "output" };

static int run_scenario_event(struct stage *stage, const char *event, const char *at,
			      struct error *error)
{
	struct rankset set = RANKSET_INIT;
	bool has_ranks = line_take(&at, " ") && line_take_set(&at, &set);
	int result = line_take(&at, ": ") ? 0 : error_set(error, "%s [RANKS]: FIELDS", event);
	int i = rankset_first(&set);

	while (result == 0 && (i >= 0 || !has_ranks)) {
		json_t *body = read_event_fields(at, i, error);

		if (body && has_ranks) {
			json_object_set_new(body, "pid", json_integer(FIRST_PID + i));
			json_object_set_new(body, "rank", json_integer(i));
		}
		result = body ? send_to_session(stage, event, body, error) : -1;
		if (!has_ranks)
			break;
		i = rankset_next(&set, i);
	}
	rankset_clear(&set);
	return result;
}

static bool line_take_name(const char **at, const char *name)
{
	const char *end = *at;

	if (!line_take(&end, name) || !strchr(" :", *end))
		return false;
	*at = end;
	return true;
}

static int run_scenario_step(struct stage *stage, const char *at, struct error *error)
{
	int result = show_looks(stage, at, error);

	if (result != 0)
		return result < 0 ? -1 : 0;
	for (size_t i = 0; i < ARRAY_LENGTH(steps); i++) {
		if (!line_take_name(&at, steps[i].name))
			continue;
		result = steps[i].run(stage, at, error);
		if (result < 0 && !error_is_set(error))
			error_set(error, "%s", steps[i].usage);
		return result;
	}
	for (size_t i = 0; i < ARRAY_LENGTH(events); i++) {
		if (line_take_name(&at, events[i]))
			return run_scenario_event(stage, events[i], at, error);
	}
	return error_set(error, "no step and no finding");
}

static int run_scenario_line(struct stage *stage, const char *line, struct error *error)
{
	struct buffer found = BUFFER_INIT;
	enum finding_result result = finding_check(&stage->scene, line, &found);

	stage->has_finding |= result != FINDING_NO_NAME;
	if (result == FINDING_OTHER)
		error_set(error, "found: %s", found.data);
	buffer_clear(&found);
	if (result == FINDING_NO_NAME)
		return run_scenario_step(stage, line, error);
	return result == FINDING_SAME ? 0 : -1;
}

static void run_scenario(void **state)
{
	const struct scenario *scenario = *state;
	struct stage stage = { .world_size = 0 };
	struct error error = ERROR_INIT;
	const struct scenario_line *line = NULL;

	scene_init(&stage.scene);
	for (size_t i = 0; !error_is_set(&error) && i < scenario->count; i++) {
		line = &scenario->lines[i];
		run_scenario_line(&stage, line->text, &error);
	}
	if (!error_is_set(&error) && !stage.has_finding)
		error_set(&error, "the scenario has no finding");
	for (size_t i = 0; i < stage.count; i++)
		clear_looks(&stage.shown[i]);
	free(stage.shown);
	scene_clear(&stage.scene);
	if (error_is_set(&error)) {
		print_error("line: %s\n%s\n", line ? line->text : "", error.message);
		_fail(scenario->path, line ? line->number : 0);
	}
}

/* Runs the scenarios of one file; a test's name is "verdict: one late". How many failed. */
static int run_scenario_file(const char *name)
{
	const char *folder = getenv("SRCDIR");
	char *path = xasprintf("%s/tests/unit/scenarios/%s.txt", folder ? folder : ".", name);
	struct error error = ERROR_INIT;
	struct scenario_file file;
	struct CMUnitTest *tests;
	size_t count = 0;
	int failed = 1;

	if (scenario_file_read(&file, path, &error) < 0)
		print_error("%s\n", error.message);
	tests = xcalloc(file.count + 1, sizeof(*tests));
	for (size_t i = 0; !error_is_set(&error) && i < file.count; i++) {
		if (!file.scenarios[i].is_given)
			tests[count++] = (struct CMUnitTest){
				.name = xasprintf("%s: %s", name, file.scenarios[i].name),
				.test_func = run_scenario,
				.initial_state = &file.scenarios[i],
			};
	}
	if (count > 0)
		failed = _cmocka_run_group_tests(name, tests, count, NULL, NULL);
	for (size_t i = 0; i < count; i++)
		free((char *)tests[i].name);
	free(tests);
	scenario_file_clear(&file);
	free(path);
	return failed;
}

int main(void)
{
	static const char *const names[] = { "verdict",	    "verdict-graph", "verdict-time",
					     "debug-state", "stall",	     "outlier",
					     "joblist" };
	int failed = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		failed += run_scenario_file(names[i]);
	return failed > 0;
}
