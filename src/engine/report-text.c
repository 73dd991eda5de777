/*
 * report-text: the report as text. Sections without data are left out, so that a report of a
 * recording shows only recorded data.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config.h"

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/blame.h"
#include "engine/cause.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/replay.h"
#include "engine/report-page.h"
#include "engine/report.h"
#include "protocol/stack.h"

/*
 * Maximum numbers of error files, lines of a text, lines of the kernel log, lines of memory use and
 * last lines of ranks, as people read the page.
 */
#define ERRORS_MAXIMUM 8
#define LINES_MAXIMUM 60
#define KERNEL_MAXIMUM 40
#define MEMORY_MAXIMUM 32
#define PRINTED_MAXIMUM 16
/* Maximum columns of a native frame. */
#define FRAME_COLUMNS 110

static void report_text_append_bytes(struct buffer *out, int64_t bytes)
{
	if (bytes >= INT64_C(10) << 30)
		buffer_printf(out, "%.1f GB", (double)bytes / (1 << 30));
	else
		buffer_printf(out, "%" PRId64 " MB", bytes >> 20);
}

/* Appends what `wait` would have said, but for whom ranks waited for before. */
static void append_failure(const struct page *page)
{
	struct blame blame = BLAME_INIT;

	buffer_append_string(page->out, "  ");
	blame_failure(&blame, page->engine, page->out);
	buffer_append_char(page->out, '\n');
	blame_clear(&blame);
}

static void append_event(const struct page *page)
{
	const struct rank *first = cause_first_failed(page->engine);
	const char *headline = page->report->headline;
	const char *before = page->report->before;

	if (headline)
		page_append_line(page->out, "  ", headline);
	else if (first)
		append_failure(page);
	if (before && first && !page->report->says_before)
		page_append_line(page->out, "  Before the failure: ", before);
}

static void append_indented(struct buffer *out, const char *text, const char *indent,
			    size_t maximum)
{
	size_t count = 0;

	while (text[0] != '\0') {
		size_t length = strcspn(text, "\n");
		char *line = xstrndup(text, length);

		if (++count > maximum) {
			free(line);
			buffer_printf(out, "%s...\n", indent);
			return;
		}
		buffer_append_string(out, indent);
		format_text(out, line);
		buffer_append_char(out, '\n');
		free(line);
		text += length + (text[length] == '\n');
	}
}

static void append_verdict(const struct page *page)
{
	if (page->report->clock >= 0) {
		buffer_append_string(page->out, "  As of ");
		page_append_time(page, page->report->sampled_at);
		buffer_append_string(page->out, ":\n");
	}
	append_indented(page->out, page->report->verdict.data, "  ", SIZE_MAX);
}

static void append_waits(const struct page *page)
{
	buffer_append(page->out, page->report->waits.data, page->report->waits.length);
}

static bool has_any_ended(const struct page *page)
{
	const struct rank *rank;
	size_t next = 0;

	while ((rank = page_next_rank(page, &next))) {
		if (rank_is_gone(rank))
			return true;
	}
	return false;
}

static void report_text_append_merged(const struct page *page)
{
	if (page->report->merged.length > 0 && has_any_ended(page))
		buffer_append_string(page->out, "  (of ranks that have ended: the last that were "
						"sampled)\n");
	buffer_append(page->out, page->report->merged.data, page->report->merged.length);
}

/* Names of templates and lambdas of C++ may have hundreds of columns. */
static void append_frame(struct buffer *out, const struct frame *frame)
{
	struct buffer text = BUFFER_INIT;

	format_text_frame(&text, frame);
	buffer_append_string(out, "    ");
	text_cut(out, text.data, FRAME_COLUMNS);
	buffer_append_char(out, '\n');
	buffer_clear(&text);
}

static void report_text_append_native(const struct page *page)
{
	const struct rank *rank;
	size_t next = 0;

	while ((rank = page_next_rank(page, &next))) {
		const struct stack *stack = report_native(rank);

		if (!stack)
			continue;
		buffer_printf(page->out, "  rank %d\n", rank->process.rank);
		for (size_t i = 0; i < stack->frame_count; i++) {
			if (i == LINES_MAXIMUM) {
				buffer_append_string(page->out, "    ...\n");
				break;
			}
			append_frame(page->out, &stack->frames[i]);
		}
	}
}

