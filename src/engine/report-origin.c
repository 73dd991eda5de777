/*
 * report-origin: what the ranks were started with, from the nodes' evidence: the command line, the
 * folder, the attempt, the launcher, the environment and the limits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/cause.h"
#include "engine/engine.h"
#include "engine/evidence.h"
#include "engine/format.h"
#include "engine/report-page.h"
#include "engine/report.h"

/* Maximum number of groups of ranks with different values of a variable that are listed. */
#define VALUES_MAXIMUM 8

static const json_t *origin_of(const struct page *page, const struct rank *rank)
{
	return json_object_get(evidence_find(&page->engine->evidence, rank), "origin");
}

static size_t count_ranks(const struct page *page)
{
	size_t count = 0;
	size_t next = 0;

	while (page_next_rank(page, &next))
		count++;
	return count;
}

/* True if all ranks of the report have the same text. */
static bool is_common(const struct page *page, const struct groups *groups)
{
	return groups->count == 1 && rankset_count(&groups->items[0].ranks) == count_ranks(page);
}

/* Appends "  command: TEXT", or "  command, ranks 0-1: TEXT" for each group; frees the groups. */
static void append_named(const struct page *page, const char *name, struct groups *groups)
{
	bool names_ranks = !is_common(page, groups);

	for (size_t i = 0; i < groups->count; i++) {
		if (i == VALUES_MAXIMUM) {
			buffer_printf(page->out, "  %s: %zu more values\n", name,
				      groups->count - i);
			break;
		}
		buffer_append_string(page->out, "  ");
		format_text(page->out, name);
		if (names_ranks) {
			buffer_append_string(page->out, ", ");
			rankset_append_named(page->out, &groups->items[i].ranks);
		}
		page_append_line(page->out, ": ", groups->items[i].text);
	}
	groups_clear(groups);
}

/* The values of one string of `origin` or of the process, NULL for those that have none. */
static void append_strings(const struct page *page, const char *name,
			   const char *(*value_of)(const struct page *page,
						   const struct rank *rank))
{
	struct groups groups = { .items = NULL };
	const struct rank *rank;
	size_t next = 0;

	while ((rank = page_next_rank(page, &next))) {
		const char *value = value_of(page, rank);

		if (value && value[0] != '\0')
			groups_add(&groups, value, rank->process.rank, 0);
	}
	append_named(page, name, &groups);
}

static const char *command_of(const struct page *page, const struct rank *rank)
{
	return json_get_string(origin_of(page, rank), "command", NULL);
}

static const char *folder_of(const struct page *page, const struct rank *rank)
{
	(void)page;
	return rank->process.cwd;
}

static const char *commit_of(const struct page *page, const struct rank *rank)
{
	return json_get_string(origin_of(page, rank), "commit", NULL);
}

static const char *stderr_of(const struct page *page, const struct rank *rank)
{
	return json_get_string(
		json_object_get(evidence_find(&page->engine->evidence, rank), "stderr"), "path",
		NULL);
}

static const char *stdout_of(const struct page *page, const struct rank *rank)
{
	const json_t *printed =
		json_object_get(evidence_find(&page->engine->evidence, rank), "printed");

	return json_get_string(json_object_get(printed, "line"), "path", NULL);
}

/* Appends when the first rank was started, and its age. */
static void append_start(const struct page *page)
{
	double now = page->report->clock + engine_now(page->engine);
	double first = -1;
	const struct rank *rank;
	size_t next = 0;
	struct tm parts;
	char text[40];
	time_t seconds;

	while ((rank = page_next_rank(page, &next))) {
		double started = json_get_real(origin_of(page, rank), "started", -1);

		if (started > 0 && (first < 0 || started < first))
			first = started;
	}
	seconds = (time_t)first;
	if (first < 0 || !gmtime_r(&seconds, &parts))
		return;
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
	buffer_printf(page->out, "  started: %s UTC", text);
	if (page->report->clock >= 0 && now >= first) {
		buffer_append_string(page->out, ", ");
		text_duration(page->out, now - first);
		buffer_append_string(page->out, " before this report");
	}
	buffer_append_char(page->out, '\n');
}