/* Appends the tracebacks of the exception's chain, and of a group's members, as printed. */
static void append_text(struct buffer *out, const struct cause *cause)
{
	const struct traceback_list *list = &cause->tracebacks;
	size_t end;
	int first = cause->last;
	char *text;

	/* Of one that was not printed there is no text. */
	if (cause->source == CAUSE_UNKNOWN || first < 0 || list->items[first].end == 0)
		return;
	end = list->items[first].end;
	while (list->items[first].before >= 0)
		first = list->items[first].before;
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].group == cause->last)
			end = list->items[i].end;
	}
	text = xstrndup(cause->text + list->items[first].start, end - list->items[first].start);
	append_indented(out, text, "    ", LINES_MAXIMUM);
	free(text);
}

static void add_exception(struct groups *groups, const struct rank *rank, const struct cause *cause)
{
	struct buffer text = BUFFER_INIT;

	cause_append_exception(&text, cause);
	groups_add(groups, text.data, rank->process.rank,
		   rank->ended_at < 0 ? INFINITY : rank->ended_at);
	buffer_clear(&text);
}

/* Only the first failure gets its stack: the other ranks mostly report the loss of the first. */
static void report_text_append_errors(const struct page *page)
{
	const struct rank *first = cause_first_failed(page->engine);
	struct groups groups = { .items = NULL };
	struct buffer stack = BUFFER_INIT;
	const struct rank *rank;
	size_t next = 0;

	while ((rank = page_next_rank(page, &next))) {
		struct cause cause;

		cause_find(&cause, page->engine, rank);
		if (cause.source != CAUSE_UNKNOWN && cause.last >= 0)
			add_exception(&groups, rank, &cause);
		if (rank == first)
			append_text(&stack, &cause);
		cause_clear(&cause);
	}
	groups_sort(&groups);
	groups_append(page->out, &groups, ERRORS_MAXIMUM);
	if (stack.length > 0)
		buffer_printf(page->out, "  the traceback of rank %d:\n%s", first->process.rank,
			      stack.data);
	buffer_clear(&stack);
}

/* The item of `printed`: key is "line" or "progress". */
static const json_t *printed_of(const struct page *page, const struct rank *rank, const char *key)
{
	const json_t *evidence = evidence_find(&page->engine->evidence, rank);

	return json_object_get(json_object_get(evidence, "printed"), key);
}

/*
 * Returns what the rank has printed last, for free(); NULL: nothing is known. Of a file that
 * several ranks print to it is what one of them has: all get the same text.
 */
static char *printed_line(const struct page *page, const struct rank *rank, const char *key,
			  const char *before)
{
	const json_t *printed = printed_of(page, rank, key);
	const char *path = json_get_string(printed, "path", NULL);
	struct rankset ranks = RANKSET_INIT;
	const struct rank *first;
	bool is_shared;

	if (!path)
		return NULL;
	evidence_add_printers(&page->engine->evidence, rank, path, &ranks);
	is_shared = rankset_count(&ranks) > 1;
	first = session_find_rank(&page->engine->session, rankset_first(&ranks));
	rankset_clear(&ranks);
	if (is_shared && first && json_is_object(printed_of(page, first, key)))
		printed = printed_of(page, first, key);
	return xasprintf("%s%s%s", is_shared ? "in one file: " : "", before,
			 json_get_string(printed, "line", ""));
}

static void append_printed(const struct page *page, const char *key, const char *before)
{
	struct groups groups = { .items = NULL };
	const struct rank *rank;
	size_t next = 0;

	while ((rank = page_next_rank(page, &next))) {
		char *text = printed_line(page, rank, key, before);

		if (text)
			groups_add(&groups, text, rank->process.rank, 0);
		free(text);
	}
	groups_append(page->out, &groups, PRINTED_MAXIMUM);
}

static void append_last_output(const struct page *page)
{
	append_printed(page, "line", "");
	append_printed(page, "progress", "progress bar: ");
}

static void append_versions(const struct page *page)
{
	struct groups groups = { .items = NULL };
	const struct rank *rank;
	size_t next = 0;

	while ((rank = page_next_rank(page, &next))) {
		const struct process *process = &rank->process;
		const char *torch = json_get_string(evidence_find(&page->engine->evidence, rank),
						    "torch", NULL);
		char *text;

		if (process->python[0] == '\0' && !torch)
			continue;
		text = xasprintf("Python %s%s%s",
				 process->python[0] != '\0' ? process->python : "?",
				 torch ? ", torch " : "", torch ? torch : "");
		groups_add(&groups, text, process->rank, 0);
		free(text);
	}
	groups_append(page->out, &groups, SIZE_MAX);
}

/* Appends "/data (ext4), 120 MB free of 80.0 GB"; of a file system on a network its type alone. */
static void append_disk(struct buffer *out, const json_t *disk)
{
	int64_t size = json_get_integer(disk, "size", -1);

	format_text(out, json_get_string(disk, "path", "?"));
	buffer_append_string(out, " (");
	format_text(out, json_get_string(disk, "type", "?"));
	buffer_append_char(out, ')');
	if (size < 0)
		return;
	buffer_append_string(out, ", ");
	report_text_append_bytes(out, json_get_integer(disk, "free", 0));
	buffer_append_string(out, " free of ");
	report_text_append_bytes(out, size);
}

static void append_disks(const struct page *page)
{
	const char *key;
	const json_t *disk;

	json_object_foreach(page->engine->evidence.disks, key, disk)
	{
		buffer_append_string(page->out, "  ");
		append_disk(page->out, disk);
		buffer_append_char(page->out, '\n');
	}
}

static void append_resident(const struct page *page)
{
	const struct rank *rank;
	size_t count = 0;
	size_t next = 0;

	while ((rank = page_next_rank(page, &next))) {
		const struct process *process = &rank->process;
		int64_t bytes =
			json_get_integer(evidence_find(&page->engine->evidence, rank), "memory", 0);

		if (bytes <= 0)
			continue;
		if (++count > MEMORY_MAXIMUM) {
			buffer_append_string(page->out, "  ...\n");
			return;
		}
		buffer_printf(page->out, "  rank %d: ", process->rank);
		report_text_append_bytes(page->out, bytes);
		buffer_append_char(page->out, '\n');
	}
}

static void append_memory(const struct page *page)
{
	const char *key;
	const json_t *cgroup;

	append_resident(page);
	json_object_foreach(page->engine->evidence.cgroups, key, cgroup)
	{
		int64_t usage = json_get_integer(cgroup, "usage", -1);
		int64_t limit = json_get_integer(cgroup, "limit", -1);
		int64_t kills = json_get_integer(cgroup, "oom_kills", -1);

		buffer_append_string(page->out, "  cgroup ");
		format_text(page->out, json_get_string(cgroup, "path", "?"));
		buffer_append_string(page->out, ": ");
		if (usage >= 0)
			report_text_append_bytes(page->out, usage);
		else
			buffer_append_char(page->out, '?');
		if (limit >= 0) {
			buffer_append_string(page->out, " of ");
			report_text_append_bytes(page->out, limit);
		} else {
			buffer_append_string(page->out, ", no limit");
		}
		if (kills >= 0)
			buffer_printf(page->out, ", %" PRId64 " process%s killed (out of memory)",
				      kills, kills == 1 ? "" : "es");
		buffer_append_char(page->out, '\n');
	}
}

static void append_kernel(const struct page *page)
{
	const struct evidence *evidence = &page->engine->evidence;
	json_t *lines = evidence_kernel(evidence);
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line)
	{
		double ago = json_get_real(line, "ago", -1);

		if (i >= KERNEL_MAXIMUM)
			break;
		buffer_append_string(page->out, "  ");
		if (ago >= 0)
			buffer_printf(page->out, "%.0f s ago: ", ago);
		format_text(page->out, json_get_string(line, "text", "?"));
		buffer_append_char(page->out, '\n');
	}
	json_decref(lines);
	if (!evidence->kernel_error)
		return;
	buffer_append_string(page->out, "  ");
	format_text(page->out, evidence->kernel_error);
	buffer_append_char(page->out, '\n');
}