static void append_launcher(const struct page *page)
{
	struct groups groups = { .items = NULL };
	const struct rank *rank;
	size_t next = 0;

	while ((rank = page_next_rank(page, &next))) {
		const struct process *process = &rank->process;
		bool has_ended = cause_has_launcher_ended(page->engine, rank);
		char *text;

		if (!process->launcher || process->launcher[0] == '\0')
			continue;
		text = xasprintf("%s (pid %ld)%s", process->launcher, (long)process->launcher_pid,
				 has_ended ? ", has ended" : "");
		groups_add(&groups, text, process->rank, 0);
		free(text);
	}
	append_named(page, "launcher", &groups);
}

static void append_attempt(const struct page *page)
{
	struct groups groups = { .items = NULL };
	const struct rank *rank;
	size_t next = 0;

	while ((rank = page_next_rank(page, &next))) {
		struct attempt attempt;
		char *text;

		if (!evidence_attempt(&page->engine->evidence, rank, &attempt) ||
		    attempt.total <= 1)
			continue;
		text = xasprintf("%d of %d", attempt.number, attempt.total);
		groups_add(&groups, text, rank->process.rank, 0);
		free(text);
	}
	append_named(page, "attempt", &groups);
}

void page_append_origin(const struct page *page)
{
	append_strings(page, "command", command_of);
	append_strings(page, "folder", folder_of);
	append_strings(page, "commit", commit_of);
	append_start(page);
	append_launcher(page);
	append_attempt(page);
	append_strings(page, "standard output", stdout_of);
	append_strings(page, "standard error", stderr_of);
}

/* A new object with the names of all variables of the ranks. */
static json_t *variable_names(const struct page *page)
{
	json_t *names = json_object();
	const struct rank *rank;
	size_t next = 0;

	while ((rank = page_next_rank(page, &next))) {
		const char *name;
		json_t *value;

		json_object_foreach(json_object_get(origin_of(page, rank), "environment"), name,
				    value)
		{
			if (json_is_string(value))
				json_object_set(names, name, value);
		}
	}
	return names;
}

/* Adds the variable's values on the ranks whose environment is known. */
static void group_values(const struct page *page, const char *name, struct groups *groups)
{
	const struct rank *rank;
	size_t next = 0;

	while ((rank = page_next_rank(page, &next))) {
		const json_t *environment = json_object_get(origin_of(page, rank), "environment");

		if (environment)
			groups_add(groups, json_get_string(environment, name, "(not set)"),
				   rank->process.rank, 0);
	}
}

/* The variables that differ, a line for each value; then those that are equal on all ranks. */
void page_append_environment(const struct page *page)
{
	struct buffer equal = BUFFER_INIT;
	json_t *names = variable_names(page);
	const char *name;
	json_t *value;

	json_object_foreach(names, name, value)
	{
		struct groups groups = { .items = NULL };

		/* torchrun sets these itself. */
		if (strncmp(name, "TORCHELASTIC_", 13) == 0)
			continue;
		group_values(page, name, &groups);
		if (!is_common(page, &groups)) {
			append_named(page, name, &groups);
			continue;
		}
		buffer_printf(&equal, "%s%s=", equal.length > 0 ? ", " : "", name);
		buffer_append_string(&equal, json_string_value(value));
		groups_clear(&groups);
	}
	if (equal.length > 0)
		page_append_line(page->out, "  equal on all ranks: ", equal.data);
	buffer_clear(&equal);
	json_decref(names);
}

void page_append_limits(const struct page *page)
{
	struct groups groups = { .items = NULL };
	const struct rank *rank;
	size_t next = 0;

	while ((rank = page_next_rank(page, &next))) {
		struct buffer text = BUFFER_INIT;
		const char *name;
		json_t *value;

		json_object_foreach(json_object_get(origin_of(page, rank), "limits"), name, value)
		{
			if (!json_is_string(value))
				continue;
			buffer_printf(&text, "%s%s ", text.length > 0 ? ", " : "", name);
			buffer_append_string(&text, json_string_value(value));
		}
		if (text.length > 0)
			groups_add(&groups, text.data, rank->process.rank, 0);
		buffer_clear(&text);
	}
	groups_append(page->out, &groups, VALUES_MAXIMUM);
}