static void append_doctor(const struct page *page)
{
	struct groups groups = { .items = NULL };
	const struct rank *rank;
	size_t next = 0;

	while ((rank = page_next_rank(page, &next))) {
		const struct process *process = &rank->process;
		const json_t *way;
		size_t j;

		json_array_foreach(
			json_object_get(evidence_ways(&page->engine->evidence, rank), "ways"), j,
			way)
		{
			const char *why = json_get_string(way, "why", "");
			char *text;

			if (json_get_boolean(way, "ok", false) ||
			    json_get_boolean(way, "optional", false))
				continue;
			text = xasprintf("no %s%s%s", json_get_string(way, "way", "?"),
					 why[0] == '\0' ? "" : ": ", why);
			groups_add(&groups, text, process->rank, 0);
			free(text);
		}
	}
	groups_append(page->out, &groups, SIZE_MAX);
}

static const struct section {
	const char *title;
	void (*append)(const struct page *page);
} sections[] = {
	{ "WHAT HAPPENED", append_event },
	{ "LAST MINUTE", page_append_timeline },
	{ "VERDICT", append_verdict },
	{ "WHO WAITS FOR WHOM", append_waits },
	{ "MERGED STACKS", report_text_append_merged },
	{ "NATIVE FRAMES (main threads, innermost first)", report_text_append_native },
	{ "EXCEPTIONS OF RANKS", report_text_append_errors },
	{ "LAST LINE THAT EACH RANK HAS PRINTED", append_last_output },
	{ "JOB", page_append_origin },
	{ "VERSIONS", append_versions },
	{ "ENVIRONMENT", page_append_environment },
	{ "LIMITS", page_append_limits },
	{ "MEMORY", append_memory },
	{ "DISK (of the ranks' folders, and /dev/shm)", append_disks },
	{ "KERNEL LOG (out of memory)", append_kernel },
	{ "WHAT CANNOT BE READ (doctor)", append_doctor },
};

static void report_text_append_head(const struct page *page)
{
	const struct session *session = &page->engine->session;
	const struct job *job = session->job >= 0 ? &session->jobs[session->job] : NULL;
	double clock = page->report->clock + engine_now(page->engine);
	time_t seconds = (time_t)clock;
	struct tm parts;
	char text[40];

	buffer_append_string(page->out, "probetui " PACKAGE_VERSION " report");
	if (page->report->clock >= 0) {
		gmtime_r(&seconds, &parts);
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
		buffer_printf(page->out, ", %s UTC", text);
	}
	if (page->engine->replay) {
		buffer_append_string(page->out, ", of the recording ");
		format_text(page->out, replay_path(page->engine->replay, 0));
	}
	buffer_printf(page->out, "\n%zu rank%s", session->rank_count,
		      page_plural(session->rank_count));
	if (job && job->script && job->script[0] != '\0') {
		buffer_append_string(page->out, " of ");
		format_text(page->out, job->script);
	}
	if (job && job->name && job->name[0] != '\0') {
		buffer_append_string(page->out, ", job ");
		format_text(page->out, job->name);
	}
	if (session->node_count > 1) {
		buffer_append_string(page->out, ", hosts");
		for (size_t i = 0; i < session->node_count; i++) {
			buffer_append_string(page->out, i > 0 ? ", " : " ");
			format_text(page->out, session->nodes[i].name);
		}
	} else if (session->rank_count > 0 && session->ranks[0]->process.host) {
		buffer_append_string(page->out, ", host ");
		format_text(page->out, session->ranks[0]->process.host);
	}
	buffer_append_char(page->out, '\n');
}

void report_append(struct buffer *out, const struct report *report, const struct engine *engine)
{
	struct page page = { .out = out, .report = report, .engine = engine };

	report_text_append_head(&page);
	for (size_t i = 0; i < ARRAY_LENGTH(sections); i++) {
		struct buffer text = BUFFER_INIT;

		page.out = &text;
		sections[i].append(&page);
		if (text.length > 0)
			buffer_printf(out, "\n%s\n", sections[i].title);
		buffer_append(out, text.data, text.length);
		buffer_clear(&text);
	}
}
